"""What the searches for rules share: the predicates, limits, and what has been found.

Legend: ``T`` and ``F`` the rows in which predicates are true and false (predicates from rare to
frequent × words). If rows form several blocks, each of which ends with a word of ``ends``, the searches
find the rules that exactly one block breaks, although their consequent fails in other blocks too, and
count the rows of the others. Otherwise they find the rules that no row breaks.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truism.scoring.kernels.compiling import inner

FOUND, NODES, MORE = (
    0,
    1,
    2,
)  # places in a tally: rules found, nodes searched, whether longer ones may exist


class Predicates(NamedTuple):
    """Predicates from rare to frequent: their rows, blocks of rows, and numbers of variables.

    `known` says that no predicate is unknown in any row. Rows of words from `counted` on refute rules
    but support none.
    """

    T: NDArray[np.uint64]
    F: NDArray[np.uint64]
    ends: NDArray[np.int64]
    group: NDArray[np.int64]
    known: bool
    counted: int


class Limits(NamedTuple):
    """The smallest admitted count of a rule, and when a search is given up."""

    least: int
    max_nodes: int
    max_found: int


@inner
def note(found, tally, rule, path):
    """Note a rule, (consequent, count, block), with the predicates of the path; make room if need be."""
    n_found = tally[FOUND]
    if n_found == found.shape[0]:
        more = np.empty((2 * n_found, found.shape[1]), found.dtype)
        more[:n_found] = found
        found = more
    found[n_found, 0], found[n_found, 1], found[n_found, 2] = rule
    found[n_found, 3:] = path[1:]
    tally[FOUND] += 1
    return found


@inner
def is_over(tally, limits):
    """Tell whether a search has gone beyond its limits."""
    return tally[NODES] > limits.max_nodes or tally[FOUND] > limits.max_found
