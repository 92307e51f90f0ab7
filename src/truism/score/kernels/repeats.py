"""A compiled loop that finds equal rows.

Legend: ``r`` a row, ``i`` a variable, ``s`` a seat: rows sit where a hash of their values says, or in the
next seat that is free.
"""

import numpy as np

from truism.score.kernels.compiling import inner, jit

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@inner
def digest(row):
    """Return a number that equal rows share, and others hardly ever."""
    found = np.uint64(0)
    for i in range(row.size):
        found = (found ^ np.uint64(row[i])) * _FACTOR
        found ^= found >> np.uint64(32)
    return found


@inner
def equal(a, b):
    """Return whether all values of two rows are equal."""
    i = 0
    while i < a.size and a[i] == b[i]:
        i += 1
    return i == a.size


@jit
def match(rows, most, seats, firsts, same):
    """Note the first of equal rows, and for each row which of those it equals; return how many there are.

    Stops where there are more than `most`. The number of `seats` is a power of two, and all are -1.
    """
    n_distinct, last = 0, np.uint64(seats.size - 1)
    for r in range(rows.shape[0]):
        s = digest(rows[r]) & last
        while seats[s] >= 0 and not equal(rows[firsts[seats[s]]], rows[r]):
            s = (s + np.uint64(1)) & last
        if seats[s] < 0:
            if n_distinct == most:
                return most + 1
            seats[s] = n_distinct
            firsts[n_distinct] = r
            n_distinct += 1
        same[r] = seats[s]
    return n_distinct


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole = np.zeros(1, np.int64)
    match(whole[:, None], 1, np.full(2, -1), whole.copy(), whole.copy())
