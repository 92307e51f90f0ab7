"""How rare a value is in itself: a variable's training values go in, a number per value comes out.

A number is rare where training values are sparse: at the end of a long tail, but also in a gap between
two modes. The measure is the distance to the k-th nearest training value in units of the variable's
usual spread. A state is rare if it, and all states that are no more common, were seen only a few times;
a state that is uncommon but well known is not rare. docs/experiments.md compares this with tail
probabilities and other measures.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from truism.arrays import Counts, Floats
from truism.score import kernels
from truism.score.alignment import Reader, Readings

MIN_RARITY, MAX_RARITY = 0.05, 25.0  # less than the first counts as not rare at all
STEEPNESS = 3.0
WELL_KNOWN = 20  # a state with this many training rows is not rare
_AROUND = np.arange(-2, 2)[:, None]
_FARTHEST = np.finfo(np.float64).max
_N_CELLS = 1024  # between the lowest and the highest training value; most hold a point or two


def _with_middles(knots: Floats) -> Floats:
    """Return ascending values with the midpoints between them."""
    points = np.empty(max(2 * len(knots) - 1, 0))
    points[::2] = knots
    points[1::2] = knots[1:] / 2 + knots[:-1] / 2
    # Neighbouring doubles have no midpoint.
    return points if (points[1:] > points[:-1]).all() else np.unique(points)


class Emptiness:
    """Measures how empty the surroundings of a number are: the distance within which `near` rows lie.

    Training values ascend, and `counts` says how many rows each stands for; some may stand for none. See
    `Spacing`.
    """

    def __init__(
        self,
        values: Sequence[float] | Floats,
        counts: Sequence[int] | Counts,
        near: int,
        spread: float,
    ) -> None:
        held = np.asarray(counts, np.int64)
        knots = np.asarray(values, np.float64)
        if not held.all():
            knots, held = knots[held > 0], held[held > 0]
        before = np.zeros(len(held) + 1, np.int64)
        np.cumsum(held, out=before[1:])
        self.near, self.spread = min(near, max(1, int(before[-1]))), spread
        self._knots, self._before = knots, before
        self.points = _with_middles(knots)
        # Each shortest run of knots that holds enough rows, by its ends.
        last = np.searchsorted(before, before[:-1] + self.near) - 1
        n_runs = int(np.searchsorted(last, len(knots)))
        low, high = knots[:n_runs], knots[last[:n_runs]]
        # As runs move right, their low end comes nearer to a point and their high end moves away:
        # the best run is where both are equally far, give or take a rounded midpoint.
        alike = np.searchsorted(low / 2 + high / 2, self.points)
        runs = np.minimum(np.maximum(alike + _AROUND, 0), n_runs - 1)
        with np.errstate(over="ignore"):
            far = np.maximum(self.points - low[runs], high[runs] - self.points)
        self.distances = np.minimum(far.min(axis=0), _FARTHEST)

    def distance(self, values: Floats) -> Floats:
        """Return the distance within which enough training rows lie; missing values have none."""
        low, high = self.points[0], self.points[-1]
        found = self.distance_within(values)
        if not (low <= values.min(initial=low) and values.max(initial=high) <= high):
            add_beyond(found, values, low, high)
        return found

    def distance_within(self, values: Floats) -> Floats:
        """Return the same; for values beyond all training values, the distance of the last of those."""
        found: Floats = np.interp(values, self.points, self.distances)
        return found

    @functools.cached_property
    def rarities(self) -> Floats:
        """The rarity at each of the points."""
        return rarity(self.distances, self.spread)

    def rarity(self, values: Floats) -> Floats:
        """Return the rarity of numbers."""
        return rarity(self.distance(values), self.spread)

    def ordinary(self) -> list[tuple[float, float]]:
        """Return up to two pairs of bounds that hold most training rows and no rare value.

        Beyond them, and for a missing value, rarity has to be looked up.
        """
        usual = self.rarities == 0.0
        edges = np.flatnonzero(np.diff(usual, prepend=False, append=False))
        starts, ends = self.points[edges[::2]], self.points[edges[1::2] - 1]
        upto = np.searchsorted(self._knots, ends, side="right")
        before = np.searchsorted(self._knots, starts, side="left")
        widest = np.argsort(self._before[before] - self._before[upto], kind="stable")[:2]
        return list(zip(starts[widest].tolist(), ends[widest].tolist(), strict=True))

    def count_beyond(self, value: float) -> tuple[int, int]:
        """Count the training rows that are at most, and at least, as large as a value."""
        below = self._before[np.searchsorted(self._knots, value, side="right")]
        above = self._before[-1] - self._before[np.searchsorted(self._knots, value, side="left")]
        return int(below), int(above)


def add_beyond(
    distances: Floats, values: Floats, low: Floats | float, high: Floats | float
) -> None:
    """Add to distances how far values lie beyond the lowest and the highest training value."""
    with np.errstate(over="ignore"):
        distances += np.maximum(low - values, 0)
        distances += np.maximum(values - high, 0)


def rarity(distances: Floats, spread: Floats | float) -> Floats:
    """Turn distances into rarity, from 0 up to `MAX_RARITY`; a missing value has none."""
    with np.errstate(over="ignore"):
        found: Floats = distances / spread
        found *= STEEPNESS
    found += 1
    np.log(found, out=found)
    np.square(found, out=found)
    found -= MIN_RARITY
    np.clip(found, 0.0, MAX_RARITY, out=found)
    if np.isnan(found.sum()):
        found[np.isnan(found)] = 0.0
    return found


def state_rarities(counts: Counts) -> Floats:
    """Return the rarity of each state, then of an unseen one, then of a missing one.

    A state is as rare as all the states that are no more common are together: if many states were seen
    once, such as user names, the next row may well bring another. A new state is as rare as those.
    """
    ascending = np.sort(counts)
    upto = np.concatenate([[0], np.cumsum(ascending)])
    met = upto[np.searchsorted(ascending, np.append(np.maximum(counts, 1), 1), side="right")]
    met = np.minimum(met, counts.max(initial=0))
    surprise = np.log((met.max(initial=0) + 0.5) / (met + 0.5))
    surprise *= np.maximum(1 - met / WELL_KNOWN, 0)
    found: Floats = np.append(np.minimum(np.square(surprise), MAX_RARITY), 0.0)
    return found


def _stack(emptiness: Sequence[Emptiness]) -> Any:
    """Lay out the surroundings of numbers one after the other, as the loop reads them."""
    none, n_numbers = np.empty(0), len(emptiness)
    bounds, scales = np.full((2, 2, n_numbers), np.nan), np.zeros(n_numbers)
    below = np.empty((n_numbers, _N_CELLS + 1), np.int32)
    for i, each in enumerate(emptiness):
        for pair, between in enumerate(each.ordinary()):
            bounds[pair, :, i] = between
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scale = _N_CELLS / (each.points[-1] - each.points[0])
            scales[i] = scale if np.isfinite(scale) else 0.0
            cells = (each.points - each.points[0]) * scales[i]
        cells = np.minimum(np.where(cells > 0, cells, 0), _N_CELLS - 1).astype(np.int64)
        below[i] = np.searchsorted(cells, np.arange(_N_CELLS + 1))
    return kernels.rarity.Curves(
        bounds,
        np.concatenate([none, *(each.points for each in emptiness)]),
        np.concatenate([none, *(each.distances for each in emptiness)]),
        np.cumsum([0, *(len(each.points) for each in emptiness)]),
        scales,
        below,
        np.array([each.spread for each in emptiness]),
    )


class Rarities:
    """Measures how rare the values of all variables are in themselves.

    There is an emptiness for each number and a count of rows for each state, in the schema's order.
    """

    def __init__(
        self, reader: Reader, emptiness: Sequence[Emptiness], state_counts: Sequence[Counts]
    ) -> None:
        self._reader = reader
        self.emptiness = emptiness
        self._numbers = np.array(reader.numbers, np.int64)
        self._of_states = [state_rarities(counts) for counts in state_counts]

    @functools.cached_property
    def _curves(self) -> Any:
        """How empty the surroundings of all numbers are."""
        return _stack(self.emptiness)

    def weigh(self, readings: Readings, weight: float = 1.0) -> Floats:
        """Return the rarity of each value, times a weight: rows × variables."""
        found = np.zeros((len(self._reader.schema.variables), len(readings.numbers)))
        values, codes = map(np.ascontiguousarray, (readings.numbers.T, readings.codes.T))
        measure = STEEPNESS, MIN_RARITY, MAX_RARITY, weight
        kernels.rarity.weigh(values, self._curves, *measure, self._numbers, found)
        for i, rarities, of_row in zip(self._reader.states, self._of_states, codes, strict=True):
            np.take(rarities * weight, of_row, out=found[i], mode="wrap")
        return found.T
