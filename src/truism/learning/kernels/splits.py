"""The compiled loops that find the best split of some rows; imported only for learning.

KDD'23, section 4.1.2. Legend: ``n`` rows, ``f`` a variable, ``b`` a bin, ``h`` a histogram (variables
× bins × classes, or × 1 for packed sums) or that of one variable, ``k`` a class, ``q`` a gain times
rows. Everything is summed in whole numbers, so that neither the order of rows nor the number of threads
can change a result.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truism.learning.kernels.prefetch import prefetch
from truism.scoring.kernels.compiling import inner

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
def add_sums(h, bins, rows, values, sign):
    """Add packed counts and target sums per bin of every variable."""
    binned, wide = bins.binned, bins.wide
    for i in range(rows.size):
        fetch(binned, values, rows[min(i + AHEAD, rows.size - 1)])
        row = binned[rows[i]]
        packed = sign * values[rows[i]]
        for f in range(h.shape[0]):
            h[f, bin_in(row, f, wide), 0] += packed


@inner
def add_classes(h, bins, rows, values, sign):
    """Add class counts per bin of every variable."""
    binned, wide = bins.binned, bins.wide
    for i in range(rows.size):
        fetch(binned, values, rows[min(i + AHEAD, rows.size - 1)])
        row = binned[rows[i]]
        k = values[rows[i]]
        for f in range(h.shape[0]):
            h[f, bin_in(row, f, wide), k] += sign


@inner
def add_rows(h, bins, rows, target, sign):
    """Add rows to a histogram, or take them away."""
    if target.n_classes == 0:
        add_sums(h, bins, rows, target.values, sign)
    else:
        add_classes(h, bins, rows, target.values, sign)


@inner
def add_to_one(h, bins, rows, target, f):
    """Add rows to an empty histogram of one variable."""
    binned, wide, values = bins.binned, bins.wide, target.values
    h[: bins.n_bins[f] + 1] = 0
    for i in range(rows.size):
        b = bin_in(binned[rows[i]], f, wide)
        if target.n_classes == 0:
            h[b, 0] += values[rows[i]]
        else:
            h[b, values[rows[i]]] += 1


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
def gain_of(xlogx, left, right, x_node, x_left, x_right):
    """Return the entropy reduction times rows, given the classes' x·log2(x) of a node and both sides."""
    of_node = xlogx[left + right] - x_node
    return of_node - (xlogx[left] - x_left) - (xlogx[right] - x_right)


@inner
def cut_classes(h, n_bins, xlogx, min_leaf, least):
    """Find the cut of one variable that reduces entropy most, by more than `least`: q, bin, rows."""
    best, best_b, best_size = least, -1, np.int64(0)
    left_of, right_of = np.zeros(h.shape[1], np.int64), np.zeros(h.shape[1], np.int64)
    for b in range(n_bins):
        for k in range(right_of.size):
            right_of[k] += h[b, k]
    node, right = np.int64(0), np.int64(0)
    for k in range(right_of.size):
        right += right_of[k]
        node += xlogx[right_of[k]]
    left, x_left, x_right = np.int64(0), np.int64(0), node
    for b in range(n_bins - 1):
        for k in range(right_of.size):
            c = h[b, k]
            if c:
                x_left += xlogx[left_of[k] + c] - xlogx[left_of[k]]
                x_right += xlogx[right_of[k] - c] - xlogx[right_of[k]]
                left_of[k] += c
                right_of[k] -= c
                left += c
                right -= c
        if right < min_leaf:
            break
        if left < min_leaf:
            continue
        q = gain_of(xlogx, left, right, node, x_left, x_right)
        if q > best:
            best, best_b, best_size = q, b, min(left, right)
    return best, best_b, best_size


