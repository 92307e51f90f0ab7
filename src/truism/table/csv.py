"""CSV files, read as the texts in them, and the line of any row.

How a file is written is detected from its beginning: encoding, delimiter, decimal sign, lines before the
names and a row of units; `Layout` overrides what is detected wrongly, and what held for an earlier file
of the same kind is tried first. pyarrow's fast reader does the rest. Every failure names the file, and
the line where there is one.
"""

import codecs
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from truism.errors import TableError, shorten
from truism.table.layouts import Layout, Reading, check_names, renamed
from truism.table.notices import Notice, lines_before_names, unit_row
from truism.table.numerals import SURE
from truism.table.words import MISSING, is_status

DELIMITERS = ("\t", ";", "|", ",")  # in order of preference: a comma may also be a decimal sign
SAMPLE_ROWS = 200
WINDOWS = "windows-1252"
_SAMPLE_BYTES = 1 << 18
_BLOCK_BYTES = 8 << 20  # no line may be longer
_SEPARATOR = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
_ANNOTATIONS = ("#datatype", "#group", "#default")  # InfluxDB's, in any order
_NUMERAL = re.compile(r"[<>]?[+\-−]?[€$£¥]?[+\-−]?(?:\d[\d.,'’]*|[.,]\d+)(?:[eE][+-]?\d+)?%?")
_MAX_UNIT = 15
_MAX_LINES = 2  # of names, below the first
_SIGNS = frozenset("°%‰/³²µΩ")
_UNIT = re.compile(
    r"[\[(]?(?:deg ?[CFK]?"
    r"|[kMmGuµ]?(?:W|Wh|V|A|Hz|Pa|bar|bara|barg|g|m|s|l|L|N|J|t|VA|var|S|Ohm)"
    r"|psi[ag]?|rpm|ppm|ppb|pH|NTU|C|F|K|h|hr|min|sec|d|cm|in|ft|gal|gpm|cfm|lbs?|m3|Nm3?|pcs|counts?"
    r"|mm2|cm2|m2|mmHg|inHg|dB|lx|lux|cd|mol|UTC|date|time|text|RN|TS)[\])]?"
)
_STAMP = re.compile(r"\d[\d:./T-]*")
_BLANKS = re.compile(rb'("[^"\r\n]*")|[ \t]+')
_BETWEEN = str.maketrans(dict.fromkeys(',;|"', " "))  # words of a CSV file, as blanks are
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


_NOTHING_LEARNED = Reading()


class EmptyFileError(TableError):
    """A file holds nothing."""


class CsvDialect(msgspec.Struct, frozen=True):
    """How one CSV file is written."""

    encoding: str
    delimiter: str
    decimal: str | None  # the decimal sign, None where no field shows one
    # of all fields of a line; the last may be empty, and the first below InfluxDB's annotations
    names: tuple[str, ...]
    n_lines: int  # lines before the first row
    units: tuple[str, ...] = ()  # one for each name, empty without a row of units


class _Row(msgspec.Struct, frozen=True):
    """The fields of a row, and the line in which it ends."""

    line: int
    fields: list[str]


def see_csv(
    name: str, file: BinaryIO, layout: Layout, learned: Reading
) -> tuple[CsvDialect, tuple[Notice, ...]]:
    """Return how a CSV file is written, as its beginning shows."""
    head = file.read(_SAMPLE_BYTES)
    file.seek(0)
    encoding = _encoding(head, layout, learned)
    if b"\x00" in head and "16" not in encoding and "32" not in encoding:
        raise TableError(
            f"{name} is neither CSV nor another known table format.",
            "if it is text in another encoding, such as utf-16, say which.",
            see=("encoding",),
        )
    text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
    if len(head) == _SAMPLE_BYTES:  # it may end in the middle of a character and of a line
        end = max(text.rfind("\n"), text.rfind("\r"))
        text = text[: end + 1] if end >= 0 else text
    if not text.strip():
        raise EmptyFileError(f"{name} is empty.")
    dialect, notices = _see_dialect(name, text, encoding, layout, learned)
    given = layout.encoding or learned.layout.encoding
    foreign = [word for word in text.translate(_BETWEEN).split() if not word.isascii()]
    if encoding == WINDOWS != given and foreign:
        sentence = (
            f"{name} is not UTF-8; it is read as {encoding}, in which a part of it is "
            f"{foreign[0][:40]!r}."
        )
        notices.insert(0, Notice("windows_text", sentence, doubtful=True, see=("encoding",)))
    if any("\ufffd" in name for name in dialect.names):  # what could not be decoded
        raise _wrong_encoding(name, encoding)
    if not dialect.names[0]:
        _check_one_table(name, file)
    return dialect, tuple(notices)


