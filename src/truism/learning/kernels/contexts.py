"""The compiled loops that grow contexts and sum up their leaves; imported only for learning.

Legend: ``i`` a row, ``v`` a variable, ``c`` its code, ``k`` a target or a number, ``j`` a variable with
states, ``at`` and ``x`` places in orders and tables. They release the GIL, touch only their arguments
and sum whole numbers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truism.scoring.kernels.compiling import inner, jit


@jit
def combine(targets, some, signs, sums):
    """Add some targets, rows of the first table, to all sums, or take them off, as the signs say."""
    for at in range(some.size):
        target = targets[some[at]]
        for k in range(sums.shape[0]):
            sign = signs[some[at], k]
            for i in range(target.size):
                sums[k, i] += sign * target[i]


class Coded(NamedTuple):
    """Codes of rows × variables to split by, which variables have states, and how many splits each has.

    Splits are by the `members` alone.
    """

    codes: NDArray[np.uint8]
    is_state: NDArray[np.bool_]
    n_splits: NDArray[np.int64]
    members: NDArray[np.int64]


class Explained(NamedTuple):
    """Targets of rows × targets that leaves are to explain, and the least rows of a leaf."""

    targets: NDArray[np.int32]
    least: int


class Nodes(NamedTuple):
    """The nodes of a tree: where their rows start and end in `order`, their tables, their best splits.

    A split is by a code of a member, and has a gain; `child` is the first of the two nodes that a node
    was split into, -1 for none. `order` holds all rows.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    table: NDArray[np.int64]
    member: NDArray[np.int64]
    code: NDArray[np.int64]
    child: NDArray[np.int64]
    gain: NDArray[np.float64]
    order: NDArray[np.int64]


@inner
def tabulate(coded, targets, rows, table):
    """Count some rows with each code of each member variable, and sum their targets.

    A member's row of the table has for each code in turn the count and the sums.
    """
    members, width = coded.members, targets.shape[1] + 1
    for v in range(table.shape[0]):
        for x in range(table.shape[1]):
            table[v, x] = 0
    for at in range(rows.size):
        i = rows[at]
        for v in range(members.size):
            # Widened first: a byte times a width may be more than a byte.
            first = np.int64(coded.codes[i, members[v]]) * width
            table[v, first] += 1
            for k in range(targets.shape[1]):
                table[v, first + 1 + k] += targets[i, k]


