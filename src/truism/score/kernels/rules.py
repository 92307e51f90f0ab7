"""Compiled loops that find broken rules.

Legend: ``w`` a word of 64 rows, ``u`` a unit rule; `holds` antecedents × words, in which rows each one
holds; `fails` words, in which rows the consequent fails.
"""

import numpy as np

from truism.score.kernels.compiling import inner, jit
from truism.score.kernels.words import first_bit, without_first_bit


@jit
def meet(true, antecedents, holds):
    """Note in which rows each antecedent holds: all of its predicates are true."""
    for a in range(antecedents.shape[0]):
        for w in range(true.shape[1]):
            holds[a, w] = true[antecedents[a, 0], w]
        for i in range(1, antecedents.shape[1]):
            p = antecedents[a, i]
            for w in range(true.shape[1]):
                holds[a, w] &= true[p, w]


@inner
def met(a, b):
    """Return whether any row is in both; without leaving early, so that several words go at once."""
    found = np.uint64(0)
    for w in range(a.size):
        found |= a[w] & b[w]
    return found != np.uint64(0)


@jit
def find_violated(holds, false, antecedents, consequents, starts, violated):
    """Note the consequents about which any rule is broken; unit rules of a consequent are adjacent."""
    for c in range(violated.size):
        fails = false[consequents[c]]
        for u in range(starts[c], starts[c + 1]):
            if met(holds[antecedents[u]], fails):
                violated[c] = True
                break


@jit
def list_strongest(holds, false, antecedents, worths, consequents, starts, rows, found, counts):
    """List for each consequent the rows that break rules about it, and what the first one is worth.

    Rules about a consequent are adjacent, in falling order of worth. `counts` is how many rows there
    are of each; those of the next follow.
    """
    n_found = 0
    left = np.empty(false.shape[1], np.uint64)
    for c in range(counts.size):
        counts[c] = -n_found
        left[:] = false[consequents[c]]
        for u in range(starts[c], starts[c + 1]):
            own = holds[antecedents[u]]
            if not met(own, left):
                continue
            for w in range(left.size):
                hit = own[w] & left[w]
                left[w] ^= hit
                while hit:
                    rows[n_found] = 64 * w + first_bit(hit)
                    found[n_found] = worths[u]
                    n_found += 1
                    hit = without_first_bit(hit)
        counts[c] += n_found


@jit
def add_counts(holds, fails, antecedents, counts, found):
    """Add for each row the counts of the rules that it breaks: whole numbers, in any order."""
    for u in range(antecedents.size):
        own = holds[antecedents[u]]
        if not met(own, fails):
            continue
        for w in range(fails.size):
            hit = own[w] & fails[w]
            while hit:
                found[64 * w + first_bit(hit)] += counts[u]
                hit = without_first_bit(hit)


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    words, whole, found = np.ones((1, 1), np.uint64), np.zeros(1, np.int64), np.zeros(64)
    meet(words, whole[:, None], words)
    find_violated(words, words, whole, whole, np.arange(2), np.zeros(1, np.bool_))
    list_strongest(
        words, words, whole, found[:1], whole, np.arange(2), np.arange(64), found, whole.copy()
    )
    add_counts(words, words[0], whole, found[:1], found)
