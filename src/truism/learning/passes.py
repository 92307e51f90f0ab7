"""Learning from more rows than are held at once: parts of a table go in, what they teach comes out.

A sample proposes variables, cut-offs, candidate rules and contexts; passes over all rows decide. Every
rule of the model holds in every row, with exact counts. What is learned depends on the rows and their
order alone, not on how they are divided or on who reads them: all that is taken from all rows are whole
numbers and extremes, which add up to the same in any division.
"""

import functools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np

from truism.arrays import Counts
from truism.learning.counts import count_predicates
from truism.learning.kinds import infer_added, variable_columns
from truism.learning.learned import Learned, find_changing, learn_beyond_rules
from truism.learning.memory import rows_in_order
from truism.learning.mining import Budget, Mined, UnitRule, mine, minimum_counts, variable_numbers
from truism.learning.parts import Parts, Task
from truism.learning.predicates import find_predicates
from truism.learning.recounts import Proposal, Recount, recount
from truism.learning.rules import MinedRules, as_values, merge_units, univariate_rules
from truism.learning.sampling import Sample
from truism.learning.spacings import space
from truism.learning.support import choose_support
from truism.learning.totals import Totals, exact_schema, total_up
from truism.learning.twins import find_twins
from truism.learning.verification import Claims, Verdicts, verify
from truism.model.evidence import Spacing
from truism.model.predicates import Predicate
from truism.model.rules import RuleSet
from truism.model.schema import Numeric, Schema
from truism.model.settings import Settings, exact
from truism.scoring.truths import Truths
from truism.table.columns import Column, Table, join_tables
from truism.table.distinct import Distinct, distinct
from truism.work import Progress

SAMPLE = 1_000_000  # rows from which cut-offs, contexts and candidates come
SIGMAS = 5.0  # standard deviations of chance by which a sample may undercount a frequent rule


def learn_in_passes(
    parts: Parts,
    settings: Settings,
    *,
    delta: bool = False,
    n_jobs: int = 1,
    progress: Progress,
    n_sampled: int = SAMPLE,
    shuffled: bool = False,
) -> Learned:
    """Learn from rows that are read part by part, several times.

    Parameters
    ----------
    parts
        The rows.
    settings
        How to learn.
    delta
        Whether to add the change since the previous row of each continuous variable.
    n_jobs
        Number of threads; the result does not depend on it.
    progress
        Called with the stage, the amount done, and the total amount.
    n_sampled
        How many rows stand for all.
    shuffled
        Whether rows are known to be in no order.

    """
    passing = _Passing(parts, settings, n_jobs, progress, n_sampled)
    schema, derived = find_changing(passing.totals.kept, settings, delta, shuffled=shuffled)
    if derived:
        passing = passing.again(parts.with_changes(derived, settings.by))
        kept = passing.totals.kept
        schema = infer_added(schema, kept.columns[len(kept.columns) - len(derived) :])
    kept, in_order = passing.totals.kept, passing.in_order
    schema = exact_schema(schema, passing.totals, kept, settings.categorical)
    sampled = kept.take(passing.is_sampled)
    support = choose_support(sampled, schema, settings, n_jobs, progress)
    min_support = exact(support.value)
    columns = variable_columns(schema, sampled)
    (predicates,) = find_predicates(
        schema, columns, settings.cutoffs, [min_support], n_jobs, progress
    )
    search = _Search(schema, columns, predicates, settings, min_support, parts.n_rows, n_jobs)
    proposed = search.propose(None, progress)
    asked = (settings, delta, in_order, n_jobs, progress)
    beyond = learn_beyond_rules(kept, schema, search.in_sample(proposed), *asked, shuffled=shuffled)
    spacings = tuple(_spacings(schema, columns, passing.totals)) if beyond.study else ()
    proposal = Proposal(
        schema,
        spacings,
        beyond.study.splits if beyond.study else (),
        tuple(beyond.study.grown.trees) if beyond.study else (),
    )
    mined, counted = search.verify(proposed, passing, proposal, progress)
    schema = counted.schema(schema)
    rules = (*univariate_rules(schema, parts.n_rows), *merge_units(mined.rules, predicates))
    listed = as_values(predicates, counted.predicates)
    evidence = beyond.evidence and counted.evidence(beyond.evidence, spacings)
    return Learned(
        schema,
        derived,
        support,
        MinedRules(RuleSet(rules, parts.n_rows, listed), min_support, mined.complete_to),
        evidence,
        beyond.limit,
        beyond.series,
        find_twins(schema, columns),
        passing.totals.hashes,
        tuple(column.name for column in kept.columns if not column.index),
    )


class _Passing:
    """The passes over all rows, and what the first of them found."""

    def __init__(
        self, parts: Parts, settings: Settings, n_jobs: int, progress: Progress, n_sampled: int
    ) -> None:
        self.parts, self.settings, self.n_jobs, self.progress = parts, settings, n_jobs, progress
        self.n_sampled = n_sampled
        sample = Sample(parts.n_rows, n_sampled)
        self._runs = rows_in_order(parts.n_rows)
        self.totals: Totals = self.over(
            "first pass",
            functools.partial(
                total_up, sample=sample, also=self._runs, categorical=settings.categorical
            ),
        )
        self._numbers = np.concatenate(self.totals.numbers)
        drawn = [
            sample.rows(int(own[0]), int(own[-1]) + 1) for own in self.totals.numbers if len(own)
        ]
        self.is_sampled = np.flatnonzero(np.isin(self._numbers, np.concatenate(drawn)))
        self.in_order = np.searchsorted(self._numbers, self._runs)

    def again(self, parts: Parts) -> "_Passing":
        """Return the same passes over other parts."""
        return _Passing(parts, self.settings, self.n_jobs, self.progress, self.n_sampled)

    def over(self, stage: str, task: Task[Any]) -> Any:
        """Do something with every part, and add up what comes out."""
        self.progress(stage, 0, self.parts.n_rows)
        advance = functools.partial(self.progress, stage)
        return self.parts.total(task, self.n_jobs, advance)


