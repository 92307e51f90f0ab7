"""Series in a table: which rows follow each other, what the past adds to them, and what is left of it.

Rows of one series follow each other unless time leaves a gap between them. What scoring has to know of
earlier rows is a `State`, a value that goes in with a table and comes out after its last row. Rows in one
piece, in chunks or one by one give equal bits.

The *past* of a variable is an exponential average of the evidence against it over some rows, and adds to
its part of the score.

A sensor that died repeats its last value, or none. The rows of a *stretch* have the same value, or all
lack it. A number counts as dead if it stands still for longer than a whole lookback, although no stretch
of training lasted a third of that; numbers that stood still for longer are never judged. A value is dead
if it is missing for more than a lookback, and for more than three times as long as it ever was. If values
came rounded, stretches say nothing: a number is judged once the series has shown as many decimals as
training has.
"""

import copy
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from truism.arrays import Floats, Rows
from truism.errors import SchemaError
from truism.model.schema import Count, Numeric, Schema
from truism.model.series import LOOKBACK, Memory, Series
from truism.score import kernels
from truism.score.alignment import MISSING, Readings, time_column
from truism.score.weighed import Remembered, Weighed, join_remembered
from truism.table.columns import Column, Table

MIN_SPAN = 3.0  # rows of one kind, if kinds of rows take turns
LASTING = 0.25  # share of the cap above which a variable's past counts as lasting
MAX_DECIMALS = 9
FINE = MAX_DECIMALS + 1
TIMES = 3  # how many times longer than any stretch of training a dead one is
BREAK = 5  # a gap of more than this many usual steps ends what rows have to do with each other
NO_TIME = int(np.iinfo(np.int64).min)  # the time of rows before the first that has one


