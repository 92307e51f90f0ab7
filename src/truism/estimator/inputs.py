"""What callers hand to a detector: parameters, positions of rows, tables; and warnings to callers."""

import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, TableError
from truism.model.settings import Settings
from truism.table.cells.conforming import conform_table
from truism.table.cells.notices import Converted
from truism.table.columns import Table
from truism.table.layouts import Reading
from truism.table.notices import Notice

_OUR_SIDE = {"truism", "sklearn"}


def settings_of(detector: Any) -> Settings:
    """Return a detector's parameters as settings; learning refuses what is wrong with them."""

    def plain(value: Any) -> Any:
        return value.item() if isinstance(value, np.generic) else value

    names = (
        *("min_support", "support_ratio", "max_predicates", "cutoffs", "scoring", "time"),
        *("random_state", "ordered", "by", "lookback", "max_false_incidents"),
    )
    values = {name: plain(getattr(detector, name)) for name in names}
    for name in ("categorical", "continuous", "ignore"):
        given = getattr(detector, name)
        listed = isinstance(given, Iterable) and not isinstance(given, str)
        values[name] = tuple(given) if listed else given
    return Settings(**values)


def refuse_path(X: Any) -> None:  # noqa: N803
    """Raise an error if a table is given as the name of a file."""
    if isinstance(X, str | os.PathLike):
        raise TableError(
            f"X must be a table, not the name of a file, got {os.fspath(X)!r}.",
            "read it first, for example with pandas.read_csv or polars.read_parquet.",
        )


def followed(table: Table, reading: Reading | None) -> tuple[Table, tuple[Notice, ...]]:
    """Return a table read as the one that was learned, and what callers should know about that."""
    if reading is None:
        return table, ()
    table, notices = conform_table(table, reading)
    return table, tuple(notice for notice in notices if not isinstance(notice, Converted))


def as_positions(rows: Any, n_rows: int) -> NDArray[np.int64]:
    """Return positions of rows as an array; refuse masks and rows that do not exist."""
    if isinstance(rows, int | np.integer):
        raise ParameterError.of(
            "rows", "be a list of positions", rows, f"write rows=[{int(rows)}]."
        )
    for row in rows:
        if isinstance(row, bool | np.bool_):
            raise ParameterError.of(
                "rows",
                "be positions",
                bool(row),
                "numpy.flatnonzero(mask) gives the positions where a mask is true.",
            )
        if not isinstance(row, int | np.integer) or not 0 <= row < n_rows:
            shown = row.item() if isinstance(row, np.generic) else row
            raise ParameterError.of(
                "rows",
                f"be positions from 0 to {n_rows - 1}",
                shown,
                "positions count the rows of the table, whatever its index says.",
            )
    return np.array(list(rows), np.int64)


def warn_caller(message: str) -> None:
    """Warn, and point at the line of the user's code that called truism."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].split(".")[0] in _OUR_SIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
