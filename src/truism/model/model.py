"""What was learned, how, and what has been switched off since: one immutable value.

A `Model` holds everything that scoring, explaining and reporting need; the training table is not
one of those things. Editing gives a new model.
"""

from collections.abc import Sequence
from functools import cached_property

import msgspec

from truism.errors import ParameterError
from truism.model.evidence import Evidence
from truism.model.provenance import Disabled, Provenance
from truism.model.rules import Rule, RuleSet
from truism.model.schema import Schema
from truism.model.settings import Settings, check_threshold

BY_HAND = "set by hand"  # what a threshold means that was not learned


class Model(msgspec.Struct, frozen=True, dict=True):
    """All that was learned from one training table.

    Parameters
    ----------
    schema
        The variables.
    rules
        Every rule, disabled ones included.
    settings
        How it was learned.
    provenance
        From what.
    threshold
        Rows that score above it are anomalies.
    disabled
        Rules switched off.
    derived
        Variables whose change since the previous row, ``ΔX``, is a variable too.
    threshold_meaning
        Why the threshold is what it is, in words.
    evidence
        What is usual beyond the rules; there when the scoring is ``"evidence"``.

    """

    schema: Schema
    rules: RuleSet
    settings: Settings
    provenance: Provenance
    threshold: float = 0.0
    disabled: tuple[Disabled, ...] = ()
    derived: tuple[str, ...] = ()
    threshold_meaning: str = ""
    evidence: Evidence | None = None

    @cached_property
    def active_rules(self) -> tuple[Rule, ...]:
        """The rules that score and explain."""
        off = {each.rule_id for each in self.disabled}
        return tuple(rule for rule in self.rules if not off or rule.id not in off)

    def disable(self, rule_id: str, reason: str, date: str | None = None) -> "Model":
        """Switch a rule off. More specific rules that it made redundant do not come back.

        Parameters
        ----------
        rule_id
            The rule's id.
        reason
            Why, for whoever reads the model later; must not be empty.
        date
            When, as ISO text.

        Returns
        -------
        Model

        """
        self.rules.find(rule_id)
        if not isinstance(reason, str) or not reason.strip():
            raise ParameterError(f"reason must say why the rule is disabled, got {reason!r}.")
        others = self._disabled_without(rule_id)
        edited = sorted([*others, Disabled(rule_id, reason, date)], key=lambda each: each.rule_id)
        return msgspec.structs.replace(self, disabled=tuple(edited))

    def enable(self, rule_id: str) -> "Model":
        """Switch a disabled rule on again."""
        self.rules.find(rule_id)
        others = self._disabled_without(rule_id)
        if len(others) == len(self.disabled):
            raise ParameterError(f"rule_id must be the id of a disabled rule, got {rule_id!r}.")
        return msgspec.structs.replace(self, disabled=tuple(others))

    def _disabled_without(self, rule_id: str) -> Sequence[Disabled]:
        return [each for each in self.disabled if each.rule_id != rule_id]

    def with_threshold(self, threshold: float, meaning: str = BY_HAND) -> "Model":
        """Report other rows: those that score above another threshold."""
        check_threshold(threshold)
        if threshold == self.threshold and meaning == BY_HAND:
            return self
        return msgspec.structs.replace(self, threshold=float(threshold), threshold_meaning=meaning)
