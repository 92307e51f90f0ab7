"""How events of a series begin, stand and end; the compiled loop stops where one of them does.

That is rare, and much to compile, so that it is done here, for all variables at once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats
from truism.incidents import kernels
from truism.incidents.events import (
    ACTIVE,
    ENDED,
    FREE,
    NEVER,
    RISING,
    STANDING,
    Event,
    SeriesState,
)
from truism.incidents.kernels import (
    BLAME,
    COUNTS,
    FIRST,
    FROZEN,
    HEIGHTS,
    HIGHEST,
    IS_SLOW,
    LATELY,
    LED,
    MEMBER,
    N_ROWS,
    NUMBERS,
    OWN,
    PHASE,
    SCORE,
    SEVERITY,
    SINCE,
    START,
    STEADY,
    STORY,
    VALUES,
)

MORE = 16  # events for which there is room, beside those that are there


class Unfolding:
    """A series that is followed: what the loop changes, and what it leaves to do."""

    def __init__(
        self, series: str, before: SeriesState, limits: kernels.Criteria, scales: kernels.Scales
    ) -> None:
        self.series, self.limits, self.scales = series, limits, scales
        fields = kernels.Levels._fields
        self.levels = kernels.Levels(*(getattr(before, name).copy() for name in fields))
        self.clock = np.array([before.n_rows, before.story, before.storied])
        self.events, self.ended = list(before.events), list[Event]()
        self._lay_out()

    def state(self) -> SeriesState:
        """Return what to keep, but for the events."""
        return SeriesState(*self.clock.tolist(), **self.levels._asdict())

    def follow(self, *rows: Any) -> Floats | None:
        """Follow consecutive rows; return the excess of each, or None if differences are needed."""
        run, place, slow = kernels.Block(*rows), np.zeros(4, np.int64), NEVER
        (excess, far), total = np.empty((2, len(self.levels.near))), np.empty(len(run.rows))
        moved = np.zeros(len(excess), np.bool_)
        while True:
            place[3] = len(self.counts) if slow == NEVER else slow + 1
            due = kernels.follow(
                *(place, run, self.scales, self.limits, self.levels, self.clock, self.arrays),
                *(excess, moved, far, total),
            )
            if due in (kernels.DONE, kernels.FULL):
                self._gather()
                if due == kernels.DONE:
                    return total
                self._lay_out()
                continue
            t = place[0]
            alarms = due == kernels.DRIFTS or total[t] > self.limits.threshold
            if due == kernels.STANDS:
                self._close(self._first(ACTIVE))
            elif due == kernels.ENDS:
                self._end(place[2] - 1)
            elif alarms and not len(run.differences):
                return None
            elif due == kernels.BEGINS:
                k = self._first(RISING)
                k = self._begin(run.rows[t]) if k == NEVER else k
                if alarms:
                    self._announce(k, run.rows[t], run.differences[t])
            elif slow == NEVER:
                # The loop adds the row to this event alone before it stands.
                self._look_anew(run.differences[t])
                slow, moved[:] = self._begin(run.rows[t]), False
                place[1:3] = kernels.ADD, slow
            else:
                self._stand_slowly(slow, excess)
                slow = NEVER

    def _lay_out(self) -> None:
        """Lay events out as arrays, with room for more."""
        size, n_variables = len(self.events) + MORE, len(self.levels.near)
        self.arrays = kernels.Events(
            np.zeros((size, len(COUNTS)), np.int64),
            np.zeros((size, len(HEIGHTS))),
            np.zeros((size, len(VALUES), n_variables)),
            np.zeros((size, len(NUMBERS), n_variables), np.int64),
        )
        self.counts, self.heights, self.values, self.numbers = self.arrays
        for array, names in self._fields():
            for k, event in enumerate(self.events):
                for place, name in enumerate(names):
                    array[k, place] = getattr(event, name)

    def _fields(self) -> Any:
        return zip(self.arrays, (COUNTS, HEIGHTS, VALUES, NUMBERS), strict=True)

    def _gather(self) -> None:
        """Take the events out of the arrays."""
        before, self.events = self.events, []
        leans = np.abs(self.levels.place) > self.levels.stray
        where = np.where(leans, self.levels.place, 0.0)
        for k in np.flatnonzero(self.counts[:, PHASE] != FREE).tolist():
            facts: dict[str, Any] = {}
            for array, names in self._fields():
                values = array[k].tolist() if array.ndim == 2 else array[k].copy()
                facts |= zip(names, values, strict=True)
            slow = bool(facts.pop("is_slow"))
            lasts = facts["latest"] - facts["start"] >= self.limits.unfolding
            event = Event(
                self.series,
                **facts,
                is_slow=slow,
                kind="shift" if self.limits.has_past and (lasts or slow) else "incident",
                place=where if facts["phase"] == STANDING else None,
                silences=before[k].silences if k < len(before) else {},
            )
            (self.ended if event.phase == ENDED else self.events).append(event)

    def _first(self, phase: int) -> int:
        """Return the first event in a phase, or NEVER."""
        places = np.flatnonzero(self.counts[:, PHASE] == phase)
        return int(places[0]) if len(places) else NEVER

    def _begin(self, row: int) -> int:
        """Begin an event, with the references as they are; return which."""
        k, n, levels = self._first(FREE), self.clock[0], self.levels
        counts, values, numbers = self.counts[k], self.values[k], self.numbers[k]
        counts[:STORY], counts[STORY:FIRST], counts[FIRST:] = n, 0, row
        counts[PHASE] = RISING
        self.heights[k] = -1.0, 0.0  # score and severity
        values[:], numbers[:SINCE], numbers[SINCE:] = 0.0, 0, NEVER
        values[FROZEN], numbers[LED] = levels.reference, levels.led
        if levels.standing.max() != NEVER:
            settled = (levels.standing != NEVER) & (n - levels.standing >= self.limits.horizon)
            settled &= (levels.stray > 0) & (levels.stray <= STEADY * self.scales.stray)
            values[LATELY] = np.where(settled, levels.place, 0.0)
        return k

    def _announce(self, k: int, row: int, differences: Floats) -> None:
        """Let what rises be active."""
        self._look_anew(differences)
        n, _, latest = self.clock
        if not self.limits.has_past or latest == NEVER or n - latest > self.limits.lookback:
            self.clock[1] = n
        self.counts[k, [PHASE, START, FIRST, STORY]] = ACTIVE, n, row, self.clock[1]

    def _look_anew(self, differences: Floats) -> None:
        """Begin to note where values are, unless something is open, since when they are noted."""
        if self._first(ACTIVE) == self._first(STANDING) == NEVER:
            self.levels.near[:] = np.where(np.isnan(differences), 0.0, differences)

    def _close(self, k: int) -> None:
        """Let an event that does not unfold any more stand, if it can."""
        if self.limits.has_past:
            self._stand(k)
        else:
            self.counts[k, PHASE] = ENDED

    def _stand(self, k: int) -> None:
        """Let an event stand: its variables are looked at from where they are now."""
        levels, blame = self.levels, self.values[k, BLAME]
        own = (blame > 0) & (blame >= OWN * in_turn(blame))
        self.counts[k, PHASE], self.numbers[k, MEMBER, own] = STANDING, 1
        # Where what stood when it began has ended, references have returned meanwhile.
        frozen = self.values[k, FROZEN]
        frozen[own] = np.minimum(frozen, levels.reference)[own]
        levels.reference[own] = np.maximum(levels.reference, self.values[k, HIGHEST])[own]
        levels.standing[own & (levels.standing == NEVER)] = self.counts[k, START]
        levels.place[own], levels.stray[own] = levels.near[own], self.scales.stray[own]

    def _stand_slowly(self, k: int, excess: Floats) -> None:
        """Let an event stand because references have left what they were in training."""
        drift, threshold = in_turn(excess), self.limits.threshold
        self.counts[k, [N_ROWS, IS_SLOW, STORY]] = 1, 1, self.clock[0]
        self.heights[k, SCORE] = drift
        self.heights[k, SEVERITY] = max(drift / threshold - 1, 0) if threshold > 0 else drift
        self.values[k, FROZEN] = np.minimum(self.levels.reference, self.scales.highest)
        self.values[k, BLAME], self.values[k, HIGHEST] = excess, 0.0
        self._stand(k)

    def _end(self, k: int) -> None:
        """End an event: references are what they were before it, unless it was slow."""
        levels, own = self.levels, self.numbers[k, MEMBER] > 0
        self.counts[k, PHASE] = ENDED
        main = self.values[k, BLAME].argmax()
        levels.led[main] += self.values[k, LATELY, main] == 0  # a way back is no fault of its own
        if not self.counts[k, IS_SLOW]:
            levels.reference[own] = np.minimum(levels.reference, self.values[k, FROZEN])[own]
        levels.standing[own] = NEVER
        for other in np.flatnonzero(self.counts[:, PHASE] == STANDING):
            start, shared = self.counts[other, START], own & (self.numbers[other, MEMBER] > 0)
            shared &= (levels.standing == NEVER) | (levels.standing > start)
            levels.standing[shared] = start


def in_turn(values: NDArray[np.float64]) -> float:
    """Add values one after the other, as the loop does; NumPy's sum rounds otherwise."""
    return float(np.add.accumulate(values)[-1])
