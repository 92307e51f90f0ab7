"""The rules of a table: the choice of θ, mined rules, and rules about each variable alone.

Evidence scoring uses a fixed share of the rows as θ. The paper's scoring (KDD'23, section 6.1) uses the
smallest θ for which fewer than 1 % of the held-out rows break a rule; all values of the grid share one
binning, and every tree is grown only once.

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
from truism.learn.predicates import find_predicates
from truism.model.predicates import OneOf, Predicate, Present, Range, order
from truism.model.provenance import EVIDENCE_ROWS, MAX_RATE, SupportOrigin, Trial
from truism.model.rules import PredicateCount, Rule, RuleSet, rule_order
from truism.model.schema import Categorical, Schema
from truism.model.settings import Settings, exact
from truism.score.rules import breaks_any
from truism.score.truths import Truths, Words, count, count_runs
from truism.table.columns import Column, Table
from truism.table.notices import Notice
from truism.work import Progress, be_silent

GRID = (0.32, 0.16, 0.08, 0.04, 0.02, 0.01, 0.005, 0.002)
MIN_ROWS = 10  # a θ of fewer rows than this is not tried
HELD_OUT = Fraction(1, 5)
EVIDENCE_SUPPORT = 0.01  # evidence weighs broken rules, so θ matters little
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
        self.schema, self.columns, self.predicates, self.settings = (
            schema,
            columns,
            predicates,
            settings,
        )
        self.min_support, self.n_jobs, self.progress = min_support, n_jobs, progress
        self.n_sampled = len(columns[0].values)
        self.n_rows = self.n_sampled if n_rows is None else n_rows
        self.true, self.false = Truths(schema, predicates).evaluate_all(columns)
        self.counts = count_predicates(self.true, self.false, self.n_sampled)

    @classmethod
    def in_table(
        cls,
        table: Table,
        schema: Schema,
        settings: Settings,
        min_support: Fraction,
        n_jobs: int,
        progress: Progress,
        n_rows: int | None = None,
    ) -> "Search":
        """Find the predicates worth mining in a table, which may be a sample of more rows."""
        columns = variable_columns(schema, table)
        (predicates,) = find_predicates(
            schema, columns, settings.cutoffs, [min_support], n_jobs, progress
        )
        return cls(schema, columns, predicates, settings, min_support, n_jobs, progress, n_rows)

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
            budget=Budget(settings.max_nodes, settings.max_rules),
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


class Support(msgspec.Struct, frozen=True):
    """A θ, why it was chosen, what was tried, and what the user should know about that."""

    value: float
    origin: SupportOrigin
    trials: tuple[Trial, ...] = ()
    notices: tuple[Notice, ...] = ()


def choose_support(
    table: Table, schema: Schema, settings: Settings, n_jobs: int, progress: Progress
) -> Support:
    """Return the θ to learn with: as set, or what suits the rows."""
    if settings.min_support != "auto":
        return Support(settings.min_support, "asked")
    if settings.scoring == "evidence":
        return usual_support(table.n_rows)
    return best_trial(try_grid(table, schema, settings, n_jobs, progress))


def usual_support(n_rows: int) -> Support:
    """Return θ for evidence scoring: 1 % of the rows, or what a rule of at least 12 rows exceeds.

    A rule holds in *more* than θ of the rows, so θ lies halfway between 11 and 12 of them: rounded to
    three digits it is still between the two, whereas 12 / n might be rounded to either side of 12 rows.

    >>> usual_support(100).value, usual_support(5000).value
    (0.115, 0.01)
    """
    dozen = float(f"{(EVIDENCE_ROWS - 0.5) / n_rows:.3g}")
    if dozen <= EVIDENCE_SUPPORT:
        return Support(EVIDENCE_SUPPORT, "share")
    return Support(dozen, "rows") if dozen < GRID[0] else Support(GRID[0], "most")


def try_grid(
    table: Table, schema: Schema, settings: Settings, n_jobs: int, progress: Progress
) -> tuple[Trial, ...]:
    """Count how many held-out rows break a mined rule, for each θ of the grid."""
    grid = [each for each in GRID if exact(each) * table.n_rows >= MIN_ROWS]
    if not grid:
        return ()
    shuffled = np.random.default_rng(settings.random_state).permutation(table.n_rows)
    n_held_out = max(1, int(HELD_OUT * table.n_rows))
    held_out = variable_columns(schema, table.take(np.sort(shuffled[:n_held_out])))
    kept = variable_columns(schema, table.take(np.sort(shuffled[n_held_out:])))
    min_supports = [exact(each) for each in grid]
    progress("choosing θ", 0, len(grid))
    found = find_predicates(schema, kept, settings.cutoffs, min_supports, n_jobs, progress)
    trials = []
    for done, (each, predicates) in enumerate(zip(grid, found, strict=True), 1):
        search = Search(schema, kept, predicates, settings, exact(each), n_jobs, be_silent)
        mined = search.conclude(search.propose())
        n_broken = int(breaks_any(schema, mined.rules, held_out, n_jobs).sum())
        trials.append(Trial(each, n_broken, n_held_out, mined.complete_to))
        progress("choosing θ", done, len(grid))
    return tuple(trials)


def best_trial(trials: tuple[Trial, ...]) -> Support:
    """Choose θ, with a notice if no value keeps the rate below 1 %.

    >>> tried = (Trial(0.02, 0, 100, 4), Trial(0.01, 0, 100, 4), Trial(0.005, 3, 100, 4))
    >>> best_trial(tried).value
    0.01
    """
    if not trials:
        text = (
            f"There are too few rows to choose min_support (a rule could hold in fewer than {MIN_ROWS} "
            f"rows); {GRID[0]} was used."
        )
        return Support(GRID[0], "untried", (), (Notice("too_few_rows", text),))
    complete = tuple(trial for trial in trials if trial.complete_to > 0) or trials[:1]
    passing = [trial for trial in complete if trial.rate < MAX_RATE]
    if passing:
        return Support(min(trial.min_support for trial in passing), "smallest", trials)
    best = min(complete, key=lambda trial: (trial.n_broken, -trial.min_support))
    text = (
        f"No min_support keeps the false-positive rate on held-out rows below {MAX_RATE:.0%}; "
        f"{best.min_support} was used, with {best.rate:.1%}."
    )
    return Support(best.min_support, "fewest", trials, (Notice("false_alarms", text),))
