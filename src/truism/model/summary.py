"""The rules worth showing to a colleague: few, different, surprising, and in round numbers.

Thousands of rules say the same thing in many ways: of neighbouring intervals, in both directions, and by
way of other rules. An `Implication` joins the rules about neighbouring intervals, is left out if it
follows from those above it, and has cut-offs rounded to the side on which it stays true of the training
rows: conditions become narrower, conclusions wider. What is checked are the rules behind it, exactly as
they were learned.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from truism.model.predicates import (
    AnyOf,
    Interval,
    OneOf,
    Predicate,
    Range,
    conjunction,
    cut_between,
    order,
    variables,
)
from truism.model.wording import NO_LEGEND, Legend, count, html_table

if TYPE_CHECKING:  # a set of rules sums itself up
    from truism.model.rules import Rule, RuleSet

N_STATEMENTS = 20
LIKELY = 0.05  # the chance of any rule of a model from which on one may be luck
AGAIN = 0.1  # what a statement keeps of its worth for each time that a variable was in one before
ROUNDING = 0.1  # of the way to the next cut-off: how far a bound may move to become short


class Implication(msgspec.Struct, frozen=True):
    """Whenever all conditions hold, so does the conclusion; or one of them whenever the other does."""

    conditions: tuple[Predicate, ...]
    conclusion: Predicate
    count: int  # training rows in which the rules behind it hold
    log_chance: float  # natural logarithm of the probability of seeing no exception by luck
    rules: tuple[str, ...]  # the ids of the rules behind it
    is_equivalence: bool = False
    is_derived: bool = False  # whether rules were joined or cut-offs rounded

    def __str__(self) -> str:
        return self.text()

    @property
    def behind(self) -> str:
        """The id of the rule behind it, or how many there are; ≈ if they do not say quite the same."""
        rules = self.rules[0] if len(self.rules) == 1 else count(len(self.rules), "rule")
        return f"≈ {rules}" if self.is_derived else rules

    def text(self, legend: Legend = NO_LEGEND) -> str:
        """Return what it says, with units where they are known."""
        conditions = conjunction(self.conditions, legend.after_predicate)
        conclusion = conjunction((self.conclusion,), legend.after_predicate)
        return f"{conditions} {'⇔' if self.is_equivalence else '⇒'} {conclusion}"


class RuleSummary(msgspec.Struct, frozen=True):
    """What is always true: the statements worth most, and what never changes."""

    statements: tuple[Implication, ...]
    constants: tuple[Predicate, ...]  # what is the same in every training row

    def __str__(self) -> str:
        lines = [f"{each}  ({each.count:,} rows)" for each in self.statements]
        if self.constants:
            lines.append(f"always {conjunction(self.constants)}")
        return "\n".join(lines) or "No rule relates variables to each other."

    def _repr_html_(self) -> str:
        rows = [(str(each), f"{each.count:,}", each.behind) for each in self.statements]
        constants = f"<p>always {escape(conjunction(self.constants))}</p>" * bool(self.constants)
        return html_table(("what is always true", "rows", "rules"), rows, "rows") + constants


def summarise(rules: RuleSet, n: int = N_STATEMENTS) -> RuleSummary:
    """Choose what is worth telling among rules."""
    statements = list(_statements(rules))
    statements += _joined(statements)
    statements = sorted(_equivalences(statements), key=_order)
    cuts = _cuts_of(rules)
    chosen = [_rounded(each, cuts) for each in _choose(statements, n)]
    constants = tuple(rule.consequents[0] for rule in rules if _is_constant(rule))
    return RuleSummary(tuple(chosen), constants)


def _statements(rules: RuleSet) -> Iterator[Implication]:
    """Return what each rule says of one variable, unless that may be luck or is a choice of several."""
    log_chances, limit = rules.log_chances(), math.log(LIKELY / max(len(rules), 1))
    for rule in rules:
        if not rule.antecedent or any(isinstance(each, AnyOf) for each in rule.antecedent):
            continue
        for conclusion in rule.consequents:
            log_chance = rule.count * log_chances.log_certainty(conclusion)
            if log_chance < limit and not isinstance(conclusion, AnyOf):
                yield Implication(rule.antecedent, conclusion, rule.count, log_chance, (rule.id,))


def _joined(statements: Iterable[Implication]) -> Iterator[Implication]:
    """Join statements whose conditions differ in neighbouring intervals of one variable."""
    alike = dict[tuple[str, frozenset[Predicate], Predicate], list[tuple[Interval, Implication]]]()
    for statement in statements:
        for condition in statement.conditions:
            if isinstance(condition, Interval):
                others = frozenset(statement.conditions) - {condition}
                key = condition.variable, others, statement.conclusion
                alike.setdefault(key, []).append((condition, statement))
    for (variable, others, conclusion), members in alike.items():
        members.sort(key=lambda member: member[0].low)
        ends = [i for i, (a, b) in enumerate(pairwise(members), 1) if a[0].high != b[0].low]
        for start, stop in pairwise([0, *ends, len(members)]):
            low, high = members[start][0].low, members[stop - 1][0].high
            if stop - start < 2 or low == -high == -math.inf:
                continue
            same = [statement for _, statement in members[start:stop]]
            yield Implication(
                tuple(sorted((*others, Interval(variable, low, high)), key=order)),
                conclusion,
                sum(each.count for each in same),
                sum(each.log_chance for each in same),
                tuple(rule for each in same for rule in each.rules),
                is_derived=True,
            )


def _equivalences(statements: Iterable[Implication]) -> Iterator[Implication]:
    """Make one of two statements that are each other's reverse, a state before a number."""
    simple = {(each.conditions, each.conclusion): each for each in statements}
    for (conditions, conclusion), statement in simple.items():
        reverse = simple.get(((conclusion,), conditions[0])) if len(conditions) == 1 else None
        if reverse is None:
            yield statement
        elif (isinstance(conclusion, OneOf), order(conclusion)) < (
            isinstance(conditions[0], OneOf),
            order(conditions[0]),
        ):
            yield msgspec.structs.replace(
                statement,
                log_chance=statement.log_chance + reverse.log_chance,
                rules=(*statement.rules, *reverse.rules),
                is_equivalence=True,
                is_derived=statement.is_derived or reverse.is_derived,
            )


