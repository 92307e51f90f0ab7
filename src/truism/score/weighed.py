"""Rows that were weighed: the evidence against each value, as data; `truism.explain` words it."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.predicates import Predicate
from truism.model.rules import Rule
from truism.score.alignment import Readings, join


class Violation(msgspec.Struct, frozen=True, gc=False):
    """One predicate of one rule that a row fails although the rule's antecedent holds."""

    rule: Rule  # the broken rule
    failed: Predicate  # the consequent that does not hold
    found: tuple[Any, ...]  # the row's own values of the consequent's variables; None where missing
    # what this adds to the part of each variable of the consequent; with evidence scoring, what it
    # would add if nothing stronger contradicted the variable
    penalty: float


class Pieces(msgspec.Struct, frozen=True, eq=False):
    """The evidence against some rows, piece by piece, in units of the score: rows × variables."""

    contradictions: NDArray[np.float64]  # the two parts of the score
    rarities: NDArray[np.float64]
    # the contradictions before a grave broken rule raises them. A grave rule says that a row is an
    # anomaly, not what is wrong with it
    plain: NDArray[np.float64]
    in_context: NDArray[np.float64]  # what the contradictions would be without rules
    leaves: NDArray[np.uint8]  # the leaf that each row falls into, in each context (first axis)
    readings: Readings  # the rows as the contexts read them

    def take(self, rows: NDArray[np.int64]) -> "Pieces":
        """Return some of the rows."""
        return Pieces(
            self.contradictions[rows],
            self.rarities[rows],
            self.plain[rows],
            self.in_context[rows],
            self.leaves[:, rows],
            self.readings.take(rows),
        )


class Remembered(msgspec.Struct, frozen=True, eq=False):
    """What earlier rows add to rows of series."""

    past: NDArray[np.float64]  # what they add to each variable's part: rows × variables
    # for how many rows, the row included, each variable's past has been high: rows × variables
    lasting: NDArray[np.int32]
    # for how many rows each variable that died has stood still; 0 where it is alive: rows ×
    # variables. None if that is not known
    dead: NDArray[np.int32] | None = None

    def take(self, rows: NDArray[np.int64]) -> "Remembered":
        """Return some of the rows."""
        dead = None if self.dead is None else self.dead[rows]
        return Remembered(self.past[rows], self.lasting[rows], dead)


class Silenced(msgspec.Struct, frozen=True, eq=False):
    """What does not count against some rows because it was accepted."""

    applies: NDArray[np.bool_]  # in which rows each acceptance applies: acceptances × rows
    # how much evidence does not count, in points of the score: rows × variables
    points: NDArray[np.float64]

    def take(self, rows: NDArray[np.int64]) -> "Silenced":
        """Return some of the rows."""
        return Silenced(self.applies[:, rows], self.points[rows])


class Weighed(msgspec.Struct, frozen=True, eq=False):
    """Rows that were weighed once; scores, attributions, blames and clues all come from this."""

    parts: NDArray[np.float64]  # what each variable adds to the score: rows × variables
    # what the parts consist of; None with the paper's scoring, where they are the broken rules
    pieces: Pieces | None
    # what earlier rows add to the parts; None where every row is judged by itself
    remembered: Remembered | None = None
    # what does not count because it was accepted; None if that is nothing
    silenced: Silenced | None = None

    @property
    def scores(self) -> NDArray[np.float64]:
        """The rows' scores."""
        return sum_of_rows(self.parts)

    def take(self, rows: NDArray[np.int64]) -> "Weighed":
        """Return some of the rows."""
        pieces = None if self.pieces is None else self.pieces.take(rows)
        remembered = None if self.remembered is None else self.remembered.take(rows)
        silenced = None if self.silenced is None else self.silenced.take(rows)
        return Weighed(self.parts[rows], pieces, remembered, silenced)


def joined(weighed: Sequence[Weighed]) -> Weighed:
    """Join blocks of rows."""
    parts = np.concatenate([each.parts for each in weighed])
    pieces = [each.pieces for each in weighed if each.pieces is not None]
    if not pieces:
        return Weighed(parts, None, silenced=_join_silenced(weighed))
    remembered = [each.remembered for each in weighed if each.remembered is not None]
    return Weighed(
        parts,
        Pieces(
            np.concatenate([each.contradictions for each in pieces]),
            np.concatenate([each.rarities for each in pieces]),
            np.concatenate([each.plain for each in pieces]),
            np.concatenate([each.in_context for each in pieces]),
            np.concatenate([each.leaves for each in pieces], axis=1),
            join([each.readings for each in pieces]),
        ),
        join_remembered(remembered) if remembered else None,
        _join_silenced(weighed),
    )


def _join_silenced(weighed: Sequence[Weighed]) -> Silenced | None:
    known = next((each.silenced for each in weighed if each.silenced is not None), None)
    if known is None:
        return None
    parts = [
        each.silenced
        or Silenced(
            np.zeros((len(known.applies), len(each.parts)), np.bool_), np.zeros_like(each.parts)
        )
        for each in weighed
    ]
    return Silenced(
        np.concatenate([each.applies for each in parts], axis=1),
        np.concatenate([each.points for each in parts]),
    )


def join_remembered(parts: Sequence[Remembered]) -> Remembered:
    """Join runs of rows."""
    return Remembered(
        np.concatenate([each.past for each in parts]),
        np.concatenate([each.lasting for each in parts]),
        np.concatenate([each.dead for each in parts if each.dead is not None])
        if all(each.dead is not None for each in parts)
        else None,
    )


def sum_of_rows(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum variable by variable, so that a row scores the same alone and in a table."""
    total = np.zeros(len(parts))
    for part in parts.T:
        total += part
    return total
