"""A table at first sight: a `Look` becomes a `Sight`, which screen and page show."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from truism.model.wording import count, lasting, visible
from truism.show.models import BAD, FAINT, ODD, STRONG, pairs, say
from truism.table.layouts import Layout
from truism.table.looking import ColumnLook, Look
from truism.table.notices import Notice

_KINDS = {
    "number": "number",
    "boolean": "states",
    "text": "states",
    "time": "times",
    "clock": "clock",
    "empty": "empty",
    "other": "other",
}
_BLOCKS, _MAX_NAME = " ▁▂▃▄▅▆▇█", 24
_MOST_STATES, _MOST_LETTERS, _N_TIMES = 4, 24, 2


class Remark(msgspec.Struct, frozen=True):
    """What there is to say about how a table was read, in a sentence, and whether that is in doubt."""

    text: str
    doubtful: bool


class ColumnSight(msgspec.Struct, frozen=True):
    """One column in words."""

    name: str  # what it is called, what it holds, in which unit, and how many values are missing
    kind: str
    unit: str
    missing: str
    holds: str  # from where to where its numbers go, or its states and how often each occurs
    first: str  # its first values
    bars: tuple[int, ...]  # how many values lie in each bin, or in each state
    fate: str  # what becomes of it if it is not simply learned from


class Sight(msgspec.Struct, frozen=True):
    """A table in words: how large it is, facts about it, its columns, and notices, doubts first."""

    title: str
    facts: tuple[tuple[str, str], ...]
    columns: tuple[ColumnSight, ...]
    notices: tuple[Remark, ...]


def describe(look: Look, name_of: Callable[[str], str] = str) -> Sight:
    """Put a look into words."""
    size = f"{count(look.n_rows, 'row')} of {count(len(look.columns), 'column')}"
    facts = [("time", _times(look)), ("learned", _learned(look)), ("read as", _layout(look))]
    return Sight(
        size,
        tuple((name, text) for name, text in facts if text),
        tuple(_column(column, look.time) for column in look.columns),
        tuple(
            sorted(
                (_remark(notice, name_of) for notice in look.notices),
                key=lambda remark: not remark.doubtful,
            )
        ),
    )


def to_record(look: Look, name_of: Callable[[str], str] = str) -> dict[str, Any]:
    """Return a look for programs: all that it holds, and notices with their sentences."""

    def plain(notices: Sequence[Notice]) -> list[dict[str, Any]]:
        return [
            {**msgspec.structs.asdict(notice), **msgspec.structs.asdict(_remark(notice, name_of))}
            for notice in notices
        ]

    record: dict[str, Any] = msgspec.to_builtins(look)
    record["notices"] = plain(look.notices)
    for column, seen in zip(record["columns"], look.columns, strict=True):
        column["oddities"] = plain(seen.oddities)
    return record


def _remark(notice: Notice, name_of: Callable[[str], str]) -> Remark:
    text = notice.text
    if notice.see:
        text = f"{text.rstrip('.')}; see {' and '.join(map(name_of, notice.see))}."
    return Remark(text, notice.doubtful)


def _times(look: Look) -> str:
    if look.time is None:
        return "no column says when"
    column = look.reading.column_of().get(look.time)
    style = f" ({column.style})" if column is not None and column.style else ""
    span = f", {look.start} to {look.end}" if look.start is not None else ""
    step = f", usually {lasting(look.step)} from row to row" if look.step is not None else ""
    return f"{look.time}{style}{span}{step}"


def _learned(look: Look) -> str:
    n_left = sum(column.left_out is not None for column in look.columns)
    n_axis = int(look.time is not None)
    n_used = len(look.columns) - n_left - n_axis
    left = f"; {count(n_left, 'column')} left out" if n_left else ""
    be = "would be a variable" if n_used == 1 else "would be variables"
    return f"{count(n_used, 'column')} {be}{left}"


def _layout(look: Look) -> str:
    layout: Layout = look.reading.layout
    signs = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "bars", " ": "blanks"}
    parts = []
    if layout.delimiter is not None:
        parts.append(f"divided by {signs.get(layout.delimiter, repr(layout.delimiter))}")
    if layout.decimal is not None:
        parts.append(f"decimal {'commas' if layout.decimal == ',' else 'points'}")
    if layout.encoding is not None:
        parts.append(f"encoding {layout.encoding}")
    if look.reading.unit_row:
        parts.append("a row of units below the names")
    if layout.every is not None:
        parts.append(f"a row every {layout.every}")
    if layout.zone is not None:
        parts.append(f"times in {layout.zone}")
    return ", ".join(parts)


def _column(column: ColumnLook, axis: str | None) -> ColumnSight:
    few = column.kind == "number" and bool(column.states)
    free = column.kind == "text" and column.left_out is not None
    shown = _N_TIMES if column.kind == "time" else len(column.first)
    return ColumnSight(
        name=column.name,
        kind="states" if few else "text" if free else _KINDS[column.kind],
        unit=column.unit or "",
        missing=f"{column.n_missing:,}" if column.n_missing else "",
        holds=_holds(column),
        first=", ".join(_short(text) or "–" for text in column.first[:shown]),
        bars=() if free else tuple(state.count for state in column.states) or column.bins,
        fate=_fate(column, axis),
    )


def _holds(column: ColumnLook) -> str:
    if column.states:
        shown = [
            f"{_short(state.state)} ({state.count:,})" for state in column.states[:_MOST_STATES]
        ]
        more = column.n_distinct - len(shown)
        return ", ".join([*shown, *([f"{more:,} more"] * (more > 0))])
    if column.low is None:
        return f"{column.n_distinct:,} different values" if column.n_distinct else ""
    return f"{column.low} to {column.high}" if column.low != column.high else f"{column.low} only"


def _fate(column: ColumnLook, axis: str | None) -> str:
    if column.name == axis:
        return "says when"
    if column.left_out is not None:
        return f"left out: {column.left_out}"
    if column.change is not None:
        return f"its change is learned: {column.change}"
    return ""


def _short(text: str) -> str:
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def show_sight(sight: Sight, source: str) -> RenderableType:
    """Show a table at first sight: each column, what becomes of it, and what is odd."""
    facts = pairs()
    for name, text in sight.facts:
        facts.add_row(name, say(text))
    grid = Grid(box=None, padding=(0, 2, 0, 0), header_style=FAINT, pad_edge=False)
    grid.add_column("column", overflow="fold", max_width=_MAX_NAME)
    grid.add_column("kind", no_wrap=True)
    grid.add_column("missing", justify="right", no_wrap=True)
    grid.add_column("holds", overflow="fold", ratio=1)
    grid.add_column("spread", no_wrap=True)
    for column in sight.columns:
        unit = f" [{column.unit}]" if column.unit else ""
        holds = [say(f"{column.holds}{unit}")] if column.holds or unit else []
        holds += [say(column.first, FAINT)] if column.first else []
        holds += [say(column.fate, ODD)] if column.fate else []
        grid.add_row(
            say(column.name, STRONG),
            column.kind,
            column.missing,
            Text("\n").join(holds),
            blocks(column.bars),
        )
    head = Text.assemble((visible(source), STRONG), f": {sight.title}.")
    parts: list[RenderableType] = [head, Padding(facts, (0, 0, 0, 2)), "", grid]
    if sight.notices:
        parts.append("")
    for notice in sight.notices:
        mark = ("Warning: ", BAD) if notice.doubtful else ("Note: ", FAINT)
        parts.append(Text.assemble(mark, visible(notice.text)))
    return Group(*parts)


def blocks(counts: Sequence[int]) -> str:
    """Draw counts as blocks, each as high as its share of the largest.

    >>> blocks((0, 1, 4, 8))
    ' ▁▄█'
    """
    most = max(counts, default=0)
    return "".join(_BLOCKS[-(-8 * n // most)] if n else " " for n in counts)
