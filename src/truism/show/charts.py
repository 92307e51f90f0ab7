"""Charts of a report as SVG: curves along an axis, what was expected, and where incidents are.

A plot is an SVG of fixed height, in which text keeps its size, around one that stretches to the width of
the page and holds the geometry in whole numbers: x counts steps from the start of the axis, y counts
ten-thousandths of the height from the top. The page's script (page.js) zooms by changing the view box of
the inner one, and reads values back from its paths; without a script, charts stand still. Colours come
from the style, so dark pages and paper need nothing here.
"""

import datetime
import math
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from markupsafe import Markup, escape

from truism.show.contents import Band, Line, Panel, Picture, Span, Summary, Unit
from truism.show.pictures import short

TALL = 10_000
_MOST_STEPS = 1e8
_LARGEST = 1e300  # the difference of two such numbers is a number, too
_NARROWEST = 0.004  # share of the axis: an incident of one row must still be visible and clickable
_WIDE_RATIO = 50.0
_TICK_ROOM, _NAME_ROOM = 34, 13  # pixels
_LONGEST_NAME, _SHORT_NAME = 22, 8
_BAR_WIDTH, _BAR_HEIGHT = 132, 30

Tick = tuple[float, str]


class Axes(msgspec.Struct, frozen=True):
    """What the whole numbers of a plot stand for."""

    unit: Unit  # what x is: milliseconds since 1970, or row numbers
    first: float  # where the x axis begins, and its steps
    step: float
    n_steps: int
    low: float = 0.0  # the y axis
    high: float = 1.0
    logarithmic: bool = False

    def x(self, places: Iterable[float]) -> list[int]:
        """Return places on the x axis in steps from its start."""
        steps = (np.array([*places], np.float64) - self.first) / self.step
        near = np.clip(steps, -self.n_steps, 2 * self.n_steps)
        return [round(step) for step in near.tolist()]

    def y(self, values: Iterable[float | None]) -> list[int | None]:
        """Return how far values are below the top, in ten-thousandths of the height."""
        y = np.array([math.nan if value is None else value for value in values], np.float64)
        y, low, high = np.clip(y, self.low, self.high), self.low, self.high
        if self.logarithmic:
            y, low, high = np.log(y), math.log(low), math.log(high)
        levels = ((high - y) / (high - low) * TALL).tolist()
        return [None if math.isnan(level) else round(level) for level in levels]

    def boxes(self, spans: Iterable[Span], levels: Sequence[tuple[float, float]]) -> str:
        """Return the path of a box for every span and pair of levels."""
        between = [self.y(level) for level in levels]
        across = [self.x((span.start, span.end)) for span in spans]
        return "".join(
            f"M{left} {top}H{right}V{bottom}H{left}z"
            for left, right in across
            for bottom, top in between
        )

    def curve(self, line: Line, *, steps: bool = False) -> str:
        """Return the path of a line, which is interrupted where values are missing."""
        drawn: list[str] = []
        last_x = last_y = 0
        alone, joined = False, False
        for x, y in zip(self.x(line.x), self.y(line.y), strict=True):
            if y is None:
                joined = False
                continue
            across, down = x - last_x, y - last_y
            if joined and steps:
                drawn.append(f"h{across}v{down}")
            elif joined:
                drawn.append(f"{'l' if alone else ' '}{across}{' ' if down >= 0 else ''}{down}")
            else:
                # A move alone draws nothing; a line of no length is a dot.
                drawn.append(f"{'m' if drawn else 'M'}{across} {down}h0")
            alone, joined, last_x, last_y = not joined, True, x, y
        return "".join(drawn)

    def stems(self, line: Line) -> str:
        """Return the path of a stem for every value."""
        points = zip(self.x(line.x), self.y(line.y), strict=True)
        return "".join(f"M{x} {TALL}V{y}" for x, y in points if y is not None)

    def dots(self, line: Line) -> str:
        """Return the path of a dot for every value."""
        points = zip(self.x(line.x), self.y(line.y), strict=True)
        return "".join(f"M{x} {y}h0" for x, y in points if y is not None)


