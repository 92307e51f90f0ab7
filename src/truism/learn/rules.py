"""The rules of a table at a given θ: mined rules, and rules about each variable alone.

How often predicates hold are counts that add up over parts of a table. Consecutive rows that fail a
predicate form one episode, which may continue from one part into the next, so the counts remember how
each part begins and ends.
"""

import functools
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Counts
from truism.learn.kinds import variable_columns
from truism.learn.mining import Budget, Mined, UnitRule, mine, minimum_counts, variable_numbers
from truism.model.predicates import OneOf, Predicate, Present, Range, order
from truism.model.rules import PredicateCount, Rule, RuleSet, rule_order
from truism.model.schema import Categorical, Schema
from truism.model.settings import Settings, exact
from truism.score.truths import Truths, Words, count, count_runs
from truism.table.columns import Column, Table
from truism.work import Progress

SIGMAS = 5.0  # standard deviations of chance by which a sample may undercount a frequent rule


class PredicateCounts(msgspec.Struct, frozen=True, eq=False):
    """Counts of predicates in consecutive rows: rows that hold, rows that fail, runs of these.

    Whether a predicate fails in the first and in the last row tells where a run goes on.
    """

    n_rows: int
    n_true: NDArray[np.int64]
    n_false: NDArray[np.int64]
    n_episodes: NDArray[np.int64]
    fails_first: NDArray[np.bool_]
    fails_last: NDArray[np.bool_]

    def __add__(self, other: "PredicateCounts") -> "PredicateCounts":
        """Return the counts of these rows followed by other rows."""
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        return PredicateCounts(
            self.n_rows + other.n_rows,
            self.n_true + other.n_true,
            self.n_false + other.n_false,
            self.n_episodes + other.n_episodes - (self.fails_last & other.fails_first),
            self.fails_first,
            other.fails_last,
        )


def count_predicates(true: Words, false: Words, n_rows: int) -> PredicateCounts:
    """Count in packed truth vectors, predicates × words."""
    none = np.zeros(len(true), np.bool_)
    first, last = none, none
    if n_rows:
        word, bit = divmod(n_rows - 1, 64)
        first = (false[:, 0] & np.uint64(1)).astype(np.bool_)
        last = (false[:, word] >> np.uint64(bit) & np.uint64(1)).astype(np.bool_)
    return PredicateCounts(n_rows, count(true), count(false), count_runs(false), first, last)


class MinedRules(msgspec.Struct, frozen=True):
    """The rules at one θ, and the antecedent length up to which they are complete."""

    rules: RuleSet
    min_support: Fraction
    complete_to: int


class Search:
    """The search for rules among predicates (KDD'23, section 4.2), in all rows or in a sample."""

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[Column],
        predicates: Sequence[Predicate],
        settings: Settings,
        min_support: Fraction,
        n_jobs: int,
        progress: Progress,
        n_rows: int | None = None,
    ) -> None:
        self.schema, self.predicates, self.settings = schema, predicates, settings
        self.min_support, self.n_jobs, self.progress = min_support, n_jobs, progress
        self.n_sampled = len(columns[0].values)
        self.n_rows = self.n_sampled if n_rows is None else n_rows
        self.true, self.false = Truths(schema, predicates).evaluate_all(columns)
        self.counts = count_predicates(self.true, self.false, self.n_sampled)

    def propose(self, refuting: Table | None = None) -> Mined:
        """Find the rules that no row breaks, and none of the refuting ones."""
        true, false, settings = self.true, self.false, self.settings
        if refuting is not None:
            columns = variable_columns(self.schema, refuting)
            others = Truths(self.schema, self.predicates).evaluate_all(columns)
            true, false = (
                np.concatenate(both, axis=1) for both in zip((true, false), others, strict=True)
            )
        return mine(
            true,
            false,
            variable_numbers(self.predicates),
            self._least_in_sample,
            max_predicates=settings.longest,
            budget=Budget(settings.max_nodes, settings.max_rules, settings.max_seconds),
            n_jobs=self.n_jobs,
            advance=functools.partial(self.progress, "mining"),
            counted=self.true.shape[1],
        )

    def least(self, counts: Sequence[int], n_rows: int) -> Counts:
        """Return the least count of a rule with each predicate."""
        return minimum_counts(counts, n_rows, self.min_support, exact(self.settings.ratio))

    def _least_in_sample(self, counts: Sequence[int]) -> Counts:
        """Return the least count in the sample of a rule that may be frequent enough in all rows."""
        exactly = self.least(counts, self.n_sampled)
        if self.n_sampled == self.n_rows:
            return exactly
        chance = np.ceil(SIGMAS * np.sqrt(exactly)).astype(np.int64)
        least: Counts = np.maximum(exactly - chance, 1)
        return least

    def in_sample(self, mined: Mined) -> MinedRules:
        """Return how often predicates hold in the sample, which is what held-out rows are judged by."""
        rules = RuleSet((), self.n_sampled, _listed(self.predicates, self.counts))
        return MinedRules(rules, self.min_support, mined.complete_to)

    def conclude(self, mined: Mined, counts: PredicateCounts | None = None) -> MinedRules:
        """Return what was mined as rules, with those about single variables.

        Predicates hold as often as is given, or in the rows that were searched.
        """
        counts = self.counts if counts is None else counts
        # Rules without an antecedent come first in the canonical order.
        rules = (
            *univariate_rules(self.schema, counts.n_rows),
            *merge_units(mined.rules, self.predicates),
        )
        ruleset = RuleSet(rules, counts.n_rows, _listed(self.predicates, counts))
        return MinedRules(ruleset, self.min_support, mined.complete_to)


def _listed(predicates: Sequence[Predicate], counts: PredicateCounts) -> tuple[PredicateCount, ...]:
    """Return counts of predicates as values to keep."""
    numbers = (counts.n_true, counts.n_false, counts.n_episodes)
    listed = zip(predicates, *(each.tolist() for each in numbers), strict=True)
    return tuple(PredicateCount(*each) for each in listed)


def merge_units(units: Iterable[UnitRule], predicates: Sequence[Predicate]) -> list[Rule]:
    """Merge unit rules with the same antecedent and count into one rule, in canonical order."""
    arranged = sorted(range(len(predicates)), key=lambda i: order(predicates[i]))
    rank_of = {position: rank for rank, position in enumerate(arranged)}
    ranked = [predicates[position] for position in arranged]
    together: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for unit in units:
        antecedent = tuple(sorted(rank_of[i] for i in unit.antecedent))
        together.setdefault((antecedent, unit.count), []).append(rank_of[unit.consequent])
    # By ranks, which give the same order as `rule_order` and are faster to compare.
    merged = sorted(
        (len(antecedent), antecedent, sorted(consequents), count)
        for (antecedent, count), consequents in together.items()
    )
    return [
        Rule(tuple(ranked[i] for i in antecedent), tuple(ranked[i] for i in consequents), count)
        for _, antecedent, consequents, count in merged
    ]


def univariate_rules(schema: Schema, n_rows: int) -> list[Rule]:
    """Return what is always true of each variable alone (KDD'23, section 4.3).

    A variable that was never missing also has the rule that it is present.
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
