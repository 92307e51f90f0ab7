"""The compiled loops that grow the trees that propose cut-offs; imported only for learning.

KDD'23, section 4.1.2. Legend: ``n`` rows, ``f`` a variable, ``b`` a bin, ``h`` a histogram (variables
× bins × classes, or × 1 for packed sums) or that of one variable, ``k`` a class, ``q`` a gain times
rows. Everything is summed in whole numbers, so that neither the order of rows nor the number of threads
can change a result. Every function releases the GIL and touches only its arguments.

A node of a tree lies scattered in a table that no cache holds. Waiting for each row in turn takes
several times as long as the work on it, and the larger the table the longer: learning time would grow
faster than the number of rows. So memory is asked for what will be needed soon (`prefetch`); numba has
no such function, LLVM has.
"""

from typing import NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from truism.learn.kernels.mining import counts, table
from truism.score.kernels.compiling import inner, jit

AHEAD = 16  # rows between asking memory for a row and using it
LOG_SCALE = 1 << 20  # x·log2(x) is tabulated in units of 1/LOG_SCALE


class Bins(NamedTuple):
    """Bins per row and variable, as bytes, one or two (`wide`) for each; bin ``n_bins[f]`` is missing.

    `width` is the largest number of bins, with that of missing values. Of small tables, `order` has for
    each variable the rows in the order of their bins, if all have one; see `is_ordered`.
    """

    binned: NDArray[np.uint8]
    n_bins: NDArray[np.int64]
    width: int
    wide: bool
    order: NDArray[np.uint16]
    is_ordered: NDArray[np.bool_]


class Target(NamedTuple):
    """What a tree predicts: class numbers; or, when `n_classes` is 0, fixed-point numbers.

    Numbers stand above `count_bits` bits that count the row, so that one sum is of both. `xlogx` holds
    x·log2(x) in units of ``1 / LOG_SCALE``. `skip` is the variable that is the target itself, or -1.
    """

    values: NDArray[np.int64]
    n_classes: int
    count_bits: int
    xlogx: NDArray[np.int64]
    skip: int


def prefetch(cells, i):
    """Ask for a cell and go on (this body runs only when compilation is switched off)."""


@overload(prefetch)
def _compiled_prefetch(cells, i):  # noqa: ARG001
    return lambda cells, i: _prefetch(cells, i)


@intrinsic
def _prefetch(typing, cells, i):  # noqa: ARG001
    def emit(context, builder, signature, arguments):
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        cell = cgutils.get_item_pointer(context, builder, kind, array, arguments[1:])
        address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        called = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        request = builder.module.declare_intrinsic("llvm.prefetch", [address], called)
        to_read, keep, data = number(0), number(3), number(1)
        builder.call(request, [builder.bitcast(cell, address), to_read, keep, data])
        return context.get_dummy_value()

    return numba.void(cells, numba.intp), emit


@inner
def fetch(binned, values, row):
    """Ask memory for all of a row."""
    prefetch(binned[row], 0)
    prefetch(binned[row], binned.shape[1] - 1)
    prefetch(values, row)


@inner
def bin_in(row, f, wide):
    """Read a bin number: one byte, or two where some variable has more than 255 bins.

    Tables of either width are bytes here, so that everything is compiled once; the compiler takes
    the test of `wide` out of the loops.
    """
    if wide:
        return np.int64(row[2 * f]) + 256 * np.int64(row[2 * f + 1])
    return np.int64(row[f])


@inner
def add_rows(h, bins, rows, target, sign):
    """Add counts of classes, or packed counts and target sums, per bin, or take them away."""
    binned, wide, values, has_classes = bins.binned, bins.wide, target.values, target.n_classes > 0
    for i in range(rows.size):
        fetch(binned, values, rows[min(i + AHEAD, rows.size - 1)])
        row, value = binned[rows[i]], values[rows[i]]
        k = value if has_classes else np.int64(0)
        amount = sign if has_classes else sign * value
        for f in range(h.shape[0]):
            h[f, bin_in(row, f, wide), k] += amount


