"""Compiled loops that find the leaves of contexts, and compare rows with them.

Legend: ``k`` a context, ``r`` a row, ``i`` a variable, ``w`` a word of 64 rows. The leaves of all
contexts stand one below the other in the tables; `firsts` says where those of each context start.
"""

import numpy as np

from truism.scoring.kernels.compiling import jit
from truism.scoring.kernels.words import first_bit, without_first_bit

_EVERY_ROW = np.uint64(0xFFFFFFFFFFFFFFFF)


@jit
def find_leaves(true, trees, ends, leaf_of, starts, found):
    """Walk 64 rows at a time through each tree, and only where any of them goes.

    Nodes come before the nodes below them: `ends` is where the next part of the tree starts, `leaf_of` a
    leaf's number, or -1.
    """
    n_rows = found.shape[1]
    waiting = np.empty(256, np.uint64)
    for k in range(found.shape[0]):
        for w in range(true.shape[1]):
            left = n_rows - 64 * w
            rows = _EVERY_ROW if left >= 64 else (np.uint64(1) << np.uint64(left)) - np.uint64(1)
            node, depth = starts[k], 0
            while True:
                if rows and leaf_of[node] < 0:
                    below = rows & true[trees[node], w]
                    waiting[depth] = rows ^ below
                    depth += 1
                    rows = below
                    node += 1
                    continue
                while rows:
                    found[k, 64 * w + first_bit(rows)] = leaf_of[node]
                    rows = without_first_bit(rows)
                if depth == 0:
                    break
                depth -= 1
                rows = waiting[depth]
                node = ends[node]


@jit
def multiply_surprise(leaves, firsts, scale, shift, standard, product):
    """Multiply, over contexts, one plus the squared distance of each number from its leaf's mean."""
    one = np.float32(1)
    for r in range(standard.shape[0]):
        for i in range(standard.shape[1]):
            product[r, i] = one
        for k in range(leaves.shape[0]):
            leaf = firsts[k] + np.int64(leaves[k, r])
            for i in range(standard.shape[1]):
                distance = standard[r, i] * scale[leaf, i] - shift[leaf, i]
                product[r, i] *= distance * distance + one


@jit
def add_evidence(leaves, firsts, judged, ends, table, classes, offsets, total):
    """Add up, over contexts, the evidence against states; `total` is variables × rows.

    `judged` are the states that contexts judge, one context after the other; `ends` is where each ends.
    """
    own, where = np.zeros(classes.shape[0], np.float32), np.zeros(classes.shape[0], np.int64)
    for r in range(classes.shape[1]):
        for i in range(classes.shape[0]):
            where[i] = offsets[i] + np.int64(classes[i, r])
            own[i] = np.float32(0)
        first = 0
        for k in range(leaves.shape[0]):
            leaf = firsts[k] + np.int64(leaves[k, r])
            for j in range(first, ends[k]):
                own[judged[j]] += table[leaf, where[judged[j]]]
            first = ends[k]
        for i in range(classes.shape[0]):
            total[i, r] = own[i]


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    words, whole = np.ones((1, 1), np.uint64), np.zeros(1, np.int64)
    table, codes = np.zeros((1, 1), np.float32), np.zeros((1, 1), np.uint8)
    find_leaves(words, whole, whole, whole, whole, codes)
    multiply_surprise(codes, whole, table, table, table, table.copy())
    add_evidence(codes, whole, whole, whole, table, codes, whole, table.copy())
