"""Compiled loops that find the leaves of contexts, and compare rows with them.

Legend: ``k`` a context, ``r`` a row, ``i`` a variable, ``w`` a word of 64 rows. The leaves of all
contexts stand one below the other in the tables; `firsts` says where those of each context start.
"""

import numpy as np

from truism.scoring.kernels.compiling import inner, jit
from truism.scoring.kernels.words import first_bit, without_first_bit

_TILE = 32  # rows of a table that is turned around, so that what is read and written stays near
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
def find_rows(leaves, firsts, at):
    """Note where the leaf of each row and context stands in the tables: rows × contexts."""
    for k in range(leaves.shape[0]):
        for r in range(leaves.shape[1]):
            at[r, k] = firsts[k] + np.int32(leaves[k, r])


@inner
def factor(standard, scale, shift):
    """Return one plus the squared distance of a number from its leaf's mean."""
    distance = standard * scale - shift
    return distance * distance + np.float32(1)


@jit
def multiply_surprise(at, scale, shift, standard, tail, products):
    """Multiply one plus the squared distance of each number from its leaf's mean, over contexts.

    `products` are planes × rows × numbers: one plane for every six contexts, and the last for the
    distance from the variable's own mean.
    """
    own = products.shape[0] - 1
    for r in range(standard.shape[0]):
        for plane in range(own):
            a, b, c, d, e, f = at[r, 6 * plane : 6 * plane + 6]
            for i in range(standard.shape[1]):
                x = standard[r, i]
                product = factor(x, scale[a, i], shift[a, i]) * factor(x, scale[b, i], shift[b, i])
                product *= factor(x, scale[c, i], shift[c, i])
                product *= factor(x, scale[d, i], shift[d, i])
                product *= factor(x, scale[e, i], shift[e, i])
                products[plane, r, i] = product * factor(x, scale[f, i], shift[f, i])
        for i in range(standard.shape[1]):
            products[own, r, i] = standard[r, i] * standard[r, i] / tail + np.float32(1)


@jit
def add_surprise(logarithms, steepness, share, times, places, found):
    """Average the logarithms of products over contexts, less a share of a number's own surprise.

    `found` is variables × rows; a missing value is no surprise.
    """
    own, steep = logarithms.shape[0] - 1, np.float32(steepness)
    near = np.empty((_TILE, places.size))
    for first in range(0, logarithms.shape[1], _TILE):
        n_rows = min(_TILE, logarithms.shape[1] - first)
        for r in range(n_rows):
            for i in range(places.size):
                near[r, i] = 0.0
            for plane in range(own):
                for i in range(places.size):
                    near[r, i] += logarithms[plane, first + r, i]
            for i in range(places.size):
                beyond = near[r, i] * steepness / times[i]
                beyond -= logarithms[own, first + r, i] * steep * share
                near[r, i] = beyond if beyond > 0.0 else 0.0
        for i in range(places.size):
            for r in range(n_rows):
                found[places[i], first + r] = near[r, i]


@jit
def add_evidence(leaves, firsts, judges, ends, table, classes, offsets, times, places, found):
    """Average the evidence against states over contexts; `found` is variables × rows.

    `judges` are the contexts that judge each state, one state after the other; `ends` is where those of
    a state end. `table` is classes × leaves.
    """
    first, flat = 0, table.ravel()
    where, added = np.empty(classes.shape[1], np.int64), np.empty(classes.shape[1], np.float32)
    for i in range(places.size):
        for r in range(where.size):
            where[r] = (offsets[i] + np.int64(classes[i, r])) * table.shape[1]
            added[r] = np.float32(0)
        for k in judges[first : ends[i]]:
            for r in range(where.size):
                added[r] += flat[where[r] + firsts[k] + np.int64(leaves[k, r])]
        for r in range(where.size):
            found[places[i], r] = added[r] / times[i]
        first = ends[i]


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    words, whole, one = np.ones((1, 1), np.uint64), np.zeros(1, np.int64), np.ones(1)
    table, codes, firsts = (
        *np.zeros((1, 1, 1), np.float32),
        np.zeros((1, 1), np.uint8),
        np.zeros(1, np.int32),
    )
    at, products, found = (
        np.zeros((1, 6), np.int32),
        np.ones((2, 1, 1), np.float32),
        np.ones((1, 2)),
    )
    find_leaves(words, whole, whole, whole, whole, codes)
    find_rows(codes, firsts, at)
    multiply_surprise(at, table, table, table, np.float32(1), products)
    add_surprise(products, 1.0, np.float32(1), one, whole, found[:, :1])
    add_evidence(codes, firsts, whole, whole, table, codes, whole, one, whole, found)