def timeline(summary: Summary) -> Markup:
    """Draw the score, the threshold, and the incidents as bands that link to their cards."""
    low, high, logarithmic = _score_range(summary.scores, summary.threshold)
    axes = _axes(summary.unit, [summary.scores.x], low, high, logarithmic)
    weaker = axes.boxes(summary.weaker, [(low, high)])
    [level] = axes.y([summary.threshold])
    draw = axes.stems if summary.several else axes.curve
    inside = (
        _path("weaker", weaker),
        *(_link(axes, card.span, card.number, card.title, card.when) for card in summary.incidents),
        _curve("score", draw(summary.scores), stems=summary.several),
        _path("threshold", f"M0 {level}H{axes.n_steps}"),
    )
    middles = axes.x((card.span.start + card.span.end) / 2 for card in summary.incidents)
    numbers = (  # the worst first; the script places those for which there is room
        _tag("text", str(card.number), class_="number js-only", y=14, data_at=middle)
        for card, middle in zip(summary.incidents, middles, strict=True)
    )
    ticks = _decades(axes) if logarithmic else _numbers(axes, 206)
    return _chart(
        axes,
        "How unusual the rows are over time, with the incidents that the table below lists",
        [_plot(axes, 206, inside, ticks, numbers)],
        name="score",
    )


def _link(axes: Axes, span: Span, number: int, title: str, when: str) -> Markup:
    start, end = axes.x((span.start, span.end))
    spare = max(0, round(axes.n_steps * _NARROWEST) - (end - start)) / 2
    return _tag(
        "a",
        _tag("rect", x=start - spare, width=max(1, end - start + 2 * spare), height=TALL),
        class_="incident",
        href=f"#incident-{number}",
        tabindex=-1,
        aria_label=f"incident {number}: {title}, {when}",
    )


def _score_range(scores: Line, threshold: float) -> tuple[float, float, bool]:
    """Return the range of the axis, and whether it is logarithmic: a linear one may show only peaks."""
    positive = np.array([y for y in scores.y if y is not None and y > 0], np.float64)
    if not len(positive):
        return 0.0, min(max(1.0, 2 * threshold), _LARGEST), False
    largest = min(max(float(positive.max()), threshold), _LARGEST)
    typical = float(np.median(positive))
    if largest / typical <= _WIDE_RATIO:
        return 0.0, 1.12 * largest, False
    floor = threshold / 3 if threshold > 0 else float(np.quantile(positive, 0.02))
    floor = max(floor, largest * 1e-7)
    return floor, floor * (largest / floor) ** 1.12, True


def picture(drawn: Picture, unit: Unit, label: str) -> Markup:
    """Draw the blamed variable over an incident and, below it, those of the condition."""
    lines = [line.x for panel in drawn.panels for line in (panel.line, panel.broken)]
    shared = _axes(unit, lines)
    parts = []
    for rank, panel in enumerate(drawn.panels):
        caption = f"condition: {panel.says}" if rank else panel.variable
        parts.append(_tag("p", caption, class_="caption" if rank else "caption first"))
        low, high = _panel_range(panel)
        axes = msgspec.structs.replace(shared, low=low, high=high)
        at_bottom = rank == len(drawn.panels) - 1
        parts.append(_panel(axes, panel, drawn.incident, small=rank > 0, at_bottom=at_bottom))
    longest = max((len(name) for panel in drawn.panels for name in panel.states), default=0)
    return _chart(shared, label, parts, wide=longest > _SHORT_NAME)


