"""CSV files, read as an Arrow table, and the line of any row.

How a file is written is detected from its beginning: encoding, delimiter, decimal sign, lines before the
names and a row of units; `Layout` overrides what is detected wrongly, and what held for an earlier file
of the same kind is tried first. pyarrow's fast reader does the rest. Every failure names the file, and
the line where there is one.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from truism.errors import TableError, shorten
from truism.table.layouts import Layout, Reading, check_names, renamed
from truism.table.notices import (
    Notice,
    column_without_name,
    lines_before_names,
    one_column_of_text,
    other_delimiter,
    unit_row,
    windows_text,
)
from truism.table.words import MISSING, is_status

_MAX_UNIT = 15
_NUMERAL = re.compile(r"[<>]?[+\-−]?[€$£¥]?[+\-−]?(?:\d[\d.,'’]*|[.,]\d+)(?:[eE][+-]?\d+)?%?")
_SIGNS = frozenset("°%‰/³²µΩ")
_UNIT = re.compile(
    r"[\[(]?(?:deg ?[CFK]?"
    r"|[kMmGuµ]?(?:W|Wh|V|A|Hz|Pa|bar|bara|barg|g|m|s|l|L|N|J|t|VA|var|S|Ohm)"
    r"|psi[ag]?|rpm|ppm|ppb|pH|NTU|C|F|K|h|hr|min|sec|d|cm|in|ft|gal|gpm|cfm|lbs?|m3|Nm3?|pcs|counts?"
    r"|mm2|cm2|m2|mmHg|inHg|dB|lx|lux|cd|mol|UTC|date|time|text|RN|TS)[\])]?"
)


def find_units(
    rows: Sequence[Sequence[str]], names: Sequence[str], learned: Reading | None = None
) -> tuple[tuple[str, ...], int]:
    """Return the units that stand below the names, and how many rows there are above the values.

    Parameters
    ----------
    rows
        The first rows, that of the names included.
    names
        Of the columns.
    learned
        How earlier files were read; their units are known again even above no values.

    Examples
    --------
    >>> find_units([["t", "T"], ["", "[°C]"], ["1", "20.5"]], ["t", "T"])
    (('', '°C'), 1)

    """
    if len(rows) < 2:
        return (), 0
    cells = [cell.strip() for cell in rows[1]]
    for n_above in (2, 1):
        if len(rows) > n_above and _are_units(rows, names, n_above):
            return _bare_units(cells, len(names)), n_above
    if learned is not None and learned.unit_row:
        known = {column.name: column.unit for column in learned.columns if column.unit is not None}
        if _are_again(names, cells, known):
            return _bare_units(cells, len(names)), 1
    return (), 0


def _are_again(names: Sequence[str], cells: Sequence[str], known: Mapping[str, str]) -> bool:
    pairs = [
        (bare(cell), known[name]) for name, cell in zip(names, cells, strict=False) if name in known
    ]
    return bool(pairs) and all(cell == unit for cell, unit in pairs)


def _are_units(rows: Sequence[Sequence[str]], names: Sequence[str], n_above: int) -> bool:
    """Return whether above all columns of numbers stand words, and most in the first row are units."""
    above, below = rows[1 : 1 + n_above], rows[1 + n_above :]
    width = min(len(names), *(len(row) for row in above))
    numeric = [i for i in range(width) if _holds_numbers(below, i)]
    if not numeric:
        return False
    for row in above:
        cells = [row[i].strip() for i in numeric]
        if any(is_number(cell) or len(cell) > _MAX_UNIT for cell in cells):
            return False
        if any(is_status(cell) and cell not in ("-", "--") for cell in cells):
            return False
        if all(not cell or is_status(cell) for cell in cells):
            return False
    units = [cell for cell in (rows[1][i].strip() for i in numeric) if cell and not is_status(cell)]
    return 0 < len(units) <= 2 * sum(map(_is_unit, units))


def _is_unit(text: str) -> bool:
    return not _SIGNS.isdisjoint(text) or _UNIT.fullmatch(text) is not None


def _bare_units(cells: Sequence[str], n: int) -> tuple[str, ...]:
    units = [("" if is_status(cell) else bare(cell)) for cell in cells]
    return tuple([*units, *[""] * n][:n])


def bare(unit: str) -> str:
    """Return a unit without brackets.

    >>> bare("[m³/h]")
    'm³/h'
    """
    return unit[1:-1].strip() if unit[:1] + unit[-1:] in ("[]", "()") else unit


def is_number(text: str) -> bool:
    """Return whether a field reads as a number, however it is written."""
    if _NUMERAL.fullmatch("".join(text.split())) is not None:  # blanks may stand anywhere
        return True
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _holds_numbers(rows: Sequence[Sequence[str]], column: int) -> bool:
    fields = [row[column].strip() for row in rows if len(row) > column]
    there = [field for field in fields if field not in MISSING and not is_status(field)]
    return bool(there) and sum(map(is_number, there)) * 2 > len(there)


DELIMITERS = ("\t", ";", "|", ",")  # in order of preference: a comma may also be a decimal sign
SAMPLE_ROWS = 200
_SEPARATOR = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
# Arrow's patterns take time in proportion to the text; Python's may not.
_NUMBER = r"^[+\-−]?[€$£¥]?[\s\x{a0}\x{202f}]*(?:%s)[\s\x{a0}\x{202f}]*%%?$"
_COMMA = _NUMBER % r"\d{1,3}(?:[. \x{a0}\x{202f}]\d{3})+,\d+|\d+,\d{1,2}|\d+,\d{4,}|0,\d+"
_POINT = _NUMBER % r"\d{1,3}(?:[, \x{a0}\x{202f}]\d{3})+\.\d+|\d+\.\d{1,2}|\d+\.\d{4,}|0\.\d+"
_TEXT = r"^(?:.*\d{1,2}:\d{2}.*[+-]\d{2}:?\d{2}|[+-]?0[xX][0-9a-fA-F]+)$"

ANNOTATIONS = ("#datatype", "#group", "#default")  # InfluxDB's, in any order
_PARTS_OF_KEYS = str.maketrans("", "", "_.-")
_LOOKS: dict[str, Callable[[str], bool]] = {
    "log lines with keys and values": lambda line: _n_pairs(line) > 1,
    "columns of fixed width": lambda line: "  " in line or "\t" in line,
    "lines of a log": lambda line: len(line.split()) > 3,
}


class Dialect(msgspec.Struct, frozen=True):
    """How one CSV file is written.

    Parameters
    ----------
    encoding, delimiter
        As Python and people call them.
    decimal
        The decimal sign, None where no field shows one.
    names
        Of all fields of a line; the last may be empty, and the first below InfluxDB's annotations.
    n_lines
        Lines before the first row.
    units
        One for each name, empty without a row of units.
    texts
        Columns to read as text: times with a zone, which the fast reader would drop, and ``0x0011``,
        a code that it would count as 17.

    """

    encoding: str
    delimiter: str
    decimal: str | None
    names: tuple[str, ...]
    n_lines: int
    units: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


class _Row(msgspec.Struct, frozen=True):
    """The fields of a row, and the line in which it ends."""

    line: int
    fields: list[str]


def see_dialect(
    source: str,
    text: str,
    encoding: str,
    layout: Layout,
    learned: Reading | None = None,
) -> tuple[Dialect, tuple[Notice, ...]]:
    """Return how a file is written.

    Parameters
    ----------
    source
        What to call the file.
    text
        Its beginning.
    encoding
        In which it was decoded.
    layout
        What was said about it.
    learned
        How earlier files were read.

    """
    notices: list[Notice] = []
    delimiter = _delimiter(source, text, layout, learned, notices)
    rows = sample(text, delimiter)
    marked = _SEPARATOR.fullmatch(_first_line(text)) is not None and len(rows) > 1
    start = marked + _first_row(rows[marked:], layout.header)
    before, rows = rows[:start], rows[start:]
    if before[marked:]:
        first = delimiter.join(before[marked].fields)
        notices.append(lines_before_names(source, before[-1].line, first[:40]))
    named = layout.header is not False
    width = _width(rows)
    names = _names(rows[0].fields, layout.header)
    if names and (not names[-1] or len(names) == width - 1):
        names = _without_last(source, names, rows, width, notices)
    annotated = bool(before) and before[0].fields[0] in ANNOTATIONS and not names[0]
    own = names[annotated : len(names) - (not names[-1])]
    check_names(renamed(own, layout), _two_lines(rows, names))
    units, n_above = find_units([row.fields for row in rows], names, learned) if named else ((), 0)
    if units:
        notices.append(unit_row(source, tuple(dict.fromkeys(filter(None, units)))))
    body = rows[1 + n_above :] if named else rows
    if len(names) == 1 and layout.delimiter is None and learned is None:
        notices += _one_text(source, [row.fields[0].strip() for row in body])
    n_lines = rows[n_above].line if named else (before[-1].line if before else 0)
    return (
        Dialect(
            encoding,
            delimiter,
            layout.decimal or _decimal(body, delimiter, learned),
            tuple(names),
            n_lines,
            units,
            _texts(body, names),
        ),
        tuple(notices),
    )


def sample(text: str, delimiter: str) -> list[_Row]:
    """Return the first rows that are not empty."""
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for fields in reader:
            if any(field.strip() for field in fields) or len(fields) > 1:
                rows.append(_Row(reader.line_num, fields))
            if len(rows) == SAMPLE_ROWS:
                break
    except csv.Error:
        pass  # the real reader will say what is wrong
    return rows or [_Row(1, [text])]


def _delimiter(
    source: str, text: str, layout: Layout, learned: Reading | None, notices: list[Notice]
) -> str:
    if layout.delimiter is not None:
        return layout.delimiter
    said = _SEPARATOR.fullmatch(_first_line(text))
    if said is not None:
        return said[1]
    known = None if learned is None else learned.layout.delimiter
    if known is not None and learned is not None:
        names = {column.name for column in learned.columns}
        names |= {new for new, _ in learned.layout.renames}
        if any(field.strip() in names for row in sample(text, known)[:20] for field in row.fields):
            return known
    found = find_delimiter(text)
    if known is not None and known != found:
        notices.append(other_delimiter(source, found, known))
    return found


def _first_line(text: str) -> str:
    return next(iter(text[:100].splitlines()), "").strip()


def find_delimiter(text: str) -> str:
    r"""Find the delimiter that divides the most rows into equally many fields.

    >>> find_delimiter("pump;level\non;2,5\noff;3,25\n")
    ';'
    """

    def agreement(delimiter: str) -> float:
        rows = sample(text, delimiter)
        width = _width(rows)
        return sum(len(row.fields) == width for row in rows) / len(rows) if width > 1 else 0.0

    best = max(DELIMITERS, key=agreement)
    if agreement(best) > 0:
        return best
    return " " if agreement(" ") == 1 and _mostly_numbers(sample(text, " ")[1:]) else ","


def _mostly_numbers(rows: Sequence[_Row]) -> bool:
    """Return whether more fields are numbers than not: blanks also stand between words."""
    fields = [field for row in rows for field in row.fields]
    return 2 * sum(map(is_number, fields)) > len(fields)


def _width(rows: Sequence[_Row]) -> int:
    """Return how many fields most rows have, of equally frequent counts the larger."""
    counts = Counter(len(row.fields) for row in rows)
    return max(counts, key=lambda count: (counts[count], count))


def _first_row(rows: Sequence[_Row], header: bool | None) -> int:
    """Return which row holds the names: the first as wide as the table, if only narrower come before."""
    if rows[0].fields[0] in ("TOA5", "TOACI1") and len(rows) > 1:  # Campbell's loggers
        return 1
    if rows[0].fields[0] in ANNOTATIONS:
        return next((i for i, row in enumerate(rows) if row.fields[0] not in ANNOTATIONS), 0)
    width = _width(rows)
    wide = next(i for i, row in enumerate(rows) if len(row.fields) == width)
    if wide == 0 or width < 2:
        return 0
    if header is not False and any(is_number(field) for field in rows[wide].fields):
        return 0
    if len(rows) - wide < 2 or max(len(row.fields) for row in rows[:wide]) == width - 1 > 1:
        return 0
    return wide


def _names(first: Sequence[str], header: bool | None) -> list[str]:
    if header is False:
        return [f"x{i}" for i in range(len(first))]
    names = [name.strip().removeprefix("\ufeff") for name in first]
    if header is None and all(is_number(name) for name in names):
        raise TableError(
            f"The first line holds numbers where names are expected, got {shorten(list(names), 3)}.",
            "say whether the first line holds names.",
            see=("header",),
        )
    return names


def _two_lines(rows: Sequence[_Row], names: Sequence[str]) -> str | None:
    """Return what to do where the row below the names holds names too."""
    below = [field.strip() for row in rows[1:2] for field in row.fields]
    if len(below) != len(names) or len({*below}) < len(below) or not all(below):
        return None
    values = [field for row in rows[2:3] for field in row.fields]
    if any(map(is_number, below)) or not any(map(is_number, values)):
        return None
    return "the line below holds names too: join the two lines into one."


def _one_text(source: str, lines: Sequence[str]) -> list[Notice]:
    """Return a notice if most lines, and not only a few different ones, seem to hold several values."""
    lines = [line for line in lines if line]
    if len({*lines}) * 2 <= len(lines):
        return []
    for looks, holds in _LOOKS.items():
        hits = [line for line in lines if holds(line)]
        if len(hits) * 2 > len(lines):
            return [one_column_of_text(source, looks, hits[0][:40])]
    return []


def _n_pairs(line: str) -> int:
    """Return how often ``key=value`` stands in a line."""
    pairs = (word.partition("=") for word in line.replace(",", " ").split())
    return sum(key.translate(_PARTS_OF_KEYS).isalnum() and value != "" for key, _, value in pairs)


def _without_last(
    source: str, names: list[str], rows: Sequence[_Row], width: int, notices: list[Notice]
) -> list[str]:
    """Leave a last column out that has neither a name nor a value."""
    full = [row.fields for row in rows[1:] if len(row.fields) == width]
    if width < 2 or not all(not fields[-1].strip() for fields in full):
        return names
    if not full and names[-1]:
        return names
    notices.append(column_without_name(source))
    return [*names[: width - 1], ""]


def _decimal(rows: Sequence[_Row], delimiter: str, learned: Reading | None) -> str | None:
    """Find the decimal sign: the one that more fields show beyond doubt."""
    if delimiter == ",":
        # A quoted "2,5" in a file of commas is seen column by column.
        return "."
    known = None if learned is None else learned.layout.decimal
    if known is not None:
        return known
    return find_decimal([row.fields for row in rows])


def find_decimal(rows: Sequence[Collection[str]]) -> str | None:
    """Return the decimal sign that fields show, None where they show none.

    >>> find_decimal([["2,5", "1.2"], ["3,25", "x"]])
    ','
    """
    fields = [field for row in rows for field in row]
    commas, points = _matches(fields, _COMMA), _matches(fields, _POINT)
    if commas == points:
        return None if not commas else "."
    return "," if commas > points else "."


def _texts(rows: Sequence[_Row], names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns whose fields end in an offset from UTC or are written in hexadecimal."""
    return tuple(
        name
        for i, name in enumerate(names)
        if _matches([row.fields[i] for row in rows if len(row.fields) > i], _TEXT)
    )


