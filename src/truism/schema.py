"""Variables and what is known of them, and how the columns of a table are read as they are.

A variable is numeric or categorical. `truism.inference` decides which; this module holds the values, and
finds the variables of a `Schema` in a table to score.
"""

from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.columns import NOUNS, Column, Table
from truism.errors import SchemaError, did_you_mean, shorten

Scalar = bool | int | float | str

UNSEEN, MISSING = -2, -1  # codes of a categorical value that is not one of the variable's values


class Numeric(msgspec.Struct, frozen=True, tag="numeric", forbid_unknown_fields=True):
    """A continuous variable, and what is remembered of its training values.

    Parameters
    ----------
    name
        The column's name.
    low, high
        Smallest and largest training value.
    mean, std
        Mean and standard deviation (divided by the count, not by one less).
    n_missing
        Training rows without a value.
    edges, counts
        Histogram of at most 255 bins: bin ``i`` holds ``counts[i]`` training values from
        ``edges[i]`` up to, but without, ``edges[i + 1]``; the last one ends at `high`.

    """

    name: str
    low: float
    high: float
    mean: float
    std: float
    n_missing: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]


class Categorical(msgspec.Struct, frozen=True, tag="categorical", forbid_unknown_fields=True):
    """A variable with states, and how often each was seen.

    Parameters
    ----------
    name
        The column's name.
    holds
        What the states are: text, booleans or numbers.
    values
        The states seen in training, ascending.
    counts
        Training rows in each state.
    n_missing
        Training rows without a value.

    """

    name: str
    holds: Literal["text", "boolean", "number"]
    values: tuple[Scalar, ...]
    counts: tuple[int, ...]
    n_missing: int


Variable = Numeric | Categorical


class LeftOut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column that is not a variable, and why."""

    name: str
    reason: str


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The variables in the table's order, the columns left out, and the time axis if there is one."""

    variables: tuple[Variable, ...]
    left_out: tuple[LeftOut, ...] = ()
    time: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names, in the table's order."""
        return tuple(variable.name for variable in self.variables)

    def variable_of(self) -> dict[str, Variable]:
        """Map names to variables."""
        return {variable.name: variable for variable in self.variables}


def time_column(schema: Schema, table: Table) -> Column | None:
    """Give the column that says when, where the table has it; it may hold texts (`dated`)."""
    return None if schema.time is None else table.column_of().get(schema.time)


def align(schema: Schema, table: Table) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Find the schema's variables in a table to score.

    Returns
    -------
    columns
        One per variable, in the schema's order.
    extra
        Names of columns the model does not know; they are ignored. An index is no column.

    """
    column_of = table.column_of()
    columns = []
    absent = [name for name in schema.names if name not in column_of]
    if absent:
        raise _missing_columns(absent, schema, table)
    for variable in schema.variables:
        column = column_of[variable.name]
        if column.fault is not None:
            raise column.fault.error(column.name)
        if column.kind != "empty" and 0 < len(column.values) == column.n_missing:
            # Without a single value a column's type is its library's guess.
            column = Column(column.name, "empty", column.values, column.missing)
        _check_kind(variable, column)
        columns.append(column)
    known = {*schema.names, schema.time, *(left.name for left in schema.left_out)}
    own = (column.name for column in table.columns if not column.index)
    return tuple(columns), tuple(name for name in own if name not in known)


def numbers(column: Column) -> NDArray[np.float64]:
    """Give a numeric column as float64, missing values as NaN."""
    if column.kind == "empty":
        return np.full(len(column.values), np.nan)
    values = column.values.astype(np.float64, copy=False)
    if column.missing is None or column.values.dtype.kind == "f":
        return values
    return np.where(column.missing, np.nan, values)


def codes(variable: Categorical, column: Column) -> NDArray[np.int32]:
    """Give each value's position in ``variable.values``, or `UNSEEN`, or `MISSING`."""
    if column.kind == "empty":
        return np.full(len(column.values), MISSING, np.int32)
    if column.kind == "text":
        position = {value: code for code, value in enumerate(variable.values)}
        lookup = np.array(
            [position.get(text, UNSEEN) for text in column.categories] or [UNSEEN], np.int32
        )
        found: NDArray[np.int32] = lookup[column.values]
    else:
        states = np.array(variable.values)
        found = np.searchsorted(states, column.values).astype(np.int32)
        found[found == len(states)] = 0
        found[states[found] != column.values] = UNSEEN
    if column.missing is not None:
        found[column.missing] = MISSING
    return found


def quantile_cuts(counts: NDArray[np.int64], max_bins: int) -> NDArray[np.int64]:
    """Split distinct values into at most `max_bins` runs of about equal count.

    Returns the positions of the first value of each run after the first. A run's end is an order
    statistic found in whole numbers: neither rounding nor repeating all rows moves it.

    >>> quantile_cuts(np.array([1, 1, 1, 5]), 2).tolist()
    [3]
    """
    if len(counts) <= max_bins:
        return np.arange(1, len(counts))
    after = np.cumsum(counts) * max_bins
    before = after - counts * max_bins
    ranks = np.arange(1, max_bins, dtype=np.int64) * counts.sum()
    hit = np.searchsorted(after, ranks, side="left")
    # Of the two ends of the value at a rank the nearer one, so that a heavy value stands alone.
    cuts = np.unique(hit + (2 * ranks > before[hit] + after[hit]))
    return cuts[(cuts > 0) & (cuts < len(counts))]


def _missing_columns(absent: list[str], schema: Schema, table: Table) -> SchemaError:
    hint = f"the model was learned with {len(schema.variables)} variables"
    unknown = [other for other in table.names if other not in schema.names]
    guess = did_you_mean(absent[0], unknown) if len(absent) == 1 else None
    which = f"Column {absent[0]!r} is" if len(absent) == 1 else f"Columns {shorten(absent)} are"
    return SchemaError(
        f"{which} missing from the table to score.", f"{hint}; {guess}" if guess else f"{hint}."
    )


def _check_kind(variable: Variable, column: Column) -> None:
    expected = "number" if isinstance(variable, Numeric) else variable.holds
    if column.kind in (expected, "empty"):
        return
    if isinstance(variable, Numeric) and column.kind == "boolean":
        return
    raise SchemaError(
        f"Column {column.name!r} held {NOUNS[expected]} when the model was learned, "
        f"got {NOUNS[column.kind]}.",
        "convert the column, or learn the model again.",
    )
