"""Files read portion by portion: the first rows decide how all are read, or earlier files did."""

from collections.abc import Collection, Iterator, Sequence

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from truism.errors import TableError
from truism.table.cells.names import check_names, check_renames, renamed
from truism.table.columns import Column, Table
from truism.table.files.columnar import Columnar, Span, open_columnar
from truism.table.files.reading import TableRead, read, understand
from truism.table.files.sources import Part, units_in
from truism.table.layouts import Layout, Reading
from truism.table.notices import first_rows

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
