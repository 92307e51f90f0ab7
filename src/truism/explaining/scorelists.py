"""Lists of scores: a table and its scores go in, columns for a file come out, with who is to blame."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from truism.explaining.checker import Checker
from truism.explaining.rowblames import Blames, alike, as_columns, blame_kinds, blame_rows
from truism.incidents.following import Following
from truism.table.columns import Table
from truism.work import Advance, stand_still

_CHUNK = 256
_OWN_NAMES = {"row", "score", "excess", "anomaly", *blame_kinds()}


def tabulate(
    checker: Checker,
    table: Table,
    scores: NDArray[np.float64],
    excess: NDArray[np.float64],
    advance: Advance = stand_still,
    before: Following | None = None,
) -> dict[str, Any]:
    """Return the score and blames of every row as columns.

    Rows that score above 0 have their first three variables and shares; anomalies also have what was
    expected and found. Rows of a series have their excess, too.

    Parameters
    ----------
    checker
        The model.
    table, scores, excess
        A prepared table, the scores of its rows, and what is compared with the threshold.
    advance
        Called with the number of rows that are done, and that of all.
    before
        What was kept of the tables before, if it goes on where they ended.

    """
    model = checker.model
    first, state = (0, None) if before is None else (before.n_rows, before.scoring)
    # As in the table: joining the scores with their rows needs the same values.
    time = table.column_of().get(model.schema.time or "")
    columns: dict[str, Any] = {"row": np.arange(first, first + table.n_rows)}
    if time is not None:
        own = time.name if time.name not in _OWN_NAMES else "time"
        columns[own] = alike([time.cell(row) for row in range(table.n_rows)])
    by = None if model.series is None else model.series.by
    if by is not None and by not in columns and by not in _OWN_NAMES:
        column = table.column_of()[by]
        columns[by] = alike([column.cell(row) for row in range(table.n_rows)])
    anomalies = excess > model.threshold
    beyond = {} if model.memory is None else {"excess": excess}
    columns |= {"score": scores, **beyond, "anomaly": anomalies}
    rows = np.flatnonzero(scores > 0)
    found: list[Blames] = [()] * table.n_rows
    done = 0
    for portion, weighed in checker.scorer.weigh_some(table, rows, checker.n_jobs, state):
        for start in range(0, len(portion), _CHUNK):
            advance(done, len(rows))
            some = np.arange(start, min(start + _CHUNK, len(portion)))
            own_rows = portion[some]
            part = table.take(own_rows)
            told = blame_rows(checker.scorer, part, weighed.take(some), anomalies[own_rows])
            for row, blames in zip(own_rows.tolist(), told, strict=True):
                found[row] = blames
            done += len(some)
    return columns | as_columns(found)
