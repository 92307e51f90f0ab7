"""Rules as plain records with all their numbers: the source of JSON, CSV and lists."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from truism.model.model import Model
from truism.model.predicates import Predicate, variables
from truism.model.provenance import Disabled
from truism.model.rules import Order, Rule, RuleSet


class RuleRecord(msgspec.Struct, frozen=True, rename={"antecedent": "if", "consequents": "then"}):
    """One rule with its numbers and its state."""

    id: str  # the rule's short name
    text: str  # the rule as it is printed
    # the same as values
    antecedent: tuple[Predicate, ...]
    consequents: tuple[Predicate, ...]
    variables: tuple[str, ...]  # the variables it is about
    # training rows in which it holds, and their share of all training rows; the support of a rule
    # about one variable alone is 1, also where that is missing in some
    count: int
    support: float
    log10_chance: float  # how likely it is by chance, as a decimal logarithm
    disabled: Disabled | None = (
        None  # why and since when the rule is switched off; None when it is not
    )
    # what was accepted of the variables that it demands something of, in words: there, breaking it
    # may not count. Unset if nothing was.
    accepted: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    @property
    def length(self) -> int:
        """The number of predicates in the rule."""
        return len(self.antecedent) + len(self.consequents)


def rule_records(model: Model, rules: Iterable[Rule] | None = None) -> tuple[RuleRecord, ...]:
    """Return records of a model's rules, by default of all, in the given order."""
    chosen = model.rules if rules is None else rules
    log_chance = model.rules.log_chances()
    disabled_of = {disabled.rule_id: disabled for disabled in model.disabled}

    def record(rule: Rule) -> RuleRecord:
        rule_id = rule.id
        return RuleRecord(
            rule_id,
            model.text_of(rule),
            rule.antecedent,
            rule.consequents,
            rule.variables,
            rule.count,
            model.rules.support_of(rule),
            round(log_chance(rule) / math.log(10), 2) + 0.0,
            disabled_of.get(rule_id),
            _accepted_of(model, rule) or msgspec.UNSET,
        )

    return tuple(record(rule) for rule in chosen)


def _accepted_of(model: Model, rule: Rule) -> tuple[str, ...]:
    """Return what was accepted of the variables of a rule's consequents, in words."""
    if not model.accepted:
        return ()
    demanded = {name for predicate in rule.consequents for name in variables(predicate)}
    return tuple(
        f"{acceptance.id}: {acceptance.said}"
        for acceptance in model.accepted
        if demanded & {*acceptance.variables}
    )


def select(
    model: Model,
    *,
    about: Sequence[str] = (),
    contains: Sequence[str] = (),
    sort: Order = "chance",
) -> RuleSet:
    """Select the rules that are about all given variables and contain all given texts, and sort them."""
    rules = model.rules
    for variable in about:
        rules = rules.about(variable)
    for text in contains:
        rules = rules.containing(text)
    return rules.sorted_by(sort)


def to_json(model: Model) -> bytes:
    """Return a model as JSON for other programs: where it came from, its variables, its rules in full.

    Unlike the model file, it repeats predicates and numbers so that nothing need be looked up; truism
    cannot read it back.
    """
    content: dict[str, Any] = {
        "format": "truism-rules",
        "provenance": model.provenance,
        "settings": model.settings,
        "threshold": model.threshold,
        "derived": model.derived,
        "variables": model.schema.variables,
        "left_out": model.schema.left_out,
        "rules": rule_records(model, model.rules.sorted_by("chance")),
    }
    return msgspec.json.format(msgspec.json.encode(content), indent=2) + b"\n"
