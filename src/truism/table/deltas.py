"""Variables made from others: ``ΔX(t) = X(t) − X(t−1)``, the change since the previous row.

KDD'23, section 6.1, adds the change to the *next* row for SWaT. Deviation: a live system does not
have the next row, so it is the previous one here.
"""

import math
from collections.abc import Collection, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import SchemaError, TableError
from truism.table.columns import Column, Table, numbers

DELTA = "Δ"
DIGIT_BITS = 40
_POWERS = np.array([float(10**i) for i in range(23)])  # the powers of ten that a double holds

LastValues = dict[str, dict[str, float]]
"""The last values of columns, by series and name."""


def delta_name(variable: str) -> str:
    """Name the change of a variable.

    >>> delta_name("LIT301")
    'ΔLIT301'
    """
    return f"{DELTA}{variable}"


class Stretch(msgspec.Struct, frozen=True, eq=False):
    """Rows that follow each other, and the values of some columns in the row before the first."""

    rows: NDArray[np.int64]
    before: Mapping[str, float] = {}


def last_values(
    table: Table, variables: Sequence[str], rows_of: Mapping[str, NDArray[np.int64]]
) -> LastValues:
    """Return the last values of some columns, by series; `rows_of` has the rows of each."""
    column_of = table.column_of()
    values = {name: numbers(column_of[name]) for name in variables}
    return {
        series: {name: float(column[rows[-1]]) for name, column in values.items()}
        for series, rows in rows_of.items()
    }


def with_deltas(
    table: Table,
    variables: Sequence[str],
    runs: Sequence[Stretch] | None = None,
    meters: Collection[str] = (),
) -> Table:
    """Add the change since the previous row of some numeric columns.

    A row without a previous one has no change, and any change from or to a missing value is missing.
    A meter that falls was reset: there, its change is that of the row before.

    >>> from truism.table.frames import as_table
    >>> table = with_deltas(as_table({"level": [1.0, 3.0, 2.5]}), ["level"])
    >>> [table.columns[1].cell(row) for row in range(3)]
    [None, 2, -0.5]
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
        fault = column_of[variable].fault
        if fault is not None:
            raise fault.error(variable)
        if column_of[variable].kind not in ("number", "empty"):
            raise SchemaError(f"Column {variable!r} must hold numbers for its change to be taken.")
        stretches = runs or [Stretch(np.arange(table.n_rows))]
        added.append(_delta(column_of[variable], stretches, is_meter=variable in meters))
    return Table((*table.columns, *added), table.n_rows)


def _delta(column: Column, runs: Sequence[Stretch], *, is_meter: bool) -> Column:
    values, name = numbers(column), delta_name(column.name)
    change = np.full(len(values), np.nan)
    for run in runs:
        now = values[run.rows]
        first = run.before.get(column.name, np.nan)
        steps = _differences(np.concatenate([[first], now])[: len(now)], now)
        if is_meter and (fell := steps < 0).any():
            latest = np.maximum.accumulate(np.where(fell, 0, np.arange(1, len(steps) + 1)))
            steps = np.concatenate([[run.before.get(name, np.nan)], steps])[latest]
        change[run.rows] = steps
    return Column(name, "number", change, np.isnan(change))


def _differences(before: NDArray[np.float64], now: NDArray[np.float64]) -> NDArray[np.float64]:
    """Subtract; where both numbers are decimals of at most twelve digits, as decimals.

    The difference of two decimals has no more decimals than they have; what subtracting adds behind
    them is rounding, and would end up in cut-offs such as 0.30000000000004. Nothing but the two
    numbers decides, so that a row has the same change in any table.
    """
    # Decimals that leave the larger one below 2**40, about twelve digits. No logarithm is taken:
    # its last bit may depend on where in an array a number stands.
    exponent = np.frexp(np.maximum(np.abs(before), np.abs(now)))[1]
    decimals = np.floor((DIGIT_BITS - exponent) * math.log10(2)).astype(np.int64)
    scale = _POWERS[np.clip(decimals, 0, len(_POWERS) - 1)]
    with np.errstate(invalid="ignore", over="ignore"):
        change: NDArray[np.float64] = now - before
        exact = (np.rint(before * scale) / scale == before) & (np.rint(now * scale) / scale == now)
        return np.where(exact, np.rint(change * scale) / scale, change)
