"""Excel files: a workbook and the name of a sheet go in, an Arrow table comes out.

Cells have types of their own; a column in which they differ becomes text, as it would be in a CSV file.
"""

import datetime
import functools
import io
import string
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any, BinaryIO
from xml.parsers import expat

import msgspec
import pyarrow as pa

from truism.errors import TableError, did_you_mean, shorten
from truism.table.csv import SAMPLE_ROWS, EmptyFileError, find_units
from truism.table.layouts import Layout, Reading, check_names, renamed
from truism.table.notices import Notice, lines_before_names, unit_row
from truism.table.words import MISSING

Cells = list[list[Any]]

_MOST_EMPTY = 1 << 24  # cells without a value, beside 16 for each one that is written
_MOST_ROWS, _MOST_COLUMNS = 1 << 20, 1 << 14


class Sheet(msgspec.Struct, frozen=True, eq=False):
    """What came of a sheet; units by name, where a row below the names holds them."""

    frame: pa.Table
    units: dict[str, str] = {}
    notices: tuple[Notice, ...] = ()


def read_sheet(
    source: str, file: BinaryIO, layout: Layout, learned: Reading | None = None
) -> Sheet:
    """Read one sheet of an Excel file: the one that was asked for, or the first with rows."""
    sheets = _load(file)
    filled = [name for name, cells in sheets.items() if cells]
    if layout.sheet is not None and layout.sheet not in sheets:
        raise TableError(
            f"{source} has no sheet {layout.sheet!r}, only {shorten(list(sheets))}.",
            did_you_mean(layout.sheet, sheets),
            see=("sheet",),
        )
    if not filled and layout.sheet is None:
        raise EmptyFileError(f"{source} is empty.")
    first = next((name for name in filled if len(sheets[name]) > 1), filled[0] if filled else "")
    chosen = layout.sheet or first
    notices: tuple[Notice, ...] = ()
    if layout.sheet is None and len(filled) > 1:
        others = [name for name in filled if name != chosen]
        text = f"{source}: sheet {chosen!r} is read, not {shorten(others)}."
        notices = (Notice("sheet_chosen", text, see=("sheet",)),)
    if not sheets[chosen]:
        raise EmptyFileError(f"{source} is empty.")
    sheet = _sheet(source, sheets[chosen], layout, learned)
    return msgspec.structs.replace(sheet, notices=(*notices, *sheet.notices))


def _sheet(source: str, cells: Cells, layout: Layout, learned: Reading | None) -> Sheet:
    """Return rows of cells as a table: names, perhaps units, and values."""
    width = max(len(row) for row in cells)
    rows = [[*row, *[None] * (width - len(row))] for row in cells]
    if layout.header is False:
        return Sheet(_table([f"x{i}" for i in range(width)], rows, layout))
    first = next((i for i, row in enumerate(rows) if _filled(row) * 2 > width), 0)
    before, rows = rows[:first], rows[first:]
    names = [_text(cell).strip() for cell in rows[0]]
    sample = [[_text(cell) for cell in row] for row in rows[: 1 + SAMPLE_ROWS]]
    units, n_above = find_units(sample, names, learned)
    notices: list[Notice] = []
    if before:
        first_text = next(text for row in before for cell in row if (text := _text(cell)))
        notices.append(lines_before_names(source, len(before), first_text[:40]))
    if units:
        notices.append(unit_row(source, tuple(dict.fromkeys(filter(None, units)))))
    unit_of = {name: unit for name, unit in zip(names, units, strict=False) if unit}
    return Sheet(_table(names, rows[1 + n_above :], layout), unit_of, tuple(notices))


def _table(names: Sequence[str], rows: Cells, layout: Layout) -> pa.Table:
    width = len(names)
    kept = [i for i in range(width) if names[i] or any(row[i] is not None for row in rows)]
    check_names(renamed([names[i] for i in kept], layout))
    missing = {*MISSING, *layout.missing}
    return pa.table({names[i]: arrow_of([row[i] for row in rows], missing) for i in kept})


