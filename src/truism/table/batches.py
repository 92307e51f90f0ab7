"""Arrow record batches with more columns than they came with: scores beside the rows they belong to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa

from truism.errors import TableError, shorten

Kind = Literal["number", "boolean", "text"]
_TYPES = {"number": pa.float64(), "boolean": pa.bool_(), "text": pa.string()}


def widened_schema(schema: pa.Schema, keep: Sequence[str], added: Mapping[str, Kind]) -> pa.Schema:
    """Return the schema of batches that keep some columns and get others.

    >>> old = pa.schema([("id", pa.int64()), ("flow", pa.float64())])
    >>> widened_schema(old, ["id"], {"score": "number"}).names
    ['id', 'score']
    """
    check_kept(schema.names, keep, added)
    own = [pa.field(name, _TYPES[kind]) for name, kind in added.items()]
    return pa.schema([*(schema.field(name) for name in keep), *own])


def check_kept(names: Sequence[str], keep: Sequence[str], added: Mapping[str, Kind]) -> None:
    """Refuse columns to keep that are not there, are given twice, or are named like added ones."""
    absent = [name for name in keep if name not in names]
    if absent:
        raise TableError(
            f"Columns to keep must be in every batch, got none named {shorten(absent)}."
        )
    repeated = [name for name in dict.fromkeys(keep) if list(keep).count(name) > 1]
    if repeated:
        raise TableError(f"Columns to keep must be distinct, got {shorten(repeated)} twice.")
    twice = [name for name in keep if name in added]
    if twice:
        raise TableError(
            f"Columns to keep must not be named like those that are added, got {shorten(twice)}.",
            "rename them first.",
        )


def typed(columns: Mapping[str, Any], kinds: Mapping[str, Kind]) -> dict[str, Any]:
    """Return columns as Arrow arrays, some of a given kind, even where no row has a value.

    >>> typed({"row": [1], "found": [None]}, {"found": "text"})["found"].type
    DataType(string)
    """
    return {
        name: pa.array(values, _TYPES[kinds[name]]) if name in kinds else pa.array(values)
        for name, values in columns.items()
    }


def widened(batch: pa.RecordBatch, schema: pa.Schema, added: Mapping[str, Any]) -> pa.RecordBatch:
    """Return a batch with the columns of `schema`: those that were added, and its own."""
    arrays = [
        pa.array(added[field.name], field.type) if field.name in added else batch[field.name]
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def as_batch(frame: Any) -> pa.RecordBatch:
    """Return a pandas DataFrame as a record batch."""
    return pa.RecordBatch.from_pandas(frame, preserve_index=False)


def as_frame(batch: pa.RecordBatch, like: Any) -> Any:
    """Return a record batch as a pandas DataFrame, with the index of another one."""
    return batch.to_pandas().set_index(like.index)


def empty_like(frame: Any, schema_of: Callable[[pa.Schema], pa.Schema]) -> Any:
    """Return a pandas DataFrame without rows, of the schema that follows from that of another one."""
    schema = schema_of(pa.Schema.from_pandas(frame, preserve_index=False))
    return schema.empty_table().to_pandas()


def content_batch(at: int, content: bytes) -> pa.RecordBatch:
    """Return bytes as a batch of one row, with their place."""
    return pa.record_batch({"at": pa.array([at], pa.int64()), "content": pa.array([content])})


def contents_of(batch: pa.RecordBatch) -> list[Any]:
    """Return what the first column of a batch holds."""
    found: list[Any] = batch.column(0).to_pylist()
    return found
