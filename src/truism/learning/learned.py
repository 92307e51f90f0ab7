"""What rows teach, before it becomes a model: a table of normal rows goes in, a `Learned` comes out."""

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError
from truism.learning.evidence import learn_evidence
from truism.learning.kinds import find_meters, infer_added, infer_schema, variable_columns
from truism.learning.memory import learn_memory, rows_in_order
from truism.learning.order import find_series, rows_to_look_back
from truism.learning.predicates import find_predicates
from truism.learning.rules import MinedRules, find_rules
from truism.learning.study import Study
from truism.learning.support import Support, choose_support
from truism.learning.twins import find_twins
from truism.model.evidence import Evidence
from truism.model.provenance import AnyBrokenRule, Threshold
from truism.model.schema import Numeric, Schema
from truism.model.series import Series
from truism.model.settings import IncidentRate, Settings, exact
from truism.scoring.series import lay_out, rows_by_series
from truism.scoring.thresholds import expect
from truism.table.columns import Table
from truism.table.deltas import Run, with_deltas
from truism.table.fingerprint import Hashes, hash_table
from truism.work import Progress


class Beyond(msgspec.Struct, frozen=True, eq=False):
    """What is learned beyond the rules; with the paper's scoring, nothing but the order of rows."""

    evidence: Evidence | None
    limit: Threshold
    series: Series | None
    study: Study | None = None


class Learned(msgspec.Struct, frozen=True, eq=False):
    """What rows teach.

    Parameters
    ----------
    schema, derived
        The variables, and those of which the change is one, too.
    support, mined
        The θ that was chosen, and the rules at it.
    evidence, limit, series
        What was learned beyond the rules.
    twins
        Pairs of numbers that move together.
    hashes
        What the fingerprint is made of.
    columns
        The names of the table's columns.

    """

    schema: Schema
    derived: tuple[str, ...]
    support: Support
    mined: MinedRules
    evidence: Evidence | None
    limit: Threshold
    series: Series | None
    twins: tuple[tuple[str, str], ...] | None
    hashes: Hashes
    columns: tuple[str, ...]


def learn(
    table: Table,
    settings: Settings,
    *,
    delta: bool,
    n_jobs: int,
    progress: Progress,
    excluded: NDArray[np.int64] | None = None,
    shuffled: bool = False,
) -> Learned:
    """Learn from a table that is held whole, without some of its rows if these are given.

    Rows that are known to be in no order are no series, whatever their times say.
    """
    whole, gone = table, np.empty(0, np.int64) if excluded is None else excluded
    rows = np.delete(np.arange(table.n_rows), gone)
    table = table.take(rows) if len(gone) else table
    schema, derived = find_changing(table, settings, delta, shuffled=shuffled)
    if derived:
        series = rows_by_series(settings.by, whole).values()
        runs = [Run(own) for each in series for own in _without(each, gone)]
        table = with_deltas(whole, derived, runs)
        table = table.take(rows) if len(gone) else table
        schema = infer_added(schema, table.columns[len(table.columns) - len(derived) :])
    columns = variable_columns(schema, table)
    support, mined = learn_rules(table, schema, settings, n_jobs, progress)
    beyond = learn_beyond_rules(
        table, schema, mined, settings, delta, None, n_jobs, progress, shuffled=shuffled
    )
    return Learned(
        schema,
        derived,
        support,
        mined,
        beyond.evidence,
        beyond.limit,
        beyond.series,
        find_twins(schema, columns),
        hash_table(table),
        # The index of a dataframe may hold the times, but is not one of its columns.
        tuple(column.name for column in table.columns if not column.index),
    )


def learn_rules(
    table: Table, schema: Schema, settings: Settings, n_jobs: int, progress: Progress
) -> tuple[Support, MinedRules]:
    """Choose θ, and mine the rules at it."""
    columns = variable_columns(schema, table)
    support = choose_support(table, schema, settings, n_jobs, progress)
    min_support = exact(support.value)
    (predicates,) = find_predicates(
        schema, columns, settings.cutoffs, [min_support], n_jobs, progress
    )
    return support, find_rules(schema, columns, predicates, settings, min_support, n_jobs, progress)


