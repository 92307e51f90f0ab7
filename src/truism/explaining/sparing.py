"""What does not count against rows because it was accepted: rows go in, notes for readers come out."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.scoring.scorer import Scorer
from truism.table.columns import Table


class Spared(msgspec.Struct, frozen=True):
    """Evidence against a row that was accepted.

    Parameters
    ----------
    id, said
        The acceptance's id; when and why it was accepted.
    variables
        The variables against which evidence does not count, most first.
    points
        How much that is, in points of the score.

    """

    id: str
    said: str
    variables: tuple[str, ...]
    points: float

    def __str__(self) -> str:
        return f"{self.said} ({', '.join(self.variables)}: {self.points:.3g} points)"


def find_spared(scorer: Scorer, table: Table) -> list[tuple[Spared, ...]]:
    """Return for each row what was accepted of it."""
    if scorer.tolerance is None or not table.n_rows:
        return [()] * table.n_rows
    applies = scorer.tolerance.applied_in(table)
    if not applies.any():
        return [()] * table.n_rows
    spared = _evidence(scorer.strict, table) - _evidence(scorer, table)
    place = {name: i for i, name in enumerate(scorer.model.schema.names)}
    found: list[list[Spared]] = [[] for _ in range(table.n_rows)]
    for acceptance, holds in zip(scorer.tolerance.accepted, applies, strict=True):
        own = np.array([place[name] for name in acceptance.variables], np.int64)
        for row in np.flatnonzero(holds).tolist():
            points = spared[row, own]
            most_first = [int(i) for i in np.argsort(-points, kind="stable") if points[i] > 0]
            if most_first:
                names = tuple(acceptance.variables[i] for i in most_first)
                total = float(points[most_first].sum())
                found[row].append(Spared(acceptance.id, acceptance.said, names, total))
    return [tuple(each) for each in found]


def _evidence(scorer: Scorer, table: Table) -> NDArray[np.float64]:
    """Return what counts against rows by themselves, without what grave rules add."""
    weighed = scorer.weigh_alone(table)
    if weighed.pieces is None:
        return weighed.parts
    return weighed.pieces.plain + weighed.pieces.rarities
