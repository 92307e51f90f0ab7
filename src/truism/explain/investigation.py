"""Looking for clues: the evidence against weighed rows, as `Clue` values.

With the paper's scoring, the clues are the violated rules. With evidence scoring, each variable has at
most one contradiction that counts, a broken rule or a context, and its rarity. The stronger of rule and
context sets the penalty. A rule that is worth at least a third as much as the context is named in its
place, because a rule has no exception and few conditions. Other broken rules are listed with a penalty
of 0. A value that training never had comes first, whatever it adds. The penalties of a row's clues
sum to its score.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explain.clues import (
    Answers,
    Circumstance,
    Clue,
    CluesOfRow,
    Contradiction,
    Dead,
    Lasting,
    Odd,
    Outside,
    Rarity,
    Seen,
    States,
    UsualNumber,
    UsualStates,
    circumstance,
    count_others,
    nearest,
    usual_classes,
    usual_interval,
)
from truism.explain.nodes import Chooser, Node, Nodes, counts_of, nodes_of_all
from truism.incidents.marks import WHY_FIRST
from truism.model.evidence import MAX_CLASSES, Split
from truism.model.model import Model
from truism.model.predicates import Interval, OneOf, Range, variables
from truism.model.schema import Categorical, Numeric, Variable
from truism.score.alignment import MISSING, UNSEEN, align, has_rest
from truism.score.past import worth_of_death
from truism.score.scorer import Scorer
from truism.score.weighed import Pieces, Violation, Weighed
from truism.table.columns import Table

RULE_FIRST = 1 / 3  # share of a context's worth from which a broken rule is named in its place
RESOLUTION = 0.02  # share of a variable's standard deviation: contexts keep four decimals of it
SUSPECT = 0.25  # share of the largest part of a row's score, from which on a variable is a suspect
_NODES_OF: WeakKeyDictionary[Scorer, list[Nodes]] = WeakKeyDictionary()  # made once for each model


def find_clues(
    scorer: Scorer,
    table: Table,
    weighed: Weighed | None = None,
    about: Sequence[Collection[int]] | None = None,
) -> list[CluesOfRow]:
    """Return the evidence against each row as clues.

    `weighed` are the same rows, if already weighed. `about` says which variables of each row matter; all,
    when absent.
    """
    violations = scorer.violations(table)
    if scorer.model.evidence is None:
        variable_of = scorer.model.schema.variable_of()
        return [
            {
                name: _in_order(variable_of[name], broken)
                for name, broken in _by_variable(of_row).items()
            }
            for of_row in violations
        ]
    weighed = scorer.weigh_alone(table) if weighed is None else weighed
    finder = _ClueFinder(scorer, table, weighed)
    clues_of = [
        finder.clues(row, _by_variable(broken), None if about is None else about[row])
        for row, broken in enumerate(violations)
    ]
    if weighed.remembered is None:
        return clues_of
    names, remembered = scorer.model.schema.names, weighed.remembered
    clues_of = [
        _with_past(names, clues, *of_row)
        for clues, *of_row in zip(clues_of, remembered.past, remembered.lasting, strict=True)
    ]
    if remembered.dead is not None and remembered.dead.any():
        for row, i in np.argwhere(remembered.dead > 0).tolist():
            clue = dead_clue(
                scorer.model, i, finder.columns[i].cell(row), int(remembered.dead[row, i])
            )
            clues_of[row] = {
                **clues_of[row],
                names[i]: with_dead(clue, clues_of[row].get(names[i], ())),
            }
    return clues_of


def dead_clue(model: Model, i: int, found: Any, n_rows: int) -> Dead:
    """Return the clue that a variable died; `i` is its position, and `found` what it repeats."""
    series, memory = model.series, model.memory
    assert series is not None
    assert memory is not None
    longest, rest = memory.longest[i], memory.rest[i]
    if found is None:
        longest, rest = memory.absent[i], None
    name, worth = model.schema.names[i], worth_of_death(memory)
    return Dead(name, found, n_rows, longest, series.step, worth, rest)


def with_dead(clue: Dead, clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """Add to the clues against a variable that it died: after a value that training never had."""
    at = sum(1 for other in clues if _prominence(other) == -math.inf)
    return (*clues[:at], clue, *clues[at:])


def _with_past(
    names: Sequence[str],
    clues: CluesOfRow,
    past: NDArray[np.float64],
    lasting: NDArray[np.int32],
) -> CluesOfRow:
    """Add what earlier rows leave behind to the clues of a row, after what the row itself says."""
    clues_of = dict(clues)
    for i in np.flatnonzero((past > 0) & (lasting > 0)).tolist():
        clue = Lasting(names[i], int(lasting[i]), float(past[i]))
        before = clues_of.get(names[i], ())
        n_telling = sum(1 for other in before if other.penalty)
        clues_of[names[i]] = (*before[:n_telling], clue, *before[n_telling:])
    return clues_of


def _by_variable(violations: Iterable[Violation]) -> dict[str, tuple[Violation, ...]]:
    """Group the broken rules of a row by variable, strongest first."""
    of_variable: dict[str, list[Violation]] = {}
    for violation in violations:
        for name in variables(violation.failed):
            of_variable.setdefault(name, []).append(violation)
    return {
        name: tuple(
            sorted(
                broken, key=lambda violation: (-violation.penalty, len(violation.rule.antecedent))
            )
        )
        for name, broken in of_variable.items()
    }


def _in_order(variable: Variable, violations: Sequence[Violation]) -> tuple[Clue, ...]:
    """Return broken rules as clues, the one about a variable's range as what training had."""
    ranges = [violation for violation in violations if _is_range(violation)]
    others = [violation for violation in violations if not _is_range(violation)]
    if not ranges:
        return tuple(others)
    assert isinstance(variable, Numeric)
    first = ranges[0]
    bounds = (variable.low, variable.high)
    outside = Outside(variable.name, first.found[0], *bounds, first.penalty, first.rule.id)
    return (outside, *others)


