"""Parts of one table put together: tables go in, one below the other, and one table comes out."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import TableError
from truism.table.columns import NOUNS, Column, Table


def join_tables(tables: Sequence[Table]) -> Table:
    """Put parts of a table one below the other; they must have the same columns.

    >>> from truism.table.frames import as_table
    >>> both = join_tables([as_table({"pump": ["on"]}), as_table({"pump": ["off", "on"]})])
    >>> [both.columns[0].cell(row) for row in range(both.n_rows)]
    ['on', 'off', 'on']
    """
    if len(tables) == 1:
        return tables[0]
    columns = tuple(_join(each) for each in zip(*(table.columns for table in tables), strict=True))
    return Table(columns, sum(table.n_rows for table in tables))


def _join(parts: Sequence[Column]) -> Column:
    """Join the parts of one column; those that hold nothing adapt to the others."""
    known = [part for part in parts if part.kind != "empty"] or parts
    first = known[0]
    for part in known:
        if part.kind != first.kind:
            raise TableError(
                f"Column {first.name!r} holds {NOUNS.get(first.kind, first.kind)} in one part of the "
                f"table and {NOUNS.get(part.kind, part.kind)} in another.",
                "columns must hold the same kind of values everywhere.",
            )
    missing = None
    if any(part.missing is not None for part in parts):
        missing = np.concatenate([_missing(part) for part in parts])
    categories, values = first.categories, [_blank(part, first) for part in parts]
    if first.kind == "text":
        code_of: dict[str, int] = {}
        for at, part in enumerate(parts):
            if part.kind == "text":
                codes = [code_of.setdefault(text, len(code_of)) for text in part.categories]
                values[at] = np.array(codes or [0], np.int32)[part.values]
        categories = tuple(code_of)
    faults = [part.fault for part in parts if part.fault is not None]
    return msgspec.structs.replace(
        first,
        values=np.concatenate(values),
        missing=missing,
        categories=categories,
        fault=faults[0] if faults else None,
    )


def _missing(part: Column) -> NDArray[np.bool_]:
    return np.zeros(len(part.values), np.bool_) if part.missing is None else part.missing


def _blank(part: Column, like: Column) -> NDArray[np.generic]:
    """Return a part's values; of a part that holds none, what stands for missing ones."""
    if part.kind == like.kind:
        return part.values
    if like.values.dtype.kind == "f":
        return np.full(len(part.values), np.nan)
    return np.zeros(len(part.values), like.values.dtype)