def _matches(fields: Sequence[str], pattern: str) -> int:
    """Return how many fields match a pattern, blanks at both ends aside."""
    texts = [field.strip().encode(errors="replace").decode() for field in fields]
    matched = pc.match_substring_regex(pa.array(texts, pa.string()), pattern)
    return int(pc.sum(matched, min_count=0).as_py())


WINDOWS = "windows-1252"
_SAMPLE_BYTES = 1 << 18
_BLOCK_BYTES = 8 << 20  # no line may be longer
_CODE = "^ *0[xX]"
_BETWEEN = str.maketrans(dict.fromkeys(',;|"', " "))  # words of a CSV file, as blanks are
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


class Parsed(msgspec.Struct, frozen=True, eq=False):
    """What came of a CSV file."""

    frame: pa.Table
    dialect: Dialect
    notices: tuple[Notice, ...] = ()


def parse_csv(name: str, file: BinaryIO, layout: Layout, learned: Reading | None = None) -> Parsed:
    """Parse a CSV file.

    Parameters
    ----------
    name
        What to call the file in messages.
    file
        Its bytes; must be able to seek.
    layout
        What was said about how it is written.
    learned
        How earlier files were read: columns of text stay text.

    """
    seen = see_csv(name, file, layout, learned)
    dialect, texts = seen.dialect, seen.texts
    frame = read_csv(name, file, dialect, layout, texts)
    codes = _codes(name, file, dialect, layout, frame)
    if codes:
        dialect = msgspec.structs.replace(dialect, texts=(*dialect.texts, *codes))
        frame = read_csv(name, file, dialect, layout, {*texts, *codes})
    return Parsed(frame, dialect, seen.notices)


