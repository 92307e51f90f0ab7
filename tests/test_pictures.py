"""A reason as a picture: what was expected stands only where the condition held."""

import io
import math

import numpy as np
import pytest
from rich.console import Console

import reported
from learned import learn
from reported import NORMAL, attacked
from truism.explain.blames import Blame
from truism.explain.checker import Checker
from truism.explain.clues import Nearest, Rarity, Seen
from truism.explain.incidents import Incident
from truism.explain.words import say
from truism.model.schema import Schema
from truism.show import charts
from truism.show.contents import Band, Span, Summary
from truism.show.html import to_html
from truism.show.pictures import MAX_BROKEN, Axis, Painter
from truism.show.summarising import summarise
from truism.show.terminal import show_incident
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def checker() -> Checker:
    return reported.checker()


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_the_picture_has_the_expected_interval_only_where_the_condition_held(summary):
    blamed, condition = summary.incidents[0].pictures[0].panels
    assert (blamed.variable, condition.variable) == ("flow", "pump")
    assert condition.says == "pump = on"
    assert len(blamed.broken.x) == 10
    [span] = blamed.band.spans  # the pump is on for the first hundred minutes
    start = NORMAL["time"][0].astype("datetime64[ms]").astype(float)
    assert span == Span(start, start + 100 * 60_000)


def test_a_clue_that_is_no_rule_is_told_and_drawn(checker):
    table = as_table(attacked())
    rare = Rarity("flow", 0.02, Nearest(None, 1.0), Seen(3, "low"), 1.0, False)
    blame = Blame("flow", 1.0, 1.0, (say(rare, 200),))
    incident = Incident(
        start=41,
        end=49,
        n_rows=9,
        peak=45,
        score=2.0,
        severity=1.0,
        started=None,
        ended=None,
        peaked=None,
        blames=(blame,),
    )
    painter = Painter(checker.scorer, table, Axis(table, checker.model.schema))
    [panel] = painter.paint(incident, blame).panels
    assert (panel.band.low, panel.band.high) == (1.0, None)
    assert blame.reasons[0].evidence == "3 of 200 training rows were this low"


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


@pytest.fixture(scope="module")
def painter(checker):
    table = as_table({name: attacked()[name] for name in ("pump", "flow")})
    return Painter(checker.scorer, table, Axis(table, checker.model.schema))


def test_the_window_has_as_many_rows_around_as_the_incident_but_not_few(checker, painter):
    found = checker.find(painter.table, gap=2).incidents
    assert [painter.rows(each) for each in found] == [slice(0, 100), slice(90, 200)]


def test_a_picture_has_the_incident_its_peak_and_the_broken_rows(checker, painter):
    worst = checker.find(painter.table, gap=2).incidents[0]
    drawn = painter.paint(worst, worst.blames[0])
    assert drawn.incident == Span(30.0, 40.0)
    assert drawn.peak == worst.peak
    flow, pump = drawn.panels
    assert flow.band == Band(1.0, None, (), (Span(0.0, 100.0),))
    assert flow.broken.x == tuple(range(30, 40))
    assert flow.broken.y == (-1.5,) * 10
    assert flow.line.y == pytest.approx(attacked()["flow"][:100])
    assert pump.states == ("off", "on")
    assert pump.band.states == (1,)
    assert pump.broken.x == ()


def test_an_unseen_state_is_drawn_above_all_others(checker):
    table = as_table({"pump": ["on", "never", "off", None] * 20, "flow": [2.5] * 80})
    painter = Painter(checker.scorer, table, Axis(table, checker.model.schema))
    panel = painter.panel(table, painter.axis.x, "pump")
    assert panel.states[:2] == ("off", "on")
    assert len(panel.states) == 3
    assert panel.line.y[:4] == (1.0, 2.0, 0.0, None)
    assert panel.band is None


def test_of_very_many_broken_rows_some_are_marked_from_first_to_last(checker):
    table = as_table({"pump": ["on"] * 1000, "flow": [-1.5] * 1000})
    painter = Painter(checker.scorer, table, Axis(table, checker.model.schema))
    broken = np.ones(1000, bool)
    marks = painter.panel(table, painter.axis.x, "flow", broken=broken).broken
    assert len(marks.x) == MAX_BROKEN
    assert (marks.x[0], marks.x[-1]) == (0.0, 999.0)


def test_a_rule_is_drawn_with_its_consequents_first(checker, painter):
    for rule in checker.model.rules:
        panels = painter.panels(rule.consequents, rule.antecedent, painter.table, painter.axis.x)
        wanted = [str(each) for each in (*rule.consequents, *rule.antecedent)]
        assert list(dict.fromkeys(panel.says for panel in panels)) == wanted
        assert {panel.variable for panel in panels} == set(rule.variables)


def two_machines():
    n = 300
    level = {name: np.sin(np.arange(n) / 7.0) + base for name, base in (("a", 0.0), ("b", 50.0))}
    both = {
        "machine": ["a", "b"] * n,
        "level": np.ravel(np.column_stack([level["a"], level["b"]])),
    }
    own = Checker(learn(as_table(both), by="machine", ordered=True, min_support=0.05))
    both["level"] = both["level"].copy()
    both["level"][301:321:2] = 90.0
    return own, as_table(both)


def test_a_picture_never_joins_rows_of_different_series():
    own, table = two_machines()
    incident = own.find(table).incidents[0]
    assert incident.series == "b"
    axis = Axis(table, own.model.schema)
    picture = Painter(own.scorer, table, axis).paint(incident, incident.blames[0])
    assert all(row % 2 for row in picture.panels[0].line.x)
    told = summarise(own, table)
    assert told.several
    assert "stems" in charts.timeline(told)


def test_a_line_is_broken_where_rows_are_far_apart():
    times = np.datetime64("2024-01-01") + np.array([0, 1, 2, 50, 51]) * np.timedelta64(60, "s")
    table = as_table({"t": times, "x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    axis = Axis(table, Schema((), (), "t"))
    x, y = axis.apart(axis.x, np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert np.isnan(y).tolist() == [False, False, False, True, False, False]
    assert x[3] == axis.x[2] + 60_000


def test_of_several_series_everybody_is_told_which_one_it_was():
    own, table = two_machines()
    incident = own.find(table).incidents[0]
    assert str(incident).startswith("rows 301 to 319 of series b, peak ")
    told = summarise(own, table)
    assert told.incidents[0].when.startswith("b: ")
    assert '<span class="when">b: ' in to_html(told)


def test_of_several_series_the_terminal_names_the_one_it_was():
    own, table = two_machines()
    incident = own.find(table).incidents[0]
    for number, indent in ((1, "   "), (10, "    ")):
        console = Console(width=78, file=io.StringIO(), color_system=None)
        console.print(show_incident(incident, number))
        _, facts, *blames = console.file.getvalue().split("\n")
        assert facts.startswith(f"{indent}series b · rows 301–319 · peak ")
        assert blames[0].startswith(f"{indent}level")
