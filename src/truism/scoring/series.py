"""Series in a table: which rows follow each other, where a past begins anew, and what is left of it.

Rows of one series follow each other unless time leaves a gap between them. What scoring has to know of
earlier rows is a `State`, a value that goes in with a table and comes out after its last row.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from truism.arrays import Rows
from truism.errors import SchemaError
from truism.model.schema import Schema
from truism.model.series import Memory, Series
from truism.scoring.alignment import time_column
from truism.scoring.memory import Past, no_past, recall
from truism.scoring.readings import Readings
from truism.scoring.stillness import Still, Stillness
from truism.scoring.weighed import Remembered, Weighed, join_remembered
from truism.table.columns import Column, Table

BREAK = 5  # a gap of more than this many usual steps ends what rows have to do with each other

NO_TIME = int(np.iinfo(np.int64).min)  # the time of rows before the first that has one

Time = Annotated[int, Meta(ge=NO_TIME, le=-NO_TIME - 1)]  # in microseconds


class Latest(msgspec.Struct, frozen=True, eq=False):
    """What is left of one series.

    Parameters
    ----------
    past
        Its past, if that counts.
    time
        Its last row's time in microseconds.
    still
        For how long its values have stood still; None if that is not known.

    """

    past: Past | None
    time: Time | None
    still: Still | None = None


State = Mapping[str, Latest]
"""What is left of each series, by its name."""


class Timeline(msgspec.Struct, frozen=True, eq=False):
    """The rows of a table as series.

    Parameters
    ----------
    names
        The names of the series; one empty name if there is nothing to tell several apart.
    of_row
        The position in `names` of each row's series.
    times
        Each row's time in microseconds; None if there are no times.
    breaks
        Where a row does not follow the one before it in its series.

    """

    names: tuple[str, ...]
    of_row: Rows
    times: NDArray[np.int64] | None
    breaks: NDArray[np.bool_]

    def series(self, block: slice) -> Iterator[tuple[str, Rows]]:
        """Yield the series in a block, and the rows of each."""
        for number in np.unique(self.of_row[block]).tolist():
            yield self.names[number], np.flatnonzero(self.of_row[block] == number) + block.start

    def runs(self, block: slice) -> Iterator[Rows]:
        """Yield the rows of a block that follow each other without a break."""
        for _, rows in self.series(block):
            yield from self.divided(rows)

    def divided(self, rows: Rows) -> Iterator[Rows]:
        """Divide the rows of a series where one does not follow the one before it."""
        return filter(len, np.split(rows, np.flatnonzero(self.breaks[rows])))


def lay_out(series: Series, schema: Schema, table: Table, state: State | None = None) -> Timeline:
    """Find the series in a table, and where a past begins anew.

    Parameters
    ----------
    series
        What the model knows about the order of rows.
    schema
        The model's columns.
    table
        The rows.
    state
        What is left of earlier tables.

    """
    names, of_row = _names(series.by, table)
    times = times_in(schema, table)
    breaks = np.zeros(table.n_rows, np.bool_)
    longest = np.inf if series.step is None else BREAK * series.step * 1e6
    for number, name in enumerate(names):
        rows = np.flatnonzero(of_row == number)
        if not len(rows):
            continue
        left = (state or {}).get(name)
        breaks[rows[:1]] = left is None
        if times is None:
            continue
        before = times[rows[0]] if left is None or left.time is None else left.time
        steps = np.abs(np.diff(times[rows], prepend=before))
        breaks[rows] |= steps > longest
    return Timeline(names, of_row, times, breaks)


def times_in(schema: Schema, table: Table) -> NDArray[np.int64] | None:
    """Return each row's time in microseconds; None if there are no times."""
    return _microseconds(time_column(schema, table))


def seconds_in(times: Rows | None) -> float | None:
    """Return how long it is from the first time to the last; None if that is not known, or no time.

    >>> seconds_in(np.array([0, 5_000_000])), seconds_in(np.array([5, 0])), seconds_in(None)
    (5.0, None, None)
    """
    if times is None or not len(times) or NO_TIME in (times[0], times[-1]):
        return None
    return float(times[-1] - times[0]) / 1e6 if times[-1] > times[0] else None


