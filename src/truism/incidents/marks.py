"""What is wrong with each anomalous row, in two words: weighed rows go in, culprits and kinds come out.

The culprit is the variable with the largest share of the blame; the kind says what sort of reason there
is against it. Both come from what scoring has at hand, for all rows of a block at once, so that a hundred
thousand rows can be grouped without explaining any of them.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats, Rows
from truism.incidents.deviations import Judge, added
from truism.model.model import Model
from truism.model.schema import Categorical, Variable
from truism.score.alignment import MISSING, UNSEEN, align, codes
from truism.score.weighed import Weighed
from truism.table.columns import Column, Table, numbers

Wrong = Literal["missing", "unseen", "above", "below", "rare", "conflict", "lasting", "dead"]
"""What sort of reason speaks against a value: it is missing, a state that training never had, above or
below everything in training, rare in itself, in conflict with other variables, fine by itself but unusual
because of the rows before it, or the same for far longer than ever in training."""

KINDS: tuple[Wrong, ...] = (
    *("missing", "unseen", "above", "below", "rare", "conflict", "lasting", "dead"),
)
WHY_FIRST = 4.0  # how much more a rarity must weigh to come before a clue that can say why
_MISSING, _UNSEEN, _ABOVE, _BELOW, _RARE, _CONFLICT, _LASTING, _DEAD = range(len(KINDS))


class Marks(msgspec.Struct, frozen=True, eq=False):
    """The anomalous rows of a table, and what is wrong with each.

    Parameters
    ----------
    rows
        Their positions, ascending.
    scores
        Their scores.
    culprits
        Their most blamed variables, by position in the schema.
    kinds
        What sort of reason there is against these, by position in `KINDS`.
    parts, blame
        What each variable adds to the scores of all of them, and how far it deviates in all of them.

    """

    rows: Rows
    scores: Floats
    culprits: Rows
    kinds: Rows
    parts: Floats
    blame: Floats


class Marker:
    """Marks the anomalous rows of a table, block by block.

    Parameters
    ----------
    model
        The model.
    table
        The rows.
    threshold
        Rows that score above it are anomalous.

    """

    def __init__(self, model: Model, table: Table, threshold: float) -> None:
        self.variables, self.judge, self.threshold = model.schema.variables, Judge(model), threshold
        self.columns: Sequence[Column] = align(model.schema, table)[0]
        self.parts, self.blame = np.zeros((2, len(self.variables)))
        self.found: list[tuple[Rows, Floats, Rows, Rows]] = []

    def take(self, rows: Rows, weighed: Weighed, scores: Floats) -> None:
        """Take some rows, those at given positions, which come after those before."""
        at = np.flatnonzero(scores > self.threshold)
        if not len(at):
            return
        parts = weighed.parts[at]
        far = self.judge.deviations(weighed, at)
        self.parts, self.blame = added(self.parts, parts), added(self.blame, far)
        culprits = most_blamed(far, parts)
        kinds = np.empty(len(at), np.int64)
        for i in np.unique(culprits).tolist():
            own = np.flatnonzero(culprits == i)
            values = self.columns[i].take(rows[at[own]])
            dead = _dead(weighed, at[own], i)
            kinds[own] = _kinds(self.variables[i], values, *_pieces(weighed, at[own], i), dead)
        self.found.append((rows[at], scores[at], culprits, kinds))

    def result(self) -> Marks:
        """Return the rows that were marked."""
        if not self.found:
            none = np.empty(0, np.int64)
            return Marks(none, np.empty(0), none, none, self.parts, self.blame)
        rows, scores, culprits, kinds = map(np.concatenate, zip(*self.found, strict=True))
        return Marks(rows, scores, culprits, kinds, self.parts, self.blame)


def most_blamed(deviations: Floats, parts: Floats) -> Rows:
    """Return for each row the variable with the largest share of the blame, as explanations name it."""
    nothing = ~(deviations > 0).any(axis=1, keepdims=True)
    blame = np.where(parts > 0, np.where(nothing, parts, deviations), -1.0)
    most = blame == blame.max(axis=1, keepdims=True)
    return np.asarray(np.where(most, parts, -1.0).argmax(axis=1))


def _pieces(weighed: Weighed, at: Rows, i: int) -> tuple[Floats, Floats]:
    """Return a variable's contradictions and rarities; with the paper's scoring all is contradiction."""
    if weighed.pieces is None:
        return weighed.parts[at, i], np.zeros(len(at))
    return weighed.pieces.contradictions[at, i], weighed.pieces.rarities[at, i]


def _dead(weighed: Weighed, at: Rows, i: int) -> NDArray[np.bool_]:
    """Return in which rows a variable is dead."""
    if weighed.remembered is None or weighed.remembered.dead is None:
        return np.zeros(len(at), np.bool_)
    return np.asarray(weighed.remembered.dead[at, i] > 0)


def _kinds(
    variable: Variable,
    column: Column,
    contradictions: Floats,
    rarities: Floats,
    dead: NDArray[np.bool_],
) -> Rows:
    """Return what is wrong with values: what is plain from the value itself comes first."""
    kinds = np.where(rarities > WHY_FIRST * contradictions, _RARE, _CONFLICT)
    kinds[contradictions + rarities <= 0] = _LASTING
    kinds[dead] = _DEAD
    if isinstance(variable, Categorical):
        states = codes(variable, column)
        kinds[states == UNSEEN] = _UNSEEN
        kinds[states == MISSING] = _MISSING
        return kinds
    values = numbers(column)
    kinds[values > variable.high] = _ABOVE
    kinds[values < variable.low] = _BELOW
    kinds[np.isnan(values)] = _MISSING
    return kinds
