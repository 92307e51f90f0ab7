"""The compiled loops that grow contexts, and nothing else; imported only for learning.

Legend: ``i`` a row, ``v`` a variable, ``c`` its code, ``k`` a target. They release the GIL, touch only
their arguments and sum whole numbers.
"""

from typing import Any

import numba
import numpy as np

jit: Any = numba.njit(nogil=True, cache=True)


@jit
def tabulate(codes, rows, members, targets, table):
    """Count the rows with each code of each member variable, and sum their targets."""
    table[:] = 0
    for i in rows:
        for v in range(members.size):
            cell = table[v, codes[i, members[v]]]
            cell[0] += 1
            for k in range(targets.shape[1]):
                cell[k + 1] += targets[i, k]


@jit
def best_split(table, n_rows, members, is_state, n_splits, least):
    """Find the split that takes most off the squares of the targets: gain, member, code."""
    n_targets = table.shape[2] - 1
    total = np.zeros(n_targets)
    for c in range(table.shape[1]):
        for k in range(n_targets):
            total[k] += table[0, c, k + 1]
    whole = 0.0
    for k in range(n_targets):
        whole += total[k] * total[k]
    base = whole / n_rows
    best, at, code = 0.0, -1, -1
    below = np.zeros(n_targets + 1)
    for v in range(members.size):
        below[:] = 0.0
        for c in range(n_splits[members[v]]):
            if is_state[members[v]]:
                below[:] = 0.0
            for k in range(n_targets + 1):
                below[k] += table[v, c, k]
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


@jit
def grow(codes, members, is_state, n_splits, targets, least, max_leaves, max_remembered):
    """Grow a tree best first: each node's variable and code, -1 for a leaf, and its first child.

    A child is tabulated from its rows or, where the tables of all leaves may be remembered, as what the
    other one leaves of their parent's.
    """
    n_rows, n_targets = targets.shape
    n_most = 2 * max_leaves - 1
    shape = (members.size, codes.max() + 1, n_targets + 1)
    size = shape[0] * shape[1] * shape[2]
    remembers = size * max_leaves <= max_remembered
    tables = np.empty((max_leaves if remembers else 1, *shape), np.int64)
    order = np.arange(n_rows)
    spare = np.empty(n_rows, np.int64)
    start, end = np.zeros(n_most, np.int64), np.zeros(n_most, np.int64)
    slot = np.zeros(n_most, np.int64)
    gain, member = np.zeros(n_most), np.full(n_most, -1)
    code, child = np.full(n_most, -1), np.full(n_most, -1)
    end[0] = n_rows
    if n_rows >= 2 * least:
        tabulate(codes, order, members, targets, tables[0])
        gain[0], member[0], code[0] = best_split(
            tables[0], n_rows, members, is_state, n_splits, least
        )
    n_nodes = 1
    while n_nodes < n_most:
        node = -1
        for i in range(n_nodes):
            if child[i] < 0 and gain[i] > 0.0 and (node < 0 or gain[i] > gain[node]):
                node = i
        if node < 0:
            break
        v, c = members[member[node]], code[node]
        child[node] = n_nodes
        n_held, n_other = start[node], 0
        for i in order[start[node] : end[node]]:
            if codes[i, v] == c if is_state[v] else codes[i, v] <= c:
                order[n_held] = i
                n_held += 1
            else:
                spare[n_other] = i
                n_other += 1
        order[n_held : end[node]] = spare[:n_other]
        start[n_nodes], end[n_nodes] = start[node], n_held
        start[n_nodes + 1], end[n_nodes + 1] = n_held, end[node]
        # The smaller child is tabulated, in a table of its own; the other inherits its parent's.
        small = n_nodes if n_held - start[node] <= n_other else n_nodes + 1
        large = 2 * n_nodes + 1 - small
        if remembers:
            slot[small], slot[large] = (n_nodes + 1) // 2, slot[node]
        for new in (small, large):
            own = order[start[new] : end[new]]
            table = tables[slot[new]]
            splits = own.size >= 2 * least
            if remembers and new == large:
                table -= tables[slot[small]]
            elif splits or (remembers and end[large] - start[large] >= 2 * least):
                tabulate(codes, own, members, targets, table)
            if splits:
                gain[new], member[new], code[new] = best_split(
                    table, own.size, members, is_state, n_splits, least
                )
        n_nodes += 2
    return member[:n_nodes], code[:n_nodes], child[:n_nodes]


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole, no = np.zeros(1, np.int64), np.zeros(1, np.bool_)
    codes, targets = np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.int32)
    grow(codes, whole, no, whole, targets, 1, 2, 9)