class Past(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What is left of earlier rows: the state of a series.

    Parameters
    ----------
    averages
        The average of all variables, for each kind of row if kinds take turns.
    n_rows
        Rows since the beginning.
    lasting
        For how many rows each variable's past has been high.

    """

    averages: tuple[Floats, ...]
    n_rows: Count
    lasting: NDArray[np.int32]


def no_past(memory: Memory) -> Past:
    """Return the state at the beginning of a series."""
    nothing = np.zeros(len(memory.usual))
    return Past((nothing,) * memory.period, 0, np.zeros(len(nothing), np.int32))


def share_of(lookback: float, period: int = 1) -> float:
    """Return the share of a new row in the past."""
    span = max(lookback / period, MIN_SPAN) if period > 1 else float(lookback)
    return 2 / (span + 1)


def recall(
    memory: Memory, evidence: Floats, before: Past, anew: NDArray[np.bool_] | None = None
) -> tuple[Remembered, Past]:
    """Return what the past adds to consecutive rows of one series, and what they leave behind.

    Parameters
    ----------
    memory
        How earlier rows count.
    evidence
        Rows × variables, without what grave rules add.
    before
        The state before the first row.
    anew
        In which rows the series begins again; in none when absent.

    """
    found, since = np.empty(evidence.shape), np.empty(evidence.shape, np.int32)
    averages, lasting = np.stack(before.averages), before.lasting.copy()
    n_rows = kernels.memory.recall(
        evidence,
        np.zeros(len(evidence), np.bool_) if anew is None else anew,
        *(before.n_rows, share_of(memory.lookback, memory.period)),
        *(memory.cap, LASTING * memory.cap),
        *(averages, lasting, found, since),
    )
    found *= memory.weight
    return Remembered(found, since), Past(tuple(averages), n_rows, lasting)


class Still(msgspec.Struct, frozen=True, eq=False):
    """What a series has shown so far; arrays have one entry for each variable.

    Parameters
    ----------
    value, n_same
        The latest value, and for how many rows it has been that; 0 if there is none.
    n_missing
        For how many rows it has been missing.
    fine
        Whether it has shown as many decimals as training has: 1 or 0.

    """

    value: Floats
    n_same: Rows
    n_missing: Rows
    fine: Rows


class Judged(msgspec.Struct, frozen=True):
    """A variable that may die.

    Parameters
    ----------
    variable, place
        Its position among the variables, and among the numbers or the states.
    longest
        For how many rows it stays alive.
    decimals
        Of numbers that must not repeat: how many decimals training values have.
    rest
        The number at which it may stay for ever; None if there is none.

    """

    variable: int
    place: int
    longest: int
    decimals: int = 0
    rest: float | None = None


class Stillness:
    """Finds dead variables in rows that follow each other.

    Parameters
    ----------
    schema, memory
        The variables, and how long they stood still in training.
    muted
        Positions of variables that are not judged.

    """

    def __init__(self, schema: Schema, memory: Memory, muted: Sequence[int] = ()) -> None:
        span = max(memory.lookback, LOOKBACK)
        self.worth = worth_of_death(memory)
        self.n_variables = len(schema.variables)
        self.same: list[Judged] = []
        self.missing: list[tuple[bool, Judged]] = []
        self.spared: NDArray[np.bool_] | None = None
        n_numbers = n_states = 0
        for i, variable in enumerate(schema.variables):
            is_number = isinstance(variable, Numeric)
            place = n_numbers if is_number else n_states
            n_numbers, n_states = n_numbers + is_number, n_states + (not is_number)
            if i in muted:
                continue
            longest, absent = memory.longest[i], memory.absent[i]
            if isinstance(variable, Numeric) and 0 < TIMES * longest <= span:
                self.same.append(
                    Judged(i, place, span, decimals_of(variable.edges), memory.rest[i])
                )
            if absent:
                self.missing.append((is_number, Judged(i, place, max(span, TIMES * absent))))

    def sparing(self, spared: NDArray[np.bool_]) -> "Stillness":
        """Return the same for a table in which some variables are not judged: rows × variables."""
        other = copy.copy(self)
        other.spared = spared
        return other

    def begin(self) -> Still:
        """Return what a series has shown before its first row."""
        nought = np.zeros(self.n_variables, np.int64)
        return Still(np.zeros(self.n_variables), nought, nought, nought)

    def follow(
        self, readings: Readings, before: Still, anew: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], Still]:
        """Return for how many rows each dead variable has been so, and what to keep.

        Parameters
        ----------
        readings
            Consecutive rows of one series.
        before
            What the rows before them have shown.
        anew
            In which rows the series begins again.

        Returns
        -------
        dead, still
            Rows × variables, 0 where a variable is alive; and what is left of the rows.

        """
        dead = np.zeros((len(readings.numbers), self.n_variables), np.int32)
        value, n_same, n_missing, fine = (each.copy() for each in msgspec.structs.astuple(before))
        rows = np.arange(1, len(dead) + 1)
        begins = np.maximum.accumulate(np.where(anew, rows, 0))
        for each in self.same if len(dead) else ():
            i, values = each.variable, readings.numbers[:, each.place]
            lengths = _lengths(values, float(value[i]), int(n_same[i]), anew)
            precise = np.isfinite(values)
            if each.decimals:
                precise[precise] = decimals_up_to(values[precise], each.decimals - 1) == FINE
            latest = np.maximum.accumulate(np.where(precise, rows, int(fine[i]) - 1))
            died = (latest >= begins) & (lengths > each.longest)
            if each.rest is not None:
                died &= values != each.rest
            dead[:, i] = np.where(died, lengths, 0)
            n_same[i], fine[i] = lengths[-1], latest[-1] >= begins[-1]
            value[i] = values[-1] if lengths[-1] else 0.0
        for is_number, each in self.missing if len(dead) else ():
            i = each.variable
            if is_number:
                gone = np.isnan(readings.numbers[:, each.place])
            else:
                gone = readings.codes[:, each.place] == MISSING
            lengths = stretches(gone, int(n_missing[i]), anew)
            dead[:, i] = np.where(lengths > each.longest, lengths, dead[:, i])
            n_missing[i] = lengths[-1]
        return dead, Still(value, n_same, n_missing, fine)

    def weigh(self, weighed: Weighed, dead: NDArray[np.int32]) -> Weighed:
        """Add to what speaks against rows that some variables are dead."""
        assert weighed.remembered is not None
        remembered = msgspec.structs.replace(weighed.remembered, dead=dead)
        parts = weighed.parts + np.where(dead > 0, self.worth, 0.0) if dead.any() else weighed.parts
        return msgspec.structs.replace(weighed, parts=parts, remembered=remembered)


def worth_of_death(memory: Memory) -> float:
    """Return what a dead variable adds to the score: as much as the worst value does in a lookback."""
    return memory.cap * (1 + memory.weight)


def stillness_of(schema: Schema, memory: Memory | None, muted: Sequence[int]) -> Stillness | None:
    """Return what finds dead variables; None if rows are judged by themselves."""
    return None if memory is None else Stillness(schema, memory, muted)


def _lengths(
    values: Floats, latest: float = 0.0, n_same: int = 0, anew: NDArray[np.bool_] | None = None
) -> Rows:
    """Return for how many rows, each one included, a number has been the same; 0 if there is none."""
    known = np.isfinite(values)
    same = np.empty(len(values), np.bool_)
    same[0] = n_same > 0 and values[0] == latest
    same[1:] = values[1:] == values[:-1]
    if anew is not None:
        same &= ~anew
    return np.where(known, stretches(same & known, n_same - 1) + 1, 0)


def stretches(
    goes_on: NDArray[np.bool_], before: int = 0, anew: NDArray[np.bool_] | None = None
) -> Rows:
    """Count for each row since how many rows, itself included, something has gone on.

    >>> stretches(np.array([True, True, False, True]), 5).tolist()
    [6, 7, 0, 1]
    >>> stretches(np.array([True, True, False]), 5, np.array([False, True, True])).tolist()
    [6, 1, 0]
    """
    rows = np.arange(1, len(goes_on) + 1)
    stops = np.where(goes_on, -before, rows)
    if anew is not None:
        stops[anew & goes_on] = rows[anew & goes_on] - 1
    return np.asarray(rows - np.maximum.accumulate(stops))


def stretches_of(values: Floats, missing: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Return for how many rows, each one included, numbers have been the same, and have been missing."""
    if not len(values):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return _lengths(np.where(missing, np.nan, values)), stretches(missing)


def decimals_of(values: Sequence[float]) -> int:
    """Return how many decimals values have, up to `MAX_DECIMALS`."""
    found = decimals_up_to(np.array(values, np.float64), MAX_DECIMALS - 1)
    return min(int(found.max(initial=0)), MAX_DECIMALS)


def decimals_up_to(values: Floats, most: int) -> Rows:
    """Return how many decimals each value has; `FINE` if it has more than `most`.

    >>> decimals_up_to(np.array([3.0, 0.25, 0.125]), 2).tolist() == [0, 2, FINE]
    True
    """
    return functools.reduce(
        lambda found, decimals: np.where(np.round(values, decimals) == values, decimals, found),
        range(most, -1, -1),
        np.full(len(values), FINE),
    )


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
            f"Column {by!r} is missing from the table to score; it identifies the series."
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
