"""Rules held against rows that they were not learned from: blocks of rows go in, worths come out.

Rows form blocks, and each block is judged by the rules that the others support. Instead of mining once
without each block, all rules are searched at once that a single block breaks (`mining.mine_broken`).
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from truism.bits import count, count_runs, n_words
from truism.columns import Column
from truism.evidence import expected_exceptions, rule_worth
from truism.mining import Budget, mine_broken, minimum_counts, variable_numbers
from truism.model import Settings, exact
from truism.predicates import Predicate, variables
from truism.schema import Schema
from truism.truths import Truths


def broken_worths(
    schema: Schema,
    columns: Sequence[Column],
    predicates: Sequence[Predicate],
    settings: Settings,
    min_support: Fraction,
    blocks: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_jobs: int,
) -> NDArray[np.float64]:
    """Give the worth of the strongest rule about each variable that rows break.

    A rule that holds in all other blocks counts if it has more than ``min_support`` of their rows, and
    more than the settings' ratio of those of its rarest predicate, for the block that asks least.

    Parameters
    ----------
    schema, columns
        The variables and the training rows.
    predicates
        What rules are made of.
    settings, min_support
        How to mine.
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

    worths = np.zeros((len(rows), len(schema.variables)))
    members = [np.flatnonzero(blocks == block) for block in np.unique(blocks)]
    if len(members) < 2 or not predicates:
        return worths
    ends = np.cumsum([n_words(len(own)) for own in members])
    words = [slice(end - n_words(len(own)), end) for own, end in zip(members, ends, strict=True)]
    truths = Truths(schema, predicates)
    true, false = np.empty((2, len(predicates), ends[-1]), np.uint64)
    for own, part in zip(members, words, strict=True):
        rows_of_block = [each.take(own) for each in columns]
        true[:, part], false[:, part] = truths.evaluate_all(rows_of_block)
    n_true, n_false, n_episodes = (
        _without_each([counted(of[:, part]) for part in words])
        for counted, of in ((count, true), (count, false), (count_runs, false))
    )
    n_others = _without_each([np.array(len(own)) for own in members])
    least = minimum_counts(
        n_true.min(axis=0).tolist(), int(n_others.min()), min_support, exact(settings.ratio)
    )
    place_of = np.full(len(blocks), -1)
    place_of[rows] = np.arange(len(rows))
    place_at = np.full(64 * int(ends[-1]), -1)
    for own, part in zip(members, words, strict=True):
        place_at[64 * part.start : 64 * part.start + len(own)] = place_of[own]
    found = mine_broken(
        true,
        false,
        ends,
        variable_numbers(predicates),
        least,
        max_predicates=settings.longest,
        budget=Budget(settings.max_nodes, settings.max_rules, settings.max_seconds),
        n_jobs=n_jobs,
    )
    owner_of = {name: i for i, name in enumerate(schema.names)}
    owners = [[owner_of[name] for name in variables(each)] for each in predicates]
    starts = np.cumsum([0, *map(len, owners)])
    for level in found:
        p, counted, block = level[:, 0], level[:, 1], level[:, 2]
        expected = expected_exceptions(
            counted, n_others[block], n_false[block, p], n_episodes[block, p]
        )
        worth = rule_worth(expected) / np.diff(starts)[p]
        _mining_kernels.note_broken(
            level, worth, true, false, ends, place_at, starts, np.concatenate(owners), worths
        )
    return worths


def _without_each(of_blocks: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Sum over all blocks but one, for each block."""
    stacked = np.stack(of_blocks)
    found: NDArray[np.int64] = stacked.sum(axis=0) - stacked
    return found
