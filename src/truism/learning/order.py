"""Whether rows are a series: a table and what the user says go in, a `Series` comes out, or None.

Rows are a series if their times ascend in nearly equal steps, or if the user says that they are in order.
Otherwise they are exchangeable, even with a column of times.
"""

import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError
from truism.model.schema import Schema
from truism.model.series import LOOKBACK, Series
from truism.model.settings import Settings
from truism.scoring.series import lay_out
from truism.table.columns import Table
from truism.table.layouts import seconds_of
from truism.table.timelines import irregularity


def find_series(table: Table, schema: Schema, settings: Settings, *, delta: bool) -> Series | None:
    """Decide whether rows are a series, whose memory is still to be learned.

    Changes from row to row as variables say so, too.
    """
    timeline = lay_out(Series(by=settings.by), schema, table)
    steps = _steps(timeline.times, timeline.of_row)
    regular = steps is not None and irregularity(steps) is None
    if not (regular or settings.ordered or delta or settings.by is not None):
        return None
    forward = np.empty(0) if steps is None else steps[steps > 0]
    step = float(np.median(forward)) / 1e6 if len(forward) else None
    return Series(step, settings.by)


def rows_to_look_back(settings: Settings, series: Series) -> int:
    """Return the span of the past in rows; 0 if every row is to be judged by itself."""
    said = settings.lookback
    if said == "auto":
        return LOOKBACK
    if isinstance(said, int):
        return said
    if series.step is None:
        raise ParameterError.of(
            "lookback",
            "be a number of rows, because the table has no times",
            said,
        )
    return max(round(seconds_of(said) / series.step), 1)


def _steps(times: NDArray[np.int64] | None, of_row: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the steps from row to row within each series, in microseconds."""
    if times is None or len(times) < 2:
        return None
    order = np.argsort(of_row, kind="stable")
    steps = np.diff(times[order])
    return np.asarray(steps[np.diff(of_row[order]) == 0], np.int64)
