"""Findings gathered from parts of a table: the same ones as if it had been held whole.

Of most rows nothing is kept but their number. The cells of anomalous rows, and of rows by which incidents
are told, are set aside. Ids count rows of the same time; where times descend, equal ones may lie far
apart, and times have to be read once more.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.checker import Checker
from truism.explaining.findings import MIN_ROWS_TO_DOUBT, Findings, coarser_in, step_to_tell
from truism.explaining.incidents import Incidents
from truism.explaining.patterns import Patterns
from truism.incidents.delays import Delays, limits_of
from truism.incidents.events import Event, Kind, gravest_first
from truism.incidents.following import Following
from truism.incidents.keeping import Clock, Kept, Latest, Stamp, count_repeats, keep
from truism.incidents.marks import Marks
from truism.incidents.outlines import Grouped, Singles
from truism.model.schema import Schema
from truism.scoring.alignment import time_column
from truism.scoring.series import seconds_in, times_in
from truism.table.aside import Aside
from truism.table.columns import Table
from truism.table.joining import join_tables

SLACK = 64  # incidents beyond those that are looked at before some are let go

Rows = NDArray[np.int64]


class Gathering:
    """Gathers what a model finds in a table that is read in parts.

    Parameters
    ----------
    checker
        The model.
    n_rows
        How many rows there are in all.
    gap, min_rows, delays
        As for `Checker.find`.
    most
        How many incidents and lasting changes will be looked at; the others are only counted. All
        when absent.
    patterns
        Whether patterns of a series will be looked at; those of other rows always are.

    """

    def __init__(
        self,
        checker: Checker,
        n_rows: int,
        *,
        gap: int | None = None,
        min_rows: int = 1,
        delays: Delays | None = None,
        most: int | None = None,
        patterns: bool = False,
    ) -> None:
        self.checker, self.n_rows = checker, n_rows
        self.following: Following | None = None
        self._gap, self._min_rows, self._delays, self._most = gap, min_rows, delays, most
        self._ordered = checker.model.series is not None or gap is not None
        self._marking = patterns or not self._ordered
        self._ended: dict[Kind, list[Event]] = {"incident": [], "shift": []}
        self._n_ended: dict[Kind, int] = {"incident": 0, "shift": 0}
        self._marks: list[Marks] = []
        self._rows = _Rows(checker.model.schema)
        self._examples: list[Table] = []
        self._latest, self._n_anomalous = dict[str, Latest](), 0
        self._ends = list[int]()
        self._last: Findings | None = None

    def take(self, table: Table) -> Findings:
        """Take the next rows, prepared after those before; return what is found in them alone."""
        before, model = self.following, self.checker.model
        first, gap = 0 if before is None else before.n_rows, self._gap
        if model.series is not None:
            gap = limits_of(model, table, gap, self._delays).gap
        found, following = self.checker.follow(
            table, before, gap=gap, min_rows=self._min_rows, delays=self._delays
        )
        clock = self.checker.clock(table, self._latest)
        self._latest = clock.latest()
        kept = {
            row: each
            if row < first
            else msgspec.structs.replace(each, stamp=clock.stamp(row - first))
            for row, each in following.kept.items()
        }
        self.following, self._last = msgspec.structs.replace(following, kept=kept), found
        self._n_anomalous += found.n_anomalous
        times = times_in(model.schema, table) if table.n_rows else None
        self._ends += [] if times is None else [int(times[0]), int(times[-1])]
        needed = {row for row, each in kept.items() if each.cells}
        if self._ordered:
            needed |= self._end(found, {} if before is None else before.kept, first, clock)
        if self._marking:
            marks = found.patterns.marks
            marks = msgspec.structs.replace(marks, rows=marks.rows + first)
            self._marks.append(marks)
            needed |= {*marks.rows.tolist()}
        own = np.array(sorted(row for row in needed if row >= first), np.int64)
        self._rows.add(table, own, first, clock)
        step = step_to_tell(self.n_rows)  # positions, since a slice would hold all rows
        self._examples.append(table.take(np.arange(-first % step, table.n_rows, step)))
        return found

    def _end(
        self, found: Findings, before: Mapping[int, Kept], first: int, clock: Clock
    ) -> set[int]:
        """Keep what ended; return the rows by which it is told."""
        told: set[int] = set()
        for kind, outlines in self._outlines(found):
            ended = [each for each in outlines if not each.is_open]
            self._n_ended[kind] += len(ended)
            self._ended[kind] += ended
            for each in ended:
                told |= self._note(each, before, first, clock)
            self._let_go(kind)
        return told

    def _outlines(self, found: Findings) -> Iterator[tuple[Kind, list[Event]]]:
        kinds: tuple[tuple[Kind, Incidents], ...] = (
            ("incident", found.incidents),
            ("shift", found.shifts),
        )
        for kind, events in kinds:
            yield kind, list(events.outlines)

    def _note(self, event: Event, before: Mapping[int, Kept], first: int, clock: Clock) -> set[int]:
        """Keep the times by which an incident is told; return the rows whose cells are needed."""
        for row in event.telling_rows | event.marked_rows:
            if row >= first:
                self._rows.stamps[row] = clock.stamp(row - first)
            elif row in before:
                self._rows.stamps[row] = before[row].stamp
        return event.telling_rows

    def _let_go(self, kind: Kind) -> None:
        """Let go of incidents that nobody will look at."""
        known = self._ended[kind]
        if self._most is None or len(known) <= 2 * self._most + SLACK:
            return
        self._ended[kind] = sorted(known, key=gravest_first)[: self._most]
        events = [each for some in self._ended.values() for each in some]
        needed = {row for each in events for row in each.telling_rows | each.marked_rows}
        stamps = self._rows.stamps
        self._rows.stamps = {row: stamps[row] for row in needed if row in stamps}

    @property
    def needs_times(self) -> bool:
        """Whether times have to be read once more, because equal ones may lie far apart."""
        return any(each.descends for each in self._latest.values())

    def read_times(self, read: Callable[[], Iterable[Table]]) -> None:
        """Count equal times in all rows.

        Parameters
        ----------
        read
            Reads all rows in parts, from the first one on; times and the series are enough.

        """
        starts = [each.first for some in self._ended.values() for each in some]
        assert self.following is not None
        starts += [each.first for each in self.following.pending]
        if not self._ordered:
            starts += np.concatenate([each.rows for each in self._marks]).tolist()
        rows = np.unique(np.array(starts, np.int64))
        self._rows.recounted = dict(count_equal(rows, lambda: map(self.checker.clock, read())))

    def findings(self) -> Findings:
        """Return what was found in all rows."""
        last, following, checker = self._last, self.following, self.checker
        assert last is not None
        assert following is not None
        marks = _joined(self._marks, len(checker.model.schema.names))
        nothing = last.patterns.table.take(np.empty(0, np.int64))
        kinds = {}
        for kind, outlines in self._outlines(last) if self._ordered else ():
            still = [each for each in outlines if each.is_open]
            self._rows.stamps |= {row: each.stamp for row, each in following.kept.items()}
            known = Grouped([*self._ended[kind], *still], self._n_ended[kind] + len(still))
            kinds[kind] = self._incidents(nothing, known)
        if not self._ordered:
            singles = Singles(checker.scorer, self._rows.aside, marks, last.threshold)
            kinds["incident"] = self._incidents(
                nothing, singles if self._min_rows <= 1 else Grouped([])
            )
            kinds["shift"] = self._incidents(nothing, Grouped([]))
        coarser: tuple[str, ...] = ()
        if self.n_rows >= MIN_ROWS_TO_DOUBT:
            coarser = coarser_in(checker.model, join_tables(self._examples))
        return msgspec.structs.replace(
            last,
            scores=np.empty(0),
            excess=np.empty(0),
            incidents=kinds["incident"],
            shifts=kinds["shift"],
            patterns=Patterns(checker.scorer, self._rows.aside, marks, last.gap),
            expected=checker.expected(self.n_rows),
            coarser=coarser,
            state=following,
            counted=(self.n_rows, self._n_anomalous),
            seconds=seconds_in(np.array(self._ends, np.int64)),
        )

    def _incidents(self, nothing: Table, outlines: Grouped | Singles) -> Incidents:
        checker = self.checker
        assert self.following is not None
        return Incidents(
            checker.scorer, nothing, outlines, checker.origin, self.following.n_rows, self._rows
        )


class _Rows(Mapping[int, Kept]):
    """Rows by which incidents are told: times of some, and cells of those that were set aside."""

    def __init__(self, schema: Schema) -> None:
        self.schema, self.aside = schema, Aside()
        self.stamps: dict[int, Stamp] = {}
        self._numbers: list[Rows] = []
        self._repeats: list[Rows] = []
        self.recounted: dict[int, int] = {}

    def add(self, table: Table, numbers: Rows, first: int, clock: Clock) -> None:
        """Set rows aside."""
        wanted = {*self.schema.names, self.schema.time}
        columns = tuple(each for each in table.columns if each.name in wanted)
        self.aside.add(Table(columns, table.n_rows).take(numbers - first), numbers)
        if self.schema.time in table.names and len(numbers):
            repeats = clock.repeats()[numbers - first]
            self._numbers.append(numbers[repeats > 0])
            self._repeats.append(repeats[repeats > 0])

    def __getitem__(self, row: int) -> Kept:
        cells = Kept()
        if row in self.aside:
            part = self.aside.take([row])
            clock = Clock(time_column(self.schema, part), {})
            cells = keep({}, part, clock, 0, self.schema.names, [0], [])[0]
        stamp = self.stamps.get(row, cells.stamp)
        repeats = stamp.repeats if row in self.stamps else self._repeats_of(row)
        if stamp.time is not None:
            stamp = msgspec.structs.replace(stamp, repeats=self.recounted.get(row, repeats))
        return msgspec.structs.replace(cells, stamp=stamp)

    def _repeats_of(self, row: int) -> int:
        for numbers, repeats in zip(self._numbers, self._repeats, strict=True):
            if len(numbers) and numbers[0] <= row <= numbers[-1]:
                at = int(np.searchsorted(numbers, row))
                return int(repeats[at]) if numbers[at] == row else 0
        return 0

    def __contains__(self, row: object) -> bool:
        return row in self.stamps or (isinstance(row, int) and row in self.aside)

    def __iter__(self) -> Iterator[int]:
        return iter(self.stamps)

    def __len__(self) -> int:
        return len(self.stamps)


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


def _joined(marks: list[Marks], n_variables: int) -> Marks:
    """Put the marks of parts together."""
    none, no_score = np.empty(0, np.int64), np.empty(0)
    return Marks(
        np.concatenate([none, *(each.rows for each in marks)]),
        np.concatenate([no_score, *(each.scores for each in marks)]),
        np.concatenate([none, *(each.culprits for each in marks)]),
        np.concatenate([none, *(each.kinds for each in marks)]),
        sum((each.parts for each in marks), np.zeros(n_variables)),
        sum((each.blame for each in marks), np.zeros(n_variables)),
    )
