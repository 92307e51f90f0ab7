"""What notebooks show: what is printed, in which everything from the data is text."""

import pytest

from truism import InvariantRuleDetector, compare
from truism.pyod import InvariantRules

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
        "explanations": detector.explain(now)._repr_html_(),
        "incident": detector.incidents(now)[0]._repr_html_(),
        "report": detector.report(now)._repr_html_(),
    }


@pytest.mark.parametrize("name", ["detector", "rules", "explanations", "incident", "report"])
def test_views_escape_what_comes_from_data(detector, name):
    view = views(detector)[name]
    assert "<script>" not in view
    assert STATE not in view
    assert "&lt;" in view


def test_an_explanation_has_the_four_parts(detector):
    view = views(detector)["explanations"]
    for part in ("expected", "found", "because", "50 of 100 training rows, no exception"):
        assert part in view


def test_a_detector_says_what_it_learned_once(detector):
    view = views(detector)["detector"]
    assert view.count("rules from 100 rows") == 1
    assert "min_support 0.1, threshold 0" in view


def test_a_detector_before_fitting_shows_its_parameters():
    assert "InvariantRuleDetector" in InvariantRuleDetector()._repr_html_()


def public_values(detector):
    """Return what callers are handed, by its type's name."""
    now = {NAME: [STATE, STATE], "flow": [2.5, 0.0]}
    found, told = detector.check(now), detector.explain(now)
    adapter = InvariantRules(min_support=0.1, scoring="paper").fit(NORMAL)
    values = (
        *(detector, adapter, detector.model_, detector.rules_, detector.rules_[-1], told, told[0]),
        *(told[0].blames[0], found, found.incidents, found.incidents[0], found.state),
        *(detector.report(now), compare(detector, detector)),
    )
    return {type(value).__name__: value for value in values}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("InvariantRuleDetector", "InvariantRuleDetector(min_support=0.1, scoring='paper')"),
        ("InvariantRules", "InvariantRules(min_support=0.1, scoring='paper')"),
        ("Model", "<Model of 2 variables with 8 rules from 100 rows, threshold 0>"),
        ("RuleSet", "<RuleSet of 8 rules from 100 rows>"),
        ("Explanations", "<Explanations of 1 row>"),
        ("Explanation", f"<Explanation of row 1, score 1: {NAME}, flow>"),
        ("Findings", "<Findings: anomalies: 1 of 2 rows (50 %) scores above 0, in 1 pattern>"),
        ("Incidents", "<Incidents: 1>"),
        ("Incident", f"<Incident in row 1, peak 1: {NAME}, flow>"),
        ("Sourced", "<Sourced after 2 rows, 0 open>"),
        ("Summary", None),
        ("Comparison", "<Comparison of 8 and 8 rules: the same>"),
        ("Blame", f'<Blame of {NAME}, 50 %: expected "{NAME}" = off, found "{STATE}">'),
        ("Rule", None),
    ],
)
def test_whatever_is_handed_out_has_a_short_and_an_escaped_representation(detector, name, shown):
    value = public_values(detector)[name]
    assert repr(value) == (shown or repr(value))
    assert "object at" not in repr(value)
    assert len(repr(value)) < 200
    assert str(value)
    if hasattr(value, "_repr_html_"):
        assert "<script>alert" not in value._repr_html_()
        assert STATE not in value._repr_html_()


def test_all_that_is_handed_out_is_shown():
    quiet = InvariantRuleDetector(min_support=0.1, scoring="paper").fit(NORMAL).check(NORMAL)
    assert str(quiet) == "clean: none of 100 rows scores above 0."
    assert quiet.incidents._repr_html_() == "<pre>none</pre>"
    assert str(quiet.incidents) == "none"


def test_of_many_incidents_the_first_are_shown():
    detector = InvariantRuleDetector(min_support=0.1, scoring="paper").fit(NORMAL)
    rows = {NAME: ([STATE] + ["off"] * 9) * 5, "flow": [0.0] * 50}
    found = detector.check(rows)
    assert len(found.incidents) == 5
    assert str(found).count("peak") == 3
    assert str(found).endswith("… and 2 more")
