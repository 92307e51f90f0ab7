"""The list of suspects as a table that people edit, and back: which rows of a table such a list names."""

import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truism.errors import TableError
from truism.explain.explanations import alike
from truism.model.wording import tame
from truism.review.suspects import Suspects
from truism.table.columns import Column, Table
from truism.table.times import dated

ROW, TIME = "row", "time"
_OWN = (ROW, "group", "score", "hidden", "variable", "expected", "found", "because", "evidence")


def suspects_as_columns(suspects: Suspects, table: Table) -> dict[str, list[Any]]:
    """Return suspects as columns: a line for each row, with the reason of its group.

    Parameters
    ----------
    suspects
        The suspects.
    table
        The table they are from.

    """
    time = suspects.time
    lines = [(row, number, group) for number, group in enumerate(suspects, 1) for row in group.rows]
    columns: dict[str, list[Any]] = {ROW: [row for row, _, _ in lines]}
    if time is not None:
        moments = dated(table.column_of()[time])
        columns[_time_name(time)] = alike([moments.cell(row) for row, _, _ in lines])
    reasons = [
        (blame.variable, blame.reasons[0])
        for _, _, group in lines
        for blame in group.explanation.blames[:1]
    ]
    hidden = {*suspects.hidden.tolist()}
    return columns | {
        "group": [number for _, number, _ in lines],
        "score": [float(f"{group.score:.4g}") for _, _, group in lines],
        "hidden": ["yes" if row in hidden else "no" for row, _, _ in lines],
        "variable": [tame(name) for name, _ in reasons],
        "expected": [tame(reason.expected) for _, reason in reasons],
        "found": [tame(reason.found) for _, reason in reasons],
        "because": [tame(reason.because or "") for _, reason in reasons],
        "evidence": [reason.evidence for _, reason in reasons],
    }


def listed_rows(listed: Table, place: str, table: Table, time: str | None) -> NDArray[np.int64]:
    """Return the rows of a table that a list names by number, by time, or by both.

    Parameters
    ----------
    listed
        The list: a column ``row``, or one with the name of the column of times, or both.
    place
        The name of its file.
    table
        The table.
    time
        Its column of times, if there is one.

    """
    column_of = listed.column_of()
    numbers, moments = column_of.get(ROW), column_of.get(_time_name(time)) if time else None
    if numbers is None and moments is None:
        names = repr(ROW) if time is None else f"{ROW!r} or {_time_name(time)!r}"
        raise TableError(f"{place!r} has no column {names}, so it names no rows.")
    times = dated(table.column_of()[time]) if time is not None and moments is not None else None
    if numbers is None:
        assert moments is not None
        assert times is not None
        return _by_time(dated(moments), place, times, table.n_rows)
    rows = _by_number(numbers, place, table.n_rows)
    if moments is not None and times is not None:
        _refuse_others(dated(moments), place, times, rows)
    return np.unique(np.array(rows, np.int64))


def _time_name(time: str) -> str:
    return TIME if time in _OWN else time


def _by_number(column: Column, place: str, n_rows: int) -> list[int]:
    rows = []
    for cell in map(column.cell, range(len(column.values))):
        if isinstance(cell, bool) or not isinstance(cell, int | float) or cell != int(cell):
            shown = "nothing" if cell is None else repr(cell)
            raise TableError(f"{place!r} must have whole numbers in {ROW!r}, got {shown}.")
        if not 0 <= cell < n_rows:
            raise TableError(
                f"{place!r} names row {int(cell)}, which a table of {n_rows:,} rows does not have.",
                "rows are counted from 0; the list must be of the same files.",
            )
        rows.append(int(cell))
    return rows


def _by_time(column: Column, place: str, times: Column, n_rows: int) -> NDArray[np.int64]:
    rows_at: dict[Any, list[int]] = {}
    for row in range(n_rows):
        rows_at.setdefault(_moment(times, row), []).append(row)
    rows: set[int] = set()
    for at in range(len(column.values)):
        moment = _moment(column, at)
        if moment not in rows_at:
            raise TableError(
                f"{place!r} names {moment}, which is no time of the table.",
                "the list must be of the same files.",
            )
        rows.update(rows_at[moment])
    return np.array(sorted(rows), np.int64)


def _refuse_others(column: Column, place: str, times: Column, rows: list[int]) -> None:
    """Raise an error if a list has other times than the rows that it names."""
    for at, row in enumerate(rows):
        listed_time, time = _moment(column, at), _moment(times, row)
        if listed_time != time:
            raise TableError(
                f"{place!r} says that row {row} was at {listed_time}, but in the table it was at {time}.",
                "the list must be of the same files.",
            )


def _moment(column: Column, row: int) -> Any:
    """Return a time so that it can be compared, in whatever zone it was told."""
    cell = column.cell(row)
    if isinstance(cell, datetime.datetime) and cell.tzinfo is not None:
        return cell.astimezone(datetime.UTC)
    return cell
