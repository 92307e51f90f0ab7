"""The other compiled loops that mine rules: who may stand beside whom, and what is redundant or broken.

Legend: ``r`` the rarest predicate of a rule, ``p`` another, ``w`` a word, ``least`` the smallest admitted
count; see `predicates`. Every function releases the GIL and touches only its arguments.
"""

import numpy as np

from truism.learning.kernels.bits import rows_in, start_of
from truism.learning.kernels.predicates import Predicates
from truism.learning.kernels.prefetch import prefetch
from truism.scoring.kernels.compiling import inner, jit
from truism.scoring.kernels.words import first_bit, popcount, without_first_bit

AHEAD = 16  # rows between asking memory for a row's predicates and counting them


@jit
def partners(r, predicates, least):
    """List the predicates no rarer than `r` that keep at least `least` of its rows.

    Counting what a predicate loses of `r` lets most of them be given up after a few words.
    """
    T, group = predicates.T, predicates.group
    where = np.empty(T.shape[1], np.int64)
    n_words, allowed = 0, -least
    for w in range(predicates.counted):
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
def partners_by_rows(r, predicates, least, start, items):
    """Do what `partners` does by walking the rows of `r`: quicker where there are few."""
    T, group = predicates.T, predicates.group
    together = np.zeros(T.shape[0], np.int64)
    rows = rows_in(T[r, : predicates.counted])
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
    key = np.empty(short + 1, np.int64)
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


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    bits, ends = np.ones((2, 1), np.uint64), np.ones(1, np.int64)
    predicates = Predicates(bits, bits, ends, np.arange(2), True, 1)
    least = np.int64(1)
    partners(0, predicates, least)
    partners_by_rows(0, predicates, least, *transpose(bits, 64))
    whole, table = np.zeros(2, np.int64), np.zeros((1, 1))
    note_broken(np.zeros((0, 4), np.int64), table[0], bits, bits, ends, whole, whole, whole, table)
    drop_supersets(np.zeros((1, 3), np.int64), np.zeros((1, 2), np.int64), np.ones(1, np.bool_))
