"""What was learned, how, and what has been switched off since: one immutable value.

A `Model` holds everything that scoring, explaining and reporting need; they do not need the training
table. Editing returns a new model, and so does leaving variables out, for tables that lack their columns.
"""

import html
from collections.abc import Collection, Sequence
from functools import cached_property

import msgspec

from truism.errors import ParameterError
from truism.model.acceptances import Acceptance, check_text
from truism.model.evidence import LEAF, Context, Evidence
from truism.model.predicates import Predicate, Range, variables
from truism.model.provenance import (
    AnyBrokenRule,
    ByHand,
    Disabled,
    Provenance,
    RateOfIncidents,
    Threshold,
    ThresholdOrigin,
)
from truism.model.rules import Rule, RuleSet, rule_order
from truism.model.schema import Numeric, Schema, id_of
from truism.model.series import Memory, Series
from truism.model.settings import Settings, check_threshold
from truism.model.summary import RuleSummary
from truism.model.wording import NO_LEGEND, Legend, shorten
from truism.table.layouts import Reading


class Model(msgspec.Struct, frozen=True, dict=True):
    """Everything that was learned from one training table."""

    schema: Schema  # the variables
    rules: RuleSet  # every rule, disabled ones included
    settings: Settings  # how it was learned
    provenance: Provenance  # when and from what it was learned
    limit: Threshold = Threshold(0.0, AnyBrokenRule())  # the threshold, and why it is what it is
    disabled: tuple[Disabled, ...] = ()  # rules switched off
    # columns whose change since the previous row, ``ΔX``, is a variable; meters, of which only the
    # change counts, are not variables themselves
    derived: tuple[str, ...] = ()
    # what is usual beyond the rules; None unless the scoring is ``"evidence"``
    evidence: Evidence | None = None
    # what is known about the order of rows; None if rows are exchangeable
    series: Series | None = None
    # how the training table was read, so that later tables are read alike; None if unknown
    reading: Reading | None = None
    # pairs of numbers that move together, closest first; None if there are none
    twins: tuple[tuple[str, str], ...] | None = None
    legend: Legend | None = None  # units and titles that readers know; None if the user gave none
    # what the user accepted as normal; None if nothing
    accepted: tuple[Acceptance, ...] | None = None

    @property
    def threshold(self) -> float:
        """Rows that score above it are anomalies."""
        return self.limit.value

    @property
    def memory(self) -> Memory | None:
        """How earlier rows count; None if every row is judged by itself."""
        return None if self.series is None else self.series.memory

    @cached_property
    def id(self) -> str:
        """A short name that depends only on what was learned: on rules and evidence.

        Another threshold, and rules that are switched off, leave it as it is.
        """
        order = {} if self.series is None else msgspec.to_builtins(self.series)
        if self.memory is not None:
            del order["memory"]["tail"]  # calibrating changes it
        learned = (self.schema.variables, self.rules, self.derived, self.evidence, order)
        return id_of(learned, 10)

    @property
    def words(self) -> Legend:
        """Units and titles; an empty legend if there are none."""
        return NO_LEGEND if self.legend is None else self.legend

    def text_of(self, rule: Rule) -> str:
        """Return what a rule says, with units, and what training had where a range is wider than that."""
        text, allowed = rule.text(self.words), rule.consequents[0]
        if not rule.may_be_wider or not isinstance(allowed, Range):
            return text
        variable = next(
            variable for variable in self.schema.variables if variable.name == allowed.variable
        )
        assert isinstance(variable, Numeric)
        if (allowed.low, allowed.high) == (variable.low, variable.high):
            return f"always {text}"
        low, high = (shorten(bound, lambda _: True) for bound in (variable.low, variable.high))
        return f"{text} ({low} to {high}{self.words.after(variable.name)} in training)"

    @property
    def doubts(self) -> tuple[str, ...]:
        """What puts the findings of the model in doubt, in plain words."""
        made, doubts = self.provenance, list[str]()
        match made.support_origin:
            case "untried":
                doubts.append("The model was learned from few rows; expect false alarms.")
            case "fewest":
                rate = next(
                    trial.rate for trial in made.trials if trial.min_support == made.min_support
                )
                doubts.append(
                    f"About {rate:.0%} of normal rows that are new to the model break a rule; expect "
                    "false alarms."
                )
        match self.limit.origin:
            case RateOfIncidents(rate=asked, n_rows=n_rows, extrapolated=True):
                doubts.append(
                    f"{asked} is rarer than {n_rows:,} held-out rows can show: the threshold is "
                    "extrapolated; expect more false alarms, or learn from more rows."
                )
        return tuple(doubts)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know about how it was learned, in sentences."""
        return tuple(map(str, (*self.schema.left_out, *self.provenance.notices)))

    @cached_property
    def active_rules(self) -> tuple[Rule, ...]:
        """The rules that score and explain."""
        off = {entry.rule_id for entry in self.disabled}
        return tuple(rule for rule in self.rules if not off or rule.id not in off)

    def summary(self, n: int) -> RuleSummary:
        """Return what is always true, in `n` statements at most, by rules that are not switched off."""
        rules = RuleSet(self.active_rules, self.rules.n_rows, self.rules.predicates)
        return rules.summary(n)

    def __repr__(self) -> str:
        return (
            f"<Model of {len(self.schema.variables):,} variables with {len(self.rules):,} rules from "
            f"{self.provenance.n_rows:,} rows, threshold {self.threshold:g}>"
        )

    def _repr_html_(self) -> str:
        notices = "".join(f"<p>{html.escape(notice)}</p>" for notice in self.notices)
        return f"<p>{html.escape(repr(self).strip('<>'))}</p>{notices}{self.rules._repr_html_()}"

    def disable(self, rule_id: str, reason: str, date: str | None = None) -> "Model":
        """Switch a rule off. More specific rules that it made redundant do not come back."""
        self.rules.find(rule_id)
        check_text("reason", reason, "say why the rule is disabled")
        others = self._disabled_without(rule_id)
        edited = sorted([*others, Disabled(rule_id, reason, date)], key=lambda entry: entry.rule_id)
        return msgspec.structs.replace(self, disabled=tuple(edited))

    def enable(self, rule_id: str) -> "Model":
        """Switch a disabled rule back on."""
        self.rules.find(rule_id)
        others = self._disabled_without(rule_id)
        if len(others) == len(self.disabled):
            raise ParameterError.of("rule_id", "be the id of a disabled rule", rule_id)
        return msgspec.structs.replace(self, disabled=tuple(others))

    def _disabled_without(self, rule_id: str) -> Sequence[Disabled]:
        return [entry for entry in self.disabled if entry.rule_id != rule_id]

    def accept(self, acceptance: Acceptance) -> "Model":
        """Return the model with one more acceptance."""
        accepted = self.accepted or ()
        if any(one.id == acceptance.id for one in accepted):
            raise ParameterError(f"This is accepted already, as {acceptance.id!r}.")
        return msgspec.structs.replace(self, accepted=(*accepted, acceptance))

    def withdraw(self, acceptance_id: str) -> "Model":
        """Return the model without an acceptance."""
        accepted = self.accepted or ()
        left = tuple(one for one in accepted if one.id != acceptance_id)
        if len(left) == len(accepted):
            ids = ", ".join(one.id for one in accepted)
            hint = f"there are {ids}." if accepted else "nothing is accepted in this model."
            raise ParameterError.of("undo", "be the id of an acceptance", acceptance_id, hint)
        return msgspec.structs.replace(self, accepted=left or None)

    def without(self, absent: Collection[str]) -> "Model":
        """Return a model that knows nothing of some variables; whatever needs them is unknown.

        A rule keeps the consequents that need none of them. What was switched off stays off, and the
        scores of other variables mean the same.
        """
        off = {entry.rule_id: entry for entry in self.disabled}
        rules, disabled = [], []
        for rule in self.rules:
            left = tuple(
                predicate for predicate in rule.consequents if not _needs(predicate, absent)
            )
            if not left or any(_needs(predicate, absent) for predicate in rule.antecedent):
                continue
            kept = rule if left == rule.consequents else Rule(rule.antecedent, left, rule.count)
            rules.append(kept)
            if off and rule.id in off:
                disabled.append(msgspec.structs.replace(off[rule.id], rule_id=kept.id))
        counted = tuple(
            counts for counts in self.rules.predicates if not _needs(counts.predicate, absent)
        )
        kept_at = [i for i, name in enumerate(self.schema.names) if name not in absent]
        series = self.series
        if series is not None and series.memory is not None:
            series = msgspec.structs.replace(series, memory=series.memory.at(kept_at))
        accepted = [one.without(absent) for one in self.accepted or ()]
        return msgspec.structs.replace(
            self,
            schema=msgspec.structs.replace(
                self.schema, variables=tuple(self.schema.variables[i] for i in kept_at)
            ),
            rules=RuleSet(tuple(sorted(rules, key=rule_order)), self.rules.n_rows, counted),
            disabled=tuple(sorted(disabled, key=lambda entry: entry.rule_id)),
            derived=tuple(name for name in self.derived if name not in absent),
            evidence=None if self.evidence is None else _reduced(self.evidence, kept_at, absent),
            series=series,
            accepted=tuple(one for one in accepted if one is not None) or None,
            twins=tuple(pair for pair in self.twins or () if not {*pair} & {*absent}) or None,
        )

    def with_threshold(self, value: float, origin: ThresholdOrigin | None = None) -> "Model":
        """Return the model with another threshold, by default one set by hand."""
        check_threshold(value)
        if value == self.threshold and origin is None:
            return self
        return msgspec.structs.replace(self, limit=Threshold(float(value), origin or ByHand()))


def _needs(predicate: Predicate, absent: Collection[str]) -> bool:
    return any(name in absent for name in variables(predicate))


def _reduced(evidence: Evidence, kept: Sequence[int], absent: Collection[str]) -> Evidence:
    place = {old: new for new, old in enumerate(kept)}
    asks = [i for i, split in enumerate(evidence.splits) if split.variable not in absent]
    number = {old: new for new, old in enumerate(asks)} | {LEAF: LEAF}
    contexts = (
        _judging(context, place, number)
        for context in evidence.contexts
        if all(node in number for node in context.tree)
    )
    return msgspec.structs.replace(
        evidence,
        spacings=tuple(spacing for spacing in evidence.spacings if spacing.variable not in absent),
        splits=tuple(evidence.splits[i] for i in asks),
        contexts=tuple(context for context in contexts if context.numbers or context.states),
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
