"""Table files written: Parquet, Feather or CSV, whole or not at all."""

import gzip
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from truism.table.atomic import write_atomically


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
            whole = frame.column(i).cast(pa.timestamp("s", tz=field.type.tz), safe=False)
            if whole.cast(field.type).equals(frame.column(i)):
                frame = frame.set_column(i, field.name, whole)
    return frame
