"""Anomalous rows that belong together are one incident, with blames and reasons that agree."""

import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import find_incidents, learn
from strategies import BROKEN, NORMAL
from truism.errors import ParameterError
from truism.explain.clues import facts_of
from truism.explain.explanations import explain_rows
from truism.explain.incidents import Incident
from truism.explain.investigation import find_clues
from truism.incidents.delays import usual_gap
from truism.model.schema import Schema
from truism.score.scorer import Scorer
from truism.show.pictures import Axis, Painter
from truism.table.frames import as_table

TIMED = Schema((), (), "t")


@pytest.fixture(scope="module")
def scorer():
    return Scorer(learn(as_table(NORMAL), min_support=0.1, scoring="paper"))


def rows_to_scores(flags):
    return {
        "P101": ["on"] * len(flags),
        "FIT201": [0.0 if flag else 2.5 for flag in flags],
        "mode": ["auto"] * len(flags),
    }


def grouped(scorer, flags, gap):
    table = as_table(rows_to_scores(flags))
    found = find_incidents(scorer, table, gap=gap)
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
    first, second = find_incidents(scorer, table, gap=0)
    assert (first.start, first.end, first.peak) == (2, 3, 3)
    assert first.score == scores[3] > second.score == scores[0]
    assert sum(blame.share for blame in first.blames) == pytest.approx(1.0)
    assert {blame.variable for blame in first.blames} == {"P101", "FIT201", "mode"}
    total = sum(blame.penalty for blame in first.blames)
    assert total == pytest.approx(scores[2] + scores[3])
    assert first.to_dict()["peak"] == 3
    assert str(second).startswith("row 0, peak 1\n")


def test_a_threshold_of_its_own_decides(scorer):
    table = as_table(BROKEN)
    scores = scorer.score(table)
    assert find_incidents(scorer, table, threshold=1e9) == []
    (worst,) = find_incidents(scorer, table, threshold=float(np.sort(scores)[-2]))
    assert worst.n_rows == 1


@pytest.mark.parametrize("gap", [-1, 1.5, "x", True])
def test_a_gap_that_is_no_whole_number_is_refused(scorer, gap):
    table = as_table(BROKEN)
    with pytest.raises(ParameterError) as caught:
        find_incidents(scorer, table, gap=gap)
    assert str(caught.value) == f"gap must be a whole number of at least 0, got {gap!r}."


def test_a_row_far_out_of_range_does_not_hide_what_broke_in_others():
    level = np.linspace(0.0, 1.0, 100).tolist()
    normal = as_table({"level": level, "pump": ["on", "off"] * 50})
    scorer = Scorer(learn(normal, min_support=0.1, scoring="paper"))
    table = as_table({"level": [1e9, 0.5], "pump": ["on", "never"]})
    incident = find_incidents(scorer, table, gap=0)[0]
    assert [(blame.variable, blame.share) for blame in incident.blames] == [
        ("level", 0.5),
        ("pump", 0.5),
    ]


@pytest.mark.parametrize("scoring", ["paper", "evidence"])
def test_an_incident_without_a_past_ends_with_its_last_anomalous_row(scoring):
    level = np.linspace(0.0, 1.0, 300).tolist()
    normal = as_table({"level": level, "pump": ["on", "off"] * 150})
    scorer = Scorer(learn(normal, min_support=0.1, scoring=scoring))
    table = as_table({"level": [90.0, 95.0, 90.0, 0.5], "pump": ["on", "on", "on", "never"]})
    assert (scorer.score(table) > scorer.model.threshold).all()
    (incident,) = find_incidents(scorer, table, gap=0)
    assert (incident.start, incident.end, incident.n_rows) == (0, 3, 4)


def test_a_reason_that_is_not_about_the_peak_says_its_row():
    level = np.linspace(0.0, 1.0, 100).tolist()
    normal = as_table({"level": level, "pump": ["on", "off"] * 50})
    scorer = Scorer(learn(normal, min_support=0.1, scoring="paper"))
    table = as_table({"level": [1e9, 0.5], "pump": ["on", "never"]})
    incident = find_incidents(scorer, table, gap=0)[0]
    assert (incident.peak, [blame.reasons[0].row for blame in incident.blames]) == (0, [None, 1])
    assert "expected pump in {off, on}, found never in row 1" in str(incident)


