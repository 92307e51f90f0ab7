"""What some rows have in common and few others have: rows go in, narrow conditions come out.

Conditions are predicates of the model that hold in all of the rows. How many training rows satisfy
several of them at once is not known, but it is bounded: by the rarest of them, and for each context by
the rows in those leaves that do not exclude them. Conditions are added one by one, each time the one
that tells the rows best from training rows and from other rows at hand. If what all rows share is
common, they are divided into cases.
"""

from collections.abc import Collection, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.nodes import nodes_of_all
from truism.model.acceptances import Condition
from truism.model.model import Model
from truism.model.predicates import Interval, OneOf, implies, order
from truism.scoring.alignment import align
from truism.scoring.bits import unpack
from truism.scoring.truths import Truths
from truism.table.columns import Table

MOST = 4  # conditions of a case
WORTH_ADDING = 0.8  # a further condition must lower the bound at least to this share
COMMON = 0.05  # share of the training rows above which a situation is common
DEPTH = 3  # how often rows are divided in two, at most
TRIED = 12  # predicates by which it is tried to divide rows

Flags = NDArray[np.bool_]
Simple = Interval | OneOf


class Situation(msgspec.Struct, frozen=True, eq=False):
    """Some rows, and what they have in common.

    Parameters
    ----------
    rows, conditions
        The rows, and what holds in all of them.
    n_training
        How many training rows may satisfy the conditions, at most.
    share
        The mean share of such rows, among training rows and other rows at hand.

    """

    rows: NDArray[np.int64]
    conditions: tuple[Condition, ...]
    n_training: int
    share: float = 1.0


