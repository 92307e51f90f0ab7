"""Scores alone are those of all the evidence, to the bit, whatever is left in memory."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from strategies import learned
from truism.arrays import Scratch
from truism.model.evidence import Grave
from truism.score import evidence
from truism.score.alignment import align
from truism.score.evidence import ROWS_AT_ONCE, add_parts
from truism.score.scorer import Scorer
from truism.score.weighed import sum_of_rows
from truism.table.frames import as_table

models = learned(scoring="evidence", min_rows=12, max_rows=60, min_columns=2)


def mixed(table, share, seed):
    """Return a table in which some rows have every other value from another row."""
    random, rows = np.random.default_rng(seed), np.arange(table.n_rows)
    others = np.where(random.random(len(rows)) < share, random.permutation(rows), rows)
    columns = [
        column.take(others) if place % 2 else column for place, column in enumerate(table.columns)
    ]
    return type(table)(tuple(columns), table.n_rows)


@examples(max_examples=40)
@given(models, st.sampled_from([0.0, 0.1, 1.0]), st.integers(0, 99), st.booleans(), st.booleans())
def test_scores_alone_are_the_sums_of_all_evidence(drawn, share, seed, grave, muted):
    _, model, data = drawn
    if grave:
        evidence = msgspec.structs.replace(model.evidence, grave=Grave(0.01, 5.0))
        model = msgspec.structs.replace(model, evidence=evidence)
    weighs = Scorer(model, model.schema.names[:1] if muted else ())._weigher
    columns, _ = align(model.schema, mixed(as_table(data), share, seed))
    memory = Scratch()
    for many in (0.0, 0.25, 1.0):
        for rows in (slice(None), slice(3, 9), slice(0, 1), slice(2, None)):
            some = [each.take(rows) for each in columns]
            pieces, silenced = weighs.weigh(some, compiled=False)
            wanted = sum_of_rows(add_parts(pieces.contradictions, pieces.rarities, compiled=False))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("truism.score.evidence._MANY", many)
                assert weighs.score(some, memory).tobytes() == wanted.tobytes()
            assert silenced is None


@given(st.integers(0, 10**8), st.integers(0, 5_000), st.integers(1, 64))
def test_blocks_are_large_where_that_leaves_several_for_each_thread(n_rows, n_variables, n_jobs):
    found = evidence.rows_at_once(n_rows, n_variables, n_jobs)
    assert found % 64 == 0
    assert found >= ROWS_AT_ONCE
    if found > ROWS_AT_ONCE:
        assert found * n_variables <= 1 << 21
        assert n_rows // found >= 8 * n_jobs


def test_large_blocks_score_the_same():
    normal = as_table({"x": [(i * i % 61) / 4 for i in range(300)], "u": ["a", "b", "b"] * 100})
    scorer = Scorer(learn(normal, ordered=False))
    random = np.random.default_rng(0)
    table = as_table({"x": random.normal(7, 4, 300_000), "u": random.choice(["a", "b"], 300_000)})
    assert evidence.rows_at_once(table.n_rows, 2, 2) > ROWS_AT_ONCE
    rows = random.integers(table.n_rows, size=400)
    scores = scorer.score(table, n_jobs=2)
    assert scores[rows].tobytes() == scorer.score(table.take(rows)).tobytes()
    assert scores.tobytes() == scorer.score(table).tobytes()
