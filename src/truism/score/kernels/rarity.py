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
def find_point(value, points, first, scale, below):
    """Return the last point that a value reaches; it reaches the `first` one of the number's."""
    distance = (value - points[first]) * scale
    cell = min(int(distance), below.size - 2) if distance > 0.0 else 0
    low = max(below[cell] - 1, 0)
    n_left = below[cell + 1] - low
    while n_left > _FEW:
        half = n_left >> 1
        low = low + half if points[first + low + half] <= value else low
        n_left -= half
    while n_left > 1 and points[first + low + 1] <= value:
        low += 1
        n_left -= 1
    return first + low


@inner
def interpolate(value, at, points, distances):
    """Return the distance between a point and the next, as `numpy.interp` does."""
    x, y = points[at], distances[at]
    if value == x:
        return y
    next_x, next_y = points[at + 1], distances[at + 1]
    slope = (next_y - y) / (next_x - x)
    found = slope * (value - x) + y
    if isnan(found):
        found = slope * (value - next_x) + next_y
    return y if isnan(found) and y == next_y else found


@jit
def weigh(values, curves, steepness, least, most, weight, numbers, found):
    """Note how rare numbers are, between bounds, times a weight; `found` is zeros, variables × rows."""
    points, distances = curves.points, curves.distances
    for i in range(values.shape[0]):
        low, high = curves.bounds[0, 0, i], curves.bounds[0, 1, i]
        other_low, other_high = curves.bounds[1, 0, i], curves.bounds[1, 1, i]
        start, last = curves.starts[i], curves.starts[i + 1] - 1
        for first in range(0, values.shape[1], _TILE):
            stop, n_unusual = min(first + _TILE, values.shape[1]), 0
            for r in range(first, stop):
                x = values[i, r]
                n_unusual += not ((x >= low) & (x <= high) | (x >= other_low) & (x <= other_high))
            for r in range(first, stop if n_unusual else first):
                x = values[i, r]
                if (x >= low) & (x <= high) | (x >= other_low) & (x <= other_high) | isnan(x):
                    continue
                inside = min(max(x, points[start]), points[last])
                at = find_point(inside, points, start, curves.scales[i], curves.below[i])
                distance = interpolate(inside, at, points, distances) + abs(x - inside)
                root = log(distance / curves.spreads[i] * steepness + 1)
                found[numbers[i], r] = min(max(root * root - least, 0.0), most) * weight
