"""The compiled loops that search for rules, and that check and use what was found.

Sets of rows are words of 64 rows each. Legend: ``T`` and ``F`` the rows in which predicates are true and
false (predicates from rare to frequent × words), ``group`` the numbers of their variables, ``r`` the
rarest predicate of a rule, ``p`` and ``e`` others, ``w`` a word, ``R`` the rows that a set of predicates
leaves. Words from ``counted`` on refute rules but support none. If rows form several blocks, each of
which ends before a word of ``ends``, the searches find the rules that exactly one block breaks, although
their consequent fails in other blocks too, and count the rows of the others. Otherwise they find the
rules that no row breaks.

Every function releases the GIL and touches only its arguments. What looks like a habit is there because
it compiles several times as fast: numbers that a loop changes start as ``np.int64``, since a literal
would be compiled for once more, rows are copied cell by cell, and all memory comes from the caller.
"""

from typing import Any

import numpy as np
from numba.extending import overload

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
def note(found, tally, consequent, together, block, path):
    """Note a rule with the predicates of the path as its antecedent."""
    n_found = tally[FOUND]
    found[n_found, 0], found[n_found, 1], found[n_found, 2] = consequent, together, block
    for d in range(1, path.size):
        found[n_found, 2 + d] = path[d]
    tally[FOUND] += 1


@inner
def is_within(a, b):
    """Tell whether all rows of the first are in the second."""
    for w in range(a.size):  # noqa: SIM110
        if a[w] & ~b[w]:
            return False
    return True


@jit
def pair_up(r, chosen, T, F, ends, varied, counted, least, path, found, tally):
    """Find the rules between the rarest predicate and each of the chosen ones, either way around.

    `varied` are the predicates that fail in several blocks, if there are several. Rules are noted as rows
    of (consequent, count, block, antecedent).
    """
    several, r = ends.size > 1, np.int64(r)
    for i in range(chosen.size):
        p = np.int64(chosen[i])
        tally[NODES] += 2
        tally[INSIDE] |= not is_within(T[r], T[p])
        for side in range(2):
            path[1], c = (r, p) if side == 0 else (p, r)
            rows = T[path[1]]
            block = block_met(rows, F[c], ends)
            if (block >= 0) != several:
                tally[OUTSIDE] |= side == 1 and block != NOWHERE
            elif varied[c]:
                together = count_outside(rows, T[c], ends, block, counted)
                if together >= least:
                    note(found, tally, c, together, block, path)


@jit
def project(chosen, T, rows, bits, out):
    """Keep only some rows of the chosen predicates, each with its new bit."""
    for j in range(chosen.size):
        source, target = T[chosen[j]], out[j]
        for i in range(rows.size):
            bit = (source[rows[i] >> 6] >> np.uint64(rows[i] & 63)) & np.uint64(1)
            target[bits[i] >> 6] |= bit << np.uint64(bits[i] & 63)


@inner
def sift(R, size, n, items, extends, opens, own, wrong, counted, least):
    """Keep the predicates that leave enough rows, but not all, and can still lead to a rule: how many."""
    kept = np.int64(0)
    for i in range(n):
        p = items[i]
        if count_both(R, own[p], counted) < least or count_both(R, own[p], R.size) == size:
            continue
        opn = opens[i] and meets(R, wrong[p])
        if extends[i] or opn:
            items[kept], extends[kept], opens[kept] = p, extends[i], opn
            kept += 1
    return kept


@inner
def conclude(
    R, n, items, extends, opens, chosen, own, wrong, ends, counted, least, path, found, tally
):
    """Note the consequents of a whole path, and whether a longer one may have others."""
    several = ends.size > 1
    for i in range(n):
        p = items[i]
        if extends[i] and not tally[INSIDE]:
            enough = least <= count_both(R, own[p], counted)
            tally[INSIDE] = enough and not is_within(R, own[p])
        if not opens[i]:
            continue
        block = block_met(R, wrong[p], ends)
        if (block >= 0) != several:
            continue
        together = count_outside(R, own[p], ends, block, counted)
        if together >= least:
            note(found, tally, np.int64(chosen[p]), together, block, path)


@inner
def follow(
    items, extends, opens, i, n, chosen, group, implied, next_items, next_extends, next_opens
):
    """List what may follow a path that the `i`-th item lengthens: how many predicates."""
    e, kept = chosen[items[i]], np.int64(0)
    for j in range(n):
        p = items[j]
        if group[chosen[p]] == group[e]:
            continue
        goes_on = extends[j] and j > i
        opn = opens[j] and not implied[e, chosen[p]]
        if opn or goes_on:
            next_items[kept], next_extends[kept], next_opens[kept] = p, goes_on, opn
            kept += 1
    return kept


