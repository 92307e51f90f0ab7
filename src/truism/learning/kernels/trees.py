"""The compiled loops that grow the trees that propose cut-offs; imported only for learning.

KDD'23, section 4.1.2. The legend is that of `splits`. Every function releases the GIL and touches only
its arguments.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truism.learning.kernels.prefetch import prefetch
from truism.learning.kernels.splits import (
    AHEAD,
    Bins,
    Target,
    add_rows,
    bin_in,
    split_classes,
    split_many_classes,
    split_sums,
)
from truism.scoring.kernels.compiling import inner, jit


class Node(NamedTuple):
    """Rows, their histogram if known, and the leaf sizes, from first to before last, to split for."""

    rows: NDArray[np.int32]
    h: NDArray[np.int64]
    first: int
    last: int


@inner
def part(rows, bins, f, b):
    """Divide rows into left of the cut, right of it, and missing the split variable."""
    binned, wide, n_bins = bins.binned, bins.wide, bins.n_bins[f]
    left = np.empty(rows.size, rows.dtype)
    right = np.empty(rows.size, rows.dtype)
    neither = np.empty(rows.size, rows.dtype)
    i_left, i_right, i_neither = 0, 0, 0
    for i in range(rows.size):
        prefetch(binned[rows[min(i + AHEAD, rows.size - 1)]], 2 * f if wide else f)
        bin_ = bin_in(binned[rows[i]], f, wide)
        # Written to all three and counted in one: a branch here would be guessed wrong too often.
        left[i_left] = right[i_right] = neither[i_neither] = rows[i]
        i_left += bin_ <= b
        i_right += b < bin_ < n_bins
        i_neither += bin_ >= n_bins
    return left[:i_left].copy(), right[:i_right].copy(), neither[:i_neither].copy()


@inner
def describe(node, room, bins, target):
    """Return the histogram of a node, or room for that of one variable where all would be too large.

    A large node has a histogram of its own, which a child may inherit.
    """
    if node.h.size > 0 or room.shape[0] < bins.n_bins.size:
        return node.h if node.h.size > 0 else room
    h = room
    if node.rows.size >= bins.width:
        h = np.zeros(room.shape, np.int64)
    else:
        h[:] = 0
    add_rows(h, bins, node.rows, target, np.int64(1))
    return h


@inner
def bequeath(h, children, bins, target, least):
    """Give a large child its histogram, the parent's less those of all other rows; it is used up.

    Children are the larger, the smaller and rows in neither; those with fewer than `least` rows, and
    all where the parent has no histogram, are given nothing.
    """
    larger, smaller, neither = children
    nothing = np.zeros((0, 0, 0), np.int64)
    if h.shape[0] < bins.n_bins.size or larger.size < max(bins.width, least):
        return nothing, nothing
    add_rows(h, bins, neither, target, np.int64(-1))
    if smaller.size < max(bins.width, least):
        add_rows(h, bins, smaller, target, np.int64(-1))
        return h, nothing
    h_smaller = np.zeros(h.shape, np.int64)
    add_rows(h_smaller, bins, smaller, target, np.int64(1))
    h -= h_smaller
    return h, h_smaller


@inner
def best_split(h, bins, rows, target, min_leaf):
    """Find the best split of rows: gain times rows, variable, bin, and the rows of the smaller side.

    Without room for a histogram classes are counted by sorting.
    """
    if target.n_classes == 0:
        return split_sums(h, bins, target, min_leaf)
    if h.size > 0:
        return split_classes(h, bins, rows, target, min_leaf)
    return split_many_classes(bins, rows, target, min_leaf)


@jit
def grow_tree(bins, target, rows, min_leaves, n_tabled):
    """Grow one tree for several minimum leaf sizes at once; return each node's split.

    Parameters
    ----------
    bins, target
        What is split by, and what is predicted.
    rows
        The rows that have a target.
    min_leaves
        Ascending; trees share their nodes for as long as they choose the same splits.
    n_tabled
        Of how many variables there is room for histograms: of all; of one, and classes are counted
        variable by variable; or of none, and classes are counted by sorting.

    Returns
    -------
    One row per split: variable, bin, first and last position in `min_leaves`; and the gains, not
    yet divided by the number of rows.

    """
    room = np.zeros((n_tabled, bins.width, max(1, target.n_classes)), np.int64)
    stack = [Node(rows, np.zeros((0, 0, 0), np.int64), 0, min_leaves.size)]
    splits, gains = [(-1, -1, -1, -1)], [0.0]  # the first ones are there for their types
    while len(stack) > 0:
        node = stack.pop()
        h = describe(node, room, bins, target)
        first, last = node.first, node.last
        while first < last and node.rows.size >= 2 * min_leaves[first]:
            while node.rows.size < 2 * min_leaves[last - 1]:
                last -= 1
            q, f, b, size = best_split(h, bins, node.rows, target, min_leaves[first])
            if f < 0:
                break
            shared = first
            while shared < last and min_leaves[shared] <= size:
                shared += 1
            splits.append((f, b, first, shared - 1))
            gains.append(q)
            left, right, neither = part(node.rows, bins, f, b)
            smaller, larger = (left, right) if left.size <= right.size else (right, left)
            least = 2 * min_leaves[first]
            # Other leaf sizes may still need the node's histogram.
            own = h.copy() if shared < last and larger.size >= max(bins.width, least) else h
            h_larger, h_smaller = bequeath(own, (larger, smaller, neither), bins, target, least)
            if larger.size >= least:
                stack.append(Node(larger, h_larger, first, shared))
            if smaller.size >= least:
                stack.append(Node(smaller, h_smaller, first, shared))
            first = shared
    found = np.array(splits)[1:]
    return found, np.array(gains)[1:]


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole = np.zeros(1, np.int64)
    order, no = np.zeros((1, 1), np.uint16), np.zeros(1, np.bool_)
    bins = Bins(np.zeros((1, 1), np.uint8), whole + 1, 2, False, order, no)
    grow_tree(bins, Target(whole, 0, 1, whole, -1), np.zeros(1, np.int32), whole + 1, 1)
