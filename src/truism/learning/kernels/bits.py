"""Words of 64 rows each, as the compiled loops read them: counting, meeting, listing.

Legend: ``a`` and ``b`` sets of rows, ``w`` a word, ``ends`` the words before which blocks of rows end.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from truism.learning.kernels.compiling import inner

NOWHERE, SEVERAL = -1, -2  # instead of the number of a block


def popcount(word: Any) -> int:
    """Count the bits of a word (this body runs only when compilation is switched off)."""
    return int(word).bit_count()


@overload(popcount)
def _compiled_popcount(word: Any) -> Any:  # noqa: ARG001
    def bit_tricks(word: Any) -> Any:
        x = np.uint64(word)
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + (
            (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
        )
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))

    return bit_tricks


@inner
def first_bit(word):
    """Return the place of the lowest bit that is set; there must be one."""
    return popcount((word & (~word + np.uint64(1))) - np.uint64(1))


@inner
def without_first_bit(word):
    """Take away the lowest bit that is set; there must be one."""
    return word & (word - np.uint64(1))


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
