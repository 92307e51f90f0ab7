"""Charts of a `Summary`, as Bokeh documents in JSON that the page's script shows on demand.

Names from data never reach Bokeh where it would read them as mathematics or as a template: captions
are HTML beside the chart, and state names are plain text. Colours are those of a light page; the
script replaces them on a dark one as `DARK_FOR` says.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.core.properties import value
from bokeh.document import Document
from bokeh.models import (
    BoxAnnotation,
    ColumnDataSource,
    DatetimeTickFormatter,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
    TapTool,
    WheelZoomTool,
)
from bokeh.models import Span as Ruler
from bokeh.plotting import figure
from numpy.typing import NDArray

from truism.report.contents import Detection, Line, Summary, Unit

INK, FAINT, GRID, SERIES = "#1f2933", "#52606d", "#e4e7eb", "#334e68"
EXPECTED, CONDITION, INCIDENT, BROKEN = "#2f855a", "#627d98", "#b7791f", "#c53030"
DARK_FOR = {
    INK: "#e4e7eb",
    FAINT: "#9fb3c8",
    GRID: "#2d3a47",
    SERIES: "#bcccdc",
    EXPECTED: "#68d391",
    CONDITION: "#829ab1",
    INCIDENT: "#f6c065",
    BROKEN: "#fc8181",
}
FONT = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
_TOOLS = "xpan,xbox_zoom,reset"
LEFT = 72
_NARROWEST = 0.004  # share of the axis: an incident of one row must still be visible and clickable
_LABEL_ROOM = 0.022
_WIDE_RATIO = 50.0
_TIME = DatetimeTickFormatter(
    seconds="%H:%M:%S",
    minsec="%H:%M:%S",
    minutes="%H:%M",
    hourmin="%H:%M",
    hours="%H:%M",
    days="%d %b",
    months="%b\n%Y",
    years="%Y",
)


def timeline(summary: Summary) -> str:
    """Draw the score, the threshold, and the incidents as bands that can be clicked."""
    x, y = arrays(summary.scores)
    first, last = ends(x)
    low, high, logarithmic = _score_range(y, summary.threshold)
    plot = new_figure(summary.unit, 230, Range1d(first, last), "log" if logarithmic else "linear")
    plot.y_range = Range1d(low, high)
    if summary.weaker:
        plot.quad(
            left=[span.start for span in summary.weaker],
            right=[span.end for span in summary.weaker],
            bottom=low,
            top=high,
            fill_color=INCIDENT,
            fill_alpha=0.1,
            line_color=INCIDENT,
            line_alpha=0.25,
            line_dash="dotted",
        )
    top = _bands(plot, summary, last - first, low, high, logarithmic)
    drawn = np.maximum(y, low) if logarithmic else y
    source = ColumnDataSource({"x": x, "y": _single(drawn), "score": _single(y)})
    if summary.several:
        score = plot.segment("x", low, "x", "y", source=source, line_color=SERIES, line_width=1.2)
    else:
        score = plot.line("x", "y", source=source, line_color=SERIES, line_width=1.2)
    plot.add_layout(
        Ruler(
            location=max(summary.threshold, low),
            dimension="width",
            line_color=BROKEN,
            line_dash="dashed",
            line_width=1,
        )
    )
    plot.add_tools(
        new_hover(summary.unit, [("score", "@score{0.[0000]}")], [score], "vline"),
        HoverTool(
            renderers=[top],
            tooltips=[("incident", "@number"), ("variable", "@title"), ("when", "@when")],
            point_policy="follow_mouse",
        ),
        TapTool(renderers=[top]),
        WheelZoomTool(dimensions="width", modifiers={"ctrl": True}),
    )
    return _document([plot])


def _single(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Halve the size of a page; what no float of that size holds is beyond every axis anyway."""
    largest = np.finfo(np.float32).max
    return np.clip(values, -largest, largest).astype(np.float32)


def _bands(
    plot: Any, summary: Summary, extent: float, low: float, high: float, logarithmic: bool
) -> Any:
    least = extent * _NARROWEST
    cards = summary.incidents
    starts = np.array([card.span.start for card in cards])
    ends = np.array([card.span.end for card in cards])
    spare = np.maximum(least - (ends - starts), 0) / 2
    first = summary.scores.x[0] if summary.scores.x else 0.0
    inside = extent * _LABEL_ROOM / 2
    middles = np.clip((starts + ends) / 2, first + inside, first + extent - inside)
    at = 10 ** (0.95 * math.log10(high) + 0.05 * math.log10(low)) if logarithmic else high * 0.95
    source = ColumnDataSource(
        {
            "left": starts - spare,
            "right": ends + spare,
            "middle": middles,
            "at": np.full(len(cards), at),
            "number": [str(card.number) for card in cards],
            "label": _labels(middles.tolist(), [card.number for card in cards], extent),
            "title": [card.title for card in cards],
            "when": [card.when for card in cards],
        },
        name="incidents",
    )
    bands = plot.quad(
        left="left",
        right="right",
        bottom=low,
        top=high,
        source=source,
        fill_color=INCIDENT,
        fill_alpha=0.16,
        line_color=INCIDENT,
        line_alpha=0.55,
        hover_fill_alpha=0.4,
        hover_fill_color=INCIDENT,
        selection_fill_alpha=0.4,
        nonselection_fill_alpha=0.16,
        nonselection_line_alpha=0.55,
    )
    numbers = plot.text(
        "middle",
        "at",
        text="label",
        source=source,
        text_align="center",
        text_color=INK,
        text_baseline="middle",
        text_font=value(FONT),
        text_font_size="11px",
        text_font_style="bold",
    )
    numbers.nonselection_glyph = None
    return bands


