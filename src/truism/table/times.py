"""Times in tables: columns of text that read as times become columns of times."""

import datetime

import numpy as np
import pyarrow as pa

from truism.table.columns import Column

Moment = datetime.datetime | datetime.time | bool | int | float | str
"""What a time column says of a row: a time, or whatever else stands there."""


def dated(column: Column) -> Column:
    """Read a column of ISO 8601 texts as times; any other column stays as it is.

    >>> from truism.table.frames import as_table
    >>> dated(as_table({"when": ["2026-01-31 07:00", "2026-01-31 07:01"]}).columns[0]).kind
    'time'
    """
    if column.kind != "text":
        return column
    used = np.flatnonzero(np.bincount(column.present, minlength=len(column.categories)))
    if not len(used):
        return column
    texts = pa.array([column.categories[code] for code in used])
    for zone in (None, "UTC"):
        try:
            instants = texts.cast(pa.timestamp("us", tz=zone)).to_numpy(zero_copy_only=False)
        except pa.ArrowInvalid:
            continue
        times = np.full(max(len(column.categories), 1), "NaT", "datetime64[us]")
        times[used] = instants
        return Column(
            column.name, "time", times[column.values], column.missing, zoned=zone is not None
        )
    return column
