"""Counts of predicates add up over parts of a table."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import oracle
from strategies import learned
from truism.learn.kinds import variable_columns
from truism.learn.rules import count_predicates
from truism.score.truths import Truths
from truism.table.frames import as_table


@given(learned(scoring="paper", min_rows=3, max_rows=150), st.data())
def test_the_counts_of_parts_add_up_to_those_of_the_whole(drawn, choose):
    _, model, data = drawn
    predicates = [each.predicate for each in model.rules.predicates]
    table = as_table(data)
    truths = Truths(model.schema, predicates)

    def counts(part):
        columns = variable_columns(model.schema, part)
        return count_predicates(*truths.evaluate_all(columns), part.n_rows)

    cuts = choose.draw(st.lists(st.integers(0, table.n_rows), max_size=4).map(sorted))
    bounds = [0, *cuts, table.n_rows]
    parts = [counts(table.take(slice(a, b))) for a, b in itertools.pairwise(bounds)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    whole = counts(table)
    assert total.n_rows == whole.n_rows == table.n_rows
    for name in ("n_true", "n_false", "n_episodes", "fails_first", "fails_last"):
        assert np.array_equal(getattr(total, name), getattr(whole, name))
    for cells, n_true in zip(oracle.evaluate(predicates, data), whole.n_true, strict=True):
        assert cells.count(True) == n_true
