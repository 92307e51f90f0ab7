"""What was learned, how, and what has been switched off since: one immutable value.

A `Model` holds everything that scoring, explaining and reporting need; they do not need the training
table. Editing returns a new model.
"""

import html
from collections.abc import Sequence
from functools import cached_property

import msgspec

from truism.errors import ParameterError
from truism.model.acceptances import Acceptance, check_text
from truism.model.evidence import Evidence
from truism.model.ids import id_of
from truism.model.legend import NO_LEGEND, Legend
from truism.model.origins import AnyBrokenRule, ByHand, Threshold, ThresholdOrigin
from truism.model.predicates import Range
from truism.model.provenance import Disabled, Provenance
from truism.model.rules import Rule, RuleSet
from truism.model.schema import Numeric, Schema
from truism.model.series import Memory, Series
from truism.model.settings import Settings, check_threshold
from truism.model.wording import shorten
from truism.table.layouts import Reading


class Model(msgspec.Struct, frozen=True, dict=True):
    """Everything that was learned from one training table.

    Parameters
    ----------
    schema
        The variables.
    rules
        Every rule, disabled ones included.
    settings
        How it was learned.
    provenance
        When and from what it was learned.
    limit
        The threshold, and why it is what it is.
    disabled
        Rules switched off.
    derived
        Columns whose change since the previous row, ``ΔX``, is a variable; meters, of which only
        the change counts, are not variables themselves.
    evidence
        What is usual beyond the rules; None unless the scoring is ``"evidence"``.
    series
        What is known about the order of rows; None if rows are exchangeable.
    reading
        How the training table was read, so that later tables are read alike; None if unknown.
    twins
        Pairs of numbers that move together, closest first; None if there are none.
    legend
        Units and titles that readers know; None if the user gave none.
    accepted
        What the user accepted as normal; None if nothing.

    """

    schema: Schema
    rules: RuleSet
    settings: Settings
    provenance: Provenance
    limit: Threshold = Threshold(0.0, AnyBrokenRule())
    disabled: tuple[Disabled, ...] = ()
    derived: tuple[str, ...] = ()
    evidence: Evidence | None = None
    series: Series | None = None
    reading: Reading | None = None
    twins: tuple[tuple[str, str], ...] | None = None
    legend: Legend | None = None
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
        variable = next(each for each in self.schema.variables if each.name == allowed.variable)
        assert isinstance(variable, Numeric)
        if (allowed.low, allowed.high) == (variable.low, variable.high):
            return f"always {text}"
        low, high = (shorten(each, lambda _: True) for each in (variable.low, variable.high))
        return f"{text} ({low} to {high}{self.words.after(variable.name)} in training)"

    @property
    def doubts(self) -> tuple[str, ...]:
        """What puts the findings of the model in doubt, in plain words."""
        made = self.provenance
        match made.support_origin:
            case "untried":
                return ("The model was learned from few rows; expect false alarms.",)
            case "fewest":
                rate = next(
                    each.rate for each in made.trials if each.min_support == made.min_support
                )
                return (
                    f"About {rate:.0%} of normal rows that are new to the model break a rule; expect "
                    "false alarms.",
                )
        return ()

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know about how it was learned, in sentences."""
        return tuple(map(str, (*self.schema.left_out, *self.provenance.notices)))

    @cached_property
    def active_rules(self) -> tuple[Rule, ...]:
        """The rules that score and explain."""
        off = {each.rule_id for each in self.disabled}
        return tuple(rule for rule in self.rules if not off or rule.id not in off)

    def __repr__(self) -> str:
        return (
            f"<Model of {len(self.schema.variables):,} variables with {len(self.rules):,} rules from "
            f"{self.provenance.n_rows:,} rows, threshold {self.threshold:g}>"
        )

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{html.escape(each)}</p>" for each in self.notices)
        return f"<p>{html.escape(repr(self).strip('<>'))}</p>{said}{self.rules._repr_html_()}"

    def disable(self, rule_id: str, reason: str, date: str | None = None) -> "Model":
        """Switch a rule off. More specific rules that it made redundant do not come back.

        Parameters
        ----------
        rule_id
            The rule's id.
        reason
            Why, for those who read the model later; must not be empty.
        date
            When, as ISO text.

        Returns
        -------
        Model

        """
        self.rules.find(rule_id)
        check_text("reason", reason, "say why the rule is disabled")
        others = self._disabled_without(rule_id)
        edited = sorted([*others, Disabled(rule_id, reason, date)], key=lambda each: each.rule_id)
        return msgspec.structs.replace(self, disabled=tuple(edited))

    def enable(self, rule_id: str) -> "Model":
        """Switch a disabled rule back on."""
        self.rules.find(rule_id)
        others = self._disabled_without(rule_id)
        if len(others) == len(self.disabled):
            raise ParameterError.of("rule_id", "be the id of a disabled rule", rule_id)
        return msgspec.structs.replace(self, disabled=tuple(others))

    def _disabled_without(self, rule_id: str) -> Sequence[Disabled]:
        return [each for each in self.disabled if each.rule_id != rule_id]

    def accept(self, acceptance: Acceptance) -> "Model":
        """Return the model with one more acceptance."""
        known = self.accepted or ()
        if any(each.id == acceptance.id for each in known):
            raise ParameterError(f"The same is accepted already, as {acceptance.id!r}.")
        return msgspec.structs.replace(self, accepted=(*known, acceptance))

    def withdraw(self, acceptance_id: str) -> "Model":
        """Return the model without an acceptance."""
        known = self.accepted or ()
        left = tuple(each for each in known if each.id != acceptance_id)
        if len(left) == len(known):
            ids = ", ".join(each.id for each in known)
            hint = f"there are {ids}." if known else "nothing is accepted in this model."
            raise ParameterError.of("undo", "be the id of an acceptance", acceptance_id, hint)
        return msgspec.structs.replace(self, accepted=left or None)

    def with_threshold(self, value: float, origin: ThresholdOrigin | None = None) -> "Model":
        """Return the model with another threshold, by default one set by hand."""
        check_threshold(value)
        if value == self.threshold and origin is None:
            return self
        return msgspec.structs.replace(self, limit=Threshold(float(value), origin or ByHand()))
