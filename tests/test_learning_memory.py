"""What a memory is made of: units that held-out rows show, and the period of rows that take turns."""

import numpy as np
import pytest

from learned import infer, learn
from test_following import series
from truism.errors import ParameterError
from truism.explain.checker import Checker
from truism.learn.kinds import variable_columns
from truism.learn.series import MAX_ROWS, find_period, rows_in_order
from truism.model.files import decode_model, encode_model
from truism.model.provenance import ByHand, RateOfIncidents, ShareOfRows
from truism.table.frames import as_table


def period_of(data):
    table = as_table(data)
    schema = infer(table)
    return find_period(schema, variable_columns(schema, table))


def test_rows_that_take_turns_have_a_period():
    random = np.random.default_rng(0)
    kind = np.arange(900) % 3
    data = {
        "x": kind * 10 + random.normal(0, 1, 900),
        "command": np.array(["read", "write", "answer"])[kind],
    }
    assert period_of(data) == 3


def test_rows_that_do_not_take_turns_have_none():
    assert period_of(series(500)) == 1
    random = np.random.default_rng(0)
    assert period_of({"x": random.normal(0, 1, 500)}) == 1
    assert period_of({"x": [1.5, 2.5]}) == 1


def test_of_very_many_rows_a_run_from_each_fifth_is_weighed():
    assert np.array_equal(rows_in_order(MAX_ROWS), np.arange(MAX_ROWS))
    rows = rows_in_order(1_000_000)
    assert len(rows) == MAX_ROWS
    assert (np.diff(rows) > 0).all()
    assert (np.diff(rows) > 1).sum() == 4
    assert 90_000 < rows[0] < 100_000
    assert 900_000 < rows[-1] < 910_000


@pytest.fixture(scope="module")
def model():
    return learn(as_table(series(1500)), min_support=0.05, ordered=True)


def test_a_model_of_a_series_survives_its_file(model):
    assert model.memory is not None
    assert decode_model(encode_model(model)) == model


def test_threads_and_repetition_change_nothing(model):
    again = learn(as_table(series(1500)), min_support=0.05, ordered=True, n_jobs=2)
    assert encode_model(again) == encode_model(model)


def test_the_promise_of_the_threshold_is_kept(model):
    checker = Checker(model)
    assert isinstance(model.limit.origin, RateOfIncidents)
    found = checker.find(as_table(series(8000, 7)))
    assert found.expected == pytest.approx(8.0, rel=0.2)
    assert len(found.incidents) + len(found.shifts) <= 24


def test_exchangeable_rows_keep_their_threshold():
    plain = learn(as_table(series(500)), min_support=0.05)
    assert plain.series is None
    assert isinstance(plain.limit.origin, ShareOfRows)


def test_a_rate_for_rows_that_are_no_series_is_refused():
    with pytest.raises(ParameterError) as caught:
        learn(as_table(series(200)), min_support=0.1, max_false_incidents="1/1000rows")
    assert "max_false_incidents must be absent unless rows are a series" in str(caught.value)


def test_the_papers_scoring_has_no_past():
    model = learn(as_table(series(300)), min_support=0.1, scoring="paper", ordered=True)
    assert model.memory is None
    assert model.threshold == 0.0


def test_calibrating_a_series_counts_incidents(model):
    checker = Checker(model)
    normal = as_table(series(3000, 9))
    rarely = checker.calibrate(normal, None, "0.2/1000rows")
    often = checker.calibrate(normal, None, "3/1000rows")
    assert rarely.threshold > often.threshold
    assert rarely.memory.tail.n_rows == 3000
    found = Checker(often).find(normal)
    assert found.expected == pytest.approx(9.0, rel=0.1)
    assert 2 <= len(found.incidents) + len(found.shifts) <= 20
    by_rows = checker.calibrate(normal, 0.01)
    assert (Checker(by_rows).find(normal).excess > by_rows.threshold).mean() <= 0.015


def test_a_threshold_by_hand_comes_first():
    table = as_table(series(400))
    model = learn(table, min_support=0.1, ordered=True).with_threshold(3.0)
    assert (model.threshold, model.limit.origin) == (3.0, ByHand())
