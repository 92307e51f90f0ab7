"""Files that need not fit: Parquet, Arrow and CSV, read batch by batch, as often as needed.

Their sizes are known before they are read; CSV files are read once for that. A file that changes between
two readings is refused.
"""

import os
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
import pyarrow as pa

from truism.errors import TableError
from truism.table.files.csvbatches import Written, look_through, read_batches
from truism.table.files.dialects import Dialect
from truism.table.files.sources import (
    STDIN,
    find_places,
    is_text,
    name_of,
    naming,
    open_parquet,
    opened,
    reading_arrow,
    said_of_texts,
)
from truism.table.files.stacking import check_same_columns, find_differing, write_out
from truism.table.layouts import Layout, Reading
from truism.table.notices import Notice

PARQUET, ARROW = b"PAR1", b"ARROW1"


class _Stamp(msgspec.Struct, frozen=True):
    size: int
    changed: int


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
    if has_texts:
        differing = find_differing([schema for schema, _ in known])
        written = [each and each.as_text(differing) for each in written]
        known = [
            (each[0] if own is None else own.schema, each[1])
            for each, own in zip(known, written, strict=True)
        ]
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
        return look_through(name_of(place), file, said_of_texts(layout, learned), learned)


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
            yield from read_batches(name_of(place), text, written, n_rows, names)
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
