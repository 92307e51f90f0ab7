"""Rules from what was mined, and from what is known of each variable alone."""

import sys
from collections.abc import Iterable, Sequence

from truism.learning.mining import UnitRule
from truism.model.predicates import OneOf, Predicate, Present, Range, order
from truism.model.rules import Rule, rule_order
from truism.model.schema import Categorical, Schema


def merge_units(units: Iterable[UnitRule], predicates: Sequence[Predicate]) -> list[Rule]:
    """Show unit rules with the same antecedent and count as one, in canonical order."""
    arranged = sorted(range(len(predicates)), key=lambda i: order(predicates[i]))
    rank_of = {position: rank for rank, position in enumerate(arranged)}
    ranked = [predicates[position] for position in arranged]
    together: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for unit in units:
        antecedent = tuple(sorted(rank_of[i] for i in unit.antecedent))
        together.setdefault((antecedent, unit.count), []).append(rank_of[unit.consequent])
    # By ranks, which say the same as `rule_order` and are quicker to compare.
    merged = sorted(
        (len(antecedent), antecedent, sorted(consequents), count)
        for (antecedent, count), consequents in together.items()
    )
    return [
        Rule(tuple(ranked[i] for i in antecedent), tuple(ranked[i] for i in consequents), count)
        for _, antecedent, consequents, count in merged
    ]


def univariate_rules(schema: Schema, n_rows: int) -> list[Rule]:
    """Say what is always true of each variable alone (KDD'23, section 4.3).

    A variable that was never missing also carries the rule that it is present.
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
