"""Incidents: events, explained by the rows in which their variables deviate most.

Clues are looked for when an incident is looked at, so that a thousand incidents that are not shown cost
nothing.
"""

import datetime
import html
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats, Rows
from truism.explain.blames import (
    Blame,
    Spared,
    blames_html,
    confront,
    describe,
    fold,
    in_short,
    note,
    say_spared,
)
from truism.explain.clues import Clue, CluesOfRow, Lasting, Moved, conditional_on, round_to
from truism.explain.investigation import dead_clue, find_clues, with_dead
from truism.explain.listings import Listing
from truism.explain.stories import Moments, say_again, tell
from truism.explain.words import say_moment
from truism.incidents.deviations import differences
from truism.incidents.events import NAMED, NEVER, Event, Kind
from truism.incidents.keeping import Clock, Kept, Stamp, as_rows, cells_of, count_repeats
from truism.incidents.outlines import Grouped, Outlines, Singles
from truism.model.schema import Numeric, Schema, Variable, id_of
from truism.model.wording import ordinal, visible
from truism.score.alignment import time_column
from truism.score.scorer import Scorer
from truism.table.aside import Aside
from truism.table.columns import Table
from truism.table.times import Moment

GUILTY = 0.5  # share of the most blamed variable's blame: those with more are most to blame
_LATER = np.iinfo(np.int64).max
MIN_SHARE = 0.01  # the smallest share of the blame for an incident that is shown
_PLAIN = ("id", "story", "start", "end", "n_rows", "peak", "score", "severity", "kind", "ongoing")
_TIMES = ("started", "ended", "peaked")


