"""Differences in words: which sentences are said when, and screen, text and page from the same value."""

import msgspec
import pytest

from learned import learn
from strategies import HOSTILE_NAMES, NORMAL
from truism.explaining.advantage import Advantage, Measure
from truism.explaining.checker import Checker
from truism.explaining.comparison import Comparison, Day, Sighting, TableComparison, compare
from truism.report.contrast import MAX_ROWS, to_page, to_text
from truism.report.differences import Differences, describe
from truism.report.outcomes import say_advantage
from truism.report.sections import Section
from truism.table.frames import as_table

SAME = Measure(0.9, 0.9, 0.0, 0.0, 0.0, "same")
BETTER = Measure(0.9, 0.95, 0.05, 0.02, 0.08, "better")
WORSE = Measure(0.01, 0.04, 0.03, 0.01, 0.05, "worse")
CHANCE = Measure(0.9, 0.91, 0.01, -0.02, 0.04, "chance")
FEW = Measure(0.9, 0.91, 0.01, None, None, "too few")


@pytest.fixture(scope="module")
def model():
    return learn(as_table(NORMAL), min_support=0.1)


def advantage(auc, found=SAME, false_alarms=SAME, n_segments=9):
    return Advantage("attack", 90, n_segments, auc, found, false_alarms)


@pytest.mark.parametrize(
    ("told", "verdict", "said"),
    [
        (
            advantage(BETTER),
            "better",
            "The new model is better: AUC 0.900 with the old, 0.950 with the new one "
            "(95 % interval +0.020 to +0.080).",
        ),
        (
            advantage(CHANCE, false_alarms=WORSE),
            "worse",
            "The old model is better: false alarms (%) 1.0 with the old, 4.0 with the new one "
            "(95 % interval +1.0 to +5.0).",
        ),
        (
            advantage(BETTER, false_alarms=WORSE),
            "mixed",
            "Neither model is better in everything: AUC 0.900 with the old, 0.950 with the new one "
            "(95 % interval +0.020 to +0.080); false alarms (%) 1.0 with the old, 4.0 with the new "
            "one (95 % interval +1.0 to +5.0).",
        ),
        (advantage(SAME), "same", "By the labels both models are equally good: AUC 0.900."),
        (
            advantage(CHANCE),
            "chance",
            "No difference by the labels is clearer than chance: AUC 0.910 instead of 0.900.",
        ),
        (
            advantage(FEW, FEW, FEW, n_segments=1),
            "too few",
            "There are too few labels to tell which model is better (1 labelled segment, 5 are "
            "needed): AUC 0.910 instead of 0.900.",
        ),
    ],
)
def test_which_model_is_better(told, verdict, said):
    assert told.verdict == verdict
    assert say_advantage(told) == said


def outcome(**more):
    return TableComparison(1000, 0, 0, 0, (), (), (), **more)


def said(model, other, table=None):
    models = compare(Checker(model), Checker(other)).models
    return describe(Comparison(models, table))


def test_what_is_said_of_models_that_differ_in_little(model):
    found = said(model, model.with_threshold(9.5))
    assert found.said == ("The rules are the same.",)
    assert [each.title for each in found.sections] == ["Overview", "Settings and training"]
    assert found.sections[0].rows[4][::2] == ("threshold φ", "9.5")
    assert found.sections[1].rows[0][0] == "threshold: origin"


def test_nothing_reported_is_said(model):
    found = said(model, model, outcome())
    assert found.said == ("The models are the same.", "Neither model reports any of 1,000 rows.")
    assert found.same
    assert found.sections == ()


def test_rules_that_were_switched_off_are_a_section(model):
    rule = model.rules[0]
    found = said(model, model.disable(rule.id, "new pump"))
    (section,) = [each for each in found.sections if each.title.startswith("Rules switched off")]
    assert section.rows == ((str(rule), f"{rule.count:,}", rule.id),)


def test_the_days_that_differ_most_are_shown_in_order(model):
    days = tuple(Day(f"2024-03-{i + 1:02}", 10, i % 4, 0, 0, 0) for i in range(12))
    models = compare(Checker(model), Checker(model.with_threshold(9.5))).models
    found = describe(Comparison(models, outcome(days=days)), most=3)
    (section,) = [each for each in found.sections if each.title == "Days"]
    assert [row[0] for row in section.rows] == ["2024-03-04", "2024-03-08", "2024-03-12"]
    assert (section.n_rows, section.note) == (12, "those on which the models differ most")


def test_states_and_kinds_are_said(model):
    data = {**NORMAL, "P101": ["on", "idle"] * 50, "FIT201": ["a", "b"] * 50}
    found = said(model, learn(as_table(data), min_support=0.1))
    (section,) = [each for each in found.sections if each.title == "Variables"]
    assert section.rows == (
        ("FIT201", "other kind", "states (number)", "states (text)"),
        ("P101", "other states", "only off", "only idle"),
    )


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_hostile_names_cannot_break_out(name):
    section = Section(name, name, (name, "x"), ((name, "1"),), 1)
    seen = Differences(name, name, False, (name,), (section,))
    page = to_page(seen)
    assert "<script" not in page
    assert "http://x" not in page.replace("&#34;http://x&#34;", "")
    assert "\x1b" not in to_text(seen)


def test_the_page_refers_to_nothing_and_says_what_it_leaves_out():
    rows = tuple((str(i), "x") for i in range(MAX_ROWS + 7))
    section = Section("Rules gone", "", ("rule", "id"), rows, len(rows))
    page = to_page(Differences("a", "b", False, ("They differ.",), (section,)))
    assert "<h1>They differ.</h1>" in page
    assert page.count("<tr>") == MAX_ROWS + 1
    assert "7 more are not shown" in page
    assert "default-src 'none'" in page.replace("&#39;", "'")
    assert "src=" not in page.replace("default-src", "").replace("style-src", "")


def test_escape_sequences_do_not_reach_a_terminal(model):
    seen = Sighting(3, 5, 2, 4, 7.5, "\x1b[31mnoon", None)
    on = msgspec.structs.replace(outcome(), only_old=(seen,), n_old=2)
    models = compare(Checker(model), Checker(model.with_threshold(9.5))).models
    text = str(Comparison(models, on))
    assert "rows 3–5 · \\x1b[31mnoon" in text
    assert "\x1b" not in text


def test_a_notebook_shows_the_text(model):
    found = compare(Checker(model), Checker(model))
    shown = "<pre>old: old model\nnew: new model\nThe models are the same.\n</pre>"
    assert found._repr_html_() == shown
