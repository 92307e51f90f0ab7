"""How precisely numbers were written: values go in, how many decimals they have comes out."""

import functools
from collections.abc import Sequence

import numpy as np

from truism.arrays import Floats, Rows

MAX_DECIMALS = 9
FINE = MAX_DECIMALS + 1


def decimals_of(values: Sequence[float]) -> int:
    """Return how many decimals values have, up to `MAX_DECIMALS`."""
    found = decimals_up_to(np.array(values, np.float64), MAX_DECIMALS - 1)
    return min(int(found.max(initial=0)), MAX_DECIMALS)


def decimals_up_to(values: Floats, most: int) -> Rows:
    """Return how many decimals each value has; `FINE` if it has more than `most`.

    >>> decimals_up_to(np.array([3.0, 0.25, 0.125]), 2).tolist() == [0, 2, FINE]
    True
    """
    return functools.reduce(
        lambda found, decimals: np.where(np.round(values, decimals) == values, decimals, found),
        range(most, -1, -1),
        np.full(len(values), FINE),
    )
