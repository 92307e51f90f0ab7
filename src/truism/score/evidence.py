"""Evidence against the values of a row, on one scale: the parts of the default score.

A `Model` learned with ``scoring="evidence"`` holds an `Evidence`. A variable of a row can have two kinds
of evidence against it:

* a *contradiction*: in rows that are otherwise like this one the variable is usually different
  (`truism.score.contexts`), or a rule is broken (`truism.score.rules`), whichever is stronger;
* *rarity*: the value is unusual whatever the other variables are (`truism.score.rarity`).

Evidence against variables does not count where it was accepted (`Tolerance`); this is the only place
where acceptances enter scoring. The unit of each kind is how much its sum varies among held-out normal
rows. The score is the sum over both kinds and all variables.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats, Mask, Rows
from truism.model.acceptances import Acceptance, Condition
from truism.model.evidence import Grave
from truism.model.model import Model
from truism.model.predicates import AnyOf, OneOf, Predicate
from truism.model.provenance import today
from truism.model.schema import Categorical, Scalar, Schema
from truism.score.alignment import Reader, align, time_column
from truism.score.contexts import LeafProfiles, Leaves, statistics_of
from truism.score.past import Stillness
from truism.score.rarity import Emptiness, Rarities
from truism.score.rules import Rulebook, breaches
from truism.score.truths import Truths, Words, unpack
from truism.score.weighed import Pieces, Silenced, sum_of_rows
from truism.table.columns import Column, Table
from truism.table.timelines import wall_clock

ROWS_AT_ONCE = 1 << 12  # few enough that their memory is used again, not returned to the system
RARITY_WEIGHT = 1.25


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


class Tolerance:
    """The acceptances of a model, ready to be applied."""

    def __init__(self, model: Model) -> None:
        self.accepted, self._schema = model.accepted or (), model.schema
        self._variables = np.array(
            [[name in one.variables for name in model.schema.names] for one in self.accepted],
            np.bool_,
        )
        conditions = [condition for one in self.accepted for condition in one.conditions]
        self._truths = Truths(_with_states(model.schema, conditions), conditions)

    def find(self, table: Table) -> Mask:
        """Return in which rows each acceptance applies: acceptances × rows."""
        true, _ = self._truths.evaluate_all(align(self._schema, table)[0])
        moments = _moments(self._schema, table)
        applies = np.ones((len(self.accepted), table.n_rows), np.bool_)
        first = 0
        for acceptance, holds in zip(self.accepted, applies, strict=True):
            last = first + len(acceptance.conditions)
            for words in true[first:last]:
                holds &= unpack(words, table.n_rows)
            holds &= _lasts(acceptance, moments)
            first = last
        return applies

    def muted(self, applies: Mask) -> Mask:
        """Return which variables are not judged where acceptances apply: rows × variables."""
        return np.asarray(applies.T @ self._variables, np.bool_)


def sparing(
    stillness: Stillness | None, tolerance: Tolerance | None, table: Table
) -> Stillness | None:
    """Return what finds dead variables in a table, but for those that are not to be judged there."""
    if stillness is None or tolerance is None:
        return stillness
    return stillness.sparing(tolerance.muted(tolerance.find(table)))


def _with_states(schema: Schema, conditions: Sequence[Condition]) -> Schema:
    """Return a schema whose variables also have the states that conditions name."""
    named: dict[str, set[Scalar]] = {}
    for condition in conditions:
        for part in condition.parts if isinstance(condition, AnyOf) else (condition,):
            if isinstance(part, OneOf):
                named.setdefault(part.variable, set()).update(part.values)
    variables = tuple(
        msgspec.structs.replace(
            variable,
            values=(values := tuple(sorted({*variable.values, *named[variable.name]}, key=_order))),
            counts=(1,) * len(values),
        )
        if isinstance(variable, Categorical) and variable.name in named
        else variable
        for variable in schema.variables
    )
    return msgspec.structs.replace(schema, variables=variables)


def _order(state: Scalar) -> tuple[float, str]:
    return (0.0, state) if isinstance(state, str) else (float(state), "")


def _lasts(acceptance: Acceptance, moments: NDArray[np.datetime64]) -> Mask:
    """Return in which rows an acceptance has not ended; for rows without a time, today counts."""
    if acceptance.until is None:
        return np.ones(len(moments), np.bool_)
    ends = np.datetime64(acceptance.until) + np.timedelta64(1, "D")
    before: Mask = moments < ends
    lasts_today = today() <= acceptance.until
    return np.where(np.isnat(moments), lasts_today, before)


def _moments(schema: Schema, table: Table) -> NDArray[np.datetime64]:
    """Return when rows are, in their own zone; NaT where that is not known."""
    column = time_column(schema, table)
    if column is None or column.values.dtype.kind != "M":
        return np.full(table.n_rows, np.datetime64("NaT", "us"))
    return wall_clock(column)


class Weigher:
    """Weighs blocks of rows by the evidence of a model.

    `habits` are what every training row has; `truths` have the predicates of the rules, then those of the
    contexts' splits; against the variables at the `silent` places nothing counts.
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
        self._schema, self._evidence, self._silent = model.schema, model.evidence, list(silent)
        self._rulebook, self._habits, self._truths = rulebook, habits, truths
        contexts, spacings = model.evidence.contexts, model.evidence.spacings
        self.reader = Reader(model.schema)
        self._leaves = Leaves([each.tree for each in contexts])
        self.profiles = LeafProfiles(self.reader, [*map(statistics_of, contexts)])
        empty = [Emptiness(each.values, each.counts, each.near, each.spread) for each in spacings]
        states = [each for each in model.schema.variables if isinstance(each, Categorical)]
        self.rarities = Rarities(self.reader, empty, [np.array(each.counts) for each in states])

    def weigh(
        self,
        columns: Sequence[Column],
        tolerance: Tolerance | None = None,
        applies: Mask | None = None,
    ) -> tuple[Pieces, Silenced | None]:
        """Weigh the evidence against each variable; `applies` says where acceptances do."""
        readings, silenced = self.reader.read(columns), None
        true, false = self._truths.evaluate(columns, readings)
        n_rows, splits = len(readings.numbers), true[len(self._rulebook.predicates) :]
        leaves = self._leaves.find(splits, n_rows)
        in_context = self.profiles.contradict(leaves, readings, self._evidence.contradiction_unit)
        rarities = self.rarities.weigh(readings, RARITY_WEIGHT / self._evidence.rarity_unit)
        for evidence in (in_context, rarities) if self._silent else ():
            evidence[:, self._silent] = 0.0
        rows, places, worths = self._break(columns, true, false)
        plain = in_context.copy(order="A") if len(rows) else in_context
        units = worths / self._evidence.contradiction_unit
        np.maximum.at(plain.T.reshape(-1), places * n_rows + rows, units)
        if tolerance is not None and applies is not None and applies.any():
            muted = tolerance.muted(applies)
            silenced = Silenced(applies, np.where(muted, plain + rarities, 0.0))
            for evidence in (in_context, plain, rarities):
                evidence[muted] = 0.0
            worths[muted[rows, places]] = 0.0
        contradictions = self._lifted(rows, places, worths, plain, rarities)
        return Pieces(contradictions, rarities, plain, in_context, leaves, readings), silenced

    def _break(
        self, columns: Sequence[Column], true: Words, false: Words
    ) -> tuple[Rows, Rows, Floats]:
        """Return rows that break rules, the variables about which they do, and what that is worth."""
        found = []
        for predicate, place, worth in self._habits:
            rows, _ = breaches(predicate, self._schema.variables[place], columns[place])
            if len(rows):
                found.append((rows, np.full(len(rows), place), np.full(len(rows), worth)))
        units, rows = self._rulebook.broken(true, false, strongest=True)
        for places in self._rulebook.owners[:, units]:
            is_about = places >= 0
            shares = self._rulebook.shares[units[is_about]]
            found.append((rows[is_about], places[is_about], shares))
        rows, places, worths = map(np.concatenate, zip(*found, strict=True))
        if self._silent:
            worths[np.isin(places, self._silent)] = 0.0
        return rows, places, worths

    def _lifted(
        self, rows: Rows, places: Rows, worths: Floats, plain: Floats, rarities: Floats
    ) -> Floats:
        """Return the contradictions, raised where a grave rule about the variable is broken."""
        grave = self._evidence.grave
        if grave is None or not (worths > grave.worth).any():
            return plain
        strongest, about = np.zeros(len(plain)), np.full(len(plain), plain.shape[1])
        np.maximum.at(strongest, rows, worths)
        is_strongest = worths == strongest[rows]
        np.minimum.at(about, rows[is_strongest], places[is_strongest])
        lifted = np.flatnonzero(strongest > grave.worth)
        rest = sum_of_rows(plain)[lifted] + sum_of_rows(rarities)[lifted]
        contradictions = plain.copy(order="A")
        contradictions[lifted, about[lifted]] += lift(grave, rest, strongest[lifted])
        return contradictions
