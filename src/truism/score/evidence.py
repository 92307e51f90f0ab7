"""Evidence against the values of a row, on one scale: the parts of the default score.

A `Model` learned with ``scoring="evidence"`` holds an `Evidence`. A variable of a row can have two kinds
of evidence against it:

* a *contradiction*: in rows that are otherwise like this one the variable is usually different
  (`truism.score.contexts`), or a rule is broken (`truism.score.rules`), whichever is stronger;
* *rarity*: the value is unusual whatever the other variables are (`truism.score.rarity`).

The unit of each kind is how much its sum varies among held-out normal rows. The score is the sum over
both kinds and all variables. Where only scores are asked for, nothing else is kept: each thread uses the
same memory for all of its blocks, and only the rows that break a rule are looked at for what that adds.
"""

import functools
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import FRESH, Fresh, Mask
from truism.model.evidence import Evidence, Grave
from truism.model.model import Model
from truism.model.predicates import Predicate
from truism.model.schema import Categorical, Schema
from truism.score.alignment import Reader, Readings
from truism.score.contexts import LeafProfiles, Leaves, statistics_of
from truism.score.rarity import Emptiness, Rarities
from truism.score.rules import Rulebook, breaches
from truism.score.tolerance import Tolerance
from truism.score.truths import Truths, Words
from truism.score.weighed import Pieces, Silenced, sum_of_rows
from truism.table.columns import Column

ROWS_AT_ONCE = 8192  # few enough for their data to stay in the processor's cache
RARITY_WEIGHT = 1.25
_VALUES_AT_ONCE = 1 << 21  # few enough to leave room in memory for what is found of each
_BLOCKS_EACH = 8  # so that no thread waits long for the others at the end
_MANY = 0.25  # share of broken rows from which all are looked at for what rules add


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


def lift(
    grave: Grave | None, scores: NDArray[np.float64], worth: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what to add to the scores of rows, given the worth of their strongest broken rule.

    Beside a hundred other values a broken rule is worth little; but a rule that hardly any held-out
    row would break is not broken by chance. Such a row scores as if it had one more piece of evidence
    at a right angle to the rest, so that it is reported and still ranks by the rest.
    """
    if grave is None:
        return np.zeros_like(scores)
    return np.where(worth > grave.worth, np.hypot(scores, grave.score) - scores, 0.0)


def find_grave(
    grave: Grave | None, worths: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that break a grave rule, and the variable that the strongest one is about."""
    if grave is None:
        none = np.empty(0, np.int64)
        return none, none
    rows = np.flatnonzero((worths > grave.worth).any(axis=1))
    return rows, worths[rows].argmax(axis=1)


def lifted(
    grave: Grave | None,
    worth: NDArray[np.float64],
    plain: NDArray[np.float64],
    rarities: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the contradictions, raised where a grave rule about the variable is broken."""
    rows, about = find_grave(grave, worth)
    if not len(rows):
        return plain
    contradictions = plain.copy()
    rest = sum_of_rows(plain[rows]) + sum_of_rows(rarities[rows])
    contradictions[rows, about] += lift(grave, rest, worth[rows, about])
    return contradictions


def units(evidence: Evidence) -> tuple[float, float]:
    """Return what to divide contradictions by, and what to multiply rarities with, for the score."""
    return evidence.contradiction_unit, RARITY_WEIGHT / evidence.rarity_unit


def put_together(
    evidence: Evidence,
    in_context: NDArray[np.float64],
    rarities: NDArray[np.float64],
    worth: NDArray[np.float64],
    *,
    compiled: bool,
    memory: Fresh = FRESH,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bring evidence to the units of the score, in place, and return the contradictions.

    Parameters
    ----------
    evidence
        The units, and when a rule is grave.
    in_context, rarities, worth
        The evidence of contexts and of rare values, and the worth of broken rules: rows × variables, with
        the values of a variable side by side in memory.
    compiled
        Whether to use a compiled loop.
    memory
        Where it puts what it finds.

    Returns
    -------
    plain, contradictions
        Before and after grave rules raise them.

    """
    unit, weight = units(evidence)
    if not compiled:
        in_context /= unit
        rarities *= weight
        plain = np.maximum(in_context, worth / unit)
        return plain, lifted(evidence.grave, worth, plain, rarities)
    from truism.score.kernels import worth as kernel  # the compiler, only where it pays

    plain = memory.empty("plain", worth.shape[::-1]).T
    about = np.empty(len(worth), np.int64)
    sums = np.empty((3, len(worth)))
    kernel.combine(in_context.T, rarities.T, worth.T, unit, weight, plain.T, sums, about)
    of_plain, of_rarities, strongest = sums
    if evidence.grave is None or not (strongest > evidence.grave.worth).any():
        return plain, plain
    contradictions = plain.copy(order="A")
    rows = np.flatnonzero(strongest > evidence.grave.worth)
    rest = of_plain[rows] + of_rarities[rows]
    contradictions[rows, about[rows]] += lift(evidence.grave, rest, strongest[rows])
    return plain, contradictions


def add_parts(
    contradictions: NDArray[np.float64], rarities: NDArray[np.float64], *, compiled: bool
) -> NDArray[np.float64]:
    """Add the two parts of the score, row by row in memory: the order of sums must not vary."""
    if not compiled:
        return np.add(contradictions, rarities, order="C")
    from truism.score.kernels import worth as kernel  # the compiler, only where it pays

    parts = np.empty(contradictions.shape)
    kernel.add_parts(contradictions.T, rarities.T, parts)
    return parts


def add_up(
    evidence: Evidence,
    in_context: NDArray[np.float64],
    rarities: NDArray[np.float64],
    worth: NDArray[np.float64] | None = None,
    memory: Fresh = FRESH,
) -> NDArray[np.float64]:
    """Return the scores of rows with compiled loops: the sums of the parts of `put_together`.

    Evidence is as it is there; without `worth`, no rule is broken.
    """
    from truism.score.kernels import worth as kernel  # the compiler, only where it pays

    scores = np.empty(len(in_context))
    if worth is None:
        kernel.add_up(in_context.T, rarities.T, *units(evidence), scores)
        return scores
    _, contradictions = put_together(
        evidence, in_context, rarities, worth, compiled=True, memory=memory
    )
    kernel.add_up(contradictions.T, rarities.T, 1.0, 1.0, scores)
    return scores


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
