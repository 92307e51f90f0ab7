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


# What is kept of an event, as `truism.incidents.events.Event` has it: by which number each array of
# `Events` holds it. Four arrays, not one for each field, because the compiler takes long for many.
COUNTS = (
    *("phase", "start", "latest", "alarm", "onset", "story", "is_slow"),
    *("first", "last", "peak", "n_rows"),
)
HEIGHTS = ("score", "severity")
VALUES = ("frozen", "highest", "blame", "parts", "strength", "above", "below", "lately")
NUMBERS = ("member", "since", "telling", "lasting", "n_known", "dead", "stood", "led")
PHASE, START, LATEST, ALARM, ONSET, STORY, IS_SLOW, FIRST, LAST, PEAK, N_ROWS = range(11)
SCORE, SEVERITY = range(2)
FROZEN, HIGHEST, BLAME, PARTS, STRENGTH, ABOVE, BELOW, LATELY = range(8)
MEMBER, SINCE, TELLING, LASTING, N_KNOWN, DEAD, STOOD, LED = range(8)


class Events(NamedTuple):
    """Events, and room for more: events × fields, or events × fields × variables."""

    counts: np.ndarray
    heights: np.ndarray
    values: np.ndarray
    numbers: np.ndarray


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
def main_of(k, events):
    """Return which variable is most to blame for an event."""
    main = 0
    for i in range(events.values.shape[2]):
        main = i if events.values[k, BLAME, i] > events.values[k, BLAME, main] else main
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
    for field in range(events.counts.shape[1]):
        events.counts[k, field] = n
    events.counts[k, N_ROWS] = events.counts[k, IS_SLOW] = events.counts[k, STORY] = 0
    events.counts[k, FIRST] = events.counts[k, LAST] = events.counts[k, PEAK] = row
    events.heights[k, SCORE], events.heights[k, SEVERITY] = -1.0, 0.0
    for i in range(levels.place.size):
        for field in range(events.values.shape[1]):
            events.values[k, field, i] = 0.0
            events.numbers[k, field, i] = 0
        start, stray = levels.standing[i], levels.stray[i]
        if settled(n, start, limits.horizon, stray, scales.stray[i]):
            events.values[k, LATELY, i] = levels.place[i]
        events.values[k, FROZEN, i], events.numbers[k, LED, i] = levels.reference[i], levels.led[i]
        events.numbers[k, SINCE, i] = events.numbers[k, TELLING, i] = NEVER
        events.numbers[k, DEAD, i] = NEVER
    events.counts[k, PHASE] = RISING


@inner
def add(k, t, n, run, excess, moved, limits, far, events):
    """Add a row to what is known of an event: of all variables at first, later of its own.

    Return whether the row speaks against its main variables by itself, not only because of earlier rows:
    whether it would be an alarm if it lasted.
    """
    row = run.rows[t]
    stands = events.counts[k, PHASE] == STANDING
    unfolds = not stands and (n - events.counts[k, ONSET] < limits.unfolding or not limits.has_past)
    for i in range(excess.size):
        far[i] = 0.0
        if stands and not events.numbers[k, MEMBER, i]:
            continue
        a = sqrt(run.points[t, i])
        events.values[k, PARTS, i] += run.points[t, i]
        if not stands and a > events.values[k, FROZEN, i]:
            events.values[k, HIGHEST, i] = max(events.values[k, HIGHEST, i], a)
        far[i] = run.evidence[t, i]
        if limits.has_past:
            d = max(sqrt(far[i] * limits.weight) - events.values[k, FROZEN, i], 0.0)
            far[i] = d * d
            if events.values[k, LATELY, i] and not stands:
                far[i] = excess[i]  # it had stood elsewhere: only its move counts
            elif moved[i] and not stands:
                far[i] = max(far[i], excess[i])
        if unfolds:
            events.values[k, BLAME, i] += excess[i] if limits.has_past else far[i]
        if run.dead[t, i] > 0:
            events.numbers[k, DEAD, i], events.numbers[k, STOOD, i] = row, run.dead[t, i]
        if events.counts[k, PHASE] != RISING and not np.isnan(run.differences[t, i]):
            events.numbers[k, N_KNOWN, i] += 1
            if run.differences[t, i] > 0:
                events.values[k, ABOVE, i] += run.differences[t, i]
            else:
                events.values[k, BELOW, i] -= run.differences[t, i]
    least, beyond = NAMED * events.values[k, BLAME, main_of(k, events)], 0.0
    for i in range(excess.size):
        if events.values[k, BLAME, i] >= least:
            beyond += far[i]
    bar = limits.threshold * (DRIFTED if events.counts[k, IS_SLOW] else 1.0)
    return not limits.has_past or beyond > bar


@inner
def quote(k, t, run, far, moved, counts, limits, events):
    """Note in which row of an event each variable deviates first, and in which most.

    A row that does not count as one of the event's is only noted of variables that have no other.
    """
    row, stands = run.rows[t], events.counts[k, PHASE] == STANDING
    least = OWN * limits.threshold if limits.has_past else 0.0
    for i in range(far.size):
        if far[i] > 0 and far[i] >= least:
            if events.numbers[k, SINCE, i] == NEVER:
                events.numbers[k, SINCE, i] = row
            elif not counts:
                continue
            if far[i] > events.values[k, STRENGTH, i]:
                events.values[k, STRENGTH, i], events.numbers[k, TELLING, i] = far[i], row
                events.numbers[k, LASTING, i] = run.lasting[t, i]
                if not moved[i] and not stands:
                    events.values[k, LATELY, i] = 0.0


