"""The compiled loops that grow the trees that propose cut-offs; imported only for learning.

KDD'23, section 4.1.2. Legend: ``n`` rows, ``f`` a variable, ``b`` a bin, ``h`` a histogram (bins ×
variables × classes, or × 1 for packed sums), ``k`` a class, ``q`` a gain times
rows. Everything is summed in whole numbers, so that neither the order of rows nor the number of threads
can change a result. Every function releases the GIL and touches only its arguments.

A node of a tree lies scattered in a table that no cache holds. Waiting for each row in turn takes
several times as long as the work on it, and the larger the table the longer: learning time would grow
faster than the number of rows. So memory is asked for what will be needed soon (`prefetch`); numba has
no such function, LLVM has.
"""

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload

from truism.score.kernels.compiling import inner, jit

AHEAD = 16  # rows between asking memory for a row and using it
LOG_SCALE = 1 << 20  # x·log2(x) is tabulated in units of 1/LOG_SCALE


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
def bin_in(row, f, wide):
    """Read a bin number: one byte, or two where some variable has more than 255 bins.

    Tables of either width are bytes here, so that everything is compiled once; the compiler takes
    the test of `wide` out of the loops.
    """
    if wide:
        return np.int64(row[2 * f]) + 256 * np.int64(row[2 * f + 1])
    return np.int64(row[f])


@jit
def add_rows(h, binned, wide, rows, values, has_classes, sign):
    """Add counts of classes, or packed counts and target sums, per bin, or take them away."""
    for i in range(rows.size):
        ahead = rows[min(i + AHEAD, rows.size - 1)]
        prefetch(binned[ahead], 0)
        prefetch(binned[ahead], binned.shape[1] - 1)
        prefetch(values, ahead)
        row, value = binned[rows[i]], values[rows[i]]
        k = value if has_classes else np.int64(0)
        amount = sign if has_classes else sign * value
        for f in range(h.shape[1]):
            h[bin_in(row, f, wide), f, k] += amount


@jit
def split_numbers(h, missing, skip, count_bits, min_leaf, present, below, cuts, best):
    """Find the first of the best splits: gain times rows, variable, or -1 for no split, and bin.

    A cell holds a sum of targets above `count_bits` bits of count. `missing` are the bins of missing
    values, `skip` is the variable that is the target itself. All variables are looked at side by side,
    because a processor takes such a step for several at once; the compiler sees that if what is `present`
    of each variable, what lies `below` a cut, and the best cut and its gain have room of their own. Means
    that differ by no more than one unit of the fixed point may be equal, so such a cut gains nothing.
    """
    mask, total = (np.int64(1) << count_bits) - 1, np.int64(0)
    for b in range(h.shape[0]):
        total += h[b, 0]
    for f in range(best.size):
        present[f], below[f], best[f] = total - h[missing[f], f], 0, 0.0
    for b in range(h.shape[0] - 1):
        for f in range(best.size):
            packed = below[f] + h[b, f]
            n, left = present[f] & mask, packed & mask
            right = n - left
            left_sum = packed >> count_bits
            right_sum = (present[f] >> count_bits) - left_sum
            gap = np.float64(left_sum) * right - np.float64(right_sum) * left
            both = np.float64(left) * right
            q = gap * gap / max(both * n, 1.0)
            better = (q > best[f]) & (abs(gap) > both) & (left >= min_leaf) & (right >= min_leaf)
            best[f] = q if better else best[f]
            cuts[f] = b if better else cuts[f]
            below[f] = packed
    gain, top = 0.0, np.int64(-1)
    for f in range(best.size):
        if best[f] > gain and f != skip:
            gain, top = best[f], np.int64(f)
    return gain, top, cuts[top]


@jit
def deal(binned, wide, rows, values, f, n_bins, dealt, first, place):
    """Put the classes of rows in the order of their bins, and note where each bin starts."""
    for b in range(n_bins + 2):
        first[b] = place[b] = 0
    for i in range(rows.size):
        first[bin_in(binned[rows[i]], f, wide) + 1] += 1
    for b in range(n_bins + 1):
        first[b + 1] += first[b]
        place[b + 1] = first[b + 1]
    for i in range(rows.size):
        b = bin_in(binned[rows[i]], f, wide)
        dealt[place[b]] = values[rows[i]]
        place[b] += 1


@inner
def cut_classes(h, f, dealt, first, n_bins, left_of, right_of, xlogx, min_leaf, least):
    """Find the cut of one variable that reduces entropy most, by more than `least`: q, bin.

    Classes are counted in `h`; if that is empty, `dealt` in the order of bins, which start at `first`.
    """
    tabled = h.size > 0
    best, best_b = least, -1
    for k in range(right_of.size):
        left_of[k] = right_of[k] = 0
    for i in range(0 if tabled else first[n_bins]):
        right_of[dealt[i]] += 1
    for b in range(n_bins if tabled else 0):
        for k in range(right_of.size):
            right_of[k] += h[b, f, k]
    node, right = np.int64(0), np.int64(0)
    for k in range(right_of.size):
        right += right_of[k]
        node += xlogx[right_of[k]]
    n, left, x_left, x_right = right, np.int64(0), np.int64(0), node
    for b in range(n_bins - 1):
        start, end = (np.int64(0), right_of.size) if tabled else (first[b], first[b + 1])
        for i in range(start, end):
            k, c = (np.int64(i), h[b, f, i]) if tabled else (dealt[i], np.int64(1))
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
            best, best_b = q, b
    return best, best_b


@jit
def split_classes(h, n_bins, least, min_leaf, xlogx, dealt, first, classes):
    """Do as `split_numbers`, by more than the `least` gain, given x·log2(x) in units of 1/LOG_SCALE.

    Without a histogram the classes of one variable are `dealt` in the order of bins. There is room for
    counts of `classes` on either side.
    """
    best, best_f, best_b = least, -1, -1
    for f in range(n_bins.size):
        q, b = cut_classes(
            h, f, dealt, first, n_bins[f], classes[0], classes[1], xlogx, min_leaf, best
        )
        if b >= 0:
            best, best_f, best_b = q, f, b
    return best, best_f, best_b


@jit
def part(binned, wide, n_bins, rows, f, b, left, right, neither):
    """Divide rows into left of the cut, right of it, and missing the split variable: how many of each."""
    i_left, i_right, i_neither = np.int64(0), np.int64(0), np.int64(0)
    for i in range(rows.size):
        prefetch(binned[rows[min(i + AHEAD, rows.size - 1)]], 2 * f if wide else f)
        bin_ = bin_in(binned[rows[i]], f, wide)
        # Written to all three and counted in one: a branch here would be guessed wrong too often.
        left[i_left] = right[i_right] = neither[i_neither] = rows[i]
        i_left += bin_ <= b
        i_right += b < bin_ < n_bins
        i_neither += bin_ >= n_bins
    return i_left, i_right, i_neither


def exercise() -> None:
    """Run once on almost nothing, so that all but `deal` is compiled, or loaded from the cache."""
    whole, rows, binned = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros((1, 1), np.uint8)
    h, two = np.zeros((2, 1, 1), np.int64), np.zeros((2, 1), np.int64)
    add_rows(h, binned, False, rows, whole, False, 1)
    split_numbers(two, whole + 1, 0, 1, 1, whole, whole, whole, np.zeros(1))
    split_classes(h, whole + 1, 0.0, 1, two[:, 0].copy(), whole, whole, two)
    part(binned, False, 1, rows, 0, 0, rows.copy(), rows.copy(), rows.copy())
