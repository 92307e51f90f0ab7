"""Tables read for a model on the command line: as it was learned, and with columns that may be absent."""

from collections.abc import Sequence

import click

from truism.cli.options import Decorated
from truism.cli.reading import Asked, read_data
from truism.cli.screen import Screen
from truism.errors import shorten
from truism.explaining.checker import Checker
from truism.table.columns import Table


def allow_missing_option(command: Decorated) -> Decorated:
    """Add the option for tables that lack columns."""
    return click.option(
        "--allow-missing",
        is_flag=True,
        help="Go on if columns are absent; everything that needs them is unknown.",
    )(command)


def read_for(
    screen: Screen,
    checker: Checker,
    sources: Sequence[str],
    said: Asked,
    *,
    allow_missing: bool = False,
    allow_empty: bool = False,
) -> tuple[Checker, Table]:
    """Read tables as the training table was read, and return the checker that suits them."""
    reading = checker.model.reading
    found = read_data(screen, sources, said, reading, allow_empty=allow_empty)
    if said.layout.time:
        checker = checker.timed(found.reading.axis)
    optional = () if reading is None else reading.optional
    absent = checker.absent(found.table)
    unneeded = [name for name in absent if allow_missing or name in optional]
    if len(unneeded) == len(absent) and 0 < len(absent) < checker.n_columns:
        fitting = checker.without(unneeded)
        n_rules, n_left = len(checker.model.active_rules), len(fitting.model.active_rules)
        are = "Column {} is" if len(absent) == 1 else "Columns {} are"
        screen.warn(
            f"{are.format(shorten(unneeded))} absent; everything that needs "
            f"{'it' if len(absent) == 1 else 'them'} is unknown: {n_left:,} of {n_rules:,} rules "
            f"are left."
        )
        checker = fitting
    return checker, found.table
