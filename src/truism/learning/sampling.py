"""Which rows of a large table stand for all: the number of rows goes in, row numbers come out.

A row's place in the sample depends on its number alone, so that every driver and every division into
parts chooses the same rows, and rows with equal values are chosen independently of each other.
"""

import numpy as np
from numpy.typing import NDArray

AT_ONCE = 1 << 22  # row numbers hashed at a time
_STEP = np.uint64(0x9E3779B97F4A7C15)


class Sample:
    """A uniform sample of a table's rows: those with the smallest hashes of their numbers.

    Parameters
    ----------
    n_rows
        The rows of the table.
    n_sampled
        The rows of the sample; all rows if there are not more.

    Examples
    --------
    >>> Sample(10, 3).rows(0, 10).size, Sample(2, 3).rows(0, 2).tolist()
    (3, [0, 1])

    """

    def __init__(self, n_rows: int, n_sampled: int) -> None:
        self.n_rows, self.size = n_rows, min(n_rows, n_sampled)
        self._last = _largest_of_smallest(n_rows, n_sampled) if n_sampled < n_rows else None

    def rows(self, first: int, end: int) -> NDArray[np.int64]:
        """Return the numbers of the sampled rows from `first` to before `end`."""
        if self._last is None:
            return np.arange(first, end)
        return np.flatnonzero(hash_rows(first, end) <= self._last) + first


def hash_rows(first: int, end: int) -> NDArray[np.uint64]:
    """Hash row numbers; no two of them have the same hash."""
    mixed = np.arange(first + 1, end + 1, dtype=np.uint64) * _STEP
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _largest_of_smallest(n_rows: int, n_sampled: int) -> np.uint64:
    """Return the largest of the `n_sampled` smallest hashes."""
    smallest = np.empty(0, np.uint64)
    for first in range(0, n_rows, AT_ONCE):
        found = hash_rows(first, min(first + AT_ONCE, n_rows))
        if len(smallest) == n_sampled:
            found = found[found < smallest.max()]
        smallest = np.concatenate([smallest, found])
        if len(smallest) > n_sampled:
            smallest = np.partition(smallest, n_sampled - 1)[:n_sampled]
    return np.uint64(smallest.max())