def transposed(file: BinaryIO, layout: Layout, learned: Reading) -> BinaryIO:
    """Return a CSV file whose lines are the columns of another, divided by tabs."""
    content = file.read()
    encoding = _encoding(content[:_SAMPLE_BYTES], layout, learned)
    text = content.decode(encoding, errors="replace").removeprefix("\ufeff")
    delimiter = layout.delimiter or find_delimiter(text[:_SAMPLE_BYTES])
    columns = itertools.zip_longest(*fields_of(text, delimiter), fillvalue="")
    lines = io.StringIO(newline="")
    csv.writer(lines, delimiter="\t").writerows(columns)
    return io.BytesIO(lines.getvalue().encode(errors="replace"))


def _see_dialect(
    source: str, text: str, encoding: str, layout: Layout, learned: Reading
) -> tuple[CsvDialect, list[Notice]]:
    notices: list[Notice] = []
    separator = _SEPARATOR.fullmatch(next(iter(text[:100].splitlines()), "").strip())
    delimiter = layout.delimiter or (None if separator is None else separator[1])
    delimiter = delimiter or _delimiter(source, text, learned, notices)
    rows = sample(text, delimiter)
    marked = separator is not None and len(rows) > 1
    start = marked + _first_row(rows[marked:], layout.header)
    before, rows = rows[:start], rows[start:]
    if before[marked:]:
        first = delimiter.join(before[marked].fields)
        notices.append(lines_before_names(source, before[-1].line, first[:40]))
    named = layout.header is not False
    names = _names(rows, layout.header, source, notices)
    annotated = bool(before) and before[0].fields[0] in _ANNOTATIONS and not names[0]
    units, n_above = tuple[str, ...](), 0
    if named:
        lines = [row.fields for row in rows]
        names, units, n_above = find_header(source, lines, names, learned, notices)
    check_names(renamed(names[annotated : len(names) - (not names[-1])], layout))
    body = rows[1 + n_above :] if named else rows
    if len(names) == 1 and layout.delimiter is None and not learned.columns:
        notices += _one_text(source, [row.fields[0].strip() for row in body])
    decimal = layout.decimal or learned.layout.decimal
    if delimiter == ",":  # a quoted "2,5" in a file of commas is seen column by column
        decimal = layout.decimal or "."
    decimal = decimal or _find_decimal([field for row in body for field in row.fields])
    n_lines = rows[n_above].line if named else (before[-1].line if before else 0)
    return CsvDialect(encoding, delimiter, decimal, tuple(names), n_lines, units), notices


def fields_of(text: str, delimiter: str) -> Any:
    """Return the reader of the lines of a CSV text."""
    text = squeezed(text.encode(errors="replace")).decode() if delimiter == " " else text
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def sample(text: str, delimiter: str) -> list[_Row]:
    """Return the first rows that are not empty."""
    rows = []
    reader = fields_of(text, delimiter)
    try:
        for fields in reader:
            if any(field.strip() for field in fields) or len(fields) > 1:
                rows.append(_Row(reader.line_num, fields))
            if len(rows) == SAMPLE_ROWS:
                break
    except csv.Error:
        pass  # the real reader will say what is wrong
    return rows or [_Row(1, [text])]


