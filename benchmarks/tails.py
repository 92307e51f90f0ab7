"""ECOD and COPOD, scoring every row against the training rows alone.

PyOD's own `decision_function` adds the rows to score to the training rows and ranks them all together.
So a score depends on what else is scored: many similar anomalies hide one another, and on KDD Cup 99
AUC falls by a sixth. Here a row gets the score that PyOD gives it alone (except for its own part in the
skewness), as for every other method.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy.stats import skew

from benchmarks.encode import Matrix

Combine = Callable[[Matrix, Matrix, Matrix], Matrix]


def ecod(left: Matrix, right: Matrix, skewed: Matrix) -> Matrix:
    """The largest of the tails (Li et al. 2022)."""
    worst: Matrix = np.maximum(np.maximum(left, right), skewed)
    return worst


def copod(left: Matrix, right: Matrix, skewed: Matrix) -> Matrix:
    """The tail on the side of the skew, or the mean of both (Li et al. 2020)."""
    worst: Matrix = np.maximum(skewed, (left + right) / 2)
    return worst


class Tails:
    """−ln of the tail probabilities of each column, combined and summed."""

    choice = ""

    def __init__(self, combine: Combine) -> None:
        self.combine = combine

    def fit(self, train: Matrix) -> None:
        """Sort the columns, and find the side to which each is skewed."""
        self.columns = np.sort(train, axis=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # constant columns have no skewness
            self.side = np.sign(np.nan_to_num(skew(train, axis=0)))

    def score(self, test: Matrix) -> Matrix:
        """The sum over columns."""
        return np.asarray(self.parts(test).sum(axis=1), dtype=np.float64)

    def parts(self, test: Matrix) -> Matrix:
        """Rows × columns."""
        n_rows = len(self.columns) + 1
        left, right = np.empty_like(test), np.empty_like(test)
        for place, known in enumerate(self.columns.T):
            values = test[:, place]
            left[:, place] = np.searchsorted(known, values, "right") + 1
            right[:, place] = n_rows - np.searchsorted(known, values, "left")
        left, right = -np.log(left / n_rows), -np.log(right / n_rows)
        skewed = np.where(self.side <= 0, left, 0.0) + np.where(self.side >= 0, right, 0.0)
        return self.combine(left, right, skewed)