def _panel(axes: Axes, panel: Panel, incident: Span, *, small: bool, at_bottom: bool) -> Markup:
    n_states = len(panel.states)
    if n_states:
        height = 30 + 18 * min(n_states, 6) if small else 44 + 24 * min(n_states, 12)
        ticks = [(float(state), name) for state, name in enumerate(panel.states)]
    else:
        height = 84 if small else 170
        ticks = _numbers(axes, height)
    inside = (
        _path("condition" if small else "expected", _expected(axes, panel.band)),
        _path("incident", axes.boxes([incident], [(axes.low, axes.high)])),
        _curve(panel.variable, axes.curve(panel.line, steps=n_states > 0)),
        _path("broken", axes.dots(panel.broken)),
    )
    return _plot(axes, height, inside, ticks, at_bottom=at_bottom, states=n_states > 0)


def _expected(axes: Axes, band: Band | None) -> str:
    if band is None:
        return ""
    low = axes.low if band.low is None else band.low
    high = axes.high if band.high is None else band.high
    levels = [(state - 0.42, state + 0.42) for state in band.states] or [(low, high)]
    return axes.boxes(band.spans, levels)


def _panel_range(panel: Panel) -> tuple[float, float]:
    if panel.states:
        return -0.6, len(panel.states) - 0.4
    bounds = () if panel.band is None else (panel.band.low, panel.band.high)
    y = np.array([value for value in (*panel.line.y, *bounds) if value is not None], np.float64)
    y = np.clip(y, -_LARGEST, _LARGEST)
    low, high = (float(y.min()), float(y.max())) if len(y) else (0.0, 1.0)
    spare = 0.08 * (high - low) or abs(low) * 0.1 or 1.0
    return low - spare, high + spare


def bars(filled: Sequence[float], outline: Sequence[float] = (), label: str = "") -> Markup:
    """Draw a histogram as bars, and another one as an outline over them."""
    tallest = max((*filled, *outline, 1e-9))

    def path(counts: Sequence[float]) -> str:
        width = f"h{_BAR_WIDTH / max(len(counts), 1):.3g}"
        tops = (_BAR_HEIGHT - (_BAR_HEIGHT - 1) * count / tallest for count in counts)
        return (
            f"M0 {_BAR_HEIGHT}" + "".join(f"V{top:.3g}{width}" for top in tops) + f"V{_BAR_HEIGHT}"
        )

    return _tag(
        "svg",
        _path("then", path(filled)),
        _path("now", path(outline) if outline else ""),
        class_="bars",
        width=_BAR_WIDTH,
        height=_BAR_HEIGHT,
        role="img" if label else None,
        aria_label=label or None,
        aria_hidden=None if label else "true",
    )


def _axes(
    unit: Unit,
    lines: Iterable[Sequence[float]],
    low: float = 0.0,
    high: float = 1.0,
    logarithmic: bool = False,
) -> Axes:
    """Choose as x step what all places are multiples of, or something very small."""
    x = np.unique(np.concatenate([np.array(line, np.float64) for line in lines]))
    first, last = (float(x[0]), float(x[-1])) if len(x) else (0.0, 1.0)
    if first == last:
        first, last = first - 0.5, last + 0.5
    whole = len(x) > 1 and bool((x == np.rint(x)).all())
    shared = float(np.gcd.reduce(np.diff(x).astype(np.int64))) if whole else 0.0
    step = max(shared, (last - first) / _MOST_STEPS)
    return Axes(unit, first, step, round((last - first) / step), low, high, logarithmic)


def _numbers(axes: Axes, height: int) -> list[Tick]:
    """Return round numbers along the y axis, as many as there is room for."""
    rough = (axes.high - axes.low) * _TICK_ROOM / height
    size = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 0.0
    step = next((size * part for part in (1, 2, 5, 10) if size * part >= rough > 0), math.inf)
    first, last = math.ceil(axes.low / step), math.floor(axes.high / step)
    if not 1 <= last - first <= height:  # numbers too small, or too close to each other, for steps
        return [(axes.low, short(axes.low)), (axes.high, short(axes.high))]
    values = [float(f"{i * step:.12g}") for i in range(first, last + 1)]
    return [(value, short(value)) for value in values]


