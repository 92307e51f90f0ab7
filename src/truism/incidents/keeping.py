"""Rows that are kept after their table is gone, because something open may still be told by them.

An incident is told by the row in which each variable deviates most, and by the times of its first, its
last and its worst row. Such a row depends on nothing but itself, so its cells are all that is kept.
"""

import contextlib
import datetime
import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from truism.errors import StateError
from truism.model.schema import Count
from truism.table.columns import Column, Table
from truism.table.times import Moment


class Infinite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A number beyond all others, which JSON cannot write."""

    negative: bool = False


Cell = None | bool | int | float | str | Infinite


class Stamp(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """When a row was: a moment, a time of day, or whatever else the column of times holds.

    `repeats` counts the rows before it in its series that have the same time.
    """

    moment: datetime.datetime | None = None
    clock: datetime.time | None = None
    other: bool | int | float | str | None = None
    repeats: Count = 0

    @classmethod
    def of(cls, time: Moment | None, repeats: int = 0) -> "Stamp":
        """Return a time as it is kept."""
        if isinstance(time, datetime.datetime):
            offset = time.utcoffset()
            if offset is not None and offset.seconds % 60:  # local times of cities before zones
                time = time.astimezone(datetime.UTC)
            return cls(moment=time, repeats=repeats)
        if isinstance(time, datetime.time):
            return cls(clock=time, repeats=repeats)
        if isinstance(time, float) and not math.isfinite(time):
            time = str(time)
        return cls(other=time, repeats=repeats)

    @property
    def zoned(self) -> bool | None:
        """Whether it has a zone; None if it is no moment."""
        return None if self.moment is None else self.moment.tzinfo is not None

    @property
    def time(self) -> Moment | None:
        """The time as the table told it."""
        told = (self.moment, self.clock, self.other)
        return next((each for each in told if each is not None), None)

    def __str__(self) -> str:
        """Return the time as text that names it, in whatever zone it was told."""
        moment, often = self.moment, f" {self.repeats}" if self.repeats else ""
        if moment is not None and moment.tzinfo is not None:
            with contextlib.suppress(OverflowError):  # the first and the last hours there are
                moment = moment.astimezone(datetime.UTC)
        return ("" if self.time is None else str(self.time if moment is None else moment)) + often


class Kept(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A row that is kept: when it was, and the cells that are not missing."""

    stamp: Stamp = Stamp()
    cells: dict[str, Cell] = {}


class Latest(msgspec.Struct, frozen=True):
    """The last time of a series, how many of its last rows have it, and whether times ever descend."""

    time: object = None
    n_rows: int = 0
    descends: bool = False


class Clock:
    """The times of a table's rows.

    Parameters
    ----------
    times
        The column of times; None if there is none.
    series
        The rows of each series; equal times are counted within it.
    before
        The last time of each series before the table, if it goes on after others; equal times are
        counted on as long as times never descend.

    """

    def __init__(
        self,
        times: Column | None,
        series: Mapping[str, np.ndarray],
        before: Mapping[str, Latest] | None = None,
    ) -> None:
        self._times, self.series = times, series
        self._before = {} if before is None else before
        self._values: np.ndarray | None = None
        self._repeats: np.ndarray | None = None

    @property
    def values(self) -> np.ndarray:
        """The times as values that can be compared."""
        assert self._times is not None
        if self._values is None:
            self._values = self._times.values
            if self._times.kind == "text":
                self._values = np.array(self._times.categories, object)[self._values]
        return self._values

    def repeats(self) -> np.ndarray:
        """Count for each row the rows before it in its series that have the same time."""
        if self._repeats is None:
            self._repeats = np.zeros(len(self.values), np.int64)
            for name, rows in self.series.items():
                values, before = self.values[rows], self._before.get(name, Latest())
                self._repeats[rows] = count_repeats(values)
                if before.n_rows:
                    self._repeats[rows] += before.n_rows * (values == before.time)
        return self._repeats

    def latest(self) -> dict[str, Latest]:
        """Return the last time of each series in these rows and those before."""
        found, times = dict(self._before), self._times
        if times is None:
            return found
        for name, rows in self.series.items():
            values, before = self.values[rows], found.get(name, Latest())
            descends = before.descends or times.kind == "text"
            descends |= bool(times.n_missing) or bool((values[1:] < values[:-1]).any())
            descends |= bool(before.n_rows) and bool(values[0] < before.time)
            found[name] = Latest(values[-1], int(self.repeats()[rows[-1]]) + 1, descends)
        return found

    def stamp(self, row: int) -> Stamp:
        """Return when a row was."""
        time = None if self._times is None else self._times.cell(row)
        if self._times is None or time is None:
            return Stamp()
        return Stamp.of(time, int(self.repeats()[row]))


