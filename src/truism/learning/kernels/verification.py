"""The compiled loop that checks candidate rules against rows; imported only for learning.

Legend: ``k`` a rule, ``w`` a word, ``d`` a place in an antecedent; ``T`` and ``F`` as in `predicates`.
"""

import numpy as np

from truism.learning.kernels.bits import first_bit, popcount, without_first_bit
from truism.scoring.kernels.compiling import jit


@jit
def verify(T, F, antecedents, consequents, first, counts, broken, rows):
    """Count the rows that support each rule and those that break it, and list the first of these.

    Antecedents are padded with -1, and rules with the same one should follow each other. `first` is the
    number of the first row. What is found is written to `counts`, `broken` and `rows`.
    """
    held = np.empty(T.shape[1], np.uint64)
    for k in range(consequents.size):
        anew = k == 0
        for d in range(antecedents.shape[1]):
            anew = anew or antecedents[k, d] != antecedents[k - 1, d]
        if anew:
            held[:] = T[antecedents[k, 0]]
            for d in range(1, antecedents.shape[1]):
                if antecedents[k, d] >= 0:
                    for w in range(held.size):
                        held[w] &= T[antecedents[k, d], w]
        p = consequents[k]
        n_listed = 0
        for w in range(held.size):
            counts[k] += popcount(held[w] & T[p, w])
            left = held[w] & F[p, w]
            broken[k] += popcount(left)
            while left and n_listed < rows.shape[1]:
                rows[k, n_listed] = first + 64 * w + first_bit(left)
                left = without_first_bit(left)
                n_listed += 1


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    bits, whole = np.ones((2, 1), np.uint64), np.zeros(1, np.int64)
    verify(
        bits, bits, np.zeros((1, 1), np.int64), whole, 0, whole.copy(), whole.copy(), whole[None]
    )
