"""Charts of a report as SVG: what the whole numbers in their paths stand for."""

import html
import re

import msgspec
import pytest

import reported
from truism.show.charts import TALL, Axes, bars, picture, shortened, timeline
from truism.show.contents import Band, Line, Panel, Picture, Span, Summary

NOTHING = Line((), ())
LEVEL = Panel(
    "level", "level ≥ 2", (), Line((0.0, 1.0, 4.0), (1.0, None, 5.0)),
    Band(2.0, None, (), (Span(0.0, 1.0), Span(2.0, 4.0))), Line((0.0,), (1.0,)),
)  # fmt: skip
PUMP = Panel(
    "pump", "pump = on", ("off", "on", "a very long state that goes on"),
    Line((0.0, 1.0, 4.0), (0.0, 1.0, 1.0)),
    Band(None, None, (1, 2), (Span(0.0, 4.0),)), NOTHING,
)  # fmt: skip


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def drawn(*panels: Panel) -> str:
    return picture(Picture(Span(1.0, 2.0), 1.0, panels), "row", "a label")


def paths(chart: str, look: str) -> list[str]:
    """The paths of a chart that look alike."""
    return re.findall(rf'<path class="{look}" d="([^"]*)"', chart)


def attribute(chart: str, name: str) -> list[str]:
    return [html.unescape(value) for value in re.findall(rf' {name}="([^"]*)"', chart)]


def test_a_curve_is_whole_steps_across_and_ten_thousandths_down():
    axes = Axes("row", 100.0, 2.0, 10, 0.0, 4.0)
    line = Line((100.0, 102.0, 104.0, 110.0, 120.0), (4.0, 3.0, 4.0, None, 0.0))
    assert axes.curve(line) == f"M0 0h0l1 2500 1-2500m8 {TALL}h0"
    assert axes.curve(line, steps=True) == f"M0 0h0h1v2500h1v-2500m8 {TALL}h0"
    assert axes.stems(line) == "M0 10000V0M1 10000V2500M2 10000V0M10 10000V10000"
    assert axes.curve(NOTHING) == ""


def test_steps_are_what_all_places_share_so_that_times_are_read_back_exactly():
    minutes = Line((6e10, 6e10 + 60_000, 6e10 + 180_000), (1.0, 2.0, 3.0))
    panel = msgspec.structs.replace(LEVEL, line=minutes, band=None, broken=NOTHING)
    chart = drawn(panel)
    assert attribute(chart, "data-first") == ["60000000000.0"]
    assert attribute(chart, "data-step") == ["60000.0"]
    assert attribute(chart, "data-steps") == ["3"]


def test_places_that_share_no_step_are_still_told_apart():
    odd = Line((0.0, 0.001, 1e7), (1.0, 2.0, 3.0))
    chart = drawn(msgspec.structs.replace(LEVEL, line=odd, band=None, broken=NOTHING))
    assert attribute(chart, "data-steps") == ["100000000"]


def test_a_box_stands_wherever_something_was_expected():
    [expected] = paths(drawn(LEVEL, PUMP), "expected")
    [condition] = paths(drawn(LEVEL, PUMP), "condition")
    assert re.findall(r"M(\d+) 0H(\d+)V(\d+)", expected) == [("0", "1", "7155"), ("2", "4", "7155")]
    # The axis goes from -0.6 to 2.6: on is 1, and the long name 2.
    assert re.findall(r"M(\d+) (\d+)H(\d+)V(\d+)", condition) == [
        ("0", "3688", "4", "6312"),
        ("0", "563", "4", "3188"),
    ]


def test_dots_and_the_incident_are_where_they_were():
    chart = drawn(LEVEL, PUMP)
    assert paths(chart, "broken") == ["M0 9310h0"]
    assert paths(chart, "incident") == [f"M1 0H2V{TALL}H1z"] * 2
    assert attribute(chart, "data-name")[0] == "level"


def test_states_are_named_and_long_names_cut():
    chart = drawn(PUMP)
    assert re.findall(r'class="y"[^>]*>([^<]*)<', chart) == ["off", "on", "a very long state …"]
    assert "a very long state that goes on" in attribute(chart, "data-name")
    assert 'class="chart wide"' in chart, "there is room for it"
    assert 'class="chart wide"' not in drawn(LEVEL)
    assert shortened("x" * 50) == "x" * 21 + "…"


