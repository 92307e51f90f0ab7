"""Where a number usually lies: what contexts and spacings know goes in, predicates and words come out."""

import math
import sys

import msgspec
import numpy as np

from truism.model.evidence import N_EXACT
from truism.model.predicates import Interval, format_number, quote_name
from truism.model.schema import Numeric
from truism.scoring.contexts import FLOOR
from truism.scoring.rarity import Emptiness, rarity

RESOLUTION = 0.02  # of a variable's standard deviation: contexts keep four decimals of it
NEGLIGIBLE = 0.05  # of some rows: so few missing values do not change what is said of them


class Ordinary(msgspec.Struct, frozen=True):
    """The nearest ordinary places of a number that is rare.

    Parameters
    ----------
    said
        They, in words.
    interval
        The same, where one predicate can say it.
    nearest
        The values that are named.
    evidence
        How few training rows lie elsewhere, in words.

    """

    said: str
    interval: Interval | None
    nearest: tuple[float, ...]
    evidence: str


def usual_interval(variable: Numeric, mean: float, spread: float, found: float) -> Interval:
    """Give where a number was expected: two spreads around the mean, and never where it was found.

    It is at least as wide as what contexts tell apart, and halved until what was found is outside. On
    the other side it is open where it reaches beyond all training values.
    """
    half = min(max(2 * spread, FLOOR * variable.std), sys.float_info.max)
    while half > 0.0:
        low, high = (_round(bound, half) for bound in (mean - half, mean + half))
        if low < high and high <= found and high < math.inf:
            return Interval(variable.name, -math.inf if low < variable.low else low, high)
        if low < high and found < low and low > -math.inf:
            return Interval(variable.name, low, math.inf if high > variable.high else high)
        half /= 2
    # Closer to the mean than two doubles are to each other.
    if mean <= found:
        return Interval(variable.name, high=min(found, sys.float_info.max))
    return Interval(variable.name, low=math.nextafter(found, math.inf))


def average(variable: Numeric, mean: float, spread: float, n_rows: int) -> str:
    """Print mean and spread of some training rows, without digits that contexts do not keep.

    How many of these rows lack the value is not known, only how many of all rows do.
    """
    to = max(spread, RESOLUTION * variable.std)
    middle, around = (format_number(_round(each, to)) for each in (mean, spread))
    known = ", where it is known," if variable.n_missing > NEGLIGIBLE * n_rows else ""
    return f"{middle}{known}" if around == "0" else f"{middle} ± {around}{known}"


def ordinary(name: str, emptiness: Emptiness, found: float, n_training: int) -> Ordinary:
    """Name the nearest ordinary places of a number, also as a predicate, and how few rows differ."""
    quoted = quote_name(name)
    n_below, n_above = emptiness.count_beyond(found)
    below, above = _nearest(emptiness, found)
    n_usual, where, interval = 0, "elsewhere", None
    said = []
    if below is not None:
        said.append(f"{quoted} ≤ {format_number(below)}")
        n_usual += emptiness.count_beyond(below)[0]
        where, interval = "above that", Interval(name, high=math.nextafter(below, math.inf))
    if above is not None:
        said.append(f"{quoted} ≥ {format_number(above)}")
        n_usual += emptiness.count_beyond(above)[1]
        where, interval = "below that", Interval(name, low=above)
    if below is not None and above is not None:
        where, interval = "between these", None
    fewest = min(n_below, n_above)
    if fewest <= 0.01 * n_training:
        side = "low" if n_below <= n_above else "high"
        about = "about " if fewest > N_EXACT else ""
        seen = f"{about}{fewest:,} of {n_training:,} training rows were this {side}"
    else:
        # A training value that is kept stands for its neighbours too.
        n_others = emptiness.count_beyond(math.inf)[0] - n_usual
        seen = f"about {n_others:,} of {n_training:,} training rows lie {where}"
    nearest = tuple(place for place in (below, above) if place is not None)
    return Ordinary(" or ".join(said) or f"{quoted} near other values", interval, nearest, seen)


def _nearest(emptiness: Emptiness, found: float) -> tuple[float | None, float | None]:
    """Find the nearest places, on either side, where values are at most half as rare."""
    rare = rarity(emptiness.distances, emptiness.spread)
    limit = rarity(emptiness.distance(np.array([found])), emptiness.spread)[0] / 2
    usual = emptiness.points[rare <= limit]
    if not len(usual):
        usual = emptiness.points[[rare.argmin()]]
    below, above = usual[usual < found], usual[usual > found]
    return (
        _shortened(float(below[-1]), emptiness.spread, found) if len(below) else None,
        _shortened(float(above[0]), emptiness.spread, found) if len(above) else None,
    )


def _shortened(place: float, spread: float, found: float) -> float:
    """Leave out digits that say nothing, unless they tell a place from what was found."""
    short = _round(place, spread / 1000)
    return short if (short < found) == (place < found) and short != found else place


def _round(value: float, to: float) -> float:
    """Round a number to a tenth of another one's size."""
    if not 0.0 < to < math.inf or not math.isfinite(value):
        return value
    try:
        return round(value, 1 - math.floor(math.log10(to)))
    except OverflowError:  # among the largest doubles
        return value
