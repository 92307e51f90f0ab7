"""Choosing the threshold on the command line: its options, and the choice from normal rows."""

from collections.abc import Sequence

import click
import numpy as np

from truism.cli.options import Decorated
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explaining.checker import Checker
from truism.model.model import Model
from truism.model.predicates import format_number
from truism.model.settings import IncidentRate, check_threshold
from truism.scoring.thresholds import calibrate
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
        calibrate(np.zeros(1), max_share)
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
