"""Two models beside each other: `Differences` go in; a screen, plain text or a page comes out."""

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from truism.model.wording import visible
from truism.report.differences import Differences
from truism.report.sections import Section
from truism.report.terminal import BAD, FAINT, GOOD, STRONG

_WIDTH = 100
MAX_ROWS = 500  # rows of a section that the page shows


def show_differences(found: Differences) -> Iterator[RenderableType]:
    """Show what differs, what matters most first."""
    for sentence in found.said:
        yield Text(visible(sentence), GOOD if found.same else STRONG)
    for section in found.sections:
        yield ""
        head = Text(visible(section.title), STRONG)
        if section.note:
            head.append(visible(f"  ({section.note})"), FAINT)
        yield head
        yield Padding(_stacked(section) if section.stacked else _grid(section), (0, 0, 0, 2))
        rest = section.n_rows - len(section.rows)
        if rest:
            yield Text(f"  and {rest:,} more; --top 0 shows all.", FAINT)


def _grid(section: Section) -> Grid:
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style=FAINT)
    for i, name in enumerate(section.names):
        numbers = i and all(row[i][:1] in "+-0123456789–<" for row in section.rows)
        long = max(len(row[i]) for row in section.rows) > _WIDTH // 4
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


def _stacked(section: Section) -> Grid:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    for row in section.rows:
        for name, cell in zip(section.names, row, strict=True):
            grid.add_row(name, Text(visible(cell), "" if name else BAD))
    return grid


def to_text(found: Differences) -> str:
    """Return what differs as plain text."""
    console = Console(width=_WIDTH, color_system=None, markup=False, emoji=False, highlight=False)
    with console.capture() as captured:
        console.print(f"old: {visible(found.old)}\nnew: {visible(found.new)}")
        for part in show_differences(found):
            console.print(part)
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())


def to_page(found: Differences) -> str:
    """Return what differs as one page without scripts, which opens without a network."""
    from truism.report.pages import policy, template  # only the page needs it

    return template("comparison.html").render(found=found, policy=policy(), most=MAX_ROWS)
