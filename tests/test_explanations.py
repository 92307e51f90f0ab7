"""An explanation says which variable, what was expected, what was found, and why."""

import datetime
import html

import numpy as np
import pytest

from learned import find_incidents, learn
from strategies import BROKEN, HOSTILE_NAMES, NORMAL
from truism.explain.blames import Blame
from truism.explain.explanations import Explanation, Explanations, explain_rows
from truism.explain.investigation import WHY_FIRST
from truism.explain.words import say
from truism.model.predicates import OneOf
from truism.model.rules import Rule
from truism.model.wording import visible
from truism.score.scorer import Scorer
from truism.score.weighed import Violation
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def scorer():
    return Scorer(learn(as_table(NORMAL), min_support=0.1, scoring="paper"))


def test_one_row_in_full(scorer):
    (explanation,) = explain_rows(scorer, as_table(BROKEN), [1])
    assert str(explanation) == (
        "row 1, score 1\n"
        "P101     50 %  expected P101 = off, found on\n"
        "               because FIT201 = 0 (or FIT201 is wrong)\n"
        "               (50 of 100 training rows, no exception)\n"
        "FIT201   50 %  expected FIT201 = 2.5, found 0\n"
        "               because P101 = on (or P101 is wrong)\n"
        "               (50 of 100 training rows, no exception)"
    )


def test_an_unseen_state_and_a_missing_value_are_said_plainly(scorer):
    unseen, missing = explain_rows(scorer, as_table(BROKEN), [2, 3])
    assert "expected P101 in {off, on}, found never" in str(unseen)
    assert "\n             whatever the other variables are\n" in str(unseen)
    assert str(missing) == (
        "row 3, score 1\n"
        "P101  100 %  expected P101 is present, found missing\n"
        "             whatever the other variables are\n"
        "             (100 of 100 training rows, no exception)"
    )


def test_a_row_that_breaks_nothing_has_no_blames(scorer):
    (explanation,) = explain_rows(scorer, as_table(BROKEN), [0])
    assert (explanation.score, explanation.blames) == (0.0, ())


def test_the_parts_are_the_same_as_data(scorer):
    (explanation,) = explain_rows(scorer, as_table(BROKEN), [1])
    plain = explanation.to_dict()
    assert plain["row"] == 1
    assert [blame["variable"] for blame in plain["blames"]] == ["P101", "FIT201"]
    reason = plain["blames"][0]["reasons"][0]
    facts = reason.pop("facts")
    assert (facts["found"], len(facts["because"])) == ({"P101": "on"}, 1)
    assert {**reason, "rule": "", "penalty": 0} == {
        "expected": "P101 = off",
        "found": "on",
        "because": "FIT201 = 0",
        "evidence": "50 of 100 training rows, no exception",
        "rule": "",
        "penalty": 0,
        "row": None,
        "kind": "rule",
        "when": None,
        "blamed": ("FIT201",),
        "n_rows": 1,
    }
    assert scorer.model.rules.find(reason["rule"])


def test_explanations_are_a_sequence(scorer):
    some = Explanations(scorer, as_table(BROKEN), np.array([1, 2, 3]))
    assert len(some) == 3
    assert [each.row for each in some] == [1, 2, 3]
    assert some[-1].row == 3
    assert [each.row for each in some[1:]] == [2, 3]
    with pytest.raises(IndexError):
        some[3]
    frame = some.to_frame()
    assert list(frame.columns) == [
        *("row", "time", "score", "variable", "share"),
        *("expected", "found", "because", "evidence", "rule", "penalty"),
    ]
    assert len(frame) == sum(len(blame.reasons) for each in some for blame in each.blames)
    assert some.to_dict() == [each.to_dict() for each in some]


def test_no_anomalies_are_said_to_be_none(scorer):
    none = Explanations(scorer, as_table(BROKEN), np.array([], np.int64))
    assert str(none) == "no anomalies"
    assert none.to_dict() == []
    assert len(none.to_frame()) == 0


def test_many_explanations_print_the_first_few(scorer):
    table = as_table({name: column * 5 for name, column in BROKEN.items()})
    rows = np.flatnonzero(scorer.score(table) > 0)
    some = Explanations(scorer, table, rows)
    assert str(some).endswith("\n\n… and 10 more")


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_what_a_notebook_shows_is_escaped(name):
    data = {name: [name, "b"] * 20, "other": ["c", "d"] * 20}
    scorer = Scorer(learn(as_table(data), min_support=0.1))
    table = as_table({name: [name], "other": ["d"]})
    some = Explanations(scorer, table, np.array([0]))
    shown = some._repr_html_()
    assert "<script" not in shown
    assert html.escape(visible(name)) in shown
    assert some[0].blames[0].variable in (name, "other")
    assert {blame.variable for blame in some[0].blames} == {name, "other"}


