"""What happened: events and what adds up over their rows go in, incidents with blames come out.

Clues are looked for when an incident is looked at, so that a thousand incidents that nobody sees cost
nothing.
"""

import datetime
import html
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

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
from truism.explain.clues import Clue, CluesOfRow, Dead, Lasting, Moved, conditional_on, round_to
from truism.explain.investigation import dead_clue, find_clues, with_dead
from truism.explain.listings import Listing
from truism.explain.stories import Moments, say_again, tell
from truism.explain.words import say_moment
from truism.incidents.deviations import differences
from truism.incidents.events import NAMED, NEVER, Event, Kind
from truism.incidents.keeping import Clock, Kept, Stamp, as_rows
from truism.incidents.outlines import Grouped, Outlines, Singles
from truism.model.schema import Numeric, Variable, id_of
from truism.model.wording import visible
from truism.score.alignment import time_column
from truism.score.past import rows_by_series
from truism.score.scorer import Scorer
from truism.table.columns import Table
from truism.table.times import Moment

GUILTY = 0.5  # share of the most blamed variable's blame: those with more are most to blame
_LATER = np.iinfo(np.int64).max
MIN_SHARE = 0.01  # the smallest share of the blame for an incident that is shown
_PLAIN = ("id", "story", "start", "end", "n_rows", "peak", "score", "severity", "kind", "ongoing")
_TIMES = ("started", "ended", "peaked")

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


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
        told = {"summary": self.summary, "spared": self.spared}
        accepted = [msgspec.to_builtins(each) for each in self.accepted]
        blames = [blame.to_dict() for blame in self.blames]
        return {**plain, **times, **told, "accepted": accepted, "blames": blames}

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
    def onset(self) -> int:
        """The row in which it began: what rises before the alarm is a part of it."""
        return min([self.start, *(each.since for each in self.blames if each.since is not None)])

    @property
    def still(self) -> tuple[str, ...]:
        """The variables that stood still for longer than ever."""
        return tuple(each.variable for each in self.blames if isinstance(each.clues[0], Dead))

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


class Incidents(Listing[Incident]):
    """The incidents of a table, by story; each is explained when it is looked at.

    Parameters
    ----------
    scorer, table
        The model and the rows.
    outlines
        The incidents.
    origin
        Where they come from.
    first
        The number of the table's first row.
    kept
        Rows before it by which incidents are told.

    """

    n_shown = 3

    def __init__(
        self,
        scorer: Scorer,
        table: Table,
        outlines: Sequence[Event],
        origin: Origin,
        first: int = 0,
        kept: Mapping[int, Kept] | None = None,
    ) -> None:
        super().__init__()
        self.scorer, self.table, self.origin = scorer, table, origin
        self.outlines: Outlines = (
            outlines if isinstance(outlines, Singles | Grouped) else Grouped(outlines)
        )
        self._first, self._kept = first, {} if kept is None else kept
        self._apart: dict[int, Floats] = {}

    @cached_property
    def _clock(self) -> Clock:
        series = self.scorer.model.series
        by = None if series is None else series.by
        times = time_column(self.scorer.model.schema, self.table)
        return Clock(times, rows_by_series(by, self.table))

    @cached_property
    def _steady(self) -> NDArray[np.bool_]:
        return np.array([not each.varies for each in self.scorer.model.schema.variables])

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
        if row >= self._first:
            return self._clock.stamp(row - self._first)
        return self._kept[row].stamp if row in self._kept else Stamp()

    def _cell(self, row: int, name: str) -> Any:
        """Return a value of a row by which an incident is told; None if it is missing."""
        if row >= self._first:
            return self.table.column_of()[name].cell(row - self._first)
        return self._kept[row].cells.get(name) if row in self._kept else None

    def _explain(self, outlines: Sequence[Event]) -> Iterator[Incident]:
        """Look for clues in the telling rows of some incidents."""
        telling = {
            row
            for each in outlines
            for i in blamed(each, self._steady)
            for row in (_told_at(each, i), int(each.since[i]))
            if row != NEVER
        }
        own = np.array(sorted(row for row in telling if row >= self._first), np.int64)
        clues_at = self._clues(own, self.table.take(own - self._first))
        old = [row for row in sorted(telling) if row < self._first and row in self._kept]
        rows = as_rows([self._kept[row] for row in old], self.scorer.model.schema.names)
        clues_at |= self._clues(old, rows)
        if any(each.lately.any() for each in outlines):
            self._apart |= self._differences(own, self.table.take(own - self._first))
            self._apart |= self._differences(old, rows)
        for each in outlines:
            yield self._incident(each, clues_at)

    def _differences(self, rows: Sequence[int] | Rows, part: Table) -> dict[int, Floats]:
        if not part.n_rows:
            return {}
        apart = differences(self.scorer, self.scorer.weigh_alone(part))
        return dict(zip(map(int, rows), apart, strict=True))

    def _clues(self, rows: Sequence[int] | Rows, part: Table) -> dict[int, CluesOfRow]:
        if not part.n_rows:
            return {}
        return dict(zip(map(int, rows), find_clues(self.scorer, part), strict=True))

    def _incident(self, event: Event, clues_at: Mapping[int, CluesOfRow]) -> Incident:
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
            blames=confront(tuple(self._blames(event, clues_at))),
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

    def _blames(self, event: Event, clues_at: Mapping[int, CluesOfRow]) -> Iterator[Blame]:
        """Say why each variable is to blame, by the row in which it is to blame most."""
        shares, offsets, order = event.shares, event.offsets, blamed(event, self._steady)
        names = [self.scorer.model.schema.names[i] for i in order]
        clues = [self._clues_of(event, i, clues_at) for i in order]
        told_by = [conditional_on(each[0]) for each in clues]
        behind = fold(names, self.scorer.model, dict(zip(names, told_by, strict=True)))
        for i, against in zip(order, clues, strict=True):
            variable = self.scorer.model.schema.variables[i]
            row, since = _told_at(event, i), int(event.since[i])
            clues_then = clues_at.get(since, {}).get(variable.name, ())
            then: tuple[Clue, ...] = (*self._moved(event, i, since), *clues_then)
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

    def _moved(self, event: Event, i: int, row: int) -> tuple[Moved, ...]:
        """Say where a number of a row would be had it stayed where it stood before the event."""
        variable, lately = self.scorer.model.schema.variables[i], float(event.lately[i])
        if row not in self._apart or not (isinstance(variable, Numeric) and lately):
            return ()
        found = self._cell(row, variable.name)
        way = (float(self._apart[row][i]) - lately) * variable.std
        if not isinstance(found, int | float) or not math.isfinite(found) or not abs(way) > 0:
            return ()
        stayed = round_to(found - way, abs(way))
        return (Moved(variable.name, float(found), stayed, variable.low, variable.high),)

    def _clues_of(
        self, event: Event, i: int, clues_at: Mapping[int, CluesOfRow]
    ) -> tuple[Clue, ...]:
        """Return the evidence against a variable in the row in which it is to blame most."""
        name, row = self.scorer.model.schema.names[i], _told_at(event, i)
        clues = clues_at.get(row, {}).get(name, ())
        if event.stood[i]:
            dead = dead_clue(self.scorer.model, i, self._cell(row, name), int(event.stood[i]))
            clues = with_dead(dead, clues)
        elif moved := self._moved(event, i, row):
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
