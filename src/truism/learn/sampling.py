"""The rows that stand for all of a large table, and what is exact about all of its rows.

A row's place in the sample depends on its number alone, so that every division into batches, and anything
that reads them, chooses the same rows, and rows with equal values are chosen independently of each other.
What is exact are counts and extremes, which add up over parts of a table.
"""

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Rows
from truism.errors import TableError
from truism.learn.batches import Batches
from truism.learn.kinds import numeric
from truism.learn.rarity import space
from truism.model.evidence import N_EXACT, Spacing
from truism.model.schema import Categorical, LeftOut, Numeric, Scalar, Schema, Variable
from truism.model.settings import Settings
from truism.table.columns import Column, Table, join_tables
from truism.table.counters import MAX_STATES
from truism.table.distinct import Distinct, distinct
from truism.table.fingerprint import Hashes, hash_table
from truism.work import Progress

SAMPLE = 1_000_000  # rows that stand for all of a larger table
AT_ONCE = 1 << 22  # row numbers hashed at a time
MAX_KNOWN = 1 << 16  # states of one column that are counted; with more it is no variable
N_LOOKED_AT = 1000  # values in which few states show, if there are few

_STEP = np.uint64(0x9E3779B97F4A7C15)

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
    mixed = np.arange(first + 1, end + 1, dtype=np.uint64) * _STEP
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


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


def _of_column(column: Column, first: int, said: bool) -> ColumnTotals:
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
    states = _count(column) if said or column.categorical or few else None
    values = present.astype(np.float64) + 0.0
    return ColumnTotals(
        column.n_missing, _smallest(values), -_smallest(-values)[::-1], states, infinite
    )


def _count(column: Column) -> States | None:
    """Count how often each state occurs; None if there are too many."""
    if column.kind == "text":
        counts = np.bincount(column.present, minlength=len(column.categories))
        used = np.flatnonzero(counts)
        found: States = {column.categories[code]: int(counts[code]) for code in used.tolist()}
    else:
        values, occurrences = np.unique(column.present, return_counts=True)
        if values.dtype.kind == "f":
            values = values + 0.0
        found = dict(zip(values.tolist(), occurrences.tolist(), strict=True))
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
        spacings = []
        for variable, column in zip(schema.variables, columns, strict=True):
            if isinstance(variable, Numeric):
                totals, values = self.totals[variable.name], distinct(column)
                outer = np.setdiff1d(np.concatenate([totals.lows, totals.highs]), values.values)
                values = values + Distinct(outer, np.ones(len(outer), np.int64))
                spacings.append(space(variable.name, values.values, values.counts))
        return tuple(spacings)


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


def exact_schema(schema: Schema, drawn: Drawn, said: Sequence[str]) -> Schema:
    """Correct a schema that was inferred from a sample by what is exact about all rows.

    Means, spreads and the edges of histograms stay those of the sample; the counts of histograms are
    still to be counted. Columns hold states where `said`.
    """
    column_of = drawn.kept.column_of()
    variables: list[Variable] = []
    left_out = list(schema.left_out)
    for variable in schema.variables:
        found = drawn.totals[variable.name]
        if found.infinite is not None:
            raise TableError(
                f"Column {variable.name!r} holds infinity in row {found.infinite}; "
                f"training values must be finite.",
                "replace it with a missing value (NaN), or drop the row.",
            )
        column = column_of[variable.name]
        few = found.states is not None and len(found.states) <= MAX_STATES
        by_values = column.kind == "number" and not column.categorical
        if (
            isinstance(variable, Categorical)
            and by_values
            and variable.name not in said
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
