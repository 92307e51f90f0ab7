"""Models and findings for a terminal: values go in, objects that `rich` prints come out.

This module only makes words. All text from data goes through `visible`, because a column name may
hold an escape sequence, which a terminal would obey.
"""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from truism.explaining.blames import Blame, choose, say_others
from truism.explaining.differing import Differing
from truism.explaining.explanations import Explanation
from truism.explaining.findings import Findings, gravest, say_all
from truism.explaining.incidents import Incident
from truism.explaining.moments import say_at
from truism.explaining.patterns import Pattern
from truism.explaining.reasons import Reason
from truism.export.markdown import chance
from truism.export.records import RuleRecord
from truism.model.predicates import conjunction, format_number, quote_name
from truism.model.rules import Rule
from truism.model.wording import count, lasting, percent, visible
from truism.report.looks import Sight
from truism.report.models import ModelSummary

STRONG, FAINT, GOOD, BAD, ODD = "bold", "dim", "bold green", "bold red", "yellow"
N_BLAMES = 3
N_ALSO_BROKEN = 5
STANDING = Text("Differs from training now", STRONG)
_MAX_NAMES, _MAX_NAME = 60, 24
_BLOCKS = " ▁▂▃▄▅▆▇█"
_LONG = 8  # rules with at least so many predicates are counted together


def say(text: str, style: str = "") -> Text:
    """Return text that is shown as it is."""
    return Text(visible(text), style)


def in_words(rule: Rule) -> Text:
    """Say a rule as a sentence, with its conclusion highlighted."""
    if not rule.antecedent:
        return say(str(rule))
    return Text.assemble(
        "whenever ",
        visible(conjunction(rule.antecedent)),
        ", ",
        (visible(conjunction(rule.consequents)), STRONG),
    )


def show_model(summary: ModelSummary, place: str) -> RenderableType:
    """Show what was learned."""
    n_variables = len(summary.continuous) + len(summary.categorical)
    grid = _pairs()
    grid.add_row("table", f"{count(summary.n_rows, 'row')}, {count(n_variables, 'variable')}")
    if summary.time is not None:
        grid.add_row("time", say(summary.time))
    for kind, names in (("continuous", summary.continuous), ("categorical", summary.categorical)):
        if names:
            grid.add_row(kind, _names(names))
    for each in summary.left_out:
        grid.add_row("left out", say(f"{each.name}: {each.reason}"))
    grid.add_row("support θ", f"{summary.min_support:g}, {summary.why}")
    grid.add_row("rules", _by_length(summary))
    limit = format_number(summary.threshold)
    why = f": {summary.why_threshold}" if summary.why_threshold else ""
    grid.add_row("threshold φ", say(f"{limit}{why}"))
    for notice in summary.notices:
        grid.add_row("note", say(notice))
    head = Text.assemble("Learned ", (count(summary.n_rules, "rule"), STRONG), ".")
    parts: list[RenderableType] = [head, Padding(grid, (0, 0, 0, 2))]
    if summary.best:
        title = f"The {count(len(summary.best), 'rule')} least likely by chance"
        parts += ["", Text(title, STRONG), _list(summary.best, summary.n_rows)]
    else:
        parts += ["", "No rule relates variables to each other; the model knows only their ranges."]
    parts += ["", Text.assemble("The model is in ", (visible(place), STRONG), ".")]
    return Group(*parts)


def show_sight(sight: Sight, source: str) -> RenderableType:
    """Show a table at first sight: each column, what becomes of it, and what is odd."""
    facts = _pairs()
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


def _pairs() -> Grid:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def show_pairs(lines: Iterable[tuple[str, str]]) -> RenderableType:
    """Show texts with a heading each."""
    grid = _pairs()
    for heading, text in lines:
        grid.add_row(f"  {heading}", say(text))
    return grid


def _names(names: Sequence[str]) -> Text:
    more = len(names) - _MAX_NAMES
    listed = "  ".join(visible(name).replace(" ", "\u00a0") for name in names[:_MAX_NAMES])
    tail = f"  and {more:,} more" if more > 0 else ""
    return Text.assemble((f"{len(names):,}: ", STRONG), listed, tail)


def _by_length(summary: ModelSummary) -> str:
    alone = sum(n for length, n in summary.rules_by_length if length == 1)
    longer = [f"{n:,} of {length}" for length, n in summary.rules_by_length if 1 < length < _LONG]
    long = sum(n for length, n in summary.rules_by_length if length >= _LONG)
    longer += [f"{long:,} of {_LONG} or more"] * bool(long)
    parts = [
        f"{alone:,} about one variable alone",
        *([f"{', '.join(longer)} predicates"] * bool(longer)),
    ]
    return "; ".join(parts)


def _list(rules: Iterable[Rule], n_rows: int) -> RenderableType:
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for number, rule in enumerate(rules, 1):
        evidence = (f"  ({rule.count:,} of {n_rows:,} rows)", FAINT)
        grid.add_row(f"{number}", Text.assemble(in_words(rule), evidence))
    return Padding(grid, (0, 0, 0, 2))


