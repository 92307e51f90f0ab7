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

import numpy as np
from numpy.typing import NDArray

from truism.model.evidence import Evidence
from truism.model.schema import Categorical, Schema
from truism.scoring.contexts import LeafProfiles, statistics_of
from truism.scoring.leaves import Leaves
from truism.scoring.rarity import Emptiness, add_beyond, rarity, state_rarities
from truism.scoring.readings import Reader, Readings
from truism.scoring.scratch import FRESH, Fresh

ROWS_AT_ONCE = 8192  # few enough for their data to stay in the processor's cache


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
    def _ends(self) -> NDArray[np.float64]:
        """The lowest and the highest training value of each number: two rows."""
        return np.array([(each.points[0], each.points[-1]) for each in self.emptiness]).T

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
        values = readings.numbers.T
        if sift:
            places, rows = self._suspects(values, memory, compiled=compiled)
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

    def _suspects(
        self, values: NDArray[np.float64], memory: Fresh, *, compiled: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return which numbers may be rare and in which rows, number by number."""
        if compiled:
            from truism.scoring.kernels import rarity as kernel  # the compiler, only where it pays

            rows = memory.empty("suspects", (values.size,), np.int64)
            counts = np.empty(len(values), np.int64)
            kernel.find_suspects(values, self._ordinary[..., 0], rows, counts)
            return np.repeat(np.arange(len(counts)), counts), rows[: counts.sum()]
        suspect = np.ones(values.shape, np.bool_)
        for low, high in self._ordinary:
            suspect &= ~((values >= low) & (values <= high))
        places, rows = np.nonzero(suspect)
        return places, rows

    def _rarity(
        self, places: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the rarity of values of numbers, number by number, with one logarithm for all."""
        distances = np.empty(len(values))
        starts = np.flatnonzero(np.diff(places, prepend=-1)).tolist()
        for start, end in itertools.pairwise([*starts, len(values)]):
            own = values[start:end]
            distances[start:end] = self.emptiness[places[start]].distance_within(own)
        add_beyond(distances, values, *self._ends[:, places])
        return rarity(distances, self._spreads[places])
