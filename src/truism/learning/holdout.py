"""Rules checked against rows that they were not learned from: blocks of rows go in, worths come out.

Rows form blocks, and each block is judged by the rules that the other blocks support. Instead of mining
once without each block, one search finds all rules that only a single block breaks
(`mining.mine_broken`).
"""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.arrays import Counts
from truism.learning.leaf_sums import sums_of_others
from truism.learning.mining import (
    Budget,
    mine_broken,
    minimum_counts,
    variable_numbers,
)
from truism.learning.rules import MinedRules
from truism.model.predicates import variables
from truism.model.schema import Schema
from truism.model.settings import Settings, exact
from truism.scoring.bits import count, n_words
from truism.scoring.truths import Truths
from truism.scoring.worth import expected_exceptions, rule_worth
from truism.table.columns import Column


def broken_worths(
    schema: Schema,
    columns: Sequence[Column],
    mined: MinedRules,
    settings: Settings,
    blocks: Counts,
    rows: Counts,
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the worth of the strongest rule about each variable that rows break.

    A rule that holds in all other blocks counts if it holds in more than ``min_support`` of their rows,
    and in more than the settings' ratio of those of its rarest predicate, for the block that demands
    least. Rules are no longer than the length up to which the model's are complete.

    Parameters
    ----------
    schema, columns
        The variables and the training rows.
    mined
        The rules mined from all rows.
    settings
        How to mine.
    blocks
        The block number of each row.
    rows
        The rows to judge.
    n_jobs
        Number of threads; the result does not depend on it.

    Returns
    -------
    array
        Rows × variables, 0 where no rule is broken.

    """
    worths = np.zeros((len(rows), len(schema.variables)))
    members = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    longest = mined.complete_to
    if len(members) < 2 or not mined.rules.predicates or not longest:
        return worths
    laid = _BlockTruths(schema, mined, columns, members)
    found = mine_broken(
        laid.true,
        laid.false,
        laid.ends,
        variable_numbers(laid.predicates),
        _least(mined, settings, laid),
        max_predicates=longest + 1,
        # The budget of mining once for each block.
        budget=Budget(
            settings.max_nodes * len(members),
            settings.max_rules * len(members),
            settings.max_seconds,
        ),
        n_jobs=n_jobs,
    )
    marks = _Marks(schema, laid, rows, worths)
    for level in found:
        marks.note(level, _worth(mined, laid, level))
    return worths


class _Marks:
    """Where the worth of broken rules is noted: rows to judge × variables."""

    def __init__(
        self, schema: Schema, laid: "_BlockTruths", rows: Counts, worths: NDArray[np.float64]
    ) -> None:
        owner_of = {name: i for i, name in enumerate(schema.names)}
        owners = [[owner_of[name] for name in variables(each)] for each in laid.predicates]
        self.laid, self.worths, self.place_at = laid, worths, laid.place_at(rows)
        self.starts, self.owners = np.cumsum([0, *map(len, owners)]), np.concatenate(owners)

    def note(self, found: Counts, worth: NDArray[np.float64]) -> None:
        """Raise the worth of what rows break, given rules as rows of (consequent, count, block, …)."""
        from truism.learning.kernels import mining as kernels  # only learning loads compiled code

        laid = self.laid
        kernels.note_broken(
            found,
            worth / np.diff(self.starts)[found[:, 0]],
            laid.true,
            laid.false,
            laid.ends,
            self.place_at,
            self.starts,
            self.owners,
            self.worths,
        )


class _BlockTruths:
    """Truth vectors of a model's predicates, in which every block of rows has words of its own.

    `ends` are the words before which blocks end. `n_others`, `n_true` and `n_false` count, for all
    blocks but one, the rows, and the rows in which each predicate holds and fails.
    """

    def __init__(
        self,
        schema: Schema,
        mined: MinedRules,
        columns: Sequence[Column],
        members: Sequence[Counts],
    ) -> None:
        self.predicates = [each.predicate for each in mined.rules.predicates]
        self._members = members
        self.ends = np.cumsum([n_words(len(own)) for own in members])
        self._words = [slice(*ends) for ends in itertools.pairwise([0, *self.ends.tolist()])]
        truths = Truths(schema, self.predicates)
        self.true, self.false = np.empty((2, len(self.predicates), self.ends[-1]), np.uint64)
        for own, part in zip(members, self._words, strict=True):
            both = truths.evaluate_all([each.take(own) for each in columns])
            self.true[:, part], self.false[:, part] = both
        self.n_others = sums_of_others(np.array([len(own) for own in members]))
        self.n_true, self.n_false = (
            sums_of_others(np.stack([count(of[:, part]) for part in self._words]))
            for of in (self.true, self.false)
        )

    def place_at(self, rows: Counts) -> Counts:
        """Return for each bit of the words which of some rows it stands for; -1 for none."""
        place_of = np.full(sum(map(len, self._members)), -1)
        place_of[rows] = np.arange(len(rows))
        found = np.full(64 * int(self.ends[-1]), -1)
        for own, part in zip(self._members, self._words, strict=True):
            found[64 * part.start : 64 * part.start + len(own)] = place_of[own]
        return found


def _least(mined: MinedRules, settings: Settings, laid: _BlockTruths) -> Counts:
    """Return the least count of a rule with each predicate, for the block that demands least."""
    return minimum_counts(
        laid.n_true.min(axis=0).tolist(),
        int(laid.n_others.min()),
        mined.min_support,
        exact(settings.ratio),
    )


def _worth(mined: MinedRules, laid: _BlockTruths, found: Counts) -> NDArray[np.float64]:
    """Return the worth of found rules, given as rows of (consequent, count, block, …)."""
    p, counted, block = found[:, 0], found[:, 1], found[:, 2]
    n_true, n_false = laid.n_true[block, p], laid.n_false[block, p]
    # Without the block, failing rows form episodes at the same rate as in all rows.
    of_all = np.array([(each.n_false, each.n_episodes) for each in mined.rules.predicates])[p]
    n_episodes = n_false * (of_all[:, 1] / of_all[:, 0])
    return rule_worth(expected_exceptions(counted, n_true + n_false, n_false, n_episodes))