class Situations:
    """Finds narrow conditions, given a model and other rows in which they should seldom hold.

    Parameters
    ----------
    model
        The model.
    others
        Tables of such rows; each counts as much as the training rows.

    """

    def __init__(self, model: Model, others: Sequence[Table] = ()) -> None:
        counted = [
            (each.predicate, each.n_true)
            for each in model.rules.predicates
            if isinstance(each.predicate, Interval | OneOf)
        ]
        counted.sort(key=lambda each: order(each[0]))
        self._model = model
        self.predicates: list[Simple] = [each for each, _ in counted]
        self._n_true = np.array([n for _, n in counted], np.int64)
        self._n_rows = model.rules.n_rows
        self._about = np.array([each.variable for each in self.predicates], object)
        self._leaf_counts, self._starts = np.array([self._n_rows]), np.array([0])
        self._excludes = np.zeros((len(counted), 1), np.bool_)
        if model.evidence is not None and model.evidence.contexts:
            self._read_contexts()
        self._others = [self.truths(each) for each in others if each.n_rows]

    def _read_contexts(self) -> None:
        """Note which leaves of contexts each predicate excludes."""
        evidence = self._model.evidence
        assert evidence is not None
        splits = evidence.splits
        met, failed = np.zeros((2, len(self.predicates), len(splits)), np.float32)
        for i, predicate in enumerate(self.predicates):
            for j, split in enumerate(splits):
                if split.variable == predicate.variable:
                    met[i, j], failed[i, j] = implies(predicate, split), _apart(predicate, split)
        yes: list[NDArray[np.float32]] = []
        no: list[NDArray[np.float32]] = []
        counts: list[int] = []
        starts: list[int] = []
        for nodes in nodes_of_all(self._model.schema, evidence):
            starts.append(len(counts))
            for leaf in nodes.paths[:, -1].tolist():
                held = np.zeros((2, len(splits)), np.float32)
                for split_at, holds in nodes.answers[leaf]:
                    held[0 if holds else 1, split_at] = 1
                yes.append(held[0])
                no.append(held[1])
                counts.append(int(nodes.statistics.counts[leaf]))
        self._excludes = (failed @ np.array(yes).T + met @ np.array(no).T) > 0
        self._leaf_counts, self._starts = np.array(counts), np.array(starts)

    def truths(self, table: Table) -> Flags:
        """Return where predicates hold: predicates × rows."""
        columns, _ = align(self._model.schema, table)
        true, _ = Truths(self._model.schema, self.predicates).evaluate_all(columns)
        return np.array([unpack(each, table.n_rows) for each in true], np.bool_).reshape(
            len(self.predicates), table.n_rows
        )

    def find(self, table: Table, avoided: Collection[str]) -> list[Situation]:
        """Describe rows by few cases.

        Parameters
        ----------
        table
            The rows.
        avoided
            Variables that conditions should not be about: those that are wrong. If what is left does not
            tell the rows from many others, conditions may be about them too.

        """
        truths = self.truths(table)
        rows = np.arange(table.n_rows)
        usable = np.array([name not in avoided for name in self._about], np.bool_)
        found = self._divide(truths, rows, usable, DEPTH)
        if _total(found) <= COMMON:
            return found
        about_any = self._divide(truths, rows, np.ones_like(usable), DEPTH)
        return about_any if _total(about_any) <= _total(found) / 2 else found

    def _divide(
        self, truths: Flags, rows: NDArray[np.int64], usable: Flags, depth: int
    ) -> list[Situation]:
        """Describe rows by one case, or by several if that tells them from many more others."""
        whole = self._narrow(truths, rows, usable)
        if depth == 0 or whole.share <= COMMON:
            return [whole]
        shares = truths[:, rows].mean(axis=1)
        parting = np.flatnonzero(usable & (shares > 0) & (shares < 1))
        best, least = None, WORTH_ADDING * whole.share
        for i in parting[np.argsort(np.abs(shares[parting] - 0.5), kind="stable")][:TRIED].tolist():
            sides = [rows[truths[i, rows]], rows[~truths[i, rows]]]
            total = _total([self._narrow(truths, side, usable) for side in sides])
            if total < least:
                best, least = sides, total
        if best is None:
            return [whole]
        return [each for side in best for each in self._divide(truths, side, usable, depth - 1)]

    def _narrow(self, truths: Flags, rows: NDArray[np.int64], usable: Flags) -> Situation:
        """Collect conditions that hold in all rows, the one that tells most first."""
        shared = np.flatnonzero(usable & truths[:, rows].all(axis=1))
        chosen: list[int] = []
        alive = np.ones(len(self._leaf_counts), np.bool_)
        met = [np.ones(each.shape[1], np.bool_) for each in self._others]
        bound, share = self._n_rows, 1.0
        while len(chosen) < MOST and len(shared):
            left = (alive & ~self._excludes[shared]) * self._leaf_counts
            in_leaves = np.add.reduceat(left, self._starts, axis=1).min(axis=1)
            bounds = np.minimum(np.minimum(in_leaves, self._n_true[shared]), bound)
            shares = bounds / self._n_rows
            for truths_of, own in zip(self._others, met, strict=True):
                shares = shares + truths_of[np.ix_(shared, own)].sum(axis=1) / len(own)
            shares = shares / (1 + len(met))
            best = int(np.argmin(shares))
            if shares[best] > WORTH_ADDING * share:
                break
            i = int(shared[best])
            chosen.append(i)
            bound, share = int(bounds[best]), float(shares[best])
            alive &= ~self._excludes[i]
            for truths_of, own in zip(self._others, met, strict=True):
                own &= truths_of[i]
            shared = shared[self._about[shared] != self._about[i]]
        conditions = tuple(self.predicates[i] for i in sorted(chosen))
        return Situation(rows, conditions, bound, share)


def _total(situations: Sequence[Situation]) -> float:
    return sum(each.share for each in situations)


def _apart(one: Simple, other: Simple) -> bool:
    """Return whether two conditions about a variable exclude each other."""
    if isinstance(one, Interval) and isinstance(other, Interval):
        return one.high <= other.low or other.high <= one.low
    if isinstance(one, OneOf) and isinstance(other, OneOf):
        return not {*one.values} & {*other.values}
    return False