def _delimiter(source: str, text: str, learned: Reading, notices: list[Notice]) -> str:
    usual = learned.layout.delimiter
    if usual is not None:
        names = {column.name for column in learned.columns}
        names |= {new for new, _ in learned.layout.renames}
        if any(field.strip() in names for row in sample(text, usual)[:20] for field in row.fields):
            return usual
    delimiter = find_delimiter(text)
    if usual is not None and usual != delimiter:
        text = f"{source} has the delimiter {delimiter!r}; earlier files had {usual!r}."
        notices.append(Notice("other_delimiter", text))
    return delimiter


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
    divides = agreement(best) > 0
    if agreement(" ") == 1 and not (divides and best in text.lstrip().splitlines()[0]):
        fields = [field for row in sample(text, " ")[1:] for field in row.fields]
        hits = [is_number(field) or bool(_STAMP.fullmatch(field)) for field in fields]
        if 2 * sum(hits) > len(hits):  # words have blanks, too; a comma may divide decimals
            return " "
    return best if divides else ","


def _width(rows: Sequence[_Row]) -> int:
    """Return how many fields most rows have, of equally frequent counts the larger."""
    counts = Counter(len(row.fields) for row in rows)
    return max(counts, key=lambda count: (counts[count], count))


def _first_row(rows: Sequence[_Row], header: bool | None) -> int:
    """Return which row holds the names: the first as wide as the table, if only narrower come before."""
    if rows[0].fields[0] in ("TOA5", "TOACI1") and len(rows) > 1:  # Campbell's loggers
        return 1
    if rows[0].fields[0] in _ANNOTATIONS:
        return next((i for i, row in enumerate(rows) if row.fields[0] not in _ANNOTATIONS), 0)
    width = _width(rows)
    wide = next(i for i, row in enumerate(rows) if len(row.fields) == width)
    if wide == 0 or width < 2 or len(rows) - wide < 2:
        return 0
    if header is not False and any(is_number(field) for field in rows[wide].fields):
        return 0
    return 0 if max(len(row.fields) for row in rows[:wide]) == width - 1 > 1 else wide


def _names(
    rows: Sequence[_Row], header: bool | None, source: str, notices: list[Notice]
) -> list[str]:
    """Return the names; a last column that has neither a name nor a value is left out."""
    names = [name.strip().removeprefix("\ufeff") for name in rows[0].fields]
    if header is False:
        names = [f"x{i}" for i in range(len(names))]
    elif header is None and all(is_number(name) for name in names):
        raise TableError(
            f"The first line holds numbers where names are expected, got {shorten(names, 3)}.",
            "say whether the first line holds names.",
            see=("header",),
        )
    width = _width(rows)
    full = [row.fields for row in rows[1:] if len(row.fields) == width]
    empty = width > 1 and all(not fields[-1].strip() for fields in full)
    if (names[-1] and len(names) != width - 1) or not empty or (names[-1] and not full):
        return names
    text = f"{source}: every line ends with a delimiter; the empty last column is left out."
    notices.append(Notice("column_without_name", text))
    return [*names[: width - 1], ""]


def _one_text(source: str, lines: Sequence[str]) -> list[Notice]:
    """Return a notice if most lines, and not only a few different ones, seem to hold several values."""
    lines = [line for line in lines if line]
    several = [
        line
        for line in lines
        if "  " in line or "\t" in line or len(line.split()) > 3 or line.count("=") > 1
    ]
    if len({*lines}) * 2 <= len(lines) or len(several) * 2 <= len(lines):
        return []
    text = (
        f"{source} is read as one column of text, but its lines seem to hold several values, for "
        f"instance {several[0][:40]!r}; say what divides them, or convert it to CSV."
    )
    return [Notice("one_column_of_text", text, doubtful=True, see=("delimiter",))]


def _find_decimal(fields: Collection[str]) -> str | None:
    """Return the decimal sign that more fields show beyond doubt, None where they show none."""
    texts = ["".join(field.split()).encode(errors="replace").decode() for field in fields]
    commas, points = (
        # Arrow's patterns take time in proportion to the text; Python's may not.
        pc.sum(pc.match_substring_regex(pa.array(texts, pa.string()), pattern), min_count=0).as_py()
        for pattern in (f"^[+\\-−]?[€$£¥]?(?:{SURE[sign]})%?$" for sign in ",.")
    )
    if commas == points:
        return None if not commas else "."
    return "," if commas > points else "."


# --- names and units ---


