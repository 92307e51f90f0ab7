"""On-delay and off-delay of alarms, and how far apart rows of one event may lie."""

import math

import msgspec
import numpy as np

from truism.errors import ParameterError
from truism.incidents.events import Limits
from truism.incidents.rates import GAP
from truism.model.model import Model
from truism.model.schema import Schema
from truism.model.settings import check_whole
from truism.score.alignment import time_column
from truism.table.columns import Table
from truism.table.layouts import seconds_of

GAP_SECONDS, MAX_GAP_ROWS = 60, 3600


class Delays(msgspec.Struct, frozen=True):
    """An on-delay and an off-delay, as rows or as durations such as ``"5min"``; by default there is none.

    Parameters
    ----------
    on
        What is over before it has lasted so long is never told, and what is going on is told from then.
    off
        What returns before so long has passed still belongs to the same incident.

    """

    on: int | str = 0
    off: int | str = 0

    def in_rows(self, step: float | None) -> tuple[int, int]:
        """Return both as numbers of rows, which are `step` seconds apart.

        >>> Delays("2min", 3).in_rows(30.0)
        (4, 3)
        """
        return _rows("on_delay", self.on, step), _rows("off_delay", self.off, step)


def _rows(name: str, said: int | str, step: float | None) -> int:
    if isinstance(said, str) and not said.isdecimal():
        try:
            seconds = seconds_of(said)
        except ParameterError:
            raise ParameterError.of(
                name, "be a number of rows, or a duration such as '5min'", said
            ) from None
        if step is None:
            raise ParameterError.of(
                name, "be a number of rows, because the model has no times", said
            )
        return math.ceil(seconds / step)
    rows = int(said) if isinstance(said, str) else said
    check_whole(name, rows, 0)
    return rows


def limits_of(
    model: Model, table: Table, gap: int | None = None, delays: Delays | None = None
) -> Limits:
    """Return what is unusual for a model, and how far apart rows of one event may lie."""
    if gap is not None:
        check_whole("gap", gap, 0)
    step = None if model.series is None else model.series.step
    least, most = (0, 0) if delays is None else delays.in_rows(step)
    lookback = None if model.memory is None else model.memory.lookback
    if gap is None and model.memory is not None:
        gap = GAP
    elif gap is None:
        # What a series is, and so its gap, must not depend on how its rows are divided.
        gap = usual_gap(model.schema, table) if model.series is None else rows_in_a_minute(step)
    return Limits(model.threshold, max(gap, most), lookback, least)


def usual_gap(schema: Schema, table: Table) -> int:
    """Return how many normal rows are allowed within an incident: one minute's worth, at least five.

    >>> from truism.table.frames import as_table
    >>> usual_gap(Schema(()), as_table({"pump": ["on", "off"]}))
    5
    """
    times = time_column(schema, table)
    if times is None or times.values.dtype.kind != "M" or len(times.values) < 2:
        return GAP
    steps = np.diff(times.present).astype("timedelta64[us]").astype(np.int64)
    steps = steps[steps > 0]
    if not len(steps):
        return GAP
    return rows_in_a_minute(float(np.median(steps)) / 1e6)


def rows_in_a_minute(step: float | None) -> int:
    """Return how many rows a minute has, at least five, if they are so many seconds apart.

    >>> rows_in_a_minute(1.0), rows_in_a_minute(3600.0), rows_in_a_minute(None)
    (60, 5, 5)
    """
    rows = GAP if step is None else int(GAP_SECONDS / step)
    return min(max(rows, GAP), MAX_GAP_ROWS)
