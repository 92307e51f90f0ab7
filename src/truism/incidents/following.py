"""Tables followed from row to row, in one pass: rows go in, excess and events come out."""

import itertools
from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats, Rows
from truism.incidents.deviations import Judge, added, differences, own_variables
from truism.incidents.events import (
    ENDED,
    RISING,
    Event,
    Limits,
    SeriesState,
    Silence,
    no_rows,
)
from truism.incidents.keeping import Kept
from truism.incidents.marks import Marker, Marks
from truism.model.series import Memory
from truism.score.alignment import MISSING
from truism.score.past import State, last_rows, share_of
from truism.score.scorer import Scorer
from truism.score.weighed import Weighed
from truism.table.columns import Table
from truism.table.notices import rows as say_rows


class Following(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What has to be kept from table to table: the state of scoring, and what is open."""

    scoring: State = {}
    present: dict[str, SeriesState] = {}  # where each series is now, and what is open in it
    previous: dict[str, dict[str, float]] = {}  # last values whose change matters, by series
    n_rows: int = 0
    kept: dict[int, Kept] = {}  # rows by which what is open will be described, by number

    @property
    def pending(self) -> tuple[Event, ...]:
        """What may be told later."""
        return tuple(itertools.chain.from_iterable(each.events for each in self.present.values()))

    def __repr__(self) -> str:
        n_open = sum(each.is_open for each in self.pending)
        return f"<Following after {say_rows(self.n_rows)}, {n_open:,} open>"

    def _repr_html_(self) -> str:
        return f"<p>{repr(self).strip('<>')}</p>"


class Found(msgspec.Struct, frozen=True, eq=False):
    """What was found in a table."""

    scores: Floats
    excess: Floats  # how far each row is beyond what its series has been like lately
    events: Sequence[Event]  # those that ended, and those that are open
    following: Following
    marks: Marks


def find_events(
    scorer: Scorer,
    table: Table,
    limits: Limits,
    before: Following | None = None,
    n_jobs: int = 1,
    watch: Callable[[Weighed], None] | None = None,
) -> Found:
    """Score rows that follow those of which something was kept, and follow what happens in them.

    `watch` is called with what is weighed, block by block.
    """
    follower = Follower(scorer, table, limits, before)
    marker = Marker(scorer.model, table, limits.threshold)
    scores, excess = np.empty((2, table.n_rows))
    for block, weighed, beyond in follower.follow(n_jobs):
        scores[block], excess[block] = weighed.scores, beyond
        if watch is not None:
            watch(weighed)
        marker.take(np.arange(block.start, block.stop), weighed, beyond)
    following = follower.following
    still = [each for each in following.pending if each.is_open]
    return Found(scores, excess, (*follower.ended, *still), following, marker.result())


def calm_excess(memory: Memory, points: Floats, known: NDArray[np.bool_]) -> Floats:
    """Return how far points of consecutive rows are beyond the latest ones, if nothing is an alarm."""
    limits = Limits(np.inf, 0, memory.lookback)
    before = no_rows(points.shape[1], memory)
    nought, no = np.zeros(points.shape, np.int32), np.zeros(len(points), np.bool_)
    run = Run(np.arange(len(points)), points, points, nought, nought, known, no)
    found = Ready(limits, memory, points.shape[1]).follow("", before, run, None)
    assert found is not None
    return found[2]


def excess_of(scorer: Scorer, table: Table, limits: Limits, n_jobs: int = 1) -> Floats:
    """Return how far the rows of a table are beyond what their series have been like lately."""
    found = np.empty(table.n_rows)
    for block, _, beyond in Follower(scorer, table, limits).follow(n_jobs):
        found[block] = beyond
    return found


class Run(msgspec.Struct, frozen=True, eq=False):
    """Consecutive rows of one series."""

    rows: Rows
    # What speaks against each value, with and without what earlier rows left behind; if rows have no
    # past, how far each value deviates instead of the latter.
    points: Floats
    evidence: Floats
    # For how many rows each value has been dead, and its past has been high.
    dead: NDArray[np.int32]
    lasting: NDArray[np.int32]
    known: NDArray[np.bool_]
    anew: NDArray[np.bool_]  # rows that have nothing to do with those before them


class Ready:
    """Limits and scales, ready for the compiled loop."""

    def __init__(self, limits: Limits, memory: Memory | None, n_variables: int) -> None:
        from truism.incidents import kernels  # only series load the compiler

        highest, stray = np.zeros((2, n_variables))
        if memory is not None:
            highest, stray = np.array(memory.highest), np.array(memory.stray)
        self.limits, self.scales = limits, kernels.Scales(highest, stray)
        self.numbers = kernels.Criteria(
            limits.threshold,
            limits.gap,
            limits.unfolding,
            limits.horizon,
            limits.lookback or 1,
            share_of(limits.lookback or 1),
            1.0 if memory is None else 1.0 + memory.weight,
            limits.lookback is not None,
        )

    def follow(
        self, name: str, before: SeriesState, run: Run, apart: Floats | None
    ) -> tuple[SeriesState, list[Event], Floats] | None:
        """Follow consecutive rows of one series: what to keep, what happened, the excess of each row.

        `apart` is how far numbers lie from those of such training rows; the result is None if that must
        be known, because something is an alarm.
        """
        from truism.incidents.phases import Unfolding

        course = Unfolding(name, before, self.numbers, self.scales)
        apart = np.empty((0, run.points.shape[1])) if apart is None else apart
        of_values = (run.points, run.evidence, apart, run.dead, run.lasting, run.known, run.anew)
        excess = course.follow(run.rows, *map(np.ascontiguousarray, of_values))
        if excess is None:
            return None
        return course.state(), [*course.ended, *course.events], excess


class Follower:
    """Follows the rows of a table block by block, and adds up what belongs to each event."""

    def __init__(
        self, scorer: Scorer, table: Table, limits: Limits, before: Following | None = None
    ) -> None:
        self.scorer, self.table, self.limits = scorer, table, limits
        self.following = Following() if before is None else before
        self.timeline = scorer.lay_out(table, self.following.scoring)
        self.judge, self.offset = Judge(scorer.model), self.following.n_rows
        self.accepted = own_variables(scorer.model)
        self.ready = Ready(limits, scorer.model.memory, len(scorer.model.schema.variables))
        self.present, self.ended = dict(self.following.present), list[Event]()

    def follow(self, n_jobs: int = 1) -> Iterator[tuple[slice, Weighed, Floats]]:
        """Yield which rows, what speaks against them, and their excess."""
        state = self.following.scoring
        for block, weighed, after in self.scorer.follow(self.table, state, n_jobs):
            excess, state = self.take(block, weighed), after
            yield block, weighed, excess
        if self.scorer.model.memory is None:
            state = last_rows(self.timeline, state)
        n_rows = self.offset + self.table.n_rows
        self.following = Following(state, self.present, n_rows=n_rows)

    def take(self, block: slice, weighed: Weighed) -> Floats:
        """Take one block of rows; return their excess."""
        memory = self.scorer.model.memory
        far = self.judge.deviations if memory is None else self.judge.evidence
        evidence = far(weighed)
        dead, lasting = _counts(weighed)
        known, excess = _known(self.scorer, weighed), np.empty(len(evidence))
        apart: Floats | None = None
        for name, rows in self.timeline.series(block):
            before = self.present.get(name) or no_rows(evidence.shape[1], memory)
            at = rows - block.start
            run = Run(
                rows + self.offset,
                weighed.parts[at],
                evidence[at],
                dead[at],
                lasting[at],
                known[at],
                self.timeline.breaks[rows] & (memory is None),
            )
            is_open = any(each.is_open for each in before.events)
            found = None if is_open else self.ready.follow(name, before, run, None)
            if found is None:
                apart = differences(self.scorer, weighed) if apart is None else apart
                found = self.ready.follow(name, before, run, apart[at])
            assert found is not None
            present, events, excess[at] = found
            events = [self._silenced(each, before.n_rows, weighed, at) for each in events]
            self.ended += [each for each in events if each.phase == ENDED]
            still = tuple(each for each in events if each.phase != ENDED)
            self.present[name] = msgspec.structs.replace(present, events=still)
        return excess

    def _silenced(self, event: Event, first: int, weighed: Weighed, at: Rows) -> Event:
        """Add to an event what does not count while it unfolds because it was accepted."""
        if weighed.silenced is None or event.phase == RISING:
            return event
        stop = event.alarm + self.limits.gap + 1
        if self.limits.unfolding:
            stop = min(stop, event.start + self.limits.unfolding)
        stop -= first
        own = weighed.silenced.take(at[max(event.start - first, 0) : max(stop, 0)])
        found = dict(event.silences)
        for (name, places), applies in zip(self.accepted, own.applies, strict=True):
            points = own.points * places * applies[:, None]
            rows = (points > 0).any(axis=1)
            if rows.any():
                known = found.get(name) or Silence(0, np.zeros_like(places))
                found[name] = Silence(
                    known.n_rows + int(rows.sum()), added(known.points, points[rows])
                )
        return msgspec.structs.replace(event, silences=found)


def _counts(weighed: Weighed) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return for how many rows values have been dead, and their past has been high."""
    nothing = np.zeros(weighed.parts.shape, np.int32)
    remembered = weighed.remembered
    if remembered is None:
        return nothing, nothing
    return nothing if remembered.dead is None else remembered.dead, remembered.lasting


def _known(scorer: Scorer, weighed: Weighed) -> NDArray[np.bool_]:
    """Return which values are there."""
    found = np.ones(weighed.parts.shape, np.bool_)
    if weighed.pieces is not None:
        reader, readings = scorer.weigher.reader, weighed.pieces.readings
        found[:, reader.numbers] = ~np.isnan(readings.numbers)
        found[:, reader.states] = readings.codes != MISSING
    return found