@inner
def cut_sums(h, n_bins, count_bits, min_leaf, least):
    """Find the cut of one variable that reduces variance most, by more than `least`: q, bin, rows.

    The rows are those of the smaller side; the bin is -1 for no cut. A cell holds a sum of targets
    above `count_bits` bits of count. Means that differ by no more than one unit of the fixed point may
    be equal, so such a cut gains nothing.
    """
    mask = (np.int64(1) << count_bits) - 1
    best, best_b, best_size = least, -1, np.int64(0)
    node = np.int64(0)
    for b in range(n_bins):
        node += h[b, 0]
    n, s = node & mask, node >> count_bits
    packed = np.int64(0)
    for b in range(n_bins - 1):
        if h[b, 0] == 0:
            continue
        packed += h[b, 0]
        left = packed & mask
        right = n - left
        if right < min_leaf:
            break
        if left < min_leaf:
            continue
        left_sum = packed >> count_bits
        gap = np.float64(left_sum) * right - np.float64(s - left_sum) * left
        both = np.float64(left) * right
        q = gap * gap / (both * n)
        if q > best and abs(gap) > both:
            best, best_b, best_size = q, b, min(left, right)
    return best, best_b, best_size


@inner
def deal(bins, rows, values, f, in_bin_order):
    """Put the classes of rows in the order of their bins; return where each bin starts."""
    n_bins = bins.n_bins[f]
    first, place = counts(n_bins + 2), counts(n_bins + 2)
    for i in range(rows.size):
        first[bin_in(bins.binned[rows[i]], f, bins.wide) + 1] += 1
    for b in range(n_bins + 1):
        first[b + 1] += first[b]
        place[b + 1] = first[b + 1]
    for i in range(rows.size):
        b = bin_in(bins.binned[rows[i]], f, bins.wide)
        in_bin_order[place[b]] = values[rows[i]]
        place[b] += 1
    return first


@inner
def cut_classes(h, dealt, first, n_bins, target, min_leaf, least):
    """Find the cut of one variable that reduces entropy most, by more than `least`: q, bin, rows.

    Classes are counted in `h`; if that is empty, `dealt` in the order of bins, which start at `first`.
    """
    xlogx, tabled = target.xlogx, h.size > 0
    best, best_b, best_size = least, -1, np.int64(0)
    left_of, right_of = counts(target.n_classes), counts(target.n_classes)
    for i in range(0 if tabled else first[n_bins]):
        right_of[dealt[i]] += 1
    for b in range(n_bins if tabled else 0):
        for k in range(right_of.size):
            right_of[k] += h[b, k]
    node, right = np.int64(0), np.int64(0)
    for k in range(right_of.size):
        right += right_of[k]
        node += xlogx[right_of[k]]
    n, left, x_left, x_right = right, np.int64(0), np.int64(0), node
    for b in range(n_bins - 1):
        start, end = (np.int64(0), right_of.size) if tabled else (first[b], first[b + 1])
        for i in range(start, end):
            k, c = (np.int64(i), h[b, i]) if tabled else (dealt[i], np.int64(1))
            if c:
                x_left += xlogx[left_of[k] + c] - xlogx[left_of[k]]
                x_right += xlogx[right_of[k] - c] - xlogx[right_of[k]]
                left_of[k] += c
                right_of[k] -= c
                left += c
        right = n - left
        if right < min_leaf:
            break
        if left < min_leaf:
            continue
        q = np.float64(xlogx[n] - node - (xlogx[left] - x_left) - (xlogx[right] - x_right))
        if q > best:
            best, best_b, best_size = q, b, min(left, right)
    return best, best_b, best_size


