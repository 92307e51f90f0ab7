"""Where tables come from: paths go in, parts of a table come out, one for each file.

The format of a file is recognised by its first bytes, not by its name: Parquet, Feather or
Arrow, Excel, SQLite, DuckDB, JSON, gzip around any of them, or CSV. Every failure names the file.
"""

import errno
import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa

from truism.errors import TableError
from truism.table.cells.names import check_names, check_renames, renamed
from truism.table.files.csvfiles import find_line, parse_csv, read_csv
from truism.table.files.databases import DUCKDB_MAGIC, SQLITE_MAGIC, read_duckdb, read_sqlite
from truism.table.files.dialects import Dialect
from truism.table.files.jsonlines import looks_like_json, read_json
from truism.table.files.sheets import read_sheet
from truism.table.layouts import Layout, Reading
from truism.table.notices import Notice

STDIN = "-"
ENDINGS = (
    *(".csv", ".tsv", ".txt", ".dat", ".log", ".parquet", ".pq", ".feather", ".arrow", ".ipc"),
    *(".xlsx", ".xlsm", ".xls", ".ods", ".jsonl", ".ndjson", ".json"),
    *(".db", ".sqlite", ".sqlite3", ".duckdb"),
)


LEDGER = ".accepted.parquet"  # the ending of a ledger of accepted rows
OWN = b'{"format":"truism-'  # how models and states begin, blanks aside
N_OPENING = 64


class Part(msgspec.Struct, frozen=True, eq=False):
    """One file as it was read.

    Parameters
    ----------
    place
        Its path.
    frame
        Its columns, with the names that they are to have.
    names
        The names in the file, by the names that the columns are to have.
    dialect
        How it is written, of a CSV file.
    notices
        Notices about it.
    content
        Its bytes, where it can be read only once.
    units
        Units by the names in the file, where a row below the names holds them.
    first
        How many rows of the file come before these, if they are not all.

    """

    place: str
    frame: pa.Table
    names: dict[str, str]
    dialect: Dialect | None = None
    notices: tuple[Notice, ...] = ()
    content: bytes | None = None
    units: dict[str, str] = {}
    first: int = 0

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return name_of(self.place)

    def as_texts(self, columns: Sequence[str], layout: Layout) -> pa.Table:
        """Return some columns as the texts that stand in the file."""
        assert self.dialect is not None
        own = [self.names[column] for column in columns]
        with naming(self.place), opened(self.place, self.content) as file:
            frame = read_csv(self.name, file, self.dialect, layout, own, own)
        return frame.rename_columns(list(columns))

    def line_of(self, row: int) -> int | None:
        """Return the line of a row, None where the file has no lines."""
        if self.dialect is None:
            return None
        with opened(self.place, self.content) as file:
            return find_line(file, self.dialect, self.first + row)


def find_places(sources: Sequence[str]) -> list[str]:
    """Return the files that are meant: paths, patterns, and folders with all their tables."""
    places = [place for source in sources for place in _places(source)]
    if places.count(STDIN) > 1:
        raise TableError("Standard input can be read only once, got '-' more than once.")
    return places


def _places(source: str) -> Iterator[str]:
    if source != STDIN and os.path.isdir(source):
        found = sorted(str(path) for path in Path(source).rglob("*") if _is_table(path, source))
        if not found:
            raise TableError(
                f"{source!r} is a folder without table files.",
                f"name the files, or give them a usual ending ({', '.join(ENDINGS[:3])} and so on).",
            )
        yield from found
    elif source == STDIN or os.path.exists(source) or not glob.has_magic(source):
        yield source
    else:
        found = sorted(glob.glob(source, recursive=True))
        if not found:
            raise TableError(f"No file matches {source!r}.")
        yield from found


def _is_table(path: Path, folder: str) -> bool:
    below = path.relative_to(folder).parts
    if any(part.startswith((".", "~$")) for part in below) or not path.is_file():
        return False
    return path.name.lower().removesuffix(".gz").endswith(ENDINGS) and not _is_own(path)


def _is_own(path: Path) -> bool:
    """Return whether truism wrote a file for itself, beside the tables: a model, a state or a ledger."""
    if path.name.endswith(LEDGER):
        return True
    with suppress(OSError), path.open("rb") as file:
        return file.read(N_OPENING).replace(b" ", b"").replace(b"\n", b"").startswith(OWN)
    return False


