"""The compiled loops that search for rules, and that check and use what was found.

Sets of rows are words of 64 rows each. Legend: ``T`` and ``F`` the rows in which predicates are true and
false (predicates from rare to frequent × words), ``r`` the rarest predicate of a rule, ``p`` and ``e``
others, ``w`` a word, ``R`` the rows that a set of predicates leaves. If rows form several blocks, each
of which ends before a word of ``ends``, the searches find the rules that exactly one block breaks,
although their consequent fails in other blocks too, and count the rows of the others. Otherwise they find
the rules that no row breaks.

Every function releases the GIL and touches only its arguments. What looks like a habit is there because
it compiles several times as fast: numbers that a loop changes start as ``np.int64``, since a literal
would be compiled for once more, and rows are copied cell by cell.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from truism.score.kernels.compiling import inner, jit

NOWHERE, SEVERAL = -1, -2  # instead of the number of a block
FOUND, NODES, INSIDE, OUTSIDE = 0, 1, 2, 3
"""Places in a tally: rules found, nodes searched, and whether longer ones may exist on either side."""


def popcount(word: Any) -> int:
    """Count the bits of a word (this body runs only when compilation is switched off)."""
    return int(word).bit_count()


@overload(popcount)
def _compiled_popcount(word: Any) -> Any:  # noqa: ARG001
    def bit_tricks(word: Any) -> Any:
        x = np.uint64(word)
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + (
            (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
        )
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))

    return bit_tricks


@inner
def first_bit(word):
    """Return the place of the lowest bit that is set; there must be one."""
    return popcount((word & (~word + np.uint64(1))) - np.uint64(1))


@inner
def without_first_bit(word):
    """Take away the lowest bit that is set; there must be one."""
    return word & (word - np.uint64(1))


class Predicates(NamedTuple):
    """Predicates from rare to frequent: their rows, blocks of rows, and numbers of variables.

    `known` says that no predicate is unknown in any row. Rows of words from `counted` on refute rules
    but support none.
    """

    T: NDArray[np.uint64]
    F: NDArray[np.uint64]
    ends: NDArray[np.int64]
    group: NDArray[np.int64]
    known: bool
    counted: int


class Limits(NamedTuple):
    """The smallest admitted count of a rule, and when a search is given up."""

    least: int
    max_nodes: int
    max_found: int


@inner
def counts(n):
    """Make room for whole numbers; here once, instead of wherever it is needed, as the two below."""
    return np.zeros(n, np.int64)


@inner
def table(n, m):
    """Make room for whole numbers in rows and columns."""
    return np.zeros((n, m), np.int64)


@inner
def sets(n, n_words):
    """Make room for sets of rows."""
    return np.zeros((n, n_words), np.uint64)


@inner
def count_both(a, b, n):
    """Count the rows in both, of the first `n` words."""
    total = np.int64(0)
    for w in range(n):
        total += popcount(a[w] & b[w])
    return total


@inner
def meets(a, b):
    """Tell whether any row is in both."""
    for w in range(a.size):  # noqa: SIM110
        if a[w] & b[w]:
            return True
    return False


@inner
def block_met(a, b, ends):
    """Tell in which block there are rows in both: its number, or NOWHERE, or SEVERAL."""
    where, w = np.int64(NOWHERE), np.int64(0)
    for block in range(ends.size):
        while w < ends[block]:
            if a[w] & b[w]:
                if where != NOWHERE:
                    return np.int64(SEVERAL)
                where = np.int64(block)
                break
            w += 1
        w = ends[block]
    return where


@inner
def start_of(block, ends):
    """Return the first word of a block."""
    return ends[block - 1] if block > 0 else np.int64(0)


@inner
def count_outside(a, b, ends, block, counted):
    """Count the rows in both, of the words that count, but for those of one block."""
    total = count_both(a, b, counted)
    if block >= 0:
        for w in range(start_of(block, ends), ends[block]):
            total -= popcount(a[w] & b[w])
    return total


@inner
def rows_in(words):
    """List the rows whose bit is set."""
    rows = counts(count_both(words, words, words.size))
    n = 0
    for w in range(words.size):
        left = words[w]
        while left:
            rows[n] = 64 * w + first_bit(left)
            left = without_first_bit(left)
            n += 1
    return rows


@inner
def note(found, tally, consequent, together, block, path):
    """Note a rule with the predicates of the path as its antecedent; make room if need be."""
    n_found = tally[FOUND]
    if n_found == found.shape[0]:
        more = table(2 * n_found, found.shape[1])
        for i in range(n_found):
            for j in range(found.shape[1]):
                more[i, j] = found[i, j]
        found = more
    found[n_found, 0], found[n_found, 1], found[n_found, 2] = consequent, together, block
    for d in range(1, path.size):
        found[n_found, 2 + d] = path[d]
    tally[FOUND] += 1
    return found


@inner
def is_over(tally, limits):
    """Tell whether a search has gone beyond its limits."""
    return tally[NODES] > limits.max_nodes or tally[FOUND] > limits.max_found


@inner
def is_within(a, b):
    """Tell whether all rows of the first are in the second."""
    for w in range(a.size):  # noqa: SIM110
        if a[w] & ~b[w]:
            return False
    return True


@jit
def pair_up(r, chosen, predicates, limits):
    """Find the rules between the rarest predicate and each of the chosen ones, either way around.

    Return rows of (consequent, count, block, antecedent), and the tally.
    """
    T, F, ends = predicates.T, predicates.F, predicates.ends
    several, r = ends.size > 1, np.int64(r)
    found, tally, path = table(16, 4), counts(4), counts(2)
    for i in range(chosen.size):
        p = np.int64(chosen[i])
        tally[NODES] += 2
        tally[INSIDE] |= not is_within(T[r], T[p])
        for side in range(2):
            path[1], c = (r, p) if side == 0 else (p, r)
            rows, block = T[path[1]], block_met(T[path[1]], F[c], ends)
            if (block >= 0) != several:
                tally[OUTSIDE] |= side == 1 and block != NOWHERE
                continue
            if several and block_met(F[c], F[c], ends) != SEVERAL:
                continue
            together = count_outside(rows, T[c], ends, block, predicates.counted)
            if together >= limits.least:
                found = note(found, tally, c, together, block, path)
    return found[: tally[FOUND]], tally


class Near(NamedTuple):
    """The chosen predicates in the rows of the rarest one: `own` rows, `wrong` ones, ends of blocks.

    Only the rows of words before `counted` support a rule.
    """

    chosen: NDArray[np.int32]
    own: NDArray[np.uint64]
    wrong: NDArray[np.uint64]
    ends: NDArray[np.int64]
    counted: int


class Path(NamedTuple):
    """A path of predicates, and at each depth the rows it leaves and the predicates that may follow.

    Of the `n_items` that may follow, some may become a part of the antecedent (`extends`) and some the
    consequent (`opens`); `at` is the next one to go down.
    """

    path: NDArray[np.int64]
    R: NDArray[np.uint64]
    size: NDArray[np.int64]
    items: NDArray[np.int64]
    extends: NDArray[np.int64]
    opens: NDArray[np.int64]
    n_items: NDArray[np.int64]
    at: NDArray[np.int64]


@inner
def project(chosen, T, rows, bits, n_words):
    """Keep only some rows, each with its new bit."""
    out = sets(chosen.size, n_words)
    for j in range(chosen.size):
        source, target = T[chosen[j]], out[j]
        for i in range(rows.size):
            bit = (source[rows[i] >> 6] >> np.uint64(rows[i] & 63)) & np.uint64(1)
            target[bits[i] >> 6] |= bit << np.uint64(bits[i] & 63)
    return out


@inner
def draw_near(r, chosen, predicates):
    """Keep only the rows of the rarest predicate; return the chosen ones in them, and the rows' bits.

    Rows get bits one after the other, those of each block, and those that do not count, in words of
    their own.
    """
    rows = rows_in(predicates.T[r])
    bits, ends = counts(rows.size), counts(predicates.ends.size)
    i, n_words, counted = 0, np.int64(0), np.int64(0)
    for block in range(ends.size):
        for side in range(2):
            end = predicates.ends[block]
            if side == 0:
                end = min(end, predicates.counted)
            first = i
            while i < rows.size and rows[i] < 64 * end:
                bits[i] = 64 * n_words + i - first
                i += 1
            n_words += (i - first + 63) // 64
            if end <= predicates.counted:
                counted = n_words
        ends[block] = n_words
    own = project(chosen, predicates.T, rows, bits, n_words)
    wrong = ~own if predicates.known else project(chosen, predicates.F, rows, bits, n_words)
    return Near(chosen, own, wrong, ends, counted), bits


@inner
def set_out(r, level, near, bits, implied):
    """Begin with the rarest predicate and its rows; `implied` are its consequents, found before."""
    n = near.chosen.size
    frontier = Path(
        counts(level + 1),
        sets(level + 1, near.own.shape[1]),
        counts(level + 1),
        table(level + 1, n),
        table(level + 1, n),
        table(level + 1, n),
        counts(level + 1),
        counts(level + 1),
    )
    frontier.path[1], frontier.size[1], frontier.n_items[1] = r, bits.size, n
    for i in range(bits.size):
        frontier.R[1, bits[i] >> 6] |= np.uint64(1) << np.uint64(bits[i] & 63)
    for i in range(n):
        frontier.items[1, i], frontier.extends[1, i] = i, True
        frontier.opens[1, i] = not implied[near.chosen[i]]
    return frontier


@inner
def sift(frontier, depth, near, least, tally):
    """Keep the predicates that leave enough rows, but not all, and can still lead to a rule."""
    R, size = frontier.R[depth], frontier.size[depth]
    items, extends, opens = frontier.items[depth], frontier.extends[depth], frontier.opens[depth]
    tally[NODES] += frontier.n_items[depth]
    kept = 0
    for i in range(frontier.n_items[depth]):
        p = items[i]
        if count_both(R, near.own[p], near.counted) < least:
            continue
        if count_both(R, near.own[p], R.size) == size:
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
        if frontier.extends[level, i] and not tally[INSIDE]:
            enough = least <= count_both(R, near.own[p], near.counted)
            tally[INSIDE] = enough and not is_within(R, near.own[p])
        if not frontier.opens[level, i]:
            continue
        block = block_met(R, near.wrong[p], near.ends)
        if (block >= 0) != several:
            continue
        together = count_outside(R, near.own[p], near.ends, block, near.counted)
        if together >= least:
            found = note(found, tally, np.int64(near.chosen[p]), together, block, frontier.path)
    frontier.n_items[level] = 0
    return found


@inner
def descend(frontier, depth, near, group, implied):
    """Lengthen the path by the next predicate; tell whether anything may follow it."""
    i = frontier.at[depth]
    frontier.at[depth] += 1
    if not frontier.extends[depth, i]:
        return False
    place = frontier.items[depth, i]
    e, kept = near.chosen[place], 0
    for j in range(frontier.n_items[depth]):
        p = frontier.items[depth, j]
        if group[near.chosen[p]] == group[e]:
            continue
        extends = frontier.extends[depth, j] and j > i
        opens = frontier.opens[depth, j] and not implied[e, near.chosen[p]]
        if opens or extends:
            frontier.items[depth + 1, kept] = p
            frontier.extends[depth + 1, kept] = extends
            frontier.opens[depth + 1, kept] = opens
            kept += 1
    frontier.n_items[depth + 1], frontier.at[depth + 1] = kept, 0
    frontier.path[depth + 1], size = e, np.int64(0)
    for w in range(near.own.shape[1]):
        frontier.R[depth + 1, w] = frontier.R[depth, w] & near.own[place, w]
        size += popcount(frontier.R[depth + 1, w])
    frontier.size[depth + 1] = size
    return kept > 0


@jit
def search_inside(r, level, chosen, predicates, implied, limits):
    """Find the rules ``A ⇒ p`` with `level` predicates in ``A``, the rarest of all being ``r ∈ A``.

    It takes place in the rows of ``r`` alone. The level is at least two; `implied` holds the consequents
    of single predicates, which are not found again here. Return rows of (consequent, count, block,
    antecedent…), and the tally.
    """
    found, tally = table(16, level + 3), counts(4)
    near, bits = draw_near(r, chosen, predicates)
    frontier = set_out(r, level, near, bits, implied[r])
    if near.ends.size > 1:
        for i in range(chosen.size):
            F = predicates.F[chosen[i]]
            frontier.opens[1, i] &= block_met(F, F, predicates.ends) == SEVERAL
    depth, entering = np.int64(1), True
    while depth > 0:
        if entering:
            if depth == level:
                found = conclude(found, frontier, near, limits.least, tally)
            else:
                sift(frontier, depth, near, limits.least, tally)
            if is_over(tally, limits):
                tally[INSIDE] = 1
                break
        entering = False
        if frontier.at[depth] >= frontier.n_items[depth]:
            depth -= 1
        elif descend(frontier, depth, near, predicates.group, implied):
            depth += 1
            entering = True
    return found[: tally[FOUND]], tally


class Goal(NamedTuple):
    """What is searched for: the consequent, what it may follow from, and the least rows of both.

    `planes` count, for each row to exclude, how many of the chosen predicates it satisfies. The rows of
    words from `first` to before `last`, those of a block if it is not NOWHERE, are left out.
    """

    r: int
    chosen: NDArray[np.int32]
    planes: NDArray[np.uint64]
    predicates: Predicates
    limits: Limits
    block: int
    first: int
    last: int


class Branches(NamedTuple):
    """A path of predicates, and at each depth the rows that it leaves, and branches.

    Rows of the consequent are `inside`, rows still to be excluded `outside`. Branches are places among
    the chosen predicates, `at` the next one to go down; earlier ones are `forbidden`.
    """

    path: NDArray[np.int64]
    inside: NDArray[np.uint64]
    outside: NDArray[np.uint64]
    branches: NDArray[np.int64]
    n_branches: NDArray[np.int64]
    at: NDArray[np.int64]
    forbidden: NDArray[np.int64]


@inner
def count_planes(chosen, T, mask):
    """Count in bit-sliced counters, for each row of `mask`, how many chosen predicates it meets."""
    n_planes = 1
    while (1 << n_planes) <= chosen.size:
        n_planes += 1
    planes = sets(n_planes, mask.size)
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
    """Find a row of `R` with the largest counter, the first of equals: its word and bit."""
    left = sets(1, R.size)[0]
    for w in range(R.size):
        left[w] = R[w]
    for i in range(planes.shape[0] - 1, -1, -1):
        if meets(left, planes[i]):
            for w in range(left.size):
                left[w] &= planes[i, w]
    for w in range(left.size):
        if left[w]:
            return np.int64(w), np.uint64(first_bit(left[w]))
    return np.int64(-1), np.uint64(0)


@inner
def excused(goal, path, depth):
    """Tell whether a row that is left out satisfies the path, although the consequent is false in it."""
    for w in range(goal.first, goal.last):
        left = goal.predicates.F[goal.r, w]
        for d in range(1, depth + 1):
            left &= goal.predicates.T[path[d], w]
        if left:
            return True
    return False


@inner
def branch(goal, frontier, depth, word, bit, tally):
    """List the predicates that exclude a row and leave enough rows inside."""
    T, group = goal.predicates.T, goal.predicates.group
    inside, n = frontier.inside[depth], 0
    for i in range(goal.chosen.size):
        p = goal.chosen[i]
        if frontier.forbidden[i] or (word >= 0 and (T[p, word] >> bit) & np.uint64(1)):
            continue
        tally[NODES] += 1
        taken = False
        for d in range(1, depth + 1):
            taken |= group[frontier.path[d]] == group[p]
        if not taken and count_both(inside, T[p], goal.predicates.counted) >= goal.limits.least:
            frontier.branches[depth, n] = i
            n += 1
    frontier.n_branches[depth] = n


@inner
def enter(found, goal, frontier, depth, tally):
    """Note the rule if no row is left to exclude, and find the branches otherwise."""
    level = frontier.path.size - 1
    word, bit = fullest_row(goal.planes, frontier.outside[depth])
    frontier.n_branches[depth], frontier.at[depth] = 0, 0
    if word < 0 and depth > 0:
        if depth == level:
            inside = frontier.inside[depth]
            together = count_both(inside, inside, goal.predicates.counted)
            found = note(found, tally, goal.r, together, goal.block, frontier.path)
    elif depth == level:
        tally[OUTSIDE] = 1
    else:
        branch(goal, frontier, depth, word, bit, tally)
    return found


@inner
def branch_off(goal, frontier, depth, tally):
    """Lengthen the path by the next branch; tell whether it may lead to a rule."""
    T, i = goal.predicates.T, frontier.at[depth]
    frontier.at[depth] += 1
    if i > 0:
        frontier.forbidden[frontier.branches[depth, i - 1]] = True
    e = goal.chosen[frontier.branches[depth, i]]
    if depth + 2 == frontier.path.size and meets(frontier.outside[depth], T[e]):
        tally[OUTSIDE] = 1
        return False
    frontier.path[depth + 1] = e
    if goal.block != NOWHERE and not excused(goal, frontier.path, depth + 1):
        return False
    for w in range(T.shape[1]):
        frontier.inside[depth + 1, w] = frontier.inside[depth, w] & T[e, w]
        frontier.outside[depth + 1, w] = frontier.outside[depth, w] & T[e, w]
    return True


@inner
def search(found, goal, frontier, tally):
    """Find the rules of all rows but those left out."""
    for w in range(goal.predicates.T.shape[1]):
        held = w < goal.first or w >= goal.last
        frontier.inside[0, w] = goal.predicates.T[goal.r, w] if held else np.uint64(0)
        frontier.outside[0, w] = goal.predicates.F[goal.r, w] if held else np.uint64(0)
    depth, entering = np.int64(0), True
    while depth >= 0:
        if entering:
            found = enter(found, goal, frontier, depth, tally)
            if is_over(tally, goal.limits):
                return found
        entering = False
        if frontier.at[depth] >= frontier.n_branches[depth]:
            for j in range(frontier.n_branches[depth]):
                frontier.forbidden[frontier.branches[depth, j]] = False
            depth -= 1
        elif branch_off(goal, frontier, depth, tally):
            depth += 1
            entering = True
    return found


@jit
def search_outside(r, level, chosen, predicates, limits):
    """Find the rules ``A ⇒ r`` with `level` predicates in ``A``, all at least as frequent as ``r``.

    ``A`` excludes every row in which ``r`` is false: it is a hitting set. Branch on what the hardest
    row to exclude lacks, and forbid earlier siblings so that no set is met twice. Predicates that every
    row of ``r`` satisfies stay in play: they may exclude rows outside. If there are several blocks, each
    is left out in turn, and some row in it must satisfy ``A`` but not ``r``. Return what `search_inside`
    does.
    """
    F, ends, width, r = predicates.F, predicates.ends, predicates.F.shape[1], np.int64(r)
    found, tally = table(16, level + 3), counts(4)
    if ends.size > 1 and block_met(F[r], F[r], ends) != SEVERAL:
        return found[:0], tally
    planes = count_planes(chosen, predicates.T, F[r])
    frontier = Branches(
        counts(level + 1),
        sets(level + 1, width),
        sets(level + 1, width),
        table(level + 1, chosen.size),
        counts(level + 1),
        counts(level + 1),
        counts(chosen.size),
    )
    for i in range(ends.size):
        block, first, last = np.int64(NOWHERE), np.int64(0), np.int64(0)
        if ends.size > 1:
            block, first, last = np.int64(i), start_of(i, ends), ends[i]
        goal = Goal(r, chosen, planes, predicates, limits, block, first, last)
        if block == NOWHERE or excused(goal, frontier.path, np.int64(0)):
            found = search(found, goal, frontier, tally)
        if is_over(tally, limits):
            tally[OUTSIDE] = 1
            break
    return found[: tally[FOUND]], tally


@jit
def partners(r, predicates, least):
    """List the predicates no rarer than `r` that keep at least `least` of its rows.

    Counting what a predicate loses of `r` lets most of them be given up after a few words.
    """
    T, group = predicates.T, predicates.group
    where = counts(T.shape[1])
    n_words, allowed = 0, -least
    for w in range(predicates.counted):
        if T[r, w]:
            where[n_words] = w
            n_words += 1
            allowed += popcount(T[r, w])
    found = counts(T.shape[0] - r)
    n_found = 0
    for p in range(r + 1, T.shape[0]):
        if group[p] == group[r]:
            continue
        lost = np.int64(0)
        for i in range(n_words):
            lost += popcount(T[r, where[i]] & ~T[p, where[i]])
            if lost > allowed:
                break
        if lost <= allowed:
            found[n_found] = p
            n_found += 1
    return found[:n_found]


@jit
def note_broken(rules, worth, T, F, ends, place_at, starts, owners, out):
    """Raise the worth of what rows break: for each owner of the consequent, in each row's place."""
    for k in range(rules.shape[0]):
        p, block = rules[k, 0], rules[k, 2]
        for w in range(start_of(block, ends), ends[block]):
            left = F[p, w]
            for d in range(3, rules.shape[1]):
                left &= T[rules[k, d], w]
            while left:
                place = place_at[64 * w + first_bit(left)]
                left = without_first_bit(left)
                if place < 0:
                    continue
                for j in range(starts[p], starts[p + 1]):
                    if worth[k] > out[place, owners[j]]:
                        out[place, owners[j]] = worth[k]


