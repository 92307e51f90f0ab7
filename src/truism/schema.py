"""What a table's columns are: a `Table` goes in, a `Schema` of variables with their statistics comes out.

A variable is numeric or categorical. The kind is inferred, shown, stored, and can be overridden
column by column; columns that only identify rows are left out and the reason is kept. Statistics are
taken from distinct values and their counts in ascending order, so that neither the order of the rows
nor repeating all of them changes a bit of them.
"""

import difflib
import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, SchemaError, TableError, shorten
from truism.table import Column, Table, dated

Scalar = bool | int | float | str

MAX_STATES = 5  # numbers with at most this many distinct values are states, not quantities
MAX_DISTINCT_TEXT = 0.95  # text with a larger part of distinct values identifies rows
MAX_HISTOGRAM_BINS = 255
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


def infer(
    table: Table,
    *,
    categorical: Sequence[str] = (),
    continuous: Sequence[str] = (),
    ignore: Sequence[str] = (),
    time: str | None = None,
) -> Schema:
    """Decide for each column what it is.

    Parameters
    ----------
    table
        The training table.
    categorical, continuous, ignore
        Columns whose kind is not to be inferred.
    time
        The column that says when; without it the first column of dates is taken, and without
        dates the first text of which every value is ISO 8601.

    Returns
    -------
    Schema

    Examples
    --------
    >>> from truism.table import as_table
    >>> table = as_table({"pump": ["on", "off"] * 5, "level": [0.5 * i for i in range(10)]})
    >>> [type(variable).__name__ for variable in infer(table).variables]
    ['Categorical', 'Numeric']

    """
    _check_overrides(table, categorical, continuous, ignore, time)
    variables: list[Variable] = []
    left_out: list[LeftOut] = []
    columns = [
        column if column.name in (*categorical, *ignore) else dated(column)
        for column in table.columns
    ]
    if time is None:
        time = _time_axis(table, [column for column in columns if column.name not in ignore])
    for column in columns:
        if column.name == time:
            continue
        forced = column.name in categorical or column.name in continuous
        if column.name in ignore:
            reason: str | None = "ignored as asked"
        else:
            reason = _reason_to_leave_out(column, forced)
        if reason is not None:
            left_out.append(LeftOut(column.name, reason))
        elif column.name in continuous:
            variables.append(_numeric(column))
        elif column.name in categorical or _is_categorical(column):
            variables.append(_categorical(column))
        else:
            variables.append(_numeric(column))
    if not variables:
        why = f" ({left_out[0].name!r}: {left_out[0].reason})" if left_out else ""
        raise TableError(
            f"No column can be learned from{why}.",
            "a rule needs at least one column of states or numbers; see categorical= and continuous=.",
        )
    return Schema(tuple(variables), tuple(left_out), time)


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