def _labels(middles: Sequence[float], numbers: Sequence[int], extent: float) -> list[str]:
    """Return the numbers to print on the bands: the worst first, while there is room."""
    placed: list[float] = []
    labels = []
    for middle, number in zip(middles, numbers, strict=True):
        free = all(abs(middle - other) > extent * _LABEL_ROOM for other in placed)
        labels.append(str(number) if free else "")
        if free:
            placed.append(middle)
    return labels


def _score_range(y: NDArray[np.float64], threshold: float) -> tuple[float, float, bool]:
    """Return the range of the axis, and whether it is logarithmic: a linear one may show only peaks."""
    positive = y[np.isfinite(y) & (y > 0)]
    if not len(positive):
        return 0.0, max(1.0, 2 * threshold), False
    largest = max(float(positive.max()), threshold)
    typical = float(np.median(positive))
    if largest / typical <= _WIDE_RATIO:
        return 0.0, 1.12 * largest, False
    floor = threshold / 3 if threshold > 0 else float(np.quantile(positive, 0.02))
    floor = max(floor, largest * 1e-7)
    return floor, floor * (largest / floor) ** 1.12, True


def roc(detection: Detection) -> str:
    """Draw the ROC, and mark the region of low false-positive rates."""
    plot = new_figure("row", 300, Range1d(-0.01, 1.01), "linear")
    plot.y_range = Range1d(-0.02, 1.03)
    for axis in (plot.xaxis, plot.yaxis):
        axis.formatter = NumeralTickFormatter(format="0%")
    plot.xaxis.axis_label, plot.yaxis.axis_label = "false-positive rate", "true-positive rate"
    plot.add_layout(
        BoxAnnotation(
            left=0,
            right=detection.max_false_positive_rate,
            fill_color=EXPECTED,
            fill_alpha=0.12,
            line_color=EXPECTED,
            line_dash="dotted",
        )
    )
    plot.line([0, 1], [0, 1], line_color=FAINT, line_dash="dashed", line_width=1)
    source = ColumnDataSource(
        {
            "x": np.array(detection.false_positive_rates),
            "y": np.array(detection.true_positive_rates),
        }
    )
    drawn = plot.line("x", "y", source=source, line_color=SERIES, line_width=2)
    plot.scatter(
        [detection.false_positive_rate],
        [detection.true_positive_rate],
        marker="x",
        size=10,
        line_color=BROKEN,
        line_width=2.5,
    )
    plot.add_tools(
        HoverTool(
            renderers=[drawn],
            tooltips=[("false positives", "@x{0.0%}"), ("true positives", "@y{0.0%}")],
        )
    )
    return _document([plot])


def new_figure(unit: Unit, height: int, shared: Range1d, scale: str, axis: bool = True) -> Any:
    """Make an empty chart in the page's style; equal left borders align charts."""
    plot = figure(
        height=height,
        sizing_mode="stretch_width",
        tools=_TOOLS,
        active_drag="xpan",
        toolbar_location=None,
        x_range=shared,
        y_axis_type=scale,
        x_axis_type="datetime" if unit == "time" else "linear",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_left=LEFT,
        min_border_right=12,
        min_border_top=4,
        min_border_bottom=4,
    )
    for each in (*plot.xaxis, *plot.yaxis):
        each.axis_line_color = GRID
        each.major_tick_line_color, each.minor_tick_line_color = GRID, None
        each.major_label_text_color = each.axis_label_text_color = FAINT
        each.major_label_text_font = each.axis_label_text_font = FONT
        each.major_label_text_font_size = each.axis_label_text_font_size = "11px"
        each.axis_label_text_font_style = "normal"
    plot.grid.grid_line_color = GRID
    if unit == "time":
        plot.xaxis.formatter = _TIME.clone()
    elif unit == "row":
        plot.xaxis.formatter = NumeralTickFormatter(format="0,0")
    if not axis:
        plot.xaxis.major_label_text_font_size = "0px"
        plot.xaxis.major_tick_line_color = None
    return plot


def new_hover(
    unit: Unit, more: list[tuple[str, str]], renderers: list[Any], mode: str
) -> HoverTool:
    """Make a tooltip that shows the time or row, and more, of the point under the mouse."""
    where = ("time", "@x{%F %T}") if unit == "time" else ("row", "@x{0,0}")
    formatters = {"@x": "datetime"} if unit == "time" else {}
    return HoverTool(
        tooltips=[where, *more],
        formatters=formatters,
        renderers=renderers,
        mode=mode,
        line_policy="nearest",
    )


def arrays(line: Line) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a line as arrays, with missing values as NaN."""
    y = [math.nan if value is None else value for value in line.y]
    return np.array(line.x, np.float64), np.array(y, np.float64)


def ends(x: NDArray[np.float64]) -> tuple[float, float]:
    """Return the first and the last place on an axis, never the same."""
    if not len(x):
        return 0.0, 1.0
    first, last = float(x[0]), float(x[-1])
    return (first, last) if last > first else (first - 0.5, first + 0.5)


def _document(plots: Sequence[Any]) -> str:
    document = Document()
    for plot in plots:
        document.add_root(plot)
    return as_json({"document": document.to_json(deferred=False)})


def as_json(content: Any) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(content, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
