"""The compiled search for rules whose rarest predicate is in the antecedent.

It takes place in the rows of that predicate alone. Legend: ``r`` the rarest predicate, ``R`` the rows
that a set of predicates leaves, ``p`` and ``e`` places among the chosen predicates; see `predicates`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truism.learning.kernels.bits import (
    NOWHERE,
    SEVERAL,
    block_met,
    count_and,
    count_first,
    count_outside,
    meets,
    rows_in,
)
from truism.learning.kernels.predicates import (
    FOUND,
    MORE,
    NODES,
    Limits,
    Predicates,
    is_over,
    note,
)
from truism.scoring.kernels.compiling import inner, jit
from truism.scoring.kernels.words import popcount


class Near(NamedTuple):
    """The chosen predicates in the rows of the rarest one: `own` rows, `wrong` ones, ends of blocks.

    Only the rows of words before `counted` support a rule.
    """

    chosen: NDArray[np.int32]
    own: NDArray[np.uint64]
    wrong: NDArray[np.uint64]
    ends: NDArray[np.int64]
    counted: int


class Frontier(NamedTuple):
    """A path of predicates, and at each depth the rows it leaves and the predicates that may follow.

    Of the `n_items` that may follow, some may become a part of the antecedent (`extends`) and some the
    consequent (`opens`); `at` is the next one to go down.
    """

    path: NDArray[np.int64]
    R: NDArray[np.uint64]
    size: NDArray[np.int64]
    items: NDArray[np.int32]
    extends: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    n_items: NDArray[np.int64]
    at: NDArray[np.int64]


@inner
def places(rows, ends, counted):
    """Give some rows bits one after the other, those of each block in words of their own.

    Rows that do not count have words of their own, too.
    """
    bits = np.empty(rows.size, np.int64)
    own_ends = np.empty(ends.size, np.int64)
    i, n_words, own_counted = 0, np.int64(0), np.int64(0)
    for block in range(ends.size):
        for end in (min(counted, ends[block]), ends[block]):
            first = i
            while i < rows.size and rows[i] < 64 * end:
                bits[i] = 64 * n_words + i - first
                i += 1
            n_words += (i - first + 63) // 64
            if end <= counted:
                own_counted = n_words
        own_ends[block] = n_words
    return bits, own_ends, own_counted


@inner
def project(chosen, T, rows, bits, n_words):
    """Keep only some rows, each with its new bit."""
    out = np.zeros((chosen.size, n_words), np.uint64)
    for j in range(chosen.size):
        source = T[chosen[j]]
        target = out[j]
        for i in range(rows.size):
            bit = (source[rows[i] >> 6] >> np.uint64(rows[i] & 63)) & np.uint64(1)
            target[bits[i] >> 6] |= bit << np.uint64(bits[i] & 63)
    return out


@inner
def look_near(chosen, predicates, rows, bits, ends, counted):
    """Keep only some rows of the chosen predicates."""
    own = project(chosen, predicates.T, rows, bits, ends[-1])
    wrong = ~own if predicates.known else project(chosen, predicates.F, rows, bits, ends[-1])
    return Near(chosen, own, wrong, ends, counted)


@inner
def start(r, level, near, bits):
    """Begin with the rarest predicate and its rows."""
    n = near.chosen.size
    frontier = Frontier(
        np.full(level + 1, r, np.int64),
        np.zeros((level + 1, near.own.shape[1]), np.uint64),
        np.full(level + 1, bits.size, np.int64),
        np.empty((level + 1, n), np.int32),
        np.zeros((level + 1, n), np.bool_),
        np.zeros((level + 1, n), np.bool_),
        np.full(level + 1, n, np.int64),
        np.zeros(level + 1, np.int64),
    )
    for i in range(bits.size):
        frontier.R[1, bits[i] >> 6] |= np.uint64(1) << np.uint64(bits[i] & 63)
    return frontier


@inner
def follow_first(frontier, chosen, predicates, implied, level):
    """Let every chosen predicate follow the rarest, whose consequents `implied` holds."""
    F, ends = predicates.F, predicates.ends
    for i in range(chosen.size):
        frontier.items[1, i], frontier.extends[1, i] = i, True
        opens = level == 1 or not implied[chosen[i]]
        if opens and ends.size > 1:
            opens = block_met(F[chosen[i]], F[chosen[i]], ends) == SEVERAL
        frontier.opens[1, i] = opens


@inner
def sift(frontier, depth, near, least, tally):
    """Keep the predicates that leave enough rows, but not all, and can still lead to a rule."""
    R, size = frontier.R[depth], frontier.size[depth]
    items, extends, opens = frontier.items[depth], frontier.extends[depth], frontier.opens[depth]
    tally[NODES] += frontier.n_items[depth]
    kept = 0
    for i in range(frontier.n_items[depth]):
        p = items[i]
        together = count_first(R, near.own[p], near.counted)
        if together < least:
            continue
        if near.counted < R.size:
            together = count_and(R, near.own[p])
        if together == size:
            continue
        opn = opens[i] and meets(R, near.wrong[p])
        if extends[i] or opn:
            items[kept], extends[kept], opens[kept] = p, extends[i], opn
            kept += 1
    frontier.n_items[depth] = kept


@inner
def conclude(found, frontier, near, least, tally):
    """Note the consequents of a whole path, and whether a longer one may have others."""
    level = frontier.path.size - 1
    R, several = frontier.R[level], near.ends.size > 1
    tally[NODES] += frontier.n_items[level]
    for i in range(frontier.n_items[level]):
        p = frontier.items[level, i]
        if frontier.extends[level, i] and not tally[MORE]:
            enough = least <= count_first(R, near.own[p], near.counted)
            tally[MORE] = enough and count_and(R, near.own[p]) < frontier.size[level]
        if not frontier.opens[level, i]:
            continue
        block = np.int64(NOWHERE)
        if several:
            block = np.int64(block_met(R, near.wrong[p], near.ends))
        if block < 0 if several else meets(R, near.wrong[p]):
            continue
        together = count_outside(R, near.own[p], near.ends, block, near.counted)
        if together >= least:
            found = note(found, tally, (near.chosen[p], together, block), frontier.path)
    frontier.n_items[level] = 0
    return found


@inner
def inherit(frontier, depth, i, chosen, group, implied):
    """Hand on what may follow the path with its ``i``-th follower, and return how many they are."""
    items, extends, opens = frontier.items[depth], frontier.extends[depth], frontier.opens[depth]
    e = chosen[items[i]]
    kept = 0
    for j in range(frontier.n_items[depth]):
        p = items[j]
        if group[chosen[p]] == group[e]:
            continue
        ext = extends[j] and j > i
        opn = opens[j] and not implied[e, chosen[p]]
        if opn or ext:
            frontier.items[depth + 1, kept] = p
            frontier.extends[depth + 1, kept] = ext
            frontier.opens[depth + 1, kept] = opn
            kept += 1
    return kept


@inner
def descend(frontier, depth, near, group, implied):
    """Lengthen the path by the next predicate; tell whether anything may follow it."""
    i = frontier.at[depth]
    frontier.at[depth] += 1
    if not frontier.extends[depth, i]:
        return False
    kept = inherit(frontier, depth, i, near.chosen, group, implied)
    if kept == 0:
        return False
    e = frontier.items[depth, i]
    frontier.n_items[depth + 1] = kept
    frontier.at[depth + 1] = 0
    frontier.path[depth + 1] = near.chosen[e]
    size = np.int64(0)
    for w in range(near.own.shape[1]):
        frontier.R[depth + 1, w] = frontier.R[depth, w] & near.own[e, w]
        size += popcount(frontier.R[depth + 1, w])
    frontier.size[depth + 1] = size
    return True


@inner
def conclude_alone(found, r, chosen, predicates, least, tally):
    """Note what the rarest predicate implies by itself: what `conclude` does, without looking near.

    Keeping only some rows of a predicate costs more than reading all of its words once.
    """
    T, F, ends, counted = predicates.T, predicates.F, predicates.ends, predicates.counted
    R, several = T[r], ends.size > 1
    path = np.full(2, r, np.int64)
    tally[NODES] += chosen.size
    for i in range(chosen.size):
        p = chosen[i]
        if not tally[MORE]:
            enough = least <= count_first(R, T[p], counted)
            tally[MORE] = enough and count_and(R, T[p]) < count_and(R, R)
        if not several:
            if meets(R, F[p]):
                continue
            block = np.int64(NOWHERE)
        else:
            block = np.int64(block_met(R, F[p], ends))
            if block < 0 or block_met(F[p], F[p], ends) != SEVERAL:
                continue
        together = count_outside(R, T[p], ends, block, counted)
        if together >= least:
            found = note(found, tally, (p, together, block), path)
    return found


@jit
def with_rarest_in_antecedent(r, level, chosen, predicates, implied, limits):
    """Find the rules ``A ⇒ p`` with `level` predicates in ``A``, the rarest of all being ``r ∈ A``.

    `implied` holds the consequents of single predicates; they are not found again here.

    Returns
    -------
    Rows of (consequent, count, block, antecedent…), nodes searched, and whether longer ones may exist.

    """
    found = np.empty((16, level + 3), np.int64)
    tally = np.zeros(3, np.int64)
    rows = rows_in(predicates.T[r])
    if level == 1 and rows.size >= predicates.T.shape[1]:
        found = conclude_alone(found, r, chosen, predicates, limits.least, tally)
        return found[: tally[FOUND]], tally[NODES], tally[MORE] > 0 or is_over(tally, limits)
    bits, ends, counted = places(rows, predicates.ends, predicates.counted)
    near = look_near(chosen, predicates, rows, bits, ends, counted)
    frontier = start(r, level, near, bits)
    follow_first(frontier, chosen, predicates, implied[r], level)
    depth, entering = 1, True
    while depth > 0:
        if entering:
            if depth == level:
                found = conclude(found, frontier, near, limits.least, tally)
            else:
                sift(frontier, depth, near, limits.least, tally)
            if is_over(tally, limits):
                return found[: tally[FOUND]], tally[NODES], True
        entering = False
        if frontier.at[depth] >= frontier.n_items[depth]:
            depth -= 1
        elif descend(frontier, depth, near, predicates.group, implied):
            depth += 1
            entering = True
    return found[: tally[FOUND]], tally[NODES], tally[MORE] > 0


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    bits, ends = np.ones((2, 1), np.uint64), np.ones(1, np.int64)
    predicates = Predicates(bits, bits, ends, np.arange(2), True, 1)
    implied = np.zeros((2, 2), np.bool_)
    with_rarest_in_antecedent(0, 1, np.ones(1, np.int32), predicates, implied, Limits(1, 9, 9))
