"""The whole method: a table of normal rows goes in, a model comes out."""

from collections.abc import Sequence

import msgspec

from truism.errors import ParameterError
from truism.learning.evidence import learn_evidence
from truism.learning.kinds import find_meters, infer_added, infer_schema, variable_columns
from truism.learning.memory import learn_memory
from truism.learning.order import find_series, rows_to_look_back
from truism.learning.predicates import find_predicates
from truism.learning.rules import MinedRules, find_rules
from truism.learning.support import Support, choose_support
from truism.learning.twins import find_twins
from truism.model.model import Model
from truism.model.notices import BudgetReached, Notice, StatesFromNumbers
from truism.model.origins import AnyBrokenRule, ByHand, Threshold
from truism.model.provenance import Provenance
from truism.model.rates import IncidentRate
from truism.model.schema import Categorical, Numeric, Schema
from truism.model.settings import Settings, check_threshold, exact
from truism.scoring.series import lay_out, rows_by_series
from truism.scoring.thresholds import expect
from truism.table.columns import Table
from truism.table.deltas import Run, with_deltas
from truism.table.fingerprint import fingerprint
from truism.table.layouts import Reading
from truism.version import __version__
from truism.work import Progress, be_silent


def train(
    table: Table,
    settings: Settings,
    *,
    delta: bool = False,
    threshold: float | None = None,
    created: str | None = None,
    reading: Reading | None = None,
    n_jobs: int = 1,
    progress: Progress = be_silent,
) -> Model:
    """Learn a model.

    Parameters
    ----------
    table
        Normal rows.
    settings
        How to learn.
    delta
        Whether to add ``ΔX``, the change since the previous row, for each continuous variable.
    threshold
        Rows that score above it are anomalies; None keeps the default of the scoring.
    created
        When, as ISO text.
    reading
        How the table was read; the model keeps it, so that later tables are read alike.
    n_jobs
        Number of threads; the result does not depend on it.
    progress
        Called with the stage, the amount done, and the total amount.

    Returns
    -------
    Model

    Examples
    --------
    >>> from truism.table.frames import as_table
    >>> table = as_table({"pump": ["on", "off"] * 50, "level": [i * i % 97 for i in range(100)]})
    >>> train(table, Settings(min_support=0.1), delta=True).schema.names
    ('pump', 'level', 'Δlevel')

    """
    if threshold is not None:
        check_threshold(threshold)
    table, schema, derived = _with_variables(table, settings, delta)
    columns = variable_columns(schema, table)
    support = choose_support(table, schema, settings, n_jobs, progress)
    min_support = exact(support.value)
    (predicates,) = find_predicates(
        schema, columns, settings.cutoffs, [min_support], n_jobs, progress
    )
    mined = find_rules(schema, columns, predicates, settings, min_support, n_jobs, progress)
    evidence, limit = None, Threshold(0.0, AnyBrokenRule())
    series = find_series(table, schema, settings, delta=delta)
    if settings.scoring == "evidence":
        lookback = 0 if series is None else rows_to_look_back(settings, series)
        learned = learn_evidence(
            schema, columns, mined, settings, n_jobs, progress, each_value=lookback > 0
        )
        evidence, limit = learned.evidence, learned.limit
        if series is not None and lookback:
            timeline = lay_out(series, schema, table)
            memory = learn_memory(learned, mined, settings, timeline, lookback, n_jobs)
            series = msgspec.structs.replace(series, memory=memory)
            rate = IncidentRate.asked(settings.max_false_incidents, series.step)
            limit = expect(memory, rate, series.step)
        elif settings.max_false_incidents is not None:
            raise ParameterError.of(
                "max_false_incidents",
                "be absent unless rows are a series and have a past",
                settings.max_false_incidents,
                "say that rows are in order, or choose a threshold in another way.",
            )
    if threshold is not None and threshold != limit.value:
        limit = Threshold(float(threshold), ByHand())
    ordered = series is not None or bool(derived)
    provenance = _provenance(table, schema, settings, support, mined, created, ordered)
    if reading is not None:
        unneeded = {each.name for each in schema.left_out} - {*derived, settings.by}
        reading = reading.ignoring(unneeded)
    return Model(
        schema,
        mined.rules,
        settings,
        provenance,
        limit,
        (),
        derived,
        evidence,
        series,
        reading,
        find_twins(schema, columns),
    )


def _with_variables(
    table: Table, settings: Settings, delta: bool
) -> tuple[Table, Schema, tuple[str, ...]]:
    """Infer the variables; add the changes of meters and, if `delta` is set, of continuous ones."""
    schema = infer_schema(table, settings)
    changing = {*find_meters(table, schema, settings)}
    if delta:
        changing |= {each.name for each in schema.variables if isinstance(each, Numeric)}
    derived = tuple(name for name in table.names if name in changing)
    if not derived:
        return table, schema, ()
    runs = [Run(rows) for rows in rows_by_series(settings.by, table).values()]
    extended = with_deltas(table, derived, runs)
    added = extended.columns[len(table.columns) :]
    return extended, infer_added(schema, added), derived


def _provenance(
    table: Table,
    schema: Schema,
    settings: Settings,
    support: Support,
    mined: MinedRules,
    created: str | None,
    ordered: bool,
) -> Provenance:
    # The index of a dataframe may hold the times, but is not one of its columns.
    columns = tuple(column.name for column in table.columns if not column.index)
    return Provenance(
        version=__version__,
        n_rows=table.n_rows,
        n_columns=len(columns),
        fingerprint=fingerprint(table, ordered=ordered),
        min_support=support.value,
        support_origin=support.origin,
        complete_to=mined.complete_to,
        trials=support.trials,
        notices=(*_notices(schema, settings, mined.complete_to), *support.notices),
        created=created,
        columns=columns,
    )


def _notices(schema: Schema, settings: Settings, complete_to: int) -> Sequence[Notice]:
    notices: list[Notice] = []
    fractions = tuple(
        each.name
        for each in schema.variables
        if isinstance(each, Categorical)
        and any(isinstance(value, float) and not value.is_integer() for value in each.values)
        and each.name not in settings.categorical
    )
    if fractions:
        notices.append(StatesFromNumbers(fractions))
    if complete_to < settings.longest - 1:
        notices.append(BudgetReached(complete_to, settings.longest - 1))
    return notices