def test_of_very_many_states_some_are_named_and_all_can_be_read():
    names = tuple(f"s{i}" for i in range(100))
    chart = drawn(msgspec.structs.replace(PUMP, states=names))
    shown = re.findall(r'class="y"(?![^>]*display)[^>]*>([^<]*)<', chart)
    assert 10 < len(shown) < 40
    assert len(re.findall(r'class="y"', chart)) == 100


def test_only_the_last_plot_has_the_axis():
    assert re.findall(r'class="(plot[^"]*)"', drawn(LEVEL, PUMP, LEVEL)) == [
        "plot",
        "plot",
        "plot axis",
    ]


def test_a_panel_without_values_or_expectation_has_a_range_all_the_same():
    nothing = msgspec.structs.replace(LEVEL, line=Line((0.0,), (None,)), band=None, broken=NOTHING)
    chart = drawn(nothing)
    low, high = (float(attribute(chart, f"data-{end}")[0]) for end in ("low", "high"))
    assert low < high
    assert paths(chart, "expected") == []


def test_the_timeline_has_a_band_for_each_incident_and_the_threshold(summary):
    chart = timeline(summary)
    assert len(paths(chart, "threshold")) == 1
    numbers = [card.number for card in summary.incidents]
    assert attribute(chart, "href") == [f"#incident-{number}" for number in numbers]
    labels = attribute(chart, "aria-label")
    for card in summary.incidents:
        assert f"incident {card.number}: {card.title}, {card.when}" in labels


def test_an_incident_of_one_row_is_wide_enough_to_be_clicked(summary):
    line = Line(tuple(map(float, range(10_000))), (1.0,) * 10_000)
    card = msgspec.structs.replace(summary.incidents[0], span=Span(5.0, 6.0))
    long = msgspec.structs.replace(summary, scores=line, unit="row", incidents=(card,))
    assert attribute(timeline(long), "width")[1] == "40.0"


def test_the_axis_of_scores_is_logarithmic_where_a_linear_one_shows_only_peaks(summary):
    assert attribute(timeline(summary), "data-scale") == ["linear"]
    line = Line(tuple(map(float, range(100))), (*(1.0,) * 99, 1000.0))
    peak = msgspec.structs.replace(summary, scores=line, unit="row", threshold=3.0)
    chart = timeline(peak)
    assert attribute(chart, "data-scale") == ["log"]
    assert re.findall(r'class="y"[^>]*>([^<]*)<', chart) == ["1", "10", "100", "1000"]


@pytest.mark.parametrize(
    "y",
    [(), (0.0,) * 3, (None,) * 3, (1e-9, 1e9, 1.0), (-1.7e308, 1.7e308), (5e-324, 0.0), (1e300,)],
)
def test_charts_of_strange_numbers_are_drawn(summary, y):
    line = Line(tuple(map(float, range(len(y)))), y)
    for threshold in (0.0, 0.5, 1e308):
        strange = msgspec.structs.replace(summary, scores=line, unit="row", threshold=threshold)
        assert "nan" not in timeline(strange)
    assert "nan" not in drawn(msgspec.structs.replace(LEVEL, line=line, broken=line))


def test_names_are_text_in_charts():
    name = '</svg><script>"&'
    hostile = msgspec.structs.replace(PUMP, variable=name, says=name, states=(name, name))
    chart = drawn(hostile, hostile)
    assert name not in chart
    assert "<script" not in chart
    assert name in html.unescape(chart)
    assert name in attribute(chart, "data-name")


def test_bars_are_as_high_as_what_they_count():
    chart = bars((1.0, 0.0, 0.5), (0.0, 1.0, 0.0))
    assert paths(chart, "then") == ["M0 30V1h44V30h44V15.5h44V30"]
    assert paths(chart, "now") == ["M0 30V30h44V1h44V30h44V30"]
    assert 'aria-label="Spread of x"' in bars((1,), label="Spread of x")
    assert bars(()).startswith("<svg")
