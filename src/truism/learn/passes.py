"""What exceeds a million rows: a sample that stands for all of them, and passes over all that decide.

A row's place in the sample depends on its number alone, so that every division into batches, and anything
that reads them, chooses the same rows, and rows with equal values are chosen independently of each other.
Every rule of the model holds in every row, with exact counts: rules that rows break give way to others
that these rows do not refute, until no new one is broken. Histograms, spacings, leaves of contexts and
predicates are counted on the way. All that is taken from all rows are whole numbers and extremes, which
add up to the same in any division.
"""

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Counts, Rows
from truism.learn.batches import Batches
from truism.learn.contexts import LeafSums, Tree, add_all, find_leaves, sum_leaves
from truism.learn.holdout import borders, space_all
from truism.learn.kinds import count_states, numeric, refuse_infinite, variable_columns
from truism.learn.mining import Mined, UnitRule
from truism.learn.rules import PredicateCounts, Search, count_predicates
from truism.model.evidence import N_EXACT, Evidence, Spacing, Split
from truism.model.predicates import Predicate
from truism.model.schema import Categorical, LeftOut, Numeric, Scalar, Schema, Variable
from truism.model.settings import Settings
from truism.score.alignment import Reader
from truism.score.truths import Truths, Words
from truism.table.columns import Column, Table, join_tables, numbers
from truism.table.counters import MAX_STATES
from truism.table.fingerprint import ODD, Hashes, hash_table, mix
from truism.work import Progress

SAMPLE = 1_000_000  # rows that stand for all of a larger table
AT_ONCE = 1 << 22  # row numbers hashed at a time
MAX_KNOWN = 1 << 16  # states of one column that are counted; with more it is no variable
N_LOOKED_AT = 1000  # values in which few states show, if there are few

States = dict[Scalar, int]


class Sample:
    """A uniform sample of a table's rows: those with the smallest hashes of their numbers.

    >>> Sample(10, 3).rows(0, 10).size, Sample(2, 3).rows(0, 2).tolist()
    (3, [0, 1])
    """

    def __init__(self, n_rows: int, n_sampled: int) -> None:
        self.n_rows, self.size = n_rows, min(n_rows, n_sampled)
        self._last = _largest_of_smallest(n_rows, n_sampled) if n_sampled < n_rows else None

    def rows(self, first: int, end: int) -> NDArray[np.int64]:
        """Return the numbers of the sampled rows from `first` to before `end`."""
        if self._last is None:
            return np.arange(first, end)
        return np.flatnonzero(hash_rows(first, end) <= self._last) + first


def hash_rows(first: int, end: int) -> NDArray[np.uint64]:
    """Hash row numbers; no two of them have the same hash."""
    return mix(np.arange(first + 1, end + 1, dtype=np.uint64) * ODD)


def _largest_of_smallest(n_rows: int, n_sampled: int) -> np.uint64:
    """Return the largest of the `n_sampled` smallest hashes."""
    smallest = np.empty(0, np.uint64)
    for first in range(0, n_rows, AT_ONCE):
        found = hash_rows(first, min(first + AT_ONCE, n_rows))
        if len(smallest) == n_sampled:
            found = found[found < smallest.max()]
        smallest = np.concatenate([smallest, found])
        if len(smallest) > n_sampled:
            smallest = np.partition(smallest, n_sampled - 1)[:n_sampled]
    return np.uint64(smallest.max())


class ColumnTotals(msgspec.Struct, frozen=True, eq=False):
    """What is exact about one column.

    Of numbers the smallest and the largest distinct ones, ascending, and the first row that holds
    infinity; of states how often each occurs, None where there are too many.
    """

    n_missing: int
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]
    states: States | None
    infinite: int | None

    def __add__(self, other: "ColumnTotals") -> "ColumnTotals":
        """Return what is exact about these rows followed by others."""
        states = None
        if self.states is not None and other.states is not None:
            both = Counter(self.states)
            both.update(other.states)
            states = dict(both) if len(both) <= MAX_KNOWN else None
        return ColumnTotals(
            self.n_missing + other.n_missing,
            np.unique(np.concatenate([self.lows, other.lows]))[:N_EXACT],
            np.unique(np.concatenate([self.highs, other.highs]))[-N_EXACT:],
            states,
            other.infinite if self.infinite is None else self.infinite,
        )


