"""What one call of a job found, for a terminal: what is new, what goes on, and what is over."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truism.explaining.findings import gravest
from truism.explaining.incidents import Incidents
from truism.explaining.states import Step
from truism.model.wording import count
from truism.report.terminal import (
    in_order,
    say_rest,
    show_differing,
    show_patterns,
    verdict,
)

_ENDS = (
    ("is new", "are new"),
    ("came and went", "came and went"),
    ("goes on", "go on"),
    ("is over", "are over"),
)


def show_progress(step: Step, top: int, *, patterns: bool = False) -> Iterator[RenderableType]:
    """Show what is open or has just ended, the gravest story first, and end with what has changed.

    Of rows that are no series, patterns are shown instead; else if they are asked for.
    """
    if step.findings.ordered:
        yield from _show_incidents(step, top)
    if patterns or not step.findings.ordered:
        yield from show_patterns(step.findings, top)
    yield verdict(step.findings)
    if step.findings.ordered:
        yield Text(say_progress(step))


def _show_incidents(step: Step, top: int) -> Iterator[RenderableType]:
    happened = _happened(step)
    shown = gravest(step.findings, top, standing=False)
    statuses = [_status(happened.get(each.id, ()), is_open=each.ongoing) for each in shown]
    yield from in_order(shown, statuses)
    yield from say_rest(step.findings, shown)
    yield from show_differing(step.findings.differing)


def _named(step: Step) -> tuple[tuple[str, Incidents], ...]:
    findings = step.findings
    return ("incident", findings.incidents), ("lasting change", findings.shifts)


def _happened(step: Step) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for change in step.changes:
        found[change.id] = (*found.get(change.id, ()), change.what)
    return found


def _status(happened: tuple[str, ...], *, is_open: bool) -> str:
    if "opened" in happened:
        return "new" if is_open else "came and went"
    return "ongoing" if is_open else "over"


def say_progress(step: Step) -> str:
    """Say in one line what is new, what goes on, and what is over since the last call."""
    happened = _happened(step)
    said = []
    for noun, events in _named(step):
        numbers = [0] * len(_ENDS)
        for outline in events.outlines:
            opened = "opened" in happened.get(events.id_of(outline), ())
            numbers[(0 if opened else 2) + (not outline.is_open)] += 1
        for n, (one, many) in zip(numbers, _ENDS, strict=True):
            if n:
                said.append(f"{count(n, noun)} {one if n == 1 else many}")
    return f"Since the last call: {', '.join(said) or 'nothing new'}."
