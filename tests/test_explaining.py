"""An explanation says which variable, what was expected, what was found, and why."""

import datetime
import html
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from strategies import HOSTILE_NAMES
from truism.clues import WHY_FIRST
from truism.errors import ParameterError
from truism.explaining import Explanations, explain_rows, extra_columns
from truism.incidents import find_incidents
from truism.learning import learn
from truism.scoring import Scorer
from truism.table import as_table

N = 100
NORMAL = {"P101": ["on", "off"] * 50, "FIT201": [2.5, 0.0] * 50, "mode": ["auto"] * N}
BROKEN = {
    "P101": ["on", "on", "never", None],
    "FIT201": [2.5, 0.0, 2.5, 0.0],
    "mode": ["auto"] * 4,
}


@pytest.fixture(scope="module")
def scorer():
    return Scorer(learn(as_table(NORMAL), min_support=0.1, scoring="paper"))


def test_one_row_in_full(scorer):
    (explanation,) = explain_rows(scorer, as_table(BROKEN), [1])
    assert str(explanation) == (
        "row 1, score 1\n"
        "P101     50 %  expected P101 = off, found on\n"
        "               because FIT201 = 0\n"
        "               (50 of 100 training rows, no exception)\n"
        "FIT201   50 %  expected FIT201 = 2.5, found 0\n"
        "               because P101 = on\n"
        "               (50 of 100 training rows, no exception)"
    )