def arrow_of(values: Sequence[Any], missing: set[str]) -> pa.Array:
    """Return values as an array of their type; values of several types become text."""
    there = [None if isinstance(value, str) and value in missing else value for value in values]
    kinds = {_kind(value) for value in there if value is not None}
    if kinds <= {"int", "float"} or kinds in ({"bool"}, {"time"}, {"clock"}):
        whole = kinds == {"int"}
        if kinds <= {"int", "float"} and kinds:
            return pa.array(there, pa.int64() if whole and _fits(there) else pa.float64())
        return pa.array(there)
    return pa.array([None if value is None else _text(value) for value in there], pa.string())


def _fits(values: Sequence[Any]) -> bool:
    return all(value is None or -(2**63) <= value < 2**63 for value in values)


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case datetime.datetime() | datetime.date():
            return "time"
        case datetime.time() | datetime.timedelta():
            return "clock" if isinstance(value, datetime.time) else "duration"
    return "text"


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
    return str(value)


def _filled(row: Sequence[Any]) -> int:
    return sum(cell is not None and cell != "" for cell in row)


def _load(file: BinaryIO) -> dict[str, Cells]:
    content = io.BytesIO(file.read())
    _check_extent(content)
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
    try:
        with zipfile.ZipFile(content) as packed:
            for entry in packed.infolist():
                with packed.open(entry) as part:
                    _Extent().check(part, entry.filename)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as problem:
        raise _unreadable(problem) from None


class _OtherPartError(Exception):
    """A part of a workbook holds no cells."""


class _Extent:
    """How many cells of a sheet are written, and how far they reach."""

    def __init__(self) -> None:
        self.n_cells = self.n_rows = self.n_columns = self.row = self.column = 0
        self.root: str | None = None

    def check(self, part: Any, name: str) -> None:
        """Read the XML of one sheet of Excel, or that of all sheets of OpenDocument."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        try:
            parser.ParseFile(part)
        except _OtherPartError:
            return
        except expat.ExpatError as problem:
            if self.root is not None or name.endswith(".xml"):  # others may be pictures
                raise _unreadable(problem) from None
        self._end()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(":")[2] if ":" in name else name
        if kind == "c":
            place = attributes.get("r", "")
            letters = place.rstrip(string.digits)
            self.row = _number(place[len(letters) :] or self.row or 1)
            self.column = _column(letters) if letters else self.column + 1
            self._reach()
        elif kind == "row":
            self.row, self.column = _number(attributes.get("r", self.row + 1)), 0
        elif kind == "table-row":
            self.row += min(_number(attributes.get("table:number-rows-repeated", 1)), _MOST_ROWS)
            self.column = 0
        elif kind in ("table-cell", "covered-table-cell"):
            n = _number(attributes.get("table:number-columns-repeated", 1))
            self.column += min(n, _MOST_COLUMNS)
            if any(attribute.startswith("office:") for attribute in attributes):
                self._reach()
        elif kind == "table":
            self._end()
            self.n_cells = self.n_rows = self.n_columns = self.row = 0
        elif self.root is None:
            self.root = kind
            if kind not in ("worksheet", "document-content"):
                raise _OtherPartError

    def _reach(self) -> None:
        self.n_cells += 1
        if self.row > self.n_rows:
            self.n_rows = self.row
        if self.column > self.n_columns:
            self.n_columns = self.column

    def _end(self) -> None:
        if self.n_rows * self.n_columns > _MOST_EMPTY + 16 * self.n_cells:
            raise TableError(
                f"Cells of a sheet must lie close together, got {self.n_cells:,} in "
                f"{self.n_rows:,} rows and {self.n_columns:,} columns.",
                "delete what lies far from the table, or export the sheet as CSV.",
            )


def _number(text: str | int) -> int:
    try:
        return int(text)
    except ValueError as problem:
        raise _unreadable(problem) from None


@functools.lru_cache(_MOST_COLUMNS)
def _column(letters: str) -> int:
    """Return the number of a column.

    >>> _column("A"), _column("XFD")
    (1, 16384)
    """
    number = 0
    for letter in letters[:9].upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _clean(cells: Cells) -> Cells:
    """Take off empty rows at the end; whole floats are whole numbers, as people see them."""
    rows = [[_plain(cell) for cell in row] for row in cells]
    while rows and not _filled(rows[-1]):
        rows.pop()
    while rows and not _filled(rows[0]):
        rows.pop(0)
    return rows


def _plain(cell: Any) -> Any:
    if cell == "":
        return None
    if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime):
        return datetime.datetime.combine(cell, datetime.time())
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    return cell
