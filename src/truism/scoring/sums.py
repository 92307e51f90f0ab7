"""Sums that do not depend on how many rows are summed at once."""

import numpy as np
from numpy.typing import NDArray


def sum_of_rows(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum variable by variable, so that a row scores the same alone and in a table."""
    total = np.zeros(len(parts))
    for part in parts.T:
        total += part
    return total