@inner
def rise(k, n, row, level, threshold, events):
    """Note how high a row of an event rises."""
    events.counts[k, LATEST], events.counts[k, LAST] = n, row
    events.counts[k, N_ROWS] += 1
    events.heights[k, SEVERITY] += max(level / threshold - 1.0, 0.0) if threshold > 0 else level
    if level > events.heights[k, SCORE]:
        events.heights[k, SCORE], events.counts[k, PEAK] = level, row


@inner
def stand(k, levels, scales, events):
    """Let an event stand: its variables are looked at from where they are now."""
    events.counts[k, PHASE] = STANDING
    total = 0.0
    for i in range(levels.standing.size):
        total += events.values[k, BLAME, i]
    for i in range(levels.standing.size):
        if events.values[k, BLAME, i] > 0 and events.values[k, BLAME, i] >= OWN * total:
            events.numbers[k, MEMBER, i] = 1
            levels.reference[i] = max(levels.reference[i], events.values[k, HIGHEST, i])
            if levels.standing[i] == NEVER:
                levels.standing[i] = events.counts[k, START]
            levels.place[i], levels.stray[i] = levels.near[i], scales.stray[i]


@inner
def leave(k, levels, events):
    """End an event: references are what they were before it, unless it was slow."""
    events.counts[k, PHASE] = ENDED
    main = main_of(k, events)
    if not events.values[k, LATELY, main]:  # a way back is no fault of its own
        levels.led[main] += 1
    for i in range(levels.standing.size):
        if events.numbers[k, MEMBER, i]:
            levels.standing[i] = NEVER
            if not events.counts[k, IS_SLOW]:
                levels.reference[i] = min(levels.reference[i], events.values[k, FROZEN, i])
            for other in range(events.counts.shape[0]):
                if events.counts[other, PHASE] in (RISING, ACTIVE, STANDING):
                    # What began meanwhile must not raise the reference again when it ends.
                    frozen = min(events.values[other, FROZEN, i], levels.reference[i])
                    events.values[other, FROZEN, i] = frozen
                if events.counts[other, PHASE] == STANDING and events.numbers[other, MEMBER, i]:
                    start = events.counts[other, START]
                    if levels.standing[i] == NEVER or start < levels.standing[i]:
                        levels.standing[i] = start


@inner
def still(k, t, run, levels, events):
    """Return how far the variables of a standing event are beyond what they were before it."""
    found = drift = 0.0
    for i in range(levels.standing.size):
        if events.numbers[k, MEMBER, i]:
            d = max(sqrt(run.points[t, i]) - events.values[k, FROZEN, i], 0.0)
            found += d * d
            if events.counts[k, IS_SLOW]:
                d = max(levels.reference[i] - events.values[k, FROZEN, i], 0.0)
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
    while events.counts[k, PHASE] != FREE:
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
    for k in range(events.counts.shape[0]):
        active = k if events.counts[k, PHASE] == ACTIVE else active
        rising = k if events.counts[k, PHASE] == RISING else rising
        n_open += events.counts[k, PHASE] == ACTIVE or events.counts[k, PHASE] == STANDING
    for t in range(done, run.rows.size):
        if events.counts[-2, PHASE] != FREE or events.counts[-1, PHASE] != FREE:
            return t
        n, row = clock[0], run.rows[t]
        if n_open:
            look(t, run, limits.nearness, levels)
        height = measure(t, n, run, levels, scales, limits, excess, moved)
        if active != NEVER and (
            run.anew[t]
            or n - events.counts[active, ALARM] > limits.gap + 1
            or (limits.has_past and n - events.counts[active, START] >= limits.unfolding)
        ):
            if limits.has_past:
                stand(active, levels, scales, events)
                height = measure(t, n, run, levels, scales, limits, excess, moved)
            else:
                events.counts[active, PHASE] = ENDED
                n_open -= 1
            active = NEVER
        total[t] = height
        if rising != NEVER and (
            run.anew[t] or height <= low or n - events.counts[rising, ONSET] >= limits.unfolding
        ):
            events.counts[rising, PHASE], rising = FREE, NEVER
        if height > low and active == NEVER and rising == NEVER:
            rising = free(events)
            begin(rising, n, row, levels, scales, limits, events)
        if height > threshold and active == NEVER:
            if run.differences.shape[0] == 0:
                return UNKNOWN
            look_anew(t, run, n_open, levels)
            n_open += 1
            active, rising = rising, NEVER
            events.counts[active, PHASE] = ACTIVE
            events.counts[active, START], events.counts[active, FIRST] = n, row
            if not limits.has_past or clock[2] == NEVER or n - clock[2] > limits.lookback:
                clock[1] = n
            events.counts[active, STORY] = clock[1]
        for k in range(events.counts.shape[0]):
            phase = events.counts[k, PHASE]
            if phase in (FREE, ENDED):
                continue
            level = height
            if phase == ACTIVE:
                clock[2] = n
                if height > threshold:
                    events.counts[k, ALARM] = n
            elif phase == STANDING:
                level = still(k, t, run, levels, events)
                if level <= low:
                    if n - events.counts[k, LATEST] > limits.gap:
                        leave(k, levels, events)
                        n_open -= 1
                    continue
                if n - events.counts[k, START] < limits.horizon:
                    clock[2] = n
            deviates = n == events.counts[k, START]
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
                    events.values[k, FROZEN, i] = min(levels.reference[i], scales.highest[i])
                    events.values[k, BLAME, i], events.values[k, HIGHEST, i] = excess[i], 0.0
                events.counts[k, IS_SLOW] = 1
                events.counts[k, STORY] = n
                stand(k, levels, scales, events)
        if limits.has_past:
            adapt(t, run, rate, n_open > 0, active == NEVER, levels, scales)
        elif active != NEVER and n - events.counts[active, ALARM] > limits.gap:
            events.counts[active, PHASE], active = ENDED, NEVER
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
