"""Rows that are kept after their table is gone, because something open may still be told by them.

An incident is told by the row in which each variable deviates most, and by the times of its first, its
last and its worst row. Such a row depends on nothing but itself, so its cells are all that is kept.
"""

import contextlib
import datetime
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Rows
from truism.errors import StateError
from truism.incidents.events import Event
from truism.model.schema import Count, Schema
from truism.score.alignment import time_column
from truism.table.aside import Aside
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


class LastTime(msgspec.Struct, frozen=True):
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
        before: Mapping[str, LastTime] | None = None,
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
                values, before = self.values[rows], self._before.get(name, LastTime())
                self._repeats[rows] = count_repeats(values)
                if before.n_rows:
                    self._repeats[rows] += before.n_rows * (values == before.time)
        return self._repeats

    def latest(self) -> dict[str, LastTime]:
        """Return the last time of each series in these rows and those before."""
        found, times = dict(self._before), self._times
        if times is None:
            return found
        for name, rows in self.series.items():
            values, before = self.values[rows], found.get(name, LastTime())
            descends = before.descends or times.kind == "text"
            descends |= bool(times.n_missing) or bool((values[1:] < values[:-1]).any())
            descends |= bool(before.n_rows) and bool(values[0] < before.time)
            found[name] = LastTime(values[-1], int(self.repeats()[rows[-1]]) + 1, descends)
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


class KeptRows:
    """Rows that explain findings when their table is gone: the times of some, the cells of others.

    `before` are rows of earlier tables. Ids count rows of the same time; where times descend, equal ones
    may lie far apart, and times have to be read once more.
    """

    def __init__(self, schema: Schema, before: Mapping[int, Kept]) -> None:
        self.schema, self.aside, self._before = schema, Aside(), before
        self._stamps: dict[int, Stamp] = {}
        self._repeats: list[tuple[Rows, Rows]] = []
        self._recounted: dict[int, int] = {}

    def add(
        self, table: Table, first: int, clock: Clock, events: Iterable[Event], marked: Iterable[int]
    ) -> None:
        """Keep the rows of a table, from row `first` on, that explain events, and marked ones."""
        telling = {*marked}
        for event in events:
            telling |= event.telling_rows
            for row in event.telling_rows | event.marked_rows:
                if row >= first:
                    self._stamps[row] = clock.stamp(row - first)
        numbers = np.array(sorted(row for row in telling if row >= first), np.int64)
        wanted = {*self.schema.names, self.schema.time}
        columns = tuple(column for column in table.columns if column.name in wanted)
        self.aside.add(Table(columns, table.n_rows).take(numbers - first), numbers)
        if self.schema.time in table.names and len(numbers):
            repeats = clock.repeats()[numbers - first]
            self._repeats.append((numbers[repeats > 0], repeats[repeats > 0]))

    def let_go(self, events: Iterable[Event]) -> None:
        """Let go of the times that none of these events needs."""
        needed = {row for event in events for row in event.telling_rows | event.marked_rows}
        self._stamps = {row: stamp for row, stamp in self._stamps.items() if row in needed}

    def kept(self, events: Iterable[Event]) -> dict[int, Kept]:
        """Return what a state keeps: cells of telling rows, of others only the time."""
        telling, timed = set[int](), set[int]()
        for event in events:
            telling |= event.telling_rows
            timed |= event.marked_rows
        cells = {row: kept.cells for row, kept in self._before.items() if row in telling}
        for rows, part in self.parts(telling - {*self._before}):
            cells |= {row: cells_of(part, at, self.schema.names) for at, row in enumerate(rows)}
        here = (telling | timed) & (cells.keys() | self._stamps.keys() | self._before.keys())
        return {row: Kept(self.stamp(row), cells.get(row, {})) for row in sorted(here)}

    def recount(self, rows: Rows, read: Callable[[], Iterable[Clock]]) -> None:
        """Count equal times before some rows; `read` reads the times of all rows in parts."""
        self._recounted = dict(count_equal(rows, read))

    def stamp(self, row: int) -> Stamp:
        """Return when a row was."""
        if row in self._before:
            return self._before[row].stamp
        stamp = self._stamps.get(row)
        if stamp is None:
            if self.schema.time is None or row not in self.aside:
                return Stamp()
            times = time_column(self.schema, self.aside.take([row], {self.schema.time}))
            stamp = Stamp.of(None if times is None else times.cell(0), self._repeats_of(row))
            self._stamps[row] = stamp
        if row not in self._recounted or stamp.time is None:
            return stamp
        return msgspec.structs.replace(stamp, repeats=self._recounted[row])

    def _repeats_of(self, row: int) -> int:
        for numbers, repeats in self._repeats:
            if len(numbers) and numbers[0] <= row <= numbers[-1]:
                at = int(np.searchsorted(numbers, row))
                return int(repeats[at]) if numbers[at] == row else 0
        return 0

    def parts(self, rows: Iterable[int]) -> Iterator[tuple[list[int], Table]]:
        """Yield rows of earlier tables and then the others, with their cells."""
        old, new = list[int](), list[int]()
        for row in sorted(rows):
            if row in self._before:
                old.append(row)
            elif row in self.aside:
                new.append(row)
        if old:
            yield old, as_rows([self._before[row] for row in old], self.schema.names)
        if new:
            yield new, self.aside.take(new)


def count_equal(rows: Rows, read: Callable[[], Iterable[Clock]]) -> Iterator[tuple[int, int]]:
    """Yield for some rows of a long table how many rows before them in their series have the same time.

    `read` reads the times in parts, from the first row on.
    """
    wanted: dict[str, list[NDArray[Any]]] = {}
    for name, values, numbers in _by_series(read()):
        chosen = values[np.isin(numbers, rows)]
        if len(chosen):
            wanted.setdefault(name, []).append(chosen)
    times = {name: np.unique(np.concatenate(parts)) for name, parts in wanted.items()}
    counts = {name: np.zeros(len(values), np.int64) for name, values in times.items()}
    for name, values, numbers in _by_series(read()):
        if name not in times:
            continue
        place = np.minimum(np.searchsorted(times[name], values), len(times[name]) - 1)
        equal = np.flatnonzero(times[name][place] == values)
        place, numbers = place[equal], numbers[equal]
        before = count_repeats(place) + counts[name][place]
        chosen = np.isin(numbers, rows)
        yield from zip(numbers[chosen].tolist(), before[chosen].tolist(), strict=True)
        counts[name] += np.bincount(place, minlength=len(counts[name]))


def _by_series(parts: Iterable[Clock]) -> Iterator[tuple[str, NDArray[Any], Rows]]:
    """Yield the series of each part, the times of its rows, and their numbers in the whole table."""
    first = 0
    for clock in parts:
        for name, rows in clock.series.items():
            yield name, clock.values[rows], rows + first
        first += len(clock.values)
