"""Series made small enough to draw: an axis and a column go in, a `Line` comes out.

Averaging would hide what matters in a report, so every bucket of rows keeps its smallest and its
largest value, in the order in which they occurred: a peak of one row stays a peak.
"""

import datetime

import numpy as np
from numpy.typing import NDArray

from truism.model.schema import Schema
from truism.model.wording import count, lasting
from truism.score.alignment import time_column
from truism.show.contents import Line, Span, Unit
from truism.table.columns import Table
from truism.table.timelines import wall_clock

MAX_STEPS = 6.0  # usual steps between two rows that a line joins
_MINUTE = 60


class Axis:
    """The places of rows on the x axis, and the words for them.

    Rows are placed in time if the table's time column holds times that never run backwards and have
    years that a calendar shows, and are numbered otherwise. Times are those that clocks in the zone
    of the data showed; where an hour occurs twice, the axis goes on without turning the clock back.
    """

    def __init__(self, table: Table, schema: Schema) -> None:
        self.n_rows = n_rows = table.n_rows
        time = time_column(schema, table)
        self.unit: Unit = "row"
        self.x = np.arange(n_rows, dtype=np.float64)
        self._times: NDArray[np.datetime64] | None = None
        self._instants = self.x
        self._zone = f" {time.zone or 'UTC'}" if time is not None and time.zoned else ""
        if time is not None and time.values.dtype.kind == "M" and time.missing is None:
            instants = _milliseconds(time.values)
            if n_rows > 1 and (np.diff(instants) >= 0).all() and _shown(time.values):
                self.unit = "time"
                self._times, self._instants = wall_clock(time), instants
                shown = _milliseconds(self._times)
                ascends = (np.diff(shown) >= 0).all()
                self.x = shown if ascends else instants + (shown[0] - instants[0])
        steps = np.diff(self.x)
        self.step = float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0

    def span(self, start: int, end: int) -> Span:
        """Return the stretch of the x axis that rows from start to end cover."""
        after = self.x[end + 1] if end + 1 < self.n_rows else self.x[end] + self.step
        return Span(float(self.x[start]), float(min(after, self.x[end] + 10 * self.step)))

    def apart(
        self, x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a line that is broken where rows are so far apart that none follows the other."""
        gaps = np.flatnonzero(np.diff(x) > MAX_STEPS * self.step) + 1
        return np.insert(x, gaps, x[gaps - 1] + self.step), np.insert(y, gaps, np.nan)

    def when(self, start: int, end: int) -> str:
        """Say from when to when rows last, no more precisely than needed."""
        if self._times is None:
            return f"row {start:,}" if start == end else f"rows {start:,} to {end:,}"
        first, last = self._moment(start), self._moment(end)
        seconds = (last - first).total_seconds() < 2 * _MINUTE and first != last
        form = "%H:%M:%S" if seconds else "%H:%M"
        one_day = self._moment(0).date() == self._moment(self.n_rows - 1).date()
        begun = first.strftime(form if one_day else f"%Y-%m-%d {form}")
        if start == end:
            return f"{begun}{self._zone}"
        ended = last.strftime(form if last.date() == first.date() else f"%Y-%m-%d {form}")
        return f"{begun} to {ended}{self._zone}"

    def lasted(self, start: int, end: int) -> str:
        """Say how long it is from start to end, in the words of the command line."""
        if self._times is None or start == end:
            return count(end - start + 1, "row")
        return lasting((self._instants[end] - self._instants[start]) / 1e3)

    def _moment(self, row: int) -> datetime.datetime:
        assert self._times is not None
        moment = self._times[row].astype("datetime64[us]").item()
        assert isinstance(moment, datetime.datetime)
        return moment


def _milliseconds(times: NDArray[np.datetime64]) -> NDArray[np.float64]:
    return times.astype("datetime64[us]").astype(np.int64) / 1e3


def _shown(times: NDArray[np.datetime64]) -> bool:
    years = times[[0, -1]].astype("datetime64[Y]").astype(np.int64) + 1970
    return bool((years >= datetime.MINYEAR).all() and (years <= datetime.MAXYEAR).all())


def reduce(x: NDArray[np.float64], y: NDArray[np.float64], n_buckets: int) -> Line:
    """Keep each bucket's smallest and largest value; NaN and infinity count as missing.

    >>> reduce(np.arange(6.0), np.array([0, 0, 0, 9, 0, 0.0]), 2).y
    (0.0, 0.0, 9.0, 0.0)
    """
    y = np.where(np.isfinite(y), y, np.nan)
    if len(y) <= 2 * n_buckets:
        return line(x, y)
    starts = np.linspace(0, len(y), n_buckets + 1).astype(np.int64)[:-1]
    lows = np.minimum.reduceat(np.where(np.isnan(y), np.inf, y), starts)
    highs = np.maximum.reduceat(np.where(np.isnan(y), -np.inf, y), starts)
    rising = y[starts] - lows <= highs - y[starts]
    pairs = np.where(rising, [lows, highs], [highs, lows]).T.ravel()
    return line(np.repeat(x[starts], 2), np.where(np.isfinite(pairs), pairs, np.nan))


def line(x: NDArray[np.float64], y: NDArray[np.float64]) -> Line:
    """Return a series as it is, rounded to what a screen can show."""
    shown = [None if value != value else float(f"{value:.7g}") for value in y.tolist()]
    return Line(tuple(x.tolist()), tuple(shown))


def runs(mask: NDArray[np.bool_], most: int = 200) -> list[tuple[int, int]]:
    """Return the first and last position of each run of true; if there are many, close short gaps.

    >>> runs(np.array([True, True, False, True]))
    [(0, 1), (3, 3)]
    """
    edges = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    if len(starts) > most:
        gaps = starts[1:] - ends[:-1]
        widest = np.sort(np.argsort(-gaps, kind="stable")[: most - 1])
        starts, ends = starts[np.r_[0, widest + 1]], ends[np.r_[widest, len(ends) - 1]]
    return list(zip(starts.tolist(), ends.tolist(), strict=True))
