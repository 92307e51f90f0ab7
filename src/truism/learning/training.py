"""The whole method: a table of normal rows goes in, a model comes out."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import TableError, shorten
from truism.learning.learned import Learned, learn
from truism.learning.parts import Parts, in_memory
from truism.learning.passes import SAMPLE, learn_in_passes
from truism.model.model import Model
from truism.model.provenance import ByHand, Provenance, Threshold
from truism.model.schema import Categorical, Schema
from truism.model.settings import Settings, check_threshold
from truism.table.columns import Table, join_tables
from truism.table.layouts import Reading
from truism.table.notices import Notice
from truism.version import __version__
from truism.work import Progress, be_silent, stand_still


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
    n_sampled: int = SAMPLE,
    excluded: NDArray[np.int64] | None = None,
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
    n_sampled
        Of more rows than these, a sample proposes what is learned, and all rows decide.
    excluded
        Positions of rows to learn without, ascending; what changed since one of them is missing.

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
    if excluded is not None and table.n_rows > n_sampled:
        raise TableError(
            f"Rows can be left out of tables of at most {n_sampled:,} rows, got {table.n_rows:,}.",
            "drop them from the table before learning.",
        )
    if table.n_rows > n_sampled:
        learned = learn_in_passes(
            in_memory(table),
            settings,
            delta=delta,
            n_jobs=n_jobs,
            progress=progress,
            n_sampled=n_sampled,
        )
    else:
        learned = learn(
            table, settings, delta=delta, n_jobs=n_jobs, progress=progress, excluded=excluded
        )
    model = _model(learned, settings, threshold, created, reading)
    if excluded is None or not len(excluded):
        return model
    text = (
        f"{len(excluded):,} of {table.n_rows:,} rows were left out, because they may be anomalies."
    )
    notices = (*model.provenance.notices, Notice("rows_left_out", text))
    provenance = msgspec.structs.replace(model.provenance, notices=notices)
    return msgspec.structs.replace(model, provenance=provenance)


def train_on_parts(
    parts: Parts,
    settings: Settings,
    *,
    delta: bool = False,
    threshold: float | None = None,
    created: str | None = None,
    reading: Reading | None = None,
    n_jobs: int = 1,
    progress: Progress = be_silent,
    n_sampled: int = SAMPLE,
    shuffled: bool = False,
) -> Model:
    """Learn a model from rows that are read part by part, several times if there are many.

    Parameters
    ----------
    parts
        Normal rows.
    settings, delta, threshold, created, reading, n_jobs, progress
        As for `train`.
    n_sampled
        How many rows stand for all; not more rows than these are held whole.
    shuffled
        Whether rows are known to be in no order: they are exchangeable, whatever their times say.

    """
    if threshold is not None:
        check_threshold(threshold)
    if parts.n_rows <= n_sampled:
        tables = parts.total(_whole, n_jobs, stand_still)
        learned = learn(
            join_tables(tables),
            settings,
            delta=delta,
            n_jobs=n_jobs,
            progress=progress,
            shuffled=shuffled,
        )
    else:
        learned = learn_in_passes(
            parts,
            settings,
            delta=delta,
            n_jobs=n_jobs,
            progress=progress,
            n_sampled=n_sampled,
            shuffled=shuffled,
        )
    return _model(learned, settings, threshold, created, reading)


def _whole(table: Table, first: int) -> tuple[Table, ...]:  # noqa: ARG001, a task
    return (table,)


def _model(
    learned: Learned,
    settings: Settings,
    threshold: float | None,
    created: str | None,
    reading: Reading | None,
) -> Model:
    limit, derived = learned.limit, learned.derived
    if threshold is not None and threshold != limit.value:
        limit = Threshold(float(threshold), ByHand())
    if reading is not None:
        unneeded = {each.name for each in learned.schema.left_out} - {*derived, settings.by}
        reading = reading.ignoring(unneeded)
    return Model(
        learned.schema,
        learned.mined.rules,
        settings,
        _provenance(learned, settings, created),
        limit,
        (),
        derived,
        learned.evidence,
        learned.series,
        reading,
        learned.twins,
    )


def _provenance(learned: Learned, settings: Settings, created: str | None) -> Provenance:
    support, complete_to = learned.support, learned.mined.complete_to
    ordered = learned.series is not None or bool(learned.derived)
    return Provenance(
        version=__version__,
        n_rows=learned.hashes.n_rows,
        n_columns=len(learned.columns),
        fingerprint=learned.hashes.digest(ordered=ordered),
        min_support=support.value,
        support_origin=support.origin,
        complete_to=complete_to,
        trials=support.trials,
        notices=(*_notices(learned.schema, settings, complete_to), *support.notices),
        created=created,
        columns=learned.columns,
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