class Seen(msgspec.Struct, frozen=True, eq=False):
    """What the beginning of a CSV file shows: how it is written, and which columns are text."""

    dialect: Dialect
    texts: frozenset[str]
    notices: tuple[Notice, ...] = ()


def see_csv(name: str, file: BinaryIO, layout: Layout, learned: Reading | None = None) -> Seen:
    """Look at the beginning of a CSV file; parameters as for `parse_csv`."""
    head = file.read(_SAMPLE_BYTES)
    whole = len(head) < _SAMPLE_BYTES
    file.seek(0)
    encoding = _encoding(head, layout, learned)
    if b"\x00" in head and "16" not in encoding and "32" not in encoding:
        raise TableError(
            f"{name} is neither CSV nor another known table format.",
            "if it is text in another encoding, such as utf-16, say which.",
            see=("encoding",),
        )
    text = _decoded(head, encoding, whole)
    if not text.strip():
        raise TableError(f"{name} is empty.")
    dialect, notices = see_dialect(name, text, encoding, layout, learned)
    said = layout.encoding or (None if learned is None else learned.layout.encoding)
    if encoding == WINDOWS and said != WINDOWS:
        foreign = [word for word in text.translate(_BETWEEN).split() if not word.isascii()]
        notices = (*(windows_text(name, encoding, word[:40]) for word in foreign[:1]), *notices)
    if any("\ufffd" in each for each in dialect.names):  # what could not be decoded
        raise _wrong_encoding(name, encoding)
    if not dialect.names[0]:
        _check_one_table(name, file)
    sign = dialect.decimal or "."  # 1.234 is no decimal number where points grouped thousands
    known = () if learned is None else learned.columns
    texts = {c.name for c in known if c.kind == "text" or c.thousands == sign}
    texts = {*texts, *(new for new, old in layout.renames if old in texts), *dialect.texts}
    return Seen(dialect, frozenset(texts), notices)


