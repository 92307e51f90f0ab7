"""How often normal rows form incidents: the excess of rows goes in, a `Tail` comes out."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.arrays import Rows
from truism.model.series import Tail

GAP = 5  # rows below a level that may lie within an incident
LEVEL = 0.9  # share of the rows below the level from which on incidents are counted
MIN_SCALE = 1e-9


def group_rows(rows: Rows, gap: int) -> list[Rows]:
    """Divide ascending rows wherever more than `gap` other rows lie between two of them.

    >>> [group.tolist() for group in group_rows(np.array([1, 2, 5, 9]), 2)]
    [[1, 2, 5], [9]]
    """
    if not len(rows):
        return []
    return np.split(rows, np.flatnonzero(np.diff(rows) > gap + 1) + 1)


def fit_tail(levels: NDArray[np.float64], runs: Sequence[Rows], gap: int = GAP) -> Tail:
    """Find how much rarer higher incidents of normal rows are.

    The uppermost tenth of the rows forms incidents; by how much their peaks rise above it on average
    is the scale of the law.

    Parameters
    ----------
    levels
        One number for each row: its excess, or what it scores.
    runs
        Which rows follow each other.
    gap
        How many lower rows may lie within an incident.

    """
    level = four_digits(float(np.quantile(levels, LEVEL)))
    peaks = np.array(
        [
            levels[rows[group]].max()
            for rows in runs
            for group in group_rows(np.flatnonzero(levels[rows] > level), gap)
        ]
    )
    excess = float(np.mean(peaks)) - level if len(peaks) else 0.0
    return Tail(level, max(four_digits(excess), MIN_SCALE), len(peaks), len(levels))


def four_digits(value: float) -> float:
    """Return a number as it is kept in a model."""
    return float(f"{value:.4g}")