def _is_range(violation: Violation) -> bool:
    """Return whether a broken rule says between what bounds a number lies; they have a margin."""
    failed = violation.failed
    return isinstance(failed, Range) and failed.low < failed.high


def _prominence(clue: Clue) -> float:
    """Return the key to sort clues by: the penalty, but clues that can say why come first.

    They do so unless their penalty is small. A value that training never had needs no why.
    """
    match clue:
        case Outside() | Rarity(new=True):
            return -math.inf
        case Rarity():
            return -clue.penalty
    return -WHY_FIRST * clue.penalty


class _ClueFinder:
    """Turns the evidence against some rows into clues."""

    def __init__(self, scorer: Scorer, table: Table, weighed: Weighed) -> None:
        evidence, pieces = scorer.model.evidence, weighed.pieces
        assert evidence is not None
        assert pieces is not None
        self.pieces: Pieces = pieces
        self.columns, _ = align(scorer.model.schema, table)
        self.splits = evidence.splits
        self.variables = scorer.model.schema.variables
        self.place_of = {variable.name: place for place, variable in enumerate(self.variables)}
        self.n_training = scorer.n_training
        self.states = {
            i: States(variable)
            for i, variable in enumerate(self.variables)
            if isinstance(variable, Categorical)
        }
        self.asked_in: dict[tuple[int, int], list[tuple[int, Answers]]] = {}
        self.shared_in: dict[tuple[int, int, tuple[Odd | None, ...]], tuple[Circumstance, ...]] = {}
        reader = scorer.weigher.reader
        names = [self.variables[i].name for i in reader.numbers]
        self.emptiness = dict(zip(names, scorer.weigher.rarities.emptiness, strict=True))
        self.number_at = {i: at for at, i in enumerate(reader.numbers)}
        self.code_at = {i: at for at, i in enumerate(reader.states)}
        infinite, odd = ~np.isfinite(pieces.readings.numbers), pieces.readings.codes < 0
        self.odd_rows = {*np.nonzero(np.hstack([infinite, odd]))[0].tolist()}
        parts = pieces.plain + pieces.rarities
        blamed = parts > SUSPECT * parts.max(axis=1, initial=0.0, keepdims=True)
        if scorer not in _NODES_OF:
            _NODES_OF[scorer] = nodes_of_all(scorer.model.schema, evidence)
        self.chooser = Chooser(_NODES_OF[scorer], pieces.leaves, blamed)
        self.chosen_for: dict[int, list[Node]] = {}

    def clues(
        self,
        row: int,
        broken: Mapping[str, Sequence[Violation]],
        about: Collection[int] | None = None,
    ) -> CluesOfRow:
        """Return the clues against each variable of a row, or against some."""
        clues_of: dict[str, tuple[Clue, ...]] = {}
        parts, rarities = self.pieces.contradictions[row], self.pieces.rarities[row]
        some = np.flatnonzero((parts > 0) | (rarities > 0))
        if about is not None:
            some = some[np.isin(some, [*about])]
            names = {self.variables[i].name for i in about}
            broken = {name: rules for name, rules in broken.items() if name in names}
        # As Python's own numbers, all at once: an array hands out single ones slowly.
        for i, part, rarity in zip(
            *(array.tolist() for array in (some, parts[some], rarities[some])), strict=True
        ):
            name = self.variables[i].name
            clues_of[name] = self._against(row, i, part, rarity, broken.get(name, ()))
        for name, rules in broken.items():
            if name not in clues_of:
                unpriced = [_without_penalty(violation) for violation in rules]
                clues_of[name] = _in_order(self.variables[self.place_of[name]], unpriced)
        return clues_of

    def _against(
        self, row: int, i: int, part: float, rarity: float, broken: Sequence[Violation]
    ) -> tuple[Clue, ...]:
        value = self.columns[i].cell(row)
        if not broken:
            alone = self._in_itself(row, i, value, rarity, "")
            if part <= 0:
                return tuple(alone)
            context = self._contradiction(row, i, value, part)
            return tuple(sorted([context, *alone], key=_prominence)) if alone else (context,)
        clues: list[Clue] = []
        range_rule = next((violation.rule.id for violation in broken if _is_range(violation)), "")
        broken = [violation for violation in broken if not _is_range(violation)]
        rules = [_without_penalty(violation) for violation in broken]
        by_rule = part > self.pieces.in_context[row, i]  # a grave rule may add to a context
        if part > 0 and broken and (by_rule or broken[0].penalty >= RULE_FIRST * part):
            rules[0] = msgspec.structs.replace(rules[0], penalty=part)
        elif part > 0:
            clues.append(self._contradiction(row, i, value, part))
        clues += self._in_itself(row, i, value, rarity, range_rule)
        return tuple(sorted([*clues, *rules], key=_prominence))

    def _contradiction(self, row: int, i: int, value: Any, penalty: float) -> Contradiction:
        if i not in self.chosen_for:
            self.chosen_for[i] = self._choose(i)
        k, node = self.chosen_for[i][row]
        variable = self.variables[i]
        expected: Interval | OneOf | None
        usual: UsualNumber | UsualStates
        statistics = self.chooser.nodes[k].statistics
        n_like = int(statistics.counts[node])
        if isinstance(variable, Numeric):
            usual = self._usual_number(variable, i, k, node)
            expected = usual_interval(variable, usual.mean, usual.spread, float(value))
        else:
            expected, usual = self._usual_states(row, i, counts_of(statistics, i, node).tolist())
        circumstances = self._circumstances(k, node, row)
        return Contradiction(variable.name, value, expected, circumstances, usual, n_like, penalty)

    def _usual_number(self, variable: Numeric, i: int, k: int, node: int) -> UsualNumber:
        """Return what a number is in the rows of a node."""
        nodes = self.chooser.nodes[k]
        at = nodes.statistics.numbers.index(i)
        mean = variable.mean + variable.std * float(nodes.statistics.means[node, at])
        mean = min(max(mean, variable.low), variable.high)
        spread = variable.std * float(nodes.statistics.spreads[node, at])
        some_missing = bool(nodes.known[node, at] < nodes.statistics.counts[node])
        return UsualNumber(mean, spread, RESOLUTION * variable.std, some_missing)

    def _choose(self, i: int) -> list[Node]:
        """Choose the condition to tell of a variable, for all rows at once."""
        readings, variable = self.pieces.readings, self.variables[i]
        if isinstance(variable, Numeric):
            standard = readings.standard[:, self.number_at[i]].astype(np.float64)
            return self.chooser.choose_for_number(i, standard)
        classes = readings.classes[:, self.code_at[i]].astype(np.int64)
        return self.chooser.choose_for_state(i, classes)

    def _usual_states(
        self, row: int, i: int, counts: Sequence[int]
    ) -> tuple[OneOf | None, UsualStates]:
        """Return the states that most rows of a node have, and how often they and the one found occur."""
        states_of = self.states[i]
        found = int(states_of.class_of[self._code(row, i)])
        rest = MAX_CLASSES - 1 if has_rest(states_of.variable) else None
        usual = usual_classes(counts, found, rest)
        n_found = counts[found] if found < len(counts) else 0
        counted = UsualStates(sum(counts[k] for k in usual), n_found, rest in usual, found == rest)
        if not usual:
            return None, counted
        states = tuple(state for k in usual for state in states_of.of_class(k))
        return OneOf(states_of.variable.name, states), counted

    def _circumstances(self, k: int, node: int, row: int) -> tuple[Circumstance, ...]:
        """Return what the rows of a node have in common, variable by variable, in order of the path."""
        if (k, node) not in self.asked_in:
            asked_of: dict[str, list[tuple[Split, bool]]] = {}
            for split, holds in self.chooser.nodes[k].answers[node]:
                asked = self.splits[split]
                asked_of.setdefault(asked.variable, []).append((asked, holds))
            self.asked_in[k, node] = [
                (self.place_of[name], answers) for name, answers in asked_of.items()
            ]
        about = self.asked_in[k, node]
        odd: tuple[Odd | None, ...] = (None,) * len(about)
        if row in self.odd_rows:
            odd = tuple(self._odd(row, place) for place, _ in about)
        if (k, node, odd) not in self.shared_in:
            self.shared_in[k, node, odd] = tuple(
                circumstance(self.variables[place], answers, why)
                for (place, answers), why in zip(about, odd, strict=True)
            )
        return self.shared_in[k, node, odd]

    def _odd(self, row: int, place: int) -> Odd | None:
        """Return whether a value is missing, infinite or unseen; all others fit their leaf."""
        if place in self.code_at:
            code = self._code(row, place)
            return "missing" if code == MISSING else "unseen" if code == UNSEEN else None
        number = self.pieces.readings.numbers[row, self.number_at[place]]
        return None if math.isfinite(number) else "missing" if math.isnan(number) else "infinite"

    def _in_itself(
        self, row: int, i: int, value: Any, penalty: float, range_rule: str
    ) -> list[Clue]:
        """Return what is unusual about a value whatever the other variables are, if anything."""
        variable = self.variables[i]
        if value is None:
            return []
        if isinstance(variable, Categorical):
            code = self._code(row, i)
            if penalty <= 0 and code != UNSEEN:
                return []
            n_seen = 0 if code == UNSEEN else variable.counts[code]
            usual = OneOf(variable.name, self.states[i].commoner(n_seen))
            return [
                Rarity(variable.name, value, usual, Seen(n_seen, "same"), penalty, code == UNSEEN)
            ]
        if variable.varies and not variable.low <= value <= variable.high:
            bounds = (variable.low, variable.high)
            return [Outside(variable.name, value, *bounds, penalty, range_rule)]
        if penalty <= 0:
            return []
        emptiness = self.emptiness[variable.name]
        around = nearest(emptiness, float(value))
        seen = count_others(emptiness, around, float(value), self.n_training)
        new = not variable.low <= value <= variable.high
        return [Rarity(variable.name, value, around, seen, penalty, new)]

    def _code(self, row: int, i: int) -> int:
        """Return the code of a state, from what the contexts read."""
        return int(self.pieces.readings.codes[row, self.code_at[i]])


def _without_penalty(violation: Violation) -> Violation:
    return Violation(violation.rule, violation.failed, violation.found, 0.0)
