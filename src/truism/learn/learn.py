"""Learning: from the rows of a table and settings to a model.

What has at most a million rows is its own sample. Of more, a sample proposes variables, cut-offs,
candidate rules and contexts, and passes over all rows decide. What is learned depends on the rows and
their order alone, not on how they are divided or on what reads them.
"""

import msgspec
import numpy as np

from truism.arrays import Rows
from truism.errors import ParameterError, TableError, shorten
from truism.incidents.rates import group_rows
from truism.learn.batches import Batches
from truism.learn.holdout import learn_evidence
from truism.learn.kinds import find_changing, infer_added, variable_columns
from truism.learn.passes import SAMPLE, Drawn, draw, exact_schema, verify_in_passes
from truism.learn.rules import MinedRules, Search, choose_support
from truism.learn.series import find_series, learn_memory, rows_in_order, rows_to_look_back
from truism.learn.twins import find_twins
from truism.model.evidence import Evidence
from truism.model.model import Model
from truism.model.provenance import AnyBrokenRule, ByHand, Provenance, Threshold
from truism.model.schema import Categorical, Schema
from truism.model.series import Series
from truism.model.settings import IncidentRate, Settings, check_threshold, exact
from truism.model.wording import count
from truism.score.past import lay_out, rows_by_series
from truism.score.thresholds import expect
from truism.table.columns import Table
from truism.table.deltas import Stretch, with_deltas
from truism.table.fingerprint import hash_table
from truism.table.labels import read_labels
from truism.table.layouts import Reading
from truism.table.notices import Notice
from truism.table.timelines import why_alone
from truism.version import __version__
from truism.work import Progress, be_silent

FEW_ROWS = 100  # fewer cannot show a false-alarm rate of 1 %


def learn(
    rows: Table | Batches,
    settings: Settings,
    *,
    delta: bool = False,
    threshold: float | None = None,
    created: str | None = None,
    reading: Reading | None = None,
    n_jobs: int = 1,
    progress: Progress = be_silent,
    n_sampled: int = SAMPLE,
    excluded: Rows | None = None,
    shuffled: bool = False,
) -> Model:
    """Learn a model from normal rows; neither `n_jobs` nor how rows are divided changes it.

    With `delta`, ``ΔX``, the change since the previous row, is added for each continuous variable;
    meters have it anyway. Rows that score above `threshold` are anomalies; None keeps the default of
    the scoring. The model keeps the `reading`, so that later tables are read alike. `n_sampled` rows
    stand for all; not more rows than these are held. Rows at `excluded` positions, ascending, are left
    out; what changed since one of them is missing. Rows that are `shuffled` are exchangeable, whatever
    their times say.

    Examples
    --------
    >>> from truism.table.frames import as_table
    >>> table = as_table({"pump": ["on", "off"] * 50, "level": [i * i % 97 for i in range(100)]})
    >>> learn(table, Settings(min_support=0.1), delta=True).schema.names
    ('pump', 'level', 'Δlevel')
    """
    if threshold is not None:
        check_threshold(threshold)
    if settings.label is not None:
        if not isinstance(rows, Table):
            raise TableError(
                f"Labels are read in tables of at most {n_sampled:,} rows, got {rows.n_rows:,}.",
                "drop the anomalous rows before learning, and ignore the column.",
            )
        labels = read_labels(rows, settings.label)
        labelled = np.flatnonzero(labels.anomalous | labels.unknown)
        excluded = labelled if excluded is None else np.union1d(excluded, labelled)
    gone = np.empty(0, np.int64) if excluded is None else excluded
    if len(gone) and rows.n_rows > n_sampled:
        raise TableError(
            f"Rows can be left out of tables of at most {n_sampled:,} rows, got {rows.n_rows:,}.",
            "drop them from the table before learning.",
        )
    how = _How(settings, delta, shuffled, n_sampled, n_jobs, progress)
    drawn, schema, derived = (
        _take_all(rows, gone, how) if rows.n_rows <= n_sampled else _draw(rows, how)
    )
    sampled = drawn.sampled
    support = choose_support(sampled, schema, settings, n_jobs, progress)
    min_support = exact(support.value)
    search = Search.in_table(sampled, schema, settings, min_support, n_jobs, progress, drawn.n_rows)
    proposed = search.propose()
    beyond = _learn_beyond_rules(drawn, schema, search.in_sample(proposed), how)
    evidence = beyond.evidence
    if drawn.batches is None:
        mined = search.conclude(proposed)
    else:
        if evidence is not None:
            spacings = drawn.spacings(schema, search.columns)
            evidence = msgspec.structs.replace(evidence, spacings=spacings)
        proposed, counted = verify_in_passes(search, proposed, evidence, drawn.batches)
        mined = search.conclude(proposed, counted.predicates)
        schema = counted.schema(schema)
        evidence = evidence and counted.evidence(evidence)
    limit = beyond.limit
    if threshold is not None and threshold != limit.value:
        limit = Threshold(float(threshold), ByHand())
    if reading is not None:
        unneeded = {column.name for column in schema.left_out} - {*derived, settings.by}
        reading = reading.ignoring(unneeded)
    notices = (*_notices(schema, settings, mined), *support.notices)
    notices += () if beyond.alone is None else (beyond.alone,)
    if len(gone):
        text = (
            f"{len(gone):,} of {rows.n_rows:,} rows were left out, because they may be anomalies."
        )
        notices = (*notices, Notice("rows_left_out", text))
    # The index of a dataframe may hold the times, but is not one of its columns.
    names = tuple(column.name for column in drawn.kept.columns if not column.index)
    return Model(
        schema,
        mined.rules,
        settings,
        Provenance(
            version=__version__,
            n_rows=drawn.n_rows,
            n_columns=len(names),
            fingerprint=drawn.hashes.digest(ordered=beyond.series is not None or bool(derived)),
            min_support=support.value,
            support_origin=support.origin,
            complete_to=mined.complete_to,
            trials=support.trials,
            notices=notices,
            created=created,
            columns=names,
        ),
        limit,
        (),
        derived,
        evidence,
        beyond.series,
        reading,
        find_twins(schema, search.columns),
    )


