"""Who is to blame for single rows: weighed rows go in, variables with shares and reasons come out.

What lists of scores say beside each score, be they written to a file or handed on in batches.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.investigation import find_clues
from truism.explaining.reasons import say
from truism.incidents.deviations import Judge
from truism.incidents.events import shares_of
from truism.scoring.scorer import Scorer
from truism.scoring.weighed import Weighed
from truism.table.columns import Table

N_BLAMES = 3  # blames written beside the score of a row
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
