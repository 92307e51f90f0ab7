"""Rows by which findings are told, when their table is gone: the times of some, and the cells of others.

Ids count rows of the same time; where times descend, equal ones may lie far apart, and times have to be
read once more.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.incidents.events import Event
from truism.incidents.keeping import Clock, Kept, Stamp, count_repeats, keep
from truism.model.schema import Schema
from truism.score.alignment import time_column
from truism.table.aside import Aside
from truism.table.columns import Table

Rows = NDArray[np.int64]


class KeptRows(Mapping[int, Kept]):
    """Rows that are kept, by number.

    Parameters
    ----------
    schema
        The variables of which cells are kept.
    before
        Rows of earlier tables.

    """

    def __init__(self, schema: Schema, before: Mapping[int, Kept]) -> None:
        self.schema, self.aside, self._before = schema, Aside(), before
        self._stamps: dict[int, Stamp] = {}
        self._repeats: list[tuple[Rows, Rows]] = []
        self._recounted: dict[int, int] = {}

    def add(
        self, table: Table, first: int, clock: Clock, events: Iterable[Event], marked: Iterable[int]
    ) -> None:
        """Keep the rows of a table by which events are told, and those that are marked."""
        told = {*marked}
        for event in events:
            told |= event.telling_rows
            for row in event.telling_rows | event.marked_rows:
                if row >= first:
                    self._stamps[row] = clock.stamp(row - first)
        numbers = np.array(sorted(row for row in told if row >= first), np.int64)
        wanted = {*self.schema.names, self.schema.time}
        columns = tuple(each for each in table.columns if each.name in wanted)
        self.aside.add(Table(columns, table.n_rows).take(numbers - first), numbers)
        if self.schema.time in table.names and len(numbers):
            repeats = clock.repeats()[numbers - first]
            self._repeats.append((numbers[repeats > 0], repeats[repeats > 0]))

    def let_go(self, events: Iterable[Event]) -> None:
        """Let go of the times by which no event is told."""
        needed = {row for event in events for row in event.telling_rows | event.marked_rows}
        self._stamps = {row: stamp for row, stamp in self._stamps.items() if row in needed}

    def kept(self, events: Iterable[Event]) -> dict[int, Kept]:
        """Return the rows by which events are told: cells of telling rows, of others only the time."""
        told, timed = set[int](), set[int]()
        for event in events:
            told |= event.telling_rows
            timed |= event.marked_rows
        rows = {row: self[row] for row in sorted(told | timed) if row in self}
        return {row: each if row in told else Kept(each.stamp) for row, each in rows.items()}

    def recount(self, rows: Rows, read: Callable[[], Iterable[Clock]]) -> None:
        """Count equal times before some rows; `read` reads the times of all rows in parts."""
        self._recounted = dict(count_equal(rows, read))

    def __getitem__(self, row: int) -> Kept:
        if row in self._before:
            return self._before[row]
        cells = Kept()
        if row in self.aside:
            part = self.aside.take([row])
            clock = Clock(time_column(self.schema, part), {})
            cells = keep({}, part, clock, 0, self.schema.names, [0], [])[0]
        stamp = self._stamps.get(row, cells.stamp)
        repeats = stamp.repeats if row in self._stamps else self._repeats_of(row)
        if stamp.time is not None:
            stamp = msgspec.structs.replace(stamp, repeats=self._recounted.get(row, repeats))
        return msgspec.structs.replace(cells, stamp=stamp)

    def _repeats_of(self, row: int) -> int:
        for numbers, repeats in self._repeats:
            if len(numbers) and numbers[0] <= row <= numbers[-1]:
                at = int(np.searchsorted(numbers, row))
                return int(repeats[at]) if numbers[at] == row else 0
        return 0

    def __contains__(self, row: object) -> bool:
        if row in self._before or row in self._stamps:
            return True
        return isinstance(row, int) and row in self.aside

    def __iter__(self) -> Iterator[int]:
        return iter({**self._before, **self._stamps})

    def __len__(self) -> int:
        return len({**self._before, **self._stamps})


def count_equal(rows: Rows, read: Callable[[], Iterable[Clock]]) -> Iterator[tuple[int, int]]:
    """Yield for some rows of a long table how many rows before them in their series have the same time.

    Parameters
    ----------
    rows
        The rows.
    read
        Reads the times in parts, from the first row on.

    """
    wanted: dict[str, list[NDArray[Any]]] = {}
    for name, values, numbers in _by_series(read()):
        own = values[np.isin(numbers, rows)]
        if len(own):
            wanted.setdefault(name, []).append(own)
    times = {name: np.unique(np.concatenate(parts)) for name, parts in wanted.items()}
    counts = {name: np.zeros(len(own), np.int64) for name, own in times.items()}
    for name, values, numbers in _by_series(read()):
        if name not in times:
            continue
        place = np.minimum(np.searchsorted(times[name], values), len(times[name]) - 1)
        equal = np.flatnonzero(times[name][place] == values)
        place, numbers = place[equal], numbers[equal]
        before = count_repeats(place) + counts[name][place]
        own = np.isin(numbers, rows)
        yield from zip(numbers[own].tolist(), before[own].tolist(), strict=True)
        counts[name] += np.bincount(place, minlength=len(counts[name]))


def _by_series(parts: Iterable[Clock]) -> Iterator[tuple[str, NDArray[Any], Rows]]:
    """Yield the series of each part, the times of its rows, and their numbers in the whole table."""
    first = 0
    for clock in parts:
        for name, rows in clock.series.items():
            yield name, clock.values[rows], rows + first
        first += len(clock.values)
