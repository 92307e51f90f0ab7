"""Where training values lie: distinct values and their counts go in, a `Spacing` comes out."""

import numpy as np

from truism.arrays import Counts, Floats
from truism.model.evidence import N_EXACT, Spacing

NEAR_SHARE, MIN_NEAR, MAX_NEAR = 0.01, 5, 50  # the nearest 1 % of the training values, 5 to 50
N_KNOTS, N_EVEN = 255, 75  # kept training values, and how many of them are chosen evenly
HEAVY_SHARE = 0.1  # a value with this share of the rows is left out of the usual spread


def space(variable: str, values: Floats, counts: Counts) -> Spacing:
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


def stand_in(knots: Floats, values: Floats) -> Counts:
    """Return which of the kept training values stands for each value: the nearest one."""
    return np.searchsorted(borders(knots), values)


def borders(knots: Floats) -> Floats:
    """Return the largest value that each of the kept training values but the last stands for."""
    middles = knots[1:] / 2 + knots[:-1] / 2
    # Neighbouring doubles have no midpoint; each still stands for itself.
    found: Floats = np.minimum(middles, np.nextafter(knots[1:], -np.inf))
    return found


def _kept(n_values: int) -> Counts:
    """Choose which of the distinct values are kept, by their rank.

    The outermost ones are all kept, some are chosen evenly, and the rest more densely towards the
    ends: it is in the tails that the spacing matters.
    """
    if n_values <= N_KNOTS:
        return np.arange(n_values)
    inner = np.linspace(N_EXACT, n_values - N_EXACT - 1, N_EVEN)
    n_sparser = (N_KNOTS - 2 * N_EXACT - N_EVEN) // 2
    sparser = np.geomspace(N_EXACT, n_values / 2, n_sparser)
    ranks = np.concatenate([inner, sparser, n_values - 1 - sparser]).round().astype(np.int64)
    outermost = np.arange(N_EXACT)
    return np.unique(np.concatenate([outermost, ranks, n_values - 1 - outermost]))


def _usual_spread(values: Floats, counts: Counts) -> float:
    """Return the standard deviation of a normal distribution with the same outer deciles.

    If one value has a large share of the rows, the others may hold all the variation; so the spread is
    taken with and without it, and the larger one counts.
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


def _decile_spread(values: Floats, counts: Counts) -> float:
    upto = np.cumsum(counts)
    low, high = values[np.searchsorted(upto * 10, [upto[-1], 9 * upto[-1]], side="left")]
    return float(high / 2.56 - low / 2.56)
