"""CSV files: bytes and a `Layout` go in, an Arrow table comes out, and the line of any row.

How the file is written is detected from its beginning (`dialects`); pyarrow's fast reader does the rest.
Every failure names the file, and the line where there is one.
"""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from truism.errors import TableError
from truism.table.cells.words import MISSING as MISSING
from truism.table.files.dialects import ANNOTATIONS, Dialect, see_dialect
from truism.table.layouts import Layout as Layout
from truism.table.layouts import Reading
from truism.table.notices import Notice, windows_text

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
