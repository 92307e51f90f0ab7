"""Lists whose members cost something: each is made when it is looked at, and kept.

`Incidents` are made of events: by the rows in which their variables deviate most. A thousand incidents
that are not looked at cost nothing.
"""

import datetime
import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats
from truism.explain.blames import blame, fold, note, say_spared, suspects_among
from truism.explain.clues import Clue, CluesOfRow, Dead, Lasting, Moved, conditional_on, round_to
from truism.explain.incidents import (
    Course,
    Incident,
    Origin,
    announce_again,
    course_of,
    seconds_between,
    summarise,
)
from truism.explain.investigation import dead_clue, find_clues, with_dead
from truism.explain.words import say_when
from truism.incidents.deviations import differences
from truism.incidents.events import NAMED, NEVER, Event
from truism.incidents.keeping import KeptRows, Stamp
from truism.incidents.outlines import Grouped, Outlines, Singles
from truism.model.schema import Numeric, Variable
from truism.model.wording import Printed
from truism.score.scorer import Scorer
from truism.table.columns import Table
from truism.table.times import Moment

GUILTY = 0.5  # share of the most blamed variable's blame: those with more are most to blame
_LATER = np.iinfo(np.int64).max
MIN_SHARE = 0.01  # the smallest share of the blame for an incident that is shown
AT_ONCE = 64  # members that are made together


Member = TypeVar("Member")


