"""What was learned, how, and what has been switched off since: one immutable value.

A `Model` holds everything that scoring, explaining and reporting need; the training table is not
one of those things. Editing gives a new model.
"""

import math
import numbers
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import msgspec

from truism.candidates import Cutoffs
from truism.errors import ParameterError
from truism.evidence import Evidence
from truism.mining import MAX_NODES, MAX_RULES
from truism.rules import Rule, RuleSet
from truism.schema import Schema

Scoring = Literal["evidence", "paper"]
SCORINGS: tuple[Scoring, ...] = ("evidence", "paper")
LONGEST: dict[Scoring, int] = {"evidence": 3, "paper": 5}
SUPPORT_RATIOS: dict[Scoring, float] = {"evidence": 0.1, "paper": 0.7}
BY_HAND = "set by hand"  # what a threshold means that was not learned
CUTOFFS: tuple[Cutoffs, ...] = ("tree", "uniform", "kmeans")


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to learn.

    Parameters
    ----------
    min_support
        θ: every rule holds in more than this part of the rows; ``"auto"`` chooses it (see
        `truism.tuning`).
    support_ratio
        γ: and in more than this part of the rows of its rarest predicate; ``"auto"`` is 0.7 for
        the paper's scoring, as there, and 0.1 for evidence, which weighs a rule by its support.
    max_predicates
        The longest unit rule; ``"auto"`` is 5 for the paper's scoring, and 3 for evidence, whose
        contexts see to what takes more conditions.
    cutoffs
        Where cut-offs of continuous variables come from: ``"tree"``, ``"uniform"``, ``"kmeans"``.
    scoring
        How a row becomes a score: ``"evidence"`` weighs broken rules, values that are unusual when
        others are as they are, and rare values; ``"paper"`` sums broken rules as the paper does.
    categorical, continuous, ignore, time
        Columns whose kind is not to be inferred.
    random_state
        Seed of the split that chooses θ, and of the choice of variables for each context.
    max_nodes, max_rules, max_seconds
        The search budget; see `truism.mining.Budget`.

    """

    min_support: float | Literal["auto"] = "auto"
    support_ratio: float | Literal["auto"] = "auto"
    max_predicates: int | Literal["auto"] = "auto"
    cutoffs: Cutoffs = "tree"
    scoring: Scoring = "evidence"
    categorical: tuple[str, ...] = ()
    continuous: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    time: str | None = None
    random_state: int = 0
    max_nodes: int = MAX_NODES
    max_rules: int = MAX_RULES
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.min_support != "auto":
            _check_number("min_support", self.min_support, "'auto' or above 0 and below 1")
            if not 0.0 < self.min_support < 1.0:
                raise _out_of_range(
                    "min_support", "'auto' or above 0 and below 1", self.min_support
                )
        if self.support_ratio != "auto":
            constraint = "'auto' or at least 0 and below 1"
            _check_number("support_ratio", self.support_ratio, constraint)
            if not 0.0 <= self.support_ratio < 1.0:
                raise _out_of_range("support_ratio", constraint, self.support_ratio)
        for name, least in (
            ("max_predicates", 2),
            ("random_state", 0),
            ("max_nodes", 1),
            ("max_rules", 1),
        ):
            value = getattr(self, name)
            if value == "auto" and name == "max_predicates":
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise _out_of_range(name, f"a whole number of at least {least}", value)
        if self.max_predicates != "auto" and self.max_predicates > 16:
            raise _out_of_range("max_predicates", "at most 16", self.max_predicates)
        if self.max_seconds is not None:
            _check_number("max_seconds", self.max_seconds, "None or finite and above 0")
            if not 0 < self.max_seconds < math.inf:
                raise _out_of_range("max_seconds", "None or finite and above 0", self.max_seconds)
        for name, allowed in (("cutoffs", CUTOFFS), ("scoring", SCORINGS)):
            value = getattr(self, name)
            if value not in allowed:
                choices = " or ".join(repr(each) for each in allowed)
                raise _out_of_range(name, choices, value)

    @property
    def longest(self) -> int:
        """The longest unit rule: what was asked for, or what suits the scoring."""
        return LONGEST[self.scoring] if self.max_predicates == "auto" else self.max_predicates

    @property
    def ratio(self) -> float:
        """γ: what was asked for, or what suits the scoring."""
        return SUPPORT_RATIOS[self.scoring] if self.support_ratio == "auto" else self.support_ratio


def exact(value: float) -> Fraction:
    """Take a float as the decimal it prints as: 0.29 of 100 rows are 29, not 28.999….

    >>> exact(0.29) * 100
    Fraction(29, 1)
    """
    return Fraction(repr(float(value)))


def _check_number(name: str, value: Any, constraint: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _out_of_range(name, constraint, value)


def _out_of_range(name: str, constraint: str, value: Any) -> ParameterError:
    return ParameterError(f"{name} must be {constraint}, got {value!r}.")


def check_threshold(threshold: Any) -> None:
    """Refuse what no score can be compared with."""
    number = isinstance(threshold, numbers.Real) and not isinstance(threshold, bool)
    if not number or not 0 <= threshold < math.inf:
        raise _out_of_range("threshold", "a finite number of at least 0", threshold)


class Trial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One value of θ that was tried, and how many held-out rows broke a mined rule.

    Parameters
    ----------
    min_support
        The value.
    n_broken, n_held_out
        Held-out rows that broke a mined rule, and all of them.
    complete_to
        The antecedent length up to which the budget allowed to mine; at 0 nothing was mined, and
        the trial says nothing.
    """

    min_support: float
    n_broken: int
    n_held_out: int
    complete_to: int

    @property
    def rate(self) -> float:
        """The false-positive rate."""
        return self.n_broken / self.n_held_out


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a model comes from.

    Parameters
    ----------
    version
        The truism that learned it.
    n_rows, n_columns
        The training table's size.
    fingerprint
        A digest of the training values.
    min_support
        The θ that was used.
    complete_to
        All kept rules with up to this many predicates in the antecedent are there.
    trials
        What was tried to choose θ.
    notices
        What the user should know, in sentences.
    created
        When, as ISO text; given by whoever asked for the model.
    columns
        The training table's columns in its order, left out ones and the time axis included.

    """

    version: str
    n_rows: int
    n_columns: int
    fingerprint: str
    min_support: float
    complete_to: int
    trials: tuple[Trial, ...] = ()
    notices: tuple[str, ...] = ()
    created: str | None = None
    columns: tuple[str, ...] = ()


class Disabled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule that neither scores nor explains, and why."""

    rule_id: str
    reason: str
    date: str | None = None


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
