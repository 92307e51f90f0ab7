"""Figures for notebooks: what they show, and that they save offline."""

import numpy as np
import pytest
from matplotlib.dates import date2num

from reported import NORMAL, attacked
from truism import InvariantRuleDetector, ParameterError, TruismError, plot


@pytest.fixture(scope="module")
def detector() -> InvariantRuleDetector:
    return InvariantRuleDetector(min_support=0.1, scoring="paper").fit(NORMAL)


@pytest.fixture(scope="module")
def table() -> dict[str, object]:
    columns = attacked()
    del columns["label"], columns["note"]
    return columns


def figures(detector, table):
    incident = detector.incidents(table, gap=2)[0]
    broken = incident.blames[0].reasons[0].rule
    return {
        "scores": plot.scores(detector, table, gap=2),
        "incident": plot.incident(detector, table, incident),
        "rule": plot.rule(detector, table, broken),
        "blame": plot.blame(incident),
    }


@pytest.mark.parametrize("name", ["scores", "incident", "rule", "blame"])
def test_every_figure_saves_as_png_and_svg(detector, table, tmp_path, name):
    figure = figures(detector, table)[name]
    figure.savefig(tmp_path / "f.png")
    figure.savefig(tmp_path / "f.svg")
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "f.svg").read_text()


def test_the_incident_shows_its_variable_and_the_condition(detector, table):
    figure = figures(detector, table)["incident"]
    assert [ax.get_ylabel() for ax in figure.axes] == ["flow", "pump"]
    assert figure.axes[0].get_title(loc="left") == "expected flow ≥ 1, found -1.5"


def test_the_rule_says_how_many_rows_support_and_break_it(detector, table):
    figure = figures(detector, table)["rule"]
    title = figure.axes[0].get_title(loc="left")
    assert title.endswith("90 rows support it (green), 10 break it (red)")


def test_scores_have_a_line_per_row_and_the_threshold(detector, table):
    [ax] = figures(detector, table)["scores"].axes
    assert len(ax.lines[0].get_ydata()) == 200
    assert list(ax.lines[1].get_ydata()) == [0.0, 0.0]


def test_a_figure_draws_into_axes_that_it_is_given(detector, table):
    from matplotlib.figure import Figure

    own = Figure()
    ax = own.subplots()
    assert plot.scores(detector, table, ax=ax) is own
    assert plot.blame(detector.incidents(table)[0], ax=ax) is own


def test_names_that_look_like_mathematics_are_drawn_as_they_are(tmp_path):
    name = "$x_{$ flow"
    normal = {name: NORMAL["flow"], "$pump$": NORMAL["pump"]}
    detector = InvariantRuleDetector(min_support=0.1).fit(normal)
    now = {**normal, name: np.array(attacked()["flow"])}
    incident = detector.incidents(now)[0]
    for figure in (plot.incident(detector, now, incident), plot.blame(incident)):
        figure.savefig(tmp_path / "f.svg")


def test_a_blame_that_is_not_there_is_refused(detector, table):
    incident = detector.incidents(table)[0]
    with pytest.raises(ParameterError) as caught:
        plot.incident(detector, table, incident, blame=9)
    n_blames = len(incident.blames)
    assert str(caught.value) == f"blame must be at least 0 and below {n_blames}, got 9."


def test_what_is_no_incident_is_refused(detector, table):
    with pytest.raises(ParameterError) as caught:
        plot.incident(detector, table, 0)
    assert str(caught.value) == (
        "which must be an incident, got 0.\nHint: take one from detector.incidents(data)."
    )
    incident = detector.incidents(table)[0]
    with pytest.raises(ParameterError, match=r"^blame must be at least 0 and below"):
        plot.incident(detector, table, incident, blame="flow")


