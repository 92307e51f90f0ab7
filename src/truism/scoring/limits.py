"""Univariate rules and a column: which rows break what is always true of one variable.

KDD'23, section 4.3: a number stays in its range, a state has been seen before, a value is present.
"""

import numpy as np
from numpy.typing import NDArray

from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, Present, Range
from truism.model.rules import Rule
from truism.model.schema import Categorical, Numeric, Variable
from truism.scoring.alignment import UNSEEN, codes
from truism.table.columns import Column, numbers

MIN_DEGREE, MAX_DEGREE = 1e-12, 1e6

_NO_ROWS = np.empty(0, np.int64)
_NO_DEGREES = np.empty(0)


def breaches(
    predicate: Predicate, variable: Variable, column: Column
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows of a column that break a univariate rule's consequent, and by how much."""
    match predicate:
        case Present():
            if column.kind == "empty":
                rows = np.arange(len(column.values))
            elif column.missing is None:
                return _NO_ROWS, _NO_DEGREES
            else:
                rows = np.flatnonzero(column.missing)
        case Range(variable=_, low=low, high=high):
            assert isinstance(variable, Numeric)
            values = numbers(column)
            outside = (values < low) | (values > high)
            if not outside.any():
                return _NO_ROWS, _NO_DEGREES
            rows = np.flatnonzero(outside)
            return rows, degrees_outside(values[rows], low, high, variable.std)
        case _:
            assert isinstance(variable, Categorical)
            rows = np.flatnonzero(codes(variable, column) == UNSEEN)
    return rows, np.ones(len(rows))


def is_habit(rule: Rule) -> bool:
    """Return whether a univariate rule says that something is the same in every training row.

    Rarity and contexts judge a number outside its range, or a state never seen.
    """
    predicate = rule.consequents[0]
    match predicate:
        case Range(variable=_, low=low, high=high):
            return low == high
        case OneOf(variable=_, values=values):
            return len(values) == 1
    return isinstance(predicate, Present)


def degrees_failed(
    predicate: Predicate, variable: Variable, column: Column, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return by how much rows fail a mined consequent, given the column that it is about first."""
    if isinstance(predicate, OneOf | AnyOf):
        return np.ones(len(rows))
    assert isinstance(predicate, Interval)
    assert isinstance(variable, Numeric)
    return degrees_outside(numbers(column)[rows], predicate.low, predicate.high, variable.std)


def degrees_outside(
    values: NDArray[np.float64], low: float, high: float, std: float
) -> NDArray[np.float64]:
    """Return the degrees of violation of numbers that lie outside an interval."""
    with np.errstate(over="ignore", invalid="ignore"):
        return degrees(np.where(values < low, low - values, values - high), std)


def degrees(distances: NDArray[np.float64], std: float) -> NDArray[np.float64]:
    """Return the degrees of violation of numbers this far outside (KDD'23, section 5.1).

    Deviation: a degree is at least 1e-12, so that a violation always scores above 0, and at most 1e6.
    A constant has no spread to measure by; any other value violates it with degree 1.
    """
    if std == 0.0:
        return np.ones(len(distances))
    with np.errstate(over="ignore"):
        return np.clip(distances / std, MIN_DEGREE, MAX_DEGREE)
