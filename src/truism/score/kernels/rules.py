"""The compiled loop that finds broken rules.

Legend: ``u`` a unit rule, ``a`` an antecedent, ``j`` one of its predicates, ``w`` a word of 64 rows,
``b`` a row in it.
"""

import numpy as np

from truism.score.kernels.compiling import inner, jit

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@inner
def met(a, b):
    """Return whether any row is in both; without leaving early, so that several words go at once."""
    found = np.uint64(0)
    for w in range(a.size):
        found |= a[w] & b[w]
    return found != np.uint64(0)


@jit
def list_broken(true, false, antecedents, rules, order, strongest, holds, left, found):
    """List unit rules and rows that break them; of each consequent only the first one if `strongest`.

    `rules` are the antecedent and the consequent of each, looked at in an order in which those of a
    consequent follow each other; `holds` is room for a set for each antecedent, and `left` for one more.
    Return how many there are, of which as many are listed as there is room for in `found`.
    """
    for a in range(holds.shape[0]):
        for j in range(antecedents.shape[1]):
            rows = true[antecedents[a, j]]
            for w in range(left.size):
                holds[a, w] = rows[w] & (holds[a, w] if j else _ALL)
    n_found, last = 0, -1
    for place in range(order.size):
        u = order[place]
        if rules[1, u] != last:
            last = rules[1, u]
            for w in range(left.size):
                left[w] = false[last, w]
        meets = holds[rules[0, u]]
        if not met(meets, left):
            continue
        for w in range(left.size):
            hit = meets[w] & left[w]
            if hit and strongest:
                left[w] ^= hit
            b = 0
            while hit:
                if hit & np.uint64(1):
                    if n_found < found.shape[1]:
                        found[0, n_found], found[1, n_found] = u, 64 * w + b
                    n_found += 1
                hit >>= np.uint64(1)
                b += 1
    return n_found
