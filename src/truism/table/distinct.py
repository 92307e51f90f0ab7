"""The distinct values of a column and how often each occurs: a summary that adds up over parts.

Whatever is learned of one number alone comes from this: its range, mean, histogram, bins and spacing.
"""

from weakref import WeakKeyDictionary

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.table.columns import Column

FEW_ROWS = 10_000  # of more, distinct values are remembered if they are a small part of the column


class Distinct(msgspec.Struct, frozen=True, eq=False):
    """Distinct values, ascending, and the count of each.

    They are distinct as float64, in which rules are written: two whole numbers beyond 2**53 may be one.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    def __add__(self, other: "Distinct") -> "Distinct":
        """Return the distinct values of both parts of a table."""
        values, places = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, places, np.concatenate([self.counts, other.counts]))
        return Distinct(values, counts)

    def cuts(self, max_bins: int) -> NDArray[np.int64]:
        """Divide the values into at most `max_bins` runs of about equal count.

        Returns the positions of the first value of each run after the first. A run's end is an order
        statistic found in whole numbers: neither rounding nor repeating all rows moves it.

        >>> Distinct(np.arange(4.0), np.array([1, 1, 1, 5])).cuts(2).tolist()
        [3]
        """
        counts = self.counts
        if len(counts) <= max_bins:
            return np.arange(1, len(counts))
        after = np.cumsum(counts) * max_bins
        before = after - counts * max_bins
        ranks = np.arange(1, max_bins, dtype=np.int64) * counts.sum()
        hit = np.searchsorted(after, ranks, side="left")
        # Of the two ends of the value at a rank the nearer one, so that a heavy value stands alone.
        cuts = np.unique(hit + (2 * ranks > before[hit] + after[hit]))
        return cuts[(cuts > 0) & (cuts < len(counts))]


_remembered: WeakKeyDictionary[Column, Distinct] = WeakKeyDictionary()


def distinct(column: Column) -> Distinct:
    """Return the distinct values of a column of numbers or booleans.

    Sorting is slow and several modules ask, so the answer is remembered for as long as the column
    exists, unless it is large.
    """
    remembered = _remembered.get(column)
    if remembered is not None:
        return remembered
    values, counts = np.unique(column.present.astype(np.float64), return_counts=True)
    # One zero, not two: -0.0 and 0.0 are the same number.
    result = Distinct(values + 0.0, counts.astype(np.int64, copy=False))
    for array in (result.values, result.counts):
        array.setflags(write=False)
    if len(column.values) <= FEW_ROWS or len(values) <= len(column.values) // 64:
        _remembered[column] = result
    return result
