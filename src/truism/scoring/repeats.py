"""Rows that repeat: columns go in, the first of equal rows and which row equals which come out.

What is recorded of connections, orders or machines at rest is often the same again, and need not be
judged again. Where few rows repeat, a few variables show it soon.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.schema import Categorical, Schema, Variable
from truism.scoring.alignment import codes
from truism.table.columns import Column, numbers

_FEW = 4  # variables that are looked at first
_MOST = 0.75  # share of distinct rows up to which it pays to judge only those
_FIRST, _MOST_FIRST = 8, 0.96  # of an eighth of the rows, where half of all are copies of others


class Repeats(msgspec.Struct, frozen=True, eq=False):
    """Where the first of equal rows are, and for each row which of those it equals."""

    firsts: NDArray[np.int64]
    same: NDArray[np.int64]


def find_repeats(schema: Schema, columns: Sequence[Column]) -> Repeats | None:
    """Find rows that are equal for a model; None if few are."""
    from truism.scoring.kernels import repeats  # the compiler, only where it pays

    n_rows = len(columns[0].values)
    # Numbers tell rows apart sooner than states do.
    known = sorted(zip(schema.variables, columns, strict=True), key=_is_state)
    seats = np.empty(1 << (2 * n_rows).bit_length(), np.int64)
    firsts, same = np.empty((2, n_rows), np.int64)
    n_found, first_rows = 0, slice(0, n_rows // _FIRST)
    first = [(variable, column.take(first_rows)) for variable, column in known[:_FEW]]
    for some, share in ((first, _MOST_FIRST), (known[:_FEW], _MOST), (known, _MOST)):
        rows = np.stack([_whole(*each) for each in some], axis=1)
        seats[:] = -1
        most = int(share * len(rows))
        n_found = repeats.match(rows, most, seats, firsts, same)
        if n_found > most:
            return None
    return Repeats(firsts[:n_found], same)


def _is_state(known: tuple[Variable, Column]) -> bool:
    return isinstance(known[0], Categorical)


def _whole(variable: Variable, column: Column) -> NDArray[np.int64]:
    """Return the values of a column as whole numbers, equal where scoring sees no difference."""
    if isinstance(variable, Categorical):
        return codes(variable, column).astype(np.int64)
    return np.ascontiguousarray(numbers(column)).view(np.int64)
