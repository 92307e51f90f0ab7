"""Evidence against the values of a row, in one currency: what the default score is made of.

A `Model` learned with ``scoring="evidence"`` holds an `Evidence`. Three kinds of it speak about one
variable of one row, and each can be said in words:

* a *contradiction*: in rows that are otherwise like this one the variable is usually different
  (`truism.contexts`), or a rule is broken, whichever is stronger;
* *rarity*: the value is unusual whatever the other variables are (`truism.rarity`).

A broken rule is worth ½·ln(1 + E), E being the exceptions that one would expect by chance among the
rows of its antecedent (`expected_exceptions`). Each kind is measured in units of how much its sum
varies over normal rows that it was not learned from, and the score is the sum over both kinds and all
variables.
"""

import functools
import itertools
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.contexts import LEAF, PSEUDO_COUNT, Context, Judge, Leaves, Split
from truism.predicates import Interval
from truism.rarity import Emptiness, Spacing, state_rarities
from truism.readings import CLIP, Reader, Readings, can_judge
from truism.schema import Categorical, Numeric, Schema

RULE_WEIGHT, RARITY_WEIGHT = 0.5, 1.25
MIN_UNIT = 1.0
ROWS_AT_ONCE = 8192  # so that what belongs to them stays in the processor's cache


class Usual(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Mean and spread of the contradictions of one variable in normal rows, as parts of the score."""

    mean: float
    spread: float


class Grave(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From what worth on it is grave that a rule is broken, and what a row then scores at least."""

    worth: float
    score: float


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is usual, beyond the rules.

    Parameters
    ----------
    spacings
        Where the values of each numeric variable lie, in the schema's order.
    splits
        What the contexts' trees ask.
    contexts
        What variables are like when others are as they are.
    contradiction_unit, rarity_unit
        What the summed evidence of held-out training rows varies by; the unit of contradictions
        is larger where contexts do not hold from one stretch of rows to another.
    usual
        How much contradicts each variable in held-out training rows.
    grave
        Which broken rules are grave by themselves; None when no rows could tell.

    """

    spacings: tuple[Spacing, ...]
    splits: tuple[Split, ...]
    contexts: tuple[Context, ...]
    contradiction_unit: float
    rarity_unit: float
    usual: tuple[Usual, ...]
    grave: Grave | None = None


class Witness:
    """Evidence made ready to be heard about rows.

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
        self.judge = Judge(self.reader, [each.statistics() for each in evidence.contexts])
        counts = [
            np.array(each.counts) for each in schema.variables if isinstance(each, Categorical)
        ]
        emptiness = [
            Emptiness(each.values, each.counts, each.near, each.spread)
            for each in evidence.spacings
        ]
        self.rarities = Rarities(self.reader, emptiness, counts)


class Rarities:
    """Says how rare the values of all variables are by themselves.

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
        self._of_states = [state_rarities(counts) for counts in state_counts]

    @functools.cached_property
    def _ordinary(self) -> NDArray[np.float64]:
        """Bounds between which no value is rare: two pairs, low and high, × numbers × 1."""
        bounds = np.full((2, 2, len(self.emptiness), 1), np.nan)
        for place, each in enumerate(self.emptiness):
            for pair, between in enumerate(each.ordinary()):
                bounds[pair, :, place, 0] = between
        return bounds

    def weigh(self, readings: Readings, *, sift: bool = True) -> NDArray[np.float64]:
        """Give the rarity of each value: rows × variables.

        Values that cannot be rare are sifted out first, which pays unless there will be few rows.
        """
        found = np.zeros((len(self._reader.schema.variables), len(readings.numbers)))
        values = readings.numbers.T
        if sift:
            suspect = np.ones(values.shape, np.bool_)
            for low, high in self._ordinary:
                suspect &= ~((values >= low) & (values <= high))
            for place in np.flatnonzero(suspect.any(axis=1)).tolist():
                some = np.flatnonzero(suspect[place])
                rare = self.emptiness[place].rarity(values[place, some])
                found[self._reader.numbers[place], some] = rare
        else:
            for i, of_number, empty in zip(
                self._reader.numbers, values, self.emptiness, strict=True
            ):
                found[i] = empty.rarity(of_number)
        for place, (i, of_state) in enumerate(
            zip(self._reader.states, self._of_states, strict=True)
        ):
            found[i] = of_state[readings.codes[:, place]]
        return found.T


def find_faults(schema: Schema, evidence: Evidence, n_rows: int) -> Iterator[tuple[str, str]]:
    """Say what is wrong with evidence that was not learned but read: each problem and where."""
    numeric = [each for each in schema.variables if isinstance(each, Numeric)]
    if [each.name for each in numeric] != [each.variable for each in evidence.spacings]:
        yield "spacings and numeric variables differ", "$.spacings"
        return
    for i, (variable, spacing) in enumerate(zip(numeric, evidence.spacings, strict=True)):
        ascending = all(a < b for a, b in itertools.pairwise(spacing.values))
        right = (
            len(spacing.values) == len(spacing.counts)
            and min(spacing.counts, default=0) > 0
            and sum(spacing.counts) == n_rows - variable.n_missing
        )
        if not (ascending and right and np.isfinite(spacing.values).all()):
            yield "values and counts do not fit", f"$.spacings[{i}]"
        if spacing.near < 1 or not 0 < spacing.spread < np.inf:
            yield "out of range", f"$.spacings[{i}]"
    variable_of = schema.variable_of()
    for i, split in enumerate(evidence.splits):
        of = variable_of.get(split.variable)
        if isinstance(split, Interval):
            right = isinstance(of, Numeric) and split.low == -np.inf
        else:
            right = isinstance(of, Categorical) and set(split.values) <= set(of.values)
        if not right:
            yield "it does not fit its variable", f"$.splits[{i}]"
    reader = Reader(schema)
    for i, context in enumerate(evidence.contexts):
        if not _is_sound(context, reader, len(evidence.splits), n_rows):
            yield "tree and statistics do not fit", f"$.contexts[{i}]"
    sound = all(each.mean >= 0 and 0 < each.spread < np.inf for each in evidence.usual)
    if len(evidence.usual) != len(schema.variables) or not sound:
        yield "it does not fit the variables", "$.usual"
    for unit in (evidence.contradiction_unit, evidence.rarity_unit):
        if not MIN_UNIT <= unit < np.inf:
            yield "out of range", "$.units"
    if evidence.grave is not None:
        for number in (evidence.grave.worth, evidence.grave.score):
            if not 0 <= number < np.inf:
                yield "out of range", "$.grave"


def _is_sound(context: Context, reader: Reader, n_splits: int, n_rows: int) -> bool:
    """Tell whether a context can be used: a whole tree, and statistics of the right shape."""
    n_open = 1
    for node in context.tree:
        if not (LEAF <= node < n_splits and n_open > 0):
            return False
        n_open += -1 if node == LEAF else 1
    n_leaves = context.tree.count(LEAF)
    shape = (n_leaves, len(context.numbers))
    if n_open or n_leaves > 256 or len(context.counts) != n_leaves:
        return False
    for positions, allowed in ((context.numbers, reader.numbers), (context.states, reader.states)):
        judged = {i for i in allowed if can_judge(reader.schema.variables[i])}
        if not set(positions) <= judged or len(set(positions)) != len(positions):
            return False
    for table in (context.means, context.spreads, context.state_counts):
        if len(table) != n_leaves:
            return False
    if any(len(row) != shape[1] for row in (*context.means, *context.spreads)):
        return False
    means, spreads = np.array(context.means), np.array(context.spreads)
    if not (abs(means) <= CLIP).all():
        return False
    if not ((spreads >= 0) & (spreads <= 2 * CLIP)).all():
        return False
    widths = [reader.n_classes(reader.states.index(i)) - 2 for i in context.states]
    states = all([len(each) for each in leaf] == widths for leaf in context.state_counts)
    counted = [n for leaf in context.state_counts for each in leaf for n in each]
    possible = all(0 <= n <= n_rows for n in (*counted, *context.counts))
    return states and possible and sum(context.counts) == n_rows


def lift(
    grave: Grave | None, scores: NDArray[np.float64], worth: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Give what is added to the scores of rows whose strongest broken rule is worth so much.

    Beside a hundred other values a broken rule is worth little; but a rule that hardly any held-out
    row would break is not broken by chance. Such a row scores as if it had one more piece of evidence
    at a right angle to the rest, so that it is reported and still ranks by the rest.
    """
    if grave is None:
        return np.zeros_like(scores)
    return np.where(worth > grave.worth, np.hypot(scores, grave.score) - scores, 0.0)


def expected_exceptions(
    count: NDArray[np.int64] | NDArray[np.float64],
    n_known: NDArray[np.int64],
    n_false: NDArray[np.int64],
    n_episodes: NDArray[np.int64] | NDArray[np.float64],
) -> NDArray[np.float64]:
    """Say how many exceptions chance would have brought to a rule that has none.

    Rows that fail the consequent one after the other had a common reason, or none: how many chances
    they were lies between their episodes and themselves, and the geometric mean is taken.

    Parameters
    ----------
    count
        Rows in which the rule holds.
    n_known
        Rows in which it is known whether the consequent holds.
    n_false, n_episodes
        Rows that fail the consequent, and how many runs they form.

    """
    found: NDArray[np.float64] = count / n_known * np.sqrt(1.0 * n_false * n_episodes)
    return found


def rule_worth(expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Say what it means that a rule is broken which had no exception where so many were expected."""
    return RULE_WEIGHT * np.log1p(expected)


def habit_worth(n_rows: int) -> float:
    """Say what it means that something is different that never was in any of `n_rows` rows."""
    return float(np.log1p(n_rows / PSEUDO_COUNT))
