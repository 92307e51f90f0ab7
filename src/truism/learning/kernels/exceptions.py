"""The compiled searches for rules that a few rows break.

They walk like the searches for rules without exception (`antecedents`, `consequents`), but count the
rows that break a rule instead of asking whether there is one. Legend: ``r`` the rarest predicate, ``R``
the rows that a set of predicates leaves, ``p`` and ``e`` predicates or their places; see `predicates`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from truism.learning.kernels import antecedents, consequents
from truism.learning.kernels.bits import count_and, rows_in
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


class Allowed(NamedTuple):
    """How many rows may break a rule: so many `rows`, `part` of `whole` of its rows, and rare by chance.

    By chance, a rule of ``n`` rows has ``n · n_false / n_known`` exceptions; it may have one for every
    `fewer` of them.
    """

    rows: int
    part: int
    whole: int
    fewer: int
    n_known: NDArray[np.int64]
    n_false: NDArray[np.int64]


@inner
def most(allowed, p, n):
    """Return the most exceptions that a rule about `p` may have in `n` rows."""
    by_user = allowed.rows + n * allowed.part // allowed.whole
    by_chance = n * allowed.n_false[p] // (allowed.fewer * allowed.n_known[p])
    return min(by_user, by_chance)


@inner
def sift(frontier, depth, near, least, allowed, tally):
    """Keep the predicates that leave enough rows, but not all, and can still lead to a rule."""
    R, size = frontier.R[depth], frontier.size[depth]
    items, extends, opens = frontier.items[depth], frontier.extends[depth], frontier.opens[depth]
    tally[NODES] += frontier.n_items[depth]
    kept = 0
    for i in range(frontier.n_items[depth]):
        p = items[i]
        together = count_and(R, near.own[p])
        if together < least or together == size:
            continue
        opn = opens[i]
        if opn:
            broken = count_and(R, near.wrong[p])
            opn = broken > most(allowed, near.chosen[p], together + broken)
        if extends[i] or opn:
            items[kept], extends[kept], opens[kept] = p, extends[i], opn
            kept += 1
    frontier.n_items[depth] = kept


@inner
def conclude(found, frontier, near, least, allowed, tally):
    """Note the consequents of a whole path, and whether a longer one may have others."""
    level = frontier.path.size - 1
    R = frontier.R[level]
    tally[NODES] += frontier.n_items[level]
    for i in range(frontier.n_items[level]):
        p = frontier.items[level, i]
        together = count_and(R, near.own[p])
        if together < least:
            continue
        if frontier.extends[level, i] and together < frontier.size[level]:
            tally[MORE] = 1
        if not frontier.opens[level, i]:
            continue
        broken = count_and(R, near.wrong[p])
        if 0 < broken <= most(allowed, near.chosen[p], together + broken):
            found = note(found, tally, (near.chosen[p], together, broken), frontier.path)
    frontier.n_items[level] = 0
    return found


@jit
def with_rarest_in_antecedent(r, level, chosen, predicates, implied, limits, allowed):
    """Find the rules ``A ⇒ p`` with exceptions, `level` predicates in ``A``, the rarest being ``r ∈ A``.

    Returns
    -------
    Rows of (consequent, count, exceptions, antecedent…), nodes searched, whether longer ones may exist.

    """
    rows = rows_in(predicates.T[r])
    bits, ends, counted = antecedents.places(rows, predicates.ends, predicates.counted)
    near = antecedents.look_near(chosen, predicates, rows, bits, ends, counted)
    frontier = antecedents.start(r, level, near, bits)
    antecedents.follow_first(frontier, chosen, predicates, implied[r], level)
    found = np.empty((16, level + 3), np.int64)
    tally = np.zeros(3, np.int64)
    depth, entering = 1, True
    while depth > 0:
        if entering:
            if depth == level:
                found = conclude(found, frontier, near, limits.least, allowed, tally)
            else:
                sift(frontier, depth, near, limits.least, allowed, tally)
            if is_over(tally, limits):
                return found[: tally[FOUND]], tally[NODES], True
        entering = False
        if frontier.at[depth] >= frontier.n_items[depth]:
            depth -= 1
        elif antecedents.descend(frontier, depth, near, predicates.group, implied):
            depth += 1
            entering = True
    return found[: tally[FOUND]], tally[NODES], tally[MORE] > 0


@inner
def branch(goal, frontier, depth, n_outside, needed, tally):
    """List the predicates that exclude as many rows as one of those still to come must."""
    T, outside, inside = goal.predicates.T, frontier.outside[depth], frontier.inside[depth]
    n = 0
    for i in range(goal.chosen.size):
        p = goal.chosen[i]
        if frontier.forbidden[i]:
            continue
        tally[NODES] += 1
        excluded = n_outside - count_and(outside, T[p])
        if excluded < needed:
            if excluded > 0:
                tally[MORE] = 1
            continue
        taken = consequents.is_taken(goal.predicates.group, frontier.path, depth, p)
        if not taken and count_and(inside, T[p]) >= goal.limits.least:
            frontier.branches[depth, n] = i
            n += 1
    frontier.n_branches[depth] = n


@inner
def enter(found, goal, frontier, depth, allowed, tally):
    """Note the rule if few enough rows are left to exclude, and find the branches otherwise."""
    level = frontier.path.size - 1
    n_outside = count_and(frontier.outside[depth], frontier.outside[depth])
    n_inside = count_and(frontier.inside[depth], frontier.inside[depth])
    limit = most(allowed, goal.r, n_inside + n_outside)
    frontier.n_branches[depth], frontier.at[depth] = 0, 0
    if n_outside <= limit:
        if depth == level and n_outside > 0:
            found = note(found, tally, (goal.r, n_inside, n_outside), frontier.path)
    elif depth == level:
        tally[MORE] = 1
    else:
        left = level - depth
        # Together they exclude all rows but the allowed ones, so one of them excludes its share.
        needed = (n_outside - limit + left - 1) // left
        branch(goal, frontier, depth, n_outside, needed, tally)
    return found


@inner
def descend(goal, frontier, depth):
    """Lengthen the path by the next branch."""
    T, i = goal.predicates.T, frontier.at[depth]
    frontier.at[depth] += 1
    if i > 0:
        frontier.forbidden[frontier.branches[depth, i - 1]] = True
    e = goal.chosen[frontier.branches[depth, i]]
    frontier.path[depth + 1] = e
    for w in range(T.shape[1]):
        frontier.inside[depth + 1, w] = frontier.inside[depth, w] & T[e, w]
        frontier.outside[depth + 1, w] = frontier.outside[depth, w] & T[e, w]


@jit
def with_rarest_as_consequent(r, level, chosen, predicates, limits, allowed):
    """Find the rules ``A ⇒ r`` with exceptions, all predicates being at least as frequent as ``r``.

    Returns what `with_rarest_in_antecedent` does.
    """
    found = np.empty((16, level + 3), np.int64)
    tally = np.zeros(3, np.int64)
    nothing = np.empty((0, 0), np.uint64)
    goal = consequents.Goal(r, chosen, nothing, predicates, limits)
    frontier = consequents.open_frontier(level, chosen.size, predicates.F.shape[1])
    frontier.inside[0, :] = predicates.T[r]
    frontier.outside[0, :] = predicates.F[r]
    depth, entering = 0, True
    while depth >= 0:
        if entering:
            found = enter(found, goal, frontier, depth, allowed, tally)
            if is_over(tally, limits):
                return found[: tally[FOUND]], tally[NODES], True
        entering = False
        if frontier.at[depth] >= frontier.n_branches[depth]:
            consequents.leave(frontier, depth)
            depth -= 1
        else:
            descend(goal, frontier, depth)
            depth += 1
            entering = True
    return found[: tally[FOUND]], tally[NODES], tally[MORE] > 0


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    bits, ends = np.ones((2, 1), np.uint64), np.ones(1, np.int64)
    predicates = Predicates(bits, bits, ends, np.arange(2), True, 1)
    implied = np.zeros((2, 2), np.bool_)
    allowed = Allowed(1, 0, 1, 10, np.ones(2, np.int64), np.ones(2, np.int64))
    chosen, limits = np.ones(1, np.int32), Limits(1, 9, 9)
    with_rarest_in_antecedent(0, 1, chosen, predicates, implied, limits, allowed)
    with_rarest_as_consequent(0, 1, chosen, predicates, limits, allowed)
