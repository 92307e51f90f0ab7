"""A report as a whole, by either scoring and from the detector."""

import html

import msgspec
import numpy as np
import pytest

import reported
from learned import learn
from reported import NORMAL, attacked, summarised
from truism import InvariantRuleDetector, ParameterError
from truism.explain.checker import Checker
from truism.show import Summary, to_html, to_json
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def checker() -> Checker:
    return reported.checker()


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


@pytest.mark.parametrize("scoring", ["evidence", "paper"])
def test_a_report_of_either_scoring_tells_each_incident_in_four_parts(scoring):
    model = learn(as_table(NORMAL), min_support=0.1, scoring=scoring)
    told = summarised(Checker(model), as_table(attacked()), source="a.csv", label="label", gap=2)
    page = to_html(told)
    worst = told.incidents[0].incident
    assert (worst.start, worst.end) == (30, 39)
    assert worst.blames[0].variable == "flow"
    for blamed in worst.blames:
        for reason in blamed.reasons:
            assert reason.expected
            assert reason.found
            assert reason.why
            assert reason.evidence
            assert html.escape(reason.evidence) in page
    assert told.verdict in page
    assert to_json(msgspec.json.decode(to_json(told), type=Summary)) == to_json(told)


def test_the_detector_writes_the_report(tmp_path):
    detector = InvariantRuleDetector(min_support=0.1).fit(NORMAL)
    table = attacked()
    del table["note"]
    told = detector.report(table, tmp_path / "r.html", gap=2, label="label")
    assert told.verdict in (tmp_path / "r.html").read_text()
    assert told.verdict in told._repr_html_()


def test_another_time_column_can_be_named():
    detector = InvariantRuleDetector(min_support=0.1, ignore=["time"], scoring="paper").fit(NORMAL)
    table = {**attacked(), "seen": NORMAL["time"] + np.timedelta64(5, "h")}
    del table["note"], table["label"]
    card = detector.report(table, time="seen", gap=2).incidents[0]
    assert card.when == "15:30 to 15:39"
    del table["seen"]
    with pytest.raises(ParameterError) as caught:
        detector.report(table, time="never")
    assert str(caught.value) == "time must name a column of the table, got 'never'."


def test_a_rule_is_applied_as_it_is_scored(checker):
    table = as_table(attacked())
    counts = checker.scorer.count_broken(table)
    for rule in checker.model.rules:
        _, broken = checker.scorer.apply(rule, table)
        assert int(broken.sum()) == counts.get(rule, 0)
