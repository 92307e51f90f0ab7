"""Files of columns that need not fit: Parquet and Arrow files, read batch by batch, as often as needed.

Their sizes are known before they are read. A file that changes between two readings is refused.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pyarrow as pa

from truism.errors import TableError
from truism.table.files.sources import STDIN, find_places, name_of, naming
from truism.table.files.stacking import check_same_columns

PARQUET, ARROW = b"PAR1", b"ARROW1"


class _Stamp(msgspec.Struct, frozen=True):
    size: int
    changed: int


class Columnar(msgspec.Struct, frozen=True, eq=False):
    """Files that are one table together.

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

    """

    places: tuple[str, ...]
    n_rows: int
    schema: pa.Schema
    stamps: tuple[_Stamp, ...]

    def batches(self, n_rows: int) -> Iterator[pa.RecordBatch]:
        """Read all files from the beginning, in batches of at most so many rows."""
        for _, _, batch in self.located(n_rows):
            yield batch

    def located(
        self, n_rows: int, names: Sequence[str] | None = None
    ) -> Iterator[tuple[str, int, pa.RecordBatch]]:
        """Read batches with the file they are from, and the number of their first row in it.

        Parameters
        ----------
        n_rows
            The most rows of a batch.
        names
            The columns to read; all when absent.

        """
        schema = self.schema if names is None else pa.schema([self.schema.field(n) for n in names])
        for place, stamp in zip(self.places, self.stamps, strict=True):
            first = 0
            with naming(place):
                _check_unchanged(place, stamp)
                try:
                    for batch in _batches(place, n_rows, schema.names):
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
    """Open files of columns; None if one of the files is of another kind.

    Parameters
    ----------
    sources
        Paths, folders and patterns.

    """
    places = find_places(sources)
    if not places or not all(place != STDIN and _magic(place) for place in places):
        return None
    known: list[tuple[pa.Schema, int]] = []
    stamps = []
    for place in places:
        with naming(place):
            stamps.append(_stamp(place))
            known.append(_opened(place))
            check_same_columns(name_of(places[0]), known[0][0].names, known[-1][0].names)
    first = known[0][0].remove_metadata()
    schemas = [pa.schema([own.field(name) for name in first.names]) for own, _ in known]
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None  # read as one table, columns that files disagree about become text
    return Columnar(tuple(places), sum(n for _, n in known), schema, tuple(stamps))


def _magic(place: str) -> bool:
    try:
        with open(place, "rb") as file:
            start = file.read(6)
    except OSError:
        return False
    return start.startswith((PARQUET, ARROW))


def _opened(place: str) -> tuple[pa.Schema, int]:
    """Return the types and the number of rows of a file."""
    try:
        with open(place, "rb") as file:
            if file.read(4) == PARQUET:
                import pyarrow.parquet as pq

                found = pq.ParquetFile(place)
                return found.schema_arrow, found.metadata.num_rows
        with pa.memory_map(place) as mapped, pa.ipc.open_file(mapped) as reader:
            rows = sum(reader.get_batch(i).num_rows for i in range(reader.num_record_batches))
            return reader.schema, rows
    except (pa.ArrowException, OSError) as problem:
        text = " ".join(str(problem).split()).rstrip(".")
        raise TableError(f"The file is damaged or not a table: {text[:200]}.") from None


def _batches(place: str, n_rows: int, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    with open(place, "rb") as file:
        parquet = file.read(4) == PARQUET
    if parquet:
        import pyarrow.parquet as pq

        yield from pq.ParquetFile(place).iter_batches(n_rows, columns=list(names))
        return
    with pa.memory_map(place) as mapped, pa.ipc.open_file(mapped) as reader:
        for i in range(reader.num_record_batches):
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
            f"{name_of(place)} disappeared while it was read.", "keep files until the end."
        ) from None
    if not same:
        raise TableError(
            f"{name_of(place)} changed while it was read.",
            "files must stay as they are until the end; take a copy of what is still written to.",
        )
