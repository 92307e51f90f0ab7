"""Findings, explanations and the progress of jobs, for a terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from truism.explain.blames import Blame, choose, say_others
from truism.explain.explanations import Explanation
from truism.explain.findings import Differing, Findings, to_show
from truism.explain.incidents import Incident
from truism.explain.patterns import Pattern
from truism.explain.states import Step
from truism.explain.words import Reason, say_at
from truism.model.predicates import format_number
from truism.model.wording import count, lasting, percent, visible
from truism.show.models import BAD, FAINT, GOOD, STRONG, say

N_BLAMES = 3
N_ALSO_BROKEN = 5
_ENDS = {
    "new": ("is new", "are new"),
    "came and went": ("came and went", "came and went"),
    "ongoing": ("goes on", "go on"),
    "over": ("is over", "are over"),
}


def show_findings(
    findings: Findings, top: int, *, patterns: bool = False, step: Step | None = None
) -> Iterator[RenderableType]:
    """Show what happened, the worst story first, then what still differs, and end with the verdict.

    Of rows that are no series, patterns are shown instead; else if they are asked for. Of a call of a
    job, each incident says how it stands, and the last line what has changed.
    """
    if findings.ordered:
        shown, n_more = to_show(findings, top)
        first_of, happened = dict[str, int](), {} if step is None else _happened(step)
        for number, (incident, also) in enumerate(shown, 1):
            first = first_of.setdefault(incident.story, number)
            story = f"same story as {first}" if first < number else ""
            status = _status(happened.get(incident.id, ()), is_open=incident.ongoing)
            yield show_incident(incident, number, status if step else None, (story, also))
            yield ""
        if n_more:
            yield Text(f"{n_more:,} more; --top 0 shows all.", FAINT)
        yield from show_differing(findings.differing)
        if step is None and findings.incidents and findings.gap is not None:
            between = count(findings.gap, "normal row")
            yield Text(
                "Percentages are shares of the blame. An incident may contain up to "
                f"{between}; --gap changes that.",
                FAINT,
            )
    if patterns or not findings.ordered:
        yield from show_patterns(findings, top)
    yield verdict(findings)
    if step is not None and findings.ordered:
        yield Text(say_progress(step))


def show_differing(differing: Sequence[Differing]) -> Iterator[RenderableType]:
    """Show what differs from training now: since when, how far off, and what that costs."""
    if differing:
        grid = Grid.grid(padding=(0, 2, 0, 0))
        for one in differing:
            grid.add_row(say(one.heading, STRONG), say(one.when), say(one.off), say(one.so, FAINT))
        yield Text("Differs from training now", STRONG)
        yield from (Padding(grid, (0, 0, 0, 3)), "")


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
    further = (*pattern.others, f"worst: {pattern.examples}")
    lines += [Padding(say(line, FAINT), (0, 0, 0, 3)) for line in further]
    return Group(*lines)


def verdict(findings: Findings) -> Text:
    """Say in one line whether a table is clean."""
    mark, rest = findings.verdict
    return Text.assemble((mark, GOOD if mark == "clean" else BAD), f": {visible(rest)}")


def show_incident(
    incident: Incident,
    number: int | None = None,
    status: str | None = None,
    more: Sequence[str] = (),
) -> RenderableType:
    """Show one incident: what happened in one sentence, when, how bad, and what was wrong.

    Of a job, also how it stands, and its id; `more` are words about others.
    """
    facts = [*_facts(incident), *filter(None, more)]
    if status is not None:
        facts = [status, *facts, f"id {incident.id}"]
    head = Grid.grid(padding=(0, 2, 0, 0))
    head.add_column(style=BAD, no_wrap=True)
    head.add_column(overflow="fold")
    head.add_row("" if number is None else f"{number}", say(incident.summary, STRONG))
    head.add_row("", say(" · ".join(facts), FAINT))
    for sentence in incident.further:
        head.add_row("", say(sentence))
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
    peak = f"peak {incident.score:.3g}"
    if several:
        peak += f" {say_at(incident.peak, incident.peaked, incident.started)}"
    return [*parts, peak, *filter(None, [incident.counted])]


def _blame_grid() -> Grid:
    """Return an empty table of variables, their shares, and reasons."""
    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=STRONG, overflow="fold")
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold", ratio=1)
    return grid


def show_blames(blames: Sequence[Blame], most: int = N_BLAMES) -> RenderableType:
    """Show what was wrong with each variable, with the strongest reason."""
    grid = _blame_grid()
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
        expectation = visible(f"{reason.expected} {reason.why}")
        text.append(f"\nrule {reason.rule}: expected {expectation}", FAINT)
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
    accepted = [say(str(spared), GOOD) for spared in explanation.accepted]
    if not explanation.blames:
        return Group(head, *accepted or [Text("Nothing is unusual about it.")])
    grid = _blame_grid()
    shown = choose(explanation.blames, top)[0] if top else explanation.blames
    for blame in shown:
        reasons = [
            show_reason(reason, with_rule=True) for reason in blame.reasons if reason.penalty
        ]
        also_broken = [reason for reason in blame.reasons if not reason.penalty]
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


# --- one call of a job ---


def _happened(step: Step) -> dict[str, tuple[str, ...]]:
    happened: dict[str, tuple[str, ...]] = {}
    for change in step.changes:
        happened[change.id] = (*happened.get(change.id, ()), change.what)
    return happened


def _status(happened: tuple[str, ...], *, is_open: bool) -> str:
    if "opened" in happened:
        return "new" if is_open else "came and went"
    return "ongoing" if is_open else "over"


def say_progress(step: Step) -> str:
    """Say in one line what is new, what goes on, and what is over since the last call."""
    happened, findings = _happened(step), step.findings
    parts = []
    for noun, events in (("incident", findings.incidents), ("lasting change", findings.shifts)):
        n_of = Counter(
            _status(happened.get(events.id_of(event), ()), is_open=event.is_open)
            for event in events.outlines
        )
        for status, (one, many) in _ENDS.items():
            if n := n_of[status]:
                parts.append(f"{count(n, noun)} {one if n == 1 else many}")
    return f"Since the last call: {', '.join(parts) or 'nothing new'}."
