"""Whether rows are a series, and how far back they look."""

import datetime
import re

import numpy as np
import pytest

from truism.errors import ParameterError
from truism.learn.kinds import infer_schema
from truism.learn.learn import learn as train
from truism.learn.series import LOOKBACK, find_series, rows_to_look_back
from truism.model.series import Series
from truism.model.settings import Settings
from truism.table.frames import as_table
from truism.table.timelines import irregularity

BEGIN = datetime.datetime(2024, 1, 1)


def table_of(seconds, **more):
    times = [BEGIN + datetime.timedelta(seconds=float(each)) for each in seconds]
    return as_table({"t": times, "x": [0.5 * (i % 7) for i in range(len(times))], **more})


def series_of(table, delta=False, **settings):
    chosen = Settings(**settings)
    return find_series(table, infer_schema(table, chosen), chosen, delta=delta)


def test_regular_times_are_a_series():
    assert series_of(table_of(range(0, 1000, 10))) == Series(10.0)


def test_a_few_other_steps_do_not_matter_and_many_do():
    steps = np.full(100, 10)
    steps[:10] = 20
    assert series_of(table_of(np.cumsum(steps))) == Series(10.0)
    steps[:30] = 20
    assert series_of(table_of(np.cumsum(steps))) is None


def test_a_series_may_have_many_gaps():
    random = np.random.default_rng(0)
    there = np.flatnonzero(random.random(1000) > 0.18)
    assert series_of(table_of(there)) == Series(1.0)
    assert series_of(table_of(np.flatnonzero(random.random(1000) > 0.5))) is None


def test_why_rows_are_judged_one_by_one_is_said():
    def said(table):
        model = train(table, Settings(min_support=0.1))
        return [each.text for each in model.provenance.notices if each.code == "no_series"]

    random = np.random.default_rng(0)
    shuffled = table_of(random.permutation(300) * 10)
    assert re.search(r"one by one, not as a series: \d\d % of the times go back", *said(shuffled))
    assert said(table_of(range(0, 3000, 10))) == []
    level = np.sin(np.arange(300) / 20) + 0.01 * random.normal(size=300)
    assert "no column says when, although neighbours" in said(as_table({"x": level}))[0]
    assert said(as_table({"x": random.normal(size=300)})) == []


def test_one_step_in_a_hundred_may_go_back():
    steps = np.full(400, 10)
    steps[[50, 150, 250]] = -10, 0, -10
    assert series_of(table_of(np.cumsum(steps))) == Series(10.0)
    steps[[300, 350]] = -10
    assert series_of(table_of(np.cumsum(steps))) is None


def test_steps_that_tremble_are_the_same_step():
    random = np.random.default_rng(0)
    assert (
        irregularity(np.round(1e6 * (1 + 0.05 * random.uniform(-1, 1, 500))).astype(np.int64))
        is None
    )


def test_rows_without_times_are_exchangeable_unless_said_otherwise():
    table = as_table({"x": [0.1 * i for i in range(50)]})
    assert series_of(table) is None
    assert series_of(table, ordered=True) == Series(None)
    assert series_of(table, delta=True) == Series(None)


def test_irregular_times_are_a_series_if_it_is_said():
    steps = np.random.default_rng(0).integers(1, 100, 200)
    assert series_of(table_of(np.cumsum(steps))) is None
    found = series_of(table_of(np.cumsum(steps)), ordered=True)
    assert found == Series(float(np.median(steps[1:])))


def test_several_series_in_one_table_have_times_of_their_own():
    seconds = [10 * (i // 2) for i in range(200)]
    table = table_of(seconds, machine=["a", "b"] * 100)
    assert series_of(table) is None
    assert series_of(table, by="machine") == Series(10.0, "machine")


def test_one_row_and_equal_times_are_no_series():
    assert irregularity(np.array([], np.int64))
    assert irregularity(np.zeros(50, np.int64))


@pytest.mark.parametrize(
    ("said", "rows"), [("auto", LOOKBACK), (0, 0), (7, 7), ("10min", 60), ("1 s", 1)]
)
def test_how_far_to_look_back(said, rows):
    assert rows_to_look_back(Settings(lookback=said), Series(10.0)) == rows


def test_a_duration_needs_times():
    with pytest.raises(ParameterError) as caught:
        rows_to_look_back(Settings(lookback="10min"), Series(None))
    assert str(caught.value) == (
        "lookback must be a number of rows, because the table has no times, got '10min'."
    )


@pytest.mark.parametrize("said", [-1, 1.5, True])
def test_a_lookback_that_is_no_number_of_rows_is_refused(said):
    with pytest.raises(ParameterError, match="lookback must be"):
        Settings(lookback=said)


def test_a_lookback_that_is_no_duration_is_refused():
    with pytest.raises(ParameterError):
        rows_to_look_back(Settings(lookback="soon"), Series(10.0))


def exchangeable(n_rows=60):
    return as_table({"x": [float(i % 7) for i in range(n_rows)], "y": ["a", "b"] * (n_rows // 2)})


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"lookback": 7}, "lookback must be absent unless rows are a series, got 7."),
        ({"max_false_incidents": "1/day"}, "max_false_incidents must be absent unless rows are"),
        (
            {"scoring": "paper", "ordered": True, "max_false_incidents": "1/day"},
            "max_false_incidents must be absent unless scoring is 'evidence', which has a past",
        ),
        (
            {"scoring": "paper", "ordered": True, "lookback": 5},
            "lookback must be absent unless scoring is 'evidence', which has a past, got 5.",
        ),
        ({"by": "nix"}, "by must name a column of the table, got 'nix'."),
    ],
)
def test_what_would_be_ignored_is_refused(asked, message):
    with pytest.raises(ParameterError) as caught:
        train(exchangeable(), Settings(min_support=0.1, **asked))
    assert str(caught.value).startswith(message)


def test_what_cannot_tell_series_apart_is_refused():
    times = np.datetime64("2026-01-01", "us") + 1_000_000 * np.arange(60)
    rows = {"at": times, "p": np.arange(60) / 7, "y": ["a", "b"] * 30}
    for by, message in (
        ("at", "by must not be the column of times, got 'at'."),
        ("p", "by must name a column that identifies series, whose values repeat from row to row"),
    ):
        with pytest.raises(ParameterError) as caught:
            infer_schema(as_table(rows), Settings(by=by))
        assert str(caught.value).startswith(message)
    assert infer_schema(as_table(rows), Settings(by="y")).time == "at"
