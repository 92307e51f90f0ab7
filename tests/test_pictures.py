"""A reason as a picture: what was expected stands only where the condition held."""

import math

import msgspec
import numpy as np
import pytest

import reported
from learned import learn
from reported import NORMAL, attacked
from truism.explaining.checker import Checker
from truism.explaining.clues import Rarity
from truism.explaining.expectations import Beyond, Nearest
from truism.explaining.explanations import Blame
from truism.explaining.incidents import Incident
from truism.report.contents import Span, Summary
from truism.report.html import to_html
from truism.report.summarising import summarise
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def checker() -> Checker:
    return reported.checker()


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_the_picture_has_the_expected_interval_only_where_the_condition_held(summary):
    blamed, condition = summary.incidents[0].blames[0].picture.panels
    assert (blamed.variable, condition.variable) == ("flow", "pump")
    assert condition.says == "pump = on"
    assert len(blamed.broken.x) == 10
    [span] = blamed.band.spans  # the pump is on for the first hundred minutes
    start = NORMAL["time"][0].astype("datetime64[ms]").astype(float)
    assert span == Span(start, start + 100 * 60_000)


def test_a_clue_that_is_no_rule_is_told_and_drawn(checker):
    table = as_table(attacked())
    rare = Rarity("flow", 0.02, Nearest(None, 1.0), Beyond(3, "low"), 1.0, False)
    blame = Blame("flow", 1.0, 1.0, (rare,), 200)
    incident = Incident(41, 49, 9, 45, 2.0, None, None, None, (blame,))
    findings = msgspec.structs.replace(checker.find(table), incidents=(incident,))
    told = summarise(checker, table, findings)
    [panel] = told.incidents[0].blames[0].picture.panels
    assert (panel.band.low, panel.band.high) == (1.0, None)
    assert "3 of 200 training rows were this low" in to_html(told)


@pytest.mark.parametrize("kind", ["numbers", "states"])
def test_values_that_are_missing_only_today_are_drawn(kind):
    a = np.arange(1000.0) % 97
    b = 2 * a if kind == "numbers" else np.where(a > 50, "high", "low")
    checker = Checker(learn(as_table({"a": a, "b": b})))
    for value in (-2.0, 500.0) if kind == "numbers" else ("high", "low", "never"):
        table = as_table({"a": [math.nan] * 2, "b": [value] * 2})
        told = summarise(checker, table)
        assert told.incidents
        assert to_html(told)
