"""Rules and sets of rules: what is always true, as values that print as text.

A `Rule` has no exception by construction, so it has a count and no confidence. Unit rules with
the same antecedent and the same count are shown as one rule with several consequents; rules with an
empty antecedent are the univariate ones (KDD'23, section 4.3).
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

import msgspec

from truism.errors import ParameterError, shorten
from truism.model.predicates import Predicate, Range, conjunction, order, variables
from truism.model.schema import Count, Positive, id_of, require
from truism.model.wording import NO_LEGEND, Legend

if TYPE_CHECKING:
    from truism.model.summary import RuleSummary

Order = Literal["chance", "support", "length", "id"]


class Rule(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """Whenever all of the antecedent holds, so does each consequent; no training row disagrees."""

    # what must hold for the rule to apply; empty for a univariate rule
    antecedent: tuple[Predicate, ...]
    consequents: tuple[Predicate, ...]  # what then holds
    count: Count  # training rows in which antecedent and consequent hold together

    @property
    def id(self) -> str:
        """A short name that depends only on what the rule says."""
        return id_of((self.antecedent, self.consequents))

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable that the rule is about, once."""
        both = (*self.antecedent, *self.consequents)
        return tuple(dict.fromkeys(name for predicate in both for name in variables(predicate)))

    @property
    def length(self) -> int:
        """The number of predicates in the rule."""
        return len(self.antecedent) + len(self.consequents)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists: what it says as text and as values, and its numbers.

        >>> from truism.model.predicates import Interval, OneOf
        >>> Rule((OneOf("P1", ("on",)),), (Interval("F1", low=2.0),), 50).to_dict()["if"]
        [{'type': 'one_of', 'variable': 'P1', 'values': ['on']}]
        """
        return {
            "id": self.id,
            "rule": str(self),
            "if": msgspec.json.decode(msgspec.json.encode(self.antecedent)),
            "then": msgspec.json.decode(msgspec.json.encode(self.consequents)),
            "variables": list(self.variables),
            "length": self.length,
            "count": self.count,
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, legend: Legend = NO_LEGEND) -> str:
        """Return what it says, with units where they are known."""
        then = conjunction(self.consequents, legend.after_predicate)
        if not self.antecedent:
            return then if self.may_be_wider else f"always {then}"
        return f"{conjunction(self.antecedent, legend.after_predicate)} ⇒ {then}"

    @property
    def may_be_wider(self) -> bool:
        """Whether it allows a range of numbers, which may be wider than what training had."""
        only = self.consequents[0]
        return not self.antecedent and isinstance(only, Range) and only.low < only.high

    def __repr__(self) -> str:
        return f"<Rule {self.id}: {self}, {self.count:,} rows>"


class PredicateCount(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """In how many training rows a predicate is true, and in how many it is false.

    Consecutive rows that fail it form one of the `n_episodes`.
    """

    predicate: Predicate
    n_true: Positive
    n_false: Count
    n_episodes: Count

    def __post_init__(self) -> None:
        right = min(self.n_false, 1) <= self.n_episodes <= self.n_false
        require(right, "counts are out of range")


class RuleSet(msgspec.Struct, frozen=True, dict=True, forbid_unknown_fields=True):
    """Rules in canonical order, with the counts that give each rule its chance.

    It is a sequence: ``len``, indexing, iterating and ``in`` work as on a tuple.
    """

    rules: tuple[Rule, ...]
    n_rows: int
    predicates: tuple[PredicateCount, ...] = ()

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, position: int) -> Rule: ...
    @overload
    def __getitem__(self, position: slice) -> "RuleSet": ...
    def __getitem__(self, position: int | slice) -> "Rule | RuleSet":
        if isinstance(position, slice):
            return self._with(self.rules[position])
        return self.rules[position]

    def _with(self, rules: Iterable[Rule]) -> "RuleSet":
        return RuleSet(tuple(rules), self.n_rows, self.predicates).in_frames_of(self.library)

    @property
    def library(self) -> str | None:
        """The library of the frame that `to_frame` returns; it is no part of the value."""
        return self.__dict__.get("_library")

    def in_frames_of(self, library: str | None) -> "RuleSet":
        """Return the same rules with another library for their frames."""
        same = RuleSet(self.rules, self.n_rows, self.predicates)
        same.__dict__["_library"] = library
        return same

    def about(self, variable: str) -> "RuleSet":
        """Return the rules about a variable."""
        return self._with(rule for rule in self.rules if variable in rule.variables)

    def containing(self, text: str) -> "RuleSet":
        """Return the rules that contain a text, ignoring case."""
        wanted = text.casefold()
        return self._with(rule for rule in self.rules if wanted in str(rule).casefold())

    def find(self, rule_id: str) -> Rule:
        """Return the rule with an id."""
        for rule in self.rules:
            if rule.id == rule_id:
                return rule
        ids = [rule.id for rule in self.rules[:3]]
        raise ParameterError.of(
            "rule_id",
            "be the id of a rule of the model",
            rule_id,
            f"ids look like {shorten(ids)}; list them with rules_.to_frame()." if ids else None,
        )

    def sorted_by(self, key: Order = "chance") -> "RuleSet":
        """Return the rules sorted: least likely by chance first, largest support, shortest, or by id."""
        log_chance = self.log_chances()
        keys: dict[str, Any] = {
            "chance": lambda rule: (log_chance(rule), rule.length),
            "support": lambda rule: (-self.support_of(rule), rule.length),
            "length": lambda rule: (rule.length, log_chance(rule)),
            "id": lambda rule: rule.id,
        }
        if key not in keys:
            raise ParameterError.of("sort", f"be one of {shorten(list(keys))}", key)
        return self._with(sorted(self.rules, key=keys[key]))

    def support_of(self, rule: Rule) -> float:
        """Return the share of training rows in which a rule holds, by which the paper's score weighs it.

        Deviation: a univariate rule, which says nothing of rows without its variable, has support 1.
        """
        return rule.count / self.n_rows if rule.antecedent else 1.0

    def log_chances(self) -> "LogChances":
        """Return the function from a rule to the natural logarithm of its chance."""
        return LogChances(
            {counted.predicate: (counted.n_true, counted.n_false) for counted in self.predicates}
        )

    def summary(self, n: int = 20) -> "RuleSummary":
        """Return the rules worth showing to a colleague, as statements that say different things.

        Rules about neighbouring intervals are joined, what follows from others is left out, and cut-offs
        are rounded so that each statement stays true; each names the rules behind it.
        """
        from truism.model.summary import summarise  # which is about sets of rules

        return summarise(self, n)

    def to_frame(self) -> Any:
        """Return the rules as a dataframe: id, rule, length, count, support, log_chance, variables.

        The rules of a detector return a frame of the library that it was fitted with.
        """
        from truism.table.frames import to_frame  # values need no dataframes

        log_chance = self.log_chances()
        return to_frame(
            {
                "id": [rule.id for rule in self.rules],
                "rule": [str(rule) for rule in self.rules],
                "length": [rule.length for rule in self.rules],
                "count": [rule.count for rule in self.rules],
                "support": [self.support_of(rule) for rule in self.rules],
                "log_chance": [log_chance(rule) for rule in self.rules],
                "variables": [", ".join(rule.variables) for rule in self.rules],
            },
            self.library,
        )

    def __repr__(self) -> str:
        return f"<RuleSet of {len(self):,} rules from {self.n_rows:,} rows>"

    def __str__(self) -> str:
        return f"{len(self):,} rules\n{self.summary()}"

    def _repr_html_(self) -> str:
        return (
            f"<p>{len(self):,} rules from {self.n_rows:,} rows; <code>to_frame()</code> gives all</p>"
            f"{self.summary()._repr_html_()}"
        )


class LogChances:
    """How likely a rule is by chance: (count(p)/n)^count(A), as a logarithm.

    It is the probability of seeing no exception in the rows that satisfy the antecedent, if the
    consequent were no more certain there than anywhere else. If there are several consequents, the
    least likely one counts. Rows in which the consequent is missing are no evidence. A univariate
    rule claims nothing beyond what was seen, and has chance 1.
    """

    def __init__(self, counts_of: Mapping[Predicate, tuple[int, int]]) -> None:
        self.counts_of = counts_of

    def __call__(self, rule: Rule) -> float:
        """Return the natural logarithm of a rule's chance."""
        if not rule.antecedent:
            return 0.0
        return min(rule.count * self.log_certainty(predicate) for predicate in rule.consequents)

    def log_certainty(self, predicate: Predicate) -> float:
        """Return the natural logarithm of the share of rows in which a predicate is true."""
        n_true, n_false = self.counts_of[predicate]
        return math.log(n_true / (n_true + n_false))


def rule_order(rule: Rule) -> tuple[Any, ...]:
    """Return the key of the canonical order: by length of the antecedent, then by content."""
    return (
        len(rule.antecedent),
        [order(predicate) for predicate in rule.antecedent],
        [order(predicate) for predicate in rule.consequents],
    )
