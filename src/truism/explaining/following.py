"""Tables followed from row to row, in one pass: rows go in, scores, events and blame come out."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.culprits import RISING, Circles, Warmth, never_warm
from truism.explaining.events import (
    LASTING,
    Event,
    Followed,
    Limits,
    Newcomer,
    Watch,
    close,
    follow,
)
from truism.explaining.keeping import Kept
from truism.explaining.marks import Marker, Marks
from truism.explaining.roundings import Rounder, Rounding
from truism.explaining.tallies import NEVER, Judge, Tally, differences, no_rows, without
from truism.scoring.scorer import Scorer
from truism.scoring.series import State, Timeline, last_rows
from truism.scoring.weighed import Weighed
from truism.table.columns import Table
from truism.table.notices import rows as say_rows

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Outline(msgspec.Struct, frozen=True, eq=False):
    """An incident before anyone has looked for clues: the event, and what adds up over its rows."""

    series: str
    event: Event
    tally: Tally


class Rising(msgspec.Struct, frozen=True, eq=False):
    """Rows whose news stays above half the threshold: if an event begins in them, its onset lies there.

    Parameters
    ----------
    begin
        The first of them, by its number in the series.
    plain, on_top
        What they add to the blame for an event, and for one on top of a shift.

    """

    begin: int
    plain: Tally
    on_top: Tally


class Following(msgspec.Struct, frozen=True, eq=False):
    """What has to be kept from table to table: the state of scoring, and what is open.

    Parameters
    ----------
    scoring
        What is left of each series.
    watches
        What is open in each series.
    tallies
        What adds up over the rows of what is open, by series and start.
    onsets
        The onset of what is open, by series and start.
    rising
        What may become the beginning of an event in each series.
    warmth
        Since when variables are rising in each series.
    apart
        Who may be to blame for what was divided from something open, by series and start.
    roundings
        What the numbers of each series have shown of rounding.
    previous
        The last values of variables whose change matters, by series.
    n_rows
        How many rows there were.
    kept
        Rows by which what is open will be told, by number.

    """

    scoring: State = {}
    watches: dict[str, Watch] = {}
    tallies: dict[tuple[str, int], Tally] = {}
    onsets: dict[tuple[str, int], int] = {}
    rising: dict[str, Rising] = {}
    warmth: dict[str, Warmth] = {}
    apart: dict[tuple[str, int], NDArray[np.int64]] = {}
    roundings: dict[str, Rounding] = {}
    previous: dict[str, dict[str, float]] = {}
    n_rows: int = 0
    kept: dict[int, Kept] = {}

    @property
    def pending(self) -> tuple[Tally, ...]:
        """What adds up and may be told later."""
        rising = (each for pair in self.rising.values() for each in (pair.plain, pair.on_top))
        return (*self.tallies.values(), *rising)

    def __repr__(self) -> str:
        n_open = sum(len(each.events) for each in self.watches.values())
        return f"<Following after {say_rows(self.n_rows)}, {n_open:,} open>"

    def _repr_html_(self) -> str:
        return f"<p>{repr(self).strip('<>')}</p>"


class Found(msgspec.Struct, frozen=True, eq=False):
    """Scores of a table's rows, the events in it, what to keep for the next table, and marks.

    `marks` say what is wrong with each anomalous row.
    """

    scores: Floats
    outlines: Sequence[Outline]
    following: Following
    marks: Marks


class _Run(msgspec.Struct, frozen=True, eq=False):
    """Rows of a block that follow each other.

    Parameters
    ----------
    name, first
        Their series, and the number of the first one in it.
    at, rows
        Where in the block they are, and their numbers in the table.
    weighed
        The block.
    newcomers
        Who becomes news by themselves, by number in the series.
    differences
        How far numbers lie from those of such training rows, in rows that belong to something.

    """

    name: str
    first: int
    at: NDArray[np.int64]
    rows: NDArray[np.int64]
    weighed: Weighed
    newcomers: dict[int, list[Newcomer]]
    differences: Floats


def find_events(
    scorer: Scorer,
    table: Table,
    limits: Limits,
    before: Following | None = None,
    n_jobs: int = 1,
) -> Found:
    """Score rows and follow what happens in them.

    Parameters
    ----------
    scorer
        The model.
    table
        The rows.
    limits
        What is unusual.
    before
        What was kept of the rows before them.
    n_jobs
        Number of threads; the result does not depend on it.

    """
    before = Following() if before is None else before
    timeline = scorer.lay_out(table, before.scoring)
    recorder = _Recorder(scorer, timeline, limits, before)
    marker = Marker(scorer.model, table, limits.threshold)
    scores, state = np.empty(table.n_rows), before.scoring
    for block, weighed, after in scorer.follow(table, before.scoring, n_jobs):
        scores[block], state = weighed.scores, after
        recorder.take(block, weighed, scores[block])
        marker.take(np.arange(block.start, block.stop), weighed, scores[block])
    if scorer.model.memory is None:
        state = last_rows(timeline, state)
    return recorder.result(scores, state, marker.result())


class _Recorder:
    """Follows blocks of rows, and adds up what belongs to each event."""

    def __init__(
        self, scorer: Scorer, timeline: Timeline, limits: Limits, before: Following
    ) -> None:
        self.scorer, self.timeline, self.limits = scorer, timeline, limits
        self.judge = Judge(scorer.model)
        self.nothing = no_rows(len(scorer.model.schema.variables))
        # How many rows count for blame, and how far back an onset may lie.
        self.most = limits.lasting or LASTING * self.judge.lookback
        self.offset = before.n_rows
        self.watches, self.tallies = dict(before.watches), dict(before.tallies)
        self.onsets, self.rising = dict(before.onsets), dict(before.rising)
        self.warmth, self.apart = dict(before.warmth), dict(before.apart)
        memory = scorer.model.memory
        self.circles = None if memory is None else Circles(memory)
        self.rounder = Rounder(scorer.model, before.roundings)
        self.ended: list[Outline] = []

    def take(self, block: slice, weighed: Weighed, scores: Floats) -> None:
        """Take one block of rows."""
        runs = list(self.timeline.runs(block))
        weighed, unusual = self.rounder.excuse(weighed, scores, runs, block.start)
        news = weighed.news
        for name, rows, anew in runs:
            watch = self.watches.get(name, Watch())
            if anew:
                self._end(name, close(watch))
                self.rising.pop(name, None)
                self.warmth.pop(name, None)
                watch = Watch(watch.n_rows)
            at = rows - block.start
            newcomers, fresh = self._newcomers(name, watch, at, weighed)
            followed = follow(unusual[at], news[at], self.limits, watch, newcomers, fresh)
            known = self._known(followed)
            theirs = [row for event in known for row in followed.rows_of[event.start]]
            far = self._differences(weighed, at, np.array(theirs, np.int64) - watch.n_rows)
            run = _Run(name, watch.n_rows, at, rows + self.offset, weighed, newcomers, far)
            begins = self._begins(run, news[at])
            for event in known:
                numbers = np.array(followed.rows_of[event.start]) - run.first
                for new in known:
                    if new.is_apart and new.on_top == event.start and new.start in newcomers:
                        early = numbers < new.start - run.first
                        self._add(run, begins, event, numbers[early], scores)
                        self._leave_out(run, event, self._members(run, new))
                        numbers = numbers[~early]
                self._add(run, begins, event, numbers, scores)
            self._keep_rising(run, begins)
            self._end(name, followed)

    def _newcomers(
        self, name: str, watch: Watch, at: NDArray[np.int64], weighed: Weighed
    ) -> tuple[dict[int, list[Newcomer]], dict[int, Floats]]:
        """Find who becomes news by themselves in a run, and what is new of each variable."""
        if self.circles is None:
            return {}, {}
        warmth = self.warmth.get(name) or never_warm(weighed.parts.shape[1])
        run = (weighed, at, weighed.news[at], watch.n_rows, self.limits)
        newcomers, self.warmth[name] = self.circles.follow(*run, warmth)
        return newcomers, self.circles.fresh(*run)

    def _differences(self, weighed: Weighed, at: Rows, own: Rows) -> Floats:
        """Find at once how far those rows of a run that belong to something differ."""
        found = np.full((len(at) if len(own) else 0, weighed.parts.shape[1]), np.nan)
        own = np.unique(own)
        found[own] = differences(self.scorer, weighed, at[own])
        return found

    def _begins(self, run: _Run, news: Floats) -> NDArray[np.int64]:
        """Return for each row where what is rising began, by number in the series; -1 if nothing is.

        What rises for very long is divided, so that an onset never lies far back.
        """
        numbers = run.first + np.arange(len(news))
        rising = news > RISING * self.limits.threshold
        if self.limits.lasting is None:  # rows that have no past are judged by themselves
            rising[:] = False
        falls = np.where(rising, NEVER, numbers)
        last_fall = np.maximum.accumulate(falls)
        carried = self.rising.get(run.name)
        first = run.first if carried is None else carried.begin
        begin = np.where(last_fall == NEVER, first, last_fall + 1)
        begin += self.most * ((numbers - begin) // self.most)
        return np.where(rising, begin, NEVER)

    def _risen(self, run: _Run, begin: int, end: int, *, on_top: bool) -> Tally:
        """Add up rows that were rising, from `begin` to before `end`."""
        tally, carried = self.nothing, self.rising.get(run.name)
        if begin < run.first and carried is not None:
            tally = carried.on_top if on_top else carried.plain
        own = np.arange(max(begin, run.first), end) - run.first
        if not len(own):
            return tally
        return self.judge.add_risen(
            tally,
            run.rows[own],
            own + run.first - begin,
            run.weighed,
            run.at[own],
            on_top=on_top,
        )

    def _keep_rising(self, run: _Run, begins: NDArray[np.int64]) -> None:
        """Keep what is rising at the end of a run."""
        begin, end = int(begins[-1]), run.first + len(begins)
        if begin == NEVER:
            self.rising.pop(run.name, None)
            return
        plain, on_top = (self._risen(run, begin, end, on_top=each) for each in (False, True))
        self.rising[run.name] = Rising(begin, plain, on_top)

    def _add(
        self,
        run: _Run,
        begins: NDArray[np.int64],
        event: Event,
        own: NDArray[np.int64],
        scores: Floats,
    ) -> None:
        """Add rows to the tally of an event."""
        if not len(own):
            return
        key, on_top = (run.name, event.start), event.on_top is not None
        if key not in self.tallies and event.is_apart:
            self.apart[key] = self._members(run, event)
            self.onsets[key], self.tallies[key] = event.start, self.nothing
        elif key not in self.tallies:
            first = event.start - run.first
            onset = event.start
            if first > 0 and begins[first - 1] != NEVER:
                onset = int(begins[first - 1])
            elif first == 0 and run.name in self.rising:
                onset = self.rising[run.name].begin
            self.onsets[key] = onset
            self.tallies[key] = self._risen(run, onset, event.start, on_top=on_top)
        numbers = run.first + own
        self.tallies[key] = self.judge.add_rows(
            self.tallies[key],
            run.rows[own],
            numbers - self.onsets[key],
            run.weighed,
            run.at[own],
            scores[run.at[own]],
            int((numbers < event.start + self.most).sum()),
            run.differences[own],
            on_top=on_top,
            members=self.apart.get(key),
        )

    def _members(self, run: _Run, event: Event) -> NDArray[np.int64]:
        """Return those for whose sake an event was divided from what was going on."""
        start, gap, new = event.on_top or 0, self.limits.gap, run.newcomers[event.start]
        members = [each.members for each in new if each.is_new_to(start, gap)]
        return np.asarray(np.maximum.reduce(members))

    def _leave_out(self, run: _Run, event: Event, members: NDArray[np.int64]) -> None:
        """Take from an event those for whose sake another was divided from it."""
        key = run.name, event.start
        self.tallies[key] = without(self.tallies[key], members)
        self.apart[key] = self.apart.get(key, np.ones_like(members)) * (1 - members)

    def _known(self, followed: Followed) -> list[Event]:
        """Return the events that rows of a run belong to, and habits of which nobody was told."""
        known = {each.start: each for each in (*followed.watch.parts, *followed.closed)}
        return [known[start] for start in followed.rows_of if start in known]

    def result(self, scores: Floats, state: State, marks: Marks) -> Found:
        """Return what was found, and what to keep."""
        opened = [
            self._outline(name, event)
            for name, watch in self.watches.items()
            for event in watch.events
        ]
        following = Following(
            state,
            self.watches,
            self.tallies,
            self.onsets,
            self.rising,
            self.warmth,
            self.apart,
            self.rounder.roundings,
            n_rows=self.offset + len(scores),
        )
        return Found(scores, (*self.ended, *opened), following, marks)

    def _outline(self, name: str, event: Event) -> Outline:
        """Return an event with its tally; with so many rows that it is a habit by now, it is a shift."""
        tally, habit = self.tallies[name, event.start], self.limits.habit
        n_rows = max(tally.n_rows, event.length) if event.is_habit else tally.n_rows
        if habit is not None and n_rows >= habit:
            event = event.as_shift()
        return Outline(name, event, tally)

    def _end(self, name: str, followed: Followed) -> None:
        """Keep what ended, and forget the tallies of what is not open."""
        watch = self.watches[name] = followed.watch
        for event in followed.closed:
            self.ended.append(self._outline(name, event))
        opened = {each.start for each in watch.parts}
        for key in [key for key in self.tallies if key[0] == name and key[1] not in opened]:
            del self.tallies[key], self.onsets[key]
            self.apart.pop(key, None)
