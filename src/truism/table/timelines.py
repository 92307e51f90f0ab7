"""The order of rows in time: which column says it, whether they follow each other, and zones."""

import datetime
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from truism.table.columns import Column, Table, kind_of, numbers
from truism.table.layouts import zone_named
from truism.table.notices import Notice
from truism.table.notices import rows as say_rows
from truism.table.notices import times as say_times

SAME = 0.75  # share of the steps that are the median one: a quarter of the rows may be missing
WHOLE = 0.9  # share of the steps that are whole numbers of it
CLOSE = 0.1  # share of the median step that a step may differ from that
MAX_DISORDER = 0.01  # share of the steps that may go back, or nowhere
ALIKE = 0.25  # share of a variance by which neighbours of a clear order differ less than other rows
_HOUR = 3_600_000_000
_NEAR = 5  # usual steps to the next row of the same hour
_OWN = 0.5  # share of the distinct values of the column that has most: with fewer, a time says less


def find_axis(columns: Sequence[Column]) -> str | None:
    """Return the column that says when each row was: the first one of dates.

    A date that many rows share, such as the beginning of a batch or of what was asked of a database,
    does not say it if another column has more than twice as many.

    >>> from truism.table.frames import as_table
    >>> days = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], "datetime64[s]")
    >>> find_axis(as_table({"_start": days[[0, 0, 0]], "_time": days, "stored": days}).columns)
    '_time'
    """
    dates = [column for column in columns if kind_of(column) == "time"]
    if len(dates) < 2:
        return dates[0].name if dates else None
    n_distinct = [len(np.unique(column.present)) for column in dates]
    enough = _OWN * max(n_distinct)
    return next(column.name for column, n in zip(dates, n_distinct, strict=True) if n >= enough)


def examine(column: Column, by: Column | None = None) -> tuple[Notice, ...]:
    """Return what is unusual about the order of a column of times; `by` tells series apart.

    >>> from truism.table.frames import as_table
    >>> days = np.array(["2024-01-01", "2024-01-01", "2024-01-02", "2024-01-02"], "datetime64[s]")
    >>> when, machine = as_table({"day": days, "machine": ["A", "B", "A", "B"]}).columns
    >>> len(examine(when)), len(examine(when, machine))
    (1, 0)
    """
    if column.kind != "time" or column.values.dtype.kind != "M" or len(column.present) < 2:
        return ()
    return tuple(_oddities(column, by))


def _oddities(column: Column, by: Column | None) -> Iterator[Notice]:
    rows = column.rows
    goes_on = np.ones(max(len(rows) - 1, 0), np.bool_)
    if by is not None:
        series = np.unique(by.values, return_inverse=True)[1]
        if by.missing is not None:
            series[by.missing] = -1
        rows = rows[np.argsort(series[rows], kind="stable")]
        goes_on = np.diff(series[rows]) == 0
    times = column.values[rows].astype(np.int64)
    steps = np.diff(times)
    back = np.flatnonzero((steps < 0) & goes_on) + 1
    ahead = steps[(steps > 0) & goes_on]
    usual = int(np.median(ahead)) if len(ahead) else 0
    repeated = [] if column.zoned else [row for row in back if _repeats_hour(steps, row, usual)]
    if repeated and len(repeated) == len(back):
        moments = dict[str, int]()
        for row in sorted(repeated, key=lambda place: int(rows[place])):
            moment = str(times[row].astype("datetime64[us]").astype("datetime64[m]"))
            moments.setdefault(moment.replace("T", " "), int(rows[row]))
        for moment, first in moments.items():
            text = (
                f"Times in column {column.name!r} go back by an hour in row {first:,} ({moment}), as "
                "when summer time ends."
            )
            yield Notice("hour_repeated", text, (column.name,), see=("zone",))
    elif len(back):
        text = (
            f"Times in column {column.name!r} run backwards {say_times(len(back))}, first in row "
            f"{rows[back].min():,}; rows stay in the order of the table."
        )
        yield Notice("times_unsorted", text, (column.name,))
    doubled = np.flatnonzero((steps == 0) & goes_on) + 1
    if len(doubled):
        text = (
            f"In column {column.name!r} {say_rows(len(doubled))} "
            f"{'has' if len(doubled) == 1 else 'have'} the time of the row before, first row "
            f"{rows[doubled].min():,}."
        )
        yield Notice("times_doubled", text, (column.name,))


def _repeats_hour(steps: NDArray[np.int64], row: np.intp, usual: int) -> bool:
    """Return whether a step goes back by an hour, less the usual step."""
    return 0 < usual <= _HOUR and abs(int(steps[row - 1]) + _HOUR - usual) <= max(usual, 1_000_000)


