"""Numbers that move together: training columns go in, pairs of variables come out.

Where one of two such variables is wrong, the other usually is, too. Explanations then name one of them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.model.schema import Numeric, Schema
from truism.scoring.readings import standardise
from truism.table.columns import Column, numbers

ALIKE = 0.9  # correlation, either way, above which two numbers are twins
MAX_ROWS = 10_000  # rows to look at
MIN_ROWS = 30  # rows in which both are known
PAIRS_PER_VARIABLE = 10
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
    closeness = np.abs(correlate(values))
    first, second = np.nonzero(np.triu(closeness > ALIKE, 1))
    most = PAIRS_PER_VARIABLE * len(numeric)
    closest = np.argsort(-closeness[first, second], kind="stable")[:most].tolist()
    names = [each.name for each, _ in numeric]
    return tuple((names[first[k]], names[second[k]]) for k in closest) or None


def correlate(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the correlation of each pair of columns, over the rows in which both are known.

    It is 0 where there are too few of them, or where either does not vary.

    >>> x = np.arange(40.0)
    >>> correlate(np.array([x, 3 - x, x % 2, 0 * x]).T).round(2)[0].tolist()
    [1.0, -1.0, 0.04, 0.0]
    """
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    counted = known.astype(np.float64)
    n_rows = np.maximum(counted.T @ counted, 1.0)
    # Each column is summed where the other one is known.
    sums, squares = filled.T @ counted, np.square(filled).T @ counted
    spreads = np.sqrt(np.maximum(squares - np.square(sums) / n_rows, 0.0))
    joint = filled.T @ filled - sums * sums.T / n_rows
    size = spreads * spreads.T
    enough = (n_rows >= MIN_ROWS) & (size > n_rows * 10.0**-_DIGITS)
    found = np.divide(joint, size, out=np.zeros_like(joint), where=enough)
    return np.asarray(np.round(found, _DIGITS))
