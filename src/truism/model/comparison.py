"""What differs between two models, as one value: variables, rules by meaning, and how they were learned.

Rules are compared one consequent at a time, because two rules that say the same may be shown as one rule
today and as two tomorrow. So a rule with three consequents makes three claims, and claims are counted.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from truism.model.evidence import Evidence
from truism.model.implication import Book, Claim, says_as_much
from truism.model.matching import match
from truism.model.model import Model
from truism.model.predicates import Predicate, conjunction, order
from truism.model.rules import Rule
from truism.model.schema import Categorical, Numeric, Scalar, Schema, Variable

Topic = Literal["threshold", "settings", "training", "evidence"]
Move = Literal["stricter", "looser", "moved"]


class Side(msgspec.Struct, frozen=True):
    """One of the two models at a glance.

    Parameters
    ----------
    n_variables, n_rules, n_claims
        Variables, rules, and the claims that these make: one for each consequent.
    n_rows
        Training rows.
    threshold
        Rows that score above it are anomalies.
    created
        When it was learned, as ISO text.

    """

    n_variables: int
    n_rules: int
    n_claims: int
    n_rows: int
    threshold: float
    created: str | None


class KindChange(msgspec.Struct, frozen=True):
    """A variable whose kind differs: numeric, or states of text, booleans or numbers."""

    name: str
    old: str
    new: str


class StateChange(msgspec.Struct, frozen=True):
    """States of a variable that only one of the models has seen."""

    name: str
    new: tuple[Scalar, ...]
    gone: tuple[Scalar, ...]


class VariableChanges(msgspec.Struct, frozen=True):
    """How the variables differ."""

    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    other_kind: tuple[KindChange, ...] = ()
    other_states: tuple[StateChange, ...] = ()


class ClaimRecord(msgspec.Struct, frozen=True, rename={"antecedent": "if", "consequent": "then"}):
    """One consequent of a rule of one of the models.

    Parameters
    ----------
    rule
        The id of the rule, in its own model.
    text
        What it says, with this consequent alone.
    antecedent, consequent
        The same as values.
    count
        Training rows in which it holds.
    log_chance
        How likely it is by chance, as a natural logarithm.
    covered
        Whether a single rule of the other model says at least as much.

    """

    rule: str
    text: str
    antecedent: tuple[Predicate, ...]
    consequent: Predicate
    count: int
    log_chance: float
    covered: bool = False


class ClaimChange(msgspec.Struct, frozen=True):
    """A rule that both models have, with other cut-offs or states.

    Parameters
    ----------
    old, new
        What the models say.
    distance
        How far it moved; see `truism.model.matching`.
    move
        Whether the new one says at least as much as the old one, or the other way round, or neither.

    """

    old: ClaimRecord
    new: ClaimRecord
    distance: float
    move: Move


class RuleChanges(msgspec.Struct, frozen=True):
    """How the rules differ, claim by claim, those least likely by chance first.

    Parameters
    ----------
    n_unchanged
        How many claims both models make.
    new, gone
        What only the new or only the old model says.
    changed
        What both say of the same variables and directions, with other cut-offs or states.
    switched_off, switched_on
        What both say, but only one of them uses.

    """

    n_unchanged: int
    new: tuple[ClaimRecord, ...] = ()
    gone: tuple[ClaimRecord, ...] = ()
    changed: tuple[ClaimChange, ...] = ()
    switched_off: tuple[ClaimRecord, ...] = ()
    switched_on: tuple[ClaimRecord, ...] = ()


class Change(msgspec.Struct, frozen=True):
    """A number or a setting that differs; values are plain numbers, texts and lists."""

    topic: Topic
    name: str
    old: Any
    new: Any


class ModelComparison(msgspec.Struct, frozen=True):
    """What differs between two models.

    Parameters
    ----------
    old, new
        The models at a glance.
    variables, rules
        How the variables and the rules differ.
    changes
        The threshold, settings, facts about the training rows, and what is usual, where they differ.

    """

    old: Side
    new: Side
    variables: VariableChanges
    rules: RuleChanges
    changes: tuple[Change, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing differs but the date."""
        unchanged = RuleChanges(self.rules.n_unchanged)
        return self.variables == VariableChanges() and self.rules == unchanged and not self.changes


