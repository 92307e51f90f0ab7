"""What a sample proposes, checked against all rows and counted in them.

Every rule of the model holds in every row, with exact counts: rules that rows break give way to others
that these rows do not refute, until no new one is broken. Histograms, spacings, leaves of contexts and
predicates are counted on the way. All that is taken from all rows are whole numbers, which add up to the
same in any division.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Counts
from truism.learn.batches import Batches
from truism.learn.contexts import LeafSums, Tree, find_leaves, sum_leaves
from truism.learn.holdout import Study
from truism.learn.kinds import variable_columns
from truism.learn.mining import Mined, UnitRule
from truism.learn.rarity import borders
from truism.learn.rules import PredicateCounts, Search, count_predicates
from truism.model.evidence import Evidence, Spacing, Split
from truism.model.predicates import Predicate
from truism.model.schema import Numeric, Schema
from truism.score.alignment import Reader
from truism.score.truths import Truths, Words
from truism.table.columns import Column, Table, join_tables, numbers

N_EXCEPTIONS = 16  # rows kept of those that break a rule
MAX_LOOSE = 1 << 18  # rows that are kept before those that are not needed any more are let go

_NONE = np.iinfo(np.int64).max  # no further exception


class Claims(msgspec.Struct, frozen=True, eq=False):
    """Candidate rules as whole numbers: positions of predicates, antecedents padded with -1."""

    antecedents: Counts
    consequents: Counts

    @classmethod
    def of(cls, rules: Sequence[UnitRule]) -> "Claims":
        """Take candidates as they come from mining; sorted, those with one antecedent are adjacent."""
        longest = max((len(rule.antecedent) for rule in rules), default=1)
        antecedents = np.full((len(rules), longest), -1)
        for k, rule in enumerate(rules):
            antecedents[k, : len(rule.antecedent)] = rule.antecedent
        return cls(antecedents, np.array([rule.consequent for rule in rules], np.int64))


class Verdicts(msgspec.Struct, frozen=True, eq=False):
    """What all rows say about candidate rules: how many support and how many break each.

    The numbers of the first `N_EXCEPTIONS` rows that break it, ascending, and these rows in parts.
    """

    counts: Counts
    broken: Counts
    exceptions: Counts
    tables: tuple[Table, ...]
    numbers: tuple[Counts, ...]

    def __add__(self, other: "Verdicts") -> "Verdicts":
        """Return what these rows followed by others say."""
        both = np.concatenate([self.exceptions, other.exceptions], axis=1)
        merged = Verdicts(
            self.counts + other.counts,
            self.broken + other.broken,
            np.sort(both, axis=1)[:, :N_EXCEPTIONS],
            self.tables + other.tables,
            self.numbers + other.numbers,
        )
        return merged if sum(map(len, merged.numbers)) <= MAX_LOOSE else merged.tidy()

    def tidy(self) -> "Verdicts":
        """Let go of rows that are not among the first exceptions of any rule."""
        table, numbers = join_tables(self.tables), np.concatenate(self.numbers)
        needed = np.flatnonzero(np.isin(numbers, self.exceptions))
        return msgspec.structs.replace(
            self, tables=(table.take(needed),), numbers=(numbers[needed],)
        )


def verify(claims: Claims, table: Table, true: Words, false: Words, first: int) -> Verdicts:
    """Check candidate rules against a batch, whose first row has a number in the whole table."""
    from truism.learn.kernels import mining as kernels  # only learning loads compiled code

    n_rules = len(claims.consequents)
    counts, broken = np.zeros((2, n_rules), np.int64)
    exceptions = np.full((n_rules, N_EXCEPTIONS), _NONE)
    if n_rules:
        held = np.empty(true.shape[1], np.uint64)
        rules = claims.antecedents, claims.consequents
        kernels.verify(true, false, *rules, first, held, counts, broken, exceptions)
    rows = np.unique(exceptions[exceptions < _NONE])
    return Verdicts(counts, broken, exceptions, (table.take(rows - first),), (rows,))


class Provisional(msgspec.Struct, frozen=True, eq=False):
    """What a sample proposes, to be counted: histograms and spacings of numbers, trees of contexts."""

    schema: Schema
    spacings: tuple[Spacing, ...]
    splits: tuple[Split, ...] = ()
    trees: tuple[Tree, ...] = ()

    @classmethod
    def of(
        cls, schema: Schema, spacings: tuple[Spacing, ...], study: Study | None
    ) -> "Provisional":
        """Take what a study of the sample proposes; nothing but the schema if there is none."""
        if study is None:
            return cls(schema, ())
        return cls(schema, spacings, study.splits, study.grown.trees)


class Recount(msgspec.Struct, frozen=True, eq=False):
    """Exact counts of what is provisional, in a part of a table."""

    predicates: PredicateCounts
    histograms: tuple[Counts, ...]
    knots: tuple[Counts, ...]
    leaves: tuple[LeafSums, ...]

    def __add__(self, other: "Recount") -> "Recount":
        """Return the counts of these rows followed by others."""

        def both(one: Sequence[Counts], two: Sequence[Counts]) -> tuple[Counts, ...]:
            return tuple(a + b for a, b in zip(one, two, strict=True))

        return Recount(
            self.predicates + other.predicates,
            both(self.histograms, other.histograms),
            both(self.knots, other.knots),
            tuple(a + b for a, b in zip(self.leaves, other.leaves, strict=True)),
        )

    def schema(self, schema: Schema) -> Schema:
        """Return a schema with these histograms."""
        found = iter(self.histograms)
        variables = tuple(
            msgspec.structs.replace(each, counts=tuple(next(found).tolist()))
            if isinstance(each, Numeric)
            else each
            for each in schema.variables
        )
        return msgspec.structs.replace(schema, variables=variables)

    def evidence(self, proposed: Evidence, spacings: Sequence[Spacing]) -> Evidence:
        """Return evidence with these spacings and contexts."""
        return msgspec.structs.replace(
            proposed,
            spacings=tuple(
                msgspec.structs.replace(spacing, counts=tuple(counts.tolist()))
                for spacing, counts in zip(spacings, self.knots, strict=True)
            ),
            contexts=tuple(each.context() for each in self.leaves),
        )


def recount(
    provisional: Provisional, columns: Sequence[Column], true: Words, false: Words
) -> Recount:
    """Count what is provisional in a batch."""
    schema, n_rows = provisional.schema, len(columns[0].values)
    values = [
        np.sort(known[~np.isnan(known)])
        for variable, column in zip(schema.variables, columns, strict=True)
        if isinstance(variable, Numeric)
        for known in [numbers(column)]
    ]
    numeric = [each for each in schema.variables if isinstance(each, Numeric)]
    reader = Reader(schema)
    leaves = find_leaves(schema, provisional.splits, provisional.trees, columns, 1)
    together = (np.zeros(n_rows, np.int64),)
    readings = reader.read(columns)
    sums = sum_leaves(provisional.trees, leaves, readings, reader, together, 1, 1)
    return Recount(
        count_predicates(true, false, n_rows),
        tuple(
            count_between(own, np.array(each.edges[1:]), side="left")
            for each, own in zip(numeric, values, strict=True)
        ),
        tuple(
            count_between(own, borders(np.array(each.values)), side="right")
            for each, own in zip(provisional.spacings, values, strict=bool(provisional.spacings))
        ),
        tuple(each for (each,) in sums),
    )


def count_between(
    ascending: NDArray[np.float64], cuts: NDArray[np.float64], side: Literal["left", "right"]
) -> Counts:
    """Count sorted values below the first of some cuts, between them, and above the last.

    A value that equals a cut counts above it with `side` left, else below.

    >>> count_between(np.array([1.0, 2.0, 2.0, 5.0]), np.array([2.0, 3.0]), side="left").tolist()
    [1, 2, 1]
    """
    below = np.searchsorted(ascending, cuts, side=side)
    return np.diff(below, prepend=0, append=len(ascending))


class Verified(msgspec.Struct, frozen=True, eq=False):
    """What all rows say about candidate rules, and exact counts."""

    verdicts: Verdicts
    counted: Recount | None

    def __add__(self, other: "Verified") -> "Verified":
        """Return the same about these rows followed by others."""
        counted = None
        if self.counted is not None and other.counted is not None:
            counted = self.counted + other.counted
        return Verified(self.verdicts + other.verdicts, counted)


class _Verify(msgspec.Struct, frozen=True, eq=False):
    """Checks candidates against a batch, and counts what is provisional."""

    schema: Schema
    predicates: tuple[Predicate, ...]
    claims: Claims
    provisional: Provisional | None

    def __call__(self, table: Table, first: int) -> Verified:
        columns = variable_columns(self.schema, table)
        true, false = Truths(self.schema, self.predicates).evaluate_all(columns)
        counted = None
        if self.provisional is not None:
            counted = recount(self.provisional, columns, true, false)
        return Verified(verify(self.claims, table, true, false, first), counted)


def verify_in_passes(
    search: Search, proposed: Mined, provisional: Provisional, batches: Batches
) -> tuple[Mined, Recount]:
    """Check proposed rules against all rows, and propose again, until no new one is broken.

    Return the rules that hold in all rows and are frequent enough, and exact counts.
    """
    count_of: dict[tuple[tuple[int, ...], int], int] = {}
    counted: Recount | None = None
    refuting: list[Table] = []
    while True:
        fresh = [rule for rule in proposed.rules if _key(rule) not in count_of]
        if not fresh and counted is not None:
            break
        task = _Verify(
            search.schema,
            tuple(search.predicates),
            Claims.of(fresh),
            provisional if counted is None else None,
        )
        found: Verified = batches.total("verifying pass", task, search.n_jobs, search.progress)
        verdicts = found.verdicts.tidy()
        counted = found.counted if counted is None else counted
        assert counted is not None
        count_of |= zip(map(_key, fresh), verdicts.counts.tolist(), strict=True)
        if not verdicts.broken.any():
            break
        refuting += verdicts.tables
        proposed = search.propose(join_tables(refuting))
    least = search.least(counted.predicates.n_true.tolist(), search.n_rows)
    exact_ones = (UnitRule(*_key(rule), count_of[_key(rule)]) for rule in proposed.rules)
    kept = tuple(
        rule for rule in exact_ones if rule.count >= min(least[[*rule.antecedent, rule.consequent]])
    )
    return msgspec.structs.replace(proposed, rules=kept), counted


def _key(rule: UnitRule) -> tuple[tuple[int, ...], int]:
    return rule.antecedent, rule.consequent
