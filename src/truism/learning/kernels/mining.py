"""The compiled loops that mine rules, and nothing else; imported only for learning.

Legend: ``T`` and ``F`` the rows in which predicates are true and false (predicates from rare to
frequent × words), ``p`` and ``e`` predicates, ``r`` the rarest predicate of a rule, ``R`` the rows
that a set of predicates leaves, ``w`` a word, ``least`` the smallest admitted count. Rows may form
several blocks, each of which ends with a word of ``ends``: then those rules are found that exactly one
block breaks, although their consequent fails in others too, and they count the rows of the others;
otherwise those that no row breaks. Every function releases the GIL and touches only its arguments.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from truism.learning.kernels.compiling import inner, jit
from truism.learning.kernels.prefetch import prefetch

NOWHERE, SEVERAL = -1, -2  # instead of the number of a block
AHEAD = 16  # rows between asking memory for a row's predicates and counting them


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
def count_and(a, b):
    """Count the rows in both."""
    total = np.int64(0)
    for i in range(a.size):
        total += popcount(a[i] & b[i])
    return total


@inner
def meets(a, b):
    """Tell whether any row is in both."""
    for i in range(a.size):  # noqa: SIM110
        if a[i] & b[i]:
            return True
    return False


@inner
def block_met(a, b, ends):
    """Tell in which block there are rows in both: its number, or NOWHERE, or SEVERAL."""
    where, w = NOWHERE, 0
    for block in range(ends.size):
        while w < ends[block]:
            if a[w] & b[w]:
                if where != NOWHERE:
                    return SEVERAL
                where = block
                break
            w += 1
        w = ends[block]
    return where


@inner
def count_outside(a, b, ends, block):
    """Count the rows in both, but for those of one block."""
    total = count_and(a, b)
    if block != NOWHERE:
        for w in range(ends[block - 1] if block > 0 else 0, ends[block]):
            total -= popcount(a[w] & b[w])
    return total


@jit
def partners(r, T, group, least):
    """List the predicates no rarer than `r` that keep at least `least` of its rows.

    Counting what a predicate loses of `r` lets most of them be given up after a few words.
    """
    where = np.empty(T.shape[1], np.int64)
    n_words, allowed = 0, -least
    for w in range(T.shape[1]):
        if T[r, w]:
            where[n_words] = w
            n_words += 1
            allowed += popcount(T[r, w])
    found = np.empty(T.shape[0] - r, np.int32)
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
    return found[:n_found].copy()


@inner
def rows_in(words):
    """List the rows whose bit is set."""
    n = np.int64(0)
    for w in range(words.size):
        n += popcount(words[w])
    rows = np.empty(n, np.int64)
    n = 0
    for w in range(words.size):
        left = words[w]
        while left:
            lowest = left & (~left + np.uint64(1))
            rows[n] = 64 * w + popcount(lowest - np.uint64(1))
            left ^= lowest
            n += 1
    return rows


@jit
def transpose(T, n_rows):
    """List for each row the predicates that are true in it: where its list starts, and all lists."""
    start = np.zeros(n_rows + 1, np.int64)
    for p in range(T.shape[0]):
        for row in rows_in(T[p]):
            start[row + 1] += 1
    for row in range(n_rows):
        start[row + 1] += start[row]
    items = np.empty(start[n_rows], np.uint16)
    place = start[:-1].copy()
    for p in range(T.shape[0]):
        for row in rows_in(T[p]):
            items[place[row]] = p
            place[row] += 1
    return start, items


@jit
def partners_by_rows(r, T, group, least, start, items):
    """Do what `partners` does by walking the rows of `r`: quicker where there are few."""
    together = np.zeros(T.shape[0], np.int64)
    rows = rows_in(T[r])
    for j in range(rows.size):
        prefetch(start, rows[min(j + 2 * AHEAD, rows.size - 1)])
        soon = rows[min(j + AHEAD, rows.size - 1)]
        prefetch(items, start[soon])
        prefetch(items, start[soon + 1] - 1)
        for i in range(start[rows[j]], start[rows[j] + 1]):
            together[items[i]] += 1
    found = np.empty(T.shape[0] - r, np.int32)
    n_found = 0
    for p in range(r + 1, T.shape[0]):
        if group[p] != group[r] and together[p] >= least:
            found[n_found] = p
            n_found += 1
    return found[:n_found].copy()


@inner
def places(rows, ends):
    """Give some rows bits one after the other, those of each block in words of their own."""
    bits = np.empty(rows.size, np.int64)
    own_ends = np.empty(ends.size, np.int64)
    i, n_words = 0, np.int64(0)
    for block in range(ends.size):
        first = i
        while i < rows.size and rows[i] < 64 * ends[block]:
            bits[i] = 64 * n_words + i - first
            i += 1
        n_words += (i - first + 63) // 64
        own_ends[block] = n_words
    return bits, own_ends


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
def grown(found, n_found):
    """Make room for one more row."""
    if n_found < found.shape[0]:
        return found
    more = np.empty((2 * found.shape[0], found.shape[1]), found.dtype)
    for i in range(n_found):
        for j in range(found.shape[1]):
            more[i, j] = found[i, j]
    return more


@jit
def with_rarest_in_antecedent(
    r, level, chosen, T, F, ends, known, group, least, implied, max_nodes, max_found
):
    """Find the rules ``A ⇒ p`` with `level` predicates in ``A``, the rarest of all being ``r ∈ A``.

    `known` says that no predicate is unknown in any row. `implied` holds the consequents of single
    predicates; they are not found again here.

    Returns
    -------
    Rows of (consequent, count, block, antecedent…), nodes searched, and whether longer ones may exist.

    """
    found = np.empty((16, level + 3), np.int64)
    n_found, nodes, more = np.int64(0), np.int64(0), False
    rows = rows_in(T[r])
    bits, own_ends = places(rows, ends)
    own = project(chosen, T, rows, bits, own_ends[-1])
    wrong = ~own if known else project(chosen, F, rows, bits, own_ends[-1])
    n, n_rows = chosen.size, rows.size
    R = np.zeros((level + 1, own.shape[1]), np.uint64)
    for bit in bits:
        R[1, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
    size = np.zeros(level + 1, np.int64)
    size[1] = n_rows
    items = np.empty((level + 1, n), np.int32)
    extends = np.zeros((level + 1, n), np.bool_)
    opens = np.zeros((level + 1, n), np.bool_)
    n_items = np.zeros(level + 1, np.int64)
    at = np.zeros(level + 1, np.int64)
    path = np.zeros(level + 1, np.int64)
    path[1] = r
    depth = 1
    for i in range(n):
        items[1, i], extends[1, i] = i, True
        opens[1, i] = level == 1 or not implied[r, chosen[i]]
        if ends.size > 1:
            opens[1, i] &= block_met(F[chosen[i]], F[chosen[i]], ends) == SEVERAL
    n_items[1] = n
    entering = True
    while depth > 0:
        if entering:
            kept = 0
            for i in range(n_items[depth]):
                p = items[depth, i]
                ext, opn = extends[depth, i], opens[depth, i]
                nodes += 1
                if depth == level:
                    if ext and not more:
                        together = count_and(R[depth], own[p])
                        more = least <= together < size[depth]
                    if not opn:
                        continue
                    block = block_met(R[depth], wrong[p], own_ends)
                    if block == NOWHERE if ends.size == 1 else block >= 0:
                        together = count_outside(R[depth], own[p], own_ends, block)
                        if together >= least:
                            found = grown(found, n_found)
                            found[n_found, 0], found[n_found, 1] = chosen[p], together
                            found[n_found, 2] = block
                            for d in range(1, level + 1):
                                found[n_found, d + 2] = path[d]
                            n_found += 1
                    continue
                together = count_and(R[depth], own[p])
                if together < least:
                    continue
                full = together == size[depth]
                ext = ext and not full
                opn = opn and not full and meets(R[depth], wrong[p])
                if ext or opn:
                    items[depth, kept], extends[depth, kept], opens[depth, kept] = p, ext, opn
                    kept += 1
            n_items[depth] = kept
            at[depth] = 0
            if nodes > max_nodes or n_found > max_found:
                return found[:n_found], nodes, True
        i = at[depth]
        if depth == level or i >= n_items[depth]:
            depth -= 1
            entering = False
            continue
        at[depth] = i + 1
        entering = False
        if not extends[depth, i]:
            continue
        e = items[depth, i]
        kept = 0
        for j in range(n_items[depth]):
            p = items[depth, j]
            if group[chosen[p]] == group[chosen[e]]:
                continue
            ext = extends[depth, j] and j > i
            opn = opens[depth, j] and not implied[chosen[e], chosen[p]]
            if opn or ext:
                items[depth + 1, kept] = p
                extends[depth + 1, kept] = ext
                opens[depth + 1, kept] = opn
                kept += 1
        if kept == 0:
            continue
        n_items[depth + 1] = kept
        path[depth + 1] = chosen[e]
        total = np.int64(0)
        for w in range(own.shape[1]):
            R[depth + 1, w] = R[depth, w] & own[e, w]
            total += popcount(R[depth + 1, w])
        size[depth + 1] = total
        depth += 1
        entering = True
    return found[:n_found], nodes, more


@inner
def tally(chosen, T, mask):
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
            return w, np.uint64(popcount((left[w] & (~left[w] + np.uint64(1))) - np.uint64(1)))
    return -1, np.uint64(0)


@inner
def excused(r, path, depth, chosen, T, F, first, last):
    """Tell whether a row of some words satisfies the path, although ``r`` is false in it."""
    for w in range(first, last):
        left = F[r, w]
        for d in range(1, depth + 1):
            left &= T[chosen[path[d]], w]
        if left:
            return True
    return False


@jit
def with_rarest_as_consequent(r, level, chosen, T, F, ends, group, least, max_nodes, max_found):
    """Find the rules ``A ⇒ r`` with `level` predicates in ``A``, all at least as frequent as ``r``.

    ``A`` must exclude every row in which ``r`` is false: a hitting set. Branch on what the hardest
    row to exclude lacks, and forbid earlier siblings so that no set is met twice. Predicates that
    every row of ``r`` satisfies stay in play: they may exclude rows outside. Of several blocks each
    is left out in turn, and then in some row of it ``r`` has to be false although ``A`` holds.

    Returns what `with_rarest_in_antecedent` does.
    """
    found = np.empty((16, level + 3), np.int64)
    n_found, nodes, more = np.int64(0), np.int64(0), False
    if ends.size > 1 and block_met(F[r], F[r], ends) != SEVERAL:
        return found[:n_found], nodes, more
    n, width = chosen.size, T.shape[1]
    planes = tally(chosen, T, F[r])
    inside = np.empty((level + 1, width), np.uint64)
    outside = np.empty((level + 1, width), np.uint64)
    branches = np.empty((level + 1, n), np.int32)
    n_branches = np.zeros(level + 1, np.int64)
    at = np.zeros(level + 1, np.int64)
    path = np.zeros(level + 1, np.int64)
    forbidden = np.zeros(n, np.bool_)
    for block in range(ends.size):
        first = ends[block - 1] if block > 0 else 0
        last = ends[block] if ends.size > 1 else first
        if first < last and not excused(r, path, 0, chosen, T, F, first, last):
            continue
        for w in range(width):
            inside[0, w], outside[0, w] = T[r, w], F[r, w]
        for w in range(first, last):
            inside[0, w], outside[0, w] = 0, 0
        depth = 0
        entering = True
        while depth >= 0:
            if entering:
                word, bit = fullest_row(planes, outside[depth])
                n_branches[depth] = 0
                at[depth] = 0
                if word < 0 and depth > 0:
                    if depth == level:
                        found = grown(found, n_found)
                        found[n_found, 0] = r
                        found[n_found, 1] = count_and(inside[depth], inside[depth])
                        found[n_found, 2] = block if first < last else NOWHERE
                        for d in range(1, level + 1):
                            found[n_found, d + 2] = chosen[path[d]]
                        n_found += 1
                elif depth == level:
                    more = True
                else:
                    for i in range(n):
                        if forbidden[i]:
                            continue
                        if word >= 0 and (T[chosen[i], word] >> bit) & np.uint64(1):
                            continue
                        taken = False
                        for d in range(1, depth + 1):
                            taken = taken or group[chosen[path[d]]] == group[chosen[i]]
                        nodes += 1
                        if not taken and count_and(inside[depth], T[chosen[i]]) >= least:
                            branches[depth, n_branches[depth]] = i
                            n_branches[depth] += 1
                if nodes > max_nodes or n_found > max_found:
                    return found[:n_found], nodes, True
            i = at[depth]
            if i >= n_branches[depth]:
                for j in range(n_branches[depth]):
                    forbidden[branches[depth, j]] = False
                depth -= 1
                entering = False
                continue
            at[depth] = i + 1
            if i > 0:
                forbidden[branches[depth, i - 1]] = True
            e = branches[depth, i]
            entering = False
            if depth + 1 == level and meets(outside[depth], T[chosen[e]]):
                more = True
                continue
            path[depth + 1] = e
            if first < last and not excused(r, path, depth + 1, chosen, T, F, first, last):
                continue
            depth += 1
            for w in range(width):
                inside[depth, w] = inside[depth - 1, w] & T[chosen[e], w]
                outside[depth, w] = outside[depth - 1, w] & T[chosen[e], w]
            entering = True
    return found[:n_found], nodes, more


@jit
def note_broken(rules, worth, T, F, ends, place_at, starts, owners, out):
    """Raise the worth of what rows break: for each owner of the consequent, in each row's place."""
    for k in range(rules.shape[0]):
        p, block = rules[k, 0], rules[k, 2]
        for w in range(ends[block - 1] if block > 0 else 0, ends[block]):
            left = F[p, w]
            for d in range(3, rules.shape[1]):
                left &= T[rules[k, d], w]
            while left:
                lowest = left & (~left + np.uint64(1))
                place = place_at[64 * w + popcount(lowest - np.uint64(1))]
                left ^= lowest
                if place < 0:
                    continue
                for j in range(starts[p], starts[p + 1]):
                    if worth[k] > out[place, owners[j]]:
                        out[place, owners[j]] = worth[k]


