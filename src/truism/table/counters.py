"""Columns that are not learned from as they are: identifiers, and columns that only count.

Counters are recognised by how they grow, never by name alone. A running number (an id, a record number)
says nothing about the process and is left out. A meter (a totaliser, an energy counter) says something by
how much it grew: its change is what counts.
"""

from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.table.columns import Column
from truism.table.notices import times
from truism.table.words import says_counter, words_in

MAX_STATES = 5  # numbers with at most this many distinct values are states
MAX_DISTINCT_TEXT = 0.95  # text with a larger part of distinct values identifies rows
MIN_ROWS = 1_000  # of growing, to be a counter by its values alone
MIN_NAMED_ROWS = 20  # where a whole word of the name says id, counter or total
_UP = 0.5  # part of the steps that must grow where nothing says that rows are in order
_UP_NAMED = 0.1
_MIN_UPS = 10
_FALLS = 0.001  # part of the steps that may fall: counters are reset, or corrected by a little
_UPS_PER_FALL = 50  # at least; a state goes up as often as it goes down
_RESET = 0.1  # part of the count that is left at most


class Counter(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """A column that only grows."""

    column: str
    counts: Literal[
        "rows", "amounts"
    ]  # a running number is left out; of a meter, the change is taken
    n_rows: int  # over how many it grew
    named: bool  # whether a word of its name helped
    n_falls: int = 0  # how often it was reset
    whole: bool = True  # whether it counts in whole numbers

    @property
    def reason(self) -> str:
        """Why it is treated so, to follow its name."""
        what = "running numbers:" if self.counts == "rows" else "a counter:"
        what += " whole" * self.whole
        named = ", and its name says so" if self.named else ""
        grow = "only grow" if not self.n_falls else f"grow, but for {times(self.n_falls)},"
        return f"{what} numbers that {grow} over {self.n_rows:,} rows{named}"

    def __str__(self) -> str:
        does = "is left out" if self.counts == "rows" else "is taken as its change from row to row"
        return f"Column {self.column!r} {does}: it holds {self.reason}."


def are_in_order(axis: Column | None) -> bool:
    """Return whether rows follow each other in time, so that what never falls is not merely sorted."""
    if axis is None or axis.kind != "time":
        return False
    return bool((np.diff(axis.present.astype(np.int64)) >= 0).all())


def find_counter(column: Column, *, in_order: bool = False) -> Counter | None:
    """Return what a column counts, None where it is an ordinary column.

    Where rows are `in_order` of time, it may grow seldom, and have decimals.

    >>> from truism.table.frames import as_table
    >>> find_counter(as_table({"x": list(range(0, 4000, 2))}).columns[0]).counts
    'rows'
    >>> find_counter(as_table({"level": list(range(400))}).columns[0])
    """
    if column.kind != "number" or column.categorical:
        return None
    values = column.present
    named = says_counter(column.name)
    if len(values) < (MIN_NAMED_ROWS if named else MIN_ROWS):
        return None
    if (_steps(values[:MIN_ROWS]) < 0).sum() > max(_FALLS * MIN_ROWS, 1):
        return None
    whole = values.dtype.kind != "f" or bool((values % 1 == 0).all())
    if not np.isfinite(values).all() or not (whole or in_order):
        return None
    steps = _steps(values)
    ups, fallen = steps[steps > 0], np.flatnonzero(steps < 0)
    least = max(MAX_STATES if in_order else _MIN_UPS, _UPS_PER_FALL * len(fallen))
    if len(fallen) > _FALLS * len(steps) or len(ups) < least:
        return None
    reset = values[fallen + 1] <= _RESET * values[fallen]
    if not (reset | (-steps[fallen] <= ups.max())).all():
        return None
    if not in_order and len(ups) < (_UP_NAMED if named else _UP) * len(steps):
        return None
    # Most steps of a running number are its smallest; an id may skip what it likes.
    running = len(ups) == len(steps) and (
        float(np.median(ups)) == float(ups.min()) or "id" in words_in(column.name)
    )
    needed_name = len(values) < MIN_ROWS or (not in_order and len(ups) < _UP * len(steps))
    what: Literal["rows", "amounts"] = "rows" if running else "amounts"
    return Counter(column.name, what, len(values), needed_name, len(fallen), whole)


def _steps(values: NDArray[Any]) -> NDArray[Any]:
    """Return the differences of neighbours, also of numbers without a sign."""
    return np.diff(values.astype(np.float64) if values.dtype.kind == "u" else values)


def reason_to_leave_out(column: Column) -> str | None:
    """Return why a column is not learned from, None where it is.

    >>> from truism.table.frames import as_table
    >>> reason_to_leave_out(as_table({"id": list(range(50))}).columns[0])
    'running numbers: whole numbers that only grow over 50 rows, and its name says so'
    """
    if column.fault is not None:
        return f"it {column.fault.reason}"
    n_present = len(column.values) - column.n_missing
    if n_present == 0:
        return "every value is missing"
    if column.kind == "time":
        return "dates, and the time axis is another column"
    if column.kind == "text":
        n_distinct = len(np.unique(column.present))
        if n_distinct > MAX_STATES and n_distinct > MAX_DISTINCT_TEXT * n_present:
            return f"text with {n_distinct:,} distinct values in {n_present:,} rows"
    counter = find_counter(column)
    if counter is not None and counter.counts == "rows":
        return counter.reason
    return "whole numbers that count the rows" if _counts_rows(column) else None


def _counts_rows(column: Column) -> bool:
    """Return whether each row has its own whole number and, but for a few missing ones, no other."""
    values, n_rows = column.present, len(column.values)
    if column.kind != "number" or len(values) <= MAX_STATES + 1:
        return False
    if len(values) < MAX_DISTINCT_TEXT * n_rows:
        return False
    low, high = values.min(), values.max()
    if not np.isfinite([low, high]).all() or int(high) - int(low) >= n_rows:
        return False
    return bool((values % 1 == 0).all()) and len(np.unique(values)) == len(values)
