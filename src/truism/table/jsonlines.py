"""JSON: one object per line, or one list of objects; an Arrow table comes out."""

from typing import Any, BinaryIO

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.json as pa_json

from truism.errors import TableError
from truism.table.layouts import Layout, check_names, renamed
from truism.table.sheets import arrow_of
from truism.table.words import MISSING

MAX_DEPTH = 100  # Arrow's types are as deep as the values, and it walks along them on the stack
_STEPS = np.zeros(256, np.int8)
_STEPS[[*b"[{"]], _STEPS[[*b"]}"]] = 1, -1
_NO_MARKS = bytes({*range(256)} - {*b'[]{}"'})


def looks_like_json(head: bytes) -> bool:
    """Return whether a file begins as JSON lines or as a list of objects do.

    >>> looks_like_json(b'[1], "a"'), looks_like_json(b' {"a": 1}')
    (False, True)
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        start = start[1:].lstrip()
    return start.startswith(b"{") and start[1:].lstrip()[:1] in (b'"', b"}")


def read_json(source: str, file: BinaryIO, layout: Layout) -> pa.Table:
    """Read JSON lines, or a list of objects."""
    start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    file.seek(0)
    depth = _depth(file.read())
    file.seek(0)
    if depth > MAX_DEPTH:
        raise TableError(
            f"{source}: lists and objects must be nested at most {MAX_DEPTH} deep, got {depth:,}."
        )
    if not start.startswith(b"[") and not layout.missing:
        try:
            frame = pa_json.read_json(file)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            file.seek(0)
        else:
            check_names(renamed(frame.column_names, layout))
            return _without_words(frame)
    return _read_slowly(source, file, layout)


def _depth(content: bytes) -> int:
    """Return how many lists and objects are open at once; brackets in texts do not count."""
    content = content.replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = np.frombuffer(content.translate(None, _NO_MARKS), np.uint8)
    in_text = np.logical_xor.accumulate(marks == ord('"'))
    return int(np.cumsum(np.where(in_text, 0, _STEPS[marks]), dtype=np.int32).max(initial=0))


def _without_words(frame: pa.Table) -> pa.Table:
    """Take the usual spellings of a missing value as one."""
    import pyarrow.compute as pc

    words = pa.array(MISSING)
    for i, field in enumerate(frame.schema):
        if pa.types.is_string(field.type):
            column = frame.column(i)
            gone = pc.is_in(column, words)
            frame = frame.set_column(i, field.name, pc.if_else(gone, None, column))
    return frame


def _read_slowly(source: str, file: BinaryIO, layout: Layout) -> pa.Table:
    """Read object by object: types may differ from row to row."""
    content = file.read().removeprefix(b"\xef\xbb\xbf")
    records: list[dict[str, Any]] = []
    if content.lstrip().startswith(b"["):
        records = _decoded(source, content, list[dict[str, Any]])
    else:
        for number, line in enumerate(content.split(b"\n"), 1):
            if line.strip():
                where = f"{source}, line {number}"
                records.append(_decoded(where, line, dict[str, Any]))
    names = list(dict.fromkeys(name for record in records for name in record))
    check_names(renamed(names, layout))
    missing = {*MISSING, *layout.missing}
    return pa.table(
        {name: _array([record.get(name) for record in records], missing) for name in names}
    )


def _decoded(where: str, content: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as problem:
        raise TableError(f"{where}: this is not a JSON object: {problem}.") from None


def _array(values: list[Any], missing: set[str]) -> pa.Array:
    if any(isinstance(value, dict | list) for value in values):
        texts = [None if value is None else msgspec.json.encode(value).decode() for value in values]
        return pa.array(texts, pa.string())
    return arrow_of(values, missing)
