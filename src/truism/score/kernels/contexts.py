"""Compiled loops that find the leaves of contexts, and compare rows with them.

Legend: ``k`` a context, ``r`` a row, ``i`` a variable, ``w`` a word of 64 rows. The leaves of all
contexts stand one below the other in the tables; `firsts` says where those of each context start.
"""

import math

import numpy as np

from truism.score.kernels.compiling import inner, jit

_TILE = 32  # rows of a table that is turned around, so that what is read and written stays near
_EVERY_ROW = np.uint64(0xFFFFFFFFFFFFFFFF)
_EACH_BYTE = np.uint64(0x0101010101010101)
_BIT_OF_EACH = np.uint64(0x8040201008040201)
_ALL_BUT_HIGHEST = np.uint64(0x7F7F7F7F7F7F7F7F)
_FRACTION_BITS, _BIAS = np.int32(23), np.int32(127)  # of a float of 32 bits
_FRACTION, _ONE = np.int32(0x007FFFFF), np.int32(0x3F800000)
_LOG_2 = math.log(2)


@inner
def spread(byte):
    """Return eight bytes, the first of which is the lowest bit of a byte, and so on."""
    apart = (byte * _EACH_BYTE) & _BIT_OF_EACH
    return ((apart + _ALL_BUT_HIGHEST) >> np.uint64(7)) & _EACH_BYTE


@jit
def find_leaves(true, trees, ends, leaf_of, waiting, digits, found):
    """Walk many rows at a time through each tree, and assemble the numbers of their leaves from digits.

    `ends` is where each tree ends, `leaf_of` a leaf's number, or -1; a node comes before those below
    it, and those of rows that satisfy its split before the others. There is room for rows `waiting` at
    each depth, and for `digits`. `found` is trees × eight rows to a word, one to a byte.
    """
    for start in range(0, true.shape[1], waiting.shape[1]):
        n_words, node = min(waiting.shape[1], true.shape[1] - start), 0
        for k in range(ends.size):
            for w in range(n_words):
                waiting[0, w] = _EVERY_ROW
                for digit in range(digits.shape[0]):
                    digits[digit, w] = np.uint64(0)
            depth = 0
            while node < ends[k]:
                rows, leaf = waiting[depth], leaf_of[node]
                if leaf >= 0:
                    for digit in range(digits.shape[0]):
                        if leaf >> digit & 1:
                            for w in range(n_words):
                                digits[digit, w] |= rows[w]
                    depth -= 1
                else:
                    depth, holds = depth + 1, true[trees[node]]
                    for w in range(n_words):
                        waiting[depth, w] = rows[w] & holds[start + w]
                        rows[w] ^= waiting[depth, w]
                node += 1
            for w in range(n_words):
                for byte in range(8):
                    leaves = np.uint64(0)
                    for digit in range(digits.shape[0]):
                        own = (digits[digit, w] >> np.uint64(8 * byte)) & np.uint64(0xFF)
                        leaves |= spread(own) << np.uint64(digit)
                    found[k, 8 * (start + w) + byte] = leaves


@inner
def factor(standard, scale, shift):
    """Return one plus the squared distance of a number from its leaf's mean."""
    distance = standard * scale - shift
    return distance * distance + np.float32(1)


@inner
def fraction(bits):
    """Return a number of at least one, given its bits, halved until it is below two."""
    return np.int32(bits & _FRACTION | _ONE).view(np.float32)


@jit
def multiply_surprise(
    leaves, firsts, scale, shift, standard, first, tail, at, sixes, bits, products, powers
):
    """Multiply one plus the squared distance of each number from its leaf's mean, over contexts.

    `products` are two × rows from the first one on × numbers: of all contexts, without the powers of two
    that `powers` counts, and of the distance from the variable's own mean. Six at a time cannot overflow,
    as spreads are no smaller than a floor. There is room for the place of each row's leaves, `at`, which
    begins as a leaf of no spread and no mean, where all is ordinary, and for the products of `sixes`;
    `bits` are the same numbers.
    """
    for k in range(leaves.shape[0]):
        for r in range(products.shape[1]):
            at[r, k] = firsts[k] + np.int32(leaves[k, first + r])
    for r in range(products.shape[1]):
        values, places = standard[first + r], at[r]
        for six in range(bits.shape[0]):
            a, b, c = places[6 * six], places[6 * six + 1], places[6 * six + 2]
            d, e, f = places[6 * six + 3], places[6 * six + 4], places[6 * six + 5]
            for i in range(values.size):
                x = values[i]
                product = factor(x, scale[a, i], shift[a, i]) * factor(x, scale[b, i], shift[b, i])
                product *= factor(x, scale[c, i], shift[c, i])
                product *= factor(x, scale[d, i], shift[d, i])
                product *= factor(x, scale[e, i], shift[e, i])
                sixes[six, i] = product * factor(x, scale[f, i], shift[f, i])
        for i in range(values.size):
            products[0, r, i] = fraction(bits[0, i])
            powers[r, i] = (bits[0, i] >> _FRACTION_BITS) - bits.shape[0] * _BIAS
            products[1, r, i] = values[i] * values[i] / tail + np.float32(1)
        for six in range(1, bits.shape[0]):
            for i in range(values.size):
                products[0, r, i] *= fraction(bits[six, i])
                powers[r, i] += bits[six, i] >> _FRACTION_BITS


@jit
def add_surprise(logarithms, powers, steepness, share, unit, times, places, start, found):
    """Average the logarithms of products over contexts, less a share of a number's own surprise.

    `found` is variables × rows, of which those from `start` on are noted, in a unit; a missing value is
    no surprise.
    """
    steep = np.float32(steepness)
    near = np.empty((_TILE, places.size))
    for first in range(0, logarithms.shape[1], _TILE):
        n_rows = min(_TILE, logarithms.shape[1] - first)
        for r in range(n_rows):
            for i in range(places.size):
                whole = logarithms[0, first + r, i] + powers[first + r, i] * _LOG_2
                beyond = whole * steepness / times[i]
                beyond -= logarithms[1, first + r, i] * steep * share
                near[r, i] = beyond / unit if beyond > 0.0 else 0.0
        for i in range(places.size):
            for r in range(n_rows):
                found[places[i], start + first + r] = near[r, i]


@jit
def add_evidence(
    leaves, firsts, judges, ends, table, width, classes, offsets, unit, times, places, where, added,
    found,
):  # fmt: skip
    """Average the evidence against states over contexts; `found` is variables × rows.

    `judges` are the contexts that judge each state, one state after the other; `ends` is where those of
    a state end. `table` is classes × leaves, `width` of them, on end. There is room for where rows look
    in it, and for what was `added`.
    """
    first = 0
    for i in range(places.size):
        for r in range(where.size):
            where[r] = (offsets[i] + np.int64(classes[i, r])) * width
            added[r] = np.float32(0)
        for j in range(first, ends[i]):
            own, start = leaves[judges[j]], np.int64(firsts[judges[j]])
            for r in range(where.size):
                added[r] += table[where[r] + start + np.int64(own[r])]
        for r in range(where.size):
            found[places[i], r] = added[r] / times[i] / unit
        first = ends[i]
