"""``truism compare``: what differs between two models, and between what they report."""

from typing import Any, Literal, get_args

import click
import msgspec

from truism.cli.options import Command, check_output, jobs_option
from truism.cli.reading import asked, layout_options, read_data
from truism.cli.screen import Screen
from truism.errors import ParameterError, shorten
from truism.explaining.checker import Checker
from truism.explaining.comparison import Comparison
from truism.explaining.comparison import compare as compare_checkers
from truism.model.files import load_model
from truism.report.contrast import show_differences, to_page, to_text
from truism.report.differences import describe
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
    help="Show N rules, incidents and days of each kind on the screen; 0 shows all.",
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
    """Compare two models, and what they report.

    Rules are compared by what they say, one claim for each consequent: a rule about the same
    variables in the same directions with other cut-offs or states has changed. With --on, both models
    check the same rows: an incident is the same one if it overlaps in time. With --label, the
    interval tells a better model from chance.
    """
    said = asked(options)
    wanted = _faults(faults, with_label=label is not None)
    if label is not None and not data:
        raise ParameterError("--label must be given with --on, which names the labelled rows.")
    if output is not None:
        check_output(output, (old, new, *data))
    checkers = [Checker(load_model(place), jobs) for place in (old, new)]
    with screen.stages() as progress:
        table = None
        if data:
            progress("reading", 0, 0)
            table = read_data(screen, data, said, checkers[1].model.reading).table
        progress("comparing", 0, 0)
        found = compare_checkers(checkers[0], checkers[1], table, label)
    if found.table is not None and found.table.extra:
        extra = shorten(found.table.extra)
        screen.note(f"columns that neither model knows are ignored: {extra}.")
    _write(screen, found, (old, new), form, top, output)
    failed = [fault for fault in wanted if _has(found, fault)]
    if failed:
        screen.note(f"--fail-if: {', '.join(failed)}.")
    return 1 if failed else 0


def _faults(given: str | None, *, with_label: bool) -> list[Fault]:
    known: tuple[Fault, ...] = get_args(Fault)
    if given is None:
        return []
    named = [each.strip() for each in given.split(",")]
    wanted = [fault for fault in known if fault in named]
    if unknown := [each for each in named if each not in known]:
        choices = shorten(list(known))
        raise ParameterError(f"--fail-if must list some of {choices}, got {unknown[0]!r}.")
    if "worse" in wanted and not with_label:
        raise ParameterError("--fail-if worse must be given with --label.")
    return wanted


def _has(found: Comparison, fault: Fault) -> bool:
    """Return whether a comparison has a fault that the user does not accept."""
    on, rules = found.table, found.models.rules
    if fault == "worse":
        told = None if on is None else on.advantage
        return told is not None and any(each.verdict == "worse" for each in told.measures)
    if fault == "lost":
        return bool(on.only_old if on is not None else rules.gone)
    return bool(on.only_new if on is not None else rules.new)


def _write(
    screen: Screen,
    found: Comparison,
    names: tuple[str, str],
    form: Form,
    top: int,
    output: str | None,
) -> None:
    """Print a comparison, or write it to a file."""
    if form == "table" and output is None:
        screen.show(*show_differences(describe(found, *names, most=top)))
        return
    if form == "json":
        content = {
            "format": "truism-comparison",
            "format_version": 1,
            "same": found.same,
            "said": describe(found, *names).said,
            "models": found.models,
            "table": found.table,
        }
        text = msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"
    elif form == "html":
        text = to_page(describe(found, *names))
    else:
        text = to_text(describe(found, *names, most=top))
    if output is None:
        screen.write(text)
    else:
        write_atomically(output, text.encode())
