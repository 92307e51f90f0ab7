"""The evidence against a row, piece by piece: weighed rows go in, `Clue` values come out.

With the paper's scoring, the clues are the violated rules. With evidence scoring, each variable has at
most one contradiction that counts, a broken rule or a context, and its rarity. The stronger of rule and
context sets the penalty. A rule that is worth at least a third as much as the context is named in its
place, because a rule has no exception and few conditions. Other broken rules are listed with a penalty
of 0. The penalties of a row's clues sum to its score. Clues hold values; `truism.explaining.reasons`
puts them into words.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from truism.explaining.expectations import (
    Beyond,
    Nearest,
    Sparse,
    count_others,
    nearest,
    usual_interval,
)
from truism.model.evidence import LEAF, MAX_CLASSES, Context, Split
from truism.model.predicates import Interval, OneOf, Predicate, variables
from truism.model.schema import Categorical, Numeric, Scalar, Variable
from truism.scoring.alignment import UNSEEN, align
from truism.scoring.readings import classes, has_rest
from truism.scoring.scorer import Pieces, Scorer, Violation, Weighed
from truism.table.columns import Table

WHY_FIRST = 4.0  # how much more a rarity must weigh to come before a clue that can say why
RULE_FIRST = 1 / 3  # share of a context's worth from which a broken rule is named in its place
RESOLUTION = 0.02  # share of a variable's standard deviation: contexts keep four decimals of it
NEGLIGIBLE = 0.05  # share of rows with missing values that is too small to mention

Odd = Literal["missing", "infinite", "unseen"]
Answers = Sequence[tuple[Split, bool]]
"""Splits of one variable, and whether each holds."""
_REGULAR = object()  # stands for any value that a leaf's splits hold for


class Circumstance(msgspec.Struct, frozen=True):
    """What the training rows of a leaf have in common in one variable.

    Parameters
    ----------
    variable
        The variable.
    allowed
        The interval or the states; None if no state is left.
    excluded
        States that the rows do not have, if these are shorter to list.
    besides
        What else those rows may have: a missing value, for example.
    holds
        Whether `allowed` holds in the row being explained.

    """

    variable: str
    allowed: Interval | OneOf | None
    excluded: tuple[Scalar, ...]
    besides: tuple[Odd, ...]
    holds: bool


class UsualNumber(msgspec.Struct, frozen=True):
    """Mean and spread of a number in the training rows of a leaf.

    `resolution` is how precisely they are known. `some_missing` says that training rows lack the value;
    how many rows of the leaf do is not known, only how many of all rows.
    """

    mean: float
    spread: float
    resolution: float
    some_missing: bool


class UsualStates(msgspec.Struct, frozen=True):
    """How many training rows of a leaf have the state that was expected, and how many the one found.

    The rarest of very many states are counted together: `usual_is_shared` and `found_is_shared` say
    that a count covers all of them.
    """

    n_usual: int
    n_found: int
    usual_is_shared: bool
    found_is_shared: bool


class Contradiction(msgspec.Struct, frozen=True):
    """A value that is unusual in rows that are otherwise like this one.

    Parameters
    ----------
    variable, found
        The variable and its value.
    expected
        Its usual interval, or its most common other state, in training rows like this one.
    circumstances
        What those rows have in common; empty if they are all rows.
    usual
        What the variable was like in those rows.
    n_like
        The number of those rows.
    penalty
        What this adds to the row's score.

    """

    variable: str
    found: Any
    expected: Interval | OneOf
    circumstances: tuple[Circumstance, ...]
    usual: UsualNumber | UsualStates
    n_like: int
    penalty: float

    @property
    def conditions(self) -> tuple[Predicate, ...]:
        """The circumstances that are predicates and hold in this row."""
        return tuple(
            each.allowed for each in self.circumstances if each.holds and each.allowed is not None
        )


class SameState(msgspec.Struct, frozen=True):
    """How many training rows have a state."""

    n_rows: int


class Rarity(msgspec.Struct, frozen=True):
    """A value that is unusual whatever the other variables are.

    Parameters
    ----------
    variable, found
        The variable and its value.
    usual
        The more common states, or the nearest ordinary numbers.
    seen
        How many training rows have such a value.
    penalty
        What this adds to the row's score.
    new
        Whether training had no such state, or no number as low or as high.

    """

    variable: str
    found: Any
    usual: OneOf | Nearest
    seen: SameState | Beyond | Sparse
    penalty: float
    new: bool

    @property
    def expected(self) -> Interval | OneOf | None:
        """What is usual, if one predicate can say it."""
        return self.usual if isinstance(self.usual, OneOf) else self.usual.interval(self.variable)


Clue = Violation | Contradiction | Rarity

CluesOfRow = Mapping[str, tuple[Clue, ...]]
"""The clues against each variable of one row, strongest first."""


def find_clues(scorer: Scorer, table: Table, weighed: Weighed | None = None) -> list[CluesOfRow]:
    """Return the evidence against each row as clues; `weighed` are the same rows, if already weighed."""
    violations = scorer.violations(table)
    if scorer.model.evidence is None:
        return [_by_variable(of_row) for of_row in violations]
    weighed = scorer.weigh(table) if weighed is None else weighed
    finder = _ClueFinder(scorer, table, weighed)
    return [finder.clues(row, _by_variable(broken)) for row, broken in enumerate(violations)]


def _by_variable(violations: Iterable[Violation]) -> dict[str, tuple[Violation, ...]]:
    """Group the broken rules of a row by variable, strongest first."""
    of_variable: dict[str, list[Violation]] = {}
    for each in violations:
        for name in variables(each.failed):
            of_variable.setdefault(name, []).append(each)
    return {
        name: tuple(sorted(own, key=lambda each: (-each.penalty, len(each.rule.antecedent))))
        for name, own in of_variable.items()
    }


def _prominence(clue: Clue) -> float:
    """Return the key to sort clues by: the penalty, but clues that can say why come first.

    They do so unless their penalty is small. A value beyond all training values needs no why.
    """
    plain = isinstance(clue, Rarity) and not clue.new
    return -clue.penalty if plain else -WHY_FIRST * clue.penalty


class _ClueFinder:
    """Turns the evidence against some rows into clues."""

    def __init__(self, scorer: Scorer, table: Table, weighed: Weighed) -> None:
        evidence, pieces = scorer.model.evidence, weighed.pieces
        assert evidence is not None
        assert pieces is not None
        self.pieces: Pieces = pieces
        self.columns, _ = align(scorer.model.schema, table)
        self.contexts, self.splits = evidence.contexts, evidence.splits
        self.variables = scorer.model.schema.variables
        self.place_of = {each.name: place for place, each in enumerate(self.variables)}
        self.n_training = scorer.n_training
        self.states = {
            i: _States(each)
            for i, each in enumerate(self.variables)
            if isinstance(each, Categorical)
        }
        self.asked_in: dict[tuple[int, int], list[tuple[int, Answers, Circumstance]]] = {}
        prepared = scorer.prepared
        names = [self.variables[i].name for i in prepared.reader.numbers]
        self.emptiness = dict(zip(names, prepared.rarities.emptiness, strict=True))
        each = prepared.profiles.contradict_each(pieces.leaves, pieces.readings)
        self.telling = each.argmax(axis=0) if len(each) else None
        self.code_at = {i: at for at, i in enumerate(prepared.reader.states)}

    def clues(self, row: int, broken: Mapping[str, Sequence[Violation]]) -> CluesOfRow:
        """Return the clues against each variable of a row."""
        found: dict[str, tuple[Clue, ...]] = {}
        parts, rarities = self.pieces.contradictions[row], self.pieces.rarities[row]
        for i in np.flatnonzero((parts > 0) | (rarities > 0)).tolist():
            name = self.variables[i].name
            found[name] = self._against(row, i, broken.get(name, ()))
        for name, rules in broken.items():
            if name not in found:
                found[name] = tuple(_without_penalty(each) for each in rules)
        return found

    def _against(self, row: int, i: int, broken: Sequence[Violation]) -> tuple[Clue, ...]:
        part = float(self.pieces.contradictions[row, i])
        rarity = float(self.pieces.rarities[row, i])
        clues: list[Clue] = []
        rules = [_without_penalty(each) for each in broken]
        by_rule = part > self.pieces.in_context[row, i]  # a grave rule may add to a context
        if part > 0 and broken and (by_rule or broken[0].penalty >= RULE_FIRST * part):
            rules[0] = msgspec.structs.replace(rules[0], penalty=part)
        elif part > 0:
            clues.append(self._contradiction(row, i, part))
        if rarity > 0:
            clues.append(self._rarity(row, i, rarity))
        return tuple(sorted([*clues, *rules], key=_prominence))

    def _contradiction(self, row: int, i: int, penalty: float) -> Contradiction:
        assert self.telling is not None
        k = int(self.telling[row, i])
        context, leaf = self.contexts[k], int(self.pieces.leaves[k, row])
        variable, value = self.variables[i], self.columns[i].cell(row)
        n_like = context.counts[leaf]
        expected: Interval | OneOf
        usual: UsualNumber | UsualStates
        if isinstance(variable, Numeric):
            at = context.numbers.index(i)
            mean = variable.mean + variable.std * context.means[leaf][at]
            mean = min(max(mean, variable.low), variable.high)
            spread = variable.std * context.spreads[leaf][at]
            expected = usual_interval(variable, mean, spread, float(value))
            some_missing = variable.n_missing > NEGLIGIBLE * n_like
            usual = UsualNumber(mean, spread, RESOLUTION * variable.std, some_missing)
        else:
            counts = context.state_counts[leaf][context.states.index(i)]
            expected, usual = self._usual_states(row, i, counts)
        circumstances = self._circumstances(k, leaf, row)
        return Contradiction(variable.name, value, expected, circumstances, usual, n_like, penalty)

    def _usual_states(self, row: int, i: int, counts: Sequence[int]) -> tuple[OneOf, UsualStates]:
        """Return the most common other state of a leaf, and how often that and the one found occur."""
        known, code = self.states[i], self._code(row, i)
        variable, class_of = known.variable, known.class_of
        rest = MAX_CLASSES - 1 if has_rest(variable) else None
        # A state can be rarer than by chance and still the most common one: name another.
        others = [k for k in range(len(counts)) if k != class_of[code]]
        best = max(others, key=lambda k: (counts[k] > 0, k != rest, counts[k], -k))
        states = known.of_class(best)
        n_found = counts[class_of[code]] if class_of[code] < len(counts) else 0
        usual = UsualStates(counts[best], n_found, best == rest, bool(class_of[code] == rest))
        return OneOf(variable.name, states), usual

    def _circumstances(self, k: int, leaf: int, row: int) -> tuple[Circumstance, ...]:
        """Return what the rows of a leaf have in common, variable by variable, in order of the path."""
        if (k, leaf) not in self.asked_in:
            self.asked_in[k, leaf] = self._ask(self.contexts[k], leaf)
        return tuple(
            usual
            if not self._is_odd(row, place)
            else _circumstance(self.variables[place], answers, self.columns[place].cell(row))
            for place, answers, usual in self.asked_in[k, leaf]
        )

    def _ask(self, context: Context, leaf: int) -> list[tuple[int, Answers, Circumstance]]:
        """Return what is asked on the way to a leaf, and the answer for a row without odd values."""
        asked_of: dict[str, list[tuple[Split, bool]]] = {}
        for split, holds in path_to(context.tree, leaf):
            asked = self.splits[split]
            asked_of.setdefault(asked.variable, []).append((asked, holds))
        found: list[tuple[int, Answers, Circumstance]] = []
        for name, answers in asked_of.items():
            place = self.place_of[name]
            variable = self.variables[place]
            found.append((place, answers, _circumstance(variable, answers, _REGULAR)))
        return found

    def _is_odd(self, row: int, place: int) -> bool:
        """Return whether a value is missing, infinite or unseen; all others fit their leaf."""
        column = self.columns[place]
        if column.kind == "empty" or (column.missing is not None and column.missing[row]):
            return True
        if isinstance(self.variables[place], Numeric):
            return not math.isfinite(column.values[row])
        return self._code(row, place) == UNSEEN

    def _rarity(self, row: int, i: int, penalty: float) -> Rarity:
        variable, value = self.variables[i], self.columns[i].cell(row)
        if isinstance(variable, Categorical):
            code = self._code(row, i)
            n_seen = 0 if code == UNSEEN else variable.counts[code]
            usual = OneOf(variable.name, self.states[i].commoner(n_seen))
            return Rarity(variable.name, value, usual, SameState(n_seen), penalty, code == UNSEEN)
        emptiness = self.emptiness[variable.name]
        around = nearest(emptiness, float(value))
        seen = count_others(emptiness, around, float(value), self.n_training)
        new = not variable.low <= value <= variable.high
        return Rarity(variable.name, value, around, seen, penalty, new)

    def _code(self, row: int, i: int) -> int:
        """Return the code of a state, from what the contexts read."""
        return int(self.pieces.readings.codes[row, self.code_at[i]])


class _States:
    """The states of a variable as they are told: by class, and from the commonest on."""

    def __init__(self, variable: Categorical) -> None:
        self.variable = variable
        self.class_of = classes(variable)
        self._by_class = np.argsort(self.class_of[:-2], kind="stable")
        self._firsts = np.searchsorted(
            self.class_of[:-2][self._by_class], np.arange(MAX_CLASSES + 1)
        )
        self._falling = np.argsort(-np.array(variable.counts), kind="stable")
        self._counts = np.sort(np.array(variable.counts))

    def of_class(self, number: int) -> tuple[Scalar, ...]:
        """Return the states of a class, in ascending order."""
        first, last = self._firsts[number : number + 2]
        return tuple(self.variable.values[c] for c in self._by_class[first:last].tolist())

    def commoner(self, count: int) -> tuple[Scalar, ...]:
        """Return the states that were seen more often than `count` times, commonest first."""
        n_commoner = len(self._counts) - int(np.searchsorted(self._counts, count, side="right"))
        return tuple(self.variable.values[c] for c in self._falling[:n_commoner].tolist())


def _without_penalty(violation: Violation) -> Violation:
    return Violation(violation.rule, violation.failed, violation.found, 0.0)


def _circumstance(variable: Variable, answers: Answers, value: Any) -> Circumstance:
    """Return what rows have in common if some splits of a variable hold and others do not.

    If no split holds, the rows may also have missing values, infinite ones, or states unseen in
    training. These are named if training or this row has them, so that the result is true of all
    training rows of the leaf.
    """
    some_hold = any(holds for _, holds in answers)
    besides: list[Odd] = ["missing"] if value is None or variable.n_missing else []
    excluded: tuple[Scalar, ...] = ()
    allowed: Interval | OneOf | None
    if isinstance(variable, Numeric):
        allowed = _interval_left(variable, answers)
        holds = value is _REGULAR or (value is not None and math.isfinite(value))
        if value is not None and not holds:
            besides.append("infinite")
    else:
        left = _states_left(variable, answers)
        allowed = OneOf(variable.name, left) if left else None
        holds = value is _REGULAR or value in left
        if allowed is not None and (some_hold or len(left) == 1):
            if value is not None and not holds:
                besides.append("unseen")
        else:
            kept = set(left)
            excluded = tuple(each for each in variable.values if each not in kept)
    return Circumstance(
        variable.name, allowed, excluded, () if some_hold else tuple(besides), bool(holds)
    )


def _interval_left(variable: Numeric, answers: Answers) -> Interval:
    cuts = [(asked.high, holds) for asked, holds in answers if isinstance(asked, Interval)]
    low = max((cut for cut, holds in cuts if not holds), default=-math.inf)
    return Interval(
        variable.name, low, min((cut for cut, holds in cuts if holds), default=math.inf)
    )


def _states_left(variable: Categorical, answers: Answers) -> tuple[Scalar, ...]:
    sets = [(set(asked.values), holds) for asked, holds in answers if isinstance(asked, OneOf)]
    return tuple(
        each for each in variable.values if all((each in values) == holds for values, holds in sets)
    )


def path_to(tree: Sequence[int], leaf: int) -> list[tuple[int, bool]]:
    """Return the splits on the way to a leaf, and whether each holds there.

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
