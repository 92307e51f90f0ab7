"""How rare a value is by itself: a variable's training values go in, a number per value comes out.

A number is rare where training values lie sparsely: at the ends of a long tail, but also in a gap
between two modes. The measure is the distance to the k-th nearest training value in units of the
variable's usual spread. A state is rare when it, and all that are no more common, were met a few times
at most; one that is uncommon but well known is not. docs/experiments.md compares this with tail
probabilities and others.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

MIN_RARITY, MAX_RARITY = 0.05, 25.0  # what is less than the former is not rare at all
NEAR_SHARE, MIN_NEAR, MAX_NEAR = 0.01, 5, 50  # the nearest 1 % of the training values, 5 to 50
STEEPNESS = 3.0
N_KNOTS, N_EXACT, N_EVEN = 255, 50, 75  # kept training values, outermost ones, evenly chosen ones
WELL_KNOWN = 20  # training rows from which on a state is not rare
HEAVY_SHARE = 0.1  # a value that so many rows share does not take part in the usual spread


class Spacing(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Where the training values of a numeric variable lie.

    Parameters
    ----------
    variable
        The variable's name.
    values
        At most 255 of them, ascending; the outermost 50 on each side are exact.
    counts
        How many training rows each stands for.
    near
        How many training rows must lie close to a value that is not rare.
    spread
        The usual spread, as robust as a standard deviation is not.

    """

    variable: str
    values: tuple[float, ...]
    counts: tuple[int, ...]
    near: int
    spread: float


