"""``truism compare``: what differs between two models, and between what they report."""

from typing import Any, Literal, get_args

import click
import msgspec

from truism.cli.options import (
    Command,
    check_output,
    file_options,
    jobs_option,
    layout_options,
    size_of,
)
from truism.cli.rows import InputRows
from truism.cli.screen import Screen
from truism.errors import ParameterError, shorten
from truism.explain.checker import Checker
from truism.model.files import load_model
from truism.review.compare import Comparison, Source
from truism.review.compare import compare as compare_checkers
from truism.show.comparison import show, to_page, to_text
from truism.table.atomic import write_atomically

Form = Literal["table", "json", "html"]
Fault = Literal["lost", "new", "worse"]
N_SHOWN = 3


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism compare old.truism.json new.truism.json
  truism compare old.truism.json new.truism.json --on lastweek.csv
  truism compare old.truism.json new.truism.json --on attacked.csv --label attack
  truism compare old.truism.json new.truism.json --format html -o changes.html
  truism compare old.truism.json new.truism.json --on lastweek.csv \\
      --fail-if lost,new

Exit codes: 0 done, 1 what --fail-if names was found, 2 bad input or usage.""",
)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--on",
    "data",
    multiple=True,
    metavar="DATA",
    help="Rows to compare reports on; takes the same kinds of files as check; may be repeated.",
)
@click.option(
    "--label",
    metavar="COL",
    help="Column of DATA that marks true anomalies, to find out which model is better.",
)
@click.option(
    "--fail-if",
    "faults",
    metavar="LIST",
    help="Exit with 1 if incidents are lost or new, or if the new model is worse in some measure of "
    "the labels: lost,new,worse. Without --on, lost and new are about rules.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=N_SHOWN,
    show_default=True,
    help="Show N rules and incidents of each kind on the screen; 0 shows all.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Form)),
    default="table",
    show_default=True,
    help="Output for people (table, html) or programs.",
)
@click.option("-o", "--output", metavar="FILE", help="File to write.  [default: standard output]")
@jobs_option
@layout_options
@click.pass_obj
def compare(
    screen: Screen,
    /,
    old: str,
    new: str,
    data: tuple[str, ...],
    label: str | None,
    faults: str | None,
    top: int,
    form: Form,
    output: str | None,
    jobs: int,
    **options: Any,
) -> int:
    """Compare two models and their reports.

    Rules about the same variables and states, with numbers bounded on the same sides, are shown side by
    side. With --on, both models check the same rows: incidents that overlap in time are the same. With
    --label, confidence intervals show whether one model is better than the other.
    """
    how = file_options(options)
    wanted = _faults(faults, with_label=label is not None)
    if label is not None and not data:
        raise ParameterError("--label must be given with --on, which names the labelled rows.")
    if output is not None:
        check_output(output, (old, new, *data))
    checkers = [Checker(load_model(place), jobs) for place in (old, new)]
    with screen.stages() as progress:
        source = None
        if data:
            progress("reading", 0, 0)
            size = size_of(None)
            rows = InputRows(screen, checkers[1], data, how, size=size, allow_missing=None)
            source = Source(rows.n_rows, rows.batches)
        progress("comparing", 0, 0)
        comparison = compare_checkers(checkers[0], checkers[1], source, label)
    if comparison.table is not None and comparison.table.extra:
        extra = shorten(comparison.table.extra)
        screen.note(f"columns that neither model uses are ignored: {extra}.")
    if form == "table" and output is None:
        screen.show(*show(comparison, top))
    else:
        content = _content(comparison, form, (old, new), top)
        if output is None:
            screen.write(content)
        else:
            write_atomically(output, content)
    failed = [fault for fault in wanted if _has(comparison, fault)]
    if failed:
        screen.note(f"--fail-if: {', '.join(failed)}.")
    return 1 if failed else 0


def _faults(given: str | None, *, with_label: bool) -> list[Fault]:
    faults: tuple[Fault, ...] = get_args(Fault)
    if given is None:
        return []
    named = [name.strip() for name in given.split(",")]
    if unknown := [name for name in named if name not in faults]:
        choices = shorten(list(faults))
        raise ParameterError(f"--fail-if must list some of {choices}, got {unknown[0]!r}.")
    if "worse" in named and not with_label:
        raise ParameterError("--fail-if worse must be given with --label.")
    return [fault for fault in faults if fault in named]


def _has(comparison: Comparison, fault: Fault) -> bool:
    """Return whether a comparison has a fault that the user does not accept."""
    reports = comparison.rules if comparison.table is None else comparison.table
    if fault == "worse":
        advantage = None if comparison.table is None else comparison.table.advantage
        return advantage is not None and any(
            measure.verdict == "worse" for measure in advantage.measures
        )
    return bool(reports.only_old if fault == "lost" else reports.only_new)


def _content(comparison: Comparison, form: Form, names: tuple[str, str], top: int) -> bytes:
    """Return a comparison as the content of a file."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(comparison), indent=2) + b"\n"
    return (to_page(comparison, *names) if form == "html" else to_text(comparison, top)).encode()