def test_an_unseen_state_and_a_missing_value_are_said_plainly(scorer):
    unseen, missing = explain_rows(scorer, as_table(BROKEN), [2, 3])
    assert "expected P101 in {off, on}, found never" in str(unseen)
    assert "as always in training" in str(unseen)
    assert str(missing) == (
        "row 3, score 1\n"
        "P101  100 %  expected P101 is present, found missing\n"
        "             as always in training\n"
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
    assert {**reason, "rule": "", "penalty": 0} == {
        "expected": "P101 = off",
        "found": "on",
        "because": "because FIT201 = 0",
        "evidence": "50 of 100 training rows, no exception",
        "rule": "",
        "penalty": 0,
        "row": None,
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
    assert none._repr_html_() == "<p>no anomalies</p>"
    assert none.to_dict() == []
    assert len(none.to_frame()) == 0


def test_many_explanations_print_the_first_few(scorer):
    table = as_table({name: column * 5 for name, column in BROKEN.items()})
    rows = np.flatnonzero(scorer.score(table) > 0)
    some = Explanations(scorer, table, rows)
    assert str(some).endswith("\n\n… and 10 more")
    assert some._repr_html_().endswith(
        "<p>… and 12 more rows; <code>to_frame()</code> gives all</p>"
    )


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_what_a_notebook_shows_is_escaped(name):
    data = {name: [name, "b"] * 20, "other": ["c", "d"] * 20}
    scorer = Scorer(learn(as_table(data), min_support=0.1))
    table = as_table({name: [name], "other": ["d"]})
    some = Explanations(scorer, table, np.array([0]))
    shown = some._repr_html_()
    assert "<script" not in shown
    assert html.escape(name) in shown
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
    assert "expected U = r or V = s, found U = c and V = d" in str(explanation)
    share_of = {blame.variable: blame.share for blame in explanation.blames}
    assert share_of["U"] > 0
    assert share_of["V"] > 0


def test_time_is_shown_where_the_table_has_it():
    start = datetime.datetime(2024, 1, 1)
    times = [start + datetime.timedelta(minutes=i) for i in range(N)]
    scorer = Scorer(learn(as_table({"t": times, **NORMAL}), min_support=0.1, scoring="paper"))
    table = as_table({"t": times[:4], **BROKEN})
    (explanation,) = explain_rows(scorer, table, [1])
    assert explanation.time == "2024-01-01 00:01:00"
    assert str(explanation).startswith("row 1 (2024-01-01 00:01:00), score 1\n")
    (without,) = explain_rows(scorer, as_table(BROKEN), [1])
    assert without.time is None
    (incident,) = find_incidents(scorer, table, scorer.score(table))
    assert (incident.started, incident.ended) == ("2024-01-01 00:01:00", "2024-01-01 00:03:00")
    assert str(incident).startswith(
        "rows 1 to 3 (2024-01-01 00:01:00 to 2024-01-01 00:03:00), peak score "
    )


# --- incidents ---


def rows_to_scores(flags):
    return {
        "P101": ["on"] * len(flags),
        "FIT201": [0.0 if flag else 2.5 for flag in flags],
        "mode": ["auto"] * len(flags),
    }


def grouped(scorer, flags, gap):
    table = as_table(rows_to_scores(flags))
    found = find_incidents(scorer, table, scorer.score(table), gap=gap)
    return sorted((each.start, each.end, each.n_rows) for each in found)


@pytest.mark.parametrize(
    ("gap", "wanted"),
    [
        (0, [(1, 2, 2), (4, 4, 1), (8, 8, 1)]),
        (1, [(1, 4, 3), (8, 8, 1)]),
        (2, [(1, 4, 3), (8, 8, 1)]),
        (3, [(1, 8, 4)]),
    ],
)
def test_a_gap_joins_incidents(scorer, gap, wanted):
    flags = [c == "#" for c in ".##.#...#."]
    assert grouped(scorer, flags, gap) == wanted


@examples(max_examples=30)
@given(flags=st.lists(st.booleans(), min_size=1, max_size=40), gap=st.integers(0, 5))
def test_every_anomalous_row_is_in_exactly_one_incident(scorer, flags, gap):
    found = grouped(scorer, flags, gap)
    assert sum(n for _, _, n in found) == sum(flags)
    for (_, end, _), (start, _, _) in itertools.pairwise(found):
        assert start - end > gap + 1
    assert all(flags[start] and flags[end] for start, end, _ in found)


def test_incidents_come_worst_first_with_peak_and_merged_blames(scorer):
    data = {
        "P101": ["on", "on", "on", "never", "off"],
        "FIT201": [0.0, 2.5, 0.0, 7.0, 0.0],
        "mode": ["auto", "auto", "auto", "manual", "auto"],
    }
    table = as_table(data)
    scores = scorer.score(table)
    first, second = find_incidents(scorer, table, scores)
    assert (first.start, first.end, first.peak) == (2, 3, 3)
    assert first.score == scores[3] > second.score == scores[0]
    assert sum(blame.share for blame in first.blames) == pytest.approx(1.0)
    assert {blame.variable for blame in first.blames} == {"P101", "FIT201", "mode"}
    total = sum(blame.penalty for blame in first.blames)
    assert total == pytest.approx(scores[2] + scores[3])
    assert first.to_dict()["peak"] == 3
    assert str(second).startswith("row 0, peak score 1\n")


def test_a_threshold_of_its_own_decides(scorer):
    table = as_table(BROKEN)
    scores = scorer.score(table)
    assert find_incidents(scorer, table, scores, threshold=1e9) == []
    (worst,) = find_incidents(scorer, table, scores, threshold=float(np.sort(scores)[-2]))
    assert worst.n_rows == 1


@pytest.mark.parametrize("gap", [-1, 1.5, "x", True, None])
def test_a_gap_that_is_no_whole_number_is_refused(scorer, gap):
    table = as_table(BROKEN)
    with pytest.raises(ParameterError) as caught:
        find_incidents(scorer, table, scorer.score(table), gap=gap)
    assert str(caught.value) == f"gap must be a whole number of at least 0, got {gap!r}."


def test_extra_columns_are_named(scorer):
    assert extra_columns(scorer, as_table({**BROKEN, "more": [1] * 4})) == ("more",)


def test_a_value_just_outside_a_rounded_bound_is_shown_with_all_digits():
    values = np.random.default_rng(0).normal(size=200)
    scorer = Scorer(learn(as_table({"X": values}), min_support=0.1, scoring="paper"))
    bound = next(rule for rule in scorer.model.rules if "≤ X ≤" in str(rule)).consequents[0].high
    found = np.nextafter(bound, np.inf)
    reason = explain_rows(scorer, as_table({"X": [found]}), [0])[0].blames[0].reasons[0]
    assert reason.expected.endswith(f"≤ X ≤ {bound!r}")
    assert reason.found == repr(float(found))


def test_a_row_far_out_of_range_does_not_hide_what_broke_in_others():
    level = np.linspace(0.0, 1.0, 100).tolist()
    normal = as_table({"level": level, "pump": ["on", "off"] * 50})
    scorer = Scorer(learn(normal, min_support=0.1, scoring="paper"))
    table = as_table({"level": [1e9, 0.5], "pump": ["on", "never"]})
    incident = find_incidents(scorer, table, scorer.score(table))[0]
    assert [(blame.variable, blame.share) for blame in incident.blames] == [
        ("level", 0.5),
        ("pump", 0.5),
    ]


def test_a_reason_that_is_not_about_the_peak_says_its_row():
    level = np.linspace(0.0, 1.0, 100).tolist()
    normal = as_table({"level": level, "pump": ["on", "off"] * 50})
    scorer = Scorer(learn(normal, min_support=0.1, scoring="paper"))
    table = as_table({"level": [1e9, 0.5], "pump": ["on", "never"]})
    incident = find_incidents(scorer, table, scorer.score(table))[0]
    assert (incident.peak, [blame.reasons[0].row for blame in incident.blames]) == (0, [None, 1])
    assert "expected pump in {off, on}, found never in row 1" in str(incident)
