"""What happens in a series: scores and news of rows go in, events come out, each with its rows.

An *incident* opens with a row that is news and lasts while rows are unusual. After a while it is
*settled*: it stays open and visible, rows inside it raise no new alarm by themselves, and news on top of
it is an incident of its own. Once its rows are added up, an event to which the series has got used is a
*shift*. Unusual rows that had become a habit before any of them was news are an event, too, once they are
many. An event is *divided* if somebody becomes news who has nothing to do with it. All of it is causal: a
`Watch` is all that has to be kept from row to row, and rows in one piece, in chunks or one by one give
the same events. docs/method.md has the rules.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

LASTING = 4  # lookbacks after which what is still unusual is settled
FADED = 4  # lengths of a habit after which nothing of it is left
TELLING = 0.2  # share of what is new in a row that a variable must have to be told by it
NOTABLE = 1 / 3  # share of a score that must be new for an incident on top of something settled

Kind = Literal["incident", "shift"]


class Limits(msgspec.Struct, frozen=True):
    """What is unusual, and how far apart rows of one event may lie.

    Parameters
    ----------
    threshold
        Rows that score above it are unusual.
    gap
        How many other rows may lie between two unusual rows of one event.
    lasting
        After how many rows an event is settled; None if nothing ever is.
    habit
        After how many rows that count a settled event is a shift; None if none ever is.
    least
        How many rows an event must last to be told.

    """

    threshold: float
    gap: int
    lasting: int | None = None
    habit: int | None = None
    least: int = 0


class Newcomer(msgspec.Struct, frozen=True, eq=False):
    """Variables that have become news by themselves.

    Parameters
    ----------
    since
        The row from which on they were rising.
    before
        The last row in which they were rising before that; -1 if they never were.
    members
        For each variable, whether it is one of them: 1 or 0.

    """

    since: int
    before: int
    members: NDArray[np.int64]

    def is_new_to(self, start: int, gap: int) -> bool:
        """Return whether they had no part in what began in a row, and came later than its first rows."""
        return self.before < start and self.since > start + gap


class Event(msgspec.Struct, frozen=True):
    """Rows of a series that belong together, by their numbers in the series.

    Parameters
    ----------
    start, last
        Its first and its latest unusual row.
    last_news
        The latest row that was news.
    peak, score
        The row with the highest score, and that score.
    severity
        The sum of what its rows score above the threshold, in units of the threshold; on top of
        something settled, of their news above it.
    n_rows
        How many unusual rows it has.
    kind
        What it is by now.
    on_top
        The start of what was settled when it began; None if nothing was.
    is_open
        Whether the next unusual row may still belong to it.
    is_apart
        Whether it was divided from what was going on, because of newcomers.
    is_habit
        Whether its rows had become a habit before any of them was news.
    is_told
        Whether it is an event, and not a habit with too few rows yet.
    told
        Positions of variables that were new in it, or on top of it, in ascending order.

    """

    start: int
    last: int
    last_news: int
    peak: int
    score: float
    severity: float = 0.0
    n_rows: int = 0
    kind: Kind = "incident"
    on_top: int | None = None
    is_open: bool = True
    is_apart: bool = False
    is_habit: bool = False
    is_told: bool = True
    told: tuple[int, ...] = ()

    def grown(
        self, row: int, score: float, level: float, limits: Limits, *, is_news: bool
    ) -> "Event":
        """Return the event with one more row."""
        higher = not self.n_rows or score > self.score
        excess = level / limits.threshold - 1 if limits.threshold > 0 else level
        return Event(
            self.start,
            row,
            row if is_news else self.last_news,
            row if higher else self.peak,
            score if higher else self.score,
            self.severity + excess,
            self.n_rows + 1,
            self.kind,
            self.on_top,
            is_apart=self.is_apart,
            is_habit=self.is_habit,
            is_told=self.is_told,
            told=self.told,
        )

    def telling(self, told: Sequence[int]) -> "Event":
        """Return the event after more variables were told."""
        return msgspec.structs.replace(self, told=tuple(sorted({*self.told, *told})))

    def as_shift(self) -> "Event":
        """Return the event as what stays unusual."""
        return msgspec.structs.replace(self, kind="shift")

    @property
    def length(self) -> int:
        """How many rows it has lasted."""
        return self.last - self.start + 1

    def end(self, limits: Limits) -> int:
        """Return the first row that cannot belong to it any more.

        A habit comes and goes, and is over when it has faded.
        """
        pause = limits.gap if limits.habit is None else FADED * limits.habit
        return self.last + 2 + (pause if self.is_habit else limits.gap)


class Watch(msgspec.Struct, frozen=True):
    """What has to be kept from row to row: how many there were, and what is open.

    `incident` is what happens now, `settled` what has lasted for so long that its rows are no alarm by
    themselves, the latest last; all of that goes on while rows are unusual. `habit` are unusual rows that
    are no news and that nothing open explains: no event yet, but one when there are enough of them, so
    that nobody becomes normal by patience. It is settled then, and waits here while it pauses.
    """

    n_rows: int = 0
    incident: Event | None = None
    settled: tuple[Event, ...] = ()
    habit: Event | None = None

    @property
    def parts(self) -> tuple[Event, ...]:
        """All that is open, the latest first."""
        found = (self.incident, *self.settled[::-1], self.habit)
        return tuple(each for each in found if each is not None)

    @property
    def events(self) -> tuple[Event, ...]:
        """The same without rows that are no event yet."""
        return tuple(each for each in self.parts if each.is_told)


class Followed(msgspec.Struct, frozen=True):
    """What happened in some rows.

    Parameters
    ----------
    closed
        Events that ended, in the order in which they did.
    rows_of
        The unusual rows of each event among these rows, by its start; habits included.
    watch
        What is open now.

    """

    closed: tuple[Event, ...]
    rows_of: dict[int, list[int]]
    watch: Watch


def follow(
    scores: NDArray[np.float64],
    news: NDArray[np.float64],
    limits: Limits,
    watch: Watch,
    newcomers: Mapping[int, Sequence[Newcomer]] | None = None,
    fresh: Mapping[int, NDArray[np.float64]] | None = None,
) -> Followed:
    """Follow consecutive rows of one series.

    Parameters
    ----------
    scores, news
        One number for each row; news never exceeds the score.
    limits
        What is unusual.
    watch
        What is open before the first row.
    newcomers
        Who becomes news by themselves, by the number of the row; such rows are news.
    fresh
        What is new of each variable in rows that are news, by the number of the row.

    """
    follower = _Follower(limits, watch, {} if fresh is None else fresh)
    newcomers = {} if newcomers is None else newcomers
    unusual = np.flatnonzero(scores > limits.threshold)
    for at, score, new in zip(
        unusual.tolist(), scores[unusual].tolist(), news[unusual].tolist(), strict=True
    ):
        row = watch.n_rows + at
        follower.take(row, score, new, newcomers.get(row, ()))
    return follower.result(watch.n_rows + len(scores))


def close(watch: Watch) -> Followed:
    """Close what is open, because the next row does not follow the last."""
    return Followed(tuple(map(_closed, watch.events)), {}, Watch(watch.n_rows))


class _Follower:
    """Follows one row after the other."""

    def __init__(
        self, limits: Limits, watch: Watch, fresh: Mapping[int, NDArray[np.float64]]
    ) -> None:
        self.limits, self.fresh = limits, fresh
        self.incident, self.settled, self.habit = watch.incident, watch.settled, watch.habit
        self.ended: list[Event] = []
        self.rows_of: dict[int, list[int]] = {}

    def take(self, row: int, score: float, new: float, newcomers: Sequence[Newcomer] = ()) -> None:
        """Take one unusual row."""
        limits, is_news = self.limits, new > self.limits.threshold
        self._end(row)
        if newcomers:
            self._divide(row, score, newcomers)
        settled = self.settled[-1] if self.settled else None
        if self.incident is None and is_news:
            if settled is None:
                self.incident = Event(row, row, row, row, score)
            elif row - settled.last_news <= limits.gap + 1:
                settled = msgspec.structs.replace(settled, last_news=row)
            elif self._is_more(settled, row, score, new):
                self.incident = Event(row, row, row, row, score, on_top=settled.start)
        incident = self.incident
        if incident is not None and incident.on_top is not None and not is_news:
            incident = None
        if incident is None and settled is None:
            self._get_used(row, score)
            return
        if self.habit is not None and not self.habit.is_told:
            self.habit = None
        if settled is not None and not (settled.is_habit and incident is not None):
            divided = self.incident is not None and self.incident.is_apart
            levels = [limits.threshold] * len(self.settled)  # what a row scores counts once
            levels[-1] = limits.threshold if divided else score
            self.settled = tuple(
                each.grown(row, score, level, limits, is_news=False)
                for each, level in zip((*self.settled[:-1], settled), levels, strict=True)
            )
            for each in self.settled:
                self._note(each, row)
        if incident is not None:
            level = score if incident.on_top is None or incident.is_apart else new
            incident = incident.grown(row, score, level, limits, is_news=is_news)
            self._note(incident, row)
            self.incident = incident = self._tell(incident, row, new)
            if limits.lasting is not None and incident.length >= limits.lasting:
                self._settle(incident)

    def result(self, n_rows: int) -> Followed:
        """Return what happened until now, after so many rows."""
        self._end(n_rows)
        watch = Watch(n_rows, self.incident, self.settled, self.habit)
        return Followed(tuple(self.ended), self.rows_of, watch)

    def _end(self, row: int) -> None:
        """End what cannot go on in a row; a habit that pauses can."""
        parts = (self.incident, *self.settled, self.habit)
        over = [each for each in parts if each is not None and row >= each.end(self.limits)]
        for event in sorted(over, key=lambda each: each.end(self.limits)):
            if event.is_told:
                self.ended.append(_closed(event))
        self.incident = None if self.incident in over else self.incident
        self.settled = tuple(each for each in self.settled if each not in over)
        self.habit = None if self.habit in over else self.habit
        if any(row - each.last > self.limits.gap + 1 for each in self.settled):
            self.habit, self.settled = self.settled[-1], ()

    def _settle(self, incident: Event) -> None:
        """Let an incident be settled on top of what is; a habit below it pauses."""
        if self.settled:
            incident = incident.telling(self.settled[-1].told)
        if self.settled and self.settled[-1].is_habit:
            self.habit, self.settled = self.settled[-1], ()
        self.settled, self.incident = (*self.settled, incident), None

    def _divide(self, row: int, score: float, newcomers: Sequence[Newcomer]) -> None:
        """Open another incident if newcomers have nothing to do with what is going on."""
        going_on = self.settled if self.incident is None else (self.incident,)
        if not going_on or self.limits.lasting is None:
            return
        current = going_on[-1]
        if any(each.is_new_to(current.start, self.limits.gap) for each in newcomers):
            if self.incident is not None:
                self._settle(self.incident)
            self.incident = Event(row, row, row, row, score, on_top=current.start, is_apart=True)

    def _get_used(self, row: int, score: float) -> None:
        """Take a row that is unusual but no news, outside every event."""
        if self.limits.lasting is None:
            return
        habit = self.habit or Event(row, row, row, row, score, is_habit=True, is_told=False)
        habit = habit.grown(row, score, score, self.limits, is_news=False)
        self._note(habit, row)
        if habit.n_rows >= self.limits.lasting:
            self.settled, self.habit = (msgspec.structs.replace(habit, is_told=True),), None
        else:
            self.habit = habit

    def _is_more(self, settled: Event, row: int, score: float, new: float) -> bool:
        """Return whether news is more than the ups and downs of something settled.

        Either a good part of what speaks against the row is new, and not of variables of which that was
        told before, or the row is worse than all rows of what is settled.
        """
        if row in self.fresh and settled.told:
            new -= float(self.fresh[row][list(settled.told)].sum())
        is_new = new > self.limits.threshold and new > NOTABLE * score
        worst = max(each.score for each in self.settled)
        return is_new or score > worst + self.limits.threshold

    def _tell(self, incident: Event, row: int, new: float) -> Event:
        """Return an incident that tells who is new in a row; what is settled below has told it, too."""
        if row not in self.fresh:
            return incident
        told = np.flatnonzero(self.fresh[row] >= TELLING * new).tolist()
        if self.settled:
            self.settled = (*self.settled[:-1], self.settled[-1].telling(told))
        return incident.telling(told)

    def _note(self, event: Event, row: int) -> None:
        self.rows_of.setdefault(event.start, []).append(row)


def _closed(event: Event) -> Event:
    return msgspec.structs.replace(event, is_open=False)
