"""The compiled loops that pack the truth of predicates.

Legend: ``v`` a variable, ``w`` a word of 64 rows, ``b`` a row in it, ``a`` an atom: what is
compared once for several predicates, ``p`` a part of a predicate.
"""

import numpy as np

from truism.score.kernels.compiling import inner, jit

_BITS = np.uint64(1) << np.arange(64, dtype=np.uint64)
_NONE = np.uint64(0)


@inner
def reach(values, cuts, atoms):
    """Note which numbers are finite, and then which of those reach each cut-off."""
    for w in range(atoms.shape[1]):
        rows = values[64 * w : 64 * w + 64]
        finite = _NONE
        for b in range(rows.size):
            finite |= _BITS[b] if np.isfinite(rows[b]) else _NONE
        atoms[0, w] = finite
        for a in range(cuts.size):
            reached = _NONE
            for b in range(rows.size):
                reached |= _BITS[b] if rows[b] >= cuts[a] else _NONE
            atoms[a + 1, w] = reached & finite


@inner
def belong(codes, missing, members, atoms):
    """Note which states are not missing, and then which are in each set."""
    for w in range(atoms.shape[1]):
        rows = codes[64 * w : 64 * w + 64]
        known = _NONE
        for b in range(rows.size):
            known |= _BITS[b] if rows[b] != missing else _NONE
        atoms[0, w] = known
        for a in range(members.shape[0]):
            inside = _NONE
            for b in range(rows.size):
                inside |= _BITS[b] if members[a, rows[b]] else _NONE
            atoms[a + 1, w] = inside


@inner
def assemble(atoms, parts, true, false):
    """Note where predicates hold and fail; where one has several parts, any may hold, and all must fail.

    A part holds where its lower atom does and its upper one does not.
    """
    last = -1
    for p in range(parts.shape[1]):
        predicate, known, lower, upper = parts[:, p]
        for w in range(atoms.shape[1]):
            holds = atoms[lower, w] & ~atoms[upper, w]
            fails = atoms[known, w] & ~holds
            true[predicate, w] = true[predicate, w] | holds if predicate == last else holds
            false[predicate, w] = false[predicate, w] & fails if predicate == last else fails
        last = predicate


@jit
def evaluate(values, numbers, cuts, codes, states, members, missing, parts, true, false):
    """Compare numbers with cut-offs and states with sets of them; note where predicates hold and fail.

    `numbers` are the places of variables in `values`, and where their cut-offs end; `states` their
    places in `codes`, and where their sets end. Atom 0 holds nowhere.
    """
    n_atoms = 1 + numbers.shape[1] + cuts.size + states.shape[1] + members.shape[0]
    atoms = np.zeros((n_atoms, true.shape[1]), np.uint64)
    a, first = 1, 0
    for v in range(numbers.shape[1]):
        own = cuts[first : numbers[1, v]]
        reach(values[numbers[0, v]], own, atoms[a : a + 1 + own.size])
        a, first = a + 1 + own.size, numbers[1, v]
    first = 0
    for v in range(states.shape[1]):
        sets = members[first : states[1, v]]
        belong(codes[states[0, v]], missing, sets, atoms[a : a + 1 + sets.shape[0]])
        a, first = a + 1 + sets.shape[0], states[1, v]
    assemble(atoms, parts, true, false)
