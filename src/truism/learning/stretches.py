"""How long values stand still: training columns go in, their longest stretches come out."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.model.schema import Numeric, Schema
from truism.scoring.stillness import stretches_of
from truism.table.columns import Column, numbers
from truism.table.deltas import DELTA

Lengths = tuple[int, ...]
Rests = tuple[float | None, ...]


def find_stretches(
    schema: Schema,
    columns: Sequence[Column],
    runs: Sequence[NDArray[np.int64]],
    span: int,
) -> tuple[Lengths, Lengths, Rests]:
    """Return for how many consecutive rows each variable was the same, and was missing, at most.

    States are 0 in the first: they may stand still for ever. So are changes of variables, which are
    the same where the variable itself is. A number that stands still for longer than a span may do so
    at the value at which it did, as a flow does at 0 while its pump is off; that is its rest, and does
    not count.

    Parameters
    ----------
    schema, columns
        The variables and their rows.
    runs
        Which rows follow each other.
    span
        For how many rows a number may stand still anywhere.

    """
    same, absent, rests = list[int](), list[int](), list[float | None]()
    names = {*schema.names}
    for variable, column in zip(schema.variables, columns, strict=True):
        missing = np.zeros(len(column.values), np.bool_)
        if column.missing is not None:
            missing = column.missing
        is_change = variable.name.startswith(DELTA) and variable.name.removeprefix(DELTA) in names
        judged = isinstance(variable, Numeric) and not is_change
        values = numbers(column) if judged else np.zeros(len(missing))
        missing = missing | np.isnan(values)
        lengths = [stretches_of(values[rows], missing[rows]) for rows in runs]
        stood, gone = (np.concatenate(each) for each in zip(*lengths, strict=True))
        rest = None
        if judged and stood.max(initial=0) > span:
            in_order = np.concatenate([values[rows] for rows in runs])
            rest = float(in_order[stood.argmax()])
            stood = np.where(in_order == rest, 0, stood)
        same.append(int(stood.max(initial=0)) if judged else 0)
        rests.append(rest)
        absent.append(int(gone.max(initial=0)))
    return tuple(same), tuple(absent), tuple(rests)
