"""Choosing the threshold on the command line: its options, and the choice from normal rows."""

from collections.abc import Sequence

import click
import numpy as np

from truism.cli.options import Decorated
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explaining.checker import Checker
from truism.model.origins import Threshold
from truism.model.predicates import format_number
from truism.model.settings import check_threshold
from truism.scoring.thresholds import calibrate
from truism.table.columns import Table
from truism.table.files.reading import STDIN


def calibration_options(command: Decorated) -> Decorated:
    """Add the options that choose a threshold from normal rows."""
    command = click.option(
        "--calibrate",
        "calibration",
        multiple=True,
        metavar="FILE",
        help="A file of normal rows that were not learned from; may be repeated.",
    )(command)
    return click.option(
        "--max-false-positive-rate",
        metavar="RATE",
        type=float,
        help="Choose the lowest threshold that at most this share of the --calibrate rows exceeds.",
    )(command)


def check_calibration(
    threshold: float | None,
    max_rate: float | None,
    calibration: Sequence[str],
    data: Sequence[str],
) -> None:
    """Refuse options that contradict each other before reading anything."""
    if (max_rate is None) != (not calibration):
        raise ParameterError(
            "--max-false-positive-rate and --calibrate must be given together.",
            "the rate is measured on the rows of the --calibrate file.",
        )
    if threshold is not None and max_rate is not None:
        raise ParameterError("--threshold and --max-false-positive-rate must not both be given.")
    if STDIN in calibration and STDIN in data:
        raise ParameterError(
            "Standard input can be read only once, got '-' for both DATA and --calibrate."
        )
    if threshold is not None:
        check_threshold(threshold)
    if max_rate is not None:
        calibrate(np.zeros(1), max_rate)


def choose_threshold(screen: Screen, checker: Checker, normal: Table, max_rate: float) -> Threshold:
    """Choose the threshold from normal rows, and print it."""
    table = checker.prepare(normal)
    if checker.learned_from(table):
        screen.note("the --calibrate rows are the rows that were learned from; use other rows.")
    chosen = calibrate(checker.score(table), max_rate)
    screen.note(f"threshold {format_number(chosen.value)}: {chosen.origin}.")
    return chosen
