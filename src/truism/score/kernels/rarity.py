"""The compiled loop that sets values aside that cannot be rare, and looks up the others.

Legend: ``i`` a variable, ``r`` a row, ``at`` a point of a curve.
"""

from math import isnan, log
from typing import NamedTuple

import numpy as np

from truism.score.kernels.compiling import inner, jit

_FEW = 8  # points that are looked at one by one
_TILE = 64  # values that are looked at together: mostly, all of them are usual


class Curves(NamedTuple):
    """How empty the surroundings of numbers are, those of a number after those of the one before.

    `bounds` are two pairs, low and high, × numbers: no value between one of them is rare. A number's
    points, and how far away enough training rows are from each, begin at `starts`. The line between its
    first and last point is divided into cells of equal width, `scales` to a unit; `below` says how many
    points lie in cells before each.
    """

    bounds: np.ndarray
    points: np.ndarray
    distances: np.ndarray
    starts: np.ndarray
    scales: np.ndarray
    below: np.ndarray
    spreads: np.ndarray


@inner
def are_usual(values, low, high, other_low, other_high):
    """Return whether all values lie within one of two pairs of bounds."""
    n_usual = 0
    for r in range(values.size):
        value = values[r]
        usual = (value >= low) & (value <= high) | (value >= other_low) & (value <= other_high)
        n_usual += usual
    return n_usual == values.size


@inner
def find_point(value, i, curves):
    """Return the last point of a number that a value reaches; it reaches the first one."""
    low = curves.starts[i]
    distance = (value - curves.points[low]) * curves.scales[i]
    n_cells = curves.below.shape[1] - 1
    cell = min(int(distance), n_cells - 1) if distance > 0.0 else 0
    first = max(curves.below[i, cell] - 1, 0)
    n_left = curves.below[i, cell + 1] - first
    low += first
    while n_left > _FEW:
        half = n_left >> 1
        low = low + half if curves.points[low + half] <= value else low
        n_left -= half
    while n_left > 1 and curves.points[low + 1] <= value:
        low += 1
        n_left -= 1
    return low


@inner
def distance_of(value, i, curves):
    """Return within which distance enough training rows lie; between points as `numpy.interp`."""
    lowest, highest = curves.points[curves.starts[i]], curves.points[curves.starts[i + 1] - 1]
    inside = min(max(value, lowest), highest)
    at = find_point(inside, i, curves)
    x, y = curves.points[at], curves.distances[at]
    if inside > x:
        next_x, next_y = curves.points[at + 1], curves.distances[at + 1]
        slope = (next_y - y) / (next_x - x)
        found = slope * (inside - x) + y
        if isnan(found):
            found = slope * (inside - next_x) + next_y
        y = y if isnan(found) and y == next_y else found
    return y + abs(value - inside)


@jit
def weigh(values, curves, steepness, least, most, weight, numbers, found):
    """Note how rare numbers are, between bounds, times a weight; `found` is zeros, variables × rows."""
    for i in range(values.shape[0]):
        (low, high), (other_low, other_high) = curves.bounds[0, :, i], curves.bounds[1, :, i]
        for first in range(0, values.shape[1], _TILE):
            tile = values[i, first : first + _TILE]
            if are_usual(tile, low, high, other_low, other_high):
                continue
            for r in range(tile.size):
                value = tile[r]
                usual = (value >= low) & (value <= high)
                usual |= (value >= other_low) & (value <= other_high)
                if usual or isnan(value):
                    continue
                root = log(distance_of(value, i, curves) / curves.spreads[i] * steepness + 1)
                rarity = min(max(root * root - least, 0.0), most)
                found[numbers[i], first + r] = rarity * weight
