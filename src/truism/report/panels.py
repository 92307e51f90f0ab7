"""Pictures of broken rules for the page: empty panels once, and the content of each picture."""

import itertools
from typing import Any

import numpy as np
from bokeh.document import Document
from bokeh.models import BoxAnnotation, ColumnDataSource, FixedTicker, Range1d
from numpy.typing import NDArray

from truism.report.charts import (
    BROKEN,
    CONDITION,
    EXPECTED,
    INCIDENT,
    LEFT,
    SERIES,
    arrays,
    as_json,
    ends,
    new_figure,
    new_hover,
)
from truism.report.contents import Panel, Picture, Unit

_LONGEST_STATE = 22
_LETTER, _MARGIN = 6.2, 16  # pixels


def skeletons(unit: Unit) -> str:
    """Return the empty panels of pictures; `picture` returns their content.

    Bokeh spends more time and bytes on a panel's axes and tools than on its values, and they are
    the same in every picture. So the page holds each kind of panel once; its script makes copies
    and fills in the attributes of the models that have a name here.
    """
    kinds = {}
    for first, states, bottom in itertools.product((True, False), repeat=3):
        document = Document()
        document.add_root(_skeleton(unit, first=first, states=states, bottom=bottom))
        kinds[_kind(first, states, bottom)] = document.to_json(deferred=False)
    return as_json(kinds)


def _kind(first: bool, states: bool, bottom: bool) -> str:
    return f"{'blamed' if first else 'condition'}-{'states' if states else 'numbers'}-{bottom:d}"


def _skeleton(unit: Unit, *, first: bool, states: bool, bottom: bool) -> Any:
    plot = new_figure(unit, 100, Range1d(0, 1, name="x"), "linear", axis=bottom)
    plot.name = "plot"
    plot.y_range = Range1d(0, 1, name="y")
    if states:
        plot.yaxis.ticker = FixedTicker(ticks=[0], name="states")
        plot.yaxis.name = "state-axis"
        plot.ygrid.grid_line_color = None
    else:
        plot.yaxis.ticker.desired_num_ticks = 4 if first else 2
    colour = EXPECTED if first else CONDITION
    plot.quad(
        left="left",
        right="right",
        bottom="bottom",
        top="top",
        source=_source("band"),
        fill_color=colour,
        fill_alpha=0.17 if first else 0.14,
        line_color=colour,
        line_alpha=0.5 if first else 0.0,
    )
    look = {"source": _source("line"), "line_color": SERIES, "line_width": 1.5 if first else 1.2}
    drawn = plot.step("x", "y", mode="after", **look) if states else plot.line("x", "y", **look)
    if first:
        plot.scatter(
            "x",
            "y",
            source=_source("broken"),
            marker="x",
            size=6,
            line_color=BROKEN,
            line_width=1.6,
        )
    if not states:
        plot.add_tools(new_hover(unit, [("value", "@y{0.[00000]}")], [drawn], "vline"))
    plot.add_layout(
        BoxAnnotation(
            left=0,
            right=1,
            fill_color=INCIDENT,
            fill_alpha=0.07,
            line_color=INCIDENT,
            line_dash="dotted",
            line_alpha=0.9,
            name="incident",
        )
    )
    for renderer in plot.renderers:
        renderer.nonselection_glyph = renderer.muted_glyph = None
    return plot


def _source(name: str) -> ColumnDataSource:
    names = ("left", "right", "bottom", "top") if name == "band" else ("x", "y")
    return ColumnDataSource({each: [] for each in names}, name=name)


def picture(drawn: Picture) -> str:
    """Return the content of one picture: the blamed variable and, below it, those of the condition."""
    x, _ = arrays(drawn.panels[0].line)
    start, end = ends(x)
    last = len(drawn.panels) - 1
    left = _left(drawn)
    panels = [
        {
            "kind": _kind(i == 0, bool(panel.states), i == last),
            "fill": {
                **_content(panel, first=i == 0, bottom=i == last, left=left),
                "incident": {"left": drawn.incident.start, "right": drawn.incident.end},
            },
        }
        for i, panel in enumerate(drawn.panels)
    ]
    # Steps take fewer bytes than moments; the script adds them up.
    steps = [round(step, 3) for step in np.diff(x, prepend=0.0).tolist()]
    return as_json({"x": {"start": start, "end": end}, "steps": steps, "panels": panels})


def _left(drawn: Picture) -> int:
    """Return the left border of all panels of a picture, wide enough for the names of states."""
    names = [shortened(name, _LONGEST_STATE) for panel in drawn.panels for name in panel.states]
    return max(LEFT, round(_LETTER * max(map(len, names), default=0) + _MARGIN))


def shortened(name: str, most: int) -> str:
    """Shorten a name to whole words; a single word is left as it is.

    >>> shortened("not seen in training", 14), shortened("unforeseeable", 5), shortened("on", 5)
    ('not seen in …', 'unforeseeable', 'on')
    """
    if len(name) <= most:
        return name
    words = name.split(" ")
    while len(words) > 1 and len(" ".join(words)) > most - 2:
        words.pop()
    kept = " ".join(words)
    return kept if kept == name else f"{kept} …"


def _content(panel: Panel, *, first: bool, bottom: bool, left: int) -> dict[str, Any]:
    _, y = arrays(panel.line)
    low, high = _panel_range(panel, y)
    if panel.states:
        height = 44 + 24 * len(panel.states) if first else 30 + 18 * min(len(panel.states), 6)
    else:
        height = 170 if first else 84
    content: dict[str, Any] = {
        "plot": {"height": height + (22 if bottom else 0), "min_border_left": left},
        "y": {"start": low, "end": high},
        "line": {"y": [_brief(value) for value in panel.line.y]},
        "band": {} if panel.band is None else _boxes(panel, low, high),
        "broken": {"x": panel.broken.x, "y": [_brief(value) for value in panel.broken.y]},
    }
    if panel.states:
        content["states"] = [shortened(name, _LONGEST_STATE) for name in panel.states]
    return content


def _brief(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def _panel_range(panel: Panel, y: NDArray[np.float64]) -> tuple[float, float]:
    if panel.states:
        return -0.6, len(panel.states) - 0.4
    known = y[np.isfinite(y)].tolist()
    if panel.band is not None:
        known += [bound for bound in (panel.band.low, panel.band.high) if bound is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    spare = 0.08 * (high - low) or abs(low) * 0.1 or 1.0
    return low - spare, high + spare


def _boxes(panel: Panel, low: float, high: float) -> dict[str, list[float]]:
    band = panel.band
    assert band is not None
    if panel.states:
        levels = [(state - 0.42, state + 0.42) for state in band.states]
    else:
        levels = [(low if band.low is None else band.low, high if band.high is None else band.high)]
    boxes = [(span.start, span.end, *level) for span in band.spans for level in levels]
    names = ("left", "right", "bottom", "top")
    return {name: [box[i] for box in boxes] for i, name in enumerate(names)}