def name_of(place: str) -> str:
    """Return what to call a file in messages."""
    return "standard input" if place == STDIN else repr(place)


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Say in every error which file it is about."""
    try:
        yield
    except TableError as problem:
        text, name = problem.message, name_of(place)
        said = text if name in text else f"{name}: {text}"
        raise TableError(said, problem.hint, see=problem.see) from None


def read_part(place: str, layout: Layout, learned: Reading | None) -> Part:
    """Read one file."""
    with naming(place):
        try:
            content = _standard_input() if place == STDIN else None
            with opened(place, content) as file:
                part = _parse(place, file, layout, learned)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).rstrip(".")
            raise TableError(f"{name_of(place)} cannot be read: {reason}.") from None
        own = part.frame.column_names
        check_renames(own, layout, () if learned is None else learned.column_of())
        names = renamed(own, layout if learned is None else layout.over(learned.layout))
        check_names(names)
        return msgspec.structs.replace(
            part,
            frame=part.frame.rename_columns(names),
            names=dict(zip(names, own, strict=True)),
            content=content,
        )


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    return sys.stdin.buffer.read()


@contextmanager
def opened(place: str, content: bytes | None = None) -> Iterator[BinaryIO]:
    """Open for reading and seeking; gzip is taken off."""
    if content is not None:
        yield _unzipped(io.BytesIO(content))
        return
    with open(place, "rb") as file:
        yield _unzipped(file if file.seekable() else io.BytesIO(file.read()))


def _unzipped(file: Any) -> BinaryIO:
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[return-value]


def _parse(place: str, file: BinaryIO, layout: Layout, learned: Reading | None) -> Part:
    said = layout if learned is None else layout.over(learned.layout)
    with reading_arrow():
        magic = file.read(256)
        file.seek(0)
        if magic.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
            sheet = read_sheet(name_of(place), file, said, learned)
            return Part(place, sheet.frame, {}, None, sheet.notices, units=sheet.units)
        found = _parse_by_magic(place, magic, file, said)
        if found is not None:
            return Part(place, found, {})
        parsed = parse_csv(name_of(place), file, said_of_texts(layout, learned), learned)
        dialect = parsed.dialect
        return Part(place, parsed.frame, {}, dialect, parsed.notices, units=units_in(dialect))


def said_of_texts(layout: Layout, learned: Reading | None) -> Layout:
    """Return what is known of a CSV file: later ones may be written differently from earlier ones."""
    said = layout if learned is None else layout.over(learned.layout)
    return msgspec.structs.replace(
        said, delimiter=layout.delimiter, decimal=layout.decimal, encoding=layout.encoding
    )


def units_in(dialect: Dialect) -> dict[str, str]:
    """Return the units that stand below the names of columns, by name."""
    return dict(zip(dialect.names, dialect.units, strict=True)) if dialect.units else {}


@contextmanager
def reading_arrow() -> Iterator[None]:
    """Say that a file is damaged, if it is."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise TableError(f"The gzip file is damaged: {str(problem).rstrip('.')}.") from None
    except MemoryError:  # Arrow has one of its own, which is an ArrowException too
        raise
    except pa.ArrowException as problem:
        text = " ".join(str(problem).split()).rstrip(".")
        raise TableError(f"The file is damaged or not a table: {text[:200]}.") from None


def is_text(place: str) -> bool:
    """Return whether a file is none of the other known kinds, and so a CSV file."""
    with opened(place) as file:
        magic = file.read(256)
    known = (b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
    database = magic.startswith(SQLITE_MAGIC) or magic[8:12] == DUCKDB_MAGIC
    return not magic.startswith(known) and not database and not looks_like_json(magic)


def _parse_by_magic(place: str, magic: bytes, file: BinaryIO, layout: Layout) -> pa.Table | None:
    name = name_of(place)
    if magic.startswith((b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return _parse_columns(magic, file)
    if magic.startswith(SQLITE_MAGIC):
        return read_sqlite(name, _own_file(place, file), layout)
    if magic[8:12] == DUCKDB_MAGIC:
        return read_duckdb(name, _own_file(place, file), layout)
    if looks_like_json(magic):
        return read_json(name, file, layout)
    return None


def _own_file(place: str, file: BinaryIO) -> str:
    if place == STDIN or isinstance(file, gzip.GzipFile):
        raise TableError("A database must be a file of its own, not packed and not standard input.")
    return place


def _parse_columns(magic: bytes, file: BinaryIO) -> pa.Table:
    if magic.startswith(b"PAR1"):
        return open_parquet(file).read()
    if magic.startswith(b"ARROW1"):
        return pa.ipc.open_file(file).read_all()
    if magic.startswith(b"FEA1"):
        import pyarrow.feather

        return pyarrow.feather.read_table(file)
    return pa.ipc.open_stream(file).read_all()


def open_parquet(file: Any) -> Any:
    """Open a Parquet file; texts stay the lists that they are in the file, which repeats none."""
    import pyarrow.parquet as pq

    opened = pq.ParquetFile(file)
    texts = [field.name for field in opened.schema_arrow if _is_text(field.type)]
    return (
        pq.ParquetFile(file, metadata=opened.metadata, read_dictionary=texts) if texts else opened
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
