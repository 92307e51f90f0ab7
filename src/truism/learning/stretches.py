"""How long values stand still: training columns go in, their longest stretches come out."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.model.schema import Numeric, Schema
from truism.scoring.stillness import longest_stretches
from truism.table.columns import Column, numbers
from truism.table.deltas import DELTA

Lengths = tuple[int, ...]


def find_stretches(
    schema: Schema, columns: Sequence[Column], runs: Sequence[NDArray[np.int64]]
) -> tuple[Lengths, Lengths]:
    """Return for how many consecutive rows each variable was the same, and was missing, at most.

    States are 0 in the first: they may stand still for ever. So are changes of variables, which are
    the same where the variable itself is.

    Parameters
    ----------
    schema, columns
        The variables and their rows.
    runs
        Which rows follow each other.

    """
    same, absent = [], []
    names = {*schema.names}
    for variable, column in zip(schema.variables, columns, strict=True):
        missing = np.zeros(len(column.values), np.bool_)
        if column.missing is not None:
            missing = column.missing
        is_change = variable.name.startswith(DELTA) and variable.name.removeprefix(DELTA) in names
        judged = isinstance(variable, Numeric) and not is_change
        values = numbers(column) if judged else np.zeros(len(missing))
        missing = missing | np.isnan(values)
        found = [tuple(longest_stretches(values[rows], missing[rows])) for rows in runs]
        longest, gone = (max(each, default=0) for each in zip(*found, strict=True))
        same.append(longest if judged else 0)
        absent.append(gone)
    return tuple(same), tuple(absent)
