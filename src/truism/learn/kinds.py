"""The kinds of a training table's columns: a `Table` goes in, a `Schema` with statistics comes out.

The kind of a variable is inferred, shown and stored, and users can override it for each column. Columns
that only identify rows are left out, and the reason is kept. Statistics come from distinct values and
their counts in ascending order, so that neither reordering the rows nor repeating all of them changes a
bit of the result.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from truism.arrays import Mask
from truism.errors import ParameterError, TableError, did_you_mean, shorten
from truism.model.schema import Categorical, LeftOut, Numeric, Scalar, Schema, Variable
from truism.model.settings import Settings
from truism.table.columns import NOUNS, Column, Table, numbers
from truism.table.counters import (
    MAX_STATES,
    Counter,
    are_in_order,
    find_counter,
    reason_to_leave_out,
)
from truism.table.deltas import delta_name
from truism.table.distinct import distinct
from truism.table.timelines import find_axis
from truism.table.times import dated

MAX_HISTOGRAM_BINS = 255


def infer_schema(table: Table, settings: Settings) -> Schema:
    """Decide the kind of each column; the settings may say it, or name the column of times.

    Without a name, the times are the first column of dates, else the first text that is all ISO 8601.

    >>> from truism.table.frames import as_table
    >>> table = as_table({"pump": ["on", "off"] * 5, "level": [0.5 * i for i in range(10)]})
    >>> [type(variable).__name__ for variable in infer_schema(table, Settings()).variables]
    ['Categorical', 'Numeric']
    """
    return _infer(table, settings)[0]


def find_changing(
    table: Table, settings: Settings, delta: bool, *, shuffled: bool = False
) -> tuple[Schema, tuple[str, ...]]:
    """Infer the variables, and of which columns the change is one: meters and, if asked, numbers."""
    schema, meters = _infer(table, settings)
    if shuffled:
        return schema, ()
    changing = {*meters}
    if delta:
        changing |= {each.name for each in schema.variables if isinstance(each, Numeric)}
    return schema, tuple(name for name in table.names if name in changing)


def _infer(table: Table, settings: Settings) -> tuple[Schema, list[str]]:
    """Infer the variables, and name the meters, whose change is learned instead of their values."""
    if table.n_rows < 2:
        raise TableError(
            f"A table to learn from must have at least 2 rows, got {table.n_rows} sample"
            f"{'' if table.n_rows == 1 else 's'}."
        )
    _check_names(table, settings)
    categorical, continuous, ignore = settings.categorical, settings.continuous, settings.ignore
    columns = [
        column if column.name in (*categorical, *ignore) else dated(column)
        for column in table.columns
    ]
    time = settings.time
    if time is None:
        time = _time_axis(table, [column for column in columns if column.name not in ignore])
    if settings.by is not None:
        _check_by(table, settings.by, time)
    in_order = are_in_order(next((c for c in columns if c.name == time), None))
    variables: list[Variable] = []
    left_out: list[LeftOut] = []
    meters: list[str] = []
    roles = {settings.by: "identifies the series", settings.label: "says which rows are anomalous"}
    for column in columns:
        name = column.name
        if name == time:
            continue
        forced = name in categorical or name in continuous
        reason = "ignored on request" if name in ignore else roles.get(name)
        reason = reason or _reason_to_leave_out(column, forced)
        counter = None if forced or reason else find_counter(column, in_order=in_order)
        if counter is not None and counter.counts == "amounts":
            reason = _reason_for_change(counter, table)
            meters += [name] if delta_name(name) not in table.names else []
        if reason is not None:
            left_out.append(LeftOut(name, reason))
        elif name in categorical or (name not in continuous and _is_categorical(column)):
            variables.append(_categorical(column))
        else:
            variables.append(numeric(column))
    schema = Schema(tuple(variables), tuple(left_out), time)
    if not meters:
        _refuse_nothing(schema)
    return schema, meters


def _refuse_nothing(schema: Schema) -> None:
    if schema.variables:
        return
    left = schema.left_out[:1]
    why = "".join(f" ({each.name!r}: {each.reason})" for each in left)
    raise TableError(
        f"No column can be learned from{why}.",
        "a rule needs at least one column of states or numbers; name the columns that hold them.",
        see=("categorical", "continuous"),
    )


def _check_by(table: Table, by: str, time: str | None) -> None:
    """Refuse a column that cannot tell series apart."""
    column = table.column_of().get(by)
    if column is None:
        hint = did_you_mean(by, table.names)
        raise ParameterError.of("by", "name a column of the table", by, hint)
    if by == time:
        raise ParameterError.of("by", "not be the column of times", by)
    if 2 * len(np.unique(column.present)) > table.n_rows:
        raise ParameterError.of(
            "by",
            "name a column that identifies series, whose values repeat from row to row",
            by,
        )


def infer_added(schema: Schema, added: Sequence[Column]) -> Schema:
    """Infer the kinds of columns that were added to a table whose schema is known."""
    variables, left_out = list(schema.variables), list(schema.left_out)
    for column in added:
        reason = _reason_to_leave_out(column, forced=False)
        if reason is not None:
            left_out.append(LeftOut(column.name, reason))
        else:
            variables.append(_categorical(column) if _is_categorical(column) else numeric(column))
    extended = Schema(tuple(variables), tuple(left_out), schema.time)
    _refuse_nothing(extended)
    return extended


def variable_columns(schema: Schema, table: Table) -> tuple[Column, ...]:
    """Return the columns of the variables, in the schema's order."""
    column_of = table.column_of()
    return tuple(column_of[name] for name in schema.names)


