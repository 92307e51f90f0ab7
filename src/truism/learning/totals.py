"""What is exact about columns, however many rows: summaries that add up over parts of a table."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import TableError
from truism.learning.kinds import numeric
from truism.learning.sampling import Sample
from truism.model.evidence import N_EXACT
from truism.model.schema import Categorical, LeftOut, Numeric, Scalar, Schema, Variable
from truism.table.columns import Column, Table, join_tables
from truism.table.counters import MAX_STATES
from truism.table.fingerprint import Hashes, hash_table

MAX_KNOWN = 1 << 16  # states of one column that are counted; with more it is no variable
N_LOOKED_AT = 1000  # values in which few states show, if there are few

States = dict[Scalar, int]


class ColumnTotals(msgspec.Struct, frozen=True, eq=False):
    """What is exact about one column.

    Parameters
    ----------
    n_missing
        Rows without a value.
    lows, highs
        Of numbers, the smallest and the largest distinct values, ascending.
    states
        How often each value occurs; None where there are too many.
    infinite
        The first row that holds infinity; None if there is none.

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
    """What is exact about rows, and those of them that stand for all.

    Parameters
    ----------
    n_rows
        How many rows there are.
    columns
        What is exact about each column, by its name.
    hashes
        What the fingerprint is made of.
    chosen
        The rows that were kept, in parts.
    numbers
        The numbers of these rows, in parts.

    """

    n_rows: int
    columns: dict[str, ColumnTotals]
    hashes: Hashes
    chosen: tuple[Table, ...]
    numbers: tuple[NDArray[np.int64], ...]

    def __add__(self, other: "Totals") -> "Totals":
        """Return what is exact about these rows followed by others."""
        return Totals(
            self.n_rows + other.n_rows,
            {name: own + other.columns[name] for name, own in self.columns.items()},
            self.hashes + other.hashes,
            self.chosen + other.chosen,
            self.numbers + other.numbers,
        )

    @property
    def kept(self) -> Table:
        """The rows that were kept, as one table."""
        return join_tables(self.chosen)


def total_up(
    table: Table,
    first: int,
    sample: Sample,
    also: NDArray[np.int64],
    categorical: Sequence[str] = (),
) -> Totals:
    """Sum up one part of a table.

    Parameters
    ----------
    table, first
        The rows, and the number of the first one in the whole table.
    sample, also
        Rows to keep: a sample, and others by their numbers, ascending.
    categorical
        Columns of numbers that hold states.

    """
    end = first + table.n_rows
    own = also[slice(*np.searchsorted(also, [first, end]).tolist())]
    rows = np.union1d(sample.rows(first, end), own)
    return Totals(
        table.n_rows,
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


def exact_schema(schema: Schema, totals: Totals, kept: Table, said: Sequence[str]) -> Schema:
    """Correct a schema that was inferred from a sample by what is exact about all rows.

    Means, spreads and the edges of histograms stay those of the sample; the counts of histograms are
    still to be counted.

    Parameters
    ----------
    schema
        The variables of the sample.
    totals
        What is exact.
    kept
        The sample.
    said
        Columns that hold states because the user says so.

    """
    column_of = kept.column_of()
    variables: list[Variable] = []
    left_out = list(schema.left_out)
    for variable in schema.variables:
        found = totals.columns[variable.name]
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