def show_findings(
    findings: Findings, top: int, *, patterns: bool = False
) -> Iterator[RenderableType]:
    """Show what happened, the worst story first, then what still differs, and end with the verdict.

    Of rows that are no series, patterns are shown instead; else if they are asked for.
    """
    if findings.ordered:
        yield from _show_incidents(findings, top)
    if patterns or not findings.ordered:
        yield from show_patterns(findings, top)
    yield verdict(findings)


def _show_incidents(findings: Findings, top: int) -> Iterator[RenderableType]:
    shown = gravest(findings, top, standing=False)
    yield from in_order(shown, [None] * len(shown))
    yield from say_rest(findings, shown)
    yield from show_differing(findings.differing)
    if findings.incidents and findings.gap is not None:
        between = count(findings.gap, "normal row")
        yield Text(f"An incident may contain up to {between}; --gap changes that.", FAINT)


def in_order(
    incidents: Sequence[Incident], statuses: Sequence[str | None]
) -> Iterator[RenderableType]:
    """Show what happened, each story from its beginning."""
    first_of = dict[str, int]()
    for number, (incident, status) in enumerate(zip(incidents, statuses, strict=True), 1):
        first = first_of.setdefault(incident.story, number)
        yield show_incident(incident, number, status, first if first < number else None)
        yield ""


def show_differing(differing: Sequence[Differing]) -> Iterator[RenderableType]:
    """Show what differs from training now: since when, how far off, and what that costs."""
    if differing:
        grid = Grid.grid(padding=(0, 2, 0, 0))
        for each in differing:
            name = each.variable if each.series is None else f"{each.series}: {each.variable}"
            grid.add_row(say(name, STRONG), each.when, each.off, say(each.so, FAINT))
        yield from (STANDING, Padding(grid, (0, 0, 0, 3)), "")


def say_rest(findings: Findings, shown: Sequence[Incident]) -> Iterator[RenderableType]:
    """Say how many incidents are not shown, but for lasting changes that stood before."""
    n_standing = sum(each.is_open for each in findings.shifts.outlines[:])
    n_shown = sum(not each.stands for each in shown) + n_standing
    rest = len(findings.incidents) + len(findings.shifts) - n_shown
    if rest > 0:
        yield Text(f"{rest:,} more; --top 0 shows all.", FAINT)


def show_patterns(findings: Findings, top: int) -> Iterator[RenderableType]:
    """Show what anomalous rows have in common, most rows first."""
    shown = findings.patterns[: top or None]
    if findings.ordered and shown:
        yield Text("What repeats", STRONG)
    for pattern in shown:
        yield show_pattern(pattern, ordered=findings.ordered)
        yield ""
    rest = len(findings.patterns) - len(shown)
    if rest:
        yield Text(f"{count(rest, 'more pattern')}; --top 0 shows all.", FAINT)


def show_pattern(pattern: Pattern, *, ordered: bool) -> RenderableType:
    """Show one pattern: how often it occurs, what is wrong, and its worst rows."""
    parts = [f"{pattern.percent} of the anomalous rows", count(pattern.n_rows, "row")]
    if ordered:
        parts[1] += f" at {count(pattern.n_times, 'time')}"
    lines: list[RenderableType] = [
        Text.assemble((" · ".join(parts), STRONG), (f" · pattern {pattern.id}", FAINT)),
        Padding(say(pattern.summary), (0, 0, 0, 3)),
    ]
    if len(pattern.told) > 1 or (pattern.told and pattern.told[0].n_rows < pattern.n_rows):
        for told in pattern.told:
            why = f"expected {told.reason.expected} {told.reason.why}"
            lines.append(Padding(say(f"{count(told.n_rows, 'row')}: {why}", FAINT), (0, 0, 0, 3)))
    lines.append(Padding(say(f"worst: {pattern.examples}", FAINT), (0, 0, 0, 3)))
    return Group(*lines)


def verdict(findings: Findings) -> Text:
    """Say in one line whether a table is clean."""
    limit = format_number(findings.threshold)
    exceeds, exceed = f"scores above {limit}", f"score above {limit}"
    if findings.expected is not None:  # of a series it is the excess that counts
        exceeds, exceed = f"exceeds {limit}", f"exceed {limit}"
    rows = count(findings.n_rows, "row")
    share = f"none of {rows} {exceeds}"
    if findings.n_anomalous:
        share = f"{findings.n_anomalous:,} of {rows} ({percent(findings.rate)}) {exceed}"
    if findings.is_clean:
        over = "nothing lasted long enough; " if findings.n_anomalous else ""
        return Text.assemble(("clean", GOOD), f": {over}{share}.")
    if not (findings.incidents or findings.shifts):
        names = ", ".join(quote_name(name) for name, _ in findings.outside)
        return Text.assemble(("unlike training", BAD), f": {names}; {share}.")
    found = say_all(findings) + "; " if findings.ordered else ""
    patterns = "" if findings.ordered else f", in {count(len(findings.patterns), 'pattern')}"
    return Text.assemble(("anomalies", BAD), f": {found}{share}{patterns}.")