class Totals(msgspec.Struct, frozen=True, eq=False):
    """What is exact about rows, by column, what their fingerprint is made of, and the rows that are kept.

    These are in parts, with their numbers.
    """

    columns: dict[str, ColumnTotals]
    hashes: Hashes
    chosen: tuple[Table, ...]
    numbers: tuple[NDArray[np.int64], ...]

    def __add__(self, other: "Totals") -> "Totals":
        """Return what is exact about these rows followed by others."""
        return Totals(
            {name: own + other.columns[name] for name, own in self.columns.items()},
            self.hashes + other.hashes,
            self.chosen + other.chosen,
            self.numbers + other.numbers,
        )


def total_up(
    table: Table,
    first: int,
    sample: Sample,
    also: NDArray[np.int64],
    categorical: Sequence[str] = (),
) -> Totals:
    """Sum up a batch, and keep the rows of a sample and others, given by their numbers, ascending."""
    end = first + table.n_rows
    own = also[slice(*np.searchsorted(also, [first, end]).tolist())]
    rows = np.union1d(sample.rows(first, end), own)
    return Totals(
        {
            column.name: _of_column(column, first, column.name in categorical)
            for column in table.columns
        },
        hash_table(table, first),
        (table.take(rows - first),),
        (rows,),
    )


def _of_column(column: Column, first: int, categorical: bool) -> ColumnTotals:
    nothing, present = np.empty(0), column.present
    if column.kind in ("text", "boolean"):
        return ColumnTotals(column.n_missing, nothing, nothing, _count(column), None)
    if column.kind != "number":
        return ColumnTotals(column.n_missing, nothing, nothing, {}, None)
    infinite = None
    if column.values.dtype.kind == "f":
        where = np.isinf(column.values)
        infinite = int(where.argmax()) + first if where.any() else None
        present = present[np.isfinite(present)]
    few = len(np.unique(present[:N_LOOKED_AT])) <= MAX_STATES
    states = _count(column) if categorical or column.categorical or few else None
    values = present.astype(np.float64) + 0.0
    return ColumnTotals(
        column.n_missing, _smallest(values), -_smallest(-values)[::-1], states, infinite
    )


def _count(column: Column) -> States | None:
    """Count how often each state occurs; None if there are too many."""
    found = count_states(column)
    return found if len(found) <= MAX_KNOWN else None


