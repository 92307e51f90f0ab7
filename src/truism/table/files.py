"""Files of all formats, read in batches and put one below the other as one `Table`.

What is one batch is decided by all its cells. Of a larger table the first rows decide, as the `Reading`
of earlier files does for later ones.

The format of a file is recognised by its first bytes, not by its name: Parquet, Feather or
Arrow, Excel, SQLite, DuckDB, JSON, gzip around any of them, or CSV. Every failure names the file.
"""

import errno
import glob
import gzip
import io
import math
import os
import stat
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import pyarrow as pa

from truism.errors import ParameterError, TableError, did_you_mean, readable, shorten
from truism.table.cells import (
    DUCKDB_MAGIC,
    SQLITE_MAGIC,
    looks_like_json,
    read_duckdb,
    read_json,
    read_sheet,
    read_sqlite,
)
from truism.table.columns import Table, kind_of
from truism.table.csv import (
    CsvDialect,
    EmptyFileError,
    bare,
    find_line,
    read_blocks,
    see_csv,
    transposed,
)
from truism.table.frames import as_table
from truism.table.historian import looks_long, pivot
from truism.table.layouts import (
    DAYS,
    EPOCHS,
    STYLES,
    ColumnReading,
    Layout,
    Reading,
    check_names,
    check_renames,
    renamed,
)
from truism.table.notices import Notice
from truism.table.texts import BadCell, cast, find_sentinels, read_columns, without_values
from truism.table.timelines import examine, find_axis
from truism.table.times import may_read, read_instants
from truism.table.totals import Ends, totals_by_sum, totals_by_word
from truism.table.words import says_time

OPENING = 1 << 18  # rows that decide how larger tables are read
STDIN = "-"
MOST_OF_DEVICE = 1 << 28  # bytes; some have no end
ENDINGS = (
    *(".csv", ".tsv", ".txt", ".dat", ".log", ".parquet", ".pq", ".feather", ".arrow", ".ipc"),
    *(".xlsx", ".xlsm", ".xls", ".ods", ".jsonl", ".ndjson", ".json"),
    *(".db", ".sqlite", ".sqlite3", ".duckdb"),
)


LEDGER = ".accepted.parquet"  # the ending of a ledger of accepted rows
OWN = b'{"format":"truism-'  # how models and states begin, blanks aside


class RowGroups(msgspec.Struct, frozen=True):
    """Rows of one file that are read together."""

    place: int  # which file, by position
    # the number of its first row in the file, and how many rows there are
    first: int
    n_rows: int
    # the row groups or record batches that hold them: the first one, and that after the last
    groups: tuple[int, int]


class _Parsed(msgspec.Struct, frozen=True, eq=False):
    """A file of a known format: its columns, and how its rows are read."""

    schema: pa.Schema
    read: Callable[[Sequence[str], int | None, tuple[int, int] | None], Iterator[pa.Table]]
    dialect: CsvDialect | None = None
    notices: tuple[Notice, ...] = ()
    units: dict[str, str] = {}  # by the names in the file, where a row below the names holds them
    sizes: tuple[int, ...] | None = None  # of its groups of rows, if it says them
    has_lines: bool = False  # whether each row is a line, or some, of the file


class Part(msgspec.Struct, frozen=True, eq=False):
    """Rows of one file as they stand there; those of a CSV file are texts."""

    place: str
    file: _Parsed
    content: bytes | None  # its bytes, where it can be read only once
    frame: pa.Table  # the columns, with the names that they are to have
    names: dict[str, str]  # the names in the file, by the names that the columns are to have
    first: int  # how many rows of the file come before these

    @property
    def name(self) -> str:
        """What to call it in messages."""
        return name_of(self.place)

    def line_of(self, row: int) -> int | None:
        """Return the line of a row, None where the file has no lines."""
        if self.file.dialect is None or not self.file.has_lines:
            return None
        with _opened(self.place, self.content) as file:
            return find_line(file, self.file.dialect, self.first + row)


def find_places(sources: Sequence[str]) -> list[str]:
    """Return the files that are meant: paths, patterns, and folders with all their tables."""
    places = [place for source in sources for place in _places(source)]
    if places.count(STDIN) > 1:
        raise TableError("Standard input can be read only once, got '-' more than once.")
    return places