# --- which reason comes first ---


def plant(n=400, seed=0):
    random = np.random.default_rng(seed)
    on = random.random(n) < 0.5
    return {
        "pump": np.where(on, "on", "off").tolist(),
        "flow": (np.where(on, 5.0, 0.0) + random.normal(0, 0.1, n)).tolist(),
        "level": random.normal(10, 2, n).tolist(),
    }


@pytest.fixture(scope="module")
def weighing():
    return Scorer(learn(as_table(plant()), min_support=0.05))


def test_an_incident_is_told_as_its_most_telling_row_is(weighing):
    table = as_table({"pump": ["off"] * 3, "flow": [0.0] * 3, "level": [60.0, 100.0, 70.0]})
    (incident,) = find_incidents(weighing, table, gap=0)
    level = incident.blames[0]
    assert level.variable == "level"
    clues = find_clues(weighing, table)[1]["level"]
    assert [reason.facts for reason in level.reasons] == [facts_of(clue) for clue in clues]


def test_the_picture_is_that_of_the_first_reason(weighing):
    table = as_table({"pump": ["off"] * 3, "flow": [5.0] * 3, "level": [10.0] * 3})
    (incident,) = find_incidents(weighing, table, gap=0)
    painter = Painter(weighing, table, Axis(table, weighing.model.schema))
    picture = painter.paint(incident, incident.blames[0])
    assert picture.panels[0].says == incident.blames[0].reasons[0].expected
    assert len(picture.panels) > 1, "the condition is drawn too"


def test_an_incident_of_one_row_is_explained_as_the_row_is(weighing):
    table = as_table({"pump": ["on", "off"], "flow": [5.0, 500.0], "level": [10.0, 10.0]})
    (incident,) = find_incidents(weighing, table)
    assert (incident.start, incident.end) == (1, 1)
    (row,) = explain_rows(weighing, table, [1])
    alone = tuple(
        msgspec.structs.replace(each, since=None, offset=None) for each in incident.blames
    )
    assert alone == tuple(each for each in row.blames if each.share > 0.01)
    assert {each.since for each in incident.blames} == {1}


# --- when ---


@pytest.mark.parametrize(
    ("end", "started", "ended", "said"),
    [
        (5, "21:50", "23:00", "rows 3 to 5 (21:50 to 23:00)"),
        (5, "21:50", None, "rows 3 to 5 (from 21:50)"),
        (5, None, "23:00", "rows 3 to 5 (until 23:00)"),
        (5, None, None, "rows 3 to 5"),
        (5, "23:00", "23:00", "rows 3 to 5 (23:00)"),
        (3, "23:00", "23:00", "row 3 (23:00)"),
        (3, None, None, "row 3"),
        (5, "a\nb", "c", r"rows 3 to 5 (a\nb to c)"),
    ],
)
def test_the_times_of_an_incident_are_said_as_far_as_they_are_known(end, started, ended, said):
    incident = Incident(
        start=3,
        end=end,
        n_rows=1,
        peak=3,
        score=2.0,
        severity=1.0,
        started=started,
        ended=ended,
        peaked=None,
        blames=(),
    )
    assert str(incident).splitlines()[0] == f"{said}, peak 2"


@pytest.mark.parametrize(("seconds", "gap"), [(1, 60), (10, 6), (60, 5), (3600, 5)])
def test_the_usual_gap_is_a_minute_or_five_rows(seconds, gap):
    begin = np.datetime64("2024-01-01T00:00:00", "us")
    times = begin + np.arange(50) * np.timedelta64(seconds, "s")
    assert usual_gap(TIMED, as_table({"t": times})) == gap
    assert usual_gap(TIMED, as_table({"t": np.datetime_as_string(times, "s")})) == gap


def test_the_usual_gap_without_usable_times():
    assert usual_gap(Schema(()), as_table({"t": [1, 2]})) == 5
    assert usual_gap(TIMED, as_table({"t": ["a", "b"]})) == 5
    same = np.array(["2024-01-01"] * 3, "datetime64[us]")
    assert usual_gap(TIMED, as_table({"t": same})) == 5
