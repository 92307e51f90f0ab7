"""Rows on the scales: columns go in, the evidence against each value comes out, or the scores alone.

Contexts, broken rules and rare values speak against a value (`truism.scoring.evidence`). Where only
scores are asked for, nothing else is kept: each thread uses the same memory for all of its blocks, and
only the rows that break a rule are looked at for what that adds.
"""

import functools
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Mask
from truism.model.model import Model
from truism.model.predicates import Predicate
from truism.scoring.bits import Words
from truism.scoring.evidence import ROWS_AT_ONCE, PreparedEvidence
from truism.scoring.limits import breaches
from truism.scoring.readings import Readings
from truism.scoring.rulebook import Rulebook
from truism.scoring.scratch import FRESH, Fresh
from truism.scoring.tolerance import Tolerance
from truism.scoring.truths import Truths
from truism.scoring.weighed import Pieces, Silenced
from truism.scoring.worth import add_up, put_together, units
from truism.table.columns import Column

_VALUES_AT_ONCE = 1 << 21  # few enough to leave room in memory for what is found of each
_BLOCKS_EACH = 8  # so that no thread waits long for the others at the end
_MANY = 0.25  # share of broken rows from which all are looked at for what rules add


def rows_at_once(n_rows: int, n_variables: int, n_jobs: int) -> int:
    """Return how many of a table's rows to score at once where only scores are kept.

    Each block takes some time whatever its size, during which other threads may have to wait: few large
    ones are best, as long as there are several for each thread.
    """
    most = max(_VALUES_AT_ONCE // max(n_variables, 1), ROWS_AT_ONCE)
    wanted = min(n_rows // (_BLOCKS_EACH * n_jobs), most)
    return max(wanted // 64 * 64, ROWS_AT_ONCE)


class _Seen(msgspec.Struct, frozen=True, eq=False):
    """A block of rows: read, with the truth of predicates, and the leaves that it falls into."""

    readings: Readings
    true: Words
    false: Words
    leaves: NDArray[np.uint8]


class _Broken(msgspec.Struct, frozen=True, eq=False):
    """Rows that break a rule about one variable, and what their strongest one is worth."""

    place: int
    rows: NDArray[np.int64]
    worth: NDArray[np.float64]


class Weigher:
    """Weighs blocks of rows by the evidence of a model.

    Parameters
    ----------
    model
        The model; one that has evidence.
    rulebook, habits
        Its rules, mined ones and what every training row has.
    truths
        The predicates of the rules, then those of the contexts' splits.
    silent
        Places of variables against which nothing counts.

    """

    def __init__(
        self,
        model: Model,
        rulebook: Rulebook,
        habits: Sequence[tuple[Predicate, int, float]],
        truths: Truths,
        silent: Sequence[int],
    ) -> None:
        assert model.evidence is not None
        self._schema, self._evidence = model.schema, model.evidence
        self._rulebook, self._habits, self._truths = rulebook, habits, truths
        self._silent = list(silent)

    @functools.cached_property
    def prepared(self) -> PreparedEvidence:
        """The evidence, prepared when the first row is weighed; learning alone does not need it."""
        return PreparedEvidence(self._schema, self._evidence)

    def weigh(
        self,
        columns: Sequence[Column],
        tolerance: Tolerance | None = None,
        applies: Mask | None = None,
        *,
        compiled: bool,
    ) -> tuple[Pieces, Silenced | None]:
        """Weigh the evidence against each variable; `applies` says where acceptances do."""
        seen, silenced = self._see(columns, FRESH, compiled=compiled), None
        in_context, rarities = self._weigh_values(seen, FRESH, compiled=compiled)
        worth = np.zeros(in_context.shape[::-1]).T
        for each in self._broken(columns, seen, FRESH, compiled=compiled):
            _raise(worth, each.rows, each)
        if tolerance is not None and applies is not None and applies.any():
            muted, (unit, weight) = tolerance.muted(applies), units(self._evidence)
            points = np.maximum(in_context, worth) / unit + rarities * weight
            silenced = Silenced(applies, np.where(muted, points, 0.0))
            for evidence in (in_context, rarities, worth):
                evidence[muted] = 0.0
        plain, contradictions = put_together(
            self._evidence, in_context, rarities, worth, compiled=compiled
        )
        pieces = Pieces(contradictions, rarities, plain, in_context, seen.leaves, seen.readings)
        return pieces, silenced

    def score(self, columns: Sequence[Column], memory: Fresh) -> NDArray[np.float64]:
        """Score rows with compiled loops; what they leave in memory is of no more use."""
        seen = self._see(columns, memory, compiled=True)
        in_context, rarities = self._weigh_values(seen, memory, compiled=True)
        broken = self._broken(columns, seen, memory, compiled=True)
        scores = add_up(self._evidence, in_context, rarities)
        if not broken:
            return scores
        rows = np.unique(np.concatenate([each.rows for each in broken]))
        if len(rows) > _MANY * len(scores):
            rows = np.arange(len(scores))
        else:
            in_context, rarities = (each.T[:, rows].T for each in (in_context, rarities))
        worth = memory.zeros("worth", in_context.shape[::-1]).T
        for each in broken:
            _raise(worth, np.searchsorted(rows, each.rows), each)
        own = in_context, rarities, worth
        scores[rows] = add_up(self._evidence, *own, memory=memory)
        return scores

    def _see(self, columns: Sequence[Column], memory: Fresh, *, compiled: bool) -> _Seen:
        """Read a block of rows, and find where predicates hold and which leaves rows fall into."""
        prepared, n_rows = self.prepared, len(columns[0].values)
        readings = prepared.reader.read(columns, compiled=compiled, memory=memory)
        encoded = readings.numbers.T, readings.codes.T
        true, false = (
            self._truths.evaluate_compiled(*encoded, memory)
            if compiled
            else self._truths.evaluate(columns, encoded)
        )
        splits = true[len(self._rulebook.predicates) :]
        leaves = prepared.leaves.find(splits, n_rows, compiled=compiled, memory=memory)
        return _Seen(readings, true, false, leaves)

    def _weigh_values(
        self, seen: _Seen, memory: Fresh, *, compiled: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the evidence of contexts and of rare values: rows × variables each."""
        prepared = self.prepared
        in_context = prepared.profiles.contradict(
            seen.leaves, seen.readings, compiled=compiled, memory=memory
        )
        rarities = prepared.rarities.weigh(seen.readings, compiled=compiled, memory=memory)
        for each in (in_context, rarities) if self._silent else ():
            each[:, self._silent] = 0.0
        return in_context, rarities

    def _broken(
        self, columns: Sequence[Column], seen: _Seen, memory: Fresh, *, compiled: bool
    ) -> list[_Broken]:
        """List the rows that break rules, variable by variable; one may come several times."""
        found = []
        for predicate, place, own in self._habits:
            rows, _ = breaches(predicate, self._schema.variables[place], columns[place])
            if len(rows):
                found.append(_Broken(place, rows, np.full(len(rows), own)))
        for consequent, rows, strongest in self._rulebook.strongest(
            seen.true, seen.false, len(seen.readings.numbers), compiled=compiled, memory=memory
        ):
            strongest /= len(consequent.owners)
            found += [_Broken(owner, rows, strongest) for owner in consequent.owners]
        return [each for each in found if each.place not in self._silent]


def _raise(worth: NDArray[np.float64], rows: NDArray[np.int64], broken: _Broken) -> None:
    """Raise worths, rows × variables, to what broken rules are worth; `rows` is where rows stand."""
    own = worth[rows, broken.place]
    worth[rows, broken.place] = np.maximum(own, broken.worth)
