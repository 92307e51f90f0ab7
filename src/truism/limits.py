"""Univariate rules held against a column: which rows break what is always true of one variable.

KDD'23, section 4.3: a number stays in its range, a state is one that was met, a value is present.
"""

import numpy as np
from numpy.typing import NDArray

from truism.predicates import MAX_DEGREE, MIN_DEGREE, OneOf, Predicate, Present, Range
from truism.rules import Rule
from truism.schema import UNSEEN, Categorical, Numeric, Variable, codes, numbers
from truism.table import Column

_NO_ROWS = np.empty(0, np.int64)
_NO_DEGREES = np.empty(0)


def breaches(
    predicate: Predicate, variable: Variable, column: Column
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Give the rows of a column that break the consequent of a univariate rule, and by how much."""
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
            return rows, distance_degrees(values[rows], low, high, variable.std)
        case _:
            assert isinstance(variable, Categorical)
            rows = np.flatnonzero(codes(variable, column) == UNSEEN)
    return rows, np.ones(len(rows))


def is_habit(rule: Rule) -> bool:
    """Tell whether a univariate rule says that something is the same in every training row.

    A number outside its range or a state never met is judged by rarity and in its contexts.
    """
    predicate = rule.consequents[0]
    match predicate:
        case Range(variable=_, low=low, high=high):
            return low == high
        case OneOf(variable=_, values=values):
            return len(values) == 1
    return isinstance(predicate, Present)


def distance_degrees(
    values: NDArray[np.float64], low: float, high: float, std: float
) -> NDArray[np.float64]:
    """Vectorised `truism.predicates.distance_degree` for values that lie outside."""
    if std == 0.0:
        return np.ones(len(values))
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.where(values < low, low - values, values - high)
        return np.clip(distance / std, MIN_DEGREE, MAX_DEGREE)
