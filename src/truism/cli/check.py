"""``truism check``: find the anomalies in a table, group them into incidents, and explain them."""

from collections.abc import Sequence
from typing import Any, get_args

import click

from truism.cli.calibrating import calibration_options, check_calibration
from truism.cli.checking import CheckFormat, Wanted, run
from truism.cli.fitting import allow_missing_option
from truism.cli.large import memory_option
from truism.cli.machines import check_machines
from truism.cli.options import (
    Command,
    check_output,
    check_suffix,
    jobs_option,
)
from truism.cli.reading import asked, layout_options
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.report.output import check_ending


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism check today.csv -m plant.truism.json
  truism check today.csv -m plant.truism.json --format json | jq .incidents[0]
  truism check today.csv -m plant.truism.json --report today.html
  truism check today.csv -m plant.truism.json --scores scores.parquet
  truism check today.csv -m plant.truism.json \\
      --max-false-positive-rate 0.001 --calibrate lastweek.csv
  truism check hour.csv -m plant.truism.json --state plant.state --format events
  truism check --models machines.toml

Exit codes: 0 no anomalies, 1 anomalies found, 2 bad input, usage or output.
With --state, 1 only if something is new, or if an incident goes on.""",
)
@click.argument("data", nargs=-1, metavar="[DATA]...")
@click.option("-m", "--model", "place", metavar="FILE", help="The model file.")
@click.option(
    "--state",
    "state_place",
    metavar="FILE",
    help="Go on where the last call with this file stopped: rows that it has seen are skipped, and "
    "what is open keeps its id.",
)
@click.option(
    "--name", metavar="NAME", help="What is checked, for example a machine; part of every id."
)
@click.option(
    "--models",
    "machines_place",
    metavar="FILE",
    help="Check several machines: a .toml file with name, model, data and state of each.",
)
@click.option(
    "--threshold",
    metavar="φ",
    type=float,
    help="Report rows that score above φ.  [default: the model's]",
)
@calibration_options
@click.option(
    "--gap",
    metavar="N",
    type=click.IntRange(min=0),
    help="Normal rows allowed within an incident.  [default: one minute's worth, at least 5]",
)
@click.option(
    "--min-rows",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Report only incidents with at least N rows.",
)
@click.option(
    "--on-delay",
    metavar="TIME",
    default="0",
    help="Report only what lasts so long: a number of rows, or a duration such as 5min.  [default: 0]",
)
@click.option(
    "--off-delay",
    metavar="TIME",
    default="0",
    help="What returns within this time is the same incident: rows, or a duration.  [default: 0]",
)
@click.option(
    "--retain",
    metavar="TIME",
    default="30d",
    show_default=True,
    help="With --state, let go of series that have had no rows for so long while others have.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="COL",
    help="Do without a column; everything that needs it is unknown; may be repeated.",
)
@click.option(
    "--mute",
    multiple=True,
    metavar="VAR",
    help="Do not count evidence against a variable; may be repeated.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    help="Show the N worst incidents; 0 shows all.  [default: 10 for table, else all]",
)
@click.option(
    "--patterns",
    is_flag=True,
    help="Show which reasons repeat, too; csv and jsonl then hold patterns instead of incidents. "
    "Rows that are no series are always shown by pattern.",
)
@click.option(
    "--scores",
    "scores_place",
    metavar="FILE",
    help="Write the score and blames of every row to a .csv or .parquet file.",
)
@click.option(
    "--report",
    "report_place",
    metavar="FILE",
    help="Write a report as a single .html page (or as .json).",
)
@click.option(
    "--label",
    metavar="COL",
    help="Column that marks true anomalies; compared with the scores in the report.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(CheckFormat)),
    default="table",
    show_default=True,
    help="Output for people (table) or programs; events are what opened, went on or closed.",
)
@jobs_option
@memory_option
@allow_missing_option
@layout_options
@click.pass_obj
def check(screen: Screen, /, machines_place: str | None, place: str | None, **options: Any) -> int:
    """Score rows, group anomalies into incidents, and explain each.

    DATA takes the same kinds of files as learn; Parquet, Arrow and CSV files need not fit into
    memory. They must have the columns that were learned, in any order. What happened comes
    first, the gravest first, then what still differs from training; the last line is the verdict.
    Rows are counted from 0, not counting the header; with --state, from the first row of all calls.
    Rows that are no series stand for themselves, and are shown by pattern: by what is wrong with them.
    """
    said = asked(options)
    wanted = Wanted(place=place or "", said=said, **options)
    if machines_place is not None:
        return check_machines(screen, machines_place, wanted)
    if not wanted.data:
        raise click.UsageError("Missing argument 'DATA...'.", click.get_current_context())
    if not wanted.place:
        raise click.UsageError("Missing option '-m' / '--model'.", click.get_current_context())
    _check_options(wanted)
    return run(screen, wanted)


def _check_options(wanted: Wanted) -> None:
    """Refuse options that contradict each other, and outputs that cannot be written."""
    rates = (wanted.max_false_positive_rate, wanted.max_false_incidents)
    check_calibration(wanted.threshold, *rates, wanted.calibration, wanted.data)
    taken = (*wanted.data, *wanted.calibration, wanted.place)
    _check_places(wanted.scores_place, wanted.report_place, wanted.label, taken)
    if wanted.state_place is not None:
        check_output(wanted.state_place, taken)
        for option, place in (("--scores", wanted.scores_place), ("--report", wanted.report_place)):
            if place is not None:
                raise ParameterError(
                    f"--state and {option} must not both be given.",
                    f"{option} shows one table from its beginning: call again without --state.",
                )


def _check_places(
    scores: str | None, report: str | None, label: str | None, taken: Sequence[str]
) -> None:
    """Raise an error for outputs that cannot be written, before anything is computed."""
    if scores is not None:
        check_suffix(scores)
        check_output(scores, taken)
    if label is not None and report is None:
        raise ParameterError(
            "--label must be given with --report, which compares scores with labels."
        )
    if report is not None:
        check_ending(report)
        check_output(report, taken)