def distinct(column: Column) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Give the distinct values of a numeric or boolean column, ascending, and their counts.

    They are distinct as float64, in which rules are said: two whole numbers beyond 2**53 may be one.
    """
    values, counts = np.unique(_present(column).astype(np.float64), return_counts=True)
    # One zero, not two: -0.0 and 0.0 are the same number.
    return values + 0.0, counts.astype(np.int64, copy=False)


def _present(column: Column) -> NDArray[Any]:
    return column.values if column.missing is None else column.values[~column.missing]


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


def _check_overrides(
    table: Table,
    categorical: Sequence[str],
    continuous: Sequence[str],
    ignore: Sequence[str],
    time: str | None,
) -> None:
    for option, names in (
        ("categorical", categorical),
        ("continuous", continuous),
        ("ignore", ignore),
        ("time", () if time is None else (time,)),
    ):
        if isinstance(names, str):
            raise ParameterError(
                f"{option} must be a list of column names, got {names!r}.",
                f"write {option}=[{names!r}].",
            )
        for name in names:
            if name not in table.names:
                raise ParameterError(
                    f"{option} must name columns of the table, got {name!r}.",
                    did_you_mean(name, table.names),
                )
    both = [name for name in categorical if name in continuous]
    if both:
        raise ParameterError(
            f"A column must be either categorical or continuous, got both for {shorten(both)}."
        )
    column_of = table.column_of()
    for name in (*categorical, *continuous, *(() if time is None else (time,))):
        fault = column_of[name].fault
        if fault is not None:
            raise fault.error(name)
    for name in continuous:
        if column_of[name].kind not in ("number", "boolean"):
            raise ParameterError(
                f"continuous must name columns of numbers, got {name!r} with "
                f"{_nouns[column_of[name].kind]}."
            )


_nouns = {
    "number": "numbers",
    "boolean": "booleans",
    "text": "text",
    "time": "dates",
    "empty": "no values",
}


def did_you_mean(name: Any, names: Iterable[str]) -> str | None:
    """Guess which name was meant, as a hint."""
    if not isinstance(name, str):
        return None
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else None


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
        f"Column {column.name!r} held {_nouns[expected]} when the model was learned, "
        f"got {_nouns[column.kind]}.",
        "convert the column, or learn the model again.",
    )


def _time_axis(table: Table, columns: Sequence[Column]) -> str | None:
    """Choose the column that says when: the first one of dates, else of text that reads as such."""
    times = [column.name for column in columns if column.kind == "time"]
    column_of = table.column_of()
    dates = (name for name in times if column_of[name].kind == "time")
    return next(dates, times[0] if times else None)


def _reason_to_leave_out(column: Column, forced: bool) -> str | None:
    if column.kind == "faulty":
        assert column.fault is not None
        raise column.fault.error(column.name)
    if column.kind == "other":
        assert column.fault is not None
        return f"it {column.fault.reason}"
    n_present = len(column.values) - column.n_missing
    if n_present == 0:
        return "every value is missing"
    if column.kind == "time":
        return "dates, and the time axis is another column" if not forced else "dates"
    if forced:
        return None
    if column.kind == "text":
        n_distinct = len(np.unique(_present(column)))
        if n_distinct > MAX_STATES and n_distinct > MAX_DISTINCT_TEXT * n_present:
            return f"text with {n_distinct:,} distinct values in {n_present:,} rows"
    if column.kind == "number" and _counts_rows(column):
        return "whole numbers that count the rows"
    return None


def _counts_rows(column: Column) -> bool:
    """Tell whether each row has its own whole number and, but for a few missing ones, no other."""
    values, n_rows = _present(column), len(column.values)
    if len(values) <= MAX_STATES + 1 or len(values) < MAX_DISTINCT_TEXT * n_rows:
        return False
    low, high = values.min(), values.max()
    if not np.isfinite([low, high]).all() or int(high) - int(low) >= n_rows:
        return False
    return bool((values % 1 == 0).all()) and len(np.unique(values)) == len(values)


def _is_categorical(column: Column) -> bool:
    if column.kind != "number" or column.categorical:
        return True
    return len(np.unique(column.values[:1000])) <= MAX_STATES * 2 and (
        len(np.unique(_present(column))) <= MAX_STATES
    )


def _categorical(column: Column) -> Categorical:
    if column.kind == "text":
        occurrences = np.bincount(_present(column), minlength=len(column.categories))
        pairs = sorted(
            (text, int(n)) for text, n in zip(column.categories, occurrences, strict=False) if n
        )
        values: tuple[Scalar, ...] = tuple(text for text, _ in pairs)
        return Categorical(
            column.name, "text", values, tuple(n for _, n in pairs), column.n_missing
        )
    _refuse_infinite(column)
    # Unlike quantities, states are compared as they are: large whole numbers stay apart.
    states, occurrences = np.unique(_present(column), return_counts=True)
    if states.dtype.kind == "f":
        states = states + 0.0
    return Categorical(
        column.name,
        "boolean" if column.kind == "boolean" else "number",
        tuple(states.tolist()),
        tuple(occurrences.tolist()),
        column.n_missing,
    )


def _numeric(column: Column) -> Numeric:
    _refuse_infinite(column)
    values, counts = distinct(column)
    mean, std = _moments(values, counts)
    starts = np.concatenate([[0], quantile_cuts(counts, MAX_HISTOGRAM_BINS)]).astype(np.int64)
    return Numeric(
        column.name,
        float(values[0]),
        float(values[-1]),
        mean,
        std,
        column.n_missing,
        tuple(values[starts].tolist()),
        tuple(np.add.reduceat(counts, starts).tolist()),
    )


def _refuse_infinite(column: Column) -> None:
    if column.kind == "number" and column.values.dtype.kind == "f":
        infinite = np.isinf(column.values)
        if infinite.any():
            raise TableError(
                f"Column {column.name!r} holds infinity in row {int(infinite.argmax())}; "
                f"training values must be finite.",
                "turn it into a missing value (NaN), or drop the row.",
            )


def _moments(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """Mean and standard deviation, scaled by a power of two so that no square overflows.

    Counts are reduced first: rows that are all repeated give the same numbers to the last bit.
    """
    counts = counts // np.gcd.reduce(counts)
    exponent = math.frexp(max(abs(values[0]), abs(values[-1])))[1]
    scaled = np.ldexp(values, -exponent)
    total = counts.sum()
    mean = float((scaled * counts).sum() / total)
    mean = min(max(mean, float(scaled[0])), float(scaled[-1]))  # rounding must not lead outside
    variance = float((np.square(scaled - mean) * counts).sum() / total)
    if len(values) == 1:
        return float(values[0]), 0.0
    return math.ldexp(mean, exponent), math.ldexp(math.sqrt(variance), exponent)
