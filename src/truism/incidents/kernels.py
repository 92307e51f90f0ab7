"""The compiled loop that follows a series row by row: references, excess, and what is open.

Legend: ``t`` row, ``n`` its number in the series, ``i`` variable, ``k`` event, ``a`` a root of points,
``d`` how far a root is above a reference, ``x`` an excess.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from truism.incidents.events import ACTIVE, ENDED, FREE, NAMED, NEVER, RISING, STANDING
from truism.score.kernels.compiling import inner, jit

UNKNOWN = -1  # what is returned where differences are needed

RETURNED = 0.25  # share of the threshold below which nothing rises, and what stood has returned
OWN = 0.05  # share of the blame from which on a variable is one of an event's own
DRIFTED = 0.5  # share of the threshold above which references, being averages, have left training's
STEADY = 2.0  # times as far as in training: what strays farther is not judged by its place
LEAST_WAY = 3.0  # standard deviations: a shorter way back is worth less than the way there was


class Scales(NamedTuple):
    """What is usual of each variable; see `truism.model.series.Memory`."""

    highest: np.ndarray
    stray: np.ndarray


class Criteria(NamedTuple):
    """What an event is; `has_past` says whether there are references at all."""

    threshold: float
    gap: int
    unfolding: int
    horizon: int
    lookback: int
    nearness: float
    weight: float
    has_past: bool


class Levels(NamedTuple):
    """What is kept of each variable of a series; see `truism.incidents.events.SeriesState`."""

    reference: np.ndarray
    near: np.ndarray
    place: np.ndarray
    stray: np.ndarray
    standing: np.ndarray
    led: np.ndarray


class Events(NamedTuple):
    """Events, and room for more; the fields are those of `truism.incidents.events.Event`."""

    phase: np.ndarray
    start: np.ndarray
    latest: np.ndarray
    alarm: np.ndarray
    onset: np.ndarray
    story: np.ndarray
    is_slow: np.ndarray
    first: np.ndarray
    last: np.ndarray
    peak: np.ndarray
    n_rows: np.ndarray
    score: np.ndarray
    severity: np.ndarray
    frozen: np.ndarray
    highest: np.ndarray
    blame: np.ndarray
    parts: np.ndarray
    strength: np.ndarray
    above: np.ndarray
    below: np.ndarray
    member: np.ndarray
    since: np.ndarray
    telling: np.ndarray
    lasting: np.ndarray
    n_known: np.ndarray
    dead: np.ndarray
    stood: np.ndarray
    lately: np.ndarray
    led: np.ndarray


class Block(NamedTuple):
    """Consecutive rows; see `truism.incidents.following.Run`."""

    rows: np.ndarray
    points: np.ndarray
    evidence: np.ndarray
    differences: np.ndarray
    dead: np.ndarray
    lasting: np.ndarray
    known: np.ndarray
    anew: np.ndarray


@inner
def away(i, levels):
    """Return how far a number is from its place."""
    return abs(levels.near[i] - levels.place[i])


@inner
def main_of(values, k):
    """Return which variable has the largest value of an event."""
    main = 0
    for i in range(values.shape[1]):
        main = i if values[k, i] > values[k, main] else main
    return main


@inner
def settled(n, start, horizon, stray, usual):
    """Return whether a number has stood for so long, and so steadily, that its place is known."""
    return start != NEVER and n - start >= horizon and 0 < stray <= STEADY * usual


@inner
def measure(t, n, run, levels, scales, limits, excess, moved):
    """Return the excess of a row over all variables; note that of each."""
    total = 0.0
    for i in range(excess.size):
        moved[i] = False
        if not limits.has_past:
            excess[i] = run.points[t, i]
            total += excess[i]
            continue
        if settled(n, levels.standing[i], limits.horizon, levels.stray[i], scales.stray[i]):
            way = max(away(i, levels) - STEADY * levels.stray[i], 0.0)
            d = min(way / max(abs(levels.place[i]), LEAST_WAY), 1.0) * levels.reference[i]
            moved[i] = d > 0
        else:
            d = max(sqrt(run.points[t, i]) - levels.reference[i], 0.0)
        excess[i] = d * d
        total += excess[i]
    return total


@inner
def begin(k, n, row, levels, scales, limits, events):
    """Begin an event, with the references as they are."""
    events.n_rows[k], events.severity[k], events.score[k], events.is_slow[k] = 0, 0.0, -1.0, 0
    events.onset[k] = events.start[k] = events.latest[k] = events.alarm[k] = n
    events.first[k] = events.last[k] = events.peak[k] = row
    for i in range(levels.place.size):
        start, stray = levels.standing[i], levels.stray[i]
        has_place = settled(n, start, limits.horizon, stray, scales.stray[i])
        events.lately[k, i] = levels.place[i] if has_place else 0.0
        events.frozen[k, i], events.led[k, i] = levels.reference[i], levels.led[i]
        events.highest[k, i] = events.blame[k, i] = events.parts[k, i] = 0.0
        events.strength[k, i] = events.above[k, i] = events.below[k, i] = 0.0
        events.member[k, i] = events.lasting[k, i] = events.n_known[k, i] = events.stood[k, i] = 0
        events.since[k, i] = events.telling[k, i] = events.dead[k, i] = NEVER
    events.phase[k] = RISING


@inner
def add(k, t, n, run, excess, moved, limits, far, events):
    """Add a row to what is known of an event: of all variables at first, later of its own.

    Return whether the row speaks against its main variables by itself, not only because of earlier rows:
    whether it would be an alarm if it lasted.
    """
    row = run.rows[t]
    stands = events.phase[k] == STANDING
    unfolds = not stands and (n - events.onset[k] < limits.unfolding or not limits.has_past)
    for i in range(excess.size):
        far[i] = 0.0
        if stands and not events.member[k, i]:
            continue
        a = sqrt(run.points[t, i])
        events.parts[k, i] += run.points[t, i]
        if not stands and a > events.frozen[k, i]:
            events.highest[k, i] = max(events.highest[k, i], a)
        far[i] = run.evidence[t, i]
        if limits.has_past:
            d = max(sqrt(far[i] * limits.weight) - events.frozen[k, i], 0.0)
            far[i] = d * d
            if moved[i] and not stands:
                far[i] = max(far[i], excess[i])
        if unfolds:
            events.blame[k, i] += excess[i] if limits.has_past else far[i]
        if run.dead[t, i] > 0:
            events.dead[k, i], events.stood[k, i] = row, run.dead[t, i]
        if events.phase[k] != RISING and not np.isnan(run.differences[t, i]):
            events.n_known[k, i] += 1
            if run.differences[t, i] > 0:
                events.above[k, i] += run.differences[t, i]
            else:
                events.below[k, i] -= run.differences[t, i]
    least, beyond = NAMED * events.blame[k, main_of(events.blame, k)], 0.0
    for i in range(excess.size):
        if events.blame[k, i] >= least:
            beyond += far[i]
    return not limits.has_past or beyond > limits.threshold


@inner
def quote(k, t, run, far, moved, counts, limits, events):
    """Note in which row of an event each variable deviates first, and in which most.

    A row that does not count as one of the event's is only noted of variables that have no other.
    """
    row, stands = run.rows[t], events.phase[k] == STANDING
    least = OWN * limits.threshold if limits.has_past else 0.0
    for i in range(far.size):
        if far[i] > 0 and far[i] >= least:
            if events.since[k, i] == NEVER:
                events.since[k, i] = row
            elif not counts:
                continue
            if far[i] > events.strength[k, i]:
                events.strength[k, i], events.telling[k, i] = far[i], row
                events.lasting[k, i] = run.lasting[t, i]
                if not moved[i] and not stands:
                    events.lately[k, i] = 0.0


@inner
def rise(k, n, row, level, threshold, events):
    """Note how high a row of an event rises."""
    events.latest[k], events.last[k] = n, row
    events.n_rows[k] += 1
    events.severity[k] += max(level / threshold - 1.0, 0.0) if threshold > 0 else level
    if level > events.score[k]:
        events.score[k], events.peak[k] = level, row


@inner
def stand(k, levels, scales, events):
    """Let an event stand: its variables are looked at from where they are now."""
    events.phase[k] = STANDING
    total = 0.0
    for i in range(levels.standing.size):
        total += events.blame[k, i]
    for i in range(levels.standing.size):
        if events.blame[k, i] > 0 and events.blame[k, i] >= OWN * total:
            events.member[k, i] = 1
            levels.reference[i] = max(levels.reference[i], events.highest[k, i])
            if levels.standing[i] == NEVER:
                levels.standing[i] = events.start[k]
            levels.place[i], levels.stray[i] = levels.near[i], scales.stray[i]


@inner
def leave(k, levels, events):
    """End an event: references are what they were before it, unless it was slow."""
    events.phase[k] = ENDED
    levels.led[main_of(events.blame, k)] += 1
    for i in range(levels.standing.size):
        if events.member[k, i]:
            levels.standing[i] = NEVER
            if not events.is_slow[k]:
                levels.reference[i] = min(levels.reference[i], events.frozen[k, i])
            for other in range(events.phase.size):
                if events.phase[other] == STANDING and events.member[other, i]:
                    start = events.start[other]
                    if levels.standing[i] == NEVER or start < levels.standing[i]:
                        levels.standing[i] = start


@inner
def still(k, t, run, levels, events):
    """Return how far the variables of a standing event are beyond what they were before it."""
    found = drift = 0.0
    for i in range(levels.standing.size):
        if events.member[k, i]:
            d = max(sqrt(run.points[t, i]) - events.frozen[k, i], 0.0)
            found += d * d
            if events.is_slow[k]:
                d = max(levels.reference[i] - events.frozen[k, i], 0.0)
                drift += d * d
    return max(found, drift)


@inner
def drifted(levels, scales, excess):
    """Return how far references have left what they were in training; note that of each variable."""
    total = 0.0
    for i in range(excess.size):
        d = 0.0
        if levels.standing[i] == NEVER:
            d = max(levels.reference[i] - scales.highest[i], 0.0)
        excess[i] = d * d
        total += excess[i]
    return total


@inner
def free(events):
    """Return the first place for another event."""
    k = 0
    while events.phase[k] != FREE:
        k += 1
    return k


@inner
def look(t, run, rate, levels):
    """Note where values are by now, as far as it is known."""
    for i in range(levels.near.size):
        if not np.isnan(run.differences[t, i]):
            levels.near[i] += rate * (run.differences[t, i] - levels.near[i])


@inner
def look_anew(t, run, n_open, levels):
    """Begin to note where values are, unless something is open, since when they are noted."""
    if not n_open:
        for i in range(levels.near.size):
            levels.near[i] = 0.0
        look(t, run, 1.0, levels)


@inner
def adapt(t, run, rate, is_open, calm, levels, scales):
    """Move references, and where standing variables are, towards a row.

    What stands may be as high as it has been: its reference follows a rise at once.
    """
    for i in range(levels.standing.size):
        stands = levels.standing[i] != NEVER
        if run.known[t, i] or run.evidence[t, i] > 0:
            d = sqrt(run.points[t, i]) - levels.reference[i]
            levels.reference[i] += d if calm and stands and d > 0 else rate * d
        if is_open and stands and not np.isnan(run.differences[t, i]):
            most = 2 * STEADY * scales.stray[i]  # a leap alone is no unsteadiness
            levels.stray[i] += rate * (min(away(i, levels), most) - levels.stray[i])
            levels.place[i] += rate * (levels.near[i] - levels.place[i])


@jit
def follow(done, run, scales, limits, levels, clock, events, total):
    """Follow consecutive rows from `done` on; return the row before which room for events ran out.

    `levels`, `clock` (how many rows there were, where the latest story began, and its latest row) and
    `events` are the state, and are changed; `total` becomes the excess of each row. Where differences
    are needed and there are none, `UNKNOWN` is returned.
    """
    threshold, low = limits.threshold, limits.threshold
    if limits.has_past:
        low *= RETURNED
    rate = 1.0 / limits.horizon
    n_variables = run.points.shape[1]
    excess, moved = np.empty(n_variables), np.empty(n_variables, np.bool_)
    far = np.empty(n_variables)
    active = rising = NEVER
    n_open = 0
    for k in range(events.phase.size):
        active = k if events.phase[k] == ACTIVE else active
        rising = k if events.phase[k] == RISING else rising
        n_open += events.phase[k] == ACTIVE or events.phase[k] == STANDING
    for t in range(done, run.rows.size):
        if events.phase[-2] != FREE or events.phase[-1] != FREE:
            return t
        n, row = clock[0], run.rows[t]
        if n_open:
            look(t, run, limits.nearness, levels)
        height = measure(t, n, run, levels, scales, limits, excess, moved)
        if active != NEVER and (
            run.anew[t]
            or n - events.alarm[active] > limits.gap + 1
            or (limits.has_past and n - events.start[active] >= limits.unfolding)
        ):
            if limits.has_past:
                stand(active, levels, scales, events)
                height = measure(t, n, run, levels, scales, limits, excess, moved)
            else:
                events.phase[active] = ENDED
                n_open -= 1
            active = NEVER
        total[t] = height
        if rising != NEVER and (
            run.anew[t] or height <= low or n - events.onset[rising] >= limits.unfolding
        ):
            events.phase[rising], rising = FREE, NEVER
        if height > low and active == NEVER and rising == NEVER:
            rising = free(events)
            begin(rising, n, row, levels, scales, limits, events)
        if height > threshold and active == NEVER:
            if run.differences.shape[0] == 0:
                return UNKNOWN
            look_anew(t, run, n_open, levels)
            n_open += 1
            active, rising = rising, NEVER
            events.phase[active] = ACTIVE
            events.start[active], events.first[active] = n, row
            if not limits.has_past or clock[2] == NEVER or n - clock[2] > limits.lookback:
                clock[1] = n
            events.story[active] = clock[1]
        for k in range(events.phase.size):
            phase = events.phase[k]
            if phase in (FREE, ENDED):
                continue
            level = height
            if phase == ACTIVE:
                clock[2] = n
                if height > threshold:
                    events.alarm[k] = n
            elif phase == STANDING:
                level = still(k, t, run, levels, events)
                if level <= low:
                    if n - events.latest[k] > limits.gap:
                        leave(k, levels, events)
                        n_open -= 1
                    continue
                if n - events.start[k] < limits.horizon:
                    clock[2] = n
            deviates = n == events.start[k] or events.is_slow[k]
            if limits.has_past or height > threshold:
                deviates |= add(k, t, n, run, excess, moved, limits, far, events)
            if deviates and (phase == STANDING or (phase == ACTIVE and height > threshold)):
                rise(k, n, row, level, threshold, events)
                quote(k, t, run, far, moved, True, limits, events)
            elif phase != STANDING:
                quote(k, t, run, far, moved, phase == RISING, limits, events)
        if limits.has_past and active == NEVER:
            drift = drifted(levels, scales, excess)
            if drift > DRIFTED * threshold:
                if run.differences.shape[0] == 0:
                    return UNKNOWN
                look_anew(t, run, n_open, levels)
                n_open += 1
                k = free(events)
                begin(k, n, row, levels, scales, limits, events)
                for i in range(n_variables):
                    moved[i] = False
                add(k, t, n, run, excess, moved, limits, far, events)
                rise(k, n, row, drift, threshold, events)
                quote(k, t, run, far, moved, True, limits, events)
                for i in range(n_variables):
                    events.frozen[k, i] = min(levels.reference[i], scales.highest[i])
                    events.blame[k, i], events.highest[k, i] = excess[i], 0.0
                events.is_slow[k] = 1
                events.story[k] = n
                stand(k, levels, scales, events)
        if limits.has_past:
            adapt(t, run, rate, n_open > 0, active == NEVER, levels, scales)
        elif active != NEVER and n - events.alarm[active] > limits.gap:
            events.phase[active], active = ENDED, NEVER
            n_open -= 1
        clock[0] += 1
    return run.rows.size


@jit
def highest(points, known, rate, start):
    """Return the highest that the reference of each variable rises, from a start."""
    reference, found = start.copy(), start.copy()
    for t in range(points.shape[0]):
        for i in range(start.size):
            if known[t, i]:
                reference[i] += rate * (sqrt(points[t, i]) - reference[i])
                found[i] = max(found[i], reference[i])
    return found


@jit
def strays(differences, rate, limits, levels):
    """Return how far each variable strays on average from where it has been lately."""
    total, count = np.zeros((2, differences.shape[1]))
    for i in range(differences.shape[1]):
        for t in range(differences.shape[0]):
            if not np.isnan(differences[t, i]):
                levels.near[i] += limits.nearness * (differences[t, i] - levels.near[i])
                total[i] += away(i, levels)
                count[i] += 1
                levels.place[i] += rate * (levels.near[i] - levels.place[i])
    return total / np.maximum(count, 1.0)
