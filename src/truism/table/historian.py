"""Historians' long format: one value per row (time, tag, value) goes in, one column per tag comes out.

Between two values of a tag the earlier one holds (sample and hold), as is meant in historians. The value
is missing before the first one, and from a word such as ``Bad`` until the next one.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import TableError, shorten
from truism.table.columns import Column, Table
from truism.table.layouts import Layout, check_names, seconds_of
from truism.table.notices import Notice
from truism.table.texts import interpret
from truism.table.words import says_time, words_in

MAX_ROWS = 10_000_000
_TAG_WORDS = ("tag", "tagname", "tags", "point", "pointname", "signal", "variable", "sensor", "name",
              "channel", "item", "itemid", "metric", "parameter", "messstelle", "kks")  # fmt: skip
_VALUE_WORDS = ("value", "val", "values", "wert", "messwert", "reading", "vvalue")


class _Long(msgspec.Struct, frozen=True, eq=False):
    """The three columns of the long format."""

    time: Column
    tag: Column
    value: Column


def looks_long(table: Table) -> Notice | None:
    """Return a notice if a table seems to hold one value per row."""
    tag = next((c for c in table.columns if c.kind == "text" and _named(c, _TAG_WORDS)), None)
    value = next((c for c in table.columns if _named(c, _VALUE_WORDS)), None)
    time = next((c for c in table.columns if c.kind == "time"), None)
    if tag is None or value is None or time is None or table.n_rows < 4:
        return None
    if not 1 < len(np.unique(tag.present)) <= table.n_rows // 2:
        return None
    names = time.name, tag.name, value.name
    text = (
        f"Columns {shorten(names)} look like one value per row; to make a column of each tag, choose "
        "the time between rows."
    )
    return Notice("one_value_per_row", text, names, True, ("every",))


def pivot(table: Table, layout: Layout) -> tuple[Table, tuple[Notice, ...]]:
    """Return a table with one column for each tag and rows at equal intervals of time."""
    assert layout.every is not None
    long = _find(table, layout)
    every = round(seconds_of(layout.every) * 1e6)
    complete = ~np.isnat(long.time.values)
    if long.tag.missing is not None:
        complete &= ~long.tag.missing
    if not complete.any():
        raise TableError("No row has both a time and a tag.")
    micros = long.time.values.astype(np.int64)
    grid = _grid(micros[complete], every)
    columns = [
        Column(
            long.time.name,
            "time",
            grid.astype("datetime64[us]"),
            zoned=long.time.zoned,
            zone=long.time.zone,
        )
    ]
    order = np.flatnonzero(complete)
    order = order[np.argsort(micros[order], kind="stable")]
    codes = long.tag.values[order]
    by_tag = order[np.argsort(codes, kind="stable")]
    starts = np.searchsorted(np.sort(codes), np.arange(len(long.tag.categories) + 1))
    tags = sorted((tag, code) for code, tag in enumerate(long.tag.categories))
    for tag, code in tags:
        rows = by_tag[starts[code] : starts[code + 1]]
        if len(rows):
            columns.append(_held(tag.strip(), long.value, rows, micros[rows], grid))
    check_names([column.name for column in columns])
    text = (
        f"{complete.sum():,} values of {len(columns) - 1:,} tags are read as {len(grid):,} rows, one "
        f"every {layout.every}, in which each tag holds its last value."
    )
    return Table(tuple(columns), len(grid)), (Notice("tags_pivoted", text),)


def _grid(micros: NDArray[np.int64], every: int) -> NDArray[np.int64]:
    first = -(-int(micros.min()) // every) * every
    last = max(first, int(micros.max()))
    if (last - first) // every >= MAX_ROWS:
        raise TableError(
            f"A row for every step would make {(last - first) // every:,} rows.",
            "choose a longer step.",
            see=("every",),
        )
    return np.arange(first, last + 1, every, dtype=np.int64)


def _held(
    name: str,
    value: Column,
    rows: NDArray[np.int64],
    micros: NDArray[np.int64],
    grid: NDArray[np.int64],
) -> Column:
    """Return a tag's last value at each step."""
    last = np.searchsorted(micros, grid, side="right") - 1
    taken = value.take(rows[np.maximum(last, 0)])
    missing = last < 0
    if taken.missing is not None:
        missing = missing | taken.missing
    values = taken.values
    if values.dtype.kind == "f" and missing.any():
        values = np.where(missing, np.nan, values)
    return msgspec.structs.replace(
        taken, name=name, values=values, missing=missing if missing.any() else None
    )


def _find(table: Table, layout: Layout) -> _Long:
    """Find the columns of time, tag and value by what was asked, by their names, and by what is left."""
    column_of = table.column_of()
    named = layout.time[0] if layout.time else None
    candidates = [column_of[named]] if named in column_of else list(table.columns)
    candidates.sort(key=lambda column: not says_time(column.name))
    time = None
    for column in candidates:
        read = interpret(column, layout).column
        if read.kind == "time" and read.values.dtype.kind == "M":
            time = read
            break
    if time is None:
        raise TableError(
            "A table with one value per row needs a time column.", see=("time", "time_format")
        )
    others = [column for column in table.columns if column.name != time.name]
    texts = [column for column in others if column.kind == "text"]
    tag = next((column for column in texts if _named(column, _TAG_WORDS)), None)
    tag = tag or next(iter(texts), None)
    rest = [column for column in others if tag is None or column.name != tag.name]
    value = next((column for column in rest if _named(column, _VALUE_WORDS)), None)
    value = value or (rest[0] if len(rest) == 1 else None)
    if tag is None or value is None:
        raise TableError(
            "A table with one value per row needs a column of tags and one of values, "
            f"got {', '.join(map(repr, table.names[:5]))}.",
            "call them 'tag' and 'value'.",
            see=("rename",),
        )
    return _Long(time, tag, value)


def _named(column: Column, words: tuple[str, ...]) -> bool:
    return any(word in words for word in words_in(column.name))
