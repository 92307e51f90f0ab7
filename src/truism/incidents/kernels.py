"""The compiled loop that follows a series row by row: references, excess, and what is open.

It stops where an event changes its phase, which `truism.incidents.phases` does: that is rare, and much
to compile. What compiles long is a loop over variables, so there are few.
Legend: ``t`` row, ``n`` its number in the series, ``i`` variable, ``k`` event, ``a`` a root of points,
``d`` how far a root is above a reference, ``x`` an excess.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from truism.incidents.events import ACTIVE, ENDED, FREE, NAMED, NEVER, RISING, STANDING
from truism.score.kernels.compiling import inner, jit

ROW, MEASURE, ADD, ADAPT = range(4)  # where in a row the loop goes on
DONE, FULL, STANDS, BEGINS, ENDS, DRIFTS = range(6)  # why it stops

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
    *("phase", "start", "latest", "alarm", "onset", "story", "is_slow", "n_rows"),
    *("first", "last", "peak"),
)
HEIGHTS = ("score", "severity")
VALUES = ("frozen", "highest", "blame", "parts", "strength", "above", "below", "lately")
NUMBERS = ("member", "lasting", "n_known", "stood", "led", "since", "telling", "dead")
PHASE, START, LATEST, ALARM, ONSET, STORY, IS_SLOW, N_ROWS, FIRST, LAST, PEAK = range(11)
SCORE, SEVERITY = range(2)
FROZEN, HIGHEST, BLAME, PARTS, STRENGTH, ABOVE, BELOW, LATELY = range(8)
MEMBER, LASTING, N_KNOWN, STOOD, LED, SINCE, TELLING, DEAD = range(8)


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
def measure(t, n, looks, run, levels, scales, limits, excess, moved):
    """Return the excess of a row over all variables; note that of each, and where values are by now."""
    total = 0.0
    for i in range(excess.size):
        if looks and not np.isnan(run.differences[t, i]):
            levels.near[i] += limits.nearness * (run.differences[t, i] - levels.near[i])
        moved[i] = False
        excess[i] = run.points[t, i]
        if limits.has_past:
            d = max(sqrt(excess[i]) - levels.reference[i], 0.0)
            start, stray, place = levels.standing[i], levels.stray[i], levels.place[i]
            long = start != NEVER and n - start >= limits.horizon
            if long and 0 < stray <= STEADY * scales.stray[i]:
                way = max(abs(levels.near[i] - place) - STEADY * stray, 0.0)
                d = min(way / max(abs(place), LEAST_WAY), 1.0) * levels.reference[i]
                moved[i] = d > 0
            excess[i] = d * d
        total += excess[i]
    return total


@inner
def add(k, t, n, run, excess, moved, limits, far, events):
    """Add a row to what is known of an event: of all variables at first, later of its own.

    Return whether the row speaks against its main variables by itself, not only because of earlier rows:
    whether it would be an alarm if it lasted.
    """
    phase, most, beyond = events.counts[k, PHASE], 0.0, 0.0
    stands = phase == STANDING
    unfolds = n - events.counts[k, ONSET] < limits.unfolding or not limits.has_past
    for i in range(excess.size):
        far[i], blame, frozen = 0.0, events.values[k, BLAME, i], events.values[k, FROZEN, i]
        if not stands or events.numbers[k, MEMBER, i]:
            events.values[k, PARTS, i] += run.points[t, i]
            far[i] = run.evidence[t, i]
            if limits.has_past:
                d = max(sqrt(far[i] * limits.weight) - frozen, 0.0)
                far[i] = d * d
            if not stands:
                a = sqrt(run.points[t, i])
                if a > frozen:
                    events.values[k, HIGHEST, i] = max(events.values[k, HIGHEST, i], a)
                if events.values[k, LATELY, i]:
                    far[i] = excess[i]  # it had stood elsewhere: only its move counts
                elif moved[i]:
                    far[i] = max(far[i], excess[i])
                if unfolds:
                    blame += excess[i] if limits.has_past else far[i]
                    events.values[k, BLAME, i] = blame
            if run.dead[t, i] > 0:
                events.numbers[k, DEAD, i], events.numbers[k, STOOD, i] = (
                    run.rows[t],
                    run.dead[t, i],
                )
            if phase != RISING and not np.isnan(run.differences[t, i]):
                events.numbers[k, N_KNOWN, i] += 1
                if run.differences[t, i] > 0:
                    events.values[k, ABOVE, i] += run.differences[t, i]
                else:
                    events.values[k, BELOW, i] -= run.differences[t, i]
        most = max(most, blame)
    for i in range(excess.size):
        if events.values[k, BLAME, i] >= NAMED * most:
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
            levels.stray[i] += rate * (
                min(abs(levels.near[i] - levels.place[i]), most) - levels.stray[i]
            )
            levels.place[i] += rate * (levels.near[i] - levels.place[i])


@jit
def follow(place, run, scales, limits, levels, clock, events, excess, moved, far, total):
    """Follow consecutive rows until an event changes its phase; return why the loop stops.

    `place` says where: row, part of the row, first event and the one after the last. `levels`, `clock`
    (how many rows there were, where the latest story began, and its latest row), `events` and, within a
    row, `excess` and whether variables have `moved` are the state, and are changed; `total` becomes the
    excess of each row. The last event with which `ENDS` has to do is the one before the first.
    """
    threshold, low = limits.threshold, limits.threshold
    if limits.has_past:
        low *= RETURNED
    active = rising = NEVER
    n_open = 0
    for k in range(events.counts.shape[0]):
        active = k if events.counts[k, PHASE] == ACTIVE else active
        rising = k if events.counts[k, PHASE] == RISING else rising
        n_open += events.counts[k, PHASE] == ACTIVE or events.counts[k, PHASE] == STANDING
    while place[0] < run.rows.size:
        t, n = place[0], clock[0]
        row = run.rows[t]
        if place[1] == ROW and (
            events.counts[-2, PHASE] != FREE or events.counts[-1, PHASE] != FREE
        ):
            return FULL
        if place[1] <= MEASURE:
            looks = place[1] == ROW and n_open > 0
            total[t] = measure(t, n, looks, run, levels, scales, limits, excess, moved)
            if active != NEVER and (
                run.anew[t]
                or n - events.counts[active, ALARM] > limits.gap + 1
                or (limits.has_past and n - events.counts[active, START] >= limits.unfolding)
            ):
                place[1] = MEASURE
                return STANDS
            if rising != NEVER and (
                run.anew[t]
                or total[t] <= low
                or n - events.counts[rising, ONSET] >= limits.unfolding
            ):
                events.counts[rising, PHASE], rising = FREE, NEVER
            place[1], place[2] = ADD, 0
            if active == NEVER and total[t] > (low if rising == NEVER else threshold):
                return BEGINS
        height = total[t]
        if place[1] == ADD:
            for k in range(place[2], place[3]):
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
                            place[2] = k + 1
                            return ENDS
                        continue
                    if n - events.counts[k, START] < limits.horizon:
                        clock[2] = n
                if not limits.has_past and height <= threshold:
                    continue
                deviates = add(k, t, n, run, excess, moved, limits, far, events)
                deviates |= n == events.counts[k, START]
                counts = phase == RISING
                if deviates and (phase == STANDING or (phase == ACTIVE and height > threshold)):
                    counts = True
                    events.counts[k, LATEST], events.counts[k, LAST] = n, row
                    events.counts[k, N_ROWS] += 1
                    beyond = max(level / threshold - 1.0, 0.0) if threshold > 0 else level
                    events.heights[k, SEVERITY] += beyond
                    if level > events.heights[k, SCORE]:
                        events.heights[k, SCORE], events.counts[k, PEAK] = level, row
                if counts or phase == ACTIVE:
                    quote(k, t, run, far, moved, counts, limits, events)
            can_drift = limits.has_past and active == NEVER
            if can_drift and drifted(levels, scales, excess) > DRIFTED * threshold:
                place[1] = ADAPT
                return DRIFTS
        if limits.has_past:
            adapt(t, run, 1.0 / limits.horizon, n_open > 0, active == NEVER, levels, scales)
        elif active != NEVER and n - events.counts[active, ALARM] > limits.gap:
            events.counts[active, PHASE], active = ENDED, NEVER
            n_open -= 1
        clock[0] += 1
        place[0], place[1], place[2] = t + 1, ROW, 0
    return DONE


@jit
def highest(points, known, rate, reference, found):
    """Note the highest that the reference of each variable rises from where it is."""
    for t in range(points.shape[0]):
        for i in range(found.size):
            if known[t, i]:
                reference[i] += rate * (sqrt(points[t, i]) - reference[i])
                found[i] = max(found[i], reference[i])


@jit
def strays(differences, rate, nearness, found):
    """Note how far each variable strays on average from where it has been lately."""
    for i in range(found.size):
        near = place = total = 0.0
        count = 0
        for t in range(differences.shape[0]):
            if not np.isnan(differences[t, i]):
                near += nearness * (differences[t, i] - near)
                total += abs(near - place)
                count += 1
                place += rate * (near - place)
        found[i] = total / max(count, 1)
