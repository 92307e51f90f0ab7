"""Labels: a column that marks the rows in which something was wrong."""

import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, did_you_mean
from truism.table.columns import Table


def read_labels(table: Table, label: str) -> NDArray[np.bool_]:
    """Return for each row whether a column marks it as anomalous; where it is missing, it does not.

    Parameters
    ----------
    table
        The rows.
    label
        The column: 0 and false mean normal, everything else anomalous.

    Returns
    -------
    One truth value per row, of both kinds; other columns are refused.

    """
    column = table.column_of().get(label)
    if column is None:
        raise ParameterError.of(
            "label",
            "name a column of the table",
            label,
            did_you_mean(label, table.names),
        )
    if column.kind not in ("number", "boolean"):
        raise ParameterError.of(
            "label",
            "name a column of numbers or booleans",
            label,
            "0 and false mean normal, everything else anomalous.",
        )
    known = column.present
    if (known % 1 != 0).any():
        raise ParameterError.of(
            "label",
            "name a column of whole numbers or booleans",
            label,
            f"it holds {known[known % 1 != 0][0]:g}; 0 and false mean normal, everything else "
            f"anomalous.",
        )
    truth = column.values.astype(np.bool_)
    if column.missing is not None:
        truth = truth & ~column.missing
    if truth.all() or not truth.any():
        only = "anomalous" if truth.all() else "normal"
        hint = f"all its rows are {only}."
        raise ParameterError.of("label", "mark some rows and not all", label, hint)
    return truth