@inner
def compare(a, b):
    """Tell how two rows of whole numbers are ordered: -1, 0 or 1."""
    for j in range(a.size):
        if a[j] != b[j]:
            return -1 if a[j] < b[j] else 1
    return 0


@inner
def has_row(table, row):
    """Look for a row in a table that is sorted lexicographically."""
    low, high = 0, table.shape[0]
    while low < high:
        middle = (low + high) // 2
        if compare(table[middle], row) < 0:
            low = middle + 1
        else:
            high = middle
    return low < table.shape[0] and compare(table[low], row) == 0


@jit
def drop_supersets(found, known, keep):
    """Unmark the found rules that a known, shorter rule with the same consequent makes redundant.

    Both hold rows of (consequent, antecedent ascending); `known` is sorted lexicographically.
    """
    long, short = found.shape[1] - 1, known.shape[1] - 1
    key = counts(short + 1)
    for i in range(found.shape[0]):
        key[0] = found[i, 0]
        for subset in range(1, 1 << long):
            if not keep[i] or popcount(np.uint64(subset)) != short:
                continue
            size = 1
            for j in range(long):
                if (subset >> j) & 1:
                    key[size] = found[i, j + 1]
                    size += 1
            keep[i] = not has_row(known, key)


@jit
def verify(T, F, antecedents, consequents, first, counts, broken, rows):
    """Count the rows that support each rule and those that break it, and list the first of these.

    Antecedents are padded with -1, and rules with the same one should follow each other. `first` is the
    number of the first row. What is found is written to `counts`, `broken` and `rows`.
    """
    held = sets(1, T.shape[1])[0]
    for k in range(consequents.size):
        anew = k == 0
        for d in range(antecedents.shape[1]):
            anew = anew or antecedents[k, d] != antecedents[k - 1, d]
        if anew:
            for w in range(held.size):
                held[w] = T[antecedents[k, 0], w]
            for d in range(1, antecedents.shape[1]):
                if antecedents[k, d] >= 0:
                    for w in range(held.size):
                        held[w] &= T[antecedents[k, d], w]
        p = consequents[k]
        n_listed = 0
        for w in range(held.size):
            counts[k] += popcount(held[w] & T[p, w])
            left = held[w] & F[p, w]
            broken[k] += popcount(left)
            while left and n_listed < rows.shape[1]:
                rows[k, n_listed] = first + 64 * w + first_bit(left)
                left = without_first_bit(left)
                n_listed += 1


def exercise() -> None:
    """Run once on almost nothing, so that all but `verify` is compiled, or loaded from the cache."""
    bits, ends, whole = np.ones((2, 1), np.uint64), np.ones(1, np.int64), np.zeros(2, np.int64)
    predicates = Predicates(bits, bits, ends, np.arange(2), True, 1)
    chosen, limits, implied = np.ones(1, np.int32), Limits(1, 9, 9), np.zeros((2, 2), np.bool_)
    partners(0, predicates, np.int64(1))
    pair_up(0, chosen, predicates, limits)
    search_inside(0, 2, chosen, predicates, implied, limits)
    search_outside(0, 2, chosen, predicates, limits)
    worth = np.zeros((1, 1))
    note_broken(np.zeros((0, 4), np.int64), worth[0], bits, bits, ends, whole, whole, whole, worth)
    drop_supersets(np.zeros((1, 3), np.int64), np.zeros((1, 2), np.int64), np.ones(1, np.bool_))
