"""Tallies: sums over leaves against the rows of each leaf, and without each block of rows."""

import functools
import itertools
import operator

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from test_context_trees import grown, rich_tables
from truism.learn import contexts
from truism.learn.contexts import sum_leaves
from truism.model.evidence import LEAF, MAX_CLASSES
from truism.score.alignment import Reader
from truism.score.contexts import SHRINKAGE, statistics_of


def as_lists(statistics):
    """Statistics as something that can be compared."""
    plain = (statistics.counts, statistics.means, statistics.spreads, statistics.state_counts)
    places = (statistics.numbers, statistics.states, statistics.widths)
    return places, [each.tolist() for each in plain]


def tallied(data, n_blocks=3):
    schema, columns, _, trees, leaves = grown(data)
    reader = Reader(schema)
    n_rows = len(columns[0].values)
    blocks = np.arange(n_rows) * n_blocks // n_rows
    return reader, columns, leaves, blocks, trees


@examples(max_examples=25)
@given(rich_tables)
def test_the_statistics_of_a_leaf_are_those_of_its_rows(data):
    reader, columns, leaves, _, trees = tallied(data)
    readings = reader.read(columns)
    rows = oracle.rows_of(data)
    variables = reader.schema.variables
    for own_tally, tree, leaf_of in zip(
        sum_leaves(trees, leaves, readings, reader, 2) if trees else [],
        trees,
        leaves.tolist(),
        strict=True,
    ):
        context = own_tally.context()
        assert context.tree == tree.nodes
        assert {*context.numbers, *context.states} == set(tree.judged)
        for leaf in range(tree.nodes.count(LEAF)):
            own = [row for row, at in zip(rows, leaf_of, strict=True) if at == leaf]
            assert context.counts[leaf] == len(own)
            for at, i in enumerate(context.numbers):
                values = [row[variables[i].name] for row in own]
                standard = [
                    round(oracle.standardise(v, variables[i], 50.0) * contexts.SCALE)
                    / contexts.SCALE
                    for v in values
                    if v is not None
                ]
                mean = float(np.mean(standard)) if standard else 0.0
                spread = float(np.std(standard)) if standard else 0.0
                if len(standard) < len(
                    own
                ):  # where the value is missing, as much is usual as anywhere
                    known, every = len(standard) + SHRINKAGE, len(own) + SHRINKAGE
                    shrunk = (spread**2 * len(standard) + SHRINKAGE) / known
                    guessed = (shrunk * every - SHRINKAGE) / len(own)
                    spread = float(np.sqrt(max(guessed, 0.0)))
                assert context.means[leaf][at] == pytest.approx(mean, abs=2 / contexts.SCALE)
                assert context.spreads[leaf][at] == pytest.approx(spread, abs=2 / contexts.SCALE)
            for at, i in enumerate(context.states):
                ranks = oracle.classes(variables[i].counts, MAX_CLASSES)
                rank_of = dict(zip(map(repr, variables[i].values), ranks, strict=True))
                met = [
                    rank_of[repr(_known(row, variables[i]))]
                    for row in own
                    if _present(row, variables[i])
                ]
                counts = [met.count(rank) for rank in range(max(ranks) + 1)]
                assert list(context.state_counts[leaf][at]) == counts


def _present(row, variable):
    return row[variable.name] is not None


def _known(row, variable):
    return next(state for state in variable.values if state == row[variable.name])


@examples(max_examples=25)
@given(rich_tables, st.integers(2, 5))
def test_without_a_block_the_statistics_are_those_of_the_other_rows(data, n_blocks):
    reader, columns, leaves, blocks, trees = tallied(data, n_blocks)
    readings = reader.read(columns)
    if not trees:
        return
    divisions = blocks, np.arange(len(blocks)) % n_blocks
    both = sum_leaves(trees, leaves, readings, reader, 1, divisions, n_blocks)
    whole = sum_leaves(trees, leaves, readings, reader, 1)
    assert [each.whole().context() for each in both] == [each.context() for each in whole]
    for block, axis in itertools.product(range(n_blocks), (0, 1)):
        kept = divisions[axis] != block
        others = reader.read([column.take(kept) for column in columns])
        part = sum_leaves(trees, leaves[:, kept], others, reader, 1)
        for all_rows, some in zip(both, part, strict=True):
            found = all_rows.without(block, axis).statistics()
            assert as_lists(found) == as_lists(some.statistics())
            assert as_lists(statistics_of(some.context())) == as_lists(some.statistics())


@examples(max_examples=25)
@given(rich_tables, st.integers(1, 4), st.integers(1, 4), st.randoms(use_true_random=False))
def test_sums_of_parts_of_the_rows_add_up_to_those_of_all(data, n_blocks, n_parts, random):
    reader, columns, leaves, blocks, trees = tallied(data, n_blocks)
    if not trees:
        return
    n_rows = len(blocks)
    part_of = np.array([random.randrange(n_parts) for _ in range(n_rows)])

    def sums(rows):
        readings = reader.read([column.take(rows) for column in columns])
        divisions = (blocks[rows], n_blocks - 1 - blocks[rows])
        return sum_leaves(trees, leaves[:, rows], readings, reader, 1, divisions, n_blocks)

    whole = sums(np.arange(n_rows))
    parts = [sums(np.flatnonzero(part_of == part)) for part in range(n_parts)]
    merged = [functools.reduce(operator.add, each) for each in zip(*parts, strict=True)]
    for own, wanted in zip(merged, whole, strict=True):
        assert all(map(np.array_equal, own.sums, wanted.sums))
        assert own.whole().context() == wanted.whole().context()


def test_parts_may_have_more_rows_than_32_bits_count():
    data = {"u": ["a", "b"] * 60, "v": ["c", "d"] * 60, "x": [i % 7 for i in range(120)]}
    reader, columns, leaves, _, trees = tallied(data)
    own, *_ = sum_leaves(trees, leaves, reader.read(columns), reader, 2)
    *others, counts = own.sums
    large = msgspec.structs.replace(own, sums=(*others, counts * 0 + (2**31 - 1)))
    assert set((large + large).sums[-1].ravel().tolist()) == {2**32 - 2}
