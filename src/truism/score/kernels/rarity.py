"""Compiled loops that set values aside that cannot be rare, and look up the others.

Legend: ``i`` a variable, ``r`` a row, ``s`` a suspect: a value that may be rare.
"""

import numpy as np

from truism.score.kernels.compiling import inner, jit

_FEW = 8  # points that are looked at one by one
_TILE = 64  # values that are looked at together: mostly, none of them is a suspect


@inner
def are_usual(values, low, high, other_low, other_high):
    """Return whether all values lie within one of two pairs of bounds."""
    n_usual = 0
    for r in range(values.size):
        value = values[r]
        usual = (value >= low) & (value <= high) | (value >= other_low) & (value <= other_high)
        n_usual += usual
    return n_usual == values.size


@jit
def find_suspects(values, bounds, rows, found, counts):
    """List the rows in which each number lies outside both pairs of bounds, and its values there.

    `bounds` are two pairs, low and high, × numbers; `counts` is how many rows there are of each number;
    those of the next follow.
    """
    n_found = 0
    for i in range(values.shape[0]):
        counts[i] = -n_found
        (low, high), (other_low, other_high) = bounds[0, :, i], bounds[1, :, i]
        for first in range(0, values.shape[1], _TILE):
            tile = values[i, first : first + _TILE]
            if are_usual(tile, low, high, other_low, other_high):
                continue
            for r in range(tile.size):
                value = tile[r]
                usual = (value >= low) & (value <= high)
                usual |= (value >= other_low) & (value <= other_high)
                rows[n_found] = first + r
                found[n_found] = value
                n_found += not usual
        counts[i] += n_found


@jit
def find_points(values, counts, points, starts, scales, below, inside, at):
    """Find the last of a number's points that each suspect reaches, brought between the first and last.

    The line between those is divided into cells of equal width: `below` says how many points lie in
    cells before each, so that few are left to search. A number's points start at `starts`.
    """
    first, n_cells = 0, below.shape[1] - 1
    for i in range(counts.size):
        lowest, highest = points[starts[i]], points[starts[i + 1] - 1]
        for s in range(first, first + counts[i]):
            value = values[s]
            value = lowest if value < lowest else value
            value = highest if value > highest else value
            inside[s] = value
            distance = (value - lowest) * scales[i]
            cell = min(int(distance), n_cells - 1) if distance > 0.0 else 0
            low = max(below[i, cell] - 1, 0)
            n_left = below[i, cell + 1] - low
            low += starts[i]
            while n_left > _FEW:
                half = n_left >> 1
                low = low + half if points[low + half] <= value else low
                n_left -= half
            while n_left > 1 and points[low + 1] <= value:
                low += 1
                n_left -= 1
            at[s] = low
        first += counts[i]


@jit
def note(codes, of_states, starts, ends, states, rarities, rows, counts, numbers, found):
    """Note the rarity of states, by their codes, and of suspects; `found` is variables × rows.

    The rarities of a state's codes start at `starts`; negative codes count from `ends`.
    """
    for i in range(states.size):
        for r in range(codes.shape[1]):
            code = codes[i, r]
            found[states[i], r] = of_states[(ends[i] if code < 0 else starts[i]) + code]
    first = 0
    for i in range(counts.size):
        for s in range(first, first + counts[i]):
            found[numbers[i], rows[s]] = rarities[s]
        first += counts[i]


def exercise() -> None:
    """Run once on almost nothing, so that everything is compiled, or loaded from the cache."""
    whole, one, found = np.zeros(1, np.int64), np.ones(1), np.ones((1, 1))
    find_suspects(found, np.ones((2, 2, 1)), whole, one, whole.copy())
    find_points(one, whole, one, np.arange(2), one, np.zeros((1, 2), np.int32), one, whole)
    codes = np.zeros((1, 1), np.int32)
    note(codes, one, whole, whole, whole, one, whole, whole, whole, found)
