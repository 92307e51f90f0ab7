"""Historians' long format: one value per row (time, tag, value) goes in, one column per tag comes out.

Between two values of a tag the earlier one holds (sample and hold), as in historians, until it is stale.
The value is missing before the first one, and from a word such as ``Bad`` until the next one. Where no
tag has a value, there is no row.
"""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import TableError, shorten
from truism.table.columns import Column, Table, join_tables
from truism.table.layouts import Layout, check_names, seconds_of
from truism.table.notices import Notice
from truism.table.texts import interpret
from truism.table.words import says_time, words_in

MAX_ROWS = 10_000_000
STALE = 5  # steps for which a value holds
_TAG_WORDS = ("tag", "tagname", "tags", "point", "pointname", "signal", "variable", "sensor", "name",
              "channel", "item", "itemid", "metric", "parameter", "messstelle", "kks")  # fmt: skip
_VALUE_WORDS = ("value", "val", "values", "wert", "messwert", "reading", "vvalue")


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
    """Return a table with one column for each tag and rows at equal intervals of time, of each series."""
    assert layout.every is not None
    (time, tag, value), by = _find(table, layout), table.column_of().get(layout.by or "")
    every = round(seconds_of(layout.every) * 1e6)
    stale = STALE * every if layout.stale is None else round(seconds_of(layout.stale) * 1e6)
    complete = ~np.isnat(time.values)
    for column in (tag, by):
        if column is not None and column.missing is not None:
            complete &= ~column.missing
    if not complete.any():
        raise TableError("No row has both a time and a tag.")
    micros = time.values.astype(np.int64)
    rows = np.flatnonzero(complete)
    series = np.zeros(table.n_rows, np.int64)
    if by is not None:
        series[rows] = np.unique(by.values[rows], return_inverse=True)[1]
    _refuse_runs(series[rows], tag.values[rows], micros[rows], by)
    rows = rows[np.argsort(micros[rows], kind="stable")]
    tags = sorted((tag.categories[code].strip(), code) for code in np.unique(tag.values[rows]))
    parts = []
    for own in _divided(rows, series):
        of_tag = dict(zip(np.unique(tag.values[own]), _divided(own, tag.values), strict=True))
        grid = _grid(micros[own], every)
        times = grid.astype("datetime64[us]")
        columns = [msgspec.structs.replace(time, values=times, missing=None)]
        columns += [] if by is None else [by.take(np.repeat(own[:1], len(grid)))]
        for name, code in tags:
            of_one = of_tag.get(code, own[:0])
            columns.append(_held(name, value, of_one, micros[of_one], grid, stale))
        check_names([column.name for column in columns])
        values = columns[-len(tags) :]
        some = np.any(
            [np.ones(len(grid), bool) if c.missing is None else ~c.missing for c in values], 0
        )
        parts.append(Table(tuple(columns), len(grid)).take(np.flatnonzero(some)))
    whole = join_tables(parts)
    text = (
        f"{complete.sum():,} values of {len(tags):,} tags are read as {whole.n_rows:,} rows, one every "
        f"{layout.every}, in which each tag holds its last value for at most "
        f"{layout.stale or f'{STALE} steps'}."
    )
    return whole, (Notice("tags_pivoted", text, see=("stale",)),)


def _divided(rows: NDArray[np.int64], keys: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Return the rows of each key, in the order of the keys."""
    order = rows[np.argsort(keys[rows], kind="stable")]
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)


def _refuse_runs(
    series: NDArray[np.int64], tags: NDArray[Any], micros: NDArray[np.int64], by: Column | None
) -> None:
    """Refuse values of a tag that begin anew at their first time: several runs would become one."""
    order = np.lexsort((np.arange(len(micros)), tags, series))
    times, steps = micros[order], np.diff(micros[order])
    same = (np.diff(series[order]) == 0) & (np.diff(tags[order]) == 0)
    starts = np.maximum.accumulate(np.where(np.append(True, ~same), np.arange(len(times)), 0))
    anew = same & (steps < 0) & (times[1:] <= times[starts[1:]])
    if anew.any() and (steps[same] > 0).sum() > 2 * (steps[same] < 0).sum():
        within = "" if by is None else f" within series of column {by.name!r}"
        raise TableError(
            f"Times begin anew{within}: the values are of several runs, which must not be mixed.",
            "name the run in a column of the files.",
            see=("by",),
        )


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
    stale: int,
) -> Column:
    """Return a tag's last value at each step, if it is not stale."""
    last = np.searchsorted(micros, grid, side="right") - 1
    rows, micros = (rows, micros) if len(rows) else (np.zeros(1, np.int64), grid[:1])
    taken = value.take(rows[np.maximum(last, 0)])
    missing = (last < 0) | (grid - micros[last] > stale)
    if taken.missing is not None:
        missing = missing | taken.missing
    values = taken.values
    if values.dtype.kind == "f" and missing.any():
        values = np.where(missing, np.nan, values)
    return msgspec.structs.replace(
        taken, name=name, values=values, missing=missing if missing.any() else None
    )


def _find(table: Table, layout: Layout) -> tuple[Column, Column, Column]:
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
    others = [column for column in table.columns if column.name not in (time.name, layout.by)]
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
    return time, tag, value


def _named(column: Column, words: tuple[str, ...]) -> bool:
    return any(word in words for word in words_in(column.name))
