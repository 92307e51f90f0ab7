"""CSV files: bytes and a `Layout` go in, an Arrow table comes out.

Delimiter, decimal comma and encoding are seen from the first rows; whatever is seen wrongly can be said
in `Layout`. Every failure names the file, and the line where there is one.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.csv as pa_csv

from truism.errors import ParameterError, TableError, shorten

DELIMITERS = ("\t", ";", "|", ",")  # in order of preference: a comma may also be a decimal sign
MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "NaT", "n/a", "nan", "null"),
)
_SAMPLE_BYTES = 1 << 18
_SAMPLE_ROWS = 200
_BLOCK_BYTES = 8 << 20  # no line may be longer
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
_DECIMAL_POINT = re.compile(r"\s*[+-]?\d+\.\d+\s*")


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How CSV files are written; Parquet, Feather and Arrow files say it themselves.

    Parameters
    ----------
    delimiter
        Between fields; None tells comma, semicolon, tab and ``|`` apart by itself.
    decimal
        The decimal sign, ``"."`` or ``","``; None sees it from the first rows.
    header
        Whether the first line holds the names; None expects so, and refuses a line of numbers.
        Without a header the columns are called ``x0``, ``x1``, …
    encoding
        Any name that Python knows; a byte order mark overrides it.
    missing
        Spellings of a missing value, besides the usual ones.

    """

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ParameterError.of("delimiter", "be one character", self.delimiter)
        if self.decimal not in (None, ".", ","):
            raise ParameterError.of("decimal", "be '.' or ','", self.decimal)
        if self.decimal is not None and self.decimal == self.delimiter:
            raise ParameterError(
                f"decimal and delimiter must differ, got {self.decimal!r} for both."
            )
        try:
            "".encode(self.encoding)
        except LookupError:
            raise ParameterError.of(
                "encoding",
                "be one that Python knows",
                self.encoding,
                "for instance utf-8, latin-1, cp1252 or utf-16.",
            ) from None


def parse_csv(name: str, file: BinaryIO, layout: Layout) -> pa.Table:
    """Parse a CSV file.

    Parameters
    ----------
    name
        What to call the file in messages.
    file
        Its bytes; must be able to seek.
    layout
        How it is written.

    """
    head = file.read(_SAMPLE_BYTES)
    whole = len(head) < _SAMPLE_BYTES
    file.seek(0)
    if not head.strip():
        raise TableError(f"{name} is empty.")
    encoding = _encoding(head, layout)
    if b"\x00" in head and "16" not in encoding and "32" not in encoding:
        raise TableError(
            f"{name} is neither CSV text nor Parquet, Feather or Arrow.",
            "if it is text in another encoding, say which, for instance with --encoding utf-16.",
        )
    text = _decoded(head, encoding, whole)
    delimiter = layout.delimiter or find_delimiter(text)
    rows = _sample(text, delimiter)
    if any("\ufffd" in name for name in rows[0]):  # what could not be decoded
        raise _wrong_encoding(name, encoding)
    names = _names(rows[0], layout.header)
    decimal = layout.decimal or find_decimal(rows, delimiter)
    options: dict[str, Any] = {
        "read_options": pa_csv.ReadOptions(
            block_size=_BLOCK_BYTES,
            encoding=encoding,
            column_names=names if layout.header is False else None,
        ),
        "parse_options": pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": pa_csv.ConvertOptions(
            null_values=[*MISSING, *layout.missing],
            strings_can_be_null=True,
            decimal_point=decimal,
        ),
    }
    try:
        frame = pa_csv.read_csv(file, **options)
    except UnicodeError:
        raise _wrong_encoding(name, encoding) from None
    except pa.ArrowInvalid as problem:
        if "Expected" in str(problem) and "columns, got" in str(problem):
            raise _ragged(name, file, encoding, delimiter, len(names)) from None
        raise
    if any(pa.types.is_binary(field.type) for field in frame.schema):
        raise _wrong_encoding(name, encoding)
    return frame.rename_columns(names)


