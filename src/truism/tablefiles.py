"""Table files: paths go in, one `Table` comes out; and columns go out as a whole file or not at all.

What a file is is seen from its first bytes, not from its name: Parquet, Feather or Arrow, gzip around
CSV, or CSV. Of a CSV file the delimiter and the decimal comma are seen from its first rows; whatever
is seen wrongly can be said in `Layout`. Every failure names the file, and the line where there is one.
"""

import csv
import glob
import gzip
import io
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.csv as pa_csv

from truism.drafts import write_atomically
from truism.errors import ParameterError, TableError, shorten
from truism.table import Table, as_table

STDIN = "-"
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
            raise ParameterError(f"delimiter must be one character, got {self.delimiter!r}.")
        if self.decimal not in (None, ".", ","):
            raise ParameterError(f"decimal must be '.' or ',', got {self.decimal!r}.")
        if self.decimal is not None and self.decimal == self.delimiter:
            raise ParameterError(
                f"decimal and delimiter must differ, got {self.decimal!r} for both."
            )
        try:
            "".encode(self.encoding)
        except LookupError:
            raise ParameterError(
                f"encoding must be one that Python knows, got {self.encoding!r}.",
                "for instance utf-8, latin-1, cp1252 or utf-16.",
            ) from None


def read_table(sources: Sequence[str], layout: Layout | None = None) -> Table:
    """Read files as one table, one below the other.

    Parameters
    ----------
    sources
        Paths, patterns such as ``day*.csv`` (whose files are sorted by name), or ``-`` for standard
        input.
    layout
        How CSV files are written; seen from the files when absent.

    Returns
    -------
    Table
        With the columns in the first file's order; the other files must have the same ones.

    """
    places = list(_places(sources))
    if places.count(STDIN) > 1:
        raise TableError("Standard input can be read only once, got '-' more than once.")
    layout = layout or Layout()
    frames = [_read(place, layout) for place in places]
    frame = frames[0] if len(frames) == 1 else _stack(places, frames)
    with _named(places[0]):
        return as_table(frame)


