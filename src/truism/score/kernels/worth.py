"""Compiled loops that put the evidence against values together.

Legend: ``i`` a variable, ``r`` a row. Tables are variables × rows, as they lie in memory.
"""

import numpy as np

from truism.score.kernels.compiling import jit

_TILE = 64  # rows of a table that is turned around, so that what is read and written stays near


@jit
def combine(in_context, rarities, worth, unit, weight, plain, sums, about):
    """Bring evidence to the units of the score, in place, and keep the larger of two contradictions.

    `sums` are those of each row's contradictions and rarities, and the worth of its strongest broken
    rule, which `about` says the variable of.
    """
    sums[:] = 0.0
    about[:] = 0
    for i in range(worth.shape[0]):
        for r in range(worth.shape[1]):
            own, broken, rare = in_context[i, r] / unit, worth[i, r] / unit, rarities[i, r] * weight
            larger = own if own > broken else broken
            in_context[i, r] = own
            rarities[i, r] = rare
            plain[i, r] = larger
            sums[0, r] += larger
            sums[1, r] += rare
            if worth[i, r] > sums[2, r]:
                sums[2, r] = worth[i, r]
                about[r] = i


@jit
def add_parts(contradictions, rarities, parts):
    """Add the two parts of the score, and turn them around: `parts` are rows × variables."""
    for first in range(0, parts.shape[0], _TILE):
        last = min(first + _TILE, parts.shape[0])
        for i in range(parts.shape[1]):
            for r in range(first, last):
                parts[r, i] = contradictions[i, r] + rarities[i, r]


@jit
def add_up(contradictions, rarities, unit, weight, scores):
    """Add the two parts of the score of all variables, in their order, in the units of the score."""
    scores[:] = 0.0
    for i in range(contradictions.shape[0]):
        for r in range(scores.size):
            scores[r] += contradictions[i, r] / unit + rarities[i, r] * weight


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    table = np.ones((1, 1))
    combine(*table[None].repeat(3, 0), 1.0, 1.0, table, np.ones((3, 1)), np.zeros(1, np.int64))
    add_parts(table, table, table.copy())
    add_up(table, table, 1.0, 1.0, np.zeros(1))
