"""How a CSV file is written: its beginning goes in, a `Dialect` comes out.

Delimiter, decimal sign, lines before the names and a row of units are detected from the first rows;
`Layout` overrides what is detected wrongly. What held for an earlier file of the
same kind is tried first.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from truism.errors import TableError, shorten
from truism.table.cells.names import check_names, renamed
from truism.table.files.unitrows import find_units, is_number
from truism.table.layouts import Layout, Reading
from truism.table.notices import (
    Notice,
    column_without_name,
    lines_before_names,
    one_column_of_text,
    other_delimiter,
    unit_row,
)

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
