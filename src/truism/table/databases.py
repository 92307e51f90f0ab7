"""Database files: SQLite and DuckDB; a table or a query goes in, an Arrow table comes out."""

import os
import sqlite3
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from truism.errors import TableError, did_you_mean, shorten
from truism.table.layouts import Layout, check_names, renamed
from truism.table.sheets import arrow_of
from truism.table.words import MISSING

SQLITE_MAGIC = b"SQLite format 3\x00"
DUCKDB_MAGIC = b"DUCK"  # after eight bytes
# A table file reads itself and nothing else, whatever its views and the query ask for.
_ALONE = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "lock_configuration": "true",
}


def read_sqlite(source: str, place: str, layout: Layout) -> pa.Table:
    """Read a table, a view or the result of a query from an SQLite file."""
    try:
        with sqlite3.connect(f"file:{_quoted_path(place)}?mode=ro", uri=True) as connection:
            connection.set_authorizer(_stay_alone)
            listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
            tables = [name for (name,) in connection.execute(listed)]
            cursor = connection.execute(_query(source, tables, layout))
            if cursor.description is None:
                raise TableError("The query gives no rows.", see=("query",))
            names = [column[0] for column in cursor.description]
            check_names(renamed(names, layout))
            rows = cursor.fetchall()
    except (sqlite3.Error, sqlite3.Warning) as problem:
        if getattr(problem, "sqlite_errorcode", None) == sqlite3.SQLITE_AUTH:
            raise _not_alone(source) from None
        raise TableError(f"{source}: the database says: {_sentence(problem)}") from None
    finally:
        if "connection" in locals():
            connection.close()
    missing = {*MISSING, *layout.missing}
    columns = zip(*rows, strict=True) if rows else ((),) * len(names)
    return pa.table(
        {name: arrow_of(values, missing) for name, values in zip(names, columns, strict=True)}
    )


def read_duckdb(source: str, place: str, layout: Layout) -> pa.Table:
    """Read a table, a view or the result of a query from a DuckDB file."""
    try:
        import duckdb
    except ImportError:
        raise TableError(
            "Reading DuckDB files needs the package duckdb.", "install it with pip install duckdb."
        ) from None
    try:
        # An absolute path, because DuckDB takes what stands before a colon for a kind of database.
        connection: Any = duckdb.connect(os.path.abspath(place), read_only=True, config=_ALONE)
    except duckdb.Error as problem:
        raise TableError(f"{source}: the database says: {_sentence(problem)}") from None
    try:
        listed = "SELECT table_name FROM information_schema.tables ORDER BY table_name"
        tables = [name for (name,) in connection.execute(listed).fetchall()]
        answer = connection.sql(_query(source, tables, layout))
        if answer is None:
            raise TableError("The query gives no rows.", see=("query",))
        frame = answer.to_arrow_table()
    except duckdb.PermissionException:
        raise _not_alone(source) from None
    except duckdb.Error as problem:
        raise TableError(f"{source}: the database says: {_sentence(problem)}") from None
    finally:
        connection.close()
    check_names(renamed(frame.column_names, layout))
    return frame


def _stay_alone(action: int, *_: str | None) -> int:
    """Allow SQLite what reads the file itself; extensions are off unless a program asks for them."""
    return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK


def _not_alone(source: str) -> TableError:
    return TableError(
        f"{source}: other files and extensions must not be needed to read a database.",
        "copy the rows into a table of the database, or read the other file itself.",
    )


def _query(source: str, tables: Sequence[str], layout: Layout) -> str:
    if layout.query is not None:
        return layout.query
    if layout.table is not None and layout.table not in tables:
        raise TableError(
            f"{source} has no table {layout.table!r}, only {shorten(list(tables))}.",
            did_you_mean(layout.table, tables),
            see=("table",),
        )
    if layout.table is None and not tables:
        raise TableError(f"{source} has no tables.")
    if layout.table is None and len(tables) > 1:
        raise TableError(
            f"{source} has several tables: {shorten(list(tables))}.",
            "say which.",
            see=("table", "query"),
        )
    name = (layout.table or tables[0]).replace('"', '""')
    return f'SELECT * FROM "{name}"'


def _quoted_path(place: str) -> str:
    from urllib.parse import quote

    return quote(place)


def _sentence(problem: Exception) -> str:
    return " ".join(str(problem).split()).rstrip(".")[:200] + "."
