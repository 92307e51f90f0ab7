"""What users hand to the detector: tables with names or without, positions, numbers of threads.

Each function takes one of these, and gives it as the functional core wants it or refuses it.
"""

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, TableError
from truism.table.columns import Table

_OUR_SIDE = {"truism", "sklearn"}


def refuse_file_name(data: Any) -> None:
    """Say that a file must be read first."""
    if isinstance(data, str | os.PathLike):
        raise TableError(
            f"A table must be given, not the name of a file, got {os.fspath(data)!r}.",
            "read it first, for instance with pandas.read_csv or polars.read_parquet.",
        )


def has_named_columns(data: Any) -> bool:
    """Tell frames with names from arrays, and from frames that are only numbered."""
    if hasattr(data, "collect_schema"):  # a lazy frame warns when asked for its columns
        return True
    names = getattr(data, "columns", None)
    if names is None:
        return False
    no_names = len(names) == 0
    return no_names or hasattr(data, "column_names") or any(isinstance(n, str) for n in names)


def renamed(table: Table, names: Sequence[str]) -> Table:
    """Call columns that come without names as those of the training table at their places."""
    columns = zip(table.columns, names, strict=True)
    return Table(
        tuple(msgspec.structs.replace(column, name=name) for column, name in columns), table.n_rows
    )


def as_positions(rows: Any, n_rows: int) -> NDArray[np.int64]:
    """Give positions of rows as an array; refuse masks and what is not in the table."""
    if isinstance(rows, int | np.integer):
        raise ParameterError(
            f"rows must be a list of positions, got {rows!r}.", f"write rows=[{int(rows)}]."
        )
    for row in rows:
        if isinstance(row, bool | np.bool_):
            raise ParameterError(
                f"rows must be positions, got {bool(row)!r}.",
                "numpy.flatnonzero(...) gives the positions at which a mask is true.",
            )
        if not isinstance(row, int | np.integer) or not 0 <= row < n_rows:
            shown = row.item() if isinstance(row, np.generic) else row
            raise ParameterError(
                f"rows must be positions from 0 to {n_rows - 1}, got {shown!r}.",
                "they count the rows of the table, whatever its index says.",
            )
    return np.array(list(rows), np.int64)


def count_threads(n_jobs: int | None) -> int:
    """Say how many threads are meant; None and -1 mean all cores."""
    if n_jobs is None or n_jobs == -1:
        return os.cpu_count() or 1
    if not isinstance(n_jobs, int | np.integer) or n_jobs < 1:
        raise ParameterError(f"n_jobs must be None, -1 or at least 1, got {n_jobs!r}.")
    return int(n_jobs)


def warn_caller(message: str) -> None:
    """Warn, and point at the line that called truism, however deep inside it we are."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals["__name__"].split(".")[0] in _OUR_SIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)
