"""Files whose cells have types of their own: spreadsheets, databases and JSON.

A column whose cells are of several types becomes text, as it would be in a CSV file.
"""

import datetime
import functools
import io
import itertools
import os
import re
import sqlite3
import urllib.parse
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec
import numpy as np
import pyarrow as pa

from truism.errors import TableError, did_you_mean, shorten
from truism.table.csv import SAMPLE_ROWS, EmptyFileError, find_header
from truism.table.layouts import Layout, Reading, check_names, renamed
from truism.table.notices import Notice, lines_before_names
from truism.table.words import MISSING

Cells = list[list[Any]]


def table_of(names: Sequence[str], columns: Sequence[Sequence[Any]], layout: Layout) -> pa.Table:
    """Return columns of cells as a table."""
    check_names(renamed(names, layout))
    missing = {*MISSING, *layout.missing}
    pairs = zip(names, columns, strict=True)
    return pa.table({name: _array(values, missing) for name, values in pairs})


def _array(values: Sequence[Any], missing: set[str]) -> pa.Array:
    """Return cells as an array of their type; cells of several types become text."""
    if str in {*map(type, values)}:
        values = [
            None if isinstance(value, str) and value in missing else value for value in values
        ]
    types = {*map(type, values)} - {type(None)}
    with suppress(OverflowError):  # an integer of more than 64 bits is read as a text is
        if types == {int}:
            return pa.array(values, pa.int64())
        if types and types <= {int, float}:
            return pa.array(np.array(values, np.float64))
    if len(types) < 2 and types <= {bool, datetime.datetime, datetime.time}:
        return pa.array(values)
    if types == {str}:
        return pa.array(values, pa.string())
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case dict() | list():
            return msgspec.json.encode(value).decode()
    return str(value)


# --- spreadsheets ---


_MOST_EMPTY = 1 << 24  # cells without a value, beside 16 for each one that is written
_TAG = re.compile(
    rb"<(?:\w+:)?(c|row|table|table-row|table-cell|covered-table-cell)(?=[\s/>])([^>]*)"
)
_ATTRIBUTE = re.compile(rb'([\w:-]+)="([^"]*)"')
_PLACE = re.compile(rb"([A-Z]{1,3})\d{1,7}")


class Sheet(msgspec.Struct, frozen=True, eq=False):
    """What came of a sheet; units by name, where a row below the names holds them."""

    frame: pa.Table
    units: dict[str, str] = {}
    notices: tuple[Notice, ...] = ()


def read_sheet(source: str, file: BinaryIO, layout: Layout, learned: Reading) -> Sheet:
    """Read one sheet of an Excel file: the one that was asked for, or the first that holds a table.

    A cover sheet has less than half as many cells as the table.
    """
    sheets = _load(file)
    filled = [name for name, cells in sheets.items() if cells]
    if layout.sheet is not None and layout.sheet not in sheets:
        raise TableError(
            f"{source} has no sheet {layout.sheet!r}, only {shorten(list(sheets))}.",
            did_you_mean(layout.sheet, sheets),
            see=("sheet",),
        )
    sizes = {name: sum(map(_n_filled, cells)) for name, cells in sheets.items()}
    large = (name for name in filled if 2 * sizes[name] >= max(sizes.values()))
    first = next((name for name in large if len(sheets[name]) > 1), filled[0] if filled else "")
    chosen = layout.sheet or first
    if not sheets.get(chosen):
        raise EmptyFileError(f"{source} is empty.")
    notices: list[Notice] = []
    if layout.sheet is None and len(filled) > 1:
        others = [name for name in filled if name != chosen]
        text = f"{source}: sheet {chosen!r} is read, not {shorten(others)}."
        notices.append(Notice("sheet_chosen", text, see=("sheet",)))
    return _sheet(source, sheets[chosen], layout, learned, notices)