def _smallest(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the smallest distinct values, ascending; all are sorted only if ties demand it."""
    enough = 8 * N_EXACT
    if len(values) > enough:
        limit = np.partition(values, enough)[enough]
        some = np.unique(values[values <= limit])
        if len(some) >= N_EXACT:
            return some[:N_EXACT]
    return np.unique(values)[:N_EXACT]


class Drawn(msgspec.Struct, frozen=True, eq=False):
    """The rows to learn from: a whole table; or a sample, and what is exact about all `n_rows`.

    `kept` are the rows, in a sample with some that follow each other (`in_order`). Where all are kept,
    positions and batches are absent.
    """

    n_rows: int
    kept: Table
    hashes: Hashes
    is_sampled: Rows | None = None
    in_order: Rows | None = None
    totals: dict[str, ColumnTotals] = {}
    batches: Batches | None = None

    @property
    def sampled(self) -> Table:
        """The rows that stand for all."""
        return self.kept if self.is_sampled is None else self.kept.take(self.is_sampled)

    def spacings(self, schema: Schema, columns: Sequence[Column]) -> tuple[Spacing, ...]:
        """Space the values of the sample, and the outermost ones of all rows."""
        outer = {
            name: np.concatenate([totals.lows, totals.highs])
            for name, totals in self.totals.items()
        }
        return space_all(schema, columns, 1, outer)


def draw(
    batches: Batches,
    in_order: Rows,
    n_sampled: int,
    settings: Settings,
    n_jobs: int,
    progress: Progress,
) -> Drawn:
    """Read all rows once, draw a sample, and keep some rows in order, given by their numbers."""
    sample = Sample(batches.n_rows, n_sampled)
    task = functools.partial(
        total_up, sample=sample, also=in_order, categorical=settings.categorical
    )
    totals: Totals = batches.total("first pass", task, n_jobs, progress)
    numbers = np.concatenate(totals.numbers)
    drawn = [sample.rows(int(own[0]), int(own[-1]) + 1) for own in totals.numbers if len(own)]
    return Drawn(
        batches.n_rows,
        join_tables(totals.chosen),
        totals.hashes,
        np.flatnonzero(np.isin(numbers, np.concatenate(drawn))),
        np.searchsorted(numbers, in_order),
        totals.columns,
        batches,
    )


def exact_schema(schema: Schema, drawn: Drawn, categorical: Sequence[str]) -> Schema:
    """Correct a schema that was inferred from a sample by what is exact about all rows.

    Means, spreads and the edges of histograms stay those of the sample; the counts of histograms are
    still to be counted. The user calls some columns `categorical`.
    """
    column_of = drawn.kept.column_of()
    variables: list[Variable] = []
    left_out = list(schema.left_out)
    for variable in schema.variables:
        found = drawn.totals[variable.name]
        if found.infinite is not None:
            refuse_infinite(variable.name, np.array([True]), found.infinite)
        column = column_of[variable.name]
        few = found.states is not None and len(found.states) <= MAX_STATES
        by_values = column.kind == "number" and not column.categorical
        if (
            isinstance(variable, Categorical)
            and by_values
            and variable.name not in categorical
            and not few
        ):
            variable = numeric(column)  # all rows have more values than the sample
        if isinstance(variable, Categorical):
            if found.states is None:
                reason = f"more than {MAX_KNOWN:,} different values"
                left_out.append(LeftOut(variable.name, reason))
                continue
            variables.append(_exact_states(variable, found))
        else:
            variables.append(_exact_range(variable, found))
    return msgspec.structs.replace(schema, variables=tuple(variables), left_out=tuple(left_out))


def _exact_states(variable: Categorical, found: ColumnTotals) -> Categorical:
    states: Any = found.states
    pairs = sorted(states.items())
    return msgspec.structs.replace(
        variable,
        values=tuple(value for value, _ in pairs),
        counts=tuple(count for _, count in pairs),
        n_missing=found.n_missing,
    )


def _exact_range(variable: Numeric, found: ColumnTotals) -> Numeric:
    low, high = float(found.lows[0]), float(found.highs[-1])
    return msgspec.structs.replace(
        variable,
        low=low,
        high=high,
        n_missing=found.n_missing,
        edges=(low, *variable.edges[1:]),
    )


N_EXCEPTIONS = 16  # rows kept of those that break a rule
MAX_LOOSE = 1 << 18  # rows that are kept before those that are not needed any more are let go

_NONE = np.iinfo(np.int64).max  # no further exception


class Verdicts(msgspec.Struct, frozen=True, eq=False):
    """What all rows say about candidate rules: how many support and how many break each.

    The numbers of the first `N_EXCEPTIONS` rows that break it, ascending, these rows in parts, and exact
    counts of what a sample proposed besides, if asked for.
    """

    counts: Counts
    broken: Counts
    exceptions: Counts
    tables: tuple[Table, ...]
    numbers: tuple[Counts, ...]
    recount: "Recount | None"

    def __add__(self, other: "Verdicts") -> "Verdicts":
        """Return what these rows followed by others say."""
        both = np.concatenate([self.exceptions, other.exceptions], axis=1)
        recount = self.recount and other.recount and self.recount + other.recount
        merged = Verdicts(
            self.counts + other.counts,
            self.broken + other.broken,
            np.sort(both, axis=1)[:, :N_EXCEPTIONS],
            self.tables + other.tables,
            self.numbers + other.numbers,
            recount,
        )
        return merged if sum(map(len, merged.numbers)) <= MAX_LOOSE else merged.tidy()

    def tidy(self) -> "Verdicts":
        """Let go of rows that are not among the first exceptions of any rule."""
        table, numbers = join_tables(self.tables), np.concatenate(self.numbers)
        needed = np.flatnonzero(np.isin(numbers, self.exceptions))
        return msgspec.structs.replace(
            self, tables=(table.take(needed),), numbers=(numbers[needed],)
        )


class Verify(msgspec.Struct, frozen=True, eq=False):
    """Checks candidate rules against a batch, and counts what a sample proposed besides, if asked.

    Candidates are whole numbers: positions of predicates, antecedents padded with -1.
    """

    schema: Schema
    predicates: tuple[Predicate, ...]
    antecedents: Counts
    consequents: Counts
    counting: bool
    spacings: tuple[Spacing, ...] = ()
    splits: tuple[Split, ...] = ()
    trees: tuple[Tree, ...] = ()

    @classmethod
    def of(
        cls, search: Search, rules: Sequence[UnitRule], evidence: Evidence | None, counting: bool
    ) -> "Verify":
        """Take candidates as they come from mining; sorted, those with one antecedent are adjacent."""
        longest = max((len(rule.antecedent) for rule in rules), default=1)
        antecedents = np.full((len(rules), longest), -1)
        for k, rule in enumerate(rules):
            antecedents[k, : len(rule.antecedent)] = rule.antecedent
        consequents = np.array([rule.consequent for rule in rules], np.int64)
        task = cls(search.schema, tuple(search.predicates), antecedents, consequents, counting)
        if evidence is None:
            return task
        trees = tuple(
            Tree(context.tree, frozenset((*context.numbers, *context.states)))
            for context in evidence.contexts
        )
        return msgspec.structs.replace(
            task, spacings=evidence.spacings, splits=evidence.splits, trees=trees
        )

    def __call__(self, table: Table, first: int) -> Verdicts:
        """Check a batch, whose first row has a number in the whole table."""
        from truism.learn.kernels import mining as kernels  # only learning loads compiled code

        columns = variable_columns(self.schema, table)
        true, false = Truths(self.schema, self.predicates).evaluate_all(columns)
        counts, broken = np.zeros((2, len(self.consequents)), np.int64)
        exceptions = np.full((len(self.consequents), N_EXCEPTIONS), _NONE)
        if len(self.consequents):
            rules, held = (self.antecedents, self.consequents), np.empty(true.shape[1], np.uint64)
            kernels.verify(true, false, *rules, first, held, counts, broken, exceptions)
        rows = np.unique(exceptions[exceptions < _NONE])
        recounted = self._recount(columns, true, false) if self.counting else None
        return Verdicts(counts, broken, exceptions, (table.take(rows - first),), (rows,), recounted)

    def _recount(self, columns: Sequence[Column], true: Words, false: Words) -> "Recount":
        """Count what a sample proposed besides candidate rules."""
        numeric = [each for each in self.schema.variables if isinstance(each, Numeric)]
        values = [
            np.sort(present[~np.isnan(present)])
            for variable, column in zip(self.schema.variables, columns, strict=True)
            if isinstance(variable, Numeric)
            for present in [numbers(column)]
        ]
        reader = Reader(self.schema)
        leaves = find_leaves(self.schema, self.splits, self.trees, columns, 1)
        return Recount(
            count_predicates(true, false, len(columns[0].values)),
            tuple(
                count_between(ascending, np.array(variable.edges[1:]), side="left")
                for variable, ascending in zip(numeric, values, strict=True)
            ),
            tuple(
                count_between(ascending, borders(np.array(spacing.values)), side="right")
                for spacing, ascending in zip(self.spacings, values, strict=bool(self.spacings))
            ),
            tuple(sum_leaves(self.trees, leaves, reader.read(columns), reader, 1)),
        )


class Recount(msgspec.Struct, frozen=True, eq=False):
    """Exact counts of what a sample proposed besides rules, in a part of a table."""

    predicates: PredicateCounts
    histograms: tuple[Counts, ...]
    knots: tuple[Counts, ...]
    leaves: tuple[LeafSums, ...]

    def __add__(self, other: "Recount") -> "Recount":
        """Return the counts of these rows followed by others."""
        return Recount(
            self.predicates + other.predicates,
            add_all(self.histograms, other.histograms),
            add_all(self.knots, other.knots),
            add_all(self.leaves, other.leaves),
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

    def evidence(self, proposed: Evidence) -> Evidence:
        """Return evidence with exact spacings and contexts."""
        return msgspec.structs.replace(
            proposed,
            spacings=tuple(
                msgspec.structs.replace(spacing, counts=tuple(counts.tolist()))
                for spacing, counts in zip(proposed.spacings, self.knots, strict=True)
            ),
            contexts=tuple(each.context() for each in self.leaves),
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


def verify_in_passes(
    search: Search, proposed: Mined, evidence: Evidence | None, batches: Batches
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
        task = Verify.of(search, fresh, evidence, counted is None)
        verdicts: Verdicts = batches.total(
            "verifying pass", task, search.n_jobs, search.progress
        ).tidy()
        counted = counted or verdicts.recount
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