@inner
def sum_targets(table, total):
    """Sum the targets of all rows, and return the sum of the sums' squares."""
    width = total.size + 1
    total[:] = 0.0
    for c in range(table.shape[1] // width):
        for k in range(total.size):
            total[k] += table[0, c * width + 1 + k]
    whole = 0.0
    for k in range(total.size):
        whole += total[k] * total[k]
    return whole


@inner
def gain_of(below, total, whole, n_rows):
    """Return the sum of squares of both sides of a split, given count and sums of one side."""
    within, across = 0.0, 0.0
    for k in range(total.size):
        within += below[k + 1] * below[k + 1]
        across += below[k + 1] * total[k]
    return within / below[0] + (whole - 2.0 * across + within) / (n_rows - below[0])


@inner
def best_split(table, coded, n_targets, n_rows, least):
    """Find the split that takes most off the squares of the targets: gain, member, code."""
    width = n_targets + 1
    n_codes = table.shape[1] // width
    total, below = np.empty(n_targets), np.empty(width)
    whole = sum_targets(table, total)
    base = whole / n_rows
    best, at, code = 0.0, -1, -1
    for v in range(coded.members.size):
        is_state = coded.is_state[coded.members[v]]
        for c in range(min(coded.n_splits[coded.members[v]], n_codes)):
            if c > 0 and table[v, c * width] == 0:
                continue  # no row more: the split is the one before, or has an empty side
            starts_anew = c == 0 or is_state
            for k in range(width):
                below[k] = table[v, c * width + k] + (0.0 if starts_anew else below[k])
            if below[0] < least or n_rows - below[0] < least:
                continue
            gain = gain_of(below, total, whole, n_rows)
            if gain > best:
                best, at, code = gain, v, c
    # Whole numbers that differ in nothing may still differ by rounding.
    if at < 0 or best - base <= 1e-9 * base:
        return 0.0, -1, -1
    return best - base, at, code


@inner
def part(codes, rows, c, is_state):
    """Put the rows that have a state's code, or a number's code of at most so much, before the others.

    Return how many they are; `codes` are those of one variable.
    """
    n = 0
    for at in range(rows.size):
        i = rows[at]
        if codes[i] == c or (codes[i] < c and not is_state):
            rows[at] = rows[n]
            rows[n] = i
            n += 1
    return n


@inner
def split(node, new, nodes, coded):
    """Make two new nodes of the rows of a node."""
    start, end, v = nodes.start[node], nodes.end[node], coded.members[nodes.member[node]]
    rows = nodes.order[start:end]
    middle = start + part(coded.codes[:, v], rows, nodes.code[node], coded.is_state[v])
    nodes.child[node] = new
    nodes.start[new], nodes.end[new] = start, middle
    nodes.start[new + 1], nodes.end[new + 1] = middle, end


@inner
def study(node, nodes, table, coded, explained):
    """Find the best split of a node whose rows have been counted."""
    n_rows = nodes.end[node] - nodes.start[node]
    if n_rows >= 2 * explained.least:
        nodes.gain[node], nodes.member[node], nodes.code[node] = best_split(
            table, coded, explained.targets.shape[1], n_rows, explained.least
        )


@inner
def study_children(node, nodes, tables, coded, explained):
    """Count the rows of a node's children, and find their best splits.

    With a table for every leaf, only the smaller child is counted; the other one's table is that of their
    parent less that count.
    """
    smaller = larger = nodes.child[node]
    if (
        nodes.end[smaller] - nodes.start[smaller]
        > nodes.end[smaller + 1] - nodes.start[smaller + 1]
    ):
        smaller += 1
    else:
        larger += 1
    remembers = tables.shape[0] > 1
    nodes.table[smaller] = (nodes.child[node] + 1) // 2 * remembers
    nodes.table[larger] = nodes.table[node]
    table, other = tables[nodes.table[larger]], tables[nodes.table[smaller]]
    targets, order = explained.targets, nodes.order
    tabulate(coded, targets, order[nodes.start[smaller] : nodes.end[smaller]], other)
    study(smaller, nodes, other, coded, explained)
    if remembers:
        for v in range(table.shape[0]):
            for x in range(table.shape[1]):
                table[v, x] -= other[v, x]
    else:
        tabulate(coded, targets, order[nodes.start[larger] : nodes.end[larger]], table)
    study(larger, nodes, table, coded, explained)


@inner
def most_promising(nodes, n_nodes):
    """Find the leaf whose split gains most, the first of equals; -1 if none gains anything."""
    node = -1
    for i in range(n_nodes):
        gains = nodes.child[i] < 0 and nodes.gain[i] > 0.0
        if gains and (node < 0 or nodes.gain[i] > nodes.gain[node]):
            node = i
    return node


@jit
def grow(coded, explained, tables, nodes):
    """Grow a tree best first, as far as there is room for nodes; return how many it has.

    `tables` is room to count in: one table, or one for every leaf, which is faster.
    """
    nodes.start[0], nodes.end[0], nodes.table[0] = 0, nodes.order.size, 0
    tabulate(coded, explained.targets, nodes.order, tables[0])
    study(np.int64(0), nodes, tables[0], coded, explained)
    n_nodes = np.int64(1)
    while n_nodes + 2 <= nodes.start.size:
        node = most_promising(nodes, n_nodes)
        if node < 0:
            break
        split(node, n_nodes, nodes, coded)
        study_children(node, nodes, tables, coded, explained)
        n_nodes += 2
    return n_nodes


def new_nodes(n_nodes: int, n_rows: int) -> Nodes:
    """Make room for the nodes of a tree on so many rows."""
    numbers = np.full((6, n_nodes), -1)
    return Nodes(*numbers, np.zeros(n_nodes), np.arange(n_rows))


class Sums(NamedTuple):
    """Sums per cell and leaf: rows; presence, values and squares of numbers; counts of classes."""

    rows: NDArray[np.float64]
    numbers: NDArray[np.float64]
    classes: NDArray[np.int32]


class Judged(NamedTuple):
    """What is summed up: all numbers in whole units, and the classes of the judged states.

    Variable ``states[j]`` has its counts from ``starts[j]`` on.
    """

    numbers: NDArray[np.float32]
    scale: np.float32
    classes: NDArray[np.uint8]
    states: NDArray[np.int64]
    starts: NDArray[np.int64]


@jit
def sum_up(places, judged, sums):
    """Add every row to the sums at its place: values that are known, in whole units, and squares."""
    for i in range(places.size):
        at = places[i]
        sums.rows[at] += 1
        for k in range(judged.numbers.shape[1]):
            value = np.float64(np.rint(judged.numbers[i, k] * judged.scale))
            known = value == value
            value = value if known else 0.0
            sums.numbers[0, at, k] += known
            sums.numbers[1, at, k] += value
            sums.numbers[2, at, k] += value * value
        for j in range(judged.states.size):
            sums.classes[at, judged.starts[j] + judged.classes[judged.states[j], i]] += 1


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole = np.zeros(1, np.int64)
    codes, targets = np.zeros((1, 1), np.uint8), np.zeros((1, 1), np.int32)
    combine(targets, whole, targets, targets)
    judged = Judged(np.zeros((1, 1), np.float32), np.float32(1), codes, whole, whole)
    sum_up(whole, judged, Sums(np.zeros(1), np.zeros((3, 1, 1)), targets))
    coded = Coded(codes, np.zeros(1, np.bool_), whole, whole)
    tables = np.zeros((1, 1, 2), np.int64)
    grow(coded, Explained(targets, 1), tables, new_nodes(1, 1))
