"""Numbers that may stand for missing values, such as -9999: a column goes in, notices come out.

Loggers write nothing but nines, gauges -999.25, and controllers the ends of their whole numbers. Each
can also be measured; so it is told only where it is repeated and farther from all other values than
these are from each other.
"""

import re

import numpy as np

from truism.table.cells.texts import MAX_STATES
from truism.table.columns import Column
from truism.table.notices import Notice, may_be_missing

MIN_COUNT = 3
_NINES = re.compile(r"-?(?:9{3,}(?:\.9+|\.25)?|99\.9+|9\.9{2,})")
_ENDS = frozenset((32767, -32768, 65535, 2**31 - 1, -(2**31), 2**32 - 1))


def find_sentinels(column: Column) -> tuple[Notice, ...]:
    """Return which numbers of a column may stand for missing values.

    Parameters
    ----------
    column
        Of any kind; only in numbers there is something to find.

    Examples
    --------
    >>> values = np.array([2.5, -9999, 3, 3.5, -9999, 4, 4.5, -9999, 5])
    >>> [str(each)[:31] for each in find_sentinels(Column("T1", "number", values))]
    ["Column 'T1' holds -9999 3 times"]

    """
    if column.kind != "number":
        return ()
    values = column.present.astype(np.float64)
    values = values[np.isfinite(values)]
    counts: dict[float, int] = {}
    while len(values):
        ends = (float(values.min()), float(values.max()))
        mark = next((end for end in ends if is_mark(end)), None)
        if mark is None:
            break
        counts[mark] = int((values == mark).sum())
        values = values[values != mark]
    if not counts or len(np.unique(values)) <= MAX_STATES:
        return ()
    low, high = float(values.min()), float(values.max())
    return tuple(
        may_be_missing(column.name, _written(mark), count)
        for mark, count in counts.items()
        if count >= MIN_COUNT and max(low - mark, mark - high) > high - low
    )


def is_mark(value: float) -> bool:
    """Return whether a number is one of those that devices write in place of a missing one.

    >>> [is_mark(each) for each in (-9999, 999.25, -99.9, 65535, 99, 998)]
    [True, True, True, True, False, False]
    """
    return value in _ENDS or _NINES.fullmatch(_written(value)) is not None


def _written(value: float) -> str:
    """Return a number in as many digits as single precision has, whole ones in all."""
    return f"{value:.0f}" if value == round(value) else f"{value:.7g}"