def has_codes(texts: Any) -> bool:
    """Return whether some texts are hexadecimal codes, which pyarrow takes for numbers."""
    return bool(pc.any(pc.match_substring_regex(texts, _CODE)).as_py())


def _codes(
    name: str, file: BinaryIO, dialect: Dialect, layout: Layout, frame: pa.Table
) -> tuple[str, ...]:
    """Return the columns of whole numbers in which ``0x0011`` came to be 17, below what was looked at."""
    whole = [field.name for field in frame.schema if pa.types.is_integer(field.type)]
    if not whole or not _contains_code(file, dialect.encoding):
        return ()
    written = read_csv(name, file, dialect, layout, whole, whole)
    return tuple(each for each in whole if has_codes(written[each]))


def _contains_code(file: BinaryIO, encoding: str) -> bool:
    """Return whether ``0x`` stands somewhere in a file."""
    between = b"\x00" * {"utf-16": 1, "utf-32": 3}.get(encoding.lower()[:6], 0)
    signs = (b"0" + between + b"x", b"0" + between + b"X")
    file.seek(0)
    before = b""
    while block := file.read(_BLOCK_BYTES):
        if any(sign in before + block for sign in signs):
            return True
        before = block[-len(signs[0]) :]
    return False


def read_csv(
    name: str,
    file: BinaryIO,
    dialect: Dialect,
    layout: Layout,
    texts: Collection[str] = (),
    only: Sequence[str] | None = None,
) -> pa.Table:
    """Read a CSV file of a known dialect, some columns as text and if asked only some columns."""
    kept = [each for each in dialect.names if each] if only is None else list(only)
    types = dict.fromkeys(texts, pa.string())
    file.seek(0)
    with refusing(name, file, dialect):
        try:
            frame = pa_csv.read_csv(
                file,
                read_options=read_options(dialect),
                parse_options=parse_options(dialect),
                convert_options=convert_options(dialect, layout.missing, types, kept),
            )
        except pa.ArrowInvalid as problem:
            if "Empty CSV file" in str(problem):
                return pa.table({each: pa.nulls(0) for each in kept})
            raise
    if any(pa.types.is_binary(field.type) for field in frame.schema):
        raise _wrong_encoding(name, dialect.encoding)
    return trimmed(frame, [*MISSING, *layout.missing])