def _encoding(head: bytes, layout: Layout) -> str:
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8"  # pyarrow takes the mark off
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    return "utf-8" if layout.encoding.lower() in ("utf-8-sig", "utf8") else layout.encoding


def _decoded(head: bytes, encoding: str, whole: bool) -> str:
    """Decode the beginning of a file; it may end in the middle of a character and of a line."""
    text = head.decode(encoding, errors="replace").removeprefix("\ufeff")
    if not whole and "\n" in text:
        text = text[: text.rindex("\n")]
    return text


def find_delimiter(text: str) -> str:
    r"""Find the delimiter that divides the most rows into as many fields as the first one.

    >>> find_delimiter("pump;level\non;2,5\noff;3,25\n")
    ';'
    """

    def agreement(delimiter: str) -> float:
        rows = _sample(text, delimiter)
        if len(rows[0]) < 2:
            return 0.0
        return sum(len(row) == len(rows[0]) for row in rows) / len(rows)

    best = max(DELIMITERS, key=agreement)
    return best if agreement(best) > 0 else ","


def find_decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    """Find the decimal sign: a comma where fields look like 2,5 and none like 2.5."""
    if delimiter == ",":
        # A quoted "2,5" in a file of commas is a decimal comma too, but so is a quoted "1,000".
        return "."
    fields = [field for row in rows[1:] for field in row]
    commas = sum(_DECIMAL_COMMA.fullmatch(field) is not None for field in fields)
    points = sum(_DECIMAL_POINT.fullmatch(field) is not None for field in fields)
    return "," if commas and not points else "."


def _sample(text: str, delimiter: str) -> list[list[str]]:
    rows = []
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) == _SAMPLE_ROWS:
                break
    except csv.Error:
        pass  # the real reader will say what is wrong
    return rows or [[text]]


def _names(first: Sequence[str], header: bool | None) -> list[str]:
    if header is False:
        return [f"x{i}" for i in range(len(first))]
    names = [name.strip() for name in first]
    if header is None and all(_is_number(name) for name in names):
        raise TableError(
            f"The first line holds numbers where names are expected, got {shorten(list(names), 3)}.",
            "say --no-header if the file has no names, or --header if these are the names.",
        )
    for position, name in enumerate(names):
        if not name:
            raise TableError(
                f"Column names must not be empty, got none for column {position + 1} of {len(names)}.",
                "give it a name or remove it; pandas writes it unless asked to_csv(index=False).",
            )
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise TableError(
            f"Column names must be distinct, got more than one {shorten(twice)}.",
            "rename or drop one of them; --no-header if the file has no names.",
        )
    return names


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _wrong_encoding(name: str, encoding: str) -> TableError:
    other = "latin-1" if encoding.lower().startswith("utf") else "utf-8"
    return TableError(
        f"{name} is not text in the encoding {encoding}.",
        f"say which it is, for instance --encoding {other}.",
    )


def _ragged(name: str, file: BinaryIO, encoding: str, delimiter: str, expected: int) -> TableError:
    """Find the line that the fast reader stumbled over; it counts rows, people count lines."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
    reader = csv.reader(text, delimiter=delimiter)
    line = 1
    try:
        for row in reader:
            if row and len(row) != expected:
                break
            line = reader.line_num + 1
    except csv.Error:
        row = []
    finally:
        text.detach()  # the file is the caller's to close
    hint = None
    if reader.line_num > line:
        hint = f"a quote opens in line {line} and closes in line {reader.line_num} or never."
    elif delimiter == "," or len(row) == 1:
        hint = f"the delimiter was taken to be {delimiter!r}; say another one with --delimiter."
    return TableError(
        f"{name}, line {line}: the number of fields must be {expected} as in the first "
        f"line, got {len(row)}.",
        hint,
    )
