"""Pictures for notebooks and papers: figures that can be styled, and saved as PNG or SVG.

They use matplotlib, not the SVG of the report page, because figures for papers are styled by hand.
Matplotlib is optional (``pip install 'truism[plot]'``). Each function takes an ``ax`` or makes a figure,
shows nothing by itself, and leaves the user's style settings alone.
"""

from collections.abc import Iterable, Sequence
from numbers import Integral
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, TruismError
from truism.explain.blames import Blame
from truism.explain.checker import Checker
from truism.explain.explanations import Explanation
from truism.explain.incidents import Incident
from truism.model.predicates import variables
from truism.model.rules import Rule
from truism.show.contents import Panel, Unit
from truism.show.pictures import Axis, Painter
from truism.table.columns import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from truism.estimator import InvariantRuleDetector

_SERIES, _EXPECTED, _CONDITION = "#334e68", "#2f855a", "#829ab1"
_INCIDENT, _BROKEN = "#b7791f", "#c53030"


def scores(
    detector: "InvariantRuleDetector",
    data: Any,
    *,
    gap: int | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draw the score of every row, the threshold, and the incidents as numbered bands.

    Parameters
    ----------
    detector
        A fitted detector.
    data
        Rows in order of time.
    gap
        How many normal rows may lie between two anomalous rows of one incident; absent, a minute
        of them, or five if that is more.
    ax
        Where to draw; a new figure when absent.

    """
    checker, table, axis = _prepare(detector, data)
    findings = checker.find(table, gap=gap)
    values, threshold = findings.excess, findings.threshold
    if ax is None:
        ax = _new(1, 2.6)[0]
    x = _moments(axis.x, axis.unit)
    for number, incident in enumerate([*findings.incidents, *findings.shifts], 1):
        span = axis.span(incident.start, incident.end)
        start, end = _moments(np.array([span.start, span.end]), axis.unit)
        ax.axvspan(start, end, color=_INCIDENT, alpha=0.2, lw=0.8)
        if number <= 20:
            ax.annotate(
                str(number), (start, 1), xycoords=("data", "axes fraction"), va="bottom", fontsize=8
            )
    ax.plot(x, values, color=_SERIES, lw=0.9)
    ax.axhline(threshold, color=_BROKEN, ls="--", lw=0.9, label=f"threshold {threshold:g}")
    ax.set_ylabel("anomaly score")
    ax.legend(frameon=False, loc="upper left", fontsize=8)
    return _finish(ax, axis.unit)


def incident(
    detector: "InvariantRuleDetector",
    data: Any,
    which: Incident,
    *,
    blame: int = 0,
) -> "Figure":
    """Draw an incident: the blamed variable, what was expected of it, and below it the condition.

    Parameters
    ----------
    detector
        A fitted detector.
    data
        The rows in which the incident was found.
    which
        One of ``detector.incidents(data)``.
    blame
        Position of the blame to draw; 0 has the largest share.

    """
    if not isinstance(which, Incident):
        raise ParameterError.of(
            "which", "be an incident", which, "take one from detector.incidents(data)."
        )
    if not isinstance(blame, Integral) or not 0 <= blame < len(which.blames):
        raise ParameterError.of("blame", f"be at least 0 and below {len(which.blames)}", blame)
    checker, table, axis = _prepare(detector, data)
    _refuse_other_rows(checker, table, which)
    drawn = Painter(checker.scorer, table, axis).paint(which, which.blames[blame])
    axes = _draw(drawn.panels, axis.unit, 1, first=2.4)
    start, end = _moments(np.array([drawn.incident.start, drawn.incident.end]), axis.unit)
    for ax, panel in zip(axes, drawn.panels, strict=True):
        if panel.broken.x:
            at = _moments(np.array(panel.broken.x), axis.unit)
            ax.plot(at, np.array(panel.broken.y, np.float64), "x", color=_BROKEN, ms=4)
        ax.axvspan(start, end, facecolor=_INCIDENT, edgecolor=_INCIDENT, alpha=0.12, ls=":")
    text, _, _ = which.blames[blame].reasons[0].lines()
    axes[0].set_title(text, fontsize=10, loc="left", parse_math=False)
    return _finish(axes[-1], axis.unit)


def rule(detector: "InvariantRuleDetector", data: Any, which: Rule | str) -> "Figure":
    """Draw a rule as one small chart per variable, with the rows that support and that break it.

    Parameters
    ----------
    detector
        A fitted detector.
    data
        Rows: training rows show what supports the rule, other rows what breaks it.
    which
        A rule of ``detector.rules_``, or its id.

    """
    chosen = detector.rules_.find(which) if isinstance(which, str) else which
    checker, table, axis = _prepare(detector, data)
    scorer = checker.scorer
    claims, conditions = chosen.consequents, chosen.antecedent
    panels = Painter(scorer, table, axis).panels(claims, conditions, table, axis.x)
    holds, broken = scorer.apply(chosen, table)
    n_claimed = sum(len(variables(predicate)) for predicate in claims)
    axes = _draw(panels, axis.unit, n_claimed, first=1.5)
    x = _moments(axis.x, axis.unit)
    for ax in axes:
        low, high = ax.get_ylim()
        for mask, colour, level in ((holds & ~broken, _EXPECTED, 0.0), (broken, _BROKEN, 0.04)):
            rows = np.flatnonzero(mask)
            ax.plot(
                x[rows], np.full(len(rows), low + level * (high - low)), "|", color=colour, ms=4
            )
        ax.set_ylim(low, high)
    n_held, n_broken = int((holds & ~broken).sum()), int(broken.sum())
    axes[0].set_title(
        f"{fill(str(chosen), 110)}\n{n_held:,} rows support it (green), {n_broken:,} break it (red)",
        fontsize=9, loc="left", parse_math=False,
    )  # fmt: skip
    return _finish(axes[-1], axis.unit)


def blame(
    explained: Explanation | Incident | Sequence[Blame], *, most: int = 10, ax: "Axes | None" = None
) -> "Figure":
    """Draw the blamed variables as bars, each with what was expected and found.

    Parameters
    ----------
    explained
        An incident, an explanation of one row, or blames.
    most
        How many variables to show.
    ax
        Where to draw; a new figure when absent.

    """
    shown = _blames_of(explained)[:most][::-1]
    if ax is None:
        ax = _new(1, 0.6 + 0.36 * len(shown))[0]
    bars = ax.barh(range(len(shown)), [100 * blame.share for blame in shown], color=_INCIDENT)
    ax.set_yticks(range(len(shown)), [blame.variable for blame in shown], parse_math=False)
    for bar, blame in zip(bars, shown, strict=True):
        text = f"{100 * blame.share:.0f} %"
        for reason in blame.reasons[:1]:
            text += f"  {reason.lines()[0]}"
        ax.annotate(
            text, (bar.get_width(), bar.get_y() + bar.get_height() / 2), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize=8, parse_math=False,
        )  # fmt: skip
    ax.set_xlim(0, 100)
    ax.set_xlabel("share of the score, %")
    return _finish(ax, "row", label=False)


def _blames_of(explained: Any) -> list[Blame]:
    if isinstance(explained, Explanation | Incident):
        return list(explained.blames)
    if isinstance(explained, Iterable):
        blames = list(explained)
        if all(isinstance(blame, Blame) for blame in blames):
            return blames
        got = f"a sequence of {type(blames[0]).__name__}"
    else:
        got = repr(explained)
    raise ParameterError(
        f"explained must be an incident, an explanation, or blames, got {got}.",
        "take one from detector.incidents(data) or detector.explain(data).",
    )


def _refuse_other_rows(checker: Checker, table: Table, which: Incident) -> None:
    """Refuse rows or a model that cannot have produced an incident."""
    if which.end >= table.n_rows:
        why = f"there are {table.n_rows} rows, but the incident ends in row {which.end}"
    elif (
        which.kind == "incident"
        and not checker.excess(table)[which.start] > checker.model.threshold
    ):
        why = f"row {which.start}, where the incident starts, is no anomaly there"
    else:
        return
    raise ParameterError(f"data must be the rows in which the incident was found; {why}.")


def _prepare(detector: "InvariantRuleDetector", data: Any) -> tuple[Checker, Table, Axis]:
    table, checker = detector._ready(data)
    return checker, table, Axis(table, checker.model.schema)


def _draw(panels: Sequence[Panel], unit: Unit, n_expected: int, first: float) -> list["Axes"]:
    """Draw each panel, with green bands in the first few."""
    axes = _new(len(panels), 1.5, first)
    for position, (ax, panel) in enumerate(zip(axes, panels, strict=True)):
        x, y = _moments(np.array(panel.line.x), unit), np.array(panel.line.y, np.float64)
        ax.plot(x, y, color=_SERIES, lw=0.9, drawstyle="steps-post" if panel.states else "default")
        _draw_band(ax, panel, unit, _EXPECTED if position < n_expected else _CONDITION)
        ax.set_ylabel(
            panel.variable, rotation=0, ha="right", va="center", fontsize=9, parse_math=False
        )
        if panel.states:
            ax.set_yticks(range(len(panel.states)), panel.states, fontsize=8, parse_math=False)
            ax.set_ylim(-0.6, len(panel.states) - 0.4)
    return axes


def _draw_band(ax: "Axes", panel: Panel, unit: Unit, colour: str) -> None:
    if panel.band is None:
        return
    low, high = ax.get_ylim()
    if panel.states:
        levels = [(state - 0.4, state + 0.4) for state in panel.band.states]
    else:
        bottom = low if panel.band.low is None else panel.band.low
        levels = [(bottom, high if panel.band.high is None else panel.band.high)]
    for span in panel.band.spans:
        x = _moments(np.array([span.start, span.end]), unit)
        for bottom, top in levels:
            ax.fill_between(x, bottom, top, color=colour, alpha=0.2, lw=0)
    bounds = [bound for level in levels for bound in level]
    ax.set_ylim(min(low, *bounds), max(high, *bounds))


def _moments(x: NDArray[np.float64], unit: Unit) -> NDArray[Any]:
    return x if unit == "row" else np.round(x * 1e3).astype("datetime64[us]")


def _new(n_panels: int, height: float, first: float | None = None) -> list["Axes"]:
    """Make a figure without pyplot, which would keep it alive and may need a screen."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise TruismError(
            "Plots need matplotlib, which is not installed.", "pip install 'truism[plot]'."
        ) from None
    heights = [first or height] + [height] * (n_panels - 1)
    figure = Figure(figsize=(9, sum(heights) + 0.5), layout="constrained")
    axes = figure.subplots(n_panels, 1, sharex=True, squeeze=False, height_ratios=heights)
    return list(axes[:, 0])


def _finish(ax: "Axes", unit: Unit, *, label: bool = True) -> "Figure":
    figure = ax.figure.figure
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    if unit == "time":
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator()
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    elif label:
        ax.set_xlabel("row")
    return figure
