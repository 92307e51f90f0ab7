"""The compiled search for rules whose rarest predicate is the consequent.

``A ⇒ r`` needs an antecedent that excludes every row in which ``r`` is false: a hitting set. Branch on
what the hardest row to exclude lacks, and forbid earlier siblings so that no set is met twice.
Predicates that every row of ``r`` satisfies stay in play: they may exclude rows outside. If there
are several blocks, each is left out in turn, and some row in it must satisfy ``A`` but not ``r``.
Legend: ``r`` the rarest predicate, ``w`` a word; see `predicates`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truism.learning.kernels.bits import (
    NOWHERE,
    SEVERAL,
    block_met,
    count_first,
    meets,
    start_of,
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
from truism.scoring.kernels.words import first_bit


class Goal(NamedTuple):
    """What is searched for: the consequent, what it may follow from, and the least rows of both.

    `planes` count, for each row to exclude, how many of the chosen predicates it satisfies.
    """

    r: int
    chosen: NDArray[np.int32]
    planes: NDArray[np.uint64]
    predicates: Predicates
    limits: Limits


class LeftOut(NamedTuple):
    """A block that is left out, and its words; NOWHERE, and no words, for none."""

    block: int
    first: int
    last: int


class Frontier(NamedTuple):
    """A path of predicates, and at each depth the rows that it leaves, and branches.

    Rows of the consequent are `inside`, rows still to be excluded `outside`. Branches are places among
    the chosen predicates, `at` the next one to go down; earlier ones are `forbidden`.
    """

    path: NDArray[np.int64]
    inside: NDArray[np.uint64]
    outside: NDArray[np.uint64]
    branches: NDArray[np.int32]
    n_branches: NDArray[np.int64]
    at: NDArray[np.int64]
    forbidden: NDArray[np.bool_]


@inner
def count_planes(chosen, T, mask):
    """Count in bit-sliced counters, for each row of `mask`, how many chosen predicates it meets."""
    n_planes = 1
    while (1 << n_planes) <= chosen.size:
        n_planes += 1
    planes = np.zeros((n_planes, mask.size), np.uint64)
    for j in range(chosen.size):
        for w in range(mask.size):
            carry = T[chosen[j], w] & mask[w]
            i = 0
            while carry:
                kept = planes[i, w]
                planes[i, w] = kept ^ carry
                carry = kept & carry
                i += 1
    return planes


@inner
def fullest_row(planes, R):
    """Find a row of `R` with the largest counter, the first of equals."""
    left = R.copy()
    for i in range(planes.shape[0] - 1, -1, -1):
        if meets(left, planes[i]):
            for w in range(left.size):
                left[w] &= planes[i, w]
    for w in range(left.size):
        if left[w]:
            return w, np.uint64(first_bit(left[w]))
    return -1, np.uint64(0)


@inner
def open_frontier(level, n_chosen, width):
    """Make room for a search."""
    return Frontier(
        np.zeros(level + 1, np.int64),
        np.empty((level + 1, width), np.uint64),
        np.empty((level + 1, width), np.uint64),
        np.empty((level + 1, n_chosen), np.int32),
        np.zeros(level + 1, np.int64),
        np.zeros(level + 1, np.int64),
        np.zeros(n_chosen, np.bool_),
    )


@inner
def excused(goal, path, depth, left_out):
    """Tell whether a row that is left out satisfies the path, although the consequent is false in it."""
    for w in range(left_out.first, left_out.last):
        left = goal.predicates.F[goal.r, w]
        for d in range(1, depth + 1):
            left &= goal.predicates.T[path[d], w]
        if left:
            return True
    return False


@inner
def is_taken(group, path, depth, p):
    """Tell whether a predicate of the same variable is on the path."""
    for d in range(1, depth + 1):  # noqa: SIM110
        if group[path[d]] == group[p]:
            return True
    return False


@inner
def branch(goal, frontier, depth, word, bit, tally):
    """List the predicates that exclude a row and leave enough rows inside."""
    T, group, least = goal.predicates.T, goal.predicates.group, goal.limits.least
    inside, branches = frontier.inside[depth], frontier.branches[depth]
    counted = goal.predicates.counted
    n = 0
    for i in range(goal.chosen.size):
        p = goal.chosen[i]
        if frontier.forbidden[i] or (word >= 0 and (T[p, word] >> bit) & np.uint64(1)):
            continue
        tally[NODES] += 1
        taken = is_taken(group, frontier.path, depth, p)
        if not taken and count_first(inside, T[p], counted) >= least:
            branches[n] = i
            n += 1
    frontier.n_branches[depth] = n


@inner
def enter(found, goal, frontier, depth, block, tally):
    """Note the rule if no row is left to exclude, and find the branches otherwise."""
    level = frontier.path.size - 1
    word, bit = fullest_row(goal.planes, frontier.outside[depth])
    frontier.n_branches[depth], frontier.at[depth] = 0, 0
    if word < 0 and depth > 0:
        if depth == level:
            inside = frontier.inside[depth]
            together = count_first(inside, inside, goal.predicates.counted)
            found = note(found, tally, (goal.r, together, block), frontier.path)
    elif depth == level:
        tally[MORE] = 1
    else:
        branch(goal, frontier, depth, word, bit, tally)
    return found


@inner
def leave(frontier, depth):
    """Allow again what was forbidden below."""
    for j in range(frontier.n_branches[depth]):
        frontier.forbidden[frontier.branches[depth, j]] = False


@inner
def descend(goal, frontier, depth, left_out, tally):
    """Lengthen the path by the next branch; tell whether it may lead to a rule."""
    T, i = goal.predicates.T, frontier.at[depth]
    frontier.at[depth] += 1
    if i > 0:
        frontier.forbidden[frontier.branches[depth, i - 1]] = True
    e = goal.chosen[frontier.branches[depth, i]]
    if depth + 2 == frontier.path.size and meets(frontier.outside[depth], T[e]):
        tally[MORE] = 1
        return False
    frontier.path[depth + 1] = e
    if left_out.block != NOWHERE and not excused(goal, frontier.path, depth + 1, left_out):
        return False
    for w in range(T.shape[1]):
        frontier.inside[depth + 1, w] = frontier.inside[depth, w] & T[e, w]
        frontier.outside[depth + 1, w] = frontier.outside[depth, w] & T[e, w]
    return True


@inner
def search(found, goal, frontier, left_out, tally):
    """Find the rules of all rows but those left out."""
    frontier.inside[0, :] = goal.predicates.T[goal.r]
    frontier.outside[0, :] = goal.predicates.F[goal.r]
    frontier.inside[0, left_out.first : left_out.last] = 0
    frontier.outside[0, left_out.first : left_out.last] = 0
    depth, entering = 0, True
    while depth >= 0:
        if entering:
            found = enter(found, goal, frontier, depth, left_out.block, tally)
            if is_over(tally, goal.limits):
                return found
        entering = False
        if frontier.at[depth] >= frontier.n_branches[depth]:
            leave(frontier, depth)
            depth -= 1
        elif descend(goal, frontier, depth, left_out, tally):
            depth += 1
            entering = True
    return found


@inner
def search_alone(found, goal, frontier, left_out, tally):
    """Find the rules with one predicate in the antecedent: what `search` does, without a path."""
    T, F, counted = goal.predicates.T, goal.predicates.F, goal.predicates.counted
    inside, outside = frontier.inside[0], frontier.outside[0]
    inside[:], outside[:] = T[goal.r], F[goal.r]
    inside[left_out.first : left_out.last] = 0
    outside[left_out.first : left_out.last] = 0
    word, bit = fullest_row(goal.planes, outside)
    for i in range(goal.chosen.size):
        p = goal.chosen[i]
        if word >= 0 and (T[p, word] >> bit) & np.uint64(1):
            continue
        tally[NODES] += 1
        together = count_first(inside, T[p], counted)
        if together < goal.limits.least:
            continue
        if meets(outside, T[p]):
            tally[MORE] = 1
            continue
        frontier.path[1] = p
        if left_out.block == NOWHERE or excused(goal, frontier.path, 1, left_out):
            found = note(found, tally, (goal.r, together, left_out.block), frontier.path)
    return found


@jit
def with_rarest_as_consequent(r, level, chosen, predicates, limits):
    """Find the rules ``A ⇒ r`` with `level` predicates in ``A``, all at least as frequent as ``r``.

    Returns what `with_rarest_in_antecedent` does.
    """
    found = np.empty((16, level + 3), np.int64)
    tally = np.zeros(3, np.int64)
    F, ends = predicates.F, predicates.ends
    if ends.size > 1 and block_met(F[r], F[r], ends) != SEVERAL:
        return found[:0], tally[NODES], False
    goal = Goal(r, chosen, count_planes(chosen, predicates.T, F[r]), predicates, limits)
    frontier = open_frontier(level, chosen.size, F.shape[1])
    for block in range(ends.size):
        left_out = LeftOut(NOWHERE, 0, 0)
        if ends.size > 1:
            left_out = LeftOut(block, start_of(block, ends), ends[block])
            if not excused(goal, frontier.path, 0, left_out):
                continue
        if level == 1:
            found = search_alone(found, goal, frontier, left_out, tally)
        else:
            found = search(found, goal, frontier, left_out, tally)
        if is_over(tally, limits):
            return found[: tally[FOUND]], tally[NODES], True
    return found[: tally[FOUND]], tally[NODES], tally[MORE] > 0


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    bits, ends = np.ones((2, 1), np.uint64), np.ones(1, np.int64)
    predicates = Predicates(bits, bits, ends, np.arange(2), True, 1)
    with_rarest_as_consequent(0, 1, np.ones(1, np.int32), predicates, Limits(1, 9, 9))
