"""What callers hand to a detector: parameters, positions of rows, tables; and warnings to callers."""

import datetime
import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from truism.errors import ParameterError, TableError
from truism.model.settings import Settings
from truism.table.columns import Table
from truism.table.layouts import Reading
from truism.table.notices import refuse_doubts
from truism.table.texts import conform_table

_OUR_SIDE = {"truism", "sklearn"}


def settings_of(detector: Any) -> Settings:
    """Return a detector's parameters as settings; learning refuses what is wrong with them."""

    def plain(value: Any) -> Any:
        return value.item() if isinstance(value, np.generic) else value

    names = [name for name in Settings.__struct_fields__ if hasattr(detector, name)]
    values = {name: plain(getattr(detector, name)) for name in names}
    for name in ("categorical", "continuous", "ignore"):
        if isinstance(values[name], Iterable) and not isinstance(values[name], str):
            values[name] = tuple(values[name])
    return Settings(**values)


def one_row(X: Any, time: str | None = None) -> Any:  # noqa: N803
    """Return a row of a dataframe, a Series with names, as a dict; anything else as it is.

    What an index of times said is the Series' own name, and goes to the column of times.
    """
    names = getattr(X, "index", None)
    if names is None or getattr(X, "ndim", 0) != 1 or not hasattr(names, "tolist"):
        return X
    if not len(X) or not all(isinstance(name, str) for name in names):
        return X
    row = dict(zip(names, X.tolist(), strict=True))
    if len(row) < len(X):
        raise TableError("The names of a row must be distinct, got some of them twice.")
    if time is not None and time not in row and isinstance(X.name, datetime.datetime):
        row[time] = X.name
    return row


def is_row(X: Any) -> bool:  # noqa: N803
    """Return whether something is one row: a Series with names, or a dict of single values."""
    row = one_row(X)
    return isinstance(row, dict) and all(
        isinstance(value, str) or not hasattr(value, "__len__") for value in row.values()
    )


def check_shape(detector: Any, X: Any, *, reset: bool) -> Any:  # noqa: N803
    """Let scikit-learn check rows without named columns; that sparse ones become dense is no news."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "pandas.DataFrame with sparse columns")
        return validate_data(
            detector, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=1
        )


def refuse_path(X: Any) -> None:  # noqa: N803
    """Raise an error if a table is given as the name of a file."""
    if isinstance(X, str | os.PathLike):
        raise TableError(
            f"X must be a table, not the name of a file, got {os.fspath(X)!r}.",
            "read it first, for example with pandas.read_csv or polars.read_parquet.",
        )


def followed(
    table: Table,
    reading: Reading | None,
    *,
    strict: bool = False,
    warned: set[tuple[str, ...]] | None = None,
) -> Table:
    """Return a table read as the one that was learned; warn about, or refuse, what is in doubt.

    Of parts of one table, `said` is what was warned about in earlier parts, which is not said again.
    """
    if reading is None:
        return table
    table, notices = conform_table(table, reading)
    if strict:
        refuse_doubts(notices)
    for notice in notices:
        about = (notice.code, *notice.columns)
        if notice.code == "column_converted" or (warned is not None and about in warned):
            continue
        if warned is not None:
            warned.add(about)
        warn_caller(str(notice))
    return table


def names_in(parameter: str, given: Any) -> tuple[str, ...]:
    """Return a parameter that lists columns."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError.of(parameter, "be a list of columns", given)
    return tuple(given)


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
