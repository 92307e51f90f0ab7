"""Rules held against rows that they were not learned from: blocks of rows go in, worths come out.

Rows form blocks, and each block is judged by the rules that the others support. Instead of mining once
without each block, all rules are searched at once that a single block breaks (`mining.mine_broken`).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.bits import count, n_words
from truism.columns import Column
from truism.evidence import expected_exceptions, rule_worth
from truism.mining import Budget, mine_broken, minimum_counts, variable_numbers
from truism.model import Model, exact
from truism.predicates import variables
from truism.truths import Truths

Counts = NDArray[np.int64]


def broken_worths(
    model: Model, columns: Sequence[Column], blocks: Counts, rows: Counts, n_jobs: int
) -> NDArray[np.float64]:
    """Give the worth of the strongest rule about each variable that rows break.

    A rule that holds in all other blocks counts if it has more than ``min_support`` of their rows, and
    more than the settings' ratio of those of its rarest predicate, for the block that asks least. It is
    no longer than the model's rules, as far as these are complete.

    Parameters
    ----------
    model
        What was learned from all rows: predicates and how to mine.
    columns
        The training rows.
    blocks
        The number of each row's block.
    rows
        Which rows to judge.
    n_jobs
        Threads to use; the result does not depend on it.

    Returns
    -------
    array
        Rows × variables, 0 where no rule is broken.

    """
    from truism import _mining_kernels  # compiled code is loaded only for learning

    worths = np.zeros((len(rows), len(model.schema.variables)))
    members = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    predicates = [each.predicate for each in model.rules.predicates]
    longest = model.provenance.complete_to
    if len(members) < 2 or not predicates or not longest:
        return worths
    ends = np.cumsum([n_words(len(own)) for own in members])
    words = [slice(end - n_words(len(own)), end) for own, end in zip(members, ends, strict=True)]
    truths = Truths(model.schema, predicates)
    true, false = np.empty((2, len(predicates), ends[-1]), np.uint64)
    for own, part in zip(members, words, strict=True):
        true[:, part], false[:, part] = truths.evaluate_all([each.take(own) for each in columns])
    n_true, n_false = (
        _sums_of_others([count(of[:, part]) for part in words]) for of in (true, false)
    )
    settings, n_others = model.settings, _sums_of_others([np.array(len(own)) for own in members])
    least = minimum_counts(
        n_true.min(axis=0).tolist(),
        int(n_others.min()),
        exact(model.provenance.min_support),
        exact(settings.ratio),
    )
    found = mine_broken(
        true,
        false,
        ends,
        variable_numbers(predicates),
        least,
        max_predicates=longest + 1,
        # As much as mining once for each block would be allowed.
        budget=Budget(
            settings.max_nodes * len(members),
            settings.max_rules * len(members),
            settings.max_seconds,
        ),
        n_jobs=n_jobs,
    )
    place_of = np.full(len(blocks), -1)
    place_of[rows] = np.arange(len(rows))
    place_at = np.full(64 * int(ends[-1]), -1)
    for own, part in zip(members, words, strict=True):
        place_at[64 * part.start : 64 * part.start + len(own)] = place_of[own]
    owner_of = {name: i for i, name in enumerate(model.schema.names)}
    owners = [[owner_of[name] for name in variables(each)] for each in predicates]
    starts = np.cumsum([0, *map(len, owners)])
    # Of the rows that fail a predicate without the block, as many follow each other as of all.
    all_false = np.array([each.n_false for each in model.rules.predicates])
    all_episodes = np.array([each.n_episodes for each in model.rules.predicates])
    n_episodes = n_false * (all_episodes / np.maximum(all_false, 1))
    n_known = n_true + n_false
    for level in found:
        p, counted, block = level[:, 0], level[:, 1], level[:, 2]
        expected = expected_exceptions(
            counted, n_known[block, p], n_false[block, p], n_episodes[block, p]
        )
        worth = rule_worth(expected) / np.diff(starts)[p]
        _mining_kernels.note_broken(
            level, worth, true, false, ends, place_at, starts, np.concatenate(owners), worths
        )
    return worths


def _sums_of_others(of_blocks: Sequence[Counts]) -> Counts:
    """Sum over all blocks but one, for each block."""
    stacked = np.stack(of_blocks)
    found: Counts = stacked.sum(axis=0) - stacked
    return found