@jit
def search_inside(
    level, chosen, own, wrong, ends, counted, group, implied, least, max_nodes, max_found,
    path, R, size, items, extends, opens, n_items, at, found, tally,
):  # fmt: skip
    """Find the rules ``A ⇒ p`` with `level` predicates in ``A``, the rarest of all being ``r ∈ A``.

    It takes place in the rows of ``r`` alone: in `own` the chosen predicates hold, in `wrong` they fail.
    The level is at least two; `implied` holds the consequents of single predicates, which are not found
    again here. `path` is that of predicates; at each depth, `R` are the rows it leaves and `size` their
    number, and `n_items` may follow, some as a part of the antecedent (`extends`) and some as the
    consequent (`opens`); `at` is the next one to go down. Rules are noted as rows of (consequent, count,
    block, antecedent…).
    """
    depth, entering = np.int64(1), True
    while depth > 0:
        if entering:
            now, n = (items[depth], extends[depth], opens[depth]), n_items[depth]
            tally[NODES] += n
            if depth == level:
                conclude(
                    R[depth], n, *now, chosen, own, wrong, ends, counted, least, path, found, tally
                )
                n_items[depth] = 0
            else:
                n_items[depth] = sift(R[depth], size[depth], n, *now, own, wrong, counted, least)
            if tally[NODES] > max_nodes or tally[FOUND] > max_found:
                tally[INSIDE] = 1
                return
        entering, i = False, at[depth]
        if i >= n_items[depth]:
            depth -= 1
            continue
        at[depth] += 1
        if not extends[depth, i]:
            continue
        now, then = (items[depth], extends[depth], opens[depth]), depth + 1
        n_items[then] = follow(
            *now, i, n_items[depth], chosen, group, implied, items[then], extends[then], opens[then]
        )
        if n_items[then] > 0:
            place = items[depth, i]
            at[then], path[then], size[then] = 0, chosen[place], 0
            for w in range(R.shape[1]):
                R[then, w] = R[depth, w] & own[place, w]
                size[then] += popcount(R[then, w])
            depth, entering = then, True


@jit
def count_planes(chosen, T, mask, planes):
    """Count in bit-sliced counters, for each row of `mask`, how many chosen predicates it meets."""
    for j in range(chosen.size):
        for w in range(mask.size):
            carry = T[chosen[j], w] & mask[w]
            i = 0
            while carry:
                kept = planes[i, w]
                planes[i, w] = kept ^ carry
                carry = kept & carry
                i += 1


@inner
def fullest_row(planes, R, left):
    """Find a row of `R` with the largest counter, the first of equals: its number, or -1."""
    for w in range(R.size):
        left[w] = R[w]
    for i in range(planes.shape[0] - 1, -1, -1):
        if meets(left, planes[i]):
            for w in range(left.size):
                left[w] &= planes[i, w]
    for w in range(left.size):
        if left[w]:
            return np.int64(64 * w + first_bit(left[w]))
    return np.int64(-1)


@inner
def excused(T, F, r, first, last, path, depth):
    """Tell whether a row that is left out satisfies the path, although the consequent is false in it."""
    for w in range(first, last):
        left = F[r, w]
        for d in range(1, depth + 1):
            left &= T[path[d], w]
        if left:
            return True
    return False


@inner
def branch(T, group, chosen, inside, row, path, depth, counted, least, forbidden, branches, tally):
    """List the predicates that exclude a row and leave enough rows inside: how many."""
    n, word, bit = np.int64(0), row >> 6, np.uint64(row & 63)
    for i in range(chosen.size):
        p = chosen[i]
        if forbidden[i] or (row >= 0 and (T[p, word] >> bit) & np.uint64(1)):
            continue
        tally[NODES] += 1
        taken = False
        for d in range(1, depth + 1):
            taken |= group[path[d]] == group[p]
        if not taken and count_both(inside, T[p], counted) >= least:
            branches[n] = i
            n += 1
    return n