def write_table(columns: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write columns as the file name asks: ``.parquet``, ``.feather``, ``.arrow``, ``.csv`` or ``.gz``.

    Parameters
    ----------
    columns
        Arrow arrays, NumPy arrays or lists of equal length, by name.
    path
        Where to; a file that is there survives any failure.

    """
    frame = pa.table({name: pa.array(values) for name, values in columns.items()})
    write_atomically(path, _encode(frame, Path(path)))


def _encode(frame: pa.Table, place: Path) -> bytes:
    sink = pa.BufferOutputStream()
    match place.suffixes[-1:]:
        case [".parquet"]:
            import pyarrow.parquet as pq

            pq.write_table(frame, sink, compression="zstd")
        case [".feather"] | [".arrow"]:
            with pa.ipc.new_file(sink, frame.schema) as writer:
                writer.write_table(frame)
        case _:
            pa_csv.write_csv(_as_text(frame), sink, pa_csv.WriteOptions(quoting_style="needed"))
    content = sink.getvalue().to_pybytes()
    # No date in the header: the same table gives the same bytes.
    return gzip.compress(content, mtime=0) if place.suffix == ".gz" else content


def _as_text(frame: pa.Table) -> pa.Table:
    """Write times as people do; pyarrow would print nanoseconds of them."""
    for i, field in enumerate(frame.schema):
        if pa.types.is_timestamp(field.type):
            whole = frame.column(i).cast(pa.timestamp("s"), safe=False)
            if whole.cast(field.type).equals(frame.column(i)):
                frame = frame.set_column(i, field.name, whole)
    return frame


def _places(sources: Sequence[str]) -> Iterator[str]:
    for source in sources:
        if source == STDIN or os.path.exists(source) or not glob.has_magic(source):
            yield source
            continue
        found = sorted(glob.glob(source, recursive=True))
        if not found:
            raise TableError(f"No file matches {source!r}.")
        yield from found


@contextmanager
def _named(place: str) -> Iterator[None]:
    """Say in every error which file it is about."""
    try:
        yield
    except TableError as problem:
        text = problem.message
        raise TableError(
            text if _name(place) in text else f"{_name(place)}: {text}", problem.hint
        ) from None


def _name(place: str) -> str:
    return "standard input" if place == STDIN else repr(place)


def _stack(places: Sequence[str], frames: Sequence[pa.Table]) -> pa.Table:
    first = frames[0]
    for place, frame in zip(places[1:], frames[1:], strict=True):
        with _named(place):
            _check_same_columns(places[0], first, frame)
    ordered = [frame.select(first.column_names) for frame in frames]
    stacked = ordered[0]
    for place, frame in zip(places[1:], ordered[1:], strict=True):
        try:
            stacked = pa.concat_tables([stacked, frame], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            name = next(
                name
                for name in stacked.column_names
                if not _can_stack(stacked.select([name]), frame.select([name]))
            )
            raise TableError(
                f"Column {name!r} holds {frame.schema.field(name).type} in {_name(place)} and "
                f"{stacked.schema.field(name).type} in the files before it.",
                "columns must hold the same kind of values in every file.",
            ) from None
    return stacked


def _can_stack(one: pa.Table, other: pa.Table) -> bool:
    try:
        pa.concat_tables([one, other], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True


def _check_same_columns(first: str, known: pa.Table, frame: pa.Table) -> None:
    lacks = [name for name in known.column_names if name not in frame.column_names]
    adds = [name for name in frame.column_names if name not in known.column_names]
    if not lacks and not adds:
        return
    parts = [f"lacks {shorten(lacks)}"] * bool(lacks) + [f"adds {shorten(adds)}"] * bool(adds)
    raise TableError(
        f"The columns differ from those of {_name(first)}: it {' and '.join(parts)}.",
        "files that are read as one table must have the same columns.",
    )


def _read(place: str, layout: Layout) -> pa.Table:
    with _named(place):
        try:
            with _open(place) as file:
                return _parse(place, file, layout)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).rstrip(".")
            hint = f"name its files, for instance '{place.rstrip('/')}/*.csv'."
            raise TableError(
                f"{_name(place)} cannot be read: {reason}.",
                hint if isinstance(problem, IsADirectoryError) else None,
            ) from None


@contextmanager
def _open(place: str) -> Iterator[BinaryIO]:
    """Open for reading and seeking; gzip is taken off."""
    if place == STDIN:
        yield _unzipped(io.BytesIO(sys.stdin.buffer.read()))
        return
    with open(place, "rb") as file:
        yield _unzipped(file if file.seekable() else io.BytesIO(file.read()))


def _unzipped(file: Any) -> BinaryIO:
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[return-value]


def _parse(place: str, file: BinaryIO, layout: Layout) -> pa.Table:
    try:
        magic = file.read(8)
        file.seek(0)
        frame = _parse_by_magic(magic, file)
        if frame is None:
            frame = _parse_csv(place, file, layout)
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise TableError(f"The gzip file is damaged: {str(problem).rstrip('.')}.") from None
    except pa.ArrowException as problem:
        text = " ".join(str(problem).split()).rstrip(".")
        raise TableError(f"The file is damaged or not a table: {text[:200]}.") from None
    if frame.num_rows == 0:
        raise TableError(f"{_name(place)} has no rows.")
    return frame


def _parse_by_magic(magic: bytes, file: BinaryIO) -> pa.Table | None:
    if magic.startswith(b"PAR1"):
        import pyarrow.parquet as pq

        return pq.ParquetFile(file).read()
    if magic.startswith(b"ARROW1"):
        return pa.ipc.open_file(file).read_all()
    if magic.startswith(b"FEA1"):
        import pyarrow.feather

        return pyarrow.feather.read_table(file)
    if magic.startswith(b"\xff\xff\xff\xff"):
        return pa.ipc.open_stream(file).read_all()
    if magic.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise TableError(
            "This is a spreadsheet or an archive, not a table file.", "export it as CSV or Parquet."
        )
    return None


def _parse_csv(place: str, file: BinaryIO, layout: Layout) -> pa.Table:
    head = file.read(_SAMPLE_BYTES)
    whole = len(head) < _SAMPLE_BYTES
    file.seek(0)
    if not head.strip():
        raise TableError(f"{_name(place)} is empty.")
    encoding = _encoding(head, layout)
    if b"\x00" in head and "16" not in encoding and "32" not in encoding:
        raise TableError(
            f"{_name(place)} is neither CSV text nor Parquet, Feather or Arrow.",
            "if it is text in another encoding, say which, for instance with --encoding utf-16.",
        )
    text = _decoded(head, encoding, whole)
    delimiter = layout.delimiter or find_delimiter(text)
    rows = _sample(text, delimiter)
    if any("\ufffd" in name for name in rows[0]):  # what could not be decoded
        raise _wrong_encoding(place, encoding)
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
        raise _wrong_encoding(place, encoding) from None
    except pa.ArrowInvalid as problem:
        if "Expected" in str(problem) and "columns, got" in str(problem):
            raise _ragged(place, file, encoding, delimiter, len(names)) from None
        raise
    if any(pa.types.is_binary(field.type) for field in frame.schema):
        raise _wrong_encoding(place, encoding)
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


def _wrong_encoding(place: str, encoding: str) -> TableError:
    other = "latin-1" if encoding.lower().startswith("utf") else "utf-8"
    return TableError(
        f"{_name(place)} is not text in the encoding {encoding}.",
        f"say which it is, for instance --encoding {other}.",
    )


def _ragged(place: str, file: BinaryIO, encoding: str, delimiter: str, expected: int) -> TableError:
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
        f"{_name(place)}, line {line}: the number of fields must be {expected} as in the first "
        f"line, got {len(row)}.",
        hint,
    )
