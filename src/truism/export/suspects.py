"""The list of suspects as a table that people edit, and back: which rows of a table such a list names."""

import datetime
from collections.abc import Sequence
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
    """Return suspects of a table as columns: a line for each row, with the reason of its group."""
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
    """Return the rows of a table that the list in a file names by number, by time, or by both."""
    column_of = listed.column_of()
    numbers, moments = column_of.get(ROW), column_of.get(_time_name(time)) if time else None
    if numbers is None and moments is None:
        names = repr(ROW) if time is None else f"{ROW!r} or {_time_name(time)!r}"
        raise TableError(f"{place!r} has no column {names}, so it names no rows.")
    rows = [] if numbers is None else _numbered(numbers, place, table.n_rows)
    if time is not None and moments is not None:
        times = _moments(table.column_of()[time])
        if numbers is None:
            return np.array(_timed(_moments(moments), place, times), np.int64)
        for row, moment in zip(rows, _moments(moments), strict=True):
            if times[row] != moment:
                raise TableError(
                    f"{place!r} says that row {row} was at {moment}, but in the table it was at "
                    f"{times[row]}.",
                    "the list must be of the same files.",
                )
    return np.unique(np.array(rows, np.int64))


def _time_name(time: str) -> str:
    return TIME if time in _OWN else time


def _numbered(column: Column, place: str, n_rows: int) -> list[int]:
    cells = [column.cell(at) for at in range(len(column.values))]
    for cell in cells:
        if isinstance(cell, bool) or not isinstance(cell, int | float) or cell != int(cell):
            shown = "nothing" if cell is None else repr(cell)
            raise TableError(f"{place!r} must have whole numbers in {ROW!r}, got {shown}.")
        if not 0 <= cell < n_rows:
            raise TableError(
                f"{place!r} names row {int(cell)}, which a table of {n_rows:,} rows does not have.",
                "rows are counted from 0; the list must be of the same files.",
            )
    return [int(cell) for cell in cells]


def _timed(moments: Sequence[Any], place: str, times: Sequence[Any]) -> list[int]:
    there, named = {*times}, {*moments}
    for moment in moments:
        if moment not in there:
            raise TableError(
                f"{place!r} names {moment}, which is no time of the table.",
                "the list must be of the same files.",
            )
    return [row for row, time in enumerate(times) if time in named]


def _moments(column: Column) -> list[Any]:
    """Return times so that they can be compared, in whatever zone they are."""
    cells = map(dated(column).cell, range(len(column.values)))
    return [
        cell.astimezone(datetime.UTC)
        if isinstance(cell, datetime.datetime) and cell.tzinfo is not None
        else cell
        for cell in cells
    ]
