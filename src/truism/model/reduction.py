"""A model that knows nothing of some variables, for tables that lack their columns.

Whatever needs such a variable is unknown: rules about it, contexts that ask for it or judge it, and how
rare its values are. The rest stays as it is, so that the scores of other variables mean the same.
"""

from collections.abc import Collection, Sequence

import msgspec

from truism.model.acceptances import Acceptance
from truism.model.evidence import LEAF, Context, Evidence
from truism.model.model import Model
from truism.model.predicates import Predicate, variables
from truism.model.rules import Rule, RuleSet, rule_order
from truism.model.schema import Schema
from truism.model.series import Series


def without(model: Model, absent: Collection[str]) -> Model:
    """Return a model without some of its variables.

    A rule keeps the consequents that need none of them. What was switched off stays off.
    """
    left = tuple(each for each in model.schema.variables if each.name not in absent)
    schema = msgspec.structs.replace(model.schema, variables=left)
    off = {each.rule_id: each for each in model.disabled}
    rules, disabled = [], []
    for rule in model.rules:
        kept = _kept(rule, absent)
        if kept is None:
            continue
        rules.append(kept)
        if off and rule.id in off:
            disabled.append(msgspec.structs.replace(off[rule.id], rule_id=kept.id))
    counted = tuple(each for each in model.rules.predicates if _knows(each.predicate, absent))
    return msgspec.structs.replace(
        model,
        schema=schema,
        rules=RuleSet(tuple(sorted(rules, key=rule_order)), model.rules.n_rows, counted),
        disabled=tuple(sorted(disabled, key=lambda each: each.rule_id)),
        derived=tuple(name for name in model.derived if name not in absent),
        evidence=None
        if model.evidence is None
        else _evidence(model.evidence, model.schema, absent),
        series=None if model.series is None else _series(model.series, model.schema, absent),
        accepted=_accepted(model.accepted or (), absent) or None,
        twins=tuple(pair for pair in model.twins or () if not {*pair} & {*absent}) or None,
    )


def _accepted(accepted: Sequence[Acceptance], absent: Collection[str]) -> tuple[Acceptance, ...]:
    """Leave out what was accepted in situations that are unknown, or about unknown variables."""
    found = []
    for each in accepted:
        cases = [
            msgspec.structs.replace(
                case, allowed=tuple(own for own in case.allowed if own.variable not in absent)
            )
            for case in each.cases
            if all(_knows(condition, absent) for condition in case.conditions)
        ]
        left = tuple(case for case in cases if case.allowed)
        if left:
            found.append(msgspec.structs.replace(each, cases=left))
    return tuple(found)


def _series(series: Series, schema: Schema, absent: Collection[str]) -> Series:
    memory = series.memory
    if memory is None:
        return series
    kept = [i for i, name in enumerate(schema.names) if name not in absent]
    fields = ("usual", "highest", "stray", "units", "longest", "absent", "rest")
    of_kept = {name: tuple(getattr(memory, name)[i] for i in kept) for name in fields}
    return msgspec.structs.replace(series, memory=msgspec.structs.replace(memory, **of_kept))


def _knows(predicate: Predicate, absent: Collection[str]) -> bool:
    return not any(name in absent for name in variables(predicate))


def _kept(rule: Rule, absent: Collection[str]) -> Rule | None:
    if not all(_knows(each, absent) for each in rule.antecedent):
        return None
    consequents = tuple(each for each in rule.consequents if _knows(each, absent))
    if not consequents:
        return None
    return (
        rule
        if consequents == rule.consequents
        else msgspec.structs.replace(rule, consequents=consequents)
    )


def _evidence(evidence: Evidence, schema: Schema, absent: Collection[str]) -> Evidence:
    kept = [i for i, name in enumerate(schema.names) if name not in absent]
    place = {old: new for new, old in enumerate(kept)}
    asks = [i for i, split in enumerate(evidence.splits) if split.variable not in absent]
    number = {old: new for new, old in enumerate(asks)} | {LEAF: LEAF}
    contexts = (
        _judging(each, place, number)
        for each in evidence.contexts
        if all(node in number for node in each.tree)
    )
    return msgspec.structs.replace(
        evidence,
        spacings=tuple(each for each in evidence.spacings if each.variable not in absent),
        splits=tuple(evidence.splits[i] for i in asks),
        contexts=tuple(each for each in contexts if each.numbers or each.states),
        usual=tuple(evidence.usual[i] for i in kept),
    )


def _judging(context: Context, place: dict[int, int], number: dict[int, int]) -> Context:
    """Return a context that judges only variables that have a place."""
    numbers = [at for at, i in enumerate(context.numbers) if i in place]
    states = [at for at, i in enumerate(context.states) if i in place]
    return Context(
        tuple(number[node] for node in context.tree),
        tuple(place[context.numbers[at]] for at in numbers),
        tuple(place[context.states[at]] for at in states),
        context.counts,
        tuple(tuple(leaf[at] for at in numbers) for leaf in context.means),
        tuple(tuple(leaf[at] for at in numbers) for leaf in context.spreads),
        tuple(tuple(leaf[at] for at in states) for leaf in context.state_counts),
        tuple(tuple(leaf[at] for at in numbers) for leaf in context.known),
    )
