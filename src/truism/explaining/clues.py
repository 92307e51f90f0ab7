"""What speaks against a row, piece by piece: a `Scorer` and rows go in, `Clue` values come out.

Under the paper's scoring the clues are the violated rules. Under evidence scoring each variable has at
most one contradiction that counts, a broken rule or a context, and its rarity. The stronger of the two
sets the penalty; a rule that is worth at least half as much speaks for it, because a rule has no
exception and few conditions. Other broken rules are listed with a penalty of 0. The penalties of a
row's clues sum to its score.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from truism.explaining.expectations import average, ordinary, usual_interval
from truism.model.evidence import LEAF, MAX_CLASSES, Context, Split
from truism.model.predicates import Interval, OneOf, Predicate, format_value, variables
from truism.model.schema import Categorical, Numeric, Scalar, Variable
from truism.model.wording import brief, exclude
from truism.scoring.alignment import UNSEEN, align, codes
from truism.scoring.readings import classes, has_rest
from truism.scoring.scorer import Scorer, Violation
from truism.table.columns import Column, Table

WHY_FIRST = 4.0
RULE_FIRST = 1 / 3  # of the worth of a context, from which on a broken rule speaks in its place
ANYWAY = "whatever the other variables are"


class Contradiction(msgspec.Struct, frozen=True):
    """A value that is unusual in rows that are otherwise like this one.

    Parameters
    ----------
    variable
        The variable.
    found
        Its value.
    expected
        Where it usually lies, or its commonest other state, in training rows like this one.
    conditions
        What makes those rows be like this one.
    because
        The same in words, and also what else belongs to those rows, as missing values do; a missing
        value of this row is said here and cannot be a condition. Where all rows are alike, `ANYWAY`.
    evidence
        What was seen in those rows, in words.
    penalty
        What this adds to the row's score.

    """

    variable: str
    found: Any
    expected: Interval | OneOf
    conditions: tuple[Predicate, ...]
    because: str
    evidence: str
    penalty: float


class Rarity(msgspec.Struct, frozen=True):
    """A value that is unusual whatever the other variables are.

    See `Contradiction`; `expected` is in words, and `usual` the same where one predicate can say it.
    Of a number, `nearest` are the values that `expected` names. `new` is a value beyond all that
    training had.
    """

    variable: str
    found: Any
    expected: str
    usual: Interval | OneOf | None
    nearest: tuple[float, ...]
    evidence: str
    penalty: float
    new: bool = False


Clue = Violation | Contradiction | Rarity


CluesOf = Mapping[str, tuple[Clue, ...]]
"""The clues against each variable of one row, strongest first."""


def collect(scorer: Scorer, table: Table) -> list[CluesOf]:
    """Gather all that speaks against each row."""
    violations = scorer.violations(table)
    if scorer.model.evidence is None:
        return [_by_variable(of_row) for of_row in violations]
    columns, _ = align(scorer.model.schema, table)
    finder = _ClueFinder(scorer, columns)
    return [finder.clues_of(row, _by_variable(of)) for row, of in enumerate(violations)]


def _by_variable(violations: Sequence[Violation]) -> dict[str, tuple[Violation, ...]]:
    """Sort the broken rules of a row by what they speak of, strongest first."""
    of_variable: dict[str, list[Violation]] = {}
    for each in violations:
        for name in variables(each.failed):
            of_variable.setdefault(name, []).append(each)
    return {
        name: tuple(sorted(own, key=lambda each: (-each.penalty, len(each.rule.antecedent))))
        for name, own in of_variable.items()
    }


def _prominence(clue: Clue) -> float:
    """Sort by penalty, but put what can say why before what cannot, unless it is a small part.

    A value beyond all that training had needs no why.
    """
    plain = isinstance(clue, Rarity) and not clue.new
    return -clue.penalty if plain else -WHY_FIRST * clue.penalty


class _ClueFinder:
    """Puts the evidence against some rows into clues."""

    def __init__(self, scorer: Scorer, columns: Sequence[Column]) -> None:
        evidence = scorer.model.evidence
        assert evidence is not None
        prepared = scorer.prepared
        self.columns, self.contexts, self.splits = columns, evidence.contexts, evidence.splits
        self.variables = scorer.model.schema.variables
        self.place_of = {each.name: place for place, each in enumerate(self.variables)}
        self.n_training = scorer.n_training
        names = [self.variables[i].name for i in prepared.reader.numbers]
        self.emptiness = dict(zip(names, prepared.rarities.emptiness, strict=True))
        self.weighed = scorer.weigh(columns)
        each = prepared.profiles.judge_each(self.weighed.leaves, self.weighed.readings)
        self.telling = each.argmax(axis=0) if len(each) else None

    def clues_of(self, row: int, broken: Mapping[str, Sequence[Violation]]) -> CluesOf:
        """List the clues against each variable of a row."""
        found: dict[str, tuple[Clue, ...]] = {}
        for i, variable in enumerate(self.variables):
            part = float(self.weighed.contradictions[row, i])
            rarity = float(self.weighed.rarities[row, i])
            clues: list[Clue] = []
            own = broken.get(variable.name, ())
            by_rule = part > self.weighed.in_context[row, i]  # a grave rule may add to a context
            rules = [msgspec.structs.replace(each, penalty=0.0) for each in own]
            if part > 0 and own and (by_rule or own[0].penalty >= RULE_FIRST * part):
                rules[0] = msgspec.structs.replace(rules[0], penalty=part)
            elif part > 0:
                clues.append(self._contradiction(row, i, part))
            if rarity > 0:
                clues.append(self._rarity(row, i, rarity))
            clues += rules
            if clues:
                clues.sort(key=_prominence)
                found[variable.name] = tuple(clues)
        return found

    def _contradiction(self, row: int, i: int, penalty: float) -> Contradiction:
        assert self.telling is not None
        k = int(self.telling[row, i])
        context, leaf = self.contexts[k], int(self.weighed.leaves[k, row])
        variable, value = self.variables[i], self.columns[i].cell(row)
        conditions, because = self._surroundings(context, leaf, row)
        n_like = context.counts[leaf]
        expected: Interval | OneOf
        if isinstance(variable, Numeric):
            at = context.numbers.index(i)
            mean = variable.mean + variable.std * context.means[leaf][at]
            mean = min(max(mean, variable.low), variable.high)
            spread = variable.std * context.spreads[leaf][at]
            expected = usual_interval(variable, mean, spread, float(value))
            evidence = (
                f"{average(variable, mean, spread, n_like)} in the {n_like:,} of "
                f"{self.n_training:,} training rows like this"
            )
        else:
            counts = context.state_counts[leaf][context.states.index(i)]
            expected, evidence = self._usual_states(row, i, counts, n_like)
        return Contradiction(variable.name, value, expected, conditions, because, evidence, penalty)

    def _usual_states(
        self, row: int, i: int, counts: Sequence[int], n_like: int
    ) -> tuple[OneOf, str]:
        """Give the commonest other state of a leaf, and how often that and the one found occur there.

        The rarest of very many states were counted together: then no count belongs to one of them.
        """
        variable, value = self.variables[i], self.columns[i].cell(row)
        assert isinstance(variable, Categorical)
        class_of, code = classes(variable), self._code(row, i)
        rest = MAX_CLASSES - 1 if has_rest(variable) else None
        # A state can be rarer than by chance and still the commonest one: name another.
        others = [k for k in range(len(counts)) if k != class_of[code]]
        best = max(others, key=lambda k: (counts[k] > 0, k != rest, counts[k], -k))
        states = tuple(variable.values[c] for c in np.flatnonzero(class_of[:-2] == best).tolist())
        usual = format_value(states[0])
        if best == rest:
            usual = f"one of {len(states):,} uncommon values"
        found = format_value(value)
        if class_of[code] == rest:
            found = f"values as uncommon as {found}"
        seen = counts[class_of[code]] if class_of[code] < len(counts) else 0
        evidence = (
            f"{usual} in {counts[best]:,} of the {n_like:,} training rows like this, "
            f"{found} in {seen:,} of them"
        )
        return OneOf(variable.name, states), evidence

    def _surroundings(
        self, context: Context, leaf: int, row: int
    ) -> tuple[tuple[Predicate, ...], str]:
        """Say what makes the rows of a leaf alike: one condition per variable, in order of the path."""
        asked_of: dict[str, list[tuple[Split, bool]]] = {}
        for split, holds in path_to(context.tree, leaf):
            asked = self.splits[split]
            asked_of.setdefault(asked.variable, []).append((asked, holds))
        conditions: list[Predicate] = []
        said = []
        for name, answers in asked_of.items():
            place = self.place_of[name]
            condition, words = _side(self.variables[place], answers, self.columns[place].cell(row))
            either = " or ".join(words)
            said.append(f"({either})" if len(words) > 1 < len(asked_of) else either)
            if condition is not None:
                conditions.append(condition)
        return tuple(conditions), " and ".join(said) or ANYWAY

    def _rarity(self, row: int, i: int, penalty: float) -> Rarity:
        variable, value = self.variables[i], self.columns[i].cell(row)
        if isinstance(variable, Categorical):
            code = self._code(row, i)
            seen = 0 if code == UNSEEN else variable.counts[code]
            by_count = np.argsort(-np.array(variable.counts), kind="stable").tolist()
            commoner = tuple(variable.values[c] for c in by_count if variable.counts[c] > seen)
            usual = OneOf(variable.name, commoner)
            evidence = f"{seen:,} of {self.n_training:,} training rows have this value"
            return Rarity(
                variable.name, value, brief(usual), usual, (), evidence, penalty, code == UNSEEN
            )
        emptiness = self.emptiness[variable.name]
        found = ordinary(variable.name, emptiness, float(value), self.n_training)
        return Rarity(
            *(variable.name, value, found.said, found.interval, found.nearest, found.evidence),
            penalty,
            not variable.low <= value <= variable.high,
        )

    def _code(self, row: int, i: int) -> int:
        variable = self.variables[i]
        assert isinstance(variable, Categorical)
        return int(codes(variable, self.columns[i].take(slice(row, row + 1)))[0])


def _side(
    variable: Variable, answers: Sequence[tuple[Split, bool]], value: Any
) -> tuple[Interval | OneOf | None, list[str]]:
    """Say what the rows have in common for which some splits of a variable hold and others do not.

    It is given in alternatives, and as a predicate where that holds in this row. Where no split holds
    there are missing values too, infinite ones, and states that training did not have. They are said
    where training had them or this row has: the words are true of all training rows of the leaf.
    """
    condition: Interval | OneOf | None
    some_hold = any(holds for _, holds in answers)
    besides = ["missing"] if value is None or variable.n_missing else []
    if isinstance(variable, Numeric):
        condition = _interval_left(variable, answers)
        words, regular = str(condition), value is not None and math.isfinite(value)
        if value is not None and not regular:
            besides.append("infinite")
    else:
        left = _states_left(variable, answers)
        condition, regular = OneOf(variable.name, left) if left else None, value in left
        if condition is not None and (some_hold or len(left) == 1):
            words = brief(condition)
            if value is not None and not regular:
                besides.append("not seen in training")
        else:
            words = exclude(variable.name, [each for each in variable.values if each not in left])
    return condition if regular else None, [words] if some_hold else [words, *besides]


def _interval_left(variable: Numeric, answers: Sequence[tuple[Split, bool]]) -> Interval:
    cuts = [(asked.high, holds) for asked, holds in answers if isinstance(asked, Interval)]
    low = max((cut for cut, holds in cuts if not holds), default=-math.inf)
    return Interval(
        variable.name, low, min((cut for cut, holds in cuts if holds), default=math.inf)
    )


def _states_left(
    variable: Categorical, answers: Sequence[tuple[Split, bool]]
) -> tuple[Scalar, ...]:
    sets = [(asked.values, holds) for asked, holds in answers if isinstance(asked, OneOf)]
    return tuple(
        each for each in variable.values if all((each in values) == holds for values, holds in sets)
    )


def path_to(tree: Sequence[int], leaf: int) -> list[tuple[int, bool]]:
    """List the splits on the way to a leaf, and whether each holds there.

    >>> path_to((5, -1, 3, -1, -1), 1)
    [(5, False), (3, True)]
    """
    path: list[tuple[int, bool]] = []
    n_leaves = 0
    for node in tree:
        if node != LEAF:
            path.append((node, True))
            continue
        if n_leaves == leaf:
            break
        n_leaves += 1
        while path and not path[-1][1]:
            path.pop()
        path[-1] = (path[-1][0], False)
    return path
