"""``truism plant``: tables of the simulated water treatment plant, to try things on."""

from pathlib import Path
from typing import get_args

import click

from truism.cli.options import Command
from truism.cli.screen import Screen
from truism.plant import simulate
from truism.plant.files import TableFormat, write_attacked
from truism.show.models import say
from truism.table.writing import write_table


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism plant --rows 20000 -o plant
  truism plant --rows 20000 --attacks --format parquet -o plant
  truism plant --rows 4000 --retuned 2000 -o later""",
)
@click.option(
    "--rows",
    required=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of rows in each table.",
)
@click.option(
    "--attacks", is_flag=True, help="Also write an attacked run and the list of its attacks."
)
@click.option(
    "--retuned",
    metavar="N",
    type=click.IntRange(min=0),
    help="Retune a controller from row N on; the first row is 0.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed; each seed gives another run.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(TableFormat)),
    default="csv",
    show_default=True,
    help="File format of the tables.",
)
@click.option(
    "-o", "--output", required=True, metavar="DIR", help="Folder to write to; created if missing."
)
@click.pass_obj
def plant(
    screen: Screen,
    /,
    rows: int,
    attacks: bool,
    retuned: int | None,
    seed: int,
    form: TableFormat,
    output: str,
) -> None:
    """Write the simulated plant's tables, with or without attacks.

    A water treatment plant with six stages and one row every ten seconds. Writes normal.csv. With
    --attacks, also writes attacked.csv, another run with as many attacks as fit, and attacks.json,
    which lists each attack: its rows (start included, end excluded), its targets and its kind.

    --retuned changes the process without a fault: from that row on, the tank of LIT301 is kept
    between 600 and 800 mm instead of 800 and 1,000.
    """
    with screen.stages() as progress:
        progress("simulating", 0, 0)
        place = Path(output)
        normal = simulate(rows, seed=seed, retuned=retuned)
        place.mkdir(parents=True, exist_ok=True)
        files = [f"normal.{form}"]
        write_table(normal.columns, place / files[0])
        if attacks:
            write_attacked(place, rows, seed=seed + 1, form=form, retuned=retuned)
            files += [f"attacked.{form}", "attacks.json"]
    for file in files:
        screen.show(say(str(place / file)))
