"""The compiled loops that grow contexts and sum up their leaves; imported only for learning.

Legend: ``i`` a row, ``v`` a variable, ``c`` its code, ``k`` a target or a number, ``j`` a variable with
states, ``at`` and ``x`` places in orders and tables. They release the GIL, touch only their arguments
and sum whole numbers.
"""

import numpy as np

from truism.learning.kernels.compiling import inner, jit


@jit
def combine(targets, some, signs, sums):
    """Add some targets, rows of the first table, to all sums, or take them off, as the signs say."""
    for at in range(some.size):
        target = targets[some[at]]
        for k in range(sums.shape[0]):
            sign = signs[some[at], k]
            for i in range(target.size):
                sums[k, i] += sign * target[i]


@inner
def tabulate(codes, order, start, end, members, targets, table):
    """Count some rows with each code of each member variable, and sum their targets.

    A member's row of the table has for each code in turn the count and the sums.
    """
    width = targets.shape[1] + 1
    for v in range(table.shape[0]):
        for x in range(table.shape[1]):
            table[v, x] = 0
    for at in range(start, end):
        i = order[at]
        for v in range(members.size):
            first = (
                np.int64(codes[i, members[v]]) * width
            )  # a byte times a width is more than a byte
            table[v, first] += 1
            for k in range(targets.shape[1]):
                table[v, first + 1 + k] += targets[i, k]


@inner
def best_split(table, n_rows, members, is_state, n_splits, least, total, below):
    """Find the split that takes most off the squares of the targets: gain, member, code."""
    n_targets = total.size
    width = n_targets + 1
    n_codes = table.shape[1] // width
    total[:] = 0.0
    for c in range(n_codes):
        for k in range(n_targets):
            total[k] += table[0, c * width + 1 + k]
    whole = 0.0
    for k in range(n_targets):
        whole += total[k] * total[k]
    base = whole / n_rows
    best, at, code = 0.0, -1, -1
    for v in range(members.size):
        for c in range(min(n_splits[members[v]], n_codes)):
            if c > 0 and table[v, c * width] == 0:
                continue  # no row more: the split is the one before, or has an empty side
            starts_anew = c == 0 or is_state[members[v]]
            for k in range(width):
                below[k] = table[v, c * width + k] + (0.0 if starts_anew else below[k])
            n_below, n_above = below[0], n_rows - below[0]
            if n_below < least or n_above < least:
                continue
            within, across = 0.0, 0.0
            for k in range(n_targets):
                within += below[k + 1] * below[k + 1]
                across += below[k + 1] * total[k]
            gain = within / n_below + (whole - 2.0 * across + within) / n_above
            if gain > best:
                best, at, code = gain, v, c
    # Whole numbers that differ in nothing may still differ by rounding.
    if at < 0 or best - base <= 1e-9 * base:
        return 0.0, -1, -1
    return best - base, at, code


@inner
def part(codes, order, start, end, v, c, is_state):
    """Put the rows that have a state's code, or a number's code of at most so much, before the others."""
    for at in range(start, end):
        i = order[at]
        if codes[i, v] == c or (codes[i, v] < c and not is_state):
            order[at] = order[start]
            order[start] = i
            start += 1
    return start


@jit
def grow(
    codes, members, is_state, n_splits, targets, least, order, tables, nodes, gain, total, below
):
    """Grow a tree best first, and give the number of its nodes.

    Of each node are noted: where its rows start and end in `order`, its table, the place of its
    variable among the members and the code that it splits by, and its first child; -1 for none. With a
    table for every leaf, a child is tabulated as what the other one leaves of their parent's. `total`
    and `below` are room to sum targets in.
    """
    remembers = tables.shape[0] > 1
    n_nodes = 0
    node, n_new = -1, 1
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = 0, targets.shape[0], 0
    while n_new:
        for turn in range(n_new):
            new = n_nodes + turn
            if n_new == 2 and nodes[n_nodes, 1] - nodes[n_nodes, 0] > (
                nodes[n_nodes + 1, 1] - nodes[n_nodes + 1, 0]
            ):
                new = n_nodes + 1 - turn
            start, end = nodes[new, 0], nodes[new, 1]
            # The smaller child comes first, with a table of its own; the other has its parent's.
            inherits = remembers and turn == 1
            if n_new == 2:
                nodes[new, 2] = nodes[node, 2] if inherits else (n_nodes + 1) // 2 * remembers
            table = tables[nodes[new, 2]]
            if inherits:
                other = tables[nodes[2 * n_nodes + 1 - new, 2]]
                for v in range(table.shape[0]):
                    for x in range(table.shape[1]):
                        table[v, x] -= other[v, x]
            else:
                tabulate(codes, order, start, end, members, targets, table)
            if end - start >= 2 * least:
                gain[new], nodes[new, 3], nodes[new, 4] = best_split(
                    table, end - start, members, is_state, n_splits, least, total, below
                )
        n_nodes += n_new
        node, n_new = -1, 0
        for i in range(n_nodes):
            if nodes[i, 5] < 0 and gain[i] > 0.0 and (node < 0 or gain[i] > gain[node]):
                node = i
        if node >= 0 and n_nodes + 2 <= nodes.shape[0]:
            n_new = 2
            start, end, v = nodes[node, 0], nodes[node, 1], members[nodes[node, 3]]
            middle = part(codes, order, start, end, v, nodes[node, 4], is_state[v])
            nodes[node, 5] = n_nodes
            nodes[n_nodes, 0], nodes[n_nodes, 1] = start, middle
            nodes[n_nodes + 1, 0], nodes[n_nodes + 1, 1] = middle, end
    return n_nodes


@jit
def sum_up(leaf, cells, n_leaves, scale, values, classes, judged, starts, rows, sums, counts):
    """Add every row to the sums of its cell and leaf: values that are known, in whole units, and squares.

    Of the `classes`, variable ``judged[j]`` has its counts from ``starts[j]`` on.
    """
    for i in range(leaf.size):
        at = cells[i] * n_leaves + leaf[i]
        rows[at] += 1
        for k in range(values.shape[1]):
            value = np.float64(np.rint(values[i, k] * scale))
            known = value == value
            value = value if known else 0.0
            sums[0, at, k] += known
            sums[1, at, k] += value
            sums[2, at, k] += value * value
        for j in range(judged.size):
            counts[at, starts[j] + classes[judged[j], i]] += 1


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole, no = np.zeros(1, np.int64), np.zeros(1, np.bool_)
    codes, targets = np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.int32)
    combine(targets, whole, targets, targets)
    leaf, single, sums = np.zeros(1, np.uint8), np.float32(1), np.zeros((3, 1, 1))
    values = np.zeros((1, 1), np.float32)
    sum_up(leaf, whole, 1, single, values, codes, whole, whole, np.zeros(1), sums, targets)
    tables, nodes, ones = np.zeros((1, 1, 2), np.int64), np.zeros((1, 6), np.int64), np.zeros(1)
    grow(codes, whole, no, whole, targets, 1, whole, tables, nodes, ones, ones, np.zeros(2))
