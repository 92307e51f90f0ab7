"""``truism calibrate``: choose the threshold from normal rows."""

from typing import Any

import click
import numpy as np

from truism.cli.options import (
    Command,
    allow_missing_option,
    check_output,
    check_threshold_options,
    file_options,
    incidents_option,
    jobs_option,
    layout_options,
)
from truism.cli.rows import InputRows
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explain.checker import Checker
from truism.model.files import edit_model, load_model
from truism.model.model import Model
from truism.model.predicates import format_number
from truism.score.thresholds import adopt
from truism.score.thresholds import calibrate as lowest_threshold
from truism.show.models import say


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
@click.option(
    "--max-false-positive-rate",
    "max_share",
    metavar="RATE",
    type=float,
    help="Choose the lowest threshold that at most this share of the rows exceeds.",
)
@incidents_option
@jobs_option
@allow_missing_option
@layout_options
@click.pass_obj
def calibrate(
    screen: Screen,
    /,
    place: str,
    data: tuple[str, ...],
    max_share: float | None,
    max_false_incidents: str | None,
    jobs: int,
    allow_missing: bool,
    **options: Any,
) -> None:
    """Choose the threshold from normal rows, and write it into the model.

    DATA are normal rows other than the training rows. Nothing else in the model changes: its rules and
    their ids stay, and so do the ids of incidents and the states of jobs. Without a rate, a model of a
    series keeps the rate of false incidents that it was learned for; for other models, 1 % of the rows
    may be reported.
    """
    how = file_options(options)
    if max_share is not None and max_false_incidents is not None:
        raise ParameterError(
            "--max-false-positive-rate and --max-false-incidents must not both be given."
        )
    if max_share is not None:
        lowest_threshold(np.zeros(1), max_share)
    check_threshold_options(None, max_false_incidents)
    check_output(place, data)
    then = load_model(place).threshold

    def change(model: Model) -> Model:
        rows = InputRows(screen, Checker(model, jobs), data, how, allow_missing=allow_missing)
        checker, rate = rows.checker, max_false_incidents
        table = checker.prepare(rows.table)
        if checker.learned_from(table):
            screen.note("these are the training rows; use other rows.")
        if max_share is None and rate is None and model.memory is not None:
            rate = model.settings.max_false_incidents or "auto"
        calibrated = checker.calibrate(table, max_share, rate)
        threshold = format_number(calibrated.threshold)
        screen.note(f"threshold {threshold}: {calibrated.limit.origin}.")
        return adopt(model, calibrated)

    changed = edit_model(place, change)
    for doubt in changed.doubts:
        screen.warn(doubt)
    words = f"was {format_number(then)} and is {format_number(changed.threshold)} now"
    screen.show(say(f"{place}: the threshold {words}."))
