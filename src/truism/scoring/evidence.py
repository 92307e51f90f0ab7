"""Evidence against the values of a row, on one scale: the parts of the default score.

A `Model` learned with ``scoring="evidence"`` holds an `Evidence`. A variable of a row can have two kinds
of evidence against it:

* a *contradiction*: in rows that are otherwise like this one the variable is usually different
  (`truism.scoring.contexts`), or a rule is broken, whichever is stronger;
* *rarity*: the value is unusual whatever the other variables are (`truism.scoring.rarity`).

A broken rule is worth ½·ln(1 + E), where E is the number of exceptions to expect by chance among the
rows of its antecedent (`expected_exceptions`). The unit of each kind is how much its sum varies among
held-out normal rows. The score is the sum over both kinds and all variables.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.evidence import Evidence
from truism.model.schema import Categorical, Schema
from truism.scoring.contexts import LeafProfiles, statistics_of
from truism.scoring.leaves import Leaves
from truism.scoring.rarity import Emptiness, rarity, state_rarities
from truism.scoring.readings import Reader, Readings
from truism.scoring.scratch import FRESH, Fresh

ROWS_AT_ONCE = 8192  # few enough for their data to stay in the processor's cache
_N_CELLS = 1024  # between the lowest and the highest training value; most hold a point or two


class PreparedEvidence:
    """Evidence, made ready to weigh rows.

    Parameters
    ----------
    schema
        The variables.
    evidence
        What was learned.

    """

    def __init__(self, schema: Schema, evidence: Evidence) -> None:
        self.reader = Reader(schema)
        trees = [each.tree for each in evidence.contexts]
        self.leaves = Leaves(len(evidence.splits), trees)
        self.profiles = LeafProfiles(
            self.reader, [statistics_of(each) for each in evidence.contexts]
        )
        counts = [
            np.array(each.counts) for each in schema.variables if isinstance(each, Categorical)
        ]
        emptiness = [
            Emptiness(each.values, each.counts, each.near, each.spread)
            for each in evidence.spacings
        ]
        self.rarities = Rarities(self.reader, emptiness, counts)


class _Curves(msgspec.Struct, frozen=True, eq=False):
    """How empty the surroundings of numbers are, those of a number after those of the one before.

    Parameters
    ----------
    points, distances, slopes
        See `Emptiness`.
    starts
        Where those of each number start, and where the last ones end.
    ends
        The first and the last point of each number: two rows.
    scales, below
        By what to multiply a number's distance from its first point to find the cell it is in, and how
        many points lie in cells before each: numbers × cells, and all.

    """

    points: NDArray[np.float64]
    distances: NDArray[np.float64]
    slopes: NDArray[np.float64]
    starts: NDArray[np.int64]
    ends: NDArray[np.float64]
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

    Parameters
    ----------
    reader
        Which variables are numbers and which are states.
    emptiness
        One for each number, in the schema's order.
    state_counts
        How often each state was seen, for each categorical variable.

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
        sift: bool = True,
        compiled: bool = False,
        memory: Fresh = FRESH,
    ) -> NDArray[np.float64]:
        """Return the rarity of each value: rows × variables.

        With `sift`, values that cannot be rare are set aside first; this pays unless rows are few.
        """
        shape = len(self._reader.schema.variables), len(readings.numbers)
        found = memory.zeros("rarities", shape)
        if sift and compiled:
            self._weigh_compiled(readings, memory, found)
            return found.T
        values = readings.numbers.T
        if sift:
            places, rows = self._suspects(values)
            if len(rows):
                found[self._numbers[places], rows] = self._rarity(places, values[places, rows])
        elif self.emptiness:
            distances = np.empty(values.shape)
            for of_number, empty, place in zip(values, self.emptiness, distances, strict=True):
                place[:] = empty.distance(of_number)
            found[self._reader.numbers] = rarity(distances, self._spreads[:, None])
        for place, (i, of_state) in enumerate(
            zip(self._reader.states, self._of_states, strict=True)
        ):
            found[i] = of_state[readings.codes[:, place]]
        return found.T

    def _weigh_compiled(
        self, readings: Readings, memory: Fresh, found: NDArray[np.float64]
    ) -> None:
        """Note the same in zeros, variables × rows, with compiled loops but for the logarithm."""
        from truism.scoring.kernels import rarity as kernel  # the compiler, only where it pays

        values, curves = readings.numbers.T, self._curves
        rows = memory.empty("suspects", (values.size,), np.int64)
        suspects = memory.empty("values of suspects", (values.size,))
        counts = np.empty(len(values), np.int64)
        kernel.find_suspects(values, self._ordinary[..., 0], rows, suspects, counts)
        suspects = suspects[: counts.sum()]
        inside = memory.empty("suspects inside", suspects.shape)
        at = memory.empty("points", suspects.shape, np.int64)
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