def _sheet(
    source: str, cells: Cells, layout: Layout, learned: Reading, notices: list[Notice]
) -> Sheet:
    """Return rows of cells as a table: names, perhaps units, and values."""
    if layout.transpose:
        cells = [list(row) for row in itertools.zip_longest(*cells)]
    width = max(len(row) for row in cells)
    rows = [[*row, *[None] * (width - len(row))] for row in cells]
    names, units = [f"x{i}" for i in range(width)], tuple[str, ...]()
    if layout.header is not False:
        first = next((i for i, row in enumerate(rows) if 2 * _n_filled(row) > width), 0)
        before, rows = rows[:first], rows[first:]
        if before:
            title = next(text for row in before for cell in row if (text := _text(cell)))
            notices.append(lines_before_names(source, len(before), title[:40]))
        names = [_text(cell).strip() for cell in rows[0]]
        sample = [[_text(cell) for cell in row] for row in rows[: 1 + SAMPLE_ROWS]]
        names, units, n_above = find_header(source, sample, names, learned, notices)
        rows = rows[1 + n_above :]
    kept = [i for i in range(width) if names[i] or any(row[i] is not None for row in rows)]
    columns = [[row[i] for row in rows] for i in kept]
    frame = table_of([names[i] for i in kept], columns, layout)
    unit_of = {name: unit for name, unit in zip(names, units, strict=False) if unit}
    return Sheet(frame, unit_of, tuple(notices))


def _load(file: BinaryIO) -> dict[str, Cells]:
    content = io.BytesIO(file.read())
    try:
        _check_extent(content)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError) as problem:
        if isinstance(problem, TableError):
            raise
        raise _unreadable(problem) from None
    content.seek(0)
    try:
        import python_calamine
    except ImportError:
        raise TableError(
            "Reading Excel files needs the package python-calamine.",
            "install it with pip install python-calamine, or export the sheet as CSV.",
        ) from None
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(content)
        sheets = {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}
    except python_calamine.CalamineError as problem:
        raise _unreadable(problem) from None
    return {name: _clean(cells) for name, cells in sheets.items()}


def _unreadable(problem: Exception) -> TableError:
    return TableError(f"The spreadsheet cannot be read: {str(problem).rstrip('.')}.")


def _check_extent(content: BinaryIO) -> None:
    """Refuse a few cells that lie far apart: readers also build all empty ones between them."""
    if not zipfile.is_zipfile(content):
        return
    with zipfile.ZipFile(content) as packed:
        for name in packed.namelist():
            if name.startswith("xl/worksheets/") or name == "content.xml":
                with packed.open(name) as part:
                    _check_cells(part)


def _check_cells(part: Any) -> None:
    """Check the XML of one sheet of Excel, or that of all sheets of OpenDocument."""
    row = column = 0
    extents = [(0, 0, 0)]  # of each table: cells, rows and columns
    for kind, text in _tags(part):
        attributes = dict(_ATTRIBUTE.findall(text))
        if kind == b"table":
            row, extents = 0, [*extents, (0, 0, 0)]
        elif kind == b"row":
            row, column = int(attributes.get(b"r", row + 1)), 0
        elif kind == b"table-row":
            row, column = row + int(attributes.get(b"table:number-rows-repeated", 1)), 0
        elif kind == b"c":
            place = _PLACE.fullmatch(attributes.get(b"r", b""))
            column = column + 1 if place is None else _column_number(place[1])
        else:
            column += int(attributes.get(b"table:number-columns-repeated", 1))
        if kind == b"c" or (kind.endswith(b"cell") and b"office:" in text):
            n_cells, n_rows, n_columns = extents[-1]
            extents[-1] = n_cells + 1, max(n_rows, row), max(n_columns, column)
    for n_cells, n_rows, n_columns in extents:
        if n_rows * n_columns > _MOST_EMPTY + 16 * n_cells:
            raise TableError(
                f"Cells of a sheet must lie close together, got {n_cells:,} in {n_rows:,} rows and "
                f"{n_columns:,} columns.",
                "delete what lies far from the table, or export the sheet as CSV.",
            )


def _tags(part: Any) -> Iterator[tuple[bytes, bytes]]:
    """Yield the names and attributes of the tags of rows and cells."""
    text = b""
    while chunk := part.read(1 << 20):
        text += chunk
        end = max(text.rfind(b"<"), 0)
        yield from _TAG.findall(text, 0, end)
        text = text[end:]
    yield from _TAG.findall(text)


def _column_number(letters: bytes) -> int:
    """Return the number of a column.

    >>> _column_number(b"A"), _column_number(b"XFD")
    (1, 16384)
    """
    return functools.reduce(lambda number, letter: 26 * number + letter - ord("A") + 1, letters, 0)


def _clean(cells: Cells) -> Cells:
    """Take off empty rows at both ends; whole floats are whole numbers, as people see them."""
    rows = [[_plain(cell) for cell in row] for row in cells]
    filled = [i for i, row in enumerate(rows) if _n_filled(row)]
    return rows[filled[0] : filled[-1] + 1] if filled else []


def _n_filled(row: Sequence[Any]) -> int:
    return sum(cell is not None for cell in row)


