"""A table at first sight: a table and its reading go in, a `Look` comes out.

A `Look` says what was read and which columns are worth learning from. Whatever shows it has nothing left
to compute.
"""

from collections.abc import Iterable

import msgspec
import numpy as np

from truism.table.columns import Column, Table, kind_of
from truism.table.counters import MAX_STATES, are_in_order, find_counter, reason_to_leave_out
from truism.table.layouts import ColumnReading, Kind, Reading
from truism.table.notices import Notice
from truism.table.timelines import find_axis, why_alone

N_FIRST = 5
N_BINS = 20
N_STATES = 8


class StateCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A state and how many rows are in it."""

    state: str
    count: int


class ColumnLook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one column holds."""

    name: str
    kind: Kind
    unit: str | None
    first: tuple[str, ...]  # the first values, as they are shown
    # rows without a value, and distinct values
    n_missing: int
    n_distinct: int
    # the smallest and the largest number or time, as they are shown
    low: str | None
    high: str | None
    bins: tuple[
        int, ...
    ]  # how many numbers or times lie in each of equally wide bins from low to high
    states: tuple[
        StateCount, ...
    ]  # the most frequent states of text, of booleans and of few numbers
    style: str | None  # how times are written
    words: tuple[str, ...]  # texts taken as missing
    oddities: tuple[Notice, ...]  # notices about it
    # why it would be left out, None where it would be learned from, is the time axis, or was named
    # as a column of states
    left_out: str | None
    change: str | None  # why its change would be taken instead of its value


class Look(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a table holds."""

    n_rows: int
    columns: tuple[ColumnLook, ...]
    time: str | None  # the time column; None if there is none
    # the first and the last time, as they are shown
    start: str | None
    end: str | None
    step: float | None  # the usual step between rows, in seconds
    reading: Reading  # how it was read
    notices: tuple[Notice, ...] = ()  # all notices, about single columns or not


def look(table: Table, reading: Reading, notices: Iterable[Notice] = ()) -> Look:
    """Return what a table holds and what learning would make of it.

    >>> from truism.table.frames import as_table
    >>> from truism.table.columns import reading_of
    >>> table = as_table({"pump": ["on", "off", "on"], "level": [0.5, 0.75, 2.5]})
    >>> [(column.name, column.kind) for column in look(table, reading_of(table)).columns]
    [('pump', 'text'), ('level', 'number')]
    """
    notices = tuple(notices)
    readings = reading.column_of()
    axis = reading.axis if reading.axis in table.names else find_axis(table.columns)
    chosen = {axis, *reading.layout.states}
    in_order = are_in_order(table.column_of().get(axis or ""))
    columns = tuple(
        _look_at(column, readings.get(column.name), notices, column.name in chosen, in_order)
        for column in table.columns
    )
    alone = None if reading.layout.by in table.names else why_alone(table, axis)
    notices += () if alone is None else (alone,)
    start, end, step = _span(None if axis is None else table.column_of()[axis])
    return Look(table.n_rows, columns, axis, start, end, step, reading, notices)


def _look_at(
    column: Column,
    reading: ColumnReading | None,
    notices: tuple[Notice, ...],
    chosen: bool,
    in_order: bool,
) -> ColumnLook:
    reading = reading or ColumnReading(column.name, kind_of(column))
    low, high, bins = _histogram(column)
    counter = None if chosen else find_counter(column, in_order=in_order)
    readable = column.kind not in ("empty", "other", "faulty")
    return ColumnLook(
        name=column.name,
        kind=kind_of(column),
        unit=reading.unit,
        first=tuple(_shown(column, row) for row in range(min(N_FIRST, len(column.values)))),
        n_missing=column.n_missing,
        n_distinct=len(np.unique(column.present)) if readable else 0,
        low=low,
        high=high,
        bins=bins,
        states=_states(column),
        style=reading.style,
        words=reading.words,
        oddities=tuple(notice for notice in notices if column.name in notice.columns),
        left_out=None if chosen else reason_to_leave_out(column),
        change=counter.reason if counter is not None and counter.counts == "amounts" else None,
    )


def _shown(column: Column, row: int) -> str:
    value = column.cell(row)
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _histogram(column: Column) -> tuple[str | None, str | None, tuple[int, ...]]:
    """Return the smallest and largest value and how many lie in each of equally wide bins."""
    if column.kind not in ("number", "time"):
        return None, None, ()
    values = column.present.astype(np.int64 if column.kind == "time" else np.float64)
    finite = np.isfinite(values)
    rows, values = column.rows[finite], values[finite].astype(np.float64)
    if not len(values):
        return None, None, ()
    low, high = (_shown(column, int(rows[place])) for place in (values.argmin(), values.argmax()))
    if values.min() == values.max():
        return low, high, (len(values),)
    exponent = int(np.frexp(np.abs(values).max())[1])
    values = np.ldexp(values, -exponent)  # so that no difference overflows
    spread = (values - values.min()) / 2 ** np.floor(np.log2(np.ptp(values) + 1e-300))
    counts, _ = np.histogram(spread, N_BINS)
    return low, high, tuple(counts.tolist())


def _states(column: Column) -> tuple[StateCount, ...]:
    if column.kind == "text":
        counts = np.bincount(column.present, minlength=len(column.categories))
        pairs = [(-int(n), text) for n, text in zip(counts, column.categories, strict=False) if n]
    elif column.kind in ("boolean", "number"):
        values, occurrences = np.unique(column.present, return_counts=True)
        if len(values) > MAX_STATES:
            return ()
        pairs = [
            (-n, str(value)) for value, n in zip(values.tolist(), occurrences.tolist(), strict=True)
        ]
    else:
        return ()
    return tuple(StateCount(text, -count) for count, text in sorted(pairs)[:N_STATES])


def _span(column: Column | None) -> tuple[str | None, str | None, float | None]:
    if column is None or not len(column.present):
        return None, None, None
    rows, times = column.rows, column.present.astype(np.int64)
    steps = np.diff(times)
    ahead = steps[steps > 0]
    step = float(np.median(ahead)) / 1e6 if len(ahead) else None
    first, last = int(rows[times.argmin()]), int(rows[times.argmax()])
    return _shown(column, first), _shown(column, last), step