def _decades(axes: Axes) -> list[Tick]:
    """Return round numbers along a logarithmic y axis: 1, 2, 5, 10 or only 1, 10."""
    decades = range(math.floor(math.log10(axes.low)), math.floor(math.log10(axes.high)) + 1)
    parts = (1, 2, 5) if len(decades) <= 3 else (1,)
    values = [float(f"{part}e{decade}") for decade in decades for part in parts]
    return [(value, short(value)) for value in values if axes.low <= value <= axes.high]


def _chart(
    axes: Axes, label: str, parts: Iterable[Markup], *, wide: bool = False, name: str | None = None
) -> Markup:
    return _tag(
        "div",
        *parts,
        class_="chart wide" if wide else "chart",
        id=name,
        role="group",
        aria_label=label,
        data_unit=axes.unit,
        data_first=axes.first,
        data_step=axes.step,
        data_steps=axes.n_steps,
    )


def _plot(
    axes: Axes,
    height: int,
    inside: Iterable[Markup],
    ticks: Sequence[Tick],
    more: Iterable[Markup] = (),
    *,
    at_bottom: bool = True,
    states: bool = False,
) -> Markup:
    levels = axes.y(value for value, _ in ticks)
    grid = "" if states else "".join(f"M0 {level}H{axes.n_steps}" for level in levels)
    every = math.ceil(len(ticks) * _NAME_ROOM / height) if states else 1
    labels = (
        _tag(
            "text",
            shortened(name) if states else name,
            class_="y",
            x=-8,
            y=f"{level / TALL:.2%}",
            dy=".35em",
            display="none" if i % every else None,
            data_name=name if states and name != shortened(name) else None,
        )
        for i, ((_, name), level) in enumerate(zip(ticks, levels, strict=True))
        if level is not None
    )
    return _tag(
        "svg",
        _tag(
            "svg",
            _path("grid", grid),
            *inside,
            class_="inside",
            viewBox=f"0 0 {axes.n_steps} {TALL}",
            preserveAspectRatio="none",
            width="100%",
            height="100%",
        ),
        *labels,
        *more,
        *(_ends(axes, height) if at_bottom else ()),
        class_="plot axis" if at_bottom else "plot",
        height=height,
        aria_hidden="true",
        data_low=axes.low,
        data_high=axes.high,
        data_scale="states" if states else "log" if axes.logarithmic else "linear",
    )


def _ends(axes: Axes, height: int) -> Iterable[Markup]:
    """Return the ends of the x axis in words; the script puts finer ticks in their place."""
    places = ("start", 0, axes.first), ("end", "100%", axes.first + axes.step * axes.n_steps)
    for side, x, place in places:
        if axes.unit == "time":
            moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=place)
            words = moment.isoformat(" ", "minutes")
        else:
            words = f"{place:,.0f}"
        yield _tag("text", words, class_="x", x=x, y=height + 16, text_anchor=side)


def shortened(name: str) -> str:
    """Shorten a name to what fits beside a plot, to whole words if there are several.

    >>> shortened("not seen in training or later"), shortened("unforeseeable" * 2), shortened("on")
    ('not seen in training …', 'unforeseeableunforese…', 'on')
    """
    if len(name) <= _LONGEST_NAME:
        return name
    words, _, _ = name[: _LONGEST_NAME - 1].rpartition(" ")
    return f"{words} …" if words else f"{name[: _LONGEST_NAME - 1]}…"


def _curve(name: str, path: str, *, stems: bool = False) -> Markup:
    """Draw a curve whose values can be read under the mouse, by its name."""
    return _path("curve stems" if stems else "curve", path, data_name=name)


def _path(look: str, path: str, **attributes: object) -> Markup:
    return _tag("path", class_=look, d=path, **attributes) if path else Markup()


def _tag(tag: str, *content: str, **attributes: object) -> Markup:
    """Return an element; what is not `Markup` is escaped, in text and in attributes."""
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    inside = "".join(map(escape, content))
    return Markup(f"<{tag}{named}>{inside}</{tag}>")