class Listing(Printed, Sequence[Member]):
    """A list that makes its members when they are looked at."""

    n_shown: int  # how many are printed
    if_none = "none"

    def __init__(self) -> None:
        self._made: dict[int, Member] = {}

    @abstractmethod
    def _make(self, positions: Sequence[int]) -> Iterable[Member]:
        """Make the members at ascending positions, in that order."""

    @overload
    def __getitem__(self, position: int) -> Member: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Member]: ...
    def __getitem__(self, position: int | slice) -> Member | Sequence[Member]:
        if isinstance(position, slice):
            some = range(*position.indices(len(self)))
            for at in range(0, len(some), AT_ONCE):
                self._look_at(some[at : at + AT_ONCE])
            return tuple(self._made[at] for at in some)
        position = range(len(self))[position]
        self._look_at(range(position, position + 1))
        return self._made[position]

    def __iter__(self) -> Iterator[Member]:
        for start in range(0, len(self), AT_ONCE):
            yield from self[start : start + AT_ONCE]

    def _look_at(self, positions: range) -> None:
        """Make those members that were not made before."""
        new = [at for at in sorted(positions) if at not in self._made]
        if new:
            self._made |= dict(zip(new, self._make(new), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,}>"

    def __str__(self) -> str:
        n_more = len(self) - self.n_shown
        more = [f"… and {n_more:,} more"] if n_more > 0 else []
        return "\n\n".join([*map(str, self[: self.n_shown]), *more]) or self.if_none


class _Telling(msgspec.Struct, frozen=True, eq=False):
    """A row that explains an incident: its clues, its cells, and how far numbers lie off."""

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
        self,
        scorer: Scorer,
        outlines: Sequence[Event],
        origin: Origin,
        rows: KeptRows,
        threshold: float,
    ) -> None:
        super().__init__()
        self.scorer, self.origin, self.rows = scorer, origin, rows
        self.outlines: Outlines = (
            outlines if isinstance(outlines, Singles | Grouped) else Grouped(outlines)
        )
        self._threshold = threshold
        self._steady = np.array([not one.varies for one in scorer.model.schema.variables])

    def __len__(self) -> int:
        return len(self.outlines)

    def _make(self, positions: Sequence[int]) -> Iterable[Incident]:
        return self._explain(self.outlines.take(positions))

    def id_of(self, event: Event) -> str:
        """Return the id of an incident."""
        stamp = self.stamp(event.first)
        start = f"row {event.start}" if stamp.time is None else str(stamp)
        return self.origin.name(event.series, start)

    def stamp(self, row: int) -> Stamp:
        """Return when a row that explains an incident was."""
        return self.rows.stamp(row)

    def _explain(self, outlines: Sequence[Event]) -> Iterator[Incident]:
        """Look for clues in the telling rows of some incidents."""
        about: dict[int, set[int]] = {}  # which variables are explained by which row
        for event in outlines:
            for i in blamed(event, self._steady):
                for row in {_worst_row(event, i), int(event.since[i])} - {NEVER}:
                    about.setdefault(row, set()).add(i)
        moved = any(event.lately.any() for event in outlines)
        telling: dict[int, _Telling] = {}
        for numbers, part in self.rows.parts(about):
            weighed = self.scorer.weigh_alone(part)
            apart = differences(self.scorer, weighed) if moved else None
            found = find_clues(self.scorer, part, weighed, [about[row] for row in numbers])
            for at, clues in enumerate(found):
                far = None if apart is None else apart[at]
                telling[numbers[at]] = _Telling(clues, part, at, far)
        for event in outlines:
            yield self._incident(event, telling)

    def _incident(self, event: Event, telling: Mapping[int, _Telling]) -> Incident:
        marked = (event.first, event.last, event.peak)
        started, ended, peaked = (self.stamp(row).time for row in marked)
        main = event.since[event.blame >= NAMED * event.blame.max()]
        courses = tuple(self._courses(event, telling))
        model = self.scorer.model
        accepted = note(model, event.silences)
        incident = Incident(
            id=self.id_of(event),
            story=self.origin.name(event.series, f"story {event.story}"),
            model=self.origin.model,
            source=self.origin.source,
            series=event.series or None,
            kind=event.kind,
            state="open" if event.is_open else "closed",
            severity=event.severity,
            score=event.score,
            threshold=self._threshold,
            start=event.first,
            end=event.last,
            peak=event.peak,
            started=started,
            ended=ended,
            peaked=peaked,
            seconds=seconds_between(started, ended),
            n_rows=event.n_rows,
            is_older=self._has_past and any(map(event.is_older, main.tolist())),
            nth=event.nth,
            again=self._again(event),
            spared=say_spared(accepted, event.n_rows),
            accepted=accepted,
            blames=tuple(course.blame for course in courses),
        )
        in_order = sorted(courses, key=lambda course: course.row)
        summary = summarise(incident, in_order, model.words)
        announced = announce_again(incident, in_order, model.words)
        return msgspec.structs.replace(incident, summary=summary, announced=announced)

    def _again(self, event: Event) -> tuple[str, ...]:
        """Return what joined an event later, never changed in training, and would be an event itself."""
        if not self._has_past:
            return ()
        joined = self._steady & (event.since > event.first)
        joined &= event.strength > self._threshold
        return tuple(self.scorer.model.schema.names[i] for i in np.flatnonzero(joined).tolist())

    @property
    def _has_past(self) -> bool:
        return self.scorer.model.memory is not None

    def _courses(self, event: Event, telling: Mapping[int, _Telling]) -> Iterator[Course]:
        """Say why each variable is to blame, by the row in which it is to blame most."""
        model = self.scorer.model
        shares, offsets, order = event.shares, event.offsets, blamed(event, self._steady)
        names = [model.schema.names[i] for i in order]
        clues_of = {
            name: self._clues_of(event, i, telling.get(_worst_row(event, i)))
            for name, i in zip(names, order, strict=True)
        }
        witnesses = {name: conditional_on(clues[0]) for name, clues in clues_of.items()}
        behind = fold(names, model, witnesses)
        suspects = suspects_among(dict(zip(names, shares[order].tolist(), strict=True)))
        for name, i in zip(names, order, strict=True):
            row, since = _worst_row(event, i), int(event.since[i])
            time, clues = self.stamp(row).time, clues_of[name]
            place: dict[str, Any] = {}
            if row != event.peak:
                place = {"row": row, "when": None if time is None else say_when(row, time)}
            if since != NEVER:
                onset = self.onset(event, i, is_dead=isinstance(clues[0], Dead))
                place |= dict(zip(("since", "began"), onset, strict=True))
            blamed_for = blame(
                *(self.scorer, name, float(shares[i]), float(event.parts[i]), clues, suspects),
                offset=in_units(model.schema.variables[i], float(offsets[i])),
                behind=behind.get(name),
                **place,
            )
            began = telling.get(since)
            clues_then = () if began is None else began.clues.get(name, ())
            first = next(iter((*self._moved(event, i, began), *clues_then)), None)
            if since == NEVER and event.kind == "shift":
                row, time = event.first, self.stamp(event.first).time
            yield course_of(blamed_for, clues[0], row, time, first, event.kind)

    def onset(self, event: Event, i: int, *, is_dead: bool) -> tuple[int, Moment | None]:
        """Return in which row a variable of an event began to deviate, and when.

        What is dead began to be so before that could be known, and before the rows that are kept.
        """
        row, n_rows = int(event.since[i]), int(event.stood[i])
        if not is_dead:
            row = event.first if row == NEVER else row
            return row, self.stamp(row).time
        row, series = int(event.dead[i]), self.scorer.model.series
        time, step = self.stamp(row).time, None if series is None else series.step
        if isinstance(time, datetime.datetime) and step is not None:
            time -= datetime.timedelta(seconds=(n_rows - 1) * step)
        return row - n_rows + 1, time

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


def _worst_row(event: Event, i: int) -> int:
    """Return the row in which a variable deviates most, else the peak; if it died, its last row."""
    row = int(event.dead[i] if event.stood[i] else event.telling[i])
    return event.peak if row == NEVER else row


def in_units(variable: Variable, offset: float) -> float | None:
    """Return how far a variable lies off in its own units, rounded; None if that is not known."""
    if not isinstance(variable, Numeric) or not math.isfinite(offset):
        return None
    size = offset * variable.std
    return round_to(size, abs(size)) if size else None