def show_incident(
    incident: Incident,
    number: int | None = None,
    status: str | None = None,
    first: int | None = None,
) -> RenderableType:
    """Show one incident: what happened in one sentence, when, how bad, and what was wrong.

    Of a job, also how it stands, and its id; of a story, the number of its first incident.
    """
    facts = _facts(incident)
    facts += [] if first is None else [f"same story as {first}"]
    if status is not None:
        facts = [status, *facts, f"id {incident.id}"]
    head = Grid.grid(padding=(0, 2, 0, 0))
    head.add_column(style=BAD, no_wrap=True)
    head.add_column(overflow="fold")
    summary, *more = incident.told
    head.add_row("" if number is None else f"{number}", say(summary, STRONG))
    head.add_row("", say(" · ".join(facts), FAINT))
    for each in more:
        head.add_row("", say(each))
    indent = 3 if number is None else 2 + len(f"{number}")
    return Group(head, Padding(show_blames(incident.blames), (0, 0, 0, indent)))


def _facts(incident: Incident) -> list[str]:
    """Say which series, when and how bad; rows are counted, and numbered only without times."""
    parts = [] if incident.series is None else [f"series {incident.series}"]
    parts += [] if incident.kind == "incident" else ["lasting change"]
    several = incident.end > incident.start
    if incident.started is not None:
        parts.append(str(incident.started))
        took = incident.duration
        parts += [lasting(took.total_seconds())] if took else []
        parts += [count(incident.n_rows, "row")]
    else:
        parts.append(
            f"rows {incident.start}–{incident.end}" if several else f"row {incident.start}"
        )
    peak = f"peak score {incident.score:.3g}"
    if several:
        peak += f" {say_at(incident.peak, incident.peaked, incident.started)}"
    return [*parts, peak]


def show_blames(blames: Sequence[Blame], most: int = N_BLAMES) -> RenderableType:
    """Show what was wrong with each variable, with the strongest reason."""
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=STRONG, overflow="fold")
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    shown, rest = choose(blames, most)
    for blame in shown:
        share = f"{100 * blame.share:.0f} %"
        grid.add_row(say(blame.heading), share, show_reason(blame.reasons[0]))
    return Group(grid, say(say_others(rest), FAINT)) if rest else grid


def show_reason(reason: Reason, *, with_rule: bool = False) -> Text:
    """Show the four parts: expected, found, because, evidence."""
    _, why, evidence = reason.lines()
    text = Text.assemble(
        "expected ",
        visible(reason.expected),
        ", found ",
        (visible(reason.found), BAD),
        reason.place,
        f"\n{visible(why)}",
        (f"\n{visible(evidence)}", FAINT),
    )
    if with_rule:
        named = f" rule {reason.rule}" if reason.rule else ""
        text.append(f" ·{named} +{reason.penalty:.3g}", FAINT)
    return text


def show_also_broken(reasons: Sequence[Reason]) -> Text:
    """List the other broken rules, where a stronger reason already counts."""
    text = Text("also broken, but adding nothing to the score:", FAINT)
    for reason in reasons[:N_ALSO_BROKEN]:
        said = visible(f"{reason.expected} {reason.why}")
        text.append(f"\nrule {reason.rule}: expected {said}", FAINT)
    rest = len(reasons) - N_ALSO_BROKEN
    if rest > 0:
        text.append(f"\nand {count(rest, 'more rule')}; --format json lists all.", FAINT)
    return text


def show_explanation(explanation: Explanation, threshold: float, top: int) -> RenderableType:
    """Show every reason against one row, for its first `top` variables, or for all if 0."""
    when = "" if explanation.time is None else f" · {visible(str(explanation.time))}"
    anomalous = explanation.score > threshold
    mark = "anomaly" if anomalous else "not reported"
    head = Text.assemble(
        (f"row {explanation.row}{when} · score {explanation.score:.4g}", STRONG),
        " · ",
        (mark, BAD if anomalous else GOOD),
        f" (threshold {format_number(threshold)})",
    )
    accepted = [say(str(each), GOOD) for each in explanation.accepted]
    if not explanation.blames:
        return Group(head, *accepted or [Text("Nothing is unusual about it.")])
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=STRONG, overflow="fold")
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    shown = choose(explanation.blames, top)[0] if top else explanation.blames
    for blame in shown:
        reasons = [show_reason(each, with_rule=True) for each in blame.reasons if each.penalty]
        also_broken = [each for each in blame.reasons if not each.penalty]
        if also_broken:
            reasons.append(show_also_broken(also_broken))
        grid.add_row(say(blame.heading), f"{100 * blame.share:.0f} %", reasons[0])
        for reason in reasons[1:]:
            grid.add_row("", "", reason)
    rest = explanation.blames[len(shown) :]
    if not rest:
        return Group(head, *accepted, "", grid)
    share = percent(sum(blame.share for blame in rest))
    more = f"{count(len(rest), 'more variable')} with {share} of the blame; --top 0 shows all."
    return Group(head, *accepted, "", grid, "", Text(more, FAINT))


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
