"""Table files: paths go in, one `Table` comes out; and columns go out as a whole file or not at all.

What a file is is seen from its first bytes, not from its name: Parquet, Feather or Arrow, gzip around
CSV, or CSV, which `truism.table.csvfiles` reads. Every failure names the file.
"""

import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv

from truism.errors import TableError, shorten
from truism.table.atomic import write_atomically
from truism.table.columns import Table
from truism.table.csvfiles import Layout, parse_csv
from truism.table.frames import as_table

STDIN = "-"


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
            whole = frame.column(i).cast(pa.timestamp("s", tz=field.type.tz), safe=False)
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
            frame = parse_csv(_name(place), file, layout)
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