def test_rows_in_which_the_incident_was_not_found_are_refused(detector, table):
    incident = detector.incidents(table, gap=2)[0]
    few = {name: column[:20] for name, column in table.items()}
    with pytest.raises(ParameterError) as caught:
        plot.incident(detector, few, incident)
    assert str(caught.value) == (
        "data must be the rows in which the incident was found; "
        "there are 20 rows, but the incident ends in row 39."
    )
    with pytest.raises(ParameterError) as caught:
        plot.incident(detector, NORMAL, incident)
    assert str(caught.value) == (
        "data must be the rows in which the incident was found; "
        f"row {incident.start}, where the incident starts, is no anomaly there."
    )


@pytest.mark.parametrize(
    ("take", "got"), [(list, "a sequence of Incident"), (lambda found: len(found), "2")]
)
def test_what_blames_nobody_is_refused(detector, table, take, got):
    with pytest.raises(ParameterError) as caught:
        plot.blame(take(detector.incidents(table, gap=2)))
    assert str(caught.value) == (
        f"explained must be an incident, an explanation, or blames, got {got}.\n"
        "Hint: take one from detector.incidents(data) or detector.explain(data)."
    )


def test_without_matplotlib_the_error_says_what_to_install(detector, table, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(TruismError) as caught:
        plot.scores(detector, table)
    assert str(caught.value) == (
        "Plots need matplotlib, which is not installed.\nHint: pip install 'truism[plot]'."
    )


# --- what was drawn, and where ---


def at(row):
    """Where a row of the day begins on an axis of dates."""
    return date2num(NORMAL["time"][0] + row * np.timedelta64(60, "s"))


def boxes(ax):
    """Left, right, bottom and top of what is filled between lines: what was expected, and where."""
    extents = [each.get_paths()[0].get_extents() for each in ax.collections]
    return [(each.x0, each.x1, each.y0, each.y1) for each in extents]


def bands(ax):
    """Left and right of what covers the whole height: incidents."""
    return [(each.get_x(), each.get_x() + each.get_width()) for each in ax.patches]


def marked(ax, marker):
    """The lines drawn with a marker, each as rows of x and y."""
    lines = [line for line in ax.lines if line.get_marker() == marker]
    return [(date2num(line.get_xdata()), np.asarray(line.get_ydata())) for line in lines]


def test_incidents_are_numbered_bands_over_their_rows(detector, table):
    [ax] = plot.scores(detector, table, gap=2).axes
    found = detector.incidents(table, gap=2)
    assert [(each.start, each.end) for each in found] == [(30, 39), (150, 150)]
    wanted = [(at(each.start), at(each.end + 1)) for each in found]
    assert bands(ax) == [pytest.approx(each) for each in wanted]
    assert [text.get_text() for text in ax.texts] == ["1", "2"]
    assert [date2num(text.xy[0]) for text in ax.texts] == pytest.approx([x for x, _ in wanted])


def test_the_line_of_scores_is_the_scores_at_their_times(detector, table):
    [ax] = plot.scores(detector, table, gap=2).axes
    line = ax.lines[0]
    assert date2num(line.get_xdata()) == pytest.approx(date2num(NORMAL["time"]))
    assert line.get_ydata() == pytest.approx(detector.anomaly_score(table))


def test_the_expected_interval_is_drawn_at_its_bounds_where_the_condition_held(detector, table):
    blamed, condition = figures(detector, table)["incident"].axes
    # The pump is on for the first hundred rows, and then the flow is at least 1.
    [(left, right, bottom, top)] = boxes(blamed)
    assert (left, right) == pytest.approx((at(0), at(100)))
    assert bottom == 1.0
    assert top > max(table["flow"])
    assert blamed.get_ylim()[1] >= top
    # Of the states off and on the condition is the second.
    [(left, right, bottom, top)] = boxes(condition)
    assert (left, right) == pytest.approx((at(0), at(100)))
    assert (bottom, top) == pytest.approx((0.6, 1.4))


def test_the_broken_rows_have_crosses_and_the_incident_is_a_band_in_every_panel(detector, table):
    blamed, condition = figures(detector, table)["incident"].axes
    [(x, y)] = marked(blamed, "x")
    assert x == pytest.approx([at(row) for row in range(30, 40)])
    assert y == pytest.approx([-1.5] * 10)
    assert marked(condition, "x") == []
    for ax in (blamed, condition):
        assert bands(ax) == [pytest.approx((at(30), at(40)))]


def test_the_values_of_the_variable_are_drawn_as_they_are(detector, table):
    blamed, condition = figures(detector, table)["incident"].axes
    [flow], [pump] = (
        [line for line in ax.lines if line.get_marker() == "None"] for ax in (blamed, condition)
    )
    assert flow.get_ydata() == pytest.approx(table["flow"][:100])
    assert set(pump.get_ydata()) == {1.0}
    assert (flow.get_drawstyle(), pump.get_drawstyle()) == ("default", "steps-post")


def test_states_are_named_at_their_places(detector, table):
    _, condition = figures(detector, table)["incident"].axes
    assert condition.get_yticks().tolist() == [0, 1]
    assert [label.get_text() for label in condition.get_yticklabels()] == ["off", "on"]
    low, high = condition.get_ylim()
    assert low < 0 < 1 < high


def test_a_rule_marks_the_rows_that_establish_and_that_break_it(detector, table):
    figure = figures(detector, table)["rule"]
    assert [ax.get_ylabel() for ax in figure.axes] == ["flow", "pump"]
    for ax in figure.axes:
        (held, _), (broken, _) = marked(ax, "|")
        rows = [row for row in range(100) if row not in range(30, 40)]
        assert held == pytest.approx([at(row) for row in rows])
        assert broken == pytest.approx([at(row) for row in range(30, 40)])
    [(left, right, bottom, _)] = boxes(figure.axes[0])
    assert (left, right, bottom) == (pytest.approx(at(0)), pytest.approx(at(100)), 1.0)


def test_bars_are_as_long_as_shares_and_stand_beside_their_variable(detector, table):
    incident = detector.incidents(table, gap=2)[0]
    [ax] = plot.blame(incident).axes
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx([100 * each.share for each in incident.blames][::-1])
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        each.variable for each in incident.blames
    ][::-1]
    middles = [bar.get_y() + bar.get_height() / 2 for bar in ax.patches]
    assert middles == pytest.approx(ax.get_yticks().tolist())
    assert [text.xy[0] for text in ax.texts] == pytest.approx(widths)