class _How(msgspec.Struct, frozen=True, eq=False):
    """How to learn; see `learn`."""

    settings: Settings
    delta: bool
    shuffled: bool
    n_sampled: int
    n_jobs: int
    progress: Progress


_Drawn = tuple[Drawn, Schema, tuple[str, ...]]


def _take_all(rows: Table | Batches, gone: Rows, how: _How) -> _Drawn:
    """Take all rows but those that are left out, infer the variables, and add changes."""
    whole = rows if isinstance(rows, Table) else rows.whole(how.n_jobs)
    left = np.delete(np.arange(whole.n_rows), gone)
    table = whole.take(left) if len(gone) else whole
    schema, derived = find_changing(table, how.settings, how.delta, shuffled=how.shuffled)
    if derived:
        series = rows_by_series(how.settings.by, whole).values()
        runs = [
            Stretch(of_one[run])
            for of_one in series
            for run in group_rows(np.flatnonzero(~np.isin(of_one, gone)), 0)
        ]
        table = with_deltas(whole, derived, runs, {*derived} - {*schema.names})
        table = table.take(left) if len(gone) else table
        schema = infer_added(schema, table.columns[len(table.columns) - len(derived) :])
    return Drawn(table.n_rows, table, hash_table(table)), schema, derived


def _draw(rows: Table | Batches, how: _How) -> _Drawn:
    """Draw a sample, infer the variables and correct them by all rows, and add changes."""
    batches = Batches.of_table(rows) if isinstance(rows, Table) else rows
    in_order = rows_in_order(batches.n_rows)
    how_to_draw = (in_order, how.n_sampled, how.settings, how.n_jobs, how.progress)
    drawn = draw(batches, *how_to_draw)
    schema, derived = find_changing(drawn.kept, how.settings, how.delta, shuffled=how.shuffled)
    if derived:
        meters = [name for name in derived if name not in schema.names]
        drawn = draw(batches.with_changes(derived, how.settings.by, meters), *how_to_draw)
        kept = drawn.kept.columns
        schema = infer_added(schema, kept[len(kept) - len(derived) :])
    return drawn, exact_schema(schema, drawn, how.settings.categorical), derived


class _Beyond(msgspec.Struct, frozen=True, eq=False):
    """What is learned beyond the rules; with the paper's scoring, nothing but the order of rows."""

    evidence: Evidence | None
    limit: Threshold
    series: Series | None
    alone: Notice | None = None


def _learn_beyond_rules(drawn: Drawn, schema: Schema, mined: MinedRules, how: _How) -> _Beyond:
    """Learn what is usual beyond the rules, how earlier rows count, and the threshold."""
    table, in_order, settings, n_jobs = drawn.kept, drawn.in_order, how.settings, how.n_jobs
    following = table if in_order is None else table.take(in_order)
    series = None if how.shuffled else find_series(following, schema, settings, delta=how.delta)
    alone = None
    if series is None and not how.shuffled:
        _refuse_past(settings, "rows are a series")
        alone = why_alone(following, schema.time)
    if settings.scoring != "evidence":
        _refuse_past(settings, "scoring is 'evidence', which has a past")
        return _Beyond(None, Threshold(0.0, AnyBrokenRule()), series, alone)
    lookback = 0 if series is None else rows_to_look_back(settings, series)
    columns = variable_columns(schema, table)
    rows = in_order if in_order is not None else rows_in_order(len(columns[0].values))
    learned = learn_evidence(
        schema, columns, mined, settings, n_jobs, how.progress, rows=rows if lookback else None
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
    return _Beyond(learned.evidence, limit, series, alone)


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


def _notices(schema: Schema, settings: Settings, mined: MinedRules) -> list[Notice]:
    notices: list[Notice] = []
    complete_to, n_rows = mined.complete_to, mined.rules.n_rows
    if n_rows < FEW_ROWS:
        text = (
            f"{count(n_rows, 'row')} are too few to say what is always true: rules rest on a handful of "
            f"rows, and fewer than {FEW_ROWS} cannot show a false-alarm rate of 1 %. Trust only rules "
            "that you can confirm; learn again from 1,000 rows or more."
        )
        notices.append(Notice("few_rows", text))
    fractions = tuple(
        each.name
        for each in schema.variables
        if isinstance(each, Categorical)
        and any(isinstance(value, float) and not value.is_integer() for value in each.values)
        and each.name not in settings.categorical
    )
    if fractions:
        text = (
            f"Learned as states, because they have few different values: {shorten(fractions)}. If one "
            "is a quantity, declare it continuous."
        )
        notices.append(Notice("states", text))
    if complete_to < settings.longest - 1:
        text = (
            f"The search budget was reached: rules with up to {complete_to} of {settings.longest - 1} "
            "conditions are complete, longer ones are missing."
        )
        notices.append(Notice("budget", text))
    return notices
