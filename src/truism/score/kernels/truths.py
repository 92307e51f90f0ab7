"""The compiled loops that pack the truth of predicates.

Legend: ``v`` a variable, ``w`` a word of 64 rows, ``b`` a row in it, ``a`` an atom: what is
compared once for several predicates, ``p`` a part of a predicate.
"""

from math import isfinite

import numpy as np

from truism.score.kernels.compiling import inner, jit


@inner
def reach(values, cuts, first, stop, atoms, at):
    """Note which numbers are finite, and then which of those reach each cut-off."""
    for w in range(atoms.shape[1]):
        rows, finite = values[64 * w : 64 * w + 64], np.uint64(0)
        for b in range(rows.size):
            finite |= np.uint64(isfinite(rows[b])) << np.uint64(b)
        atoms[at, w] = finite
        for a in range(first, stop):
            cut, reached = cuts[a], np.uint64(0)
            for b in range(rows.size):
                reached |= np.uint64(rows[b] >= cut) << np.uint64(b)
            atoms[at + 1 + a - first, w] = reached & finite


@inner
def belong(codes, missing, members, first, stop, atoms, at):
    """Note which states are not missing, and then which are in each set."""
    for w in range(atoms.shape[1]):
        rows, known = codes[64 * w : 64 * w + 64], np.uint64(0)
        for b in range(rows.size):
            known |= np.uint64(rows[b] != missing) << np.uint64(b)
        atoms[at, w] = known
        for a in range(first, stop):
            inside = np.uint64(0)
            for b in range(rows.size):
                inside |= np.uint64(members[a, rows[b]]) << np.uint64(b)
            atoms[at + 1 + a - first, w] = inside


@inner
def assemble(atoms, parts, true, false):
    """Note where predicates hold and fail; where one has several parts, any may hold, and all must fail.

    A part holds where its lower atom does and its upper one does not.
    """
    last = -1
    for p in range(parts.shape[1]):
        predicate = parts[0, p]
        for w in range(atoms.shape[1]):
            holds = atoms[parts[2, p], w] & ~atoms[parts[3, p], w]
            fails = atoms[parts[1, p], w] & ~holds
            true[predicate, w] = true[predicate, w] | holds if predicate == last else holds
            false[predicate, w] = false[predicate, w] & fails if predicate == last else fails
        last = predicate


@jit
def evaluate(values, numbers, cuts, codes, states, members, missing, parts, atoms, true, false):
    """Compare numbers with cut-offs and states with sets of them; note where predicates hold and fail.

    `numbers` are the places of variables in `values`, and where their cut-offs end; `states` their
    places in `codes`, and where their sets end. `atoms` are zeros, and the first stays so.
    """
    at = np.int64(1)  # a literal would have both loops compiled once more
    for v in range(numbers.shape[1]):
        first = numbers[1, v - 1] if v else np.int64(0)
        reach(values[numbers[0, v]], cuts, first, numbers[1, v], atoms, at)
        at += 1 + numbers[1, v] - first
    for v in range(states.shape[1]):
        first = states[1, v - 1] if v else np.int64(0)
        belong(codes[states[0, v]], missing, members, first, states[1, v], atoms, at)
        at += 1 + states[1, v] - first
    assemble(atoms, parts, true, false)