def _order(statement: Implication) -> tuple[object, ...]:
    """Return the key that has the least likely statement first."""
    said = [*map(order, statement.conditions)], order(statement.conclusion)
    return statement.log_chance, len(statement.conditions), said


def _choose(statements: list[Implication], n: int) -> Iterator[Implication]:
    """Yield the statements worth most, given those before.

    The longer one is, and the more often its variables were in one before, the less it is worth. It is
    worth nothing if it is about no other variables, or follows.
    """
    seen, pairs, facts = Counter[str](), set[frozenset[str]](), list[Implication]()
    same_as = dict[str, str]()  # a variable that says the same, for those of equivalences
    waiting = dict.fromkeys(statements)
    while waiting and len(facts) < n:
        best, most = None, 0.0
        for statement in list(waiting):
            if -statement.log_chance <= most:
                break
            often = sum(seen[name] for name in _names(statement))
            worth = -statement.log_chance * AGAIN**often / len(statement.conditions)
            if worth > most:
                if _pairs(statement, same_as) <= pairs or _follows(statement, facts):
                    del waiting[statement]
                else:
                    best, most = statement, worth
        if best is None:
            return
        del waiting[best]
        facts.append(best)
        seen.update(_names(best))
        if best.is_equivalence:
            first, second = (same_as.get(name, name) for name in sorted(_names(best)))
            joined = {second, *(name for name, other in same_as.items() if other == second)}
            same_as |= dict.fromkeys(joined, first)
        pairs = set[frozenset[str]]().union(*(_pairs(fact, same_as) for fact in facts))
        yield best


