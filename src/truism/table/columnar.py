"""Files that need not fit: Parquet, Arrow and CSV, read batch by batch, as often as needed.

Their sizes are known before they are read; CSV files are read once for that. A file that changes between
two readings is refused.
"""

import os
import zlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from truism.errors import TableError
from truism.table.columns import Column, Table
from truism.table.csv import Dialect, read_blocks, see_csv
from truism.table.files import (
    STDIN,
    Part,
    TableRead,
    check_same_columns,
    find_places,
    is_text,
    name_of,
    naming,
    open_parquet,
    opened,
    read,
    reading_arrow,
    said_of_texts,
    understand,
    units_in,
    write_out,
)
from truism.table.layouts import Layout, Reading, check_names, check_renames, renamed
from truism.table.notices import Notice, first_rows

PARQUET, ARROW = b"PAR1", b"ARROW1"


class _Stamp(msgspec.Struct, frozen=True):
    size: int
    changed: int


class Written(msgspec.Struct, frozen=True, eq=False):
    """How a CSV file is written, how many rows it has, and notices about it."""

    dialect: Dialect
    missing: tuple[str, ...]
    n_rows: int
    notices: tuple[Notice, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        """Its columns, which are texts."""
        return pa.schema([(name, pa.string()) for name in self.dialect.names if name])


class Span(msgspec.Struct, frozen=True):
    """Rows of one file that are read together.

    Parameters
    ----------
    place
        Which file, by position.
    first, n_rows
        The number of its first row in the file, and how many rows there are.
    groups
        The row groups or record batches that hold them: the first one, and that after the last; None
        for a whole file.

    """

    place: int
    first: int
    n_rows: int
    groups: tuple[int, int] | None = None


class Columnar(msgspec.Struct, frozen=True, eq=False):
    """Files that are one table together, and can be read in batches.

    Parameters
    ----------
    places
        Their paths, in the order of the rows.
    n_rows
        How many rows they have.
    schema
        The types of the columns: those that hold the values of every file.
    stamps
        What files were like when they were opened.
    written
        How CSV files are written; None for others.

    """

    places: tuple[str, ...]
    n_rows: int
    schema: pa.Schema
    stamps: tuple[_Stamp, ...]
    written: tuple[Written | None, ...]

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices about how the files are written."""
        return tuple(notice for each in self.written if each for notice in each.notices)

    def dialect_of(self, place: str) -> Dialect | None:
        """Return how a CSV file is written; None for others."""
        written = self.written[self.places.index(place)]
        return None if written is None else written.dialect

    def anywhere(self) -> "Columnar":
        """Return the same files for processes that work in other folders."""
        return msgspec.structs.replace(self, places=tuple(map(os.path.abspath, self.places)))

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Read all files from the beginning, in batches of at most so many rows."""
        for _, _, batch in self.located(n_rows):
            yield batch

    def spans(self, n_rows: int) -> Iterator[Span]:
        """Divide the files into spans of about so many rows, in order; CSV files are not divided."""
        for at, (place, written) in enumerate(zip(self.places, self.written, strict=True)):
            if written is not None:
                yield Span(at, 0, written.n_rows)
                continue
            first = held = start = 0
            sizes = _group_sizes(place)
            for group, size in enumerate(sizes, 1):
                held += size
                if held >= n_rows or group == len(sizes):
                    yield Span(at, first, held, (start, group))
                    first, held, start = first + held, 0, group

    def located(
        self, n_rows: int, names: Sequence[str] | None = None, span: Span | None = None
    ) -> Iterator[tuple[str, int, pa.RecordBatch]]:
        """Read batches with the file they are from, and the number of their first row in it.

        Parameters
        ----------
        n_rows
            The most rows of a batch.
        names
            The columns to read; all when absent.
        span
            The rows to read; all when absent.

        """
        schema = self.schema if names is None else pa.schema([self.schema.field(n) for n in names])
        own = slice(None) if span is None else slice(span.place, span.place + 1)
        known = zip(self.places[own], self.stamps[own], self.written[own], strict=True)
        for place, stamp, written in known:
            first = 0 if span is None else span.first
            with naming(place):
                _check_unchanged(place, stamp)
                try:
                    for batch in _batches(place, written, n_rows, schema.names, span):
                        yield place, first, _cast(batch, schema)
                        first += batch.num_rows
                except OSError as problem:
                    reason = (problem.strerror or str(problem)).rstrip(".")
                    raise TableError(f"{name_of(place)} cannot be read: {reason}.") from None
                except (pa.ArrowInvalid, pa.ArrowTypeError) as problem:
                    text = " ".join(str(problem).split()).rstrip(".")
                    raise TableError(
                        f"The file is damaged or does not fit the others: {text[:200]}."
                    ) from None
                _check_unchanged(place, stamp)


def open_columnar(sources: Sequence[str]) -> Columnar | None:
    """Open Parquet and Arrow files; None if one of the files is of another kind.

    Parameters
    ----------
    sources
        Paths, folders and patterns.

    """
    return open_batches(sources, None)


def open_batches(
    sources: Sequence[str],
    layout: Layout | None,
    learned: Reading | None = None,
    least_bytes: int = 0,
    least_rows: int = 0,
) -> Columnar | None:
    """Open files that can be read in batches; None if one of them cannot.

    Parameters
    ----------
    sources
        Paths, folders and patterns.
    layout
        What is known about how CSV files are written; without it, they are not opened.
    learned
        How earlier files were read.
    least_bytes, least_rows
        CSV files are read once to open them; that is left out if files have fewer bytes or lines.

    """
    places = find_places(sources)
    kinds = [None if place == STDIN else _kind(place) for place in places]
    if not places or not all(kinds):
        return None
    has_texts = "csv" in kinds
    if has_texts and (layout is None or sum(map(os.path.getsize, places)) < least_bytes):
        return None
    texts = [place for place, kind in zip(places, kinds, strict=True) if kind == "csv"]
    if has_texts and len(texts) == len(places) and sum(map(_n_lines, texts)) < least_rows:
        return None
    known: list[tuple[pa.Schema, int]] = []
    written: list[Written | None] = []
    stamps = []
    for place, kind in zip(places, kinds, strict=True):
        with naming(place):
            stamps.append(_stamp(place))
            own = _look_through(place, layout, learned) if kind == "csv" and layout else None
            written.append(own)
            known.append(_opened(place) if own is None else (own.schema, own.n_rows))
            check_same_columns(name_of(places[0]), known[0][0].names, known[-1][0].names)
    first = known[0][0].remove_metadata()
    if len(set(first.names)) < len(first.names):
        return None  # which is refused where it is read as one table
    schemas = write_out([pa.schema([own.field(name) for name in first.names]) for own, _ in known])
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None  # read as one table, columns that files disagree about become text
    n_rows = sum(n for _, n in known)
    return Columnar(tuple(places), n_rows, schema, tuple(stamps), tuple(written))


def _kind(place: str) -> Literal["columns", "csv"] | None:
    """Return what kind of file it is, as far as batches can be read; None if they cannot."""
    try:
        with open(place, "rb") as file:
            if file.read(6).startswith((PARQUET, ARROW)):
                return "columns"
        return "csv" if os.path.isfile(place) and is_text(place) else None
    except (OSError, EOFError, zlib.error):
        return None


def _n_lines(place: str) -> int:
    """Count lines; a file has at most as many rows."""
    n_lines = 0
    with reading_arrow(), opened(place) as file:
        while block := file.read(1 << 20):
            n_lines += block.count(b"\n")
    return n_lines


def _look_through(place: str, layout: Layout, learned: Reading | None) -> Written:
    with reading_arrow(), opened(place) as file:
        name, said = name_of(place), said_of_texts(layout, learned)
        dialect, notices = see_csv(name, file, said, learned)
        first = [each for each in dialect.names if each][:1]
        blocks = read_blocks(name, file, dialect, said.missing, first)
        return Written(dialect, said.missing, sum(each.num_rows for each in blocks), notices)


def _opened(place: str) -> tuple[pa.Schema, int]:
    """Return the types and the number of rows of a file."""
    try:
        with open(place, "rb") as file:
            if file.read(4) == PARQUET:
                found = open_parquet(place)
                return found.schema_arrow, found.metadata.num_rows
        with pa.memory_map(place) as mapped, pa.ipc.open_file(mapped) as reader:
            rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
            return reader.schema, rows
    except (pa.ArrowException, OSError) as problem:
        text = " ".join(str(problem).split()).rstrip(".")
        raise TableError(f"The file is damaged or not a table: {text[:200]}.") from None


def _group_sizes(place: str) -> list[int]:
    """Return the numbers of rows of the groups of a file."""
    with open(place, "rb") as file:
        parquet = file.read(4) == PARQUET
    if parquet:
        import pyarrow.parquet as pq

        known = pq.ParquetFile(place).metadata
        return [known.row_group(i).num_rows for i in range(known.num_row_groups)]
    with pa.memory_map(place) as mapped, pa.ipc.open_file(mapped) as reader:
        return [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]


def _batches(
    place: str, written: Written | None, n_rows: int, names: Sequence[str], span: Span | None
) -> Iterator[pa.RecordBatch]:
    if written is not None:
        with opened(place) as text:
            known = written.dialect, written.missing, names
            for block in read_blocks(name_of(place), text, *known):
                yield from block.to_batches(max_chunksize=n_rows)
        return
    with open(place, "rb") as file:
        parquet = file.read(4) == PARQUET
    if parquet:
        groups = None if span is None or span.groups is None else [*range(*span.groups)]
        yield from open_parquet(place).iter_batches(n_rows, groups, list(names))
        return
    with pa.memory_map(place) as mapped, pa.ipc.open_file(mapped) as reader:
        whole = (0, reader.num_record_batches)
        for i in range(*(whole if span is None or span.groups is None else span.groups)):
            batch = reader.get_batch(i)
            for start in range(0, batch.num_rows, n_rows):
                yield batch.slice(start, n_rows)


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the columns and types that all files share."""
    arrays: list[Any] = []
    for field in schema:
        own = batch.column(field.name)
        arrays.append(own if own.type == field.type else own.cast(field.type))
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _stamp(place: str) -> _Stamp:
    found = os.stat(place)
    return _Stamp(found.st_size, found.st_mtime_ns)


def _check_unchanged(place: str, stamp: _Stamp) -> None:
    try:
        same = _stamp(place) == stamp
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


OPENING = 1 << 18  # rows that decide how larger tables are read
LOOKED_AT = 1 << 26  # values


def read_opening(
    files: Columnar, layout: Layout, n_rows: int = OPENING, reading: Reading | None = None
) -> TableRead:
    """Read the first rows of files that are read in batches; they decide how all rows are read.

    Parameters
    ----------
    files
        The files.
    layout
        What is known about how they are written.
    n_rows
        How many rows decide.
    reading
        How earlier files were read: these are read alike.

    """
    said = layout if reading is None else layout.over(reading.layout)
    if said.every is not None:
        raise TableError(
            "Rows of single values cannot be put together batch by batch.",
            "pivot the files first, for example with DuckDB.",
        )
    batches: list[pa.RecordBatch] = []
    for batch in files.batches(n_rows):
        batches.append(batch)
        if sum(each.num_rows for each in batches) >= n_rows:
            break
    frame = pa.Table.from_batches(batches, files.schema).slice(0, n_rows)
    check_renames(frame.column_names, layout)
    part = _part(files, files.places[0], 0, frame, said)
    check_names(part.frame.column_names)
    found = understand([part], layout, reading, files.notices)
    return found if reading is not None else _open(found)


def read_for_look(sources: Sequence[str], layout: Layout) -> TableRead:
    """Read all rows, or only the first ones of Parquet and Arrow files that hold very many values."""
    files = None if layout.every is not None else open_columnar(sources)
    most = LOOKED_AT if files is None else LOOKED_AT // max(1, len(files.schema.names))
    if files is None or files.n_rows <= most:
        return read(sources, layout, allow_empty=True)
    found = read_opening(files, layout, min(most, OPENING))
    first = first_rows(found.table.n_rows, files.n_rows)
    return msgspec.structs.replace(found, notices=(*found.notices, first))


def _open(found: TableRead) -> TableRead:
    """Leave open what columns of text hold that have no value yet."""
    empty = {column.name for column in found.table.columns if not len(column.present)}
    columns = tuple(
        msgspec.structs.replace(each, kind="empty")
        if each.name in empty and each.kind == "text"
        else each
        for each in found.reading.columns
    )
    reading = msgspec.structs.replace(found.reading, columns=columns)
    return msgspec.structs.replace(found, reading=reading)


def read_portions(
    files: Columnar,
    layout: Layout,
    reading: Reading,
    n_rows: int,
    wanted: Collection[str],
    span: Span | None = None,
) -> Iterator[TableRead]:
    """Read files portion by portion, as earlier ones were read.

    Parameters
    ----------
    files, layout
        The files, and what is known about how they are written.
    reading
        How earlier files or the first rows were read.
    n_rows
        The most rows of a portion.
    wanted
        The columns to read, by the names that they are to have; those that say when or tell series apart
        are always read.
    span
        The rows to read; all when absent.

    """
    said = layout.over(reading.layout)
    own = files.schema.names
    parts = (part.strip() for each in said.time for part in each.split(","))
    names = {*wanted, *said.time, *parts, said.by}
    asked = [old for old, new in zip(own, renamed(own, said), strict=True) if new in names]
    for place, first, batch in files.located(n_rows, asked, span):
        part = _part(files, place, first, pa.Table.from_batches([batch]), said)
        yield understand([part], layout, reading)


def read_alike(
    files: Columnar, reading: Reading, n_rows: int, span: Span | None = None
) -> Iterator[Table]:
    """Read files to learn from, portion by portion; refuse what the first rows did not show.

    Had all rows been read at once, a column might have been read in another way. So whatever a later
    row holds that is not as in the first ones is refused.
    """
    known = reading.column_of()
    wanted = [*known]
    for found in read_portions(files, Layout(), reading, n_rows, wanted, span):
        for notice in found.notices:
            if notice.code == "words_as_missing":
                (name,) = notice.columns
                new = [word for word in notice.words if word not in known[name].words]
                if new:
                    raise _unlike(name, f"{new[0]!r}")
        for column in found.table.columns:
            if known[column.name].kind == "empty" and len(column.present):
                raise _unlike(column.name, f"{column.cell(int((~_missing(column)).argmax()))!r}")
        yield found.table


def _missing(column: Column) -> NDArray[np.bool_]:
    return np.zeros(len(column.values), bool) if column.missing is None else column.missing


def _unlike(column: str, value: str) -> TableError:
    return TableError(
        f"Column {column!r} holds {value} further down, and nothing like it in the first rows, which "
        f"decide how files are read that need not fit.",
        "say how it is to be read, or put a file that holds it first.",
        see=("missing", "categorical"),
    )


def _part(files: Columnar, place: str, first: int, frame: pa.Table, layout: Layout) -> Part:
    own = frame.column_names
    names = renamed(own, layout)
    dialect = files.dialect_of(place)
    units = {} if dialect is None else units_in(dialect)
    return Part(
        place,
        frame.rename_columns(names),
        dict(zip(names, own, strict=True)),
        dialect,
        units=units,
        first=first,
    )