def _places(source: str) -> Iterator[str]:
    if source != STDIN and os.path.isdir(source):
        places = sorted(str(path) for path in Path(source).rglob("*") if _is_table(path, source))
        if not places:
            raise TableError(
                f"{source!r} is a folder without table files.",
                f"name the files, or give them a usual ending ({', '.join(ENDINGS[:3])} and so on).",
            )
        yield from places
    elif source == STDIN or os.path.exists(source) or not glob.has_magic(source):
        yield source
    else:
        places = sorted(glob.glob(source, recursive=True))
        if not places:
            raise TableError(f"No file matches {source!r}.")
        yield from places


def _is_table(path: Path, folder: str) -> bool:
    below = path.relative_to(folder).parts
    if any(part.startswith((".", "~$")) for part in below) or not path.is_file():
        return False
    if not path.name.lower().removesuffix(".gz").endswith(ENDINGS) or path.name.endswith(LEDGER):
        return False
    with suppress(OSError), path.open("rb") as file:  # truism's own, beside the tables
        return not file.read(64).replace(b" ", b"").replace(b"\n", b"").startswith(OWN)
    return True


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
        message = text if name in text else f"{name}: {text}"
        raise type(problem)(message, problem.hint, see=problem.see) from None


class Files(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Files that are one table together, read in batches, as often as needed."""

    places: tuple[str, ...]  # their paths, in the order of the rows
    layout: Layout  # what is known about how they are written
    learned: Reading | None  # how earlier files were read
    contents: dict[str, bytes]  # the bytes of those that can be read only once
    stamps: tuple[tuple[int, int] | None, ...]  # sizes and dates when they were opened

    @property
    def merged_layout(self) -> Layout:
        """What is known about how the files are written, also from earlier ones."""
        return self.layout if self.learned is None else self.layout.over(self.learned.layout)

    @cached_property
    def groups(self) -> tuple[RowGroups, ...]:
        """The groups of rows in which files are kept; rows are counted where the file does not say it."""
        spans: list[RowGroups] = []
        first: list[str] | None = None
        for at, place in enumerate(self.places):
            with naming(place):
                columns, sizes = self._look(at)
                first = first or columns
                if columns:
                    check_same_columns(name_of(self.places[0]), first, columns)
            start = 0
            for group, size in enumerate(sizes):
                spans.append(RowGroups(at, start, size, (group, group + 1)))
                start += size
        return tuple(spans)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(span.n_rows for span in self.groups)

    def spans(self, n_rows: int) -> Iterator[RowGroups]:
        """Divide the files into spans of about so many rows, in order, where groups of rows allow it."""
        held: RowGroups | None = None
        for span in self.groups:
            if held is not None and (held.place != span.place or held.n_rows >= n_rows):
                yield held
                held = None
            if held is None:
                held = span
            else:
                n, groups = held.n_rows + span.n_rows, (held.groups[0], span.groups[1])
                held = msgspec.structs.replace(held, n_rows=n, groups=groups)
        if held is not None:
            yield held

    def anywhere(self) -> "Files":
        """Return the same files for processes that work in other folders."""
        return msgspec.structs.replace(self, places=tuple(map(os.path.abspath, self.places)))

    def batches(
        self, n_rows: int, wanted: Collection[str] | None = None, span: RowGroups | None = None
    ) -> Iterator[Part]:
        """Read files from the beginning; refuse those that changed since they were opened."""
        for at in range(len(self.places)) if span is None else (span.place,):
            self._check_unchanged(at)
            with suppress(EmptyFileError):
                yield from self.read(at, n_rows, wanted, span)
            self._check_unchanged(at)

    def read(
        self,
        at: int,
        n_rows: int | None = None,
        wanted: Collection[str] | None = None,
        span: RowGroups | None = None,
    ) -> Iterator[Part]:
        """Read one file, in batches of at most so many rows; at least one batch."""
        place, content = self.places[at], self.contents.get(self.places[at])
        n_read = first = 0 if span is None else span.first
        with naming(place), self._parsed(at) as parsed:
            columns = self._columns_of(parsed)
            pairs = [*zip(columns, parsed.schema.names, strict=True)]
            chosen = [(new, old) for new, old in pairs if wanted is None or new in wanted]
            names = dict(chosen or pairs[:1])  # a table has at least one column

            def part(frame: pa.Table) -> Part:
                frame = frame.select([*names.values()]).rename_columns([*names])
                return Part(place, parsed, content, frame, names, n_read)

            groups = None if span is None else span.groups
            for frame in parsed.read([*names.values()], n_rows, groups):
                for batch in frame.to_batches(max_chunksize=n_rows):
                    yield part(pa.Table.from_batches([batch]))
                    n_read += batch.num_rows
            if n_read == first:
                yield part(parsed.schema.empty_table())

    @contextmanager
    def _parsed(self, at: int) -> Iterator[_Parsed]:
        place = self.places[at]
        with _refusing(place), _opened(place, self.contents.get(place)) as file:
            yield _parse(place, file, self.layout, self.learned)

    def _columns_of(self, parsed: _Parsed) -> list[str]:
        """Return the names that the columns of a file are to have."""
        names, learned = parsed.schema.names, self.learned
        several = len(self.places) > 1  # of which some may have the new names already
        check_renames(
            names, self.layout, learned.column_of() if learned else names if several else ()
        )
        columns = renamed(names, self.merged_layout)
        check_names(columns)
        return columns

    def _look(self, at: int) -> tuple[list[str], Sequence[int]]:
        """Return the columns of a file, and the sizes of its groups of rows; else count its rows."""
        try:
            with self._parsed(at) as parsed:
                columns, sizes = self._columns_of(parsed), parsed.sizes
                if sizes is None:
                    frames = parsed.read(parsed.schema.names[:1], None, None)
                    sizes = (sum(frame.num_rows for frame in frames),)
                return columns, sizes
        except EmptyFileError:
            return [], ()

    def _check_unchanged(self, at: int) -> None:
        place = self.places[at]
        if place in self.contents:
            return
        try:
            same = _stamp(place) == self.stamps[at]
        except OSError:
            raise TableError(
                f"{name_of(place)} disappeared while it was read.",
                "keep files until the end, where every process that reads them sees them.",
            ) from None
        if not same:
            raise TableError(
                f"{name_of(place)} changed while it was read.",
                "files must stay as they are until the end; take a copy of what is still written to.",
            )


def open_files(
    sources: Sequence[str], layout: Layout | None = None, learned: Reading | None = None
) -> Files:
    """Read files as one table, one below the other, with the columns in the first file's order.

    Sources are paths, folders, patterns such as ``day*.csv`` (whose files are sorted by name), or ``-``
    for standard input. A `reading` says how earlier files were read: these are read alike.
    """
    places = find_places(sources)
    contents: dict[str, bytes] = {}
    stamps: list[tuple[int, int] | None] = []
    for place in places:
        with _refusing(place):
            if place == STDIN:
                contents[place] = _standard_input()
            elif not os.path.isfile(place):
                with open(place, "rb") as file:
                    endless = stat.S_ISCHR(os.fstat(file.fileno()).st_mode)
                    contents[place] = file.read(MOST_OF_DEVICE if endless else -1)
                if endless and len(contents[place]) == MOST_OF_DEVICE:
                    raise TableError(f"{name_of(place)} is a device without end.")
            stamps.append(None if place in contents else _stamp(place))
    return Files(tuple(places), layout or Layout(), learned, contents, tuple(stamps))


def _stamp(place: str) -> tuple[int, int]:
    status = os.stat(place)
    return status.st_size, status.st_mtime_ns


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    return sys.stdin.buffer.read()


@contextmanager
def _opened(place: str, content: bytes | None = None) -> Iterator[BinaryIO]:
    """Open for reading and seeking; gzip is taken off."""
    if content is not None:
        yield _unzipped(io.BytesIO(content))
        return
    with open(place, "rb") as file:
        yield _unzipped(file)


def _unzipped(file: Any) -> BinaryIO:
    magic = file.read(12)  # a DuckDB file begins with any bytes
    packed = magic.startswith(b"\x1f\x8b") and magic[8:] != DUCKDB_MAGIC
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[return-value]


@contextmanager
def _refusing(place: str) -> Iterator[None]:
    """Say that a file cannot be read or is damaged, if that is so."""
    with readable(name_of(place), TableError):
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
            raise TableError(f"The gzip file is damaged: {str(problem).rstrip('.')}.") from None
        except MemoryError:  # Arrow has one of its own, which is an ArrowException too
            raise
        except pa.ArrowException as problem:
            text = " ".join(str(problem).split()).rstrip(".")
            raise TableError(f"The file is damaged or not a table: {text[:200]}.") from None


# --- formats ---


def _parse(place: str, file: BinaryIO, layout: Layout, learned: Reading | None) -> _Parsed:
    """Recognise the format of a file."""
    merged = layout if learned is None else layout.over(learned.layout)
    name, magic = name_of(place), file.read(256)
    file.seek(0)
    if magic.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        sheet = read_sheet(name, file, merged, learned or Reading())
        held = _held(sheet.frame)
        return msgspec.structs.replace(held, notices=sheet.notices, units=sheet.units)
    typed = _parse_typed(place, file, magic, merged)
    if typed is not None and merged.transpose:
        raise TableError(
            f"{name} is neither CSV nor a spreadsheet, so its lines cannot be columns.",
            see=("transpose",),
        )
    if typed is not None:
        return typed
    if merged.transpose:
        file = transposed(file, layout, learned or Reading())
        layout = msgspec.structs.replace(layout, delimiter="\t", encoding="utf-8")
    # Later CSV files may be written differently from earlier ones.
    signs = {sign: getattr(layout, sign) for sign in ("delimiter", "decimal", "encoding")}
    dialect, notices = see_csv(
        name, file, msgspec.structs.replace(merged, **signs), learned or Reading()
    )

    def read(names: Sequence[str], *_: Any) -> Iterator[pa.Table]:
        return read_blocks(name, file, dialect, merged.missing, names)

    units = dict(zip(dialect.names, dialect.units, strict=True)) if dialect.units else {}
    schema = pa.schema([(name, pa.string()) for name in dialect.names if name])
    has_lines = not merged.transpose
    return _Parsed(schema, read, dialect, notices, units, has_lines=has_lines)


def _parse_typed(place: str, file: BinaryIO, magic: bytes, layout: Layout) -> _Parsed | None:
    """Open a file whose columns have names and types of their own; None if it is none."""
    name = name_of(place)
    if magic.startswith(b"PAR1"):
        return _parse_parquet(file)
    if magic.startswith(b"ARROW1"):
        return _parse_arrow(file)
    if magic.startswith(b"FEA1"):
        import pyarrow.feather

        return _held(pyarrow.feather.read_table(file))
    if magic.startswith(b"\xff\xff\xff\xff"):
        return _held(pa.ipc.open_stream(file).read_all())
    if magic.startswith(SQLITE_MAGIC):
        return _held(read_sqlite(name, _own_file(place, file), layout))
    if magic[8:12] == DUCKDB_MAGIC:
        return _held(read_duckdb(name, _own_file(place, file), layout))
    return _held(read_json(name, file, layout)) if looks_like_json(magic) else None


def _held(frame: pa.Table) -> _Parsed:
    """Return a format that is read at once."""
    return _Parsed(frame.schema, lambda names, *_: iter([frame.select(list(names))]))


def _parse_parquet(file: BinaryIO) -> _Parsed:
    """Texts of a Parquet file stay the lists that they are in the file, which repeats none."""
    import pyarrow.parquet as pq

    reader = pq.ParquetFile(file)
    texts = [field.name for field in reader.schema_arrow if _is_text(field.type)]
    if texts:
        reader = pq.ParquetFile(file, metadata=reader.metadata, read_dictionary=texts)

    def read(
        names: Sequence[str], n_rows: int | None, groups: tuple[int, int] | None
    ) -> Iterator[pa.Table]:
        numbers = None if groups is None else [*range(*groups)]
        size = n_rows or max(reader.metadata.num_rows, 1)
        for batch in reader.iter_batches(size, numbers, list(names)):
            yield pa.Table.from_batches([batch])

    groups = range(reader.metadata.num_row_groups)
    sizes = tuple(reader.metadata.row_group(i).num_rows for i in groups)
    return _Parsed(reader.schema_arrow, read, sizes=sizes)


def _parse_arrow(file: BinaryIO) -> _Parsed:
    reader = pa.ipc.open_file(file)

    def read(
        names: Sequence[str], _: int | None, groups: tuple[int, int] | None
    ) -> Iterator[pa.Table]:
        for group in range(*(groups or (0, reader.num_record_batches))):
            yield pa.Table.from_batches([reader.get_batch(group)]).select(list(names))

    groups = range(reader.num_record_batches)
    return _Parsed(reader.schema, read, sizes=tuple(reader.get_batch(i).num_rows for i in groups))


def _own_file(place: str, file: BinaryIO) -> str:
    if place == STDIN or isinstance(file, gzip.GzipFile):
        raise TableError("A database must be a file of its own, not packed and not standard input.")
    return place


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


# --- files one below the other ---


def stack(parts: Sequence[Part], readings: Mapping[str, ColumnReading]) -> pa.Table:
    """Put files one below the other; texts of CSV files are cast where all of them are plain."""
    names = parts[0].frame.column_names
    for part in parts[1:]:
        with naming(part.place):
            check_same_columns(parts[0].name, names, part.frame.column_names)
    return pa.table({name: _stacked(name, parts, readings.get(name)) for name in names})


def _stacked(name: str, parts: Sequence[Part], reading: ColumnReading | None) -> Any:
    columns = [part.frame.column(name) for part in parts]
    dialects = [part.file.dialect for part in parts if part.file.dialect is not None]
    sign = next((dialect.decimal for dialect in dialects if dialect.decimal), ".")

    def read(texts: Any) -> Any:
        # 1.234 is no decimal number where points grouped thousands
        plain = reading is None or (reading.kind != "text" and reading.thousands != sign)
        return cast(texts, sign) if plain else texts

    if len(dialects) == len(parts):
        chunks = [chunk for column in columns for chunk in column.chunks]
        return read(pa.chunked_array(chunks, pa.string()))
    pairs = zip(columns, parts, strict=True)
    columns = [column if part.file.dialect is None else read(column) for column, part in pairs]
    if len({column.type for column in columns}) > 1:
        columns = [_written_out(column) for column in columns]
    stacked = pa.table({name: columns[0]})
    for part, column in zip(parts[1:], columns[1:], strict=True):
        pair = [stacked, pa.table({name: column})]
        try:
            stacked = pa.concat_tables(pair, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            before = stacked.schema.types[0]
            raise TableError(
                f"Column {name!r} holds {column.type} in {part.name} and {before} in the files "
                "before it.",
                "columns must hold the same kind of values in every file.",
            ) from None
    return stacked.column(0)


def _written_out(column: Any) -> Any:
    """Return texts of which each stands once as they are in other files."""
    listed = pa.types.is_dictionary(column.type) and _is_text(column.type.value_type)
    return column.cast(column.type.value_type) if listed else column


def check_same_columns(first: str, expected: Sequence[str], names: Sequence[str]) -> None:
    """Refuse a file whose columns are not those of the first one, whose name is given."""
    lacks = [name for name in expected if name not in names]
    adds = [name for name in names if name not in expected]
    if not lacks and not adds:
        return
    parts = [f"lacks {shorten(lacks)}"] * bool(lacks) + [f"adds {shorten(adds)}"] * bool(adds)
    raise TableError(
        f"The columns differ from those of {first}: it {' and '.join(parts)}.",
        "files that are read as one table must have the same columns.",
    )


class TableRead(msgspec.Struct, frozen=True, eq=False):
    """A table, how it was read, notices about that, and whether these are all rows."""

    table: Table
    reading: Reading
    notices: tuple[Notice, ...] = ()
    is_whole: bool = True


def read(
    sources: Sequence[str],
    layout: Layout | None = None,
    *,
    reading: Reading | None = None,
    allow_empty: bool = False,
) -> TableRead:
    """Read files as one table, one below the other, all rows at once; see `open_files`."""
    return read_first(open_files(sources, layout, reading), allow_empty=allow_empty)


def read_first(
    files: Files,
    most_rows: float = math.inf,
    most_values: float = math.inf,
    *,
    n_first: int | None = None,
    allow_empty: bool = False,
) -> TableRead:
    """Read files as one table if they have at most so many rows and values, else their first rows.

    The first `n_first` rows, 262,144 when absent, decide how all are read, unless earlier files did.
    """
    parts: list[Part] = []
    problem: TableError | None = None
    notices: tuple[Notice, ...] = ()
    n_rows, beyond, n_first = 0, False, n_first or OPENING
    for at, place in enumerate(files.places):
        if beyond and n_rows >= n_first:
            break
        batches: list[Part] = []
        try:
            for batch in files.read(at, OPENING):
                batches.append(batch)
                n_rows += batch.frame.num_rows
                beyond |= n_rows > most_rows or n_rows * len(batch.file.schema) > most_values
                if beyond and n_rows >= n_first:
                    break
        except EmptyFileError as empty:
            problem = problem or empty
        if batches and (any(batch.frame.num_rows for batch in batches) or allow_empty):
            whole = pa.concat_tables([batch.frame for batch in batches])
            parts.append(msgspec.structs.replace(batches[0], frame=whole))
            notices = (*notices, *batches[0].file.notices)
        else:
            empty_file = f"{name_of(place)} has no rows."
            problem = problem or TableError(empty_file)
            notices = (*notices, Notice("no_rows", empty_file))
    if not parts and not allow_empty and problem is not None:
        raise problem
    parts = [part for part in parts if part.frame.num_rows] or parts[:1]
    if beyond:
        return _opening(files, parts, n_first, notices)
    if not parts:
        reading = files.learned or Reading(files.layout)
        columns = tuple(without_values(column) for column in reading.columns)
        return TableRead(Table(columns, 0), reading, notices)
    return understand(parts, files.layout, files.learned, notices, whole=True)


def _opening(
    files: Files, parts: Sequence[Part], n_first: int, notices: tuple[Notice, ...]
) -> TableRead:
    """Read the first rows of files; columns of text without a value are left open."""
    if files.merged_layout.every is not None:
        raise TableError(
            "Rows of single values cannot be put together batch by batch.",
            "pivot the files first, for example with DuckDB.",
        )
    first: list[Part] = []
    for part in parts:
        if n_first > 0:
            first.append(msgspec.structs.replace(part, frame=part.frame.slice(0, n_first)))
        n_first -= part.frame.num_rows
    opening = understand(first, files.layout, files.learned, notices)
    reading = opening.reading
    if files.learned is None:
        empty = {column.name for column in opening.table.columns if not len(column.present)}
        columns = tuple(
            msgspec.structs.replace(column, kind="empty")
            if column.name in empty and column.kind == "text"
            else column
            for column in reading.columns
        )
        reading = msgspec.structs.replace(reading, columns=columns)
    return msgspec.structs.replace(opening, reading=reading, is_whole=False)


def read_batches(
    files: Files,
    reading: Reading,
    n_rows: int,
    wanted: Collection[str] | None = None,
    span: RowGroups | None = None,
    *,
    closed: bool = False,
) -> Iterator[TableRead]:
    """Read files batch by batch, as earlier ones or the first rows were read.

    Of the columns those that are wanted, by the names that they are to have, and those that say when or
    tell series apart. If the reading is `closed`, what the first rows did not show is refused.
    """
    merged = files.layout.over(reading.layout)
    if wanted is not None:
        parts = (part.strip() for name in merged.time for part in name.split(","))
        wanted = {*wanted, *merged.time, *parts, *([] if merged.by is None else [merged.by])}
    for part in files.batches(n_rows, wanted, span):
        if part.frame.num_rows:
            yield understand([part], files.layout, reading, closed=closed)


def understand(
    parts: Sequence[Part],
    layout: Layout,
    reading: Reading | None,
    notices: tuple[Notice, ...] = (),
    *,
    closed: bool = False,
    whole: bool = False,
) -> TableRead:
    """Decide what the columns of files hold, or follow what was decided.

    Of `whole` files, rows at the ends that sum up the others are left out.
    """
    given = layout
    merged = layout if reading is None else layout.over(reading.layout)
    stacked = stack(parts, {} if reading is None else reading.column_of())
    if reading is None and merged.time_format is not None and not merged.time:
        layout = merged = _with_axis(merged, stacked)
    with naming(parts[0].place):
        table = as_table(stacked)
    if whole and (cut := _without_totals(parts, table, lambda t: totals_by_word(t, merged.states))):
        return understand(cut[0], given, reading, (*notices, *cut[1]), closed=closed, whole=True)
    if len(layout.time) == 1 and layout.time[0] not in table.names:  # DATE,TIME is two columns
        names = tuple(name.strip() for name in layout.time[0].split(","))
        layout = msgspec.structs.replace(layout, time=names if len(names) == 2 else layout.time)
    for name in layout.time:
        if name not in table.names:
            hint = did_you_mean(name, table.names)
            raise ParameterError.of("time", "name columns of the table", name, hint)
    merged = _with_dialect(layout if reading is None else layout.over(reading.layout), parts)
    if not set(merged.time) <= {*table.names}:  # a later file may lack only the time column
        merged = msgspec.structs.replace(merged, time=())
    try:
        if merged.every is None and merged.stale is not None:
            raise ParameterError.of("stale", "be given with every", merged.stale)
        if merged.every is not None:
            with naming(parts[0].place):
                table, pivoted = pivot(table, merged)
            notices += pivoted
        result = _interpret_all(table, merged, reading, parts, notices, closed)
    except BadCell as cell:
        raise _cell_error(cell, parts, merged, closed) from None
    by_sum = whole and merged.every is None
    if by_sum and (cut := _without_totals(parts, result.table, totals_by_sum)):
        return understand(cut[0], given, reading, (*notices, *cut[1]), closed=closed, whole=True)
    return result


def _without_totals(
    parts: Sequence[Part], table: Table, find: Callable[[Table], Ends]
) -> tuple[list[Part], list[Notice]] | None:
    """Return files without rows at their ends that sum up the others; None if there are no such rows."""
    kept, notices, start = list[Part](), list[Notice](), 0
    for part in parts:
        n_rows = part.frame.num_rows
        ends = find(table.take(slice(start, start + n_rows)))
        start += n_rows
        if ends:
            notices.append(Notice("totals", f"{part.name}: {ends}"))
            frame = part.frame.slice(ends.first, n_rows - ends.first - ends.last)
            part = msgspec.structs.replace(part, frame=frame, first=part.first + ends.first)
        kept.append(part)
    return (kept, notices) if notices else None


def _with_dialect(layout: Layout, parts: Sequence[Part]) -> Layout:
    """Return the layout with what was seen in the first CSV file."""
    dialect = next((part.file.dialect for part in parts if part.file.dialect is not None), None)
    if dialect is None:
        return layout
    several = len(dialect.names) > 1
    seen = Layout(
        delimiter=dialect.delimiter if several else None,
        decimal=dialect.decimal if dialect.delimiter != "," or layout.decimal else None,
        encoding=None if dialect.encoding == "utf-8" else dialect.encoding,
    )
    return layout.over(seen)


def _interpret_all(
    table: Table,
    layout: Layout,
    reading: Reading | None,
    parts: Sequence[Part],
    notices: tuple[Notice, ...],
    closed: bool,
) -> TableRead:
    """Decide what each column holds, or follow what was decided, and put times together."""
    results = read_columns(table, layout, reading, _units(parts[0]), closed=closed)
    columns = tuple(result.column for result in results)
    whole = Table(columns, table.n_rows)
    extra = [notice for result in results for notice in result.notices]
    axis = layout.time[0] if len(layout.time) == 1 else None
    axis = axis or find_axis(columns)
    if axis is not None:
        column_of = whole.column_of()
        extra += examine(column_of[axis], column_of.get(layout.by or ""))
    if reading is None:
        extra += [notice for column in columns for notice in find_sentinels(column)]
        extra += _hints(whole, layout)
    decided = Reading(
        layout,
        tuple(result.reading for result in results),
        any(part.file.units for part in parts),
        () if reading is None else reading.optional,
    )
    return TableRead(whole, decided, (*notices, *extra))


def _units(part: Part) -> dict[str, str]:
    """Return the units of columns: from a row of units, else from brackets in the names."""
    units = {}
    for name, in_file in part.names.items():
        if in_file.endswith("]") and "[" in in_file[1:]:
            units[name] = bare(in_file[in_file.rindex("[") :])
        units[name] = part.file.units.get(in_file) or units.get(name, "")
    return {name: unit for name, unit in units.items() if unit}


def _with_axis(layout: Layout, frame: pa.Table) -> Layout:
    """Return a layout that names the first column whose times are written as asked."""
    style = layout.time_format or ""
    for name in frame.column_names:
        if name not in layout.states and _is_written(frame.column(name), name, style):
            return msgspec.structs.replace(layout, time=(name,))
    if not frame.num_rows or any(pa.types.is_temporal(kind) for kind in frame.schema.types):
        return layout
    constraint, hint = "be how times in a column of the table are written", "name that column."
    problem = ParameterError.of("time_format", constraint, style, hint)
    problem.see = ("time",)
    raise problem


def _is_written(values: pa.ChunkedArray, name: str, style: str) -> bool:
    """Return whether most different texts of a column are times in a style."""
    if style in (*EPOCHS, DAYS):
        return says_time(name)
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return style == "digits" and says_time(name)
    texts = values.unique().drop_null()
    return len(texts) > 0 and 2 * int(read_instants(texts, style).valid.sum()) > len(texts)


def _hints(table: Table, layout: Layout) -> list[Notice]:
    """Return notices about settings that the user may have forgotten."""
    hints: list[Notice] = []
    dates = [c for c in table.columns if kind_of(c) == "time"]
    clocks = [c for c in table.columns if kind_of(c) == "clock"]
    if len(layout.time) < 2 and len(dates) == 1 and len(clocks) == 1:
        values = dates[0].present
        if len(values) and (values == values.astype("datetime64[D]")).all():
            names = dates[0].name, clocks[0].name
            text = (
                f"Columns {shorten(names)} may together give the time ({','.join(names)}); they are "
                "read separately."
            )
            hints.append(Notice("times_in_two_columns", text, names, see=("time",)))
    if layout.every is None:
        long = looks_long(table)
        if long is not None:
            hints.append(long)
    if not layout.transpose and _looks_transposed(table, layout):
        text = (
            "Each line seems to hold all values of one variable, and each column those of one row."
        )
        hints.append(Notice("transposed", text, doubtful=True, see=("transpose",)))
    return hints


def _looks_transposed(table: Table, layout: Layout) -> bool:
    """Return whether names stand in the first column, and times or numbers in more columns than rows."""
    first, *others = table.columns
    wide = len(others) > 2 * table.n_rows and all(column.kind == "number" for column in others)
    if layout.header is False:
        return wide and first.kind == "number"
    if first.kind != "text" or len(np.unique(first.present)) < max(table.n_rows, 2):
        return False
    names = pa.array([column.name for column in others], pa.string())
    return wide or (len(names) > 2 and any(may_read(names, style, 1.0) for style in STYLES))


def _cell_error(cell: BadCell, parts: Sequence[Part], layout: Layout, closed: bool) -> TableError:
    """Say in which file and line a value stands."""
    row, part = cell.row, parts[0]
    for part in parts:
        if row < part.frame.num_rows:
            break
        row -= part.frame.num_rows
    line = None if layout.every is not None else part.line_of(row)
    where = f"row {part.first + row}" if line is None else f"line {line}"
    see = ("time_format",) if cell.wanted in ("a time", "a date", "a time of day") else ("missing",)
    alike, hint = "", None
    if closed:
        alike = " as in the first rows, which decide how files are read"
        hint = "say how it is to be read, or put a file that holds it first."
    return TableError(
        f"{part.name}, {where}: column {cell.column!r} must hold {cell.wanted}{alike}, "
        f"got {cell.value!r}.",
        hint,
        see=see,
    )
