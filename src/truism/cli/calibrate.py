"""``truism calibrate``: choose the threshold of a model from normal rows, without learning again."""

from typing import Any

import click

from truism.cli.calibrating import calibrated, check_calibration, rate_options
from truism.cli.fitting import allow_missing_option, read_for
from truism.cli.options import Command, check_output, jobs_option
from truism.cli.reading import asked, layout_options
from truism.cli.screen import Screen
from truism.explaining.checker import Checker
from truism.model.files import edit_model, load_model
from truism.model.model import Model
from truism.model.predicates import format_number
from truism.report.terminal import say
from truism.scoring.thresholds import adopt


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism calibrate plant.truism.json lastweek.csv
  truism calibrate plant.truism.json lastweek.csv --max-false-incidents 1/week
  truism calibrate plant.truism.json lastweek.csv --max-false-positive-rate 0.001""",
)
@click.argument("place", metavar="MODEL")
@click.argument("data", nargs=-1, required=True, metavar="DATA...")
@rate_options
@jobs_option
@allow_missing_option
@layout_options
@click.pass_obj
def calibrate(
    screen: Screen,
    /,
    place: str,
    data: tuple[str, ...],
    max_false_positive_rate: float | None,
    max_false_incidents: str | None,
    jobs: int,
    allow_missing: bool,
    **options: Any,
) -> None:
    """Choose the threshold from normal rows, and write it into the model.

    DATA are normal rows that were not learned from. Nothing else in the model changes: its rules and
    their ids stay, and so do the ids of incidents and the states of jobs. Without a rate, a model of a
    series keeps the rate of false incidents that it was learned for; for other models, 1 % of the rows
    may be reported.
    """
    said = asked(options)
    rates = (max_false_positive_rate, max_false_incidents)
    check_calibration(None, *rates, data, ())
    check_output(place, data)

    then = load_model(place).threshold

    def change(model: Model) -> Model:
        checker = Checker(model, jobs)
        normal = read_for(screen, checker, data, said, allow_missing=allow_missing)
        found = calibrated(screen, normal.checker, normal.table, *rates, "the rows")
        return adopt(model, found)

    now = edit_model(place, change).threshold
    words = f"was {format_number(then)} and is {format_number(now)} now"
    screen.show(say(f"{place}: the threshold {words}."))