def compare_models(old: Model, new: Model) -> ModelComparison:
    """Compare two models.

    Parameters
    ----------
    old, new
        The models; swapping them swaps what is new and what is gone.

    Returns
    -------
    ModelComparison

    """
    said = [_Claims(model) for model in (old, new)]
    sides = [_side(model, len(each.rule_of)) for model, each in zip((old, new), said, strict=True)]
    return ModelComparison(
        sides[0],
        sides[1],
        compare_schemas(old.schema, new.schema),
        _compare_rules(*said),
        _compare_facts(old, new),
    )


def _side(model: Model, n_claims: int) -> Side:
    made = model.provenance
    return Side(
        len(model.schema.variables),
        len(model.rules),
        n_claims,
        made.n_rows,
        model.threshold,
        made.created,
    )


def compare_schemas(old: Schema, new: Schema) -> VariableChanges:
    """Compare variables by name."""
    then, now = old.variable_of(), new.variable_of()
    both = [(then[name], now[name]) for name in old.names if name in now]
    return VariableChanges(
        tuple(name for name in new.names if name not in then),
        tuple(name for name in old.names if name not in now),
        tuple(
            KindChange(one.name, kind_of(one), kind_of(other))
            for one, other in both
            if kind_of(one) != kind_of(other)
        ),
        tuple(change for one, other in both for change in _other_states(one, other)),
    )


def kind_of(variable: Variable) -> str:
    """Return a variable's kind in a word or two.

    >>> kind_of(Categorical("P1", "text", ("off", "on"), (1, 1), 0))
    'states (text)'
    """
    return "numeric" if isinstance(variable, Numeric) else f"states ({variable.holds})"


def _other_states(old: Variable, new: Variable) -> Iterable[StateChange]:
    if not isinstance(old, Categorical) or not isinstance(new, Categorical):
        return
    if old.holds == new.holds and {*old.values} != {*new.values}:
        added = tuple(value for value in new.values if value not in old.values)
        gone = tuple(value for value in old.values if value not in new.values)
        yield StateChange(old.name, added, gone)


