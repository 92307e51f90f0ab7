"""How often predicates hold, as counts that add up over parts of a table.

Consecutive rows that fail a predicate form one episode. An episode may continue from one part into the
next, so the counts remember how each part begins and ends.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.scoring.bits import Words, count, count_runs


class PredicateCounts(msgspec.Struct, frozen=True, eq=False):
    """Counts of some predicates in consecutive rows, one entry for each predicate.

    Parameters
    ----------
    n_rows
        The number of rows.
    n_true, n_false
        Rows in which each predicate holds, and in which it fails.
    n_episodes
        Runs of rows in which it fails.
    fails_first, fails_last
        Whether it fails in the first and in the last row.

    """

    n_rows: int
    n_true: NDArray[np.int64]
    n_false: NDArray[np.int64]
    n_episodes: NDArray[np.int64]
    fails_first: NDArray[np.bool_]
    fails_last: NDArray[np.bool_]

    def __add__(self, other: "PredicateCounts") -> "PredicateCounts":
        """Return the counts of these rows followed by other rows."""
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        return PredicateCounts(
            self.n_rows + other.n_rows,
            self.n_true + other.n_true,
            self.n_false + other.n_false,
            self.n_episodes + other.n_episodes - (self.fails_last & other.fails_first),
            self.fails_first,
            other.fails_last,
        )


def count_predicates(true: Words, false: Words, n_rows: int) -> PredicateCounts:
    """Count in packed truth vectors, predicates × words."""
    none = np.zeros(len(true), np.bool_)
    first, last = none, none
    if n_rows:
        word, bit = divmod(n_rows - 1, 64)
        first = (false[:, 0] & np.uint64(1)).astype(np.bool_)
        last = (false[:, word] >> np.uint64(bit) & np.uint64(1)).astype(np.bool_)
    return PredicateCounts(n_rows, count(true), count(false), count_runs(false), first, last)