@inner
def no_gain(n_classes):
    """Return what half a unit too much in each tabulated number could add up to."""
    return np.int64(n_classes * 3 // 2 + 2)


@inner
def split_sums(h, bins, target, min_leaf):
    """Find the split with the largest variance reduction (times rows), first of equals."""
    best, best_f, best_b, best_size = 0.0, -1, -1, np.int64(0)
    for f in range(bins.n_bins.size):
        if f == target.skip:
            continue
        q, b, size = cut_sums(h[f], bins.n_bins[f], target.count_bits, min_leaf, best)
        if b >= 0:
            best, best_f, best_b, best_size = q, f, b, size
    return best, best_f, best_b, best_size


@inner
def split_classes(h, bins, rows, target, min_leaf):
    """Find the split with the largest entropy reduction (times rows), first of equals.

    `h` is the histogram of the rows, or room for that of one variable.
    """
    best, best_f, best_b, best_size = no_gain(target.n_classes), -1, -1, np.int64(0)
    in_turn = h.shape[0] < bins.n_bins.size
    for f in range(bins.n_bins.size):
        own = h[0 if in_turn else f]
        if in_turn:
            add_to_one(own, bins, rows, target, f)
        q, b, size = cut_classes(own, bins.n_bins[f], target.xlogx, min_leaf, best)
        if b >= 0:
            best, best_f, best_b, best_size = q, f, b, size
    return np.float64(best) / LOG_SCALE, best_f, best_b, best_size


@inner
def deal(bins, rows, values, f, in_bin_order):
    """Put the classes of rows in the order of their bins; return where each bin starts."""
    n_bins = bins.n_bins[f]
    first = np.zeros(n_bins + 2, np.int64)
    for i in range(rows.size):
        first[bin_in(bins.binned[rows[i]], f, bins.wide) + 1] += 1
    for b in range(n_bins + 1):
        first[b + 1] += first[b]
    place = first.copy()
    for i in range(rows.size):
        b = bin_in(bins.binned[rows[i]], f, bins.wide)
        in_bin_order[place[b]] = values[rows[i]]
        place[b] += 1
    return first


@inner
def cut_dealt(classes, first, target, min_leaf, least):
    """Do what `cut_classes` does with classes in the order of their bins, which start at `first`."""
    xlogx, n_bins = target.xlogx, first.size - 2
    best, best_b, best_size = least, -1, np.int64(0)
    left_of = np.zeros(target.n_classes, np.int64)
    right_of = np.zeros(target.n_classes, np.int64)
    for i in range(first[n_bins]):
        right_of[classes[i]] += 1
    node = np.int64(0)
    for k in range(right_of.size):
        node += xlogx[right_of[k]]
    x_left, x_right = np.int64(0), node
    for b in range(n_bins - 1):
        for i in range(first[b], first[b + 1]):
            k = classes[i]
            x_left += xlogx[left_of[k] + 1] - xlogx[left_of[k]]
            x_right += xlogx[right_of[k] - 1] - xlogx[right_of[k]]
            left_of[k] += 1
            right_of[k] -= 1
        left, right = first[b + 1], first[n_bins] - first[b + 1]
        if right < min_leaf:
            break
        if left < min_leaf:
            continue
        q = gain_of(xlogx, left, right, node, x_left, x_right)
        if q > best:
            best, best_b, best_size = q, b, min(left, right)
    return best, best_b, best_size


@inner
def split_many_classes(bins, rows, target, min_leaf):
    """Do what `split_classes` does without a table of bins times classes: sort rows by bin."""
    best, best_f, best_b, best_size = no_gain(target.n_classes), -1, -1, np.int64(0)
    classes = np.empty(rows.size, np.int64)
    for f in range(bins.n_bins.size):
        first = deal(bins, rows, target.values, f, classes)
        q, b, size = cut_dealt(classes, first, target, min_leaf, best)
        if b >= 0:
            best, best_f, best_b, best_size = q, f, b, size
    return np.float64(best) / LOG_SCALE, best_f, best_b, best_size
