"""The compiled loops that grow contexts and sum up their leaves; imported only for learning.

Legend: ``i`` a row, ``v`` a variable, ``c`` its code, ``k`` a target or a number, ``j`` a variable with
states, ``at`` and ``x`` places in orders and tables. They release the GIL, touch only their arguments
and sum whole numbers.
"""

import numpy as np

from truism.score.kernels.compiling import inner, jit


@jit
def tabulate(codes, members, targets, rows, table):
    """Count some rows with each code of each member variable, and sum their targets.

    A member's row of the table has for each code in turn the count and the sums.
    """
    width = targets.shape[1] + 1
    for at in range(rows.size):
        i = rows[at]
        for v in range(members.size):
            # Widened first: a byte times a width may be more than a byte.
            first = np.int64(codes[i, members[v]]) * width
            table[v, first] += 1
            for k in range(targets.shape[1]):
                table[v, first + 1 + k] += targets[i, k]


@inner
def squares_of(below, total, whole, n_rows):
    """Return the sum of squares of both sides of a split, given count and sums of one side."""
    within, across = 0.0, 0.0
    for k in range(total.size):
        within += below[k + 1] * below[k + 1]
        across += below[k + 1] * total[k]
    return within / below[0] + (whole - 2.0 * across + within) / (n_rows - below[0])


@jit
def best_split(table, is_state, n_splits, n_rows, least, total, below):
    """Find the split that takes most off the squares of the targets: gain, member, code.

    Which members have states, and how many splits each has, are given; without a split the gain is 0.
    There is room for a sum of each target, and of one side with its count.
    """
    n_targets, width = total.size, below.size
    n_codes, whole = table.shape[1] // width, 0.0
    for k in range(n_targets):
        total[k] = 0.0
        for c in range(n_codes):
            total[k] += table[0, c * width + 1 + k]
        whole += total[k] * total[k]
    base, best, at, code = whole / n_rows, 0.0, -1, -1
    for v in range(table.shape[0]):
        for c in range(min(n_splits[v], n_codes)):
            if c > 0 and table[v, c * width] == 0:
                continue  # no row more: the split is the one before, or has an empty side
            for k in range(width):
                below[k] = table[v, c * width + k] + (
                    below[k] if c > 0 and not is_state[v] else 0.0
                )
            if below[0] < least or n_rows - below[0] < least:
                continue
            gain = squares_of(below, total, whole, n_rows)
            if gain > best:
                best, at, code = gain, v, c
    # Whole numbers that differ in nothing may still differ by rounding.
    if at < 0 or best - base <= 1e-9 * base:
        return 0.0, -1, -1
    return best - base, at, code


@jit
def sum_up(places, numbers, scale, classes, states, starts, n_rows, sums, counts):
    """Add every row at its place: how many, values that are known, in whole units, and squares.

    Of numbers, all are summed: presence, values and squares. The classes of some `states` are counted,
    those of each from one of the `starts` on.
    """
    for i in range(places.size):
        at = places[i]
        n_rows[at] += 1
        for k in range(numbers.shape[1]):
            value = np.float64(np.rint(numbers[i, k] * scale))
            known = value == value
            value = value if known else 0.0
            sums[0, at, k] += known
            sums[1, at, k] += value
            sums[2, at, k] += value * value
        for j in range(states.size):
            counts[at, starts[j] + classes[states[j], i]] += 1


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole = np.zeros(1, np.int64)
    codes, targets = np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.int32)
    numbers, sums = np.zeros((1, 1), np.float32), np.zeros((3, 1, 1))
    sum_up(whole, numbers, np.float32(1), codes, whole, whole, sums[0, 0], sums, targets)
    table = np.zeros((1, 2), np.int64)
    tabulate(codes, whole, targets, whole, table)
    best_split(table, np.zeros(1, np.bool_), whole, 1, 1, np.zeros(1), np.zeros(2))
