"""A compiled loop that standardises numbers.

Legend: ``i`` a variable, ``r`` a row.
"""

import numpy as np

from truism.score.kernels.compiling import jit

_TILE = 64  # rows of a table that is turned around, so that what is read and written stays near


@jit
def standardise(values, means, stds, most, found):
    """Note numbers in standard deviations from the mean; `values` is variables × rows, `found` not."""
    for first in range(0, values.shape[1], _TILE):
        last = min(first + _TILE, values.shape[1])
        for i in range(values.shape[0]):
            mean, std = means[i] * 0.5, stds[i]
            for r in range(first, last):
                distance = (values[i, r] * 0.5 - mean) / std * 2.0
                distance = most if distance > most else distance
                found[r, i] = -most if distance < -most else distance


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    one = np.ones(1)
    standardise(one[None], one, one, 1.0, np.ones((1, 1), np.float32))
