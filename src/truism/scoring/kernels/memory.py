"""What earlier rows leave behind, row after row: the same as `truism.scoring.memory`, to the bit.

Legend: t row, i variable, k how many rows of its kind came before a row, n rows of a block, p a row's
place in its block, y an average: the sum of its block so far, and what it was before that block.
"""

import numpy as np

from truism.scoring.kernels.compiling import inner, jit


@inner
def begin(y, shrink, k):
    """Begin a new block of rows, if a row is the first of one."""
    n = shrink.size - 1
    if k % n == 0 and k > 0:
        for i in range(y.shape[1]):
            y[1, i] = y[0, i] * shrink[n - 1] + y[1, i] * shrink[n]
            y[0, i] = 0.0


@jit
def recall(evidence, lift, first, scales, levels, usual, past, habit, lasting, found, news, since):
    """Follow consecutive rows; `past`, `habit` and `lasting` are the state, and are changed.

    `found` becomes what the past adds, and what is known, for each value; `news` are those of rows, and
    `since` for how many rows a past has been high. `scales` are by how much a row is scaled up and down
    again in the averages; `levels` are the caps of both, the weight of the past, and what is high.
    """
    grow, shrink, habit_grow, habit_shrink = scales
    cap, habit_cap, weight, high = levels
    n, m = shrink.size - 1, habit_shrink.size - 1
    fresh = np.empty(evidence.shape[1])
    for t in range(evidence.shape[0]):
        kind, k = (first + t) % past.shape[0], (first + t) // past.shape[0]
        y, z = past[kind], habit[kind]
        p, q, r = k % n, k % m, (k - 1) % m
        back, back_base = habit_shrink[r], habit_shrink[r + 1]
        up, down, down_base, habit_up = grow[p], shrink[p], shrink[p + 1], habit_grow[q]
        for i in range(fresh.size):
            known = z[0, i] * back + z[1, i] * back_base - usual[i]
            found[1, t, i] = known if known > 0.0 else 0.0
        begin(y, shrink, k)
        begin(z, habit_shrink, k)
        for i in range(fresh.size):
            value, known = evidence[t, i], found[1, t, i]
            z[0, i] += (value if value < habit_cap else habit_cap) * habit_up
            y[0, i] += (value if value < cap else cap) * up
            average = y[0, i] * down + y[1, i] * down_base
            lasting[i] = lasting[i] + 1 if average > high else 0
            since[t, i] = lasting[i]
            found[0, t, i] = average * weight
            now = value + lift[t, i] if lift.size else value
            now -= known
            linger = average - (known if known < cap else cap)
            fresh[i] = (now if now > 0.0 else 0.0) + (linger if linger > 0.0 else 0.0) * weight
        total = 0.0
        for i in range(fresh.size):
            total += fresh[i]
        news[t] = total


def exercise() -> None:
    """Run once on nothing, so that everything is compiled, or loaded from the cache."""
    rows, no, found = np.zeros((0, 1)), np.zeros(0), np.zeros((2, 0, 1))
    past, habit = np.zeros((2, 1, 2, 1))
    since = np.zeros((1, 1), np.int32)
    one, two = np.ones(1), np.ones(2)
    scales, levels = (one, two, one, two), (1.0, 1.0, 1.0, 1.0)
    recall(rows, rows, 0, scales, levels, no, past, habit, since[0], found, no, since)
