"""Variables made from others: ``ΔX(t) = X(t) − X(t−1)``, the change since the previous row.

KDD'23, section 6.1, adds the change to the *next* row for SWaT. Deviation: a live system does not
have the next row, so it is the previous one here.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.errors import SchemaError, TableError
from truism.schema import numbers
from truism.table import Column, Table

DELTA = "Δ"
MAX_DECIMALS = 9
MAX_DECIMAL = 1e6  # beyond, nine decimals are more than a double holds


def delta_name(variable: str) -> str:
    """Name the change of a variable.

    >>> delta_name("LIT301")
    'ΔLIT301'
    """
    return f"{DELTA}{variable}"


def with_deltas(table: Table, variables: Sequence[str]) -> Table:
    """Add the change since the previous row of some numeric columns.

    The first row has no previous one; its change is missing, as is any change from or to a missing
    value.

    Examples
    --------
    >>> from truism.table import as_table
    >>> table = with_deltas(as_table({"level": [1.0, 3.0, 2.5]}), ["level"])
    >>> [table.columns[1].cell(row) for row in range(3)]
    [None, 2.0, -0.5]

    """
    column_of = table.column_of()
    added = []
    for variable in variables:
        if variable not in column_of:
            raise SchemaError(f"Column {variable!r} is missing from the table to score.")
        if delta_name(variable) in column_of:
            raise TableError(
                f"Column {delta_name(variable)!r} exists already; it is the name of the change of "
                f"{variable!r}.",
                "rename or drop it.",
            )
        if column_of[variable].kind not in ("number", "empty"):
            raise SchemaError(f"Column {variable!r} must hold numbers for its change to be taken.")
        added.append(_delta(column_of[variable]))
    return Table((*table.columns, *added), table.n_rows)


def _delta(column: Column) -> Column:
    values = numbers(column)
    with np.errstate(invalid="ignore", over="ignore"):
        change = np.diff(values, prepend=np.nan)
    decimals = _decimals(values)
    if decimals is not None:
        change = np.round(change, decimals)
    missing = np.isnan(change)
    return Column(delta_name(column.name), "number", change, missing)


def _decimals(values: NDArray[np.float64]) -> int | None:
    """Count the decimals the values are given with; None when they have too many to be decimals.

    The difference of two decimals has no more decimals than they have; what subtracting adds behind
    them is rounding, and would end up in cut-offs such as 0.30000000000004.
    """
    finite = values[np.isfinite(values)]
    if finite.size and np.abs(finite).max() > MAX_DECIMAL:
        return None
    for decimals in range(MAX_DECIMALS + 1):
        if np.array_equal(np.round(finite, decimals), finite):
            return decimals
    return None
