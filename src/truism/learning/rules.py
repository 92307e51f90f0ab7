"""The rules of a table at a given θ: mined rules, and rules about each variable alone."""

import functools
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction

import msgspec

from truism.learning.counts import PredicateCounts, count_predicates
from truism.learning.mining import Budget, UnitRule, mine, minimum_counts, variable_numbers
from truism.model.predicates import OneOf, Predicate, Present, Range, order
from truism.model.rules import PredicateCount, Rule, RuleSet, rule_order
from truism.model.schema import Categorical, Schema
from truism.model.settings import Settings, exact
from truism.scoring.truths import Truths
from truism.table.columns import Column
from truism.work import Progress


class MinedRules(msgspec.Struct, frozen=True):
    """The rules at one θ, and the antecedent length up to which they are complete."""

    rules: RuleSet
    min_support: Fraction
    complete_to: int


def find_rules(
    schema: Schema,
    columns: Sequence[Column],
    predicates: Sequence[Predicate],
    settings: Settings,
    min_support: Fraction,
    n_jobs: int,
    progress: Progress,
) -> MinedRules:
    """Find all rules among predicates, and about each variable alone (KDD'23, sections 4.2, 4.3)."""
    n_rows = len(columns[0].values)
    true, false = Truths(schema, predicates).evaluate_all(columns)
    ratio = exact(settings.ratio)
    mined = mine(
        true,
        false,
        variable_numbers(predicates),
        lambda counts: minimum_counts(counts, n_rows, min_support, ratio),
        max_predicates=settings.longest,
        budget=Budget(settings.max_nodes, settings.max_rules, settings.max_seconds),
        n_jobs=n_jobs,
        advance=functools.partial(progress, "mining"),
    )
    # Rules without an antecedent come first in the canonical order.
    rules = (*univariate_rules(schema, n_rows), *merge_units(mined.rules, predicates))
    counted = as_values(predicates, count_predicates(true, false, n_rows))
    return MinedRules(RuleSet(rules, n_rows, counted), min_support, mined.complete_to)


def as_values(
    predicates: Sequence[Predicate], counts: PredicateCounts
) -> tuple[PredicateCount, ...]:
    """Return counts of predicates as values to keep."""
    numbers = (counts.n_true, counts.n_false, counts.n_episodes)
    listed = zip(predicates, *(each.tolist() for each in numbers), strict=True)
    return tuple(PredicateCount(*each) for each in listed)


def merge_units(units: Iterable[UnitRule], predicates: Sequence[Predicate]) -> list[Rule]:
    """Merge unit rules with the same antecedent and count into one rule, in canonical order."""
    arranged = sorted(range(len(predicates)), key=lambda i: order(predicates[i]))
    rank_of = {position: rank for rank, position in enumerate(arranged)}
    ranked = [predicates[position] for position in arranged]
    together: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for unit in units:
        antecedent = tuple(sorted(rank_of[i] for i in unit.antecedent))
        together.setdefault((antecedent, unit.count), []).append(rank_of[unit.consequent])
    # By ranks, which give the same order as `rule_order` and are faster to compare.
    merged = sorted(
        (len(antecedent), antecedent, sorted(consequents), count)
        for (antecedent, count), consequents in together.items()
    )
    return [
        Rule(tuple(ranked[i] for i in antecedent), tuple(ranked[i] for i in consequents), count)
        for _, antecedent, consequents, count in merged
    ]


def univariate_rules(schema: Schema, n_rows: int) -> list[Rule]:
    """Return what is always true of each variable alone (KDD'23, section 4.3).

    A variable that was never missing also has the rule that it is present.
    """
    rules = []
    for variable in schema.variables:
        seen: Predicate
        if isinstance(variable, Categorical):
            seen = OneOf(variable.name, variable.values)
        else:
            reach = 3.0 * variable.std
            seen = Range(
                variable.name,
                max(min(variable.mean - reach, variable.low), -sys.float_info.max),
                min(max(variable.mean + reach, variable.high), sys.float_info.max),
            )
        rules.append(Rule((), (seen,), n_rows - variable.n_missing))
        if variable.n_missing == 0:
            rules.append(Rule((), (Present(variable.name),), n_rows))
    return sorted(rules, key=rule_order)
