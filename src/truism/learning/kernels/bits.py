"""Sets of rows as the compiled loops read them, words of 64 rows each: counting, meeting, listing.

Legend: ``a`` and ``b`` sets of rows, ``w`` a word, ``ends`` the words before which blocks of rows end.
"""

import numpy as np

from truism.scoring.kernels.compiling import inner
from truism.scoring.kernels.words import first_bit, popcount, without_first_bit

NOWHERE, SEVERAL = -1, -2  # instead of the number of a block


@inner
def count_and(a, b):
    """Count the rows in both."""
    total = np.int64(0)
    for i in range(a.size):
        total += popcount(a[i] & b[i])
    return total


@inner
def count_first(a, b, n):
    """Count the rows in both, of the first `n` words."""
    total = np.int64(0)
    for i in range(n):
        total += popcount(a[i] & b[i])
    return total


@inner
def meets(a, b):
    """Tell whether any row is in both."""
    for i in range(a.size):  # noqa: SIM110
        if a[i] & b[i]:
            return True
    return False


@inner
def start_of(block, ends):
    """Return the first word of a block."""
    return ends[block - 1] if block > 0 else 0


@inner
def block_met(a, b, ends):
    """Tell in which block there are rows in both: its number, or NOWHERE, or SEVERAL."""
    where, w = NOWHERE, 0
    for block in range(ends.size):
        while w < ends[block]:
            if a[w] & b[w]:
                if where != NOWHERE:
                    return SEVERAL
                where = block
                break
            w += 1
        w = ends[block]
    return where


@inner
def count_outside(a, b, ends, block, counted):
    """Count the rows in both, of the words that count, but for those of one block."""
    total = count_first(a, b, counted)
    if block != NOWHERE:
        for w in range(start_of(block, ends), ends[block]):
            total -= popcount(a[w] & b[w])
    return total


@inner
def rows_in(words):
    """List the rows whose bit is set."""
    rows = np.empty(count_and(words, words), np.int64)
    n = 0
    for w in range(words.size):
        left = words[w]
        while left:
            rows[n] = 64 * w + first_bit(left)
            left = without_first_bit(left)
            n += 1
    return rows