def test_shares_sum_to_one_and_fall(model, pumps):
    scorer = Scorer(model)
    row = {name: [column[0]] for name, column in pumps.items()}
    row |= {"FIT201": [0.0], "LIT301": [9999.0], "P102": [7]}
    (explanation,) = explain_rows(scorer, as_table(row), [0])
    shares = [blame.share for blame in explanation.blames]
    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)
    for blame in explanation.blames:
        penalties = [reason.penalty for reason in blame.reasons]
        # What can say why stands before what cannot, unless it is a small part.
        assert penalties[0] >= max(penalties) / WHY_FIRST
        assert sum(penalties) == pytest.approx(blame.penalty)
        assert sum(penalties) == pytest.approx(blame.penalty)


def test_a_failed_join_names_all_its_values():
    data = {
        "U": ["r"] * 2 + ["c"] * 36 + ["c"] * 2,
        "V": ["d"] * 38 + ["s"] * 2,
        "W": ["x"] * 2 + ["y"] * 36 + ["x"] * 2,
    }
    scorer = Scorer(learn(as_table(data), min_support=0.05))
    row = as_table({"U": ["c"], "V": ["d"], "W": ["x"]})
    (explanation,) = explain_rows(scorer, row, [0])
    blame_of = {blame.variable: blame for blame in explanation.blames}
    for name in ("U", "V"):
        reason = blame_of[name].reasons[0]
        assert (reason.expected, reason.found) == ("U = r or V = s", "U = c and V = d")
        assert blame_of[name].penalty > 0


def test_time_is_shown_where_the_table_has_it():
    start = datetime.datetime(2024, 1, 1)
    times = [start + datetime.timedelta(minutes=i) for i in range(100)]
    scorer = Scorer(learn(as_table({"t": times, **NORMAL}), min_support=0.1, scoring="paper"))
    table = as_table({"t": times[:4], **BROKEN})
    (explanation,) = explain_rows(scorer, table, [1])
    assert explanation.time == datetime.datetime(2024, 1, 1, 0, 1)
    assert explanation.to_dict()["time"] == "2024-01-01T00:01:00"
    assert str(explanation).startswith("row 1 (2024-01-01 00:01:00), score 1\n")
    (without,) = explain_rows(scorer, as_table(BROKEN), [1])
    assert without.time is None
    (incident,) = find_incidents(scorer, table)
    assert (str(incident.started), str(incident.ended)) == (
        "2024-01-01 00:01:00",
        "2024-01-01 00:03:00",
    )
    assert str(incident).startswith(
        "rows 1 to 3 (2024-01-01 00:01:00 to 2024-01-01 00:03:00), peak "
    )


def blame(name, share):
    return Blame(name, share, share, (say(broken(name, (), share), 9),))


def broken(name, conditions, penalty):
    failed = OneOf(name, (1,))
    return Violation(Rule(tuple(conditions), (failed,), 9), failed, (0,), penalty)


def test_what_would_be_shown_as_nothing_takes_no_place():
    row = Explanation(0, None, 1.0, (blame("a", 0.6), blame("b", 0.396), blame("c", 0.004)))
    assert "c" not in [line[:1] for line in str(row).splitlines()]
    assert "also" not in str(row)
    assert len(row.to_dict()["blames"]) == 3


def test_of_very_many_small_shares_the_first_is_shown():
    row = Explanation(0, None, 1.0, tuple(blame(f"v{i}", 0.001) for i in range(1000)))
    assert str(row).splitlines()[1].startswith("v0    0 %  expected v0 = 1, found 0")


def test_a_name_that_would_break_the_line_is_spelled_out():
    row = Explanation(0, "to\nday", 1.0, (blame("two\nlines", 1.0),))
    assert str(row).splitlines()[:2] == [
        r"row 0 (to\nday), score 1",
        r"""two\nlines  100 %  expected "two\nlines" = 1, found 0""",
    ]


def test_a_value_outside_is_held_against_what_was_seen_and_not_against_a_margin():
    values = np.random.default_rng(0).normal(size=200)
    scorer = Scorer(learn(as_table({"X": values}), min_support=0.1, scoring="paper"))
    rule = next(rule for rule in scorer.model.rules if "≤ X ≤" in str(rule))
    assert rule.consequents[0].high > values.max() + 0.5, "the rule has a margin"
    found = np.nextafter(rule.consequents[0].high, np.inf)
    reason = explain_rows(scorer, as_table({"X": [found]}), [0])[0].blames[0].reasons[0]
    shown = float(reason.expected.split()[-1])
    assert values.max() <= shown < values.max() + 0.01
    assert (reason.rule, reason.evidence) == (rule.id, "0 of 200 training rows were this high")
