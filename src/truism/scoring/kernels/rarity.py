"""A compiled loop that sets values aside that cannot be rare."""

import numpy as np

from truism.scoring.kernels.compiling import jit


@jit
def find_suspects(values, bounds, rows, counts):
    """List the rows in which each number lies outside both pairs of bounds, one after the other.

    `bounds` are two pairs, low and high, × numbers; `counts` is how many rows there are of each.
    """
    n_found = 0
    for i in range(values.shape[0]):
        counts[i] = -n_found
        (low, high), (other_low, other_high) = bounds[0, :, i], bounds[1, :, i]
        for r in range(values.shape[1]):
            value = values[i, r]
            usual = (value >= low) & (value <= high) | (value >= other_low) & (value <= other_high)
            rows[n_found] = r
            n_found += not usual
        counts[i] += n_found


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    find_suspects(np.ones((1, 1)), np.ones((2, 2, 1)), *np.zeros((2, 1), np.int64))
