"""The compiled loop that finds broken rules.

Legend: ``u`` a unit rule, ``a`` an antecedent, ``p`` a predicate, ``w`` a word of 64 rows, ``b`` a row in
it.
"""

import numpy as np

from truism.score.kernels.compiling import inner, jit

_BITS = np.uint64(1) << np.arange(64, dtype=np.uint64)


@inner
def met(a, b):
    """Return whether any row is in both; without leaving early, so that several words go at once."""
    found = np.uint64(0)
    for w in range(a.size):
        found |= a[w] & b[w]
    return found != np.uint64(0)


@inner
def doubled(values):
    """Return values with as much room again."""
    found = np.empty(2 * values.size, np.int64)
    for i in range(values.size):  # a slice would compile four times as long
        found[i] = values[i]
    return found


@jit
def list_broken(true, false, antecedents, antecedent_of, consequent_of, order, strongest):
    """List unit rules and rows that break them; of each consequent only the first one if `strongest`.

    Rules are looked at in an order in which those of a consequent follow each other.
    """
    n_words, n_found, last = true.shape[1], 0, -1
    holds = np.empty((antecedents.shape[0], n_words), np.uint64)
    for a in range(antecedents.shape[0]):
        for w in range(n_words):
            holds[a, w] = true[antecedents[a, 0], w]
        for p in antecedents[a, 1:]:
            for w in range(n_words):
                holds[a, w] &= true[p, w]
    units, rows = np.empty(64, np.int64), np.empty(64, np.int64)
    left = np.empty(n_words, np.uint64)
    for u in order:
        if consequent_of[u] != last:
            last = consequent_of[u]
            for w in range(n_words):
                left[w] = false[last, w]
        meets = holds[antecedent_of[u]]
        if not met(meets, left):
            continue
        for w in range(n_words):
            hit = meets[w] & left[w]
            if hit == np.uint64(0):
                continue
            if strongest:
                left[w] ^= hit
            if n_found + 64 > units.size:
                units, rows = doubled(units), doubled(rows)
            for b in range(64):
                if hit & _BITS[b]:
                    units[n_found], rows[n_found] = u, 64 * w + b
                    n_found += 1
    return units[:n_found], rows[:n_found]