def refuse_other_zone(before: bool | None, times: Column | None) -> None:
    """Refuse times with a zone after others without one, and the other way round.

    Parameters
    ----------
    before
        Whether earlier times have a zone; None if there are none.
    times
        A column of times.

    """
    if before is None or times is None or times.values.dtype.kind != "M" or not len(times.present):
        return
    if before != times.zoned:
        now, then = ("a", "none") if times.zoned else ("no", "one")
        raise StateError(
            f"Times in column {times.name!r} have {now} zone, those of earlier calls had {then}.",
            "begin a new state, and say with --zone in which zone times without one are.",
        )


def count_repeats(values: np.ndarray) -> np.ndarray:
    """Count for each value how many equal ones come before it.

    >>> count_repeats(np.array([5, 3, 5, 5, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    if len(values) < 2 or (values[1:] > values[:-1]).all():
        return np.zeros(len(values), np.int64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    firsts = np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)]
    starts = np.maximum.accumulate(np.where(firsts, np.arange(len(ordered)), 0))
    found = np.empty(len(values), np.int64)
    found[order] = np.arange(len(ordered)) - starts
    return found


def cells_of(table: Table, row: int, names: Sequence[str]) -> dict[str, Cell]:
    """Return the cells of a row that are not missing."""
    column_of = table.column_of()
    cells = {name: _cell(column_of[name], row) for name in names if name in column_of}
    return {name: cell for name, cell in cells.items() if cell is not None}


def _cell(column: Column, row: int) -> Cell:
    value: Cell = column.cell(row)
    if isinstance(value, float) and math.isinf(value):
        return Infinite(value < 0)
    return value


def as_rows(kept: Sequence[Kept], names: Sequence[str]) -> Table:
    """Return kept rows as a table."""
    columns = (_column(name, [each.cells.get(name) for each in kept]) for name in names)
    return Table(tuple(columns), len(kept))


def _column(name: str, cells: Sequence[Cell]) -> Column:
    missing = np.array([cell is None for cell in cells], np.bool_)
    known = [cell for cell in cells if cell is not None]
    if not known:
        return Column(name, "empty", np.zeros(len(cells)), missing)
    if any(isinstance(cell, str) for cell in known):
        texts = tuple(dict.fromkeys(map(str, known)))
        place = {text: at for at, text in enumerate(texts)}
        codes = [0 if cell is None else place[str(cell)] for cell in cells]
        return Column(name, "text", np.array(codes, np.int32), missing, texts)
    if all(isinstance(cell, bool) for cell in known):
        return Column(name, "boolean", np.array([cell is True for cell in cells]), missing)
    numbers = np.array([_number(cell) for cell in cells])
    whole = all(isinstance(cell, int) and abs(cell) < 1 << 53 for cell in cells)
    return Column(name, "number", numbers.astype(np.int64) if whole else numbers, missing)


def _number(cell: Cell) -> float:
    match cell:
        case None | str():
            return math.nan
        case Infinite(negative):
            return -math.inf if negative else math.inf
    return float(cell)
