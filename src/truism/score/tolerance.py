"""Acceptances applied to rows: evidence against their variables does not count where they hold.

This is the only place where acceptances enter scoring.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Mask
from truism.model.acceptances import Acceptance, Condition
from truism.model.model import Model
from truism.model.predicates import AnyOf, OneOf
from truism.model.provenance import today
from truism.model.schema import Categorical, Scalar, Schema
from truism.score.alignment import align, time_column
from truism.score.past import Stillness
from truism.score.truths import Truths, unpack
from truism.table.columns import Table
from truism.table.timelines import wall_clock


class Tolerance:
    """The acceptances of a model, ready to be applied.

    Parameters
    ----------
    model
        The model.

    """

    def __init__(self, model: Model) -> None:
        self.accepted, self._schema = model.accepted or (), model.schema
        self._variables = np.array(
            [[name in one.variables for name in model.schema.names] for one in self.accepted],
            np.bool_,
        )
        conditions = [condition for one in self.accepted for condition in one.conditions]
        self._truths = Truths(_with_states(model.schema, conditions), conditions)

    def find(self, table: Table) -> Mask:
        """Return in which rows each acceptance applies: acceptances × rows."""
        true, _ = self._truths.evaluate_all(align(self._schema, table)[0])
        moments = _moments(self._schema, table)
        applies = np.ones((len(self.accepted), table.n_rows), np.bool_)
        first = 0
        for acceptance, holds in zip(self.accepted, applies, strict=True):
            last = first + len(acceptance.conditions)
            for words in true[first:last]:
                holds &= unpack(words, table.n_rows)
            holds &= _lasts(acceptance, moments)
            first = last
        return applies

    def muted(self, applies: Mask) -> Mask:
        """Return which variables are not judged where acceptances apply: rows × variables."""
        return np.asarray(applies.T @ self._variables, np.bool_)


def sparing(
    stillness: Stillness | None, tolerance: Tolerance | None, table: Table
) -> Stillness | None:
    """Return what finds dead variables in a table, but for those that are not to be judged there."""
    if stillness is None or tolerance is None:
        return stillness
    return stillness.sparing(tolerance.muted(tolerance.find(table)))


def _with_states(schema: Schema, conditions: Sequence[Condition]) -> Schema:
    """Return a schema whose variables also have the states that conditions name."""
    named: dict[str, set[Scalar]] = {}
    for condition in conditions:
        for part in condition.parts if isinstance(condition, AnyOf) else (condition,):
            if isinstance(part, OneOf):
                named.setdefault(part.variable, set()).update(part.values)
    variables = tuple(
        msgspec.structs.replace(
            variable,
            values=(values := tuple(sorted({*variable.values, *named[variable.name]}, key=_order))),
            counts=(1,) * len(values),
        )
        if isinstance(variable, Categorical) and variable.name in named
        else variable
        for variable in schema.variables
    )
    return msgspec.structs.replace(schema, variables=variables)


def _order(state: Scalar) -> tuple[float, str]:
    return (0.0, state) if isinstance(state, str) else (float(state), "")


def _lasts(acceptance: Acceptance, moments: NDArray[np.datetime64]) -> Mask:
    """Return in which rows an acceptance has not ended; for rows without a time, today counts."""
    if acceptance.until is None:
        return np.ones(len(moments), np.bool_)
    ends = np.datetime64(acceptance.until) + np.timedelta64(1, "D")
    before: Mask = moments < ends
    lasts_today = today() <= acceptance.until
    return np.where(np.isnat(moments), lasts_today, before)


def _moments(schema: Schema, table: Table) -> NDArray[np.datetime64]:
    """Return when rows are, in their own zone; NaT where that is not known."""
    column = time_column(schema, table)
    if column is None or column.values.dtype.kind != "M":
        return np.full(table.n_rows, np.datetime64("NaT", "us"))
    return wall_clock(column)