@jit
def drop_supersets(found, known, keep):
    """Unmark the found rules that a known, shorter rule with the same consequent makes redundant.

    Both hold rows of (consequent, antecedent ascending); `known` is sorted lexicographically.
    """
    long, short = found.shape[1] - 1, known.shape[1] - 1
    key = np.empty(short + 1, np.int64)
    for i in range(found.shape[0]):
        for subset in range(1, 1 << long):
            if not keep[i] or popcount(np.uint64(subset)) != short:
                continue
            key[0] = found[i, 0]
            size = 1
            for j in range(long):
                if (subset >> j) & 1:
                    key[size] = found[i, j + 1]
                    size += 1
            low, high = 0, known.shape[0]
            while low < high:
                middle = (low + high) // 2
                less = False
                for j in range(short + 1):
                    if known[middle, j] != key[j]:
                        less = known[middle, j] < key[j]
                        break
                if less:
                    low = middle + 1
                else:
                    high = middle
            if low < known.shape[0]:
                same = True
                for j in range(short + 1):
                    same = same and known[low, j] == key[j]
                if same:
                    keep[i] = False


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    bits = np.ones((2, 1), np.uint64)
    group, least = np.arange(2), np.int64(1)
    chosen = partners(0, bits, group, least)
    partners_by_rows(0, bits, group, least, *transpose(bits, 64))
    implied = np.zeros((2, 2), np.bool_)
    ends = np.ones(1, np.int64)
    with_rarest_in_antecedent(0, 1, chosen, bits, bits, ends, True, group, least, implied, 9, 9)
    with_rarest_as_consequent(0, 1, chosen, bits, bits, ends, group, least, 9, 9)
    whole, table = np.zeros(2, np.int64), np.zeros((1, 1))
    note_broken(np.zeros((0, 4), np.int64), table[0], bits, bits, ends, whole, whole, whole, table)
    drop_supersets(np.zeros((1, 3), np.int64), np.zeros((1, 2), np.int64), np.ones(1, np.bool_))