@jit
def search_outside(
    r, block, first, last, level, chosen, planes, T, F, group, counted, least, max_nodes, max_found,
    path, inside, outside, branches, n_branches, at, forbidden, left, found, tally,
):  # fmt: skip
    """Find the rules ``A ⇒ r`` with `level` predicates in ``A``, all at least as frequent as ``r``.

    ``A`` excludes every row in which ``r`` is false: it is a hitting set. Branch on what the hardest
    row to exclude lacks (`planes` count how many of the chosen predicates a row satisfies), and forbid
    earlier siblings so that no set is met twice. Predicates that every row of ``r`` satisfies stay in
    play: they may exclude rows outside. A block, whose words are those from `first` to before `last`, is
    left out unless it is NOWHERE, and some row in it must satisfy ``A`` but not ``r``. At each depth of
    the path, rows of the consequent are `inside`, rows still to be excluded `outside`, and `branches`
    places among the chosen predicates, `at` the next one to go down; earlier ones are `forbidden`.
    """
    for w in range(T.shape[1]):
        held = w < first or w >= last
        inside[0, w] = T[r, w] if held else np.uint64(0)
        outside[0, w] = F[r, w] if held else np.uint64(0)
    depth, entering, at[0] = np.int64(0), True, 0
    while depth >= 0:
        if entering:
            row = fullest_row(planes, outside[depth], left)
            n_branches[depth], at[depth] = 0, 0
            if row < 0 and depth > 0:
                if depth == level:
                    together = count_both(inside[depth], inside[depth], counted)
                    note(found, tally, r, together, block, path)
            elif depth == level:
                tally[OUTSIDE] = 1
            else:
                n_branches[depth] = branch(
                    *(T, group, chosen, inside[depth], row, path, depth, counted, least),
                    *(forbidden, branches[depth], tally),
                )
            if tally[NODES] > max_nodes or tally[FOUND] > max_found:
                tally[OUTSIDE] = 1
                return
        entering, i = False, at[depth]
        if i > 0:
            forbidden[branches[depth, i - 1]] = True
        if i >= n_branches[depth]:
            for j in range(n_branches[depth]):
                forbidden[branches[depth, j]] = False
            depth -= 1
            continue
        at[depth] += 1
        e = chosen[branches[depth, i]]
        if depth + 1 == level and meets(outside[depth], T[e]):
            tally[OUTSIDE] = 1
            continue
        path[depth + 1] = e
        if block != NOWHERE and not excused(T, F, r, first, last, path, depth + 1):
            continue
        for w in range(T.shape[1]):
            inside[depth + 1, w] = inside[depth, w] & T[e, w]
            outside[depth + 1, w] = outside[depth, w] & T[e, w]
        depth += 1
        entering = True


@jit
def partners(r, T, group, counted, least, where, found):
    """List the predicates no rarer than `r` that keep at least `least` of its rows: how many.

    Counting what a predicate loses of `r` lets most of them be given up after a few words.
    """
    n_words, n_found, allowed = np.int64(0), np.int64(0), -least
    for w in range(counted):
        if T[r, w]:
            where[n_words] = w
            n_words += 1
            allowed += popcount(T[r, w])
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
    return n_found


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


@jit
def verify(T, F, antecedents, consequents, first, held, counts, broken, rows):
    """Count the rows that support each rule and those that break it, and list the first of these.

    Antecedents are padded with -1, and rules with the same one should follow each other. `first` is the
    number of the first row, `held` room for a set. What is found is written to `counts`, `broken` and
    `rows`.
    """
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
    T, ends, row = np.ones((2, 1), np.uint64), np.ones(1, np.int64), np.zeros(4, np.int64)
    chosen, table, found = (
        np.ones(1, np.int32),
        np.zeros((4, 1), np.int64),
        np.zeros((9, 5), np.int64),
    )
    flags, rows = np.zeros((4, 2), np.bool_), np.zeros((4, 1), np.uint64)
    partners(0, T, row, 1, np.int64(1), row.copy(), row.copy())
    pair_up(0, chosen, T, T, ends, flags[0], 1, 1, row, found, row)
    project(chosen, T, row, row, rows)
    search_inside(
        *(2, chosen, T, T, ends, 1, row, flags, 1, 9, 9, row.copy(), rows, row.copy()),
        *(table, flags, flags, row.copy(), row.copy(), found, row.copy()),
    )
    count_planes(chosen, T, rows[0], rows)
    search_outside(
        *(0, NOWHERE, 0, 0, 2, chosen, rows, T, T, row, 1, 1, 9, 9, row.copy(), rows, rows.copy()),
        *(table, row.copy(), row.copy(), flags[0], rows[0], found, row.copy()),
    )
    worth = np.zeros((1, 1))
    note_broken(np.zeros((0, 4), np.int64), worth[0], T, T, ends, row, row, row, worth)
