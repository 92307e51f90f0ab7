"""The compiled loops that grow the trees of many numbers side by side; imported only for learning.

Where a table has few rows and very many variables, a histogram of each variable at each node is more
than a cache holds. But most variables cannot split a node better than the best one so far, and adding
up the node's targets in the order of a variable tells so: a cut with ``k`` of ``n`` rows below it, whose
targets sum up to ``d`` more than expected, gains ``d²·n / (k·(n - k))``. That is done for many nodes, of
any trees, at once: each has a lane, and a processor adds several lanes in one step. These sums are
rounded, so a little less than the best gain is asked for, and the few variables that may gain enough are
then judged in whole numbers, as in `trees`. The legend is that of `trees`; ``t``
is a target, ``at`` a lane.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truism.learn.kernels.trees import bin_in, cut_sums, part
from truism.score.kernels.compiling import inner, jit

LANES = 64
ROUNDING = 2.0**-22  # more than a number of single precision is wrong by, in parts of its size
CONCESSION = 0.05  # of the gain asked for in the middle, so that little is asked for at the ends
STEPS = 64  # in which a row counts; few, so that counts are exact


class Node(NamedTuple):
    """Rows, the target, and the leaf sizes, from first to before last, to split for."""

    rows: NDArray[np.int32]
    t: int
    first: int
    last: int


class Lanes(NamedTuple):
    """Nodes side by side: in scaled units, a cut may gain enough if ``sum² - k·(n - k) > bar``.

    Rows × lanes: targets less their mean, and what a row counts; both 0 in rows that are not the node's.
    Per lane: what all rows count, the bar, and room for the sum, for ``k`` and for the most reached.
    """

    values: NDArray[np.float32]
    counts: NDArray[np.float32]
    n: NDArray[np.float32]
    bar: NDArray[np.float32]
    sums: NDArray[np.float32]
    k: NDArray[np.float32]
    most: NDArray[np.float32]


@inner
def open_lanes(n_rows):
    """Make room for nodes side by side."""
    of_rows = np.zeros((2, n_rows, LANES), np.float32)
    of_lanes = np.zeros((5, LANES), np.float32)
    return Lanes(
        *(of_rows[0], of_rows[1], of_lanes[0], of_lanes[1]),
        *(of_lanes[2], of_lanes[3], of_lanes[4]),
    )


@inner
def step_of(n, min_leaf):
    """Return what a row counts.

    With all of its rows below it, or none, a cut would gain as much as is asked for, which is nothing.
    So ``k·(n - k)`` is made flatter, about what it is with the least rows of a leaf: more is asked for
    beyond that, where no cut can be, and a little less in the middle.
    """
    highest, lowest = n * n / 4.0, min_leaf * (n - min_leaf)
    flat = min(1.0, CONCESSION * highest / max(highest - lowest, 1e-9))
    return np.floor(STEPS * np.sqrt(1.0 - flat)) / STEPS


@inner
def enter(lanes, at, rows, min_leaf):
    """Put a node into a lane; until it has a best split, every variable may gain enough."""
    step = step_of(rows.size, min_leaf)
    lanes.values[:, at] = 0.0
    lanes.counts[:, at] = 0.0
    for i in range(rows.size):
        lanes.counts[rows[i], at] = step
    lanes.n[at], lanes.bar[at] = rows.size * step, -np.inf


@inner
def raise_bar(lanes, at, rows, values, count_bits, best, min_leaf):
    """Scale the targets of a node so that the best gain so far is the unit."""
    n, s = rows.size, np.int64(0)
    for i in range(n):
        s += values[rows[i]] >> count_bits
    mean, scale, size = s / n, np.sqrt(n / best), 0.0
    for i in range(n):
        value = ((values[rows[i]] >> count_bits) - mean) * scale
        lanes.values[rows[i], at] = value
        size += abs(value)
    # Unless the bar is passed, no sum is larger than n / 2.
    wrong = ROUNDING * (n * n / 2.0 + size)
    flat = 1.0 - step_of(n, min_leaf) ** 2
    lanes.bar[at] = flat * min_leaf * (n - min_leaf) - wrong * (n + wrong) - ROUNDING * n * n


@inner
def add_up(order, lanes, n_lanes):
    """Add up the targets of all nodes in some order of the rows, and keep the most that is reached."""
    values, counts, n = lanes.values, lanes.counts, lanes.n
    sums, k, most = lanes.sums, lanes.k, lanes.most
    sums[:], k[:], most[:] = 0.0, 0.0, -np.inf
    for i in range(order.size):
        row = order[i]
        for at in range(n_lanes):
            # All is read before anything is written, so that several lanes are added in one step.
            d = sums[at] + values[row, at]
            below = k[at] + counts[row, at]
            reached = d * d + below * (below - n[at])
            before = most[at]
            sums[at] = d
            k[at] = below
            most[at] = reached if reached > before else before


@inner
def add_to_one(h, binned, n_bins, wide, rows, values, f):
    """Add packed counts and target sums per bin of one variable to nothing."""
    h[: n_bins[f] + 1] = 0
    for i in range(rows.size):
        h[bin_in(binned[rows[i]], f, wide), 0] += values[rows[i]]


@inner
def split_all(
    nodes, lanes, h, binned, n_bins, wide, order, is_ordered, values, skips, count_bits, min_leaves
):
    """Find the best split of each node: gains, and variables, bins, and the rows of the smaller sides.

    The best has the largest variance reduction (times rows), first of equals; without one the variable
    is -1.
    """
    gains, splits = np.zeros(len(nodes)), np.full((len(nodes), 3), -1)
    for at in range(len(nodes)):
        enter(lanes, at, nodes[at].rows, min_leaves[nodes[at].first])
    for f in range(n_bins.size):
        if is_ordered[f]:
            add_up(order[f], lanes, (len(nodes) + 7) // 8 * 8)
        for at in range(len(nodes)):
            rows, t, first, _ = nodes[at]
            beaten = is_ordered[f] and lanes.most[at] <= lanes.bar[at]
            if beaten or f == skips[t]:
                continue
            add_to_one(h, binned, n_bins, wide, rows, values[t], f)
            q, b, size = cut_sums(h, n_bins[f], count_bits, min_leaves[first], gains[at])
            if b >= 0:
                gains[at], splits[at, 0], splits[at, 1], splits[at, 2] = q, f, b, size
                raise_bar(lanes, at, rows, values[t], count_bits, q, min_leaves[first])
    return gains, splits


@inner
def put(stack, node, min_leaves):
    """Let a node wait for its split, for the leaf sizes that its rows suffice for."""
    rows, t, first, last = node
    while first < last and rows.size < 2 * min_leaves[last - 1]:
        last -= 1
    if first < last:
        stack.append(Node(rows, t, first, last))


@jit
def grow_forest(
    binned, n_bins, width, wide, order, is_ordered, values, skips, count_bits, min_leaves
):
    """Grow a tree for each of several numbers, and for several minimum leaf sizes at once.

    Bins are bytes, one or two (`wide`) for each row and variable; bin ``n_bins[f]`` is missing, and
    `width` the largest number of bins, with that of missing values. `order` has for each variable the
    rows in the order of their bins, if all have one (`is_ordered`). `values` are packed targets × rows,
    0 where missing, `skips` the targets' own variables.
    """
    lanes, h = open_lanes(binned.shape[0]), np.zeros((width, 1), np.int64)
    splits, gains = [(-1, -1, -1, -1)], [0.0]  # the first ones are there for their types
    stack = [Node(np.zeros(0, np.int32), 0, 0, 0)]
    stack.clear()
    for t in range(skips.size):
        rows = np.flatnonzero(values[t]).astype(np.int32)
        put(stack, Node(rows, t, 0, min_leaves.size), min_leaves)
    while len(stack) > 0:
        nodes = [stack.pop() for _ in range(min(LANES, len(stack)))]
        best, found = split_all(
            *(nodes, lanes, h, binned, n_bins, wide, order, is_ordered),
            *(values, skips, count_bits, min_leaves),
        )
        for at in range(len(nodes)):
            rows, t, first, last = nodes[at]
            f, b, size = found[at]
            if f < 0:
                continue
            shared = first
            while shared < last and min_leaves[shared] <= size:
                shared += 1
            splits.append((f, b, first, shared - 1))
            gains.append(best[at])
            left, right, neither = np.empty((3, rows.size), np.int32)
            n_left, n_right, _ = part(binned, wide, n_bins[f], rows, f, b, left, right, neither)
            put(stack, Node(left[:n_left].copy(), t, first, shared), min_leaves)
            put(stack, Node(right[:n_right].copy(), t, first, shared), min_leaves)
            put(stack, Node(rows, t, shared, last), min_leaves)
    return np.array(splits)[1:], np.array(gains)[1:]