@contextmanager
def refusing(name: str, file: BinaryIO, dialect: Dialect) -> Iterator[None]:
    """Say what is wrong with a file, and where, if pyarrow cannot read it."""
    try:
        yield
    except UnicodeError:
        raise _wrong_encoding(name, dialect.encoding) from None
    except pa.ArrowInvalid as problem:
        if "invalid UTF8" in str(problem):
            raise _wrong_encoding(name, dialect.encoding) from None
        if "Expected" in str(problem) and "columns, got" in str(problem):
            raise _ragged(name, file, dialect) from None
        raise


def read_options(dialect: Dialect) -> pa_csv.ReadOptions:
    """Return where rows of a dialect begin, and what columns are called."""
    return pa_csv.ReadOptions(
        block_size=_BLOCK_BYTES,
        encoding=dialect.encoding,
        column_names=[each or f"\x00{i}" for i, each in enumerate(dialect.names)],
        skip_rows=dialect.n_lines,
    )


def parse_options(dialect: Dialect) -> pa_csv.ParseOptions:
    """Return how rows of a dialect are divided into cells."""
    return pa_csv.ParseOptions(
        delimiter=dialect.delimiter,
        newlines_in_values=True,
        ignore_empty_lines=len(dialect.names) > 1,  # in one column an empty line is a missing value
    )


