"""Figures for notebooks: what they show, and that they save offline."""

import numpy as np
import pytest

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
        f"row {incident.peak} scores 0 there, but {incident.score:.4g} in the incident."
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