def _check_names(table: Table, settings: Settings) -> None:
    """Refuse settings that name columns which are not there, or cannot be what they say."""
    categorical, continuous = settings.categorical, settings.continuous
    times = () if settings.time is None else (settings.time,)
    for option, names in (
        ("categorical", categorical),
        ("continuous", continuous),
        ("ignore", settings.ignore),
        ("time", times),
    ):
        if isinstance(names, str) or not isinstance(names, Iterable):
            listed = f"put it in a list: [{names!r}]." if isinstance(names, str) else None
            raise ParameterError.of(option, "be a list of column names", names, listed)
        for name in names:
            if name not in table.names:
                hint = did_you_mean(name, table.names)
                raise ParameterError.of(option, "name columns of the table", name, hint)
    both = [name for name in categorical if name in continuous]
    if both:
        raise ParameterError(
            f"A column must be either categorical or continuous, got both for {shorten(both)}."
        )
    column_of = table.column_of()
    for name in (*categorical, *continuous, *times):
        fault = column_of[name].fault
        if fault is not None:
            raise fault.error(name)
    for name in continuous:
        if column_of[name].kind not in ("number", "boolean"):
            held = f"it holds {NOUNS[column_of[name].kind]}."
            raise ParameterError.of("continuous", "name columns of numbers", name, held)


def _time_axis(table: Table, columns: Sequence[Column]) -> str | None:
    """Return the column of times: one of dates, else a text that reads as dates, else times of day."""
    names = {column.name for column in columns}
    dates = [column for column in table.columns if column.name in names]
    clocks = (column.name for column in columns if column.kind == "time")
    return find_axis(dates) or find_axis(columns) or next(clocks, None)


def _reason_to_leave_out(column: Column, forced: bool) -> str | None:
    if column.kind == "faulty":
        assert column.fault is not None
        raise column.fault.error(column.name)
    if not forced:
        return reason_to_leave_out(column)
    if column.kind == "time":
        return "dates"
    unreadable = column.kind == "other" or column.n_missing == len(column.values)
    return reason_to_leave_out(column) if unreadable else None


def _reason_for_change(counter: Counter, table: Table) -> str:
    """Return why the change of a meter is learned instead of its value."""
    change = delta_name(counter.column)
    if change in table.names:
        return f"{counter.reason}; its change {change!r} is a column already"
    return f"{counter.reason}; its change {change!r} is learned instead"


def _is_categorical(column: Column) -> bool:
    if column.kind != "number" or column.categorical:
        return True
    return len(np.unique(column.values[:1000])) <= MAX_STATES * 2 and (
        len(np.unique(column.present)) <= MAX_STATES
    )


def count_states(column: Column) -> dict[Scalar, int]:
    """Count how often each state occurs, ascending.

    Unlike quantities, states are compared exactly: large whole numbers stay distinct.
    """
    if column.kind == "text":
        counts = np.bincount(column.present, minlength=len(column.categories))
        used = np.flatnonzero(counts).tolist()
        found: dict[Scalar, int] = {column.categories[code]: int(counts[code]) for code in used}
        return dict(sorted(found.items()))
    states, counts = np.unique(column.present, return_counts=True)
    if states.dtype.kind == "f":
        states = states + 0.0
    return dict(zip(states.tolist(), counts.tolist(), strict=True))


def _categorical(column: Column) -> Categorical:
    refuse_infinite(column.name, np.isinf(column.values))
    states = count_states(column)
    holds = column.kind if column.kind in ("text", "boolean") else "number"
    return Categorical(column.name, holds, tuple(states), tuple(states.values()), column.n_missing)


def numeric(column: Column) -> Numeric:
    """Describe a column of numbers as a continuous variable."""
    refuse_infinite(column.name, np.isinf(numbers(column)))
    found = distinct(column)
    values, counts = found.values, found.counts
    mean, std = _moments(values, counts)
    starts = np.concatenate([[0], found.cuts(MAX_HISTOGRAM_BINS)]).astype(np.int64)
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


def refuse_infinite(name: str, infinite: Mask, first: int = 0) -> None:
    """Refuse infinity in a column, given which rows hold it and the number of the first one."""
    if infinite.any():
        raise TableError(
            f"Column {name!r} holds infinity in row {first + int(infinite.argmax())}; training values "
            "must be finite.",
            "replace it with a missing value (NaN), or drop the row.",
        )


def _moments(values: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean and standard deviation, scaled by a power of two so that no square overflows.

    Counts are reduced first, so that repeating all rows gives the same numbers to the last bit.
    """
    counts = counts // np.gcd.reduce(counts)
    exponent = math.frexp(max(abs(values[0]), abs(values[-1])))[1]
    scaled = np.ldexp(values, -exponent)
    total = counts.sum()
    mean = float((scaled * counts).sum() / total)
    mean = min(max(mean, float(scaled[0])), float(scaled[-1]))  # rounding must not leave the range
    variance = float((np.square(scaled - mean) * counts).sum() / total)
    if len(values) == 1:
        return float(values[0]), 0.0
    return math.ldexp(mean, exponent), math.ldexp(math.sqrt(variance), exponent)
