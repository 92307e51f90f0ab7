"""Variables that move together: training columns go in, pairs of variables come out.

Where one of two twins is wrong, the other usually is, too. Explanations then name one of them.
"""

from collections.abc import Iterator, Sequence

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
_NO_PAIRS = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

Pairs = Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]


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
    whole = np.isfinite(values).all(axis=0)
    parts = list(_pairs_of_whole(least, values, np.flatnonzero(whole)))
    parts += _pairs_with_gaps(least, values, np.flatnonzero(~whole))
    first, second, closeness = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((second, first))
    return first[order], second[order], closeness[order]


def _pairs_of_whole(least: float, values: NDArray[np.float64], whole: NDArray[np.int64]) -> Pairs:
    """Yield the pairs among columns that are known in every row: one product for each."""
    yield _NO_PAIRS
    if len(values) < MIN_ROWS:
        return
    away = values[:, whole] - values[:, whole].mean(axis=0)
    spread = np.sqrt(np.square(away).sum(axis=0))
    unit = np.divide(away, spread, out=np.zeros_like(away), where=spread > 0.0)
    for start in range(0, len(whole), MAX_COLUMNS):
        close = np.abs(unit[:, start : start + MAX_COLUMNS].T @ unit[:, start:])
        a, b = np.nonzero(close > least - 10.0**-_DIGITS)
        closeness = np.round(close[a, b], _DIGITS)
        varied = spread[start + a] * spread[start + b] > len(values) * 10.0**-_DIGITS
        kept = (a < b) & varied & (closeness > least)
        yield whole[start + a[kept]], whole[start + b[kept]], closeness[kept]


def _pairs_with_gaps(least: float, values: NDArray[np.float64], gaps: NDArray[np.int64]) -> Pairs:
    """Yield the pairs of which at least one column has gaps."""
    is_gap = np.isin(np.arange(values.shape[1]), gaps)
    for start in range(0, len(gaps), MAX_COLUMNS):
        some = gaps[start : start + MAX_COLUMNS]
        close = np.abs(correlate(values, some))
        a, b = np.nonzero(close > least)
        closeness, a = close[a, b], some[a]
        kept = (a < b) | ((a > b) & ~is_gap[b])
        yield np.minimum(a, b)[kept], np.maximum(a, b)[kept], closeness[kept]


def correlate(
    values: NDArray[np.float64], some: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Return the correlation of some columns, or of all, with each, over the rows where both are known.

    It is 0 where there are too few of them, or where either does not vary.

    >>> x = np.arange(40.0)
    >>> correlate(np.array([x, 3 - x, x % 2, 0 * x]).T).round(2)[0].tolist()
    [1.0, -1.0, 0.04, 0.0]
    """
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    counted = known.astype(np.float64)
    own = slice(None) if some is None else some
    own_filled, own_counted = filled[:, own].T, counted[:, own].T
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