@inner
def best_split(h, bins, rows, target, min_leaf):
    """Find the first of the best splits: gain times rows, variable, bin, rows of the smaller side.

    Without room for a histogram classes are counted by sorting. What half a unit too much in each
    tabulated number could add up to is no gain.
    """
    n_classes = target.n_classes
    sorts = n_classes > 0 and h.size == 0
    dealt, first = counts(rows.size if sorts else 0), counts(0)
    best = np.float64(n_classes * 3 // 2 + 2) if n_classes > 0 else 0.0
    best_f, best_b, best_size = -1, -1, np.int64(0)
    for f in range(bins.n_bins.size):
        if f == target.skip:
            continue
        own = h[0 if sorts else f]
        if n_classes == 0:
            q, b, size = cut_sums(own, bins.n_bins[f], target.count_bits, min_leaf, best)
        else:
            if sorts:
                first = deal(bins, rows, target.values, f, dealt)
            q, b, size = cut_classes(own, dealt, first, bins.n_bins[f], target, min_leaf, best)
        if b >= 0:
            best, best_f, best_b, best_size = q, f, b, size
    return best / LOG_SCALE if n_classes > 0 else best, best_f, best_b, best_size


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
def histogram(shape):
    """Make room for a histogram."""
    return np.zeros(shape, np.int64)


@inner
def describe(node, room, bins, target):
    """Return the histogram of a node, if there is room for one.

    A large node has a histogram of its own, which a child may inherit.
    """
    if node.h.size > 0 or room.size == 0:
        return node.h if node.h.size > 0 else room
    h = room
    if node.rows.size >= bins.width:
        h = histogram(room.shape)
    else:
        h.fill(0)
    add_rows(h, bins, node.rows, target, np.int64(1))
    return h


@inner
def bequeath(h, children, bins, target, least):
    """Give a large child its histogram, the parent's less those of all other rows; it is used up.

    Children are the larger, the smaller and rows in neither; those with fewer than `least` rows, and
    all where the parent has no histogram, are given nothing.
    """
    larger, smaller, neither = children
    nothing = histogram((0, 0, 0))
    if h.size == 0 or larger.size < max(bins.width, least):
        return nothing, nothing
    add_rows(h, bins, neither, target, np.int64(-1))
    if smaller.size < max(bins.width, least):
        add_rows(h, bins, smaller, target, np.int64(-1))
        return h, nothing
    h_smaller = histogram(h.shape)
    add_rows(h_smaller, bins, smaller, target, np.int64(1))
    for f in range(h.shape[0]):
        for b in range(h.shape[1]):
            for k in range(h.shape[2]):
                h[f, b, k] -= h_smaller[f, b, k]
    return h, h_smaller


@jit
def grow_tree(bins, target, rows, min_leaves, tabled):
    """Grow one tree for several minimum leaf sizes, ascending, at once.

    Trees share their nodes for as long as they choose the same splits. Where a histogram would be too
    large to be `tabled`, classes are counted by sorting. Return a row per split: variable, bin, first and
    last position in `min_leaves`; and the gains, not yet divided by the number of rows.
    """
    shape = (bins.n_bins.size, bins.width, max(1, target.n_classes))
    room = histogram(shape if tabled else (1, 0, 0))
    stack = [Node(rows, histogram((0, 0, 0)), 0, min_leaves.size)]
    n_splits, most = 0, 0
    for least in min_leaves:
        most += rows.size // least
    splits, gains = table(most, 4), np.empty(most)
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
            splits[n_splits, 0], splits[n_splits, 1] = f, b
            splits[n_splits, 2], splits[n_splits, 3] = first, shared - 1
            gains[n_splits] = q
            n_splits += 1
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
    return splits[:n_splits], gains[:n_splits]


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole = np.zeros(1, np.int64)
    order, no = np.zeros((1, 1), np.uint16), np.zeros(1, np.bool_)
    bins = Bins(np.zeros((1, 1), np.uint8), whole + 1, 2, False, order, no)
    grow_tree(bins, Target(whole, 0, 1, whole, -1), np.zeros(1, np.int32), whole + 1, True)
