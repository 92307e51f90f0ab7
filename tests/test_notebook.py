"""What notebooks show: quiet tables in which everything from the data is text."""

import pytest

from truism import InvariantRuleDetector

NAME, STATE = "<script>alert(1)</script>", "<b>on</b>"
NORMAL = {NAME: [STATE, "off"] * 50, "flow": [2.5, 0.0] * 50}


@pytest.fixture(scope="module")
def detector() -> InvariantRuleDetector:
    return InvariantRuleDetector(min_support=0.1, scoring="paper").fit(NORMAL)


def views(detector) -> dict[str, str]:
    now = {NAME: [STATE, STATE], "flow": [2.5, 0.0]}
    return {
        "detector": detector._repr_html_inner(),
        "rules": detector.rules_._repr_html_(),
        "rule": detector.rules_[-1]._repr_html_(),
        "explanations": detector.explain(now)._repr_html_(),
        "incident": detector.incidents(now)[0]._repr_html_(),
        "report": detector.report(now)._repr_html_(),
    }


@pytest.mark.parametrize(
    "name", ["detector", "rules", "rule", "explanations", "incident", "report"]
)
def test_views_escape_what_comes_from_data(detector, name):
    view = views(detector)[name]
    assert "<script>" not in view
    assert STATE not in view
    assert "&lt;" in view


def test_an_explanation_has_the_four_parts(detector):
    view = views(detector)["explanations"]
    for part in ("expected", "found", "because", "evidence"):
        assert f">{part}</th>" in view
    assert "50 of 100 training rows, no exception" in view


def test_a_detector_says_what_it_learned_once(detector):
    view = views(detector)["detector"]
    assert view.count("rules from 100 rows") == 1
    assert "min_support 0.1, threshold 0" in view


def test_a_detector_before_fitting_shows_its_parameters():
    assert "InvariantRuleDetector" in InvariantRuleDetector()._repr_html_()