class _Claims:
    """What a model says, one consequent at a time."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.rule_of: dict[Claim, Rule] = {}
        self._id_of: dict[int, str] = {}
        self._condition_of: dict[int, str] = {}
        self._text_of: dict[Predicate, str] = {}
        for rule in model.rules:
            antecedent = tuple(sorted(rule.antecedent, key=order))
            for consequent in rule.consequents:
                self.rule_of[Claim(antecedent, consequent)] = rule
        self.off = {each.rule_id for each in model.disabled}
        self._log_chance = model.rules.log_chances()

    def spreads(self) -> dict[str, float]:
        numbers = (each for each in self.model.schema.variables if isinstance(each, Numeric))
        return {each.name: each.std for each in numbers}

    def said(self, claim: Claim, covered: bool = False) -> ClaimRecord:
        rule = self.rule_of[claim]
        return ClaimRecord(
            self._id(rule),
            self._text(claim, rule),
            claim.antecedent,
            claim.consequent,
            rule.count,
            self._log_chance(msgspec.structs.replace(rule, consequents=(claim.consequent,))),
            covered,
        )

    def _text(self, claim: Claim, rule: Rule) -> str:
        """Print a claim as a rule is printed; its condition once for all claims of the rule."""
        if id(rule) not in self._condition_of:
            start = f"{conjunction(claim.antecedent)} ⇒ " if claim.antecedent else "always "
            self._condition_of[id(rule)] = "" if rule.may_be_wider else start
        if claim.consequent not in self._text_of:
            self._text_of[claim.consequent] = str(claim.consequent)
        return f"{self._condition_of[id(rule)]}{self._text_of[claim.consequent]}"

    def is_off(self, claim: Claim) -> bool:
        return bool(self.off) and self._id(self.rule_of[claim]) in self.off

    def _id(self, rule: Rule) -> str:
        # A rule has several consequents, and its id is a digest.
        if id(rule) not in self._id_of:
            self._id_of[id(rule)] = rule.id
        return self._id_of[id(rule)]


def _compare_rules(old: _Claims, new: _Claims) -> RuleChanges:
    only = [
        [claim for claim in one.rule_of if claim not in other.rule_of]
        for one, other in ((old, new), (new, old))
    ]
    then, now = old.spreads(), new.spreads()
    # The mean, so that it does not matter which of the models is the old one.
    spread_of = {name: (then[name] + now[name]) / 2 for name in then if name in now}
    pairs = match(only[0], only[1], spread_of)
    matched = [(only[0][pair.old], only[1][pair.new], pair.distance) for pair in pairs]
    same = [(claim, claim) for claim in old.rule_of if claim in new.rule_of]
    same += [(one, other) for one, other, distance in matched if distance == 0]
    off, on = _switched(old, new, same)
    return RuleChanges(
        len(same),
        _alone(new, old, only[1], {pair.new for pair in pairs}),
        _alone(old, new, only[0], {pair.old for pair in pairs}),
        _changed(old, new, [each for each in matched if each[2] > 0]),
        off,
        on,
    )


def _switched(
    old: _Claims, new: _Claims, same: list[tuple[Claim, Claim]]
) -> tuple[tuple[ClaimRecord, ...], tuple[ClaimRecord, ...]]:
    """Return what was switched off, and what was switched on."""
    if not old.off and not new.off:
        return (), ()
    states = [(other, old.is_off(one), new.is_off(other)) for one, other in same]
    return (
        _in_order(new.said(claim, True) for claim, then, now in states if now and not then),
        _in_order(new.said(claim, True) for claim, then, now in states if then and not now),
    )


def _alone(
    one: _Claims, other: _Claims, claims: list[Claim], matched: set[int]
) -> tuple[ClaimRecord, ...]:
    """Return what only one model says, and whether the other one says at least as much elsewhere."""
    left = [claim for position, claim in enumerate(claims) if position not in matched]
    if not left:
        return ()
    book = Book(other.rule_of)
    return _in_order(one.said(claim, book.covers(claim)) for claim in left)


def _changed(
    old: _Claims, new: _Claims, matched: list[tuple[Claim, Claim, float]]
) -> tuple[ClaimChange, ...]:
    changes = []
    for one, other, distance in matched:
        stricter, looser = says_as_much(other, one), says_as_much(one, other)
        move: Move = "stricter" if stricter else "looser" if looser else "moved"
        changes.append(
            ClaimChange(old.said(one, stricter), new.said(other, looser), distance, move)
        )
    return tuple(sorted(changes, key=lambda each: (each.new.log_chance, each.new.text)))


def _in_order(said: Iterable[ClaimRecord]) -> tuple[ClaimRecord, ...]:
    return tuple(sorted(said, key=lambda each: (each.log_chance, each.text)))


def _compare_facts(old: Model, new: Model) -> tuple[Change, ...]:
    facts = [_facts(model) for model in (old, new)]
    return tuple(
        Change(topic, name, then, facts[1][topic, name])
        for (topic, name), then in facts[0].items()
        if then != facts[1][topic, name]
    )


def _facts(model: Model) -> dict[tuple[Topic, str], Any]:
    """Return what to compare apart from variables and rules, as plain values by topic and name."""
    made, usual = model.provenance, model.evidence
    facts: dict[tuple[Topic, str], Any] = {
        ("threshold", "value"): model.threshold,
        ("threshold", "origin"): str(model.limit.origin),
    }
    for name in model.settings.__struct_fields__:
        facts["settings", name] = msgspec.to_builtins(getattr(model.settings, name))
    for name in ("n_rows", "n_columns", "fingerprint", "min_support", "complete_to", "version"):
        facts["training", name] = getattr(made, name)
    facts["settings", "accepted"] = [each.said for each in model.accepted or ()]
    facts["training", "time"] = model.schema.time
    facts["training", "derived"] = list(model.derived)
    facts["evidence", "contexts"] = None if usual is None else len(usual.contexts)
    facts["evidence", "digest"] = None if usual is None else _digest(usual)
    return facts


def _digest(evidence: Evidence) -> str:
    return hashlib.blake2b(msgspec.json.encode(evidence), digest_size=8).hexdigest()
