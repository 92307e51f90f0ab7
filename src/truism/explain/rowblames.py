"""The score of each row with the variables to blame for it, in a file or handed on in batches."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explain.checker import Checker
from truism.explain.investigation import find_clues
from truism.explain.reasons import say
from truism.incidents.deviations import Judge
from truism.incidents.events import shares_of
from truism.incidents.following import Following
from truism.score.scorer import Scorer
from truism.score.weighed import Weighed
from truism.table.columns import Table
from truism.work import Advance, stand_still

N_BLAMES = 3  # blames written beside the score of a row
_CHUNK = 256
_KINDS: dict[str, Literal["number", "text"]] = {
    "variable": "text",
    "share": "number",
    "expected": "text",
    "found": "text",
}


class RowBlame(msgspec.Struct, frozen=True):
    """A variable that is to blame for a row; what was expected and found only if it is an anomaly."""

    variable: str
    share: float
    expected: str | None = None
    found: str | None = None


Blames = tuple[RowBlame, ...]


def blame_rows(
    scorer: Scorer,
    table: Table,
    weighed: Weighed,
    anomalies: NDArray[np.bool_],
    most: int = N_BLAMES,
) -> list[Blames]:
    """Return for each row the variables that are most to blame, worst first.

    Parameters
    ----------
    scorer
        The model.
    table, weighed
        The rows, and what speaks against them.
    anomalies
        Which rows are anomalies; their blames have reasons.
    most
        How many variables to name.

    """
    above = np.flatnonzero(anomalies)
    told = find_clues(scorer, table.take(above), weighed.take(above))
    clues_at = dict(zip(above.tolist(), told, strict=True))
    names = scorer.model.schema.names
    far = Judge(scorer.model).deviations(weighed)
    found: list[Blames] = []
    for row in range(table.n_rows):
        shares = shares_of(far[row], weighed.parts[row])
        worst = np.lexsort((-weighed.parts[row], -shares))[:most]
        blames: list[RowBlame] = []
        for i in worst.tolist():
            clues = clues_at.get(row)
            if shares[i] <= 0 or (clues is not None and names[i] not in clues):
                break
            reason = None
            if clues is not None:
                legend = scorer.model.words
                reason = say(clues[names[i]][0], scorer.n_training, legend=legend)
            blames.append(
                RowBlame(names[i], float(shares[i]))
                if reason is None
                else RowBlame(names[i], float(shares[i]), reason.expected, reason.found)
            )
        found.append(tuple(blames))
    return found


def blame_kinds(most: int = N_BLAMES) -> dict[str, Literal["number", "text"]]:
    """Return the names of the columns that hold blames, and what they hold.

    >>> list(blame_kinds(1))
    ['variable_1', 'share_1', 'expected_1', 'found_1']
    """
    return {f"{name}_{k}": kind for k in range(1, most + 1) for name, kind in _KINDS.items()}


def as_columns(blames: Sequence[Blames], most: int = N_BLAMES) -> dict[str, list[Any]]:
    """Return blames as columns, None where a row has fewer."""
    return {
        f"{name}_{k}": [getattr(each[k - 1], name) if len(each) >= k else None for each in blames]
        for k in range(1, most + 1)
        for name in _KINDS
    }


def alike(moments: list[Any]) -> list[Any]:
    """Return times of one type: all as text, if the years of some are beyond Python's calendar."""
    if not any(isinstance(each, str) for each in moments):
        return moments
    return [None if each is None else str(each) for each in moments]


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
    model, taken = checker.model, {"row", "score", "excess", "anomaly", *blame_kinds()}
    first, state = (0, None) if before is None else (before.n_rows, before.scoring)
    # As in the table: joining the scores with their rows needs the same values.
    time = table.column_of().get(model.schema.time or "")
    columns: dict[str, Any] = {"row": np.arange(first, first + table.n_rows)}
    if time is not None:
        own = time.name if time.name not in taken else "time"
        columns[own] = alike([time.cell(row) for row in range(table.n_rows)])
    by = None if model.series is None else model.series.by
    if by is not None and by not in columns and by not in taken:
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