def find_header(
    source: str,
    rows: Sequence[Sequence[str]],
    names: list[str],
    learned: Reading,
    notices: list[Notice],
) -> tuple[list[str], tuple[str, ...], int]:
    """Return names, joined with those in lines below, units, and how many rows hold more of either."""
    n_lines, joined = 0, names
    units, n_above = find_units(rows, names, learned)
    while not n_above and n_lines < _MAX_LINES and _are_names(rows[n_lines:], joined, learned):
        joined, n_lines = join_names(joined, rows[n_lines + 1]), n_lines + 1
        units, n_above = find_units(rows[n_lines:], joined, learned)
    if n_lines:
        text = f"{source}: {n_lines + 1} lines of names are joined, for instance to {joined[-1]!r}."
        notices.append(Notice("names_joined", text))
    if units:
        notices.append(unit_row(source, units))
    return joined, units, n_lines + n_above


def join_names(names: Sequence[str], below: Sequence[str]) -> list[str]:
    """Join two lines of names; what has no name above belongs to the name before it.

    >>> join_names(["Time", "Pump", "", "Tank"], ["", "speed", "load", "level"])
    ['Time', 'Pump speed', 'Pump load', 'Tank level']
    """
    above, joined = "", []
    for name, more in zip(names, below, strict=True):
        above = name or above
        joined.append(f"{above} {more.strip()}".strip())
    return joined


def _are_names(rows: Sequence[Sequence[str]], names: Sequence[str], learned: Reading) -> bool:
    """Return whether the row below the names holds names, too: earlier files say so, or the values."""
    if len(rows) < 2 or len(rows[1]) != len(names):
        return False
    if learned.columns:
        known = {column.name for column in learned.columns}
        known |= {old for old, _ in learned.layout.renames}
        n_known = [
            sum(name in known for name in given) for given in (names, join_names(names, rows[1]))
        ]
        return n_known[1] > n_known[0]
    below = [cell.strip() for cell in rows[1]]
    numeric = [below[i] for i in range(len(below)) if _holds_numbers(rows[2:], i)]
    if any(map(is_number, below)) or not numeric:
        return False
    words = len({*numeric}) > 1 and all(cell and not is_status(cell) for cell in numeric)
    unfit = not all(names) or len({*names}) < len(names)
    return words or (unfit and len({*join_names(names, below)}) == len(names))


def find_units(
    rows: Sequence[Sequence[str]], names: Sequence[str], learned: Reading = _NOTHING_LEARNED
) -> tuple[tuple[str, ...], int]:
    """Return the units that stand below the names, and how many rows there are above the values.

    >>> find_units([["t", "T"], ["", "[°C]"], ["1", "20.5"]], ["t", "T"])
    (('', '°C'), 1)
    """
    cells = [cell.strip() for cell in rows[1]] if len(rows) > 1 else []
    n_above = next((n for n in (2, 1) if len(rows) > n and _are_units(rows, names, n)), 0)
    if not n_above and learned.unit_row:
        unit_of = {column.name: column.unit for column in learned.columns if column.unit}
        pairs = [(bare(cell), unit_of.get(name)) for name, cell in zip(names, cells, strict=False)]
        again = [cell == unit for cell, unit in pairs if unit is not None]
        n_above = int(bool(again) and all(again))
    if not n_above:
        return (), 0
    units = ["" if is_status(cell) else bare(cell) for cell in cells]
    return tuple([*units, *[""] * len(names)][: len(names)]), n_above


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
    are_units = [not _SIGNS.isdisjoint(unit) or bool(_UNIT.fullmatch(unit)) for unit in units]
    return 0 < len(units) <= 2 * sum(are_units)


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


# --- reading ---


def read_blocks(
    name: str,
    file: BinaryIO,
    dialect: CsvDialect,
    missing: Sequence[str] = (),
    names: Sequence[str] | None = None,
) -> Iterator[pa.Table]:
    """Read a CSV file as the texts in it, block by block; some columns, or all."""
    kept = [column for column in dialect.names if column] if names is None else list(names)
    words = [*MISSING, *missing]
    text = _from_start(file, dialect)
    with _refusing(name, file, dialect):
        try:
            blocks = pa_csv.open_csv(
                text,
                read_options=pa_csv.ReadOptions(
                    block_size=_BLOCK_BYTES,
                    encoding=dialect.encoding,
                    column_names=[column or f"\x00{i}" for i, column in enumerate(dialect.names)],
                    skip_rows=dialect.n_lines,
                ),
                parse_options=pa_csv.ParseOptions(
                    delimiter=dialect.delimiter,
                    newlines_in_values=True,
                    # in one column an empty line is a missing value
                    ignore_empty_lines=len(dialect.names) > 1,
                ),
                convert_options=pa_csv.ConvertOptions(
                    null_values=words,
                    strings_can_be_null=True,
                    column_types=dict.fromkeys(kept, pa.string()),
                    include_columns=kept,
                ),
            )
        except pa.ArrowInvalid as problem:
            if "Empty CSV file" in str(problem):
                return
            raise
        for block in blocks:
            yield _trimmed(pa.Table.from_batches([block]), words)