def in_zone(column: Column, zone: str) -> tuple[Column, tuple[Notice, ...]]:
    """Return times in a zone: those without one are put there, the others are shown there.

    If an hour occurs twice, the first is in summer time; the second begins where times step back. Where
    they never do, rows are of the hour that goes on without a gap from the row before, or else into the
    row after; where neither is so, there is a doubt.
    """
    if column.kind != "time" or column.values.dtype.kind != "M":
        return column, ()
    if column.zoned:
        return msgspec.structs.replace(column, zone=zone), ()
    doubts: tuple[Notice, ...] = ()
    naive = pa.array(column.values.astype("datetime64[us]"))
    if zone_named(zone) is not None and zone[:1] in "+-":
        offset = zone_named(zone).utcoffset(None)  # type: ignore[union-attr]
        instants = column.values.astype("datetime64[us]") - np.timedelta64(offset)
    else:
        early, late = (
            pc.assume_timezone(naive, zone, ambiguous=which, nonexistent="latest")
            .cast(pa.timestamp("us"))
            .to_numpy(zero_copy_only=False)
            .copy()
            for which in ("earliest", "latest")
        )
        rows, instants = column.rows, early
        second, undecided = _second_time(column.present, (early != late)[rows])
        instants[rows[second]] = late[rows[second]]
        if undecided.any():
            row = int(rows[undecided.argmax()])
            moment = str(column.values[row].astype("datetime64[s]")).replace("T", " ")
            n_rows = int(undecided.sum())
            lie, are = ("lies", "is") if n_rows == 1 else ("lie", "are")
            text = (
                f"In column {column.name!r} {say_rows(n_rows)} {lie} in the hour that a clock change "
                f"repeats, first row {row:,} ({moment}), and {are} taken to be from before the change: "
                "no row around them says which. Times in UTC are never in doubt."
            )
            doubts = (Notice("hour_undecided", text, (column.name,), True),)
    placed = Column(
        column.name, "time", instants, column.missing, index=column.index, zoned=True, zone=zone
    )
    return placed, doubts


def wall_clock(column: Column) -> NDArray[np.datetime64]:
    """Return times as clocks in their own zone showed them; NaT where one is missing.

    >>> when = Column("t", "time", np.array(["2024-07-01T10:00"], "datetime64[us]"), zoned=True,
    ...               zone="Europe/Vienna")
    >>> wall_clock(when).astype("datetime64[m]").astype(str).tolist()
    ['2024-07-01T12:00']
    """
    instants = column.values.astype("datetime64[us]")
    if column.missing is not None:
        instants = np.where(column.missing, np.datetime64("NaT", "us"), instants)
    zone = zone_named(column.zone or "UTC") if column.zoned else None
    if zone is None:
        return instants
    if isinstance(zone, datetime.timezone):
        return np.asarray(instants + np.timedelta64(zone.utcoffset(None)))
    local = pc.local_timestamp(pa.array(instants).cast(pa.timestamp("us", tz=column.zone)))
    return np.asarray(local.to_numpy(zero_copy_only=False))


def _second_time(
    times: NDArray[np.datetime64], twice: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows of a repeated hour are of the second one, and of which that is not certain."""
    second, undecided = np.zeros_like(twice), np.zeros_like(twice)
    if not twice.any():
        return second, undecided
    steps = np.diff(times.astype("datetime64[us]").astype(np.int64))
    ahead = steps[steps > 0]
    near = _NEAR * int(np.median(ahead)) if len(ahead) else 0
    edges = np.flatnonzero(np.diff(twice, prepend=False, append=False))
    for start, end in edges.reshape(-1, 2).tolist():
        back = np.flatnonzero(steps[start : end - 1] < 0)
        if len(back):
            second[start + back[0] + 1 : end] = True
        elif start and 0 <= steps[start - 1] <= near:
            continue
        elif end < len(times) and 0 <= steps[end - 1] <= near:
            second[start:end] = True
        else:
            undecided[start:end] = True
    return second, undecided


def irregularity(steps: NDArray[np.int64]) -> str | None:
    """Say why steps of time are not those of a series; None if they are.

    >>> irregularity(np.array([10] * 19 + [30])) is None
    True
    >>> irregularity(np.array([10, 70, 20, 90]))
    'no step is as long as the median one'
    >>> irregularity(np.array([10, -5, 10, 10]))
    '25 % of the times go back or repeat'
    """
    if not len(steps):
        return "there is one row"
    n_back = int((steps <= 0).sum())
    if n_back > MAX_DISORDER * len(steps):
        return f"{100 * n_back / len(steps):.0f} % of the times go back or repeat"
    lengths = steps / float(np.median(steps[steps > 0]))
    same = np.abs(lengths - 1) <= CLOSE
    whole = (np.abs(lengths - np.rint(lengths)) <= CLOSE) & (lengths > CLOSE)
    if same.mean() >= SAME and whole.mean() >= WHOLE:
        return None
    few = f"{100 * same.mean():.0f} % of the steps are" if same.any() else "no step is"
    return f"{few} as long as the median one"


def is_clear(columns: Iterable[NDArray[np.float64]]) -> bool:
    """Return whether neighbours are far more alike than other rows, in most columns of numbers.

    >>> level, noise = np.sin(np.arange(200) / 20), np.random.default_rng(0).normal(size=200)
    >>> is_clear([level, 2 * level]), is_clear([noise, noise])
    (True, False)
    """
    ratios = []
    for values in columns:
        finite = values[np.isfinite(values)]
        with np.errstate(all="ignore"):  # the largest numbers there are
            ratio = (
                float(np.mean(np.diff(finite) ** 2) / (2 * np.var(finite)))
                if len(finite) > 2
                else 1
            )
        ratios += [ratio] if np.isfinite(ratio) else []
    return bool(ratios) and float(np.median(ratios)) < ALIKE


def why_alone(table: Table, axis: str | None) -> Notice | None:
    """Say why rows that seem to follow each other are judged one by one; None if nothing says they do."""
    column = None if axis is None else table.column_of().get(axis)
    if column is not None and column.values.dtype.kind == "M":
        times: NDArray[np.int64] = column.present.astype(np.int64)
        reason = irregularity(np.diff(times))
    elif is_clear(numbers(column) for column in table.columns if column.kind == "number"):
        reason = "no column says when, although neighbours are far more alike than other rows"
    else:
        return None
    if reason is None:
        return None
    text = (
        f"Rows are judged one by one, not as a series: {reason}. If they follow each other, say so with "
        "--ordered."
    )
    return Notice("no_series", text)
