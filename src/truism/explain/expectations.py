"""Where a number usually lies: contexts and spacings go in, intervals and counts come out."""

import math
import sys
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from truism.model.evidence import N_EXACT
from truism.model.predicates import Interval
from truism.model.schema import Numeric
from truism.score.contexts import FLOOR
from truism.score.rarity import Emptiness

_MAX_DIGITS = 17
MOST = 0.8  # share of the rows that states have to cover to be called usual
NEARLY_ALL = 0.9  # share of the rows from which on usual states are called expected
FEW = 0.01  # share of the training rows, up to which the number of rows this far out is given


class Nearest(msgspec.Struct, frozen=True, gc=False):
    """The nearest ordinary values on either side of a rare number; None if there is none."""

    below: float | None
    above: float | None

    @property
    def values(self) -> tuple[float, ...]:
        """The values that exist."""
        return tuple(each for each in (self.below, self.above) if each is not None)

    def interval(self, variable: str) -> Interval | None:
        """Return what is ordinary as a predicate, if it lies on one side only."""
        if self.below is not None and self.above is None:
            return Interval(variable, high=math.nextafter(self.below, math.inf))
        if self.above is not None and self.below is None:
            return Interval(variable, low=self.above)
        return None


class Beyond(msgspec.Struct, frozen=True, gc=False):
    """How many training rows lie as far out as a number, and on which side; exact if few."""

    n_rows: int
    side: Literal["low", "high"]

    @property
    def is_exact(self) -> bool:
        """Whether the number is exact."""
        return self.n_rows <= N_EXACT


class Sparse(msgspec.Struct, frozen=True, gc=False):
    """About how many training rows lie near a number, away from the nearest ordinary values."""

    n_rows: int


def usual_interval(variable: Numeric, mean: float, spread: float, found: float) -> Interval | None:
    """Return the interval in which a number was expected: two spreads around the mean.

    The interval is at least as wide as the resolution of contexts. Its other side is open if it reaches
    beyond all training values. There is none if what was found lies within: an interval that is made
    narrower until it does not would say more than training shows.
    """
    half = min(max(2 * spread, FLOOR * variable.std), sys.float_info.max)
    if mean - half <= found < mean + half:
        return None
    for digits in range(_MAX_DIGITS):
        size = half / 10**digits
        low, high = round_to(mean - half, size), round_to(mean + half, size)
        if not low < high:
            continue
        if high <= found and high < math.inf:
            return Interval(variable.name, -math.inf if low < variable.low else low, high)
        if found < low and low > -math.inf:
            return Interval(variable.name, low, math.inf if high > variable.high else high)
    return None


def usual_classes(counts: Sequence[int], found: int, rest: int | None = None) -> tuple[int, ...]:
    """Return the classes of states that were expected in place of the one found, commonest first.

    One, if at least half of the rows have it; else as many as it takes for four fifths of the rows that
    do not have the state found. None, if most rows have that one: it is only less common than elsewhere.

    Parameters
    ----------
    counts
        How many rows have each class.
    found
        The class that was found.
    rest
        The class that the rarest of very many states share; it is named only if nothing else is left.

    >>> usual_classes([50, 0, 1], 1), usual_classes([20, 20, 19, 1], 3), usual_classes([60, 40], 0)
    ((0,), (0, 1, 2), ())
    """
    n_rows = sum(counts)
    n_found = counts[found] if found < len(counts) else 0
    others = [k for k, count in enumerate(counts) if k != found and count]
    others.sort(key=lambda k: (k == rest, -counts[k], k))
    if 2 * n_found > n_rows:
        return ()
    chosen: list[int] = []
    covered = 0
    for k in others:
        chosen.append(k)
        covered += counts[k]
        if 2 * counts[chosen[0]] >= n_rows or covered >= MOST * (n_rows - n_found):
            break
    return tuple(chosen)


def nearest(emptiness: Emptiness, found: float) -> Nearest:
    """Return the nearest values, on either side, that are at most half as rare."""
    rare = emptiness.rarities
    limit = emptiness.rarity(np.array([found]))[0] / 2
    usual = emptiness.points[rare <= limit]
    if not len(usual):
        usual = emptiness.points[[rare.argmin()]]
    below, above = usual[usual < found], usual[usual > found]
    return Nearest(
        _shortened(float(below[-1]), emptiness.spread, found) if len(below) else None,
        _shortened(float(above[0]), emptiness.spread, found) if len(above) else None,
    )


def count_others(
    emptiness: Emptiness, around: Nearest, found: float, n_training: int
) -> Beyond | Sparse:
    """Count the training rows that lie where a rare number does."""
    n_below, n_above = emptiness.count_beyond(found)
    fewest = min(n_below, n_above)
    if fewest <= FEW * n_training:
        return Beyond(fewest, "low" if n_below <= n_above else "high")
    # A kept training value stands for its neighbours too.
    n_usual = 0
    if around.below is not None:
        n_usual += emptiness.count_beyond(around.below)[0]
    if around.above is not None:
        n_usual += emptiness.count_beyond(around.above)[1]
    return Sparse(emptiness.count_beyond(math.inf)[0] - n_usual)


def _shortened(place: float, spread: float, found: float) -> float:
    """Drop digits that mean nothing, unless they separate a value from the found one."""
    short = round_to(place, spread / 1000)
    return short if (short < found) == (place < found) and short != found else place


def round_to(value: float, size: float) -> float:
    """Round a number to a tenth of the size of another.

    >>> round_to(3.14159, 0.5), round_to(1234.5, 80.0)
    (3.14, 1234.0)
    """
    if not 0.0 < size < math.inf or not math.isfinite(value):
        return value
    try:
        return round(value, 1 - math.floor(math.log10(size)))
    except OverflowError:  # among the largest doubles
        return value
