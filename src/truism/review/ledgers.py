"""Ledgers of accepted rows: Parquet files with the rows themselves, why, when and by whom.

The next learning takes the rows in for good. The columns that say why bear names that no table has.
"""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from truism.errors import TableError, shorten
from truism.model.acceptances import Acceptance
from truism.table.atomic import write_atomically
from truism.table.columns import Table
from truism.table.files import LEDGER, TableRead, read
from truism.table.versioned import FileKind

MARK = "truism:"
MARKS = tuple(MARK + name for name in ("id", "reason", "date", "who", "until"))
FILES = FileKind("ledger", TableError)


def ledger_beside(model: str | os.PathLike[str]) -> Path:
    """Return the ledger that belongs to a model file.

    >>> str(ledger_beside("plant.truism.json")), str(ledger_beside("plant.json"))
    ('plant.accepted.parquet', 'plant.accepted.parquet')
    """
    place = Path(model)
    stem = place.name.removesuffix(".json").removesuffix(".truism")
    return place.with_name(stem + LEDGER)


def rows_to_add(table: Table, acceptance: Acceptance) -> pa.Table:
    """Return rows as they are written to a ledger."""
    taken = [name for name in table.names if name in MARKS]
    if taken:
        raise TableError(
            f"Column {taken[0]!r} has a name that ledgers of accepted rows use themselves.",
            "rename the column.",
        )
    columns: dict[str, Any] = {
        column.name: pa.array([column.cell(row) for row in range(table.n_rows)])
        for column in table.columns
        if column.kind not in ("other", "faulty") and not column.index
    }
    marked = {
        name: pa.array([getattr(acceptance, name.removeprefix(MARK))] * table.n_rows, pa.string())
        for name in MARKS
    }
    return pa.table(columns | marked)


def read_ledger(place: str | os.PathLike[str]) -> pa.Table | None:
    """Read a ledger; None if there is none, or if it is empty as one that was just locked."""
    if not Path(place).exists() or not Path(place).stat().st_size:
        return None
    try:
        ledger = pq.read_table(place)
    except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as problem:
        raise TableError(f"{os.fspath(place)!r} cannot be read as a ledger: {problem}") from None
    if not {*MARKS} <= {*ledger.column_names}:
        raise TableError(
            f"{os.fspath(place)!r} is no ledger of accepted rows: it lacks column {MARKS[0]!r}."
        )
    return ledger


def write_ledger(place: str | os.PathLike[str], old: pa.Table | None, new: pa.Table | None) -> bool:
    """Write a ledger with old and new rows; without any, nothing. Return whether it was written."""
    parts = [part for part in (old, new) if part is not None]
    if not parts:
        return False
    try:
        whole = pa.concat_tables(parts, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as problem:
        raise TableError(
            f"The accepted rows do not fit those in the ledger: {problem}",
            "use a ledger of rows with the same columns.",
        ) from None
    sink = pa.BufferOutputStream()
    pq.write_table(whole.combine_chunks(), sink, compression="zstd")
    write_atomically(place, sink.getvalue().to_pybytes())
    return True


def without_id(ledger: pa.Table | None, acceptance_id: str) -> pa.Table | None:
    """Return a ledger without the rows of one acceptance."""
    if ledger is None:
        return None
    ids = ledger.column(MARKS[0]).to_pylist()
    return ledger.filter(pa.array([row_id != acceptance_id for row_id in ids], pa.bool_()))


def accepted_rows(place: str, like: TableRead) -> tuple[Table, int]:
    """Return the rows of a ledger, read like another table, and of how many acceptances they are."""
    ledger = read_ledger(place)
    if ledger is None:
        raise TableError(f"There is no ledger {place!r}.")
    if not ledger.num_rows:
        return like.table.take(slice(0, 0)), 0
    rows = read([place], reading=like.reading).table
    column_of = rows.column_of()
    absent = [name for name in like.table.names if name not in column_of]
    if absent:
        raise TableError(
            f"The ledger {place!r} lacks {shorten(absent)}.", "learn from rows with its columns."
        )
    columns = tuple(column_of[name] for name in like.table.names)
    ids = {column_of[MARKS[0]].cell(row) for row in range(rows.n_rows)}
    return Table(columns, rows.n_rows), len(ids)
