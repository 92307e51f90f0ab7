"""What fills the panels of a picture: boxes where something was expected, crosses, names of states."""

import json

import msgspec
import pytest

import reported
from truism.report.charts import LEFT
from truism.report.contents import Band, Line, Panel, Picture, Span
from truism.report.panels import picture, skeletons

EMPTY = Line((), ())
LEVEL = Panel(
    "level", "level ≥ 2", (), Line((0.0, 1.0, 4.0), (1.0, None, 5.0)),
    Band(2.0, None, (), (Span(0.0, 1.0), Span(2.0, 4.0))), Line((0.0,), (1.0,)),
)  # fmt: skip
PUMP = Panel(
    "pump", "pump = on", ("off", "on", "a very long state that goes on"),
    Line((0.0, 1.0, 4.0), (0.0, 1.0, 1.0)),
    Band(None, None, (1, 2), (Span(0.0, 4.0),)), EMPTY,
)  # fmt: skip


def filled(*panels):
    return json.loads(picture(Picture(Span(1.0, 2.0), 1.0, panels)))


def test_every_kind_of_panel_has_a_skeleton_with_the_names_that_are_filled():
    known = json.loads(skeletons("row"))
    for panels in ((LEVEL, PUMP), (PUMP, LEVEL), (LEVEL,), (PUMP,), (LEVEL, PUMP, LEVEL)):
        for panel in filled(*panels)["panels"]:
            named = json.dumps(known[panel["kind"]])
            for name in panel["fill"]:
                if name != "broken" or panel["kind"].startswith("blamed"):
                    assert f'"name": "{name}"' in named


def test_a_box_stands_wherever_something_was_expected():
    first, second = (panel["fill"] for panel in filled(LEVEL, PUMP)["panels"])
    band, top = first["band"], first["y"]["end"]
    assert (band["left"], band["right"]) == ([0.0, 2.0], [1.0, 4.0])
    assert (band["bottom"], band["top"]) == ([2.0, 2.0], [top, top])
    band = second["band"]
    assert (band["left"], band["right"]) == ([0.0, 0.0], [4.0, 4.0])
    assert band["bottom"] == pytest.approx([1 - 0.42, 2 - 0.42])
    assert band["top"] == pytest.approx([1 + 0.42, 2 + 0.42])


def test_values_crosses_and_the_incident_are_where_they_were():
    drawn = filled(LEVEL, PUMP)
    first, second = (panel["fill"] for panel in drawn["panels"])
    assert drawn["x"] == {"start": 0.0, "end": 4.0}
    assert drawn["steps"] == [0.0, 1.0, 3.0]
    assert first["line"]["y"] == [1.0, None, 5.0]
    assert first["broken"] == {"x": [0.0], "y": [1.0]}
    assert first["incident"] == second["incident"] == {"left": 1.0, "right": 2.0}
    assert first["y"]["start"] < 1.0 < 5.0 < first["y"]["end"]


def test_states_are_named_and_long_names_cut():
    states = filled(PUMP)["panels"][0]["fill"]["states"]
    assert states[:2] == ["off", "on"]
    assert states[2] == "a very long state …", "cut between words"
    left = filled(PUMP)["panels"][0]["fill"]["plot"]["min_border_left"]
    assert left > LEFT, "there is room for it"
    assert "states" not in filled(LEVEL)["panels"][0]["fill"]


def test_only_the_last_panel_has_the_axis():
    kinds = [panel["kind"] for panel in filled(LEVEL, PUMP, LEVEL)["panels"]]
    assert [kind[-1] for kind in kinds] == ["0", "0", "1"]
    assert len({kind.split("-")[0] for kind in kinds[1:]}) == 1
    assert kinds[0].split("-")[0] != kinds[1].split("-")[0]


def test_a_panel_without_values_or_expectation_has_a_range_all_the_same():
    nothing = msgspec.structs.replace(LEVEL, line=Line((0.0,), (None,)), band=None, broken=EMPTY)
    drawn = filled(nothing)
    fill = drawn["panels"][0]["fill"]
    assert fill["band"] == {}
    assert fill["y"]["start"] < fill["y"]["end"]
    assert drawn["x"]["start"] < drawn["x"]["end"]


def test_pictures_of_a_report_fill_known_skeletons():
    summary = reported.summary()
    known = json.loads(skeletons(summary.unit))
    for card in summary.incidents:
        for blamed in card.blames:
            if blamed.picture is not None:
                for panel in json.loads(picture(blamed.picture))["panels"]:
                    assert panel["kind"] in known
