"""Table files written: Parquet, Feather or CSV, at once or in parts, whole or not at all."""

import contextlib
import gzip
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.csv as pa_csv

from truism.errors import TableError
from truism.table.atomic import replacing

Columns = Mapping[str, Any]
"""Arrow arrays, NumPy arrays or lists of equal length, by name."""
Holds = Literal["number", "boolean", "text"]
ARROW_TYPES: Mapping[Holds, Any] = {
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
}


def typed(columns: Columns, kinds: Mapping[str, Holds]) -> Columns:
    """Return columns as Arrow arrays, some of a given kind, even where no row has a value.

    >>> typed({"row": [1], "found": [None]}, {"found": "text"})["found"].type
    DataType(string)
    """
    types = {name: ARROW_TYPES[kind] for name, kind in kinds.items()}
    return {name: pa.array(values, types.get(name)) for name, values in columns.items()}


def write_table(columns: Columns, path: str | os.PathLike[str]) -> None:
    """Write columns as the ending asks: ``.parquet``, ``.feather``, ``.arrow``, ``.csv`` or ``.gz``."""
    with writing(path) as write:
        write(columns)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Callable[[Columns], None]]:
    """Provide a function that writes parts of a table one below the other, of the types of the first.

    The file is there when all parts are; one that was there survives any failure.
    """
    place = Path(path)
    with replacing(path) as file, contextlib.ExitStack() as stack:
        sink: Any = file
        if place.suffix == ".gz":
            # No date in the header: the same table gives the same bytes.
            sink = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        writer: Any = None
        schema: pa.Schema | None = None
        n_rows = 0

        def write(columns: Columns) -> None:
            nonlocal writer, schema, n_rows
            frame = pa.table({name: pa.array(values) for name, values in columns.items()})
            if not place.suffixes[-1:] or place.suffixes[-1] in (".csv", ".gz"):
                frame = _as_text(frame, schema)
            if schema is None:
                schema = frame.schema
                writer = stack.enter_context(_writer(sink, schema, place))
            writer.write_table(_like(frame, schema, n_rows))
            n_rows += frame.num_rows

        yield write


def _writer(sink: BinaryIO, schema: pa.Schema, place: Path) -> Any:
    match place.suffixes[-1:]:
        case [".parquet"]:
            import pyarrow.parquet as pq

            return pq.ParquetWriter(sink, schema, compression="zstd")
        case [".feather"] | [".arrow"]:
            return pa.ipc.new_file(sink, schema)
        case _:
            return pa_csv.CSVWriter(
                sink, schema, write_options=pa_csv.WriteOptions(quoting_style="needed")
            )


def _like(frame: pa.Table, schema: pa.Schema, first: int) -> pa.Table:
    """Return a part with the types of the first one."""
    if frame.schema == schema:
        return frame
    for field in schema:
        try:
            column = frame.column(field.name).cast(field.type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise TableError(
                f"Column {field.name!r} cannot be written in parts: the rows from {first:,} on need "
                f"another type than those before them.",
                "write to a file of another kind, or fewer rows at a time.",
            ) from None
        frame = frame.set_column(frame.column_names.index(field.name), field, column)
    return frame


def _as_text(frame: pa.Table, schema: pa.Schema | None) -> pa.Table:
    """Write times as people do; pyarrow would print nanoseconds of them."""
    for i, field in enumerate(frame.schema):
        if pa.types.is_timestamp(field.type) and schema is None:
            whole = frame.column(i).cast(pa.timestamp("s", tz=field.type.tz), safe=False)
            if whole.cast(field.type).equals(frame.column(i)):
                frame = frame.set_column(i, field.name, whole)
    return frame