@contextmanager
def _refusing(name: str, file: BinaryIO, dialect: CsvDialect) -> Iterator[None]:
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


def _trimmed(frame: pa.Table, missing: Sequence[str]) -> pa.Table:
    """Take blanks off both ends of texts, also of quoted ones: databases quote columns that they pad."""
    for i, field in enumerate(frame.schema):
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
        annotated = line.startswith(tuple(sign.encode() for sign in _ANNOTATIONS))
        if annotated and not above:
            raise TableError(
                f"{name}, line {number}: another table begins here.",
                "write each table to a file of its own, or pivot them in the query.",
            )
        above = above and annotated


class Squeezed(io.RawIOBase):
    """A file whose columns are divided by any number of blanks, as one divided by single blanks."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self._left = file, b""

    def readable(self) -> bool:  # noqa: D102
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: D102
        if not self._left:
            self._left = squeezed(b"".join(self._file.readlines(_SAMPLE_BYTES)))
        taken, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)


def squeezed(lines: bytes) -> bytes:
    r"""Take blanks off both ends of lines, and put one for several, but not within quotes.

    >>> squeezed(b'  1.5\t 2  \r\n "a  b"  3')
    b'1.5 2\r\n"a  b" 3'
    """
    if b'"' in lines:
        lines = _BLANKS.sub(lambda match: match[1] or b" ", lines)
    else:
        lines = re.sub(rb"[ \t]+", b" ", lines)
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", lines)


def _from_start(file: BinaryIO, dialect: CsvDialect) -> BinaryIO:
    file.seek(0)
    narrow = (
        dialect.delimiter == " " and "16" not in dialect.encoding and "32" not in dialect.encoding
    )
    return io.BufferedReader(Squeezed(file)) if narrow else file


def find_line(file: BinaryIO, dialect: CsvDialect, row: int) -> int:
    """Return the line in which a row begins; people count lines, and a row may span several."""
    lines = _rows(file, dialect)
    for number, (line, _) in enumerate(lines):
        if number == row:
            return line
    return dialect.n_lines + row + 1


def _rows(file: BinaryIO, dialect: CsvDialect) -> Iterator[tuple[int, list[str]]]:
    """Yield each row below the names with the line in which it begins."""
    text = io.TextIOWrapper(
        _from_start(file, dialect), encoding=dialect.encoding, errors="replace", newline=""
    )
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


def _encoding(head: bytes, layout: Layout, learned: Reading) -> str:
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8"  # pyarrow takes the mark off
    if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "utf-32"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    given = layout.encoding or learned.layout.encoding or "utf-8"
    if layout.encoding is None and given in ("utf-8", WINDOWS):
        return WINDOWS if _is_windows(head) else "utf-8"
    return "utf-8" if given.lower() in ("utf-8-sig", "utf8") else given


def _is_windows(head: bytes) -> bool:
    """Return whether the beginning of a file is no UTF-8, but would be text on Windows."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # it may end within a character
    except UnicodeDecodeError:
        text = head.decode(WINDOWS, errors="replace")
        return "\ufffd" not in text and not _CONTROLS.search(text)
    return False


def _wrong_encoding(name: str, encoding: str) -> TableError:
    other = "latin-1" if encoding.lower().startswith("utf") else "utf-8"
    return TableError(
        f"{name} is not text in the encoding {encoding}.",
        f"say which it is, for instance {other}.",
        see=("encoding",),
    )


def _ragged(name: str, file: BinaryIO, dialect: CsvDialect) -> TableError:
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
