"""How rare a value is in itself: a variable's training values go in, a number per value comes out.

A number is rare where training values are sparse: at the end of a long tail, but also in a gap between
two modes. The measure is the distance to the k-th nearest training value in units of the variable's
usual spread. A state is rare if it, and all states that are no more common, were seen only a few times;
a state that is uncommon but well known is not rare. docs/experiments.md compares this with tail
probabilities and other measures.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Counts, Floats
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
    def slopes(self) -> Floats:
        """How fast the distance grows after each of the points; not at all after the last."""
        with np.errstate(over="ignore"):
            return np.append(np.diff(self.distances) / np.diff(self.points), 0.0)

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


class _Curves(msgspec.Struct, frozen=True, eq=False):
    """How empty the surroundings of numbers are, those of a number after those of the one before."""

    points: NDArray[np.float64]  # see `Emptiness`
    distances: NDArray[np.float64]
    slopes: NDArray[np.float64]
    starts: NDArray[np.int64]  # where those of each number start, and where the last ones end
    ends: NDArray[np.float64]  # the first and the last point of each number: two rows
    # by what to multiply a number's distance from its first point to find the cell it is in, and
    # how many points lie in cells before each: numbers × cells, and all
    scales: NDArray[np.float64]
    below: NDArray[np.int32]


def _stack(emptiness: Sequence[Emptiness]) -> _Curves:
    """Lay out the surroundings of numbers one after the other."""
    none, scales = np.empty(0), np.zeros(len(emptiness))
    below = np.empty((len(emptiness), _N_CELLS + 1), np.int32)
    for i, each in enumerate(emptiness):
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scale = _N_CELLS / (each.points[-1] - each.points[0])
            scales[i] = scale if np.isfinite(scale) else 0.0
            cells = (each.points - each.points[0]) * scales[i]
        cells = np.minimum(np.where(cells > 0, cells, 0), _N_CELLS - 1).astype(np.int64)
        below[i] = np.searchsorted(cells, np.arange(_N_CELLS + 1))
    return _Curves(
        np.concatenate([none, *(each.points for each in emptiness)]),
        np.concatenate([none, *(each.distances for each in emptiness)]),
        np.concatenate([none, *(each.slopes for each in emptiness)]),
        np.cumsum([0, *(len(each.points) for each in emptiness)]),
        np.array([(each.points[0], each.points[-1]) for each in emptiness]).reshape(-1, 2).T,
        scales,
        below,
    )


class Rarities:
    """Measures how rare the values of all variables are in themselves.

    There is an emptiness for each number and a count of rows for each state, in the schema's order.
    """

    def __init__(
        self,
        reader: Reader,
        emptiness: Sequence[Emptiness],
        state_counts: Sequence[NDArray[np.int64]],
    ) -> None:
        self._reader = reader
        self.emptiness = emptiness
        self._numbers = np.array(reader.numbers, np.int64)
        self._spreads = np.array([each.spread for each in emptiness])
        self._of_states = [state_rarities(counts) for counts in state_counts]

    @functools.cached_property
    def _curves(self) -> "_Curves":
        """How empty the surroundings of all numbers are."""
        return _stack(self.emptiness)

    @functools.cached_property
    def _ordinary(self) -> NDArray[np.float64]:
        """Return bounds between which no value is rare: two pairs, low and high, × numbers × 1."""
        bounds = np.full((2, 2, len(self.emptiness), 1), np.nan)
        for place, each in enumerate(self.emptiness):
            for pair, between in enumerate(each.ordinary()):
                bounds[pair, :, place, 0] = between
        return bounds

    def weigh(
        self,
        readings: Readings,
        *,
        compiled: bool = False,
    ) -> NDArray[np.float64]:
        """Return the rarity of each value: rows × variables; those that cannot be rare are set aside."""
        shape = len(self._reader.schema.variables), len(readings.numbers)
        found = np.zeros(shape)
        if compiled:
            self._weigh_compiled(readings, found)
            return found.T
        values = readings.numbers.T
        places, rows = self._suspects(values)
        if len(rows):
            found[self._numbers[places], rows] = self._rarity(places, values[places, rows])
        for place, (i, of_state) in enumerate(
            zip(self._reader.states, self._of_states, strict=True)
        ):
            found[i] = of_state[readings.codes[:, place]]
        return found.T

    def _weigh_compiled(self, readings: Readings, found: NDArray[np.float64]) -> None:
        """Note the same in zeros, variables × rows, with compiled loops but for the logarithm."""
        from truism.score.kernels import rarity as kernel  # the compiler, only where it pays

        values, curves = readings.numbers.T, self._curves
        rows = np.empty(values.size, np.int64)
        suspects = np.empty(values.size)
        counts = np.empty(len(values), np.int64)
        kernel.find_suspects(values, self._ordinary[..., 0], rows, suspects, counts)
        suspects = suspects[: counts.sum()]
        inside = np.empty(suspects.shape)
        at = np.empty(suspects.shape, np.int64)
        cells = curves.starts, curves.scales, curves.below
        kernel.find_points(suspects, counts, curves.points, *cells, inside, at)
        places = np.repeat(np.arange(len(counts)), counts)
        rarities = self._rarity_at(places, suspects, inside, at)
        numbers = rarities, rows, counts, self._numbers
        kernel.note(readings.codes.T, *self._states, *numbers, found)

    @functools.cached_property
    def _states(self) -> tuple[NDArray[Any], ...]:
        """The rarities of all states, where those of each start and end, and their places."""
        ends = np.cumsum([0, *map(len, self._of_states)])
        places = np.array(self._reader.states, np.int64)
        return np.concatenate([np.empty(0), *self._of_states]), ends[:-1], ends[1:], places

    def _suspects(self, values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which numbers may be rare and in which rows, number by number."""
        suspect = np.ones(values.shape, np.bool_)
        for low, high in self._ordinary:
            suspect &= ~((values >= low) & (values <= high))
        places, rows = np.nonzero(suspect)
        return places, rows

    def _rarity(
        self, places: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the rarity of values of numbers, number by number."""
        curves, at = self._curves, np.empty(len(values), np.int64)
        lowest, highest = curves.ends[:, places]
        inside = np.minimum(np.maximum(values, lowest), highest)
        starts = np.flatnonzero(np.diff(places, prepend=-1)).tolist()
        for start, end in itertools.pairwise([*starts, len(values)]):
            points = self.emptiness[places[start]].points
            at[start:end] = points.searchsorted(inside[start:end], "right")
        at += curves.starts[places]
        at -= 1
        return self._rarity_at(places, values, inside, at)

    def _rarity_at(
        self,
        places: NDArray[np.int64],
        values: NDArray[np.float64],
        inside: NDArray[np.float64],
        at: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return the rarity of values, given the last point that each reaches, with one logarithm.

        `inside` are the values, brought between a number's first and last point.
        """
        curves = self._curves
        with np.errstate(over="ignore", invalid="ignore"):
            distances = inside - curves.points[at]
            distances *= curves.slopes[at]
            distances += curves.distances[at]
            if np.isnan(distances.sum()):
                # Missing, or between points that are as far apart, or as near, as doubles can be.
                lost = np.flatnonzero(np.isnan(distances) & ~np.isnan(inside))
                for each in lost.tolist():
                    distances[each] = self.emptiness[places[each]].distance_within(inside[each])
            distances += np.abs(values - inside)
        return rarity(distances, self._spreads[places])
