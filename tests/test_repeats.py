"""Rows that repeat are found, and only those; their scores are the same."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import infer, learn
from strategies import learned
from truism.score.alignment import align
from truism.score.scorer import Scorer, find_repeats
from truism.table.frames import as_table

VALUES = st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf, None])
NORMAL = {
    "x": [(i * i % 61) / 4 for i in range(60)],
    "n": [0, 1, 2] * 20,
    "u": ["a", "b"] * 30,
}
SCHEMA = infer(as_table(NORMAL))
STATES = st.sampled_from(["a", "b", "c", None])


def found_in(data, most=1.0):
    table = as_table(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truism.score.scorer._MOST", most)
        patch.setattr("truism.score.scorer._MOST_FIRST", most)
        return find_repeats(SCHEMA, align(SCHEMA, table)[0])


@given(st.lists(st.tuples(VALUES, st.integers(0, 2), STATES), min_size=1, max_size=60))
def test_equal_rows_are_those_whose_values_all_are(rows):
    x, n, u = zip(*rows, strict=True)
    data = {"x": [math.nan if each is None else each for each in x], "n": list(n), "u": list(u)}
    found = found_in(data)
    # A state that was never seen is as good as another; zeros of either sign may count as two.
    told = [
        (repr(math.nan if a is None else a), b, "new" if c == "c" else repr(c)) for a, b, c in rows
    ]
    firsts = list(dict.fromkeys(told))
    assert sorted(found[0].tolist()) == [told.index(each) for each in firsts]
    assert [told[found[0][i]] for i in found[1].tolist()] == told


def test_where_few_rows_repeat_all_are_judged():
    others = {"n": [0] * 400, "u": ["a"] * 400}
    assert found_in({"x": [i / 8 for i in range(400)], **others}, most=0.75) is None
    assert found_in({"x": [i % 30 / 8 for i in range(400)], **others}, most=0.75) is not None
    late = [i / 8 if i < 300 else 1.0 for i in range(400)]
    assert found_in({"x": late[:200] + late[:200], **others}, most=0.75) is None  # seen too late


@examples(max_examples=30)
@given(learned(scoring="evidence", min_rows=30, max_rows=60, min_columns=2), st.integers(0, 99))
def test_rows_that_repeat_score_as_they_do_alone(drawn, seed):
    _, model, data = drawn
    n_rows = len(next(iter(data.values())))
    order = np.random.default_rng(seed).integers(n_rows, size=5 * n_rows).tolist()
    table = as_table({name: [column[i] for i in order] for name, column in data.items()})
    scorer = Scorer(model)
    alone = scorer.score(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truism.score.scorer._FEW_ROWS", 1)
        assert scorer.score(table).tobytes() == alone.tobytes()


def test_one_weighing_is_enough_for_equal_rows(monkeypatch):
    normal = {"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
    scorer, weighed = Scorer(learn(as_table(normal), ordered=False)), []
    weigh = scorer.weigher.weigh

    def counting(columns, *others, **more):
        weighed.append(len(columns[0].values))
        return weigh(columns, *others, **more)

    monkeypatch.setattr(scorer.weigher, "weigh", counting)
    scores = scorer.score(as_table({"pump": ["on", "on"] * 500, "flow": [2.5, 0.0] * 500}))
    assert weighed == [2]
    assert len(set(scores.tolist())) == 2
