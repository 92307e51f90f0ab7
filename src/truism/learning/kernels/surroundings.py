"""The compiled measuring of how empty the surroundings of numbers are, for many variables at once.

What `truism.scoring.rarity.Emptiness` does for one variable, to the bit. Legend: ``knots`` ascending
training values, ``before`` the rows before each, ``first`` and ``last`` the ends of runs of knots.
"""

import numpy as np

from truism.scoring.kernels.compiling import inner, jit

FARTHEST = np.finfo(np.float64).max
UNORDERED = -1  # instead of how many points there are: knots too close for midpoints


@inner
def keep_known(values, counts, knots, before):
    """Keep the values that stand for rows, and sum up the rows before them; return how many."""
    n = 0
    before[0] = 0
    for i in range(values.size):
        if counts[i] > 0:
            knots[n] = values[i]
            before[n + 1] = before[n] + counts[i]
            n += 1
    return n


@inner
def put_middles(knots, points):
    """Write the knots with the midpoints between them; return how many, or that they do not ascend."""
    for i in range(knots.size):
        if i > 0:
            points[2 * i - 1] = knots[i] / 2 + knots[i - 1] / 2
            if not knots[i - 1] < points[2 * i - 1] < knots[i]:
                return UNORDERED
        points[2 * i] = knots[i]
    return max(2 * knots.size - 1, 0)


@inner
def list_runs(before, near, last):
    """Find where the shortest run of knots from each ends that holds enough rows; return how many do."""
    end = 0
    for first in range(before.size - 1):
        while end < before.size and before[end] < before[first] + near:
            end += 1
        if end == before.size:
            return first
        last[first] = end - 1
    return before.size - 1


@inner
def measure(knots, last, points, distances):
    """Write how far the farther end of the best run of knots is from each point."""
    alike = 0
    for i in range(points.size):
        while alike < last.size and knots[alike] / 2 + knots[last[alike]] / 2 < points[i]:
            alike += 1
        best = FARTHEST
        for run in range(alike - 2, alike + 2):
            first = min(max(run, 0), last.size - 1)
            best = min(best, max(points[i] - knots[first], knots[last[first]] - points[i]))
        distances[i] = best


@jit
def surround(values, counts, starts, near):
    """Measure the surroundings of the values of each variable, which lie one after the other.

    Parameters
    ----------
    values, counts
        Training values, ascending in each variable, and how many rows each stands for.
    starts
        Where the values of each variable begin, and where the last ones end.
    near
        For each variable, the rows that make surroundings full.

    Returns
    -------
    For each variable how many knots there are and how many points, and the rows that count as near; the
    knots and the rows before them (one more for each variable); points and distances (twice as many).

    """
    n_variables = near.size
    sizes = np.empty((n_variables, 3), np.int64)
    knots, before = np.empty(values.size), np.empty(values.size + n_variables, np.int64)
    points, distances = np.empty(2 * values.size), np.empty(2 * values.size)
    last = np.empty(values.size, np.int64)
    for v in range(n_variables):
        start, end = starts[v], starts[v + 1]
        n = keep_known(values[start:end], counts[start:end], knots[start:end], before[start + v :])
        own, rows = knots[start : start + n], before[start + v : start + v + n + 1]
        enough = min(near[v], max(1, rows[n]))
        n_points = put_middles(own, points[2 * start :])
        sizes[v, 0], sizes[v, 1], sizes[v, 2] = n, n_points, enough
        if n_points > 0:
            n_runs = list_runs(rows, enough, last)
            ends = slice(2 * start, 2 * start + n_points)
            measure(own, last[:n_runs], points[ends], distances[ends])
    return sizes, knots, before, points, distances