def convert_options(
    dialect: Dialect,
    missing: Sequence[str],
    types: Mapping[str, pa.DataType],
    names: Sequence[str],
) -> pa_csv.ConvertOptions:
    """Return how cells become values: some columns of known types, and which columns are read."""
    return pa_csv.ConvertOptions(
        null_values=[*MISSING, *missing],
        strings_can_be_null=True,
        decimal_point=dialect.decimal or ".",
        column_types={name: kind for name, kind in types.items() if name in dialect.names},
        include_columns=list(names),
    )


def trimmed(frame: pa.Table, missing: Sequence[str]) -> pa.Table:
    """Take blanks off both ends of texts, also of quoted ones: databases quote columns that they pad."""
    for i, field in enumerate(frame.schema):
        if not pa.types.is_string(field.type):
            continue
        texts = frame.column(i)
        trimmed = pc.utf8_trim_whitespace(texts)
        changed = pc.fill_null(pc.not_equal(texts, trimmed), False)
        if pc.any(changed).as_py():
            absent = pc.and_(changed, pc.is_in(trimmed, pa.array(missing)))
            frame = frame.set_column(i, field.name, pc.if_else(absent, None, trimmed))
    return frame


def _check_one_table(name: str, file: BinaryIO) -> None:
    """Refuse a file of InfluxDB in which annotations begin another table."""
    above = True
    for number, line in enumerate(file, 1):
        annotated = line.startswith(tuple(each.encode() for each in ANNOTATIONS))
        if annotated and not above:
            raise TableError(
                f"{name}, line {number}: another table begins here.",
                "write each table to a file of its own, or pivot them in the query.",
            )
        above = above and annotated