def _names(statement: Implication) -> set[str]:
    return {
        name for each in (*statement.conditions, statement.conclusion) for name in variables(each)
    }


def _pairs(statement: Implication, same_as: dict[str, str]) -> set[frozenset[str]]:
    """Return which variables it relates to which."""
    about, *others = (
        same_as.get(name, name)
        for each in (statement.conclusion, *statement.conditions)
        for name in variables(each)
    )
    return {frozenset((about, name)) for name in others}


def _follows(statement: Implication, facts: Sequence[Implication]) -> bool:
    """Return whether a statement follows from others, one after the other."""
    ways = [(each.conditions, each.conclusion) for each in facts]
    ways += [((each.conclusion,), each.conditions[0]) for each in facts if each.is_equivalence]
    true, n_true = {*statement.conditions}, 0
    while n_true < len(true):
        n_true = len(true)
        for conditions, conclusion in ways:
            if all(_implied(each, true) for each in conditions):
                true.add(conclusion)
    return _implied(statement.conclusion, true)


def _implied(predicate: Predicate, true: Iterable[Predicate]) -> bool:
    return any(_implies(each, predicate) for each in true)


def _implies(first: Predicate, second: Predicate) -> bool:
    """Return whether the second predicate holds wherever the first one does."""
    match first, second:
        case Interval(), Interval():
            same = first.variable == second.variable
            return same and second.low <= first.low and first.high <= second.high
        case OneOf(), OneOf():
            return first.variable == second.variable and {*first.values} <= {*second.values}
    return first == second


def _cuts_of(rules: RuleSet) -> dict[str, list[float]]:
    """Return the cut-offs of each number, ascending, with the ends of its range."""
    cuts = dict[str, set[float]]()
    for each in rules.predicates:
        if isinstance(each.predicate, Interval):
            bounds = {each.predicate.low, each.predicate.high} - {-math.inf, math.inf}
            cuts.setdefault(each.predicate.variable, set()).update(bounds)
    return {name: sorted(bounds) for name, bounds in cuts.items()}


def _rounded(statement: Implication, cuts: dict[str, list[float]]) -> Implication:
    """Round cut-offs so that the statement remains true; that of an equivalence cannot."""
    if statement.is_equivalence:
        return statement
    conditions = tuple(_round(each, cuts, inward=True) for each in statement.conditions)
    conclusion = _round(statement.conclusion, cuts, inward=False)
    is_same = (conditions, conclusion) == (statement.conditions, statement.conclusion)
    return msgspec.structs.replace(
        statement,
        conditions=conditions,
        conclusion=conclusion,
        is_derived=statement.is_derived or not is_same,
    )


def _round(predicate: Predicate, cuts: dict[str, list[float]], *, inward: bool) -> Predicate:
    """Move the bounds of an interval a little, inward or outward, to where they are shorter."""
    if not isinstance(predicate, Interval):
        return predicate
    low, high = predicate.low, predicate.high
    own = cuts.get(predicate.variable, [])
    low = _shorter(low, own, up=inward)
    high = _shorter(high, own, up=not inward)
    return Interval(predicate.variable, low, high)


def _shorter(bound: float, cuts: Sequence[float], *, up: bool) -> float:
    """Return the shortest number from a bound to a tenth of the way to the next cut-off."""
    further = [cut for cut in cuts if (cut > bound if up else cut < bound)]
    if math.isinf(bound) or not further:
        return bound
    way = ROUNDING * ((min(further) if up else max(further)) - bound)
    short = cut_between(*sorted((bound, bound + way))) if way else bound
    return min(bound, short, key=lambda cut: len(repr(cut)))


def _is_constant(rule: Rule) -> bool:
    """Return whether a rule says that a variable has the same value in every row."""
    match rule.consequents[0]:
        case Range(variable=_, low=low, high=high):
            return low == high
        case OneOf(variable=_, values=values):
            return not rule.antecedent and len(values) == 1
    return False