def space(variable: str, values: Numbers, counts: Counts) -> Spacing:
    """Describe a variable by its distinct training values, ascending, and their counts."""
    knots = values[_kept(len(values))]
    owner = stand_in(knots, values)
    n_rows = int(counts.sum())
    near = min(max(int(NEAR_SHARE * n_rows), MIN_NEAR), MAX_NEAR, max(1, n_rows // 2))
    return Spacing(
        variable,
        tuple(knots.tolist()),
        tuple(np.bincount(owner, counts, len(knots)).astype(np.int64).tolist()),
        near,
        _usual_spread(values, counts),
    )


def stand_in(knots: Numbers, values: Numbers) -> Counts:
    """Say which of the kept training values stands for each value: the nearest one."""
    middles = knots[1:] / 2 + knots[:-1] / 2
    # Between neighbouring doubles there is no middle; each still stands for itself.
    return np.searchsorted(np.minimum(middles, np.nextafter(knots[1:], -np.inf)), values)


def _kept(n_values: int) -> Counts:
    """Choose which of the distinct values are kept, by their rank.

    The outermost ones are all kept, some are chosen evenly, and the rest so that the farther from
    the ends the more values one stands for: tails are where it matters how empty a place is.
    """
    if n_values <= N_KNOTS:
        return np.arange(n_values)
    inner = np.linspace(N_EXACT, n_values - N_EXACT - 1, N_EVEN)
    n_sparser = (N_KNOTS - 2 * N_EXACT - N_EVEN) // 2
    sparser = np.geomspace(N_EXACT, n_values / 2, n_sparser)
    ranks = np.concatenate([inner, sparser, n_values - 1 - sparser]).round().astype(np.int64)
    outermost = np.arange(N_EXACT)
    return np.unique(np.concatenate([outermost, ranks, n_values - 1 - outermost]))


def _usual_spread(values: Numbers, counts: Counts) -> float:
    """Give what a normal distribution's standard deviation would be between the outer deciles.

    Where one value holds much of the rows, the others may be all the variation there is, so the
    larger of with and without it counts.
    """
    spread = _decile_spread(values, counts)
    heaviest = int(counts.argmax())
    if counts[heaviest] > HEAVY_SHARE * counts.sum() and len(values) > 1:
        others = np.arange(len(values)) != heaviest
        spread = max(spread, _decile_spread(values[others], counts[others]))
    if spread == 0.0:
        largest = float(np.abs(values).max()) or 1.0  # the squares of huge numbers would overflow
        middle = values / largest - np.average(values / largest, weights=counts)
        spread = largest * float(np.sqrt(np.average(np.square(middle), weights=counts)))
    return spread if 0.0 < spread < np.inf else 1.0


def _decile_spread(values: Numbers, counts: Counts) -> float:
    upto = np.cumsum(counts)
    low, high = values[np.searchsorted(upto * 10, [upto[-1], 9 * upto[-1]], side="left")]
    return float(high / 2.56 - low / 2.56)


_AROUND = np.arange(-2, 2)[:, None]
_FARTHEST = np.finfo(np.float64).max


def _with_middles(knots: Numbers) -> Numbers:
    """Give ascending values and what lies halfway between two of them."""
    points = np.empty(max(2 * len(knots) - 1, 0))
    points[::2] = knots
    points[1::2] = knots[1:] / 2 + knots[:-1] / 2
    # Between neighbouring doubles there is no middle.
    return points if (points[1:] > points[:-1]).all() else np.unique(points)


class Emptiness:
    """Says how empty the surroundings of a number are: the distance within which `near` rows lie.

    Parameters
    ----------
    values, counts
        Training values, ascending, and how many rows each stands for; some may stand for none.
    near, spread
        See `Spacing`.

    """

    def __init__(
        self,
        values: Sequence[float] | Numbers,
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
        # Each run of knots that just holds enough rows, by its ends.
        last = np.searchsorted(before, before[:-1] + self.near) - 1
        n_runs = int(np.searchsorted(last, len(knots)))
        low, high = knots[:n_runs], knots[last[:n_runs]]
        # The farther to the right a run, the nearer its low end to a point and the farther its high
        # end: the best one is where the two are alike, give or take a rounded middle.
        alike = np.searchsorted(low / 2 + high / 2, self.points)
        runs = np.minimum(np.maximum(alike + _AROUND, 0), n_runs - 1)
        with np.errstate(over="ignore"):
            far = np.maximum(self.points - low[runs], high[runs] - self.points)
        self.distances = np.minimum(far.min(axis=0), _FARTHEST)

    def distance(self, values: Numbers) -> Numbers:
        """Give the distance within which enough training rows lie; missing values have none."""
        found: Numbers = np.interp(values, self.points, self.distances)
        low, high = self.points[0], self.points[-1]
        if not (low <= values.min(initial=low) and values.max(initial=high) <= high):
            with np.errstate(over="ignore"):
                found += np.maximum(low - values, 0)
                found += np.maximum(values - high, 0)
        return found

    def rarity(self, values: Numbers) -> Numbers:
        """Give the rarity of some numbers."""
        return rarity(self.distance(values), self.spread)

    def ordinary(self) -> list[tuple[float, float]]:
        """Give the bounds between which most training rows lie and no value is rare, at most twice.

        Beyond them, and for a missing value, rarity has to be looked up.
        """
        usual = rarity(self.distances, self.spread) == 0.0
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


def rarity(distances: Numbers, spread: Numbers | float) -> Numbers:
    """Turn distances into rarity, from 0 up to `MAX_RARITY`; a missing value has none."""
    with np.errstate(over="ignore"):
        found: Numbers = distances / spread
        found *= STEEPNESS
    found += 1
    np.log(found, out=found)
    np.square(found, out=found)
    found -= MIN_RARITY
    np.clip(found, 0.0, MAX_RARITY, out=found)
    if np.isnan(found.sum()):
        found[np.isnan(found)] = 0.0
    return found


def state_rarities(counts: Counts) -> Numbers:
    """Give the rarity of each state, then of one that was never met, then of a missing one.

    A state is as rare as all that are met no more often are together: where many states were met
    once, as names of users are, the next row may well bring another. A new state is as rare as those.
    """
    ascending = np.sort(counts)
    upto = np.concatenate([[0], np.cumsum(ascending)])
    met = upto[np.searchsorted(ascending, np.append(np.maximum(counts, 1), 1), side="right")]
    met = np.minimum(met, counts.max(initial=0))
    surprise = np.log((met.max(initial=0) + 0.5) / (met + 0.5))
    surprise *= np.maximum(1 - met / WELL_KNOWN, 0)
    found: Numbers = np.append(np.minimum(np.square(surprise), MAX_RARITY), 0.0)
    return found
