"""Models and their rules for a terminal, and the words and colours that all of it shares.

All text from data goes through `visible`, because a column name may hold an escape sequence, which a
terminal would obey.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from truism.export.markdown import chance
from truism.export.records import RuleRecord
from truism.model.model import Model
from truism.model.predicates import conjunction, format_number
from truism.model.rules import Rule
from truism.model.schema import Categorical, Numeric
from truism.model.summary import RuleSummary
from truism.model.wording import count, visible

STRONG, FAINT, GOOD, BAD, ODD = "bold", "dim", "bold green", "bold red", "yellow"
N_BEST = 10  # statements that are shown of what was learned
_MAX_NAMES = 60
_LONG = 8  # rules with at least so many predicates are counted together


def say(text: str, style: str = "") -> Text:
    """Return text that is shown as it is."""
    return Text(visible(text), style)


def pairs() -> Grid:
    """Return an empty table of headings and texts."""
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def show_pairs(lines: Iterable[tuple[str, str]]) -> RenderableType:
    """Show texts with a heading each."""
    grid = pairs()
    for heading, text in lines:
        grid.add_row(f"  {heading}", say(text))
    return grid


def show_model(model: Model, place: str) -> RenderableType:
    """Show what was learned."""
    made, schema = model.provenance, model.schema
    grid = pairs()
    of = f"{count(made.n_rows, 'row')}, {count(len(schema.variables), 'variable')}"
    grid.add_row("table", of)
    if schema.time is not None:
        grid.add_row("time", say(schema.time))
    for kind, wanted in (("continuous", Numeric), ("categorical", Categorical)):
        names = [variable.name for variable in schema.variables if isinstance(variable, wanted)]
        if names:
            grid.add_row(kind, _names(names))
    for left in schema.left_out:
        grid.add_row("left out", say(f"{left.name}: {left.reason}"))
    grid.add_row("support θ", f"{made.min_support:g}, {made.why_support}")
    grid.add_row("rules", _by_length(model.rules))
    limit, why = format_number(model.threshold), str(model.limit.origin)
    grid.add_row("threshold φ", say(f"{limit}: {why}" if why else limit))
    few = [notice for notice in made.notices if notice.code == "few_rows"]
    for notice in made.notices:
        if notice not in few:
            grid.add_row("note", say(str(notice)))
    head = Text.assemble("Learned ", (count(len(model.rules), "rule"), STRONG), ".")
    parts: list[RenderableType] = [
        *(say(str(notice), BAD) for notice in few),
        head,
        Padding(grid, (0, 0, 0, 2)),
    ]
    parts += ["", show_summary(model, N_BEST)]
    parts += ["", Text.assemble("The model is in ", (visible(place), STRONG), ".")]
    return Group(*parts)


def _names(names: Sequence[str]) -> Text:
    more = len(names) - _MAX_NAMES
    listed = "  ".join(visible(name).replace(" ", "\u00a0") for name in names[:_MAX_NAMES])
    tail = f"  and {more:,} more" if more > 0 else ""
    return Text.assemble((f"{len(names):,}: ", STRONG), listed, tail)


def _by_length(rules: Iterable[Rule]) -> str:
    """Say how many rules have how many predicates."""
    n_of = Counter(min(rule.length, _LONG) for rule in rules)
    longer = [f"{n_of[length]:,} of {length}" for length in range(2, _LONG) if n_of[length]]
    longer += [f"{n_of[_LONG]:,} of {_LONG} or more"] * bool(n_of[_LONG])
    parts = [
        f"{n_of[1]:,} about one variable alone",
        *([f"{', '.join(longer)} predicates"] * bool(longer)),
    ]
    return "; ".join(parts)


def show_summary(model: Model, n: int) -> RenderableType:
    """Show what is always true: at most `n` statements, then what never changes."""
    summary = model.summary(n)
    if not summary.statements:
        text = "No rule relates variables to each other; the model knows only their ranges."
        return Group(text, *_constants(model, summary))
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style=FAINT)
    grid.add_column("rules", no_wrap=True, style="cyan")
    grid.add_column("rows", justify="right", no_wrap=True)
    grid.add_column("what is always true", overflow="fold", ratio=1)
    for statement in summary.statements:
        text = statement.text(model.words)
        grid.add_row(statement.behind, f"{statement.count:,}", say(text))
    return Group(grid, *_constants(model, summary))


def _constants(model: Model, summary: RuleSummary) -> list[RenderableType]:
    """Say in a line what is the same in all rows."""
    if not summary.constants:
        return []
    return ["", say(f"Always {conjunction(summary.constants, model.words.after_predicate)}.")]


def show_rules(records: Sequence[RuleRecord], n_found: int) -> RenderableType:
    """List rules with their numbers; disabled ones with the reason."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style=FAINT)
    grid.add_column("id", no_wrap=True, style="cyan")
    grid.add_column("rows", justify="right", no_wrap=True)
    grid.add_column("chance", justify="right", no_wrap=True)
    grid.add_column("rule", overflow="fold", ratio=1)
    for record in records:
        text = say(record.text)
        if record.disabled is not None:
            text.stylize(FAINT)
            since = f" since {record.disabled.date}" if record.disabled.date else ""
            text.append(f"\noff{since}: {visible(record.disabled.reason)}", BAD)
        grid.add_row(record.id, f"{record.count:,}", chance(record.log10_chance), text)
    rest = n_found - len(records)
    end = f"{count(n_found, 'rule')}."
    if rest:
        end = f"{len(records):,} of {count(n_found, 'rule')}; --top 0 shows all."
    return Group(grid, "", Text(end, FAINT)) if records else Text("no rule matches.")
