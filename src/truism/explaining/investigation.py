"""Looking for clues: weighed rows go in, the `Clue` values that speak against them come out.

With the paper's scoring, the clues are the violated rules. With evidence scoring, each variable has at
most one contradiction that counts, a broken rule or a context, and its rarity. The stronger of rule and
context sets the penalty. A rule that is worth at least a third as much as the context is named in its
place, because a rule has no exception and few conditions. Other broken rules are listed with a penalty
of 0. The penalties of a row's clues sum to its score.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.circumstances import (
    REGULAR,
    Answers,
    Circumstance,
    States,
    circumstance,
    path_to,
)
from truism.explaining.clues import (
    Clue,
    CluesOfRow,
    Contradiction,
    Lasting,
    Rarity,
    SameState,
    UsualNumber,
    UsualStates,
)
from truism.explaining.expectations import count_others, nearest, usual_interval
from truism.model.evidence import MAX_CLASSES, Context, Split
from truism.model.predicates import Interval, OneOf, variables
from truism.model.schema import Categorical, Numeric
from truism.scoring.alignment import UNSEEN, align
from truism.scoring.readings import has_rest
from truism.scoring.scorer import Scorer
from truism.scoring.weighed import Pieces, Violation, Weighed
from truism.table.columns import Table

WHY_FIRST = 4.0  # how much more a rarity must weigh to come before a clue that can say why
RULE_FIRST = 1 / 3  # share of a context's worth from which a broken rule is named in its place
RESOLUTION = 0.02  # share of a variable's standard deviation: contexts keep four decimals of it
NEGLIGIBLE = 0.05  # share of rows with missing values that is too small to mention


def find_clues(scorer: Scorer, table: Table, weighed: Weighed | None = None) -> list[CluesOfRow]:
    """Return the evidence against each row as clues; `weighed` are the same rows, if already weighed."""
    violations = scorer.violations(table)
    if scorer.model.evidence is None:
        return [_by_variable(of_row) for of_row in violations]
    weighed = scorer.weigh_alone(table) if weighed is None else weighed
    finder = _ClueFinder(scorer, table, weighed)
    found = [finder.clues(row, _by_variable(broken)) for row, broken in enumerate(violations)]
    if weighed.remembered is None:
        return found
    names = scorer.model.schema.names
    return [
        _with_past(names, clues, *of_row)
        for clues, *of_row in zip(
            found, weighed.remembered.past, weighed.remembered.lasting, strict=True
        )
    ]


def _with_past(
    names: Sequence[str],
    clues: CluesOfRow,
    past: NDArray[np.float64],
    lasting: NDArray[np.int32],
) -> CluesOfRow:
    """Add what earlier rows leave behind to the clues of a row, after what the row itself says."""
    found = dict(clues)
    for i in np.flatnonzero((past > 0) & (lasting > 0)).tolist():
        clue = Lasting(names[i], int(lasting[i]), float(past[i]))
        told = found.get(names[i], ())
        n_telling = sum(1 for each in told if each.penalty)
        found[names[i]] = (*told[:n_telling], clue, *told[n_telling:])
    return found


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
            i: States(each)
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
            else circumstance(self.variables[place], answers, self.columns[place].cell(row))
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
            found.append((place, answers, circumstance(variable, answers, REGULAR)))
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


def _without_penalty(violation: Violation) -> Violation:
    return Violation(violation.rule, violation.failed, violation.found, 0.0)
