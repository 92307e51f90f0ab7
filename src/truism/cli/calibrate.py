"""``truism calibrate``: choose the threshold from normal rows, as ``learn`` and ``check`` can, too."""

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from truism.cli.options import (
    Command,
    Decorated,
    allow_missing_option,
    check_output,
    file_options,
    jobs_option,
    layout_options,
)
from truism.cli.rows import Rows
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explain.checker import Checker
from truism.model.files import edit_model, load_model
from truism.model.model import Model
from truism.model.predicates import format_number
from truism.model.settings import IncidentRate, check_threshold
from truism.score.thresholds import adopt
from truism.score.thresholds import calibrate as lowest_threshold
from truism.show.models import say
from truism.table.columns import Table
from truism.table.files import STDIN


def calibration_options(command: Decorated) -> Decorated:
    """Add the options that choose a threshold from normal rows."""
    command = click.option(
        "--calibrate",
        "calibration",
        multiple=True,
        metavar="FILE",
        help="A file of normal rows that were not learned from; may be repeated.",
    )(command)
    return rate_options(command, "the --calibrate rows")


def rate_options(command: Decorated, rows: str = "the rows") -> Decorated:
    """Add the options for how many normal rows or incidents of them may be reported."""
    command = click.option(
        "--max-false-incidents",
        metavar="RATE",
        help="For a series: how many false incidents you can live with, such as 1/day, 2/week or "
        "1/1000rows.  [default: the model's]",
    )(command)
    return click.option(
        "--max-false-positive-rate",
        metavar="RATE",
        type=float,
        help=f"Choose the lowest threshold that at most this share of {rows} exceeds.",
    )(command)


def check_calibration(
    threshold: float | None,
    max_share: float | None,
    max_incidents: str | None,
    calibration: Sequence[str],
    data: Sequence[str],
) -> None:
    """Refuse options that contradict each other before reading anything."""
    if max_share is not None and not calibration:
        raise ParameterError(
            "--max-false-positive-rate and --calibrate must be given together.",
            "the rate is measured on the rows of the --calibrate file.",
        )
    if threshold is not None and (max_share is not None or max_incidents is not None):
        other = "positive-rate" if max_share is not None else "incidents"
        raise ParameterError(f"--threshold and --max-false-{other} must not both be given.")
    if threshold is not None and calibration:
        raise ParameterError("--threshold and --calibrate must not both be given.")
    if max_share is not None and max_incidents is not None:
        raise ParameterError(
            "--max-false-positive-rate and --max-false-incidents must not both be given."
        )
    if STDIN in calibration and STDIN in data:
        raise ParameterError(
            "Standard input can be read only once, got '-' for both DATA and --calibrate."
        )
    if threshold is not None:
        check_threshold(threshold)
    if max_share is not None:
        lowest_threshold(np.zeros(1), max_share)
    if max_incidents is not None:
        IncidentRate.parse(max_incidents)


def calibrated(
    screen: Screen,
    checker: Checker,
    normal: Table,
    max_share: float | None,
    max_incidents: str | None,
    rows: str = "the --calibrate rows",
) -> Model:
    """Choose the threshold from normal rows, and print it."""
    table = checker.prepare(normal)
    if checker.learned_from(table):
        screen.note(f"{rows} are the rows that were learned from; use other rows.")
    if max_share is None and max_incidents is None and checker.model.memory is not None:
        max_incidents = checker.model.settings.max_false_incidents or "auto"
    model = checker.calibrate(table, max_share, max_incidents)
    screen.note(f"threshold {format_number(model.threshold)}: {model.limit.origin}.")
    return model


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
    how = file_options(options)
    rates = (max_false_positive_rate, max_false_incidents)
    check_calibration(None, *rates, data, ())
    check_output(place, data)

    then = load_model(place).threshold

    def change(model: Model) -> Model:
        checker = Checker(model, jobs)
        normal = Rows(screen, checker, data, how, allow_missing=allow_missing)
        found = calibrated(screen, normal.checker, normal.table, *rates, "the rows")
        return adopt(model, found)

    changed = edit_model(place, change)
    for doubt in changed.doubts:
        screen.warn(doubt)
    words = f"was {format_number(then)} and is {format_number(changed.threshold)} now"
    screen.show(say(f"{place}: the threshold {words}."))
