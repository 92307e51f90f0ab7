"""Files read portion by portion: the first rows decide how all are read, or earlier files did."""

from collections.abc import Collection, Iterator

import pyarrow as pa

from truism.errors import TableError
from truism.table.cells.names import check_names, check_renames, renamed
from truism.table.files.columnar import Columnar
from truism.table.files.reading import TableRead, understand
from truism.table.files.sources import Part
from truism.table.layouts import Layout, Reading

OPENING = 1 << 18  # rows that decide how files are read which need not fit


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
    part = _part(files.places[0], 0, frame, said)
    check_names(part.frame.column_names)
    return understand([part], layout, reading)


def read_portions(
    files: Columnar,
    layout: Layout,
    reading: Reading,
    n_rows: int,
    wanted: Collection[str],
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
        The columns to read, by the names that they are to have; those that say when are always read.

    """
    said = layout.over(reading.layout)
    own = files.schema.names
    names = {*wanted, *said.time, *(part.strip() for each in said.time for part in each.split(","))}
    asked = [old for old, new in zip(own, renamed(own, said), strict=True) if new in names]
    for place, first, batch in files.located(n_rows, asked):
        part = _part(place, first, pa.Table.from_batches([batch]), said)
        yield understand([part], layout, reading)


def _part(place: str, first: int, frame: pa.Table, layout: Layout) -> Part:
    own = frame.column_names
    names = renamed(own, layout)
    return Part(place, frame.rename_columns(names), dict(zip(names, own, strict=True)), first=first)
