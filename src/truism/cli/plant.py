"""``truism plant``: the simulated water treatment plant as files to try things on."""

from typing import get_args

import click

from truism.cli.options import Command
from truism.cli.screen import Screen
from truism.plant.files import TableFormat, write_plant
from truism.report.terminal import say


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism plant --rows 20000 -o plant
  truism plant --rows 20000 --attacks --format parquet -o plant""",
)
@click.option(
    "--rows", required=True, type=click.IntRange(min=1), metavar="N", help="Rows of each table."
)
@click.option("--attacks", is_flag=True, help="Also write an attacked run and the truth about it.")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Another seed is another run.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(TableFormat)),
    default="csv",
    show_default=True,
    help="Of the tables.",
)
@click.option("-o", "--output", required=True, metavar="DIR", help="Where to; made if need be.")
@click.pass_obj
def plant(
    screen: Screen, /, rows: int, attacks: bool, seed: int, form: TableFormat, output: str
) -> None:
    """Write the simulated plant's tables, with or without attacks.

    A water treatment plant of six stages, one row every ten seconds: normal.csv, and with --attacks
    another run, attacked.csv, and attacks.json, which lists the attacks: rows from start up to, but
    without, end, the targets and the kind. As many attacks as fit are played.
    """
    with screen.stages() as progress:
        progress("simulating", 0, 0)
        files = write_plant(output, rows, attacks=attacks, seed=seed, form=form)
    for file in files:
        screen.show(say(str(file)))