class Origin(msgspec.Struct, frozen=True):
    """Where incidents come from: the id of the model, the name of what is checked, rules switched off."""

    model: str
    source: str | None = None
    disabled: tuple[str, ...] = ()

    def name(self, series: str, start: str) -> str:
        """Return an id that follows from model, source, series and start.

        >>> Origin("a", "pump 1").name("", "2024-01-01 10:00:00")
        'll2fbhwt3effvmgi'
        """
        return id_of((self.model, self.source, series, start), 10)


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """Anomalous rows that belong together.

    Parameters
    ----------
    id
        A short name, which follows from the model, the source, the series, and when it started.
    story
        A name that it shares with the incidents that began while it was active, or soon after.
    start, end
        The first and the last anomalous row.
    n_rows
        Anomalous rows from start to end.
    peak
        The row with the highest score.
    score
        That score.
    severity
        The sum of what the rows score above the threshold, in units of the threshold: it grows with
        strength and duration.
    kind
        ``"incident"``, or ``"shift"`` for what stays unusual.
    ongoing
        Whether the next row may still belong to it.
    is_older
        Whether it was there in the first row of its series, and may be older.
    nth
        How many incidents its main variable has led in the series so far, this one included.
    again
        Variables that joined it later, by themselves as unusual as an incident, and that no other
        variable is known to move: it was announced again.
    started, ended, peaked
        The times of these rows, if the table has times.
    series
        The series it belongs to, if the table holds several.
    blames
        Merged over the incident; `truism.incidents.kernels` says how. Variables with less than 1 %
        are left out, and the clues come from the row in which a variable is to blame most.
    accepted
        What does not count because it was accepted.

    """

    id: str = ""
    story: str = ""
    start: int
    end: int
    n_rows: int
    peak: int
    score: float
    severity: float
    kind: Kind = "incident"
    ongoing: bool = False
    is_older: bool = False
    nth: int = 1
    again: tuple[str, ...] = ()
    series: str | None = None
    started: Moment | None
    ended: Moment | None
    peaked: Moment | None
    blames: tuple[Blame, ...]
    accepted: tuple[Spared, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        times = {name: say_moment(getattr(self, name)) for name in _TIMES}
        told = {"nth": self.nth, "announced": self.announced, "spared": self.spared}
        accepted = [msgspec.to_builtins(each) for each in self.accepted]
        blames = [blame.to_dict() for blame in self.blames]
        return {
            **plain,
            **times,
            "summary": self.summary,
            **told,
            "accepted": accepted,
            "blames": blames,
        }

    @property
    def summary(self) -> str:
        """What happened, in one sentence."""
        return tell(self.kind, self.blames, self._moments, self.n_rows, ongoing=self.ongoing)

    @property
    def _moments(self) -> Moments:
        times = (self.start, self.started, self.end, self.ended, self.peak, self.peaked)
        return Moments(*times, self.is_older)

    @property
    def announced(self) -> str:
        """What was announced again after it began, in one sentence; empty if nothing was."""
        joined = [each for each in self.blames if each.variable in self.again]
        return say_again(joined, self._moments)

    @property
    def spared(self) -> str:
        """What does not count because it was accepted, in one sentence; empty if all counts."""
        return say_spared(self.accepted, self.n_rows)

    @property
    def told(self) -> tuple[str, ...]:
        """What is said of it beside the blames: the summary, what joined it, and what is spared."""
        return tuple(each for each in (self.summary, self.announced, self.spared) if each)

    @property
    def counted(self) -> str:
        """Which of several incidents led by its main variable it is; empty of the first."""
        if self.nth == 1 or not self.blames:
            return ""
        main = max(self.blames, key=lambda each: each.share)
        return f"{ordinal(self.nth)} incident led by {main.variable}"

    @property
    def onset(self) -> int:
        """The row in which it began: what rises before the alarm is a part of it."""
        return min([self.start, *(each.since for each in self.blames if each.since is not None)])

    @property
    def stands(self) -> bool:
        """Whether it is a lasting change that has not returned: the rows differ from training now."""
        return self.kind == "shift" and self.ongoing

    @property
    def duration(self) -> datetime.timedelta | None:
        """How long it lasted; None if there are no times to tell."""
        started, ended = self.started, self.ended
        if not isinstance(started, datetime.datetime) or not isinstance(ended, datetime.datetime):
            return None
        return ended - started

    def __repr__(self) -> str:
        name = "Shift" if self.kind == "shift" else "Incident"
        return f"<{name} in {self._head()}: {in_short(self.blames)}>"

    def __str__(self) -> str:
        summary, *more = map(visible, self.told)
        return "\n".join([self._head(), summary, describe(self.blames), *more])

    def _head(self) -> str:
        where = f"rows {self.start} to {self.end}" if self.end > self.start else f"row {self.start}"
        where += "" if self.series is None else f" of series {visible(self.series)}"
        return f"{where}{self._when()}, peak score {self.score:.4g}"

    def _when(self) -> str:
        started, ended = (
            None if time is None else visible(str(time)) for time in (self.started, self.ended)
        )
        if self.end == self.start or started == ended:
            return "" if started is None else f" ({started})"
        if started is None:
            return f" (until {ended})"
        return f" (from {started})" if ended is None else f" ({started} to {ended})"

    def _repr_html_(self) -> str:
        told = f"<p><b>{html.escape(self._head())}</b></p><p>{html.escape(self.summary)}</p>"
        spared = f"<p>{html.escape(self.spared)}</p>" if self.spared else ""
        return told + blames_html(self.blames) + spared


class KeptRows:
    """Rows by which findings are told, when their table is gone: the times of some, the cells of others.

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
        """Keep the rows of a table, from row `first` on, by which events are told, and marked ones."""
        told = {*marked}
        for event in events:
            told |= event.telling_rows
            for row in event.telling_rows | event.marked_rows:
                if row >= first:
                    self._stamps[row] = clock.stamp(row - first)
        numbers = np.array(sorted(row for row in told if row >= first), np.int64)
        wanted = {*self.schema.names, self.schema.time}
        columns = tuple(column for column in table.columns if column.name in wanted)
        self.aside.add(Table(columns, table.n_rows).take(numbers - first), numbers)
        if self.schema.time in table.names and len(numbers):
            repeats = clock.repeats()[numbers - first]
            self._repeats.append((numbers[repeats > 0], repeats[repeats > 0]))

    def let_go(self, events: Iterable[Event]) -> None:
        """Let go of the times by which none of these events is told."""
        needed = {row for event in events for row in event.telling_rows | event.marked_rows}
        self._stamps = {row: stamp for row, stamp in self._stamps.items() if row in needed}

    def kept(self, events: Iterable[Event]) -> dict[int, Kept]:
        """Return what a state keeps: cells of telling rows, of others only the time."""
        told, timed = set[int](), set[int]()
        for event in events:
            told |= event.telling_rows
            timed |= event.marked_rows
        cells = {row: kept.cells for row, kept in self._before.items() if row in told}
        for rows, part in self.parts(told - {*self._before}):
            cells |= {row: cells_of(part, at, self.schema.names) for at, row in enumerate(rows)}
        known = (told | timed) & (cells.keys() | self._stamps.keys() | self._before.keys())
        return {row: Kept(self.stamp(row), cells.get(row, {})) for row in sorted(known)}

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


class _Telling(msgspec.Struct, frozen=True, eq=False):
    """A row by which an incident is told: its clues, its cells, and how far numbers lie off."""

    clues: CluesOfRow
    part: Table
    at: int
    apart: Floats | None

    def cell(self, name: str) -> Any:
        return self.part.column_of()[name].cell(self.at)


class Incidents(Listing[Incident]):
    """The incidents of a table, by story; each is explained when it is looked at."""

    n_shown = 3

    def __init__(
        self, scorer: Scorer, outlines: Sequence[Event], origin: Origin, rows: KeptRows
    ) -> None:
        super().__init__()
        self.scorer, self.origin, self.rows = scorer, origin, rows
        self.outlines: Outlines = (
            outlines if isinstance(outlines, Singles | Grouped) else Grouped(outlines)
        )
        self._steady = np.array([not one.varies for one in scorer.model.schema.variables])

    def __len__(self) -> int:
        return len(self.outlines)

    def _make(self, positions: Sequence[int]) -> Iterable[Incident]:
        return self._explain([one for each in _runs(positions) for one in self.outlines[each]])

    def id_of(self, event: Event) -> str:
        """Return the id of an incident."""
        stamp = self.stamp(event.first)
        start = f"row {event.start}" if stamp.time is None else str(stamp)
        return self.origin.name(event.series, start)

    def stamp(self, row: int) -> Stamp:
        """Return when a row by which an incident is told was."""
        return self.rows.stamp(row)

    def _explain(self, outlines: Sequence[Event]) -> Iterator[Incident]:
        """Look for clues in the telling rows of some incidents."""
        rows = {
            row
            for event in outlines
            for i in blamed(event, self._steady)
            for row in (_told_at(event, i), int(event.since[i]))
        }
        moved = any(event.lately.any() for event in outlines)
        telling: dict[int, _Telling] = {}
        for numbers, part in self.rows.parts(rows - {NEVER}):
            weighed = self.scorer.weigh_alone(part)
            apart = differences(self.scorer, weighed) if moved else None
            for at, clues in enumerate(find_clues(self.scorer, part, weighed)):
                far = None if apart is None else apart[at]
                telling[numbers[at]] = _Telling(clues, part, at, far)
        for event in outlines:
            yield self._incident(event, telling)

    def _incident(self, event: Event, telling: Mapping[int, _Telling]) -> Incident:
        marked = (event.first, event.last, event.peak)
        started, ended, peaked = (self.stamp(row).time for row in marked)
        main = event.since[event.blame >= NAMED * event.blame.max()]
        return Incident(
            id=self.id_of(event),
            story=self.origin.name(event.series, f"story {event.story}"),
            start=event.first,
            end=event.last,
            n_rows=event.n_rows,
            peak=event.peak,
            score=event.score,
            severity=event.severity,
            kind=event.kind,
            ongoing=event.is_open,
            is_older=self._has_past and any(map(event.is_older, main.tolist())),
            nth=1 + int(event.led[event.blame.argmax()]),
            again=self._again(event),
            series=event.series or None,
            started=started,
            ended=ended,
            peaked=peaked,
            blames=confront(tuple(self._blames(event, telling))),
            accepted=note(self.scorer.model, event.silences),
        )

    def _again(self, event: Event) -> tuple[str, ...]:
        """Return what joined an event later, never changed in training, and would be an event itself."""
        if not self._has_past:
            return ()
        joined = self._steady & (event.since > event.first)
        joined &= event.strength > self.scorer.model.threshold
        return tuple(self.scorer.model.schema.names[i] for i in np.flatnonzero(joined).tolist())

    @property
    def _has_past(self) -> bool:
        return self.scorer.model.memory is not None

    def _blames(self, event: Event, telling: Mapping[int, _Telling]) -> Iterator[Blame]:
        """Say why each variable is to blame, by the row in which it is to blame most."""
        shares, offsets, order = event.shares, event.offsets, blamed(event, self._steady)
        names = [self.scorer.model.schema.names[i] for i in order]
        clues = [self._clues_of(event, i, telling.get(_told_at(event, i))) for i in order]
        told_by = [conditional_on(each[0]) for each in clues]
        behind = fold(names, self.scorer.model, dict(zip(names, told_by, strict=True)))
        for i, against in zip(order, clues, strict=True):
            variable = self.scorer.model.schema.variables[i]
            row, since = _told_at(event, i), int(event.since[i])
            began = telling.get(since)
            clues_then = () if began is None else began.clues.get(variable.name, ())
            then: tuple[Clue, ...] = (*self._moved(event, i, began), *clues_then)
            yield Blame(
                variable.name,
                float(shares[i]),
                float(event.parts[i]),
                against,
                self.scorer.n_training,
                None if row == event.peak else row,
                None if row == event.peak else self.stamp(row).time,
                None if since == NEVER else since,
                None if since == NEVER else self.stamp(since).time,
                then[0] if then else None,
                in_units(variable, float(offsets[i])),
                behind.get(variable.name),
                self.scorer.model.words,
            )

    def _moved(self, event: Event, i: int, telling: _Telling | None) -> tuple[Moved, ...]:
        """Say where a number of a row would be had it stayed where it stood before the event."""
        variable, lately = self.scorer.model.schema.variables[i], float(event.lately[i])
        if (
            telling is None
            or telling.apart is None
            or not isinstance(variable, Numeric)
            or not lately
        ):
            return ()
        found = telling.cell(variable.name)
        way = (float(telling.apart[i]) - lately) * variable.std
        if not isinstance(found, int | float) or not math.isfinite(found) or not abs(way) > 0:
            return ()
        stayed = round_to(found - way, abs(way))
        return (Moved(variable.name, float(found), stayed, variable.low, variable.high),)

    def _clues_of(self, event: Event, i: int, telling: _Telling | None) -> tuple[Clue, ...]:
        """Return the evidence against a variable in the row in which it is to blame most."""
        name = self.scorer.model.schema.names[i]
        clues = () if telling is None else telling.clues.get(name, ())
        if event.stood[i]:
            found = None if telling is None else telling.cell(name)
            dead = dead_clue(self.scorer.model, i, found, int(event.stood[i]))
            clues = with_dead(dead, clues)
        elif moved := self._moved(event, i, telling):
            clues = (*moved, *clues)
        return clues or (Lasting(name, max(int(event.lasting[i]), 1), float(event.parts[i])),)


def _runs(positions: Sequence[int]) -> Iterator[slice]:
    """Return ascending positions as slices of consecutive ones.

    >>> list(_runs([1, 2, 5]))
    [slice(1, 3, None), slice(5, 6, None)]
    """
    start = 0
    for at in range(1, len(positions) + 1):
        if at == len(positions) or positions[at] != positions[at - 1] + 1:
            yield slice(positions[start], positions[at - 1] + 1)
            start = at


def blamed(event: Event, steady: NDArray[np.bool_]) -> list[int]:
    """Return the variables to blame, without those that have hardly any share.

    Those with half the largest share or more come first, in the order in which they began to deviate:
    what comes first is seldom a consequence. Of those that began in one row, what never changed in
    training (`steady`) comes last: a lamp. The others follow, the largest share first.
    """
    shares = event.shares
    most = shares.max(initial=0.0)
    least = min(MIN_SHARE, most / 2)
    guilty = (shares >= GUILTY * most) & (event.since != NEVER)
    since = np.where(guilty, event.since, _LATER)
    order = np.lexsort((-shares, guilty & steady, since)).tolist()
    return [i for i in order if shares[i] > least]


def _told_at(event: Event, i: int) -> int:
    """Return the row in which a variable is told: where it deviates most, else the peak.

    One that died is told as it was when that had lasted longest.
    """
    row = int(event.dead[i] if event.stood[i] else event.telling[i])
    return event.peak if row == NEVER else row


def in_units(variable: Variable, offset: float) -> float | None:
    """Return how far a variable lies off in its own units, rounded; None if that is not known."""
    if not isinstance(variable, Numeric) or not math.isfinite(offset):
        return None
    size = offset * variable.std
    return round_to(size, abs(size)) if size else None