class _Search:
    """Rules searched in a sample, and checked against all rows."""

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[Column],
        predicates: Sequence[Predicate],
        settings: Settings,
        min_support: Fraction,
        n_rows: int,
        n_jobs: int,
    ) -> None:
        self.schema, self.predicates, self.settings = schema, predicates, settings
        self.min_support, self.ratio = min_support, exact(settings.ratio)
        self.n_sampled, self.n_rows, self.n_jobs = len(columns[0].values), n_rows, n_jobs
        self.true, self.false = Truths(schema, predicates).evaluate_all(columns)

    def propose(self, refuting: Table | None, progress: Progress) -> Mined:
        """Find the rules that no sampled row breaks, and none of the refuting ones."""
        true, false = self.true, self.false
        if refuting is not None:
            columns = variable_columns(self.schema, refuting)
            others = Truths(self.schema, self.predicates).evaluate_all(columns)
            true, false = (
                np.concatenate(both, axis=1) for both in zip((true, false), others, strict=True)
            )
        settings = self.settings
        return mine(
            true,
            false,
            variable_numbers(self.predicates),
            self._least,
            max_predicates=settings.longest,
            budget=Budget(settings.max_nodes, settings.max_rules, settings.max_seconds),
            n_jobs=self.n_jobs,
            advance=functools.partial(progress, "mining"),
            counted=self.true.shape[1],
        )

    def _least(self, counts: Sequence[int]) -> Counts:
        """Return the least count in the sample of a rule that may be frequent enough in all rows."""
        exactly = minimum_counts(counts, self.n_sampled, self.min_support, self.ratio)
        if self.n_sampled == self.n_rows:
            return exactly
        chance = np.ceil(SIGMAS * np.sqrt(exactly)).astype(np.int64)
        least: Counts = np.maximum(exactly - chance, 1)
        return least

    def in_sample(self, mined: Mined) -> MinedRules:
        """Return how often predicates hold in the sample, which is what held-out rows are judged by."""
        counts = count_predicates(self.true, self.false, self.n_sampled)
        listed = as_values(self.predicates, counts)
        return MinedRules(RuleSet((), self.n_sampled, listed), self.min_support, mined.complete_to)

    def verify(
        self, proposed: Mined, passing: _Passing, proposal: Proposal, progress: Progress
    ) -> tuple[Mined, Recount]:
        """Check proposals against all rows, and propose again, until no new one is broken."""
        count_of: dict[tuple[tuple[int, ...], int], int] = {}
        counted: Recount | None = None
        refuting: list[Table] = []
        while True:
            fresh = [rule for rule in proposed.rules if _key(rule) not in count_of]
            if not fresh and counted is not None:
                break
            task = _Verify(
                self.schema,
                tuple(self.predicates),
                Claims.of(fresh),
                proposal if counted is None else None,
            )
            found: _Verified = passing.over("verifying pass", task)
            verdicts = found.verdicts.tidy()
            counted = found.counted if counted is None else counted
            assert counted is not None
            count_of |= zip(map(_key, fresh), verdicts.counts.tolist(), strict=True)
            if not verdicts.broken.any():
                break
            refuting += verdicts.tables
            proposed = self.propose(join_tables(refuting), progress)
        least = minimum_counts(
            counted.predicates.n_true.tolist(), self.n_rows, self.min_support, self.ratio
        )
        exact_ones = (UnitRule(*_key(rule), count_of[_key(rule)]) for rule in proposed.rules)
        kept = tuple(
            rule
            for rule in exact_ones
            if rule.count >= min(least[[*rule.antecedent, rule.consequent]])
        )
        return msgspec.structs.replace(proposed, rules=kept), counted


def _key(rule: UnitRule) -> tuple[tuple[int, ...], int]:
    return rule.antecedent, rule.consequent


class _Verified(msgspec.Struct, frozen=True, eq=False):
    verdicts: Verdicts
    counted: Recount | None

    def __add__(self, other: "_Verified") -> "_Verified":
        counted = None
        if self.counted is not None and other.counted is not None:
            counted = self.counted + other.counted
        return _Verified(self.verdicts + other.verdicts, counted)


class _Verify(msgspec.Struct, frozen=True, eq=False):
    """Checks candidates against one part, and counts what a proposal asks for."""

    schema: Schema
    predicates: tuple[Predicate, ...]
    claims: Claims
    proposal: Proposal | None

    def __call__(self, table: Table, first: int) -> _Verified:
        columns = variable_columns(self.schema, table)
        true, false = Truths(self.schema, self.predicates).evaluate_all(columns)
        counted = None
        if self.proposal is not None:
            counted = recount(self.proposal, columns, true, false)
        return _Verified(verify(self.claims, table, true, false, first), counted)


def _spacings(schema: Schema, columns: Sequence[Column], totals: Totals) -> Iterator[Spacing]:
    """Space the values of the sample, and the outermost ones of all rows."""
    for variable, column in zip(schema.variables, columns, strict=True):
        if isinstance(variable, Numeric):
            found = totals.columns[variable.name]
            own = distinct(column)
            outer = np.setdiff1d(np.concatenate([found.lows, found.highs]), own.values)
            values = own + Distinct(outer, np.ones(len(outer), np.int64))
            yield space(variable.name, values.values, values.counts)