def test_only_the_largest_shares_are_drawn_if_few_are_asked_for():
    normal = {**{name: NORMAL[name] for name in ("pump", "flow")}, "mode": ["auto"] * 200}
    detector = InvariantRuleDetector(min_support=0.1, scoring="paper").fit(normal)
    today = {**normal, "flow": [-1.5] * 200, "mode": ["never"] * 200}
    incident = detector.incidents(today)[0]
    assert len(incident.blames) > 1
    [ax] = plot.blame(incident, most=1).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == [incident.blames[0].variable]


def test_without_times_rows_are_where_their_numbers_say(detector):
    table = {name: attacked()[name] for name in ("pump", "flow")}
    [ax] = plot.scores(detector, table, gap=2).axes
    assert bands(ax) == [pytest.approx((30, 40)), pytest.approx((150, 151))]
    assert ax.get_xlabel() == "row"
    blamed = plot.incident(detector, table, detector.incidents(table, gap=2)[0]).axes[0]
    [cross] = [line for line in blamed.lines if line.get_marker() == "x"]
    assert cross.get_xdata().tolist() == list(range(30, 40))
    assert boxes(blamed)[0][:2] == (0, 100)


def test_changes_since_the_row_before_are_drawn_too(table):
    detector = InvariantRuleDetector(min_support=0.1, scoring="paper", delta=True).fit(NORMAL)
    drawn = plot.scores(detector, table, gap=2)
    assert list(drawn.axes[0].lines[0].get_ydata()) == detector.anomaly_score(table).tolist()
