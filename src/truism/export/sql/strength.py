"""Which rules a statement holds: a model comes in, its strongest rules go out.

A rule is as strong as what it is worth as evidence when it is broken (`truism.score.rules`), whatever
the form of the statement. Rules about one variable alone are few and short, and are always written.
"""

import functools
from collections.abc import Iterator

import msgspec
import numpy as np

from truism.model.model import Model
from truism.model.predicates import Predicate
from truism.model.rules import Rule
from truism.score.rules import expected_exceptions, rule_worth


class Ranked(msgspec.Struct, frozen=True, dict=True, eq=False):
    """A rule with a condition, and what each of its consequents is worth when a row fails it."""

    rule: Rule
    worths: tuple[float, ...]

    @functools.cached_property
    def words(self) -> str:
        """What the rule says."""
        return describe(self.rule)


class Selection(msgspec.Struct, frozen=True):
    """The rules of a statement."""

    univariate: tuple[Rule, ...]  # the rules about one variable alone, in the model's order
    ranked: tuple[Ranked, ...]  # the other rules, the strongest first
    n_all: int  # how many others there are

    @property
    def n_rules(self) -> int:
        """How many rules with a condition it holds."""
        return len(self.ranked)

    def first(self, n: int) -> "Selection":
        """Return the selection with at most so many rules, the strongest."""
        return Selection(self.univariate, self.ranked[:n], self.n_all)

    def uses(self) -> Iterator[Predicate]:
        """Return every predicate of the rules, as often as it is there."""
        for each in self.ranked:
            yield from (*each.rule.antecedent, *each.rule.consequents)


def strongest(model: Model) -> Selection:
    """Return the active rules of a model, the strongest first."""
    mined = [rule for rule in model.active_rules if rule.antecedent]
    univariate = tuple(rule for rule in model.active_rules if not rule.antecedent)
    counts_of = {
        each.predicate: (each.n_true + each.n_false, each.n_false, each.n_episodes)
        for each in model.rules.predicates
    }
    pairs = [(rule, failed) for rule in mined for failed in rule.consequents]
    counts = np.array([rule.count for rule, _ in pairs], np.float64)
    known = np.array([counts_of[failed] for _, failed in pairs], np.int64).reshape(-1, 3)
    worths = iter(rule_worth(expected_exceptions(counts, *known.T)).tolist())
    ranked = [Ranked(rule, tuple(next(worths) for _ in rule.consequents)) for rule in mined]
    ranked.sort(key=lambda each: -max(each.worths))
    return Selection(univariate, tuple(ranked), len(ranked))


def describe(rule: Rule) -> str:
    """Say what a rule says, with its id and the training rows in which it holds."""
    return f"{rule} [{rule.id}, {rule.count:,} rows]"