def _without(run: NDArray[np.int64], excluded: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield rows that still follow each other without some of them.

    >>> [own.tolist() for own in _without(np.arange(6), np.array([0, 3]))]
    [[1, 2], [4, 5]]
    """
    if not len(excluded):
        yield run
        return
    gone = np.isin(run, excluded)
    starts = np.flatnonzero(np.diff(gone, prepend=~gone[:1]))
    for start, own in zip(starts, np.split(run, starts[1:]), strict=True):
        if not gone[start]:
            yield own


def find_changing(
    table: Table, settings: Settings, delta: bool, *, shuffled: bool = False
) -> tuple[Schema, tuple[str, ...]]:
    """Infer the variables, and of which columns the change is one: meters and, if asked, numbers."""
    schema = infer_schema(table, settings)
    if shuffled:
        return schema, ()
    changing = {*find_meters(table, schema, settings)}
    if delta:
        changing |= {each.name for each in schema.variables if isinstance(each, Numeric)}
    return schema, tuple(name for name in table.names if name in changing)


def learn_beyond_rules(
    table: Table,
    schema: Schema,
    mined: MinedRules,
    settings: Settings,
    delta: bool,
    in_order: NDArray[np.int64] | None,
    n_jobs: int,
    progress: Progress,
    *,
    shuffled: bool = False,
) -> Beyond:
    """Learn what is usual beyond the rules, how earlier rows count, and the threshold.

    Parameters
    ----------
    table, schema
        The rows and their variables.
    mined, settings
        The rules, and how they were learned.
    delta
        Whether the change of numbers was asked for.
    in_order
        Positions of rows that follow each other without a row missing between them, ascending; all do
        when absent.
    n_jobs
        Number of threads; the result does not depend on it.
    progress
        Called with the stage, the amount done, and the total amount.
    shuffled
        Whether rows are known to be in no order, whatever their times say.

    """
    following = table if in_order is None else table.take(in_order)
    series = None if shuffled else find_series(following, schema, settings, delta=delta)
    if series is None and not shuffled:
        _refuse_past(settings, "rows are a series")
    if settings.scoring != "evidence":
        _refuse_past(settings, "scoring is 'evidence', which has a past")
        return Beyond(None, Threshold(0.0, AnyBrokenRule()), series)
    lookback = 0 if series is None else rows_to_look_back(settings, series)
    columns = variable_columns(schema, table)
    rows = in_order if in_order is not None else rows_in_order(len(columns[0].values))
    learned = learn_evidence(
        schema, columns, mined, settings, n_jobs, progress, rows=rows if lookback else None
    )
    limit = learned.limit
    if series is not None and lookback:
        timeline = lay_out(series, schema, table)
        memory = learn_memory(learned, mined, settings, timeline, lookback, n_jobs, in_order)
        series = msgspec.structs.replace(series, memory=memory)
        rate = IncidentRate.asked(settings.max_false_incidents, series.step)
        if settings.max_false_incidents is None:
            rate = rate.at_least_once(table.n_rows, series.step)
        limit = expect(memory, rate, series.step)
    elif settings.max_false_incidents is not None:
        raise _unsuited("max_false_incidents", settings, "rows are a series and have a past")
    return Beyond(learned.evidence, limit, series, learned.study)


def _refuse_past(settings: Settings, unless: str) -> None:
    """Refuse settings about the past of rows that have none."""
    if settings.lookback not in ("auto", 0):
        raise _unsuited("lookback", settings, unless)
    if settings.max_false_incidents is not None:
        raise _unsuited("max_false_incidents", settings, unless)


def _unsuited(name: str, settings: Settings, unless: str) -> ParameterError:
    hint = "say that rows are in order" if "series" in unless else "leave it out"
    if name == "max_false_incidents":
        hint += ", or choose a threshold in another way"
    return ParameterError.of(
        name, f"be absent unless {unless}", getattr(settings, name), f"{hint}."
    )
