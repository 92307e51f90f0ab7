"""Whether rows follow each other: steps of time or values go in, and why they are no series comes out."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from truism.table.columns import Table, numbers
from truism.table.notices import Notice, no_series

SAME = 0.75  # share of the steps that are the median one: a quarter of the rows may be missing
WHOLE = 0.9  # share of the steps that are whole numbers of it
CLOSE = 0.1  # share of the median step that a step may differ from that
MAX_DISORDER = 0.01  # share of the steps that may go back, or nowhere
ALIKE = (
    0.25  # share of a variance: how much less neighbours of a clear order differ than other rows
)


def irregularity(steps: NDArray[np.int64]) -> str | None:
    """Say why steps of time are not those of a series; None if they are.

    >>> irregularity(np.array([10] * 19 + [30])) is None
    True
    >>> irregularity(np.array([10, 70, 20, 90]))
    'no step is as long as the median one'
    >>> irregularity(np.array([10, -5, 10, 10]))
    '25 % of the times go back or repeat'
    """
    if not len(steps):
        return "there is one row"
    n_back = int((steps <= 0).sum())
    if n_back > MAX_DISORDER * len(steps):
        return f"{100 * n_back / len(steps):.0f} % of the times go back or repeat"
    lengths = steps / float(np.median(steps[steps > 0]))
    same = np.abs(lengths - 1) <= CLOSE
    whole = (np.abs(lengths - np.rint(lengths)) <= CLOSE) & (lengths > CLOSE)
    if same.mean() >= SAME and whole.mean() >= WHOLE:
        return None
    few = f"{100 * same.mean():.0f} % of the steps are" if same.any() else "no step is"
    return f"{few} as long as the median one"


def is_clear(columns: Iterable[NDArray[np.float64]]) -> bool:
    """Return whether neighbours are far more alike than other rows, in most columns of numbers.

    >>> level, noise = np.sin(np.arange(200) / 20), np.random.default_rng(0).normal(size=200)
    >>> is_clear([level, 2 * level]), is_clear([noise, noise])
    (True, False)
    """
    ratios = []
    for values in columns:
        known = values[np.isfinite(values)]
        with np.errstate(all="ignore"):  # the largest numbers there are
            ratio = (
                float(np.mean(np.diff(known) ** 2) / (2 * np.var(known))) if len(known) > 2 else 1
            )
        ratios += [ratio] if np.isfinite(ratio) else []
    return bool(ratios) and float(np.median(ratios)) < ALIKE


def why_alone(table: Table, axis: str | None) -> Notice | None:
    """Say why rows that seem to follow each other are judged one by one; None if nothing says they do."""
    column = None if axis is None else table.column_of().get(axis)
    if column is not None and column.values.dtype.kind == "M":
        times: NDArray[np.int64] = column.present.astype(np.int64)
        reason = irregularity(np.diff(times))
    elif is_clear(numbers(each) for each in table.columns if each.kind == "number"):
        reason = "no column says when, although neighbours are far more alike than other rows"
    else:
        return None
    return None if reason is None else no_series(reason)
