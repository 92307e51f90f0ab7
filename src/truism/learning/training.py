"""Everything between a table of normal rows and a model that can be kept: differences, θ, threshold.

`truism.learning.support` learns from the columns it is given. This module adds those made from others,
and what only the person who asks knows: the threshold to report at and the date.
"""

import msgspec

from truism.learning.learner import infer_schema
from truism.learning.support import tune
from truism.model.model import Model
from truism.model.schema import Numeric
from truism.model.settings import Settings, check_threshold
from truism.table.columns import Table
from truism.table.deltas import with_deltas
from truism.work import Progress, be_silent


def train(
    table: Table,
    settings: Settings,
    *,
    delta: bool = False,
    threshold: float | None = None,
    created: str | None = None,
    n_jobs: int = 1,
    progress: Progress = be_silent,
) -> Model:
    """Learn a model to keep.

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
    n_jobs
        Threads to use; the result does not depend on it.
    progress
        Told the stage, and how much of it is done.

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
    derived: tuple[str, ...] = ()
    if delta:
        variables = infer_schema(table, settings).variables
        derived = tuple(each.name for each in variables if isinstance(each, Numeric))
    model = tune(with_deltas(table, derived), settings, n_jobs=n_jobs, progress=progress)
    if threshold is not None:
        model = model.with_threshold(threshold)
    # The index of a dataframe says when, but is none of its columns.
    index = {column.name for column in table.columns if column.index}
    columns = tuple(name for name in model.provenance.columns if name not in index)
    provenance = msgspec.structs.replace(
        model.provenance,
        created=created,
        columns=columns,
        n_columns=model.provenance.n_columns - len(index),
    )
    return msgspec.structs.replace(model, derived=derived, provenance=provenance)