def find_line(file: BinaryIO, dialect: Dialect, row: int) -> int:
    """Return the line in which a row begins; people count lines, and a row may span several."""
    lines = _rows(file, dialect)
    for number, (line, _) in enumerate(lines):
        if number == row:
            return line
    return dialect.n_lines + row + 1


def _rows(file: BinaryIO, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield each row below the names with the line in which it begins."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding=dialect.encoding, errors="replace", newline="")
    try:
        for _ in range(dialect.n_lines):
            text.readline()
        reader = csv.reader(text, delimiter=dialect.delimiter)
        line = dialect.n_lines + 1
        for fields in reader:
            if fields or len(dialect.names) == 1:
                yield line, fields
            line = dialect.n_lines + reader.line_num + 1
        yield line, []
    finally:
        text.detach()  # the file is the caller's to close


def _encoding(head: bytes, layout: Layout, learned: Reading | None) -> str:
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8"  # pyarrow takes the mark off
    if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "utf-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    known = None if learned is None else learned.layout.encoding
    said = layout.encoding or known or "utf-8"
    if layout.encoding is None and said in ("utf-8", WINDOWS):
        return WINDOWS if _is_windows(head) else "utf-8"
    return "utf-8" if said.lower() in ("utf-8-sig", "utf8") else said


def _is_windows(head: bytes) -> bool:
    """Return whether the beginning of a file is no UTF-8, but would be text on Windows."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # it may end within a character
    except UnicodeDecodeError:
        text = head.decode(WINDOWS, errors="replace")
        return "\ufffd" not in text and not _CONTROLS.search(text)
    return False


def _decoded(head: bytes, encoding: str, whole: bool) -> str:
    """Decode the beginning of a file; it may end in the middle of a character and of a line."""
    text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
    if not whole:
        end = max(text.rfind("\n"), text.rfind("\r"))
        text = text[: end + 1] if end >= 0 else text
    return text


def _wrong_encoding(name: str, encoding: str) -> TableError:
    other = "latin-1" if encoding.lower().startswith("utf") else "utf-8"
    return TableError(
        f"{name} is not text in the encoding {encoding}.",
        f"say which it is, for instance {other}.",
        see=("encoding",),
    )


def _ragged(name: str, file: BinaryIO, dialect: Dialect) -> TableError:
    """Find the line that the fast reader stumbled over; it counts rows, people count lines."""
    expected, delimiter = len(dialect.names), dialect.delimiter
    line, fields, after = dialect.n_lines + 1, [""], dialect.n_lines + 2
    try:
        rows = _rows(file, dialect)
        for line, fields in rows:
            if len(fields) != expected:
                after = next(rows, (line + 1, []))[0]
                break
    except csv.Error:
        fields = []
    hint: str | None = None
    see: tuple[str, ...] = ()
    if after > line + 1:
        hint = f"a quote opens in line {line} and closes in line {after - 1} or never."
    elif delimiter == "," or len(fields) == 1:
        hint, see = f"the delimiter was taken to be {delimiter!r}.", ("delimiter",)
    return TableError(
        f"{name}, line {line}: the number of fields must be {expected} as in the line of names, "
        f"got {len(fields)}.",
        hint,
        see=see,
    )
