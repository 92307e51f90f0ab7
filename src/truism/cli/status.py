"""``truism status``: whether a model still fits, and what to do if it does not."""

from typing import Any

import click

from truism.cli.options import Command, Form, data_argument, form_option, jobs_option, model_option
from truism.cli.reading import asked, layout_options, read_data
from truism.cli.screen import Screen
from truism.explaining.checker import Checker
from truism.explaining.freshness import status as find_status
from truism.model.files import load_model
from truism.report.freshness import say_remedy, say_status
from truism.report.terminal import show_pairs

STALE = 3


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism status -m plant.truism.json today.csv
  truism status -m plant.truism.json 'june/*.csv' --format json

Exit codes: 0 fresh or drifting, 2 bad input or usage, 3 stale.""",
)
@data_argument
@model_option
@form_option
@jobs_option
@layout_options
@click.pass_obj
def status(
    screen: Screen,
    /,
    data: tuple[str, ...],
    place: str,
    form: Form,
    jobs: int,
    **options: Any,
) -> int:
    """Find out whether a model still fits: fresh, drifting or stale.

    DATA are recent rows, a day or a week of them. Reasons are effect sizes: the share of rows that are
    reported beside what was promised, variables that are contradicted more than usual and since when,
    states never seen, numbers out of range, absent columns, coarser decimals, and rules whose condition
    never occurs any more. Exits with 3 if the model is stale.
    """
    said = asked(options)
    checker = Checker(load_model(place), jobs)
    with screen.stages() as progress:
        progress("reading", 0, 0)
        table = read_data(screen, data, said, checker.model.reading).table
        progress("comparing", 0, 0)
        found = find_status(checker, table)
    if form == "json":
        content = {"format": "truism-status", "format_version": 1, "status": found}
        screen.write_json({**content, "advice": say_remedy(found)})
    else:
        screen.show(show_pairs(say_status(found)))
    return STALE if found.verdict == "stale" else 0
