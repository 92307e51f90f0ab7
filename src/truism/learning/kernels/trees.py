"""The compiled loops that grow trees, and nothing else; imported only for learning.

KDD'23, section 4.1.2. Legend: ``n`` rows, ``f`` a variable, ``b`` a bin, ``h`` a histogram (variables
× bins × classes, or × 1 for packed sums), ``k`` a class, ``q`` a gain times rows. Every function
releases the GIL, touches only its arguments, and sums in whole numbers, so that neither the order of
rows nor the number of threads can change a result.
"""

import numpy as np

from truism.learning.kernels.compiling import inner, jit
from truism.learning.kernels.prefetch import prefetch

AHEAD = 16  # rows between asking memory for a row and using it
LOG_SCALE = 1 << 20  # x·log2(x) is tabulated in units of 1/LOG_SCALE


@inner
def fetch(binned, target, row):
    """Ask memory for all of a row."""
    prefetch(binned[row], 0)
    prefetch(binned[row], binned.shape[1] - 1)
    prefetch(target, row)


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
def add_sums(h, binned, wide, rows, target, sign):
    """Add packed counts and target sums per bin of every variable."""
    for i in range(rows.size):
        fetch(binned, target, rows[min(i + AHEAD, rows.size - 1)])
        row = binned[rows[i]]
        packed = sign * target[rows[i]]
        for f in range(h.shape[0]):
            h[f, bin_in(row, f, wide), 0] += packed


@inner
def add_classes(h, binned, wide, rows, target, sign):
    """Add class counts per bin of every variable."""
    for i in range(rows.size):
        fetch(binned, target, rows[min(i + AHEAD, rows.size - 1)])
        row = binned[rows[i]]
        k = target[rows[i]]
        for f in range(h.shape[0]):
            h[f, bin_in(row, f, wide), k] += sign


@inner
def add_rows(h, binned, wide, rows, target, n_classes, sign):
    """Add rows to a histogram, or take them away."""
    if n_classes == 0:
        add_sums(h, binned, wide, rows, target, sign)
    else:
        add_classes(h, binned, wide, rows, target, sign)


@inner
def split_sums(h, n_bins, skip, min_leaf, count_bits):
    """Find the split with the largest variance reduction (times rows), first of equals.

    A cell holds a sum of targets above `count_bits` bits of count. Means that differ by no more than
    one unit of the fixed point may be equal, so such a split gains nothing.
    """
    mask = (np.int64(1) << count_bits) - 1
    best, best_f, best_b, best_size = 0.0, -1, -1, 0
    for f in range(h.shape[0]):
        if f == skip:
            continue
        node = np.int64(0)
        for b in range(n_bins[f]):
            node += h[f, b, 0]
        n, s = node & mask, node >> count_bits
        packed = np.int64(0)
        for b in range(n_bins[f] - 1):
            if h[f, b, 0] == 0:
                continue
            packed += h[f, b, 0]
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
                best, best_f, best_b, best_size = q, f, b, min(left, right)
    return best, best_f, best_b, best_size


