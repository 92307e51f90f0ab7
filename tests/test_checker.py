"""Findings, thresholds and gaps; records and pages made of models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism.errors import ParameterError
from truism.explaining.checker import Checker, find_coarser
from truism.export.markdown import to_markdown
from truism.export.records import rule_records
from truism.learning.training import train
from truism.model.settings import Settings
from truism.report.models import summarise
from truism.scoring.thresholds import calibrate
from truism.table.frames import as_table


@given(
    scores=st.lists(st.floats(0, 1e6), min_size=1, max_size=60),
    rate=st.sampled_from([0.0, 0.01, 0.05, 0.29, 0.5, 0.99]),
)
def test_at_most_the_allowed_part_of_calibration_rows_exceeds_the_threshold(scores, rate):
    chosen = calibrate(np.array(scores), rate)
    assert chosen.origin.n_above == sum(score > chosen.value for score in scores)
    assert chosen.origin.n_above <= rate * len(scores) + 1e-9
    assert chosen.value <= 1.01 * max(scores)


def test_a_rate_must_be_a_part():
    for rate in (-0.1, 1.0, float("nan")):
        with pytest.raises(ParameterError) as caught:
            calibrate(np.zeros(3), rate)
        assert str(caught.value) == (
            f"max_false_positive_rate must be at least 0 and below 1, got {rate!r}."
        )


def rounded(table, decimals):
    return as_table({name: np.round(values, decimals) for name, values in table.items()})


def test_rows_that_are_rounded_more_than_in_training_are_told():
    random = np.random.default_rng(0)
    fine = {
        "narrow": 2.97 + random.normal(0, 0.004, 600),
        "wide": random.normal(0, 50, 600),
        "whole": random.integers(0, 90, 600).astype(float),
    }
    model = train(as_table(fine), Settings(min_support=0.1))
    assert find_coarser(model, as_table(fine)) == ()
    # Of the wide one nothing that matters is lost.
    assert find_coarser(model, rounded(fine, 2)) == ("narrow",)
    checker, table = Checker(model), rounded(fine, 2)
    found = checker.find(table, checker.score(table))
    assert found.doubts[0] == (
        "Fewer decimals than in training: 'narrow'. Rows may be reported because of rounding "
        "alone; learn from rows with the same rounding."
    )


def test_few_rows_or_values_do_not_tell_rounding():
    fine = {"x": 2.97 + np.random.default_rng(0).normal(0, 0.004, 600)}
    model = train(as_table(fine), Settings(min_support=0.1))
    assert find_coarser(model, as_table({"x": np.round(fine["x"][:50], 2)})) == ()
    assert find_coarser(model, as_table({"x": [3.0] * 500})) == ()


HOSTILE = "a|b*<i>[x](y)`_"


@pytest.fixture(scope="module")
def model():
    table = as_table(
        {HOSTILE: ["on", "off"] * 50, "flow": [2.5, 0.0] * 50, "id": [f"n{i}" for i in range(100)]}
    )
    model = train(table, Settings(min_support=0.1), created="2024-01-01T00:00:00+00:00")
    return model.disable(model.rules[-1].id, "a | b", "2024-02-03")


def test_the_summary_holds_what_a_person_asks(model):
    summary = summarise(model)
    assert (summary.n_rows, summary.n_columns) == (100, 3)
    assert summary.categorical == (HOSTILE, "flow")
    assert summary.left_out[0].name == "id"
    assert summary.why == "set by hand"
    assert summary.notices == (
        "Learned as states, because they have few different values: 'flow'. If one is a "
        "quantity, declare it continuous.",
    )
    assert summary.n_rules == len(model.rules)
    assert all(rule.antecedent for rule in summary.best)


def test_records_know_what_is_switched_off(model):
    records = rule_records(model)
    assert [record.id for record in records] == [rule.id for rule in model.rules]
    assert [record.disabled.reason for record in records if record.disabled] == ["a | b"]


def test_markdown_shows_names_as_they_are(model):
    page = to_markdown(model)
    assert r"### a\|b\*\<i\>\[x\](y)\`\_" in page
    assert r"a \| b" in page
    assert all(line.count(" | ") >= 2 for line in page.splitlines() if line.startswith("| "))