def rows_by_series(by: str | None, table: Table) -> dict[str, Rows]:
    """Return the rows of each series in a table, by its name."""
    names, of_row = _names(by, table)
    found = {name: np.flatnonzero(of_row == number) for number, name in enumerate(names)}
    return {name: rows for name, rows in found.items() if len(rows)}


def remember(
    memory: Memory,
    timeline: Timeline,
    block: slice,
    weighed: Weighed,
    state: State,
    stillness: Stillness | None = None,
) -> tuple[Weighed, State]:
    """Add the past to the rows of a block; return them, and what is left after them."""
    pieces = weighed.pieces
    assert pieces is not None
    plain = np.add(pieces.plain, pieces.rarities, order="C")
    stills: dict[str, Still] = {}
    if stillness is not None:
        dead, stills = _find_dead(stillness, timeline, block, pieces.readings, state)
    after = dict(state)
    found: list[tuple[Rows, Remembered]] = []
    for name, rows in timeline.series(block):
        at = rows - block.start
        left_behind = after[name].past if name in after else None
        before = no_past(memory) if left_behind is None else left_behind
        own = plain if len(rows) == len(plain) else plain[at]
        recalled, left = recall(memory, own, before, timeline.breaks[rows])
        found.append((at, recalled))
        time = None if timeline.times is None else int(timeline.times[rows[-1]])
        after[name] = Latest(left, time, stills.get(name))
    remembered = found[0][1] if len(found) == 1 else _gathered(found)
    parts = np.add(weighed.parts, remembered.past, order="C")
    weighed = msgspec.structs.replace(weighed, parts=parts, remembered=remembered)
    return weighed if stillness is None else stillness.weigh(weighed, dead), after


def _find_dead(
    stillness: Stillness, timeline: Timeline, block: slice, readings: Readings, state: State
) -> tuple[NDArray[np.int32], dict[str, Still]]:
    """Find the variables that died in the rows of a block, and what each series has shown by now."""
    dead = np.zeros((len(readings.numbers), stillness.n_variables), np.int32)
    stills = {name: each.still for name, each in state.items() if each.still is not None}
    for name, rows in timeline.series(block):
        before, at = stills.get(name) or stillness.begin(), rows - block.start
        dead[at], stills[name] = stillness.follow(readings.take(at), before, timeline.breaks[rows])
    if stillness.spared is not None:
        dead[stillness.spared[block]] = 0
    return dead, stills


def last_rows(timeline: Timeline, state: State) -> State:
    """Return what is left of series whose past does not count: when their last rows were."""
    after = dict(state)
    for number, name in enumerate(timeline.names):
        rows = np.flatnonzero(timeline.of_row == number)
        if len(rows):
            time = None if timeline.times is None else int(timeline.times[rows[-1]])
            after[name] = Latest(None, time)
    return after


def _gathered(found: list[tuple[Rows, Remembered]]) -> Remembered:
    """Put what was found for runs of rows back into the order of the block."""
    order = np.argsort(np.concatenate([rows for rows, _ in found]), kind="stable")
    return join_remembered([each for _, each in found]).take(order)


def _names(by: str | None, table: Table) -> tuple[tuple[str, ...], Rows]:
    if by is None:
        return ("",), np.zeros(table.n_rows, np.int64)
    column = table.column_of().get(by)
    if column is None:
        raise SchemaError(
            f"Column {by!r} is missing from the table to score; it tells the series apart."
        )
    known = np.arange(table.n_rows) if column.missing is None else np.flatnonzero(~column.missing)
    _, first, number = np.unique(column.values[known], return_index=True, return_inverse=True)
    of_row = np.full(table.n_rows, len(first))
    of_row[known] = number
    return (*(str(column.cell(int(row))) for row in known[first]), ""), of_row


def _microseconds(times: Column | None) -> NDArray[np.int64] | None:
    """Return times as whole numbers; a row without a time has that of the row before."""
    if times is None or times.values.dtype.kind != "M":
        return None
    found: NDArray[np.int64] = times.values.astype("datetime64[us]").astype(np.int64)
    if times.missing is not None and times.missing.any():
        known = np.where(times.missing, 0, np.arange(len(found)))
        found = found[np.maximum.accumulate(known)]
    return found
