"""The compiled loop that grows contexts, and nothing else; imported only for learning.

Legend: ``i`` a row, ``v`` a variable, ``c`` its code, ``k`` a target. It releases the GIL, touches
only its arguments and sums whole numbers.
"""

from typing import Any

import numba
import numpy as np

jit: Any = numba.njit(nogil=True, cache=True)


@jit
def tabulate(codes, rows, members, targets, counts, sums):
    """Count the rows with each code of each member variable, and sum their targets."""
    for i in rows:
        for v in range(members.size):
            c = codes[i, members[v]]
            counts[v, c] += 1
            for k in range(targets.shape[1]):
                sums[v, c, k] += targets[i, k]


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole = np.zeros(1, np.int64)
    table = np.zeros((1, 1), np.int64)
    codes, targets = np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.int32)
    tabulate(codes, whole, whole, targets, table, table.reshape(1, 1, 1))
