"""Compiled loops that pack the truth of predicates.

Legend: ``w`` a word of 64 rows, ``b`` a row of it, ``a`` a comparison, ``p`` a predicate.
"""

import numpy as np

from truism.score.kernels.compiling import jit

_BITS = np.uint64(1) << np.arange(64, dtype=np.uint64)
_NONE = np.uint64(0)


@jit
def compare(values, cuts, atoms):
    """Note which numbers are finite, and then which of those reach each cut-off."""
    for w in range(atoms.shape[1]):
        rows = values[64 * w : 64 * w + 64]
        finite = _NONE
        for b in range(rows.size):
            finite |= _BITS[b] if np.isfinite(rows[b]) else _NONE
        atoms[0, w] = finite
        for a in range(cuts.size):
            reached = _NONE
            for b in range(rows.size):
                reached |= _BITS[b] if rows[b] >= cuts[a] else _NONE
            atoms[a + 1, w] = reached & finite


@jit
def compare_states(codes, missing, equal, member, atoms):
    """Note which states are known, then which equal each of some, and which are in each set."""
    for w in range(atoms.shape[1]):
        rows = codes[64 * w : 64 * w + 64]
        known = _NONE
        for b in range(rows.size):
            known |= _BITS[b] if rows[b] != missing else _NONE
        atoms[0, w] = known
        for a in range(equal.size):
            same = _NONE
            for b in range(rows.size):
                same |= _BITS[b] if rows[b] == equal[a] else _NONE
            atoms[a + 1, w] = same
        for a in range(member.shape[0]):
            inside = _NONE
            for b in range(rows.size):
                inside |= _BITS[b] if member[a, rows[b]] else _NONE
            atoms[equal.size + a + 1, w] = inside


@jit
def assemble(atoms, lower, upper, known, wholes, true, false):
    """Note where predicates hold and fail: the lower comparison is true, the upper one is not.

    `wholes` is the predicate that each comparison makes; where it is one of several in a row, any may
    hold, and all must fail.
    """
    for p in range(lower.size):
        whole, goes_on = wholes[p], p > 0 and wholes[p] == wholes[p - 1]
        for w in range(atoms.shape[1]):
            holds = atoms[lower[p], w] & ~atoms[upper[p], w]
            fails = atoms[known[p], w] & ~holds
            true[whole, w] = true[whole, w] | holds if goes_on else holds
            false[whole, w] = false[whole, w] & fails if goes_on else fails


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    words, whole, numbers = np.zeros((2, 1), np.uint64), np.zeros(1, np.int64), np.zeros(1)
    compare(numbers, numbers, words)
    codes, member = np.zeros(1, np.int32), np.zeros((0, 1), np.bool_)
    compare_states(codes, -1, codes, member, words)
    assemble(words, whole, whole, whole, whole, words, words.copy())