def _plain(cell: Any) -> Any:
    if cell == "":
        return None
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return datetime.datetime.combine(cell, datetime.time())
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    return cell


# --- databases ---


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
    connection = None
    denied: list[int] = []

    def authorize(action: int, *_: str | None) -> int:
        """Allow what reads the file itself and ends; extensions are off unless asked for."""
        endless = action == sqlite3.SQLITE_RECURSIVE and layout.query is None
        if endless or action == sqlite3.SQLITE_ATTACH:
            denied.append(action)
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    try:
        address = f"file:{urllib.parse.quote(place)}?mode=ro"
        connection = sqlite3.connect(address, uri=True)
        connection.set_authorizer(authorize)
        listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        tables = [name for (name,) in connection.execute(listed)]
        cursor = connection.execute(_query(source, tables, layout))
        if cursor.description is None:
            raise TableError("The query gives no rows.", see=("query",))
        names = [column[0] for column in cursor.description]
        check_names(renamed(names, layout))
        rows = cursor.fetchall()
    except (sqlite3.Error, sqlite3.Warning) as problem:
        if sqlite3.SQLITE_RECURSIVE in denied:
            raise TableError(
                f"{source}: a view that refers to itself may have no end.",
                "write its rows into a table, or ask for them in a query of your own.",
                see=("query",),
            ) from None
        if denied:
            raise _not_alone(source) from None
        raise _says(source, problem) from None
    finally:
        if connection is not None:
            connection.close()
    return table_of(names, [*zip(*rows, strict=True)] or [()] * len(names), layout)


def read_duckdb(source: str, place: str, layout: Layout) -> pa.Table:
    """Read a table, a view or the result of a query from a DuckDB file."""
    try:
        import duckdb
    except ImportError:
        raise TableError(
            "Reading DuckDB files needs the package duckdb.", "install it with pip install duckdb."
        ) from None
    connection: Any = None
    try:
        # An absolute path, because DuckDB takes what stands before a colon for a kind of database.
        connection = duckdb.connect(os.path.abspath(place), read_only=True, config=_ALONE)
        listed = "SELECT table_name FROM information_schema.tables ORDER BY table_name"
        tables = [name for (name,) in connection.execute(listed).fetchall()]
        answer = connection.sql(_query(source, tables, layout))
        if answer is None:
            raise TableError("The query gives no rows.", see=("query",))
        frame = answer.to_arrow_table()
    except duckdb.PermissionException:
        raise _not_alone(source) from None
    except duckdb.Error as problem:
        raise _says(source, problem) from None
    finally:
        if connection is not None:
            connection.close()
    check_names(renamed(frame.column_names, layout))
    return frame


def _not_alone(source: str) -> TableError:
    return TableError(
        f"{source}: other files and extensions must not be needed to read a database.",
        "copy the rows into a table of the database, or read the other file itself.",
    )


def _says(source: str, problem: Exception) -> TableError:
    text = " ".join(str(problem).split()).rstrip(".")[:200]
    return TableError(f"{source}: the database says: {text}.")


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


# --- JSON ---


def looks_like_json(head: bytes) -> bool:
    """Return whether a file begins as JSON lines or as a list of objects do.

    >>> looks_like_json(b'[1], "a"'), looks_like_json(b' {"a": 1}')
    (False, True)
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        start = start[1:].lstrip()
    return start.startswith(b"{") and start[1:].lstrip()[:1] in (b'"', b"}")


def read_json(source: str, file: BinaryIO, layout: Layout) -> pa.Table:
    """Read JSON lines, or a list of objects; lists and objects in them are texts."""
    content = file.read().removeprefix(b"\xef\xbb\xbf")
    records: list[dict[str, Any]] = []
    if content.lstrip().startswith(b"["):
        records = _decoded(source, content, msgspec.json.Decoder(list[dict[str, Any]]))
    else:
        decoder = msgspec.json.Decoder(dict[str, Any])
        for number, line in enumerate(content.split(b"\n"), 1):
            if line.strip():
                records.append(_decoded(source, line, decoder, number))
    names = list(dict.fromkeys(itertools.chain.from_iterable(records)))
    return table_of(names, [[record.get(name) for record in records] for name in names], layout)


def _decoded(source: str, content: bytes, decoder: Any, line: int | None = None) -> Any:
    try:
        return decoder.decode(content)
    except RecursionError:
        what = "lists and objects are nested too deeply"
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        what = f"this is not a JSON object: {problem}"
    raise TableError(f"{source}{'' if line is None else f', line {line}'}: {what}.")