@inner
def split_classes(h, n_bins, xlogx, min_leaf):
    """Find the split with the largest entropy reduction (times rows), first of equals.

    Each tabulated number is half a unit off at most; what all of them could add up to is no gain.
    """
    best, best_f, best_b, best_size = np.int64(h.shape[2] * 3 // 2 + 2), -1, -1, 0
    total = np.empty(h.shape[2], np.int64)
    left_of = np.empty(h.shape[2], np.int64)
    for f in range(h.shape[0]):
        total[:] = 0
        left_of[:] = 0
        for b in range(n_bins[f]):
            for k in range(total.size):
                total[k] += h[f, b, k]
        n, node = np.int64(0), np.int64(0)
        for k in range(total.size):
            n += total[k]
            node += xlogx[total[k]]
        left, x_left, x_right = np.int64(0), np.int64(0), node
        for b in range(n_bins[f] - 1):
            for k in range(total.size):
                c = h[f, b, k]
                if c:
                    x_left += xlogx[left_of[k] + c] - xlogx[left_of[k]]
                    right_k = total[k] - left_of[k]
                    x_right += xlogx[right_k - c] - xlogx[right_k]
                    left_of[k] += c
                    left += c
            right = n - left
            if right < min_leaf:
                break
            if left < min_leaf:
                continue
            q = (xlogx[n] - node) - (xlogx[left] - x_left) - (xlogx[right] - x_right)
            if q > best:
                best, best_f, best_b, best_size = q, f, b, min(left, right)
    return np.float64(best) / LOG_SCALE, best_f, best_b, best_size


@inner
def split_many_classes(binned, wide, rows, target, n_bins, n_classes, xlogx, min_leaf):
    """Do what `split_classes` does without a table of bins times classes: sort rows by bin."""
    best, best_f, best_b, best_size = np.int64(n_classes * 3 // 2 + 2), -1, -1, 0
    in_bin_order = np.empty(rows.size, target.dtype)
    left_of = np.empty(n_classes, np.int64)
    right_of = np.empty(n_classes, np.int64)
    for f in range(n_bins.size):
        first = np.zeros(n_bins[f] + 2, np.int64)
        for i in range(rows.size):
            first[bin_in(binned[rows[i]], f, wide) + 1] += 1
        for b in range(n_bins[f] + 1):
            first[b + 1] += first[b]
        n = first[n_bins[f]]
        place = first.copy()
        left_of[:] = 0
        right_of[:] = 0
        for i in range(rows.size):
            b = bin_in(binned[rows[i]], f, wide)
            in_bin_order[place[b]] = target[rows[i]]
            place[b] += 1
            if b < n_bins[f]:
                right_of[target[rows[i]]] += 1
        node = np.int64(0)
        for k in range(n_classes):
            node += xlogx[right_of[k]]
        x_left, x_right = np.int64(0), node
        for b in range(n_bins[f] - 1):
            for i in range(first[b], first[b + 1]):
                k = in_bin_order[i]
                x_left += xlogx[left_of[k] + 1] - xlogx[left_of[k]]
                x_right += xlogx[right_of[k] - 1] - xlogx[right_of[k]]
                left_of[k] += 1
                right_of[k] -= 1
            left = first[b + 1]
            right = n - left
            if right < min_leaf:
                break
            if left < min_leaf:
                continue
            q = (xlogx[n] - node) - (xlogx[left] - x_left) - (xlogx[right] - x_right)
            if q > best:
                best, best_f, best_b, best_size = q, f, b, min(left, right)
    return np.float64(best) / LOG_SCALE, best_f, best_b, best_size


@inner
def part(rows, binned, wide, f, b, n_bins):
    """Divide rows into left of the cut, right of it, and missing the split variable."""
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


@jit
def grow_tree(
    binned, n_bins, xlogx, count_bits, min_leaves, rows, target, n_classes, skip, tabulate
):
    """Grow one tree for several minimum leaf sizes at once; give each node's split.

    Parameters
    ----------
    binned, n_bins
        Bins per row and variable, as bytes, one or two for each; bin ``n_bins[f]`` means missing.
    xlogx
        x·log2(x) in units of ``1 / LOG_SCALE``.
    count_bits
        How many low bits of a numeric target count the row.
    min_leaves
        Ascending; trees share their nodes for as long as they choose the same splits.
    rows
        The rows that have a target.
    target, n_classes
        Class numbers; or, when `n_classes` is 0, fixed-point numbers above a count of one.
    skip
        The variable that is the target itself, or -1.
    tabulate
        Whether histograms fit into memory (else classes are counted by sorting).

    Returns
    -------
    One row per split: variable, bin, first and last position in `min_leaves`; and the gains, not
    yet divided by the number of rows.

    """
    wide = binned.shape[1] > n_bins.size
    width = 0
    for f in range(n_bins.size):
        width = max(width, n_bins[f] + 1)
    shape = (n_bins.size, width, max(1, n_classes)) if tabulate else (1, 1, 1)
    plus, minus = np.int64(1), np.int64(-1)
    scratch = np.zeros(shape, np.int64)
    nothing = np.zeros((0, 0, 0), np.int64)
    stack = [(rows, nothing, 0, min_leaves.size)]
    splits = [(-1, -1, -1, -1)]
    gains = [0.0]
    while len(stack) > 0:
        node, h, first, last = stack.pop()
        if tabulate and h.size == 0:
            if node.size >= shape[1]:
                h = np.zeros(shape, np.int64)
            else:
                h = scratch
                h[:] = 0
            add_rows(h, binned, wide, node, target, n_classes, plus)
        while first < last and node.size >= 2 * min_leaves[first]:
            while node.size < 2 * min_leaves[last - 1]:
                last -= 1
            if n_classes == 0:
                q, f, b, size = split_sums(h, n_bins, skip, min_leaves[first], count_bits)
            elif tabulate:
                q, f, b, size = split_classes(h, n_bins, xlogx, min_leaves[first])
            else:
                q, f, b, size = split_many_classes(
                    binned, wide, node, target, n_bins, n_classes, xlogx, min_leaves[first]
                )
            if f < 0:
                break
            shared = first
            while shared < last and min_leaves[shared] <= size:
                shared += 1
            splits.append((f, b, first, shared - 1))
            gains.append(q)
            left, right, neither = part(node, binned, wide, f, b, n_bins[f])
            smaller, larger = (left, right) if left.size <= right.size else (right, left)
            h_larger, h_smaller = nothing, nothing
            # A large child inherits its histogram: the parent's less those of all other rows.
            if tabulate and larger.size >= max(shape[1], 2 * min_leaves[first]):
                h_larger = h.copy() if shared < last else h
                add_rows(h_larger, binned, wide, neither, target, n_classes, minus)
                if smaller.size >= max(shape[1], 2 * min_leaves[first]):
                    h_smaller = np.zeros(shape, np.int64)
                    add_rows(h_smaller, binned, wide, smaller, target, n_classes, plus)
                    h_larger -= h_smaller
                else:
                    add_rows(h_larger, binned, wide, smaller, target, n_classes, minus)
            if larger.size >= 2 * min_leaves[first]:
                stack.append((larger, h_larger, first, shared))
            if smaller.size >= 2 * min_leaves[first]:
                stack.append((smaller, h_smaller, first, shared))
            first = shared
    found = np.empty((len(gains) - 1, 4), np.int64)
    worth = np.empty(len(gains) - 1)
    for i in range(1, len(gains)):
        found[i - 1, 0], found[i - 1, 1], found[i - 1, 2], found[i - 1, 3] = splits[i]
        worth[i - 1] = gains[i]
    return found, worth


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole = np.zeros(1, np.int64)
    rows = np.zeros(1, np.int32)
    grow_tree(np.zeros((1, 1), np.uint8), whole + 1, whole, 1, whole + 1, rows, whole, 0, -1, True)
