"""Variables that move together: training columns go in, pairs of variables come out.

Where one of two twins is wrong, the other usually is, too. Explanations then name one of them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.model.schema import Numeric, Schema
from truism.score.alignment import standardise
from truism.table.columns import Column, numbers

ALIKE = 0.9  # correlation, either way, above which two numbers are twins
MAX_ROWS = 10_000  # rows to look at
MIN_ROWS = 30  # rows in which both are known
PAIRS_PER_VARIABLE = 10
MAX_COLUMNS = 256  # whose correlations with all others are held at a time
_DIGITS = 6  # of a correlation, so that it does not depend on how sums are divided


def find_twins(schema: Schema, columns: Sequence[Column]) -> tuple[tuple[str, str], ...] | None:
    """Return the pairs of numbers that move together, closest first; None if there are none."""
    numeric = [
        (each, column)
        for each, column in zip(schema.variables, columns, strict=True)
        if isinstance(each, Numeric)
    ]
    if len(numeric) < 2:
        return None
    n_rows = len(columns[0].values)
    rows = np.arange(min(n_rows, MAX_ROWS)) * n_rows // min(n_rows, MAX_ROWS)
    values = np.array(
        [
            standardise(numbers(column.take(rows)), each.mean, each.std or 1.0)
            for each, column in numeric
        ]
    ).T
    first, second, closeness = pairs_above(ALIKE, values)
    most = PAIRS_PER_VARIABLE * len(numeric)
    closest = np.argsort(-closeness, kind="stable")[:most].tolist()
    names = [each.name for each, _ in numeric]
    return tuple((names[first[k]], names[second[k]]) for k in closest) or None


def pairs_above(
    least: float, values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the pairs of columns with a correlation above `least`, either way, and how close they are.

    All pairs of very many columns are more than memory holds, so some columns are taken at a time.
    """
    parts = []
    for start in range(0, values.shape[1], MAX_COLUMNS):
        close = np.abs(correlate(values[:, start:], MAX_COLUMNS))
        a, b = np.nonzero(np.triu(close, 1) > least)
        parts.append((a + start, b + start, close[a, b]))
    first, second, closeness = (np.concatenate(each) for each in zip(*parts, strict=True))
    return first, second, closeness


def correlate(values: NDArray[np.float64], n_first: int | None = None) -> NDArray[np.float64]:
    """Return the correlation of the first columns, or of all, with each, where both are known.

    It is 0 where there are too few of them, or where either does not vary.

    >>> x = np.arange(40.0)
    >>> correlate(np.array([x, 3 - x, x % 2, 0 * x]).T).round(2)[0].tolist()
    [1.0, -1.0, 0.04, 0.0]
    """
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    counted = known.astype(np.float64)
    own_filled, own_counted = filled[:, :n_first].T, counted[:, :n_first].T
    n_rows = np.maximum(own_counted @ counted, 1.0)
    # Each column is summed where the other one is known.
    sums, squares = own_filled @ counted, np.square(own_filled) @ counted
    others, their_squares = own_counted @ filled, own_counted @ np.square(filled)
    spread = np.sqrt(np.maximum(squares - np.square(sums) / n_rows, 0.0))
    their_spread = np.sqrt(np.maximum(their_squares - np.square(others) / n_rows, 0.0))
    joint = own_filled @ filled - sums * others / n_rows
    size = spread * their_spread
    enough = (n_rows >= MIN_ROWS) & (size > n_rows * 10.0**-_DIGITS)
    found = np.divide(joint, size, out=np.zeros_like(joint), where=enough)
    return np.asarray(np.round(found, _DIGITS))
