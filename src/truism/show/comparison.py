"""A `Comparison` on a screen, as plain text, and as a page: the same tables everywhere."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from truism.model.predicates import format_number, format_value
from truism.model.wording import count, percent, visible
from truism.review.compare import (
    Advantage,
    ComparedRule,
    Comparison,
    Sighting,
    TableComparison,
)
from truism.show.models import FAINT, GOOD, STRONG

MAX_SHOWN = 500  # rules or incidents of a kind that the page shows
_WIDTH = 100
_TITLES = {"n_rows": "training rows", "threshold": "threshold φ", "created": "learned"}
_VERDICTS = {"better": "new better", "worse": "old better"}
_CUT_AT = {"created": 16, "fingerprint": 8, "model_id": 8}  # enough to tell two apart

Row = tuple[str, ...]


class Section(msgspec.Struct, frozen=True):
    """Differences of one kind: columns, rows, and how many differences are left out."""

    title: str
    note: str
    names: Row
    rows: tuple[Row, ...]
    n_left: int = 0


def sections(comparison: Comparison, most: int) -> Iterator[Section]:
    """Yield what differs, at most so many differences of each kind; 0 stands for all."""
    if comparison.same:
        return
    facts = [
        (_title(f.name), _value(f.name, f.old), _value(f.name, f.new)) for f in comparison.facts
    ]
    yield Section("Models", "", ("", "old", "new"), tuple(facts))
    if comparison.table is not None:
        yield from _report_sections(comparison.table, most)
    variables = [[(v.name, _kind(v.old), _kind(v.new))] for v in comparison.variables]
    yield from _section("Variables", ("variable", "old", "new"), variables, most)
    rules = comparison.rules
    pairs = [
        [*_alike("was", group.old, most), *_alike("now", group.new, most)] for group in rules.both
    ]
    names = ("rule", "rows", "id")
    yield from _section("Rules with other numbers", ("", *names), pairs, most)
    yield from _section("Lost rules", names, [[_rule(rule)] for rule in rules.only_old], most)
    yield from _section("New rules", names, [[_rule(rule)] for rule in rules.only_new], most)


def _section(
    title: str, names: Row, differences: Sequence[Sequence[Row]], most: int
) -> Iterator[Section]:
    """Yield a section, unless it is empty; a difference may take several rows."""
    shown = differences[:most] if most else differences
    rows = tuple(row for difference in shown for row in difference)
    if rows:
        yield Section(title, "", names, rows, len(differences) - len(shown))


def _title(name: str) -> str:
    return _TITLES.get(name, name.removeprefix("n_").replace("_", " "))


def _value(name: str, value: Any) -> str:
    match value:
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return format_number(value)
        case list() | tuple():
            return ", ".join(_value(name, item) for item in value) or "none"
    return str(value)[: _CUT_AT.get(name)].replace("T", " " if name == "created" else "T")


def _kind(kind: Any) -> str:
    """Print the kind of a variable, or the states that only one model has seen."""
    if isinstance(kind, tuple):
        return f"only {', '.join(map(format_value, kind))}" if kind else ""
    return "–" if kind is None else str(kind)


def _alike(when: str, rules: Sequence[ComparedRule], most: int) -> Iterator[Row]:
    """Yield rules of one shape: there may be hundreds."""
    shown = rules[:most] if most else rules
    yield from ((when, *_rule(rule)) for rule in shown)
    if len(shown) < len(rules):
        yield when, f"… and {len(rules) - len(shown):,} more", "", ""


def _rule(rule: ComparedRule) -> Row:
    return rule.text, f"{rule.count:,}", rule.id


def _report_sections(table: TableComparison, most: int) -> Iterator[Section]:
    then, now = table.n_incidents
    reported = (
        ("rows reported", f"{table.n_old:,}", f"{table.n_new:,}"),
        ("share of rows", percent(table.n_old / table.n_rows), percent(table.n_new / table.n_rows)),
        ("incidents", f"{then:,}", f"{now:,}"),
    )
    note = f"{count(table.n_both, 'row')} of {table.n_rows:,} reported by both"
    yield Section("Reports", note, ("", "old", "new"), reported)
    if table.advantage is not None:
        yield _label_section(table.advantage)
    alone = ("when", "rows", "peak", "blamed")
    for title, sightings in (
        ("Incidents that only the old model reports", table.only_old),
        ("Incidents that only the new model reports", table.only_new),
    ):
        yield from _section(title, alone, [[_incident(sighting)] for sighting in sightings], most)
    both = [
        [(_when((*group.old, *group.new)), *_size(group.old), *_size(group.new))]
        for group in table.both
    ]
    names = ("when", "old rows", "old peak", "new rows", "new peak")
    yield from _section("Incidents that both models report", names, both, most)


def _label_section(advantage: Advantage) -> Section:
    rows = tuple(
        (
            measure.name,
            f"{measure.old:.3f}",
            f"{measure.new:.3f}",
            f"{measure.difference:+.3f}",
            "–" if measure.low is None else f"{measure.low:+.3f} to {measure.high:+.3f}",
            _VERDICTS.get(measure.verdict, measure.verdict),
        )
        for measure in advantage.measures
    )
    segments = count(advantage.n_segments, "segment")
    note = f"{count(advantage.n_labelled, 'labelled row')} in {segments}, column {advantage.label}"
    names = ("", "old", "new", "difference", "95 % interval", "verdict")
    return Section("Labels", note, names, rows)


def _incident(sighting: Sighting) -> Row:
    return (_when([sighting]), *_size([sighting]), sighting.blamed)


def _when(sightings: Sequence[Sighting]) -> str:
    first = min(sightings, key=lambda sighting: sighting.start)
    end = max(sighting.end for sighting in sightings)
    rows = f"row {first.start}" if first.start == end else f"rows {first.start}–{end}"
    parts = (rows, first.started, first.series)
    return " · ".join(str(part) for part in parts if part is not None)


def _size(sightings: Sequence[Sighting]) -> Row:
    n_rows, peak = (
        sum(sighting.n_rows for sighting in sightings),
        max(sighting.score for sighting in sightings),
    )
    return f"{n_rows:,}", f"{peak:.3g}"


def show(comparison: Comparison, most: int) -> Iterator[RenderableType]:
    """Show what differs on a screen."""
    for sentence in comparison.summary:
        yield Text(visible(sentence), GOOD if comparison.same else STRONG)
    for section in sections(comparison, most):
        yield ""
        note = f"  ({section.note})" if section.note else ""
        yield Text.assemble((section.title, STRONG), (visible(note), FAINT))
        yield Padding(_grid(section), (0, 0, 0, 2))
        if section.n_left:
            yield Text(f"  and {section.n_left:,} more; --top 0 shows all.", FAINT)


def _grid(section: Section) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style=FAINT)
    for i, name in enumerate(section.names):
        cells = [row[i] for row in section.rows]
        long = max(map(len, cells)) > _WIDTH // 4
        numbers = i > 0 and all(cell[:1] in "+-0123456789–" for cell in cells)
        grid.add_column(
            visible(name),
            justify="right" if numbers and not long else "left",
            overflow="fold",
            ratio=1 if long else None,
            no_wrap=not long,
        )
    for row in section.rows:
        grid.add_row(*(Text(visible(cell)) for cell in row))
    return grid


def to_text(comparison: Comparison, most: int) -> str:
    """Return what differs as plain text."""
    console = Console(width=_WIDTH, color_system=None, markup=False, emoji=False, highlight=False)
    with console.capture() as captured:
        for part in show(comparison, most):
            console.print(part)
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())


def to_page(comparison: Comparison, old: str, new: str) -> str:
    """Return what differs between two named models as one page, which opens without a network."""
    from truism.show.html import policy, template  # only the page needs it

    return template("comparison.html").render(
        found=comparison,
        sections=[*sections(comparison, MAX_SHOWN)],
        old=old,
        new=new,
        policy=policy(),
    )
