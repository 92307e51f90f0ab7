"""``truism status``: whether a model still fits, and what to do if it does not."""

from typing import Any

import click

from truism.cli.batched import Portions, open_beyond
from truism.cli.large import memory_option
from truism.cli.options import Command, Form, data_argument, form_option, jobs_option, model_option
from truism.cli.reading import Asked, asked, layout_options, read_data
from truism.cli.screen import Screen
from truism.explaining.checker import Check, Checker
from truism.explaining.freshness import Status, Survey
from truism.explaining.freshness import status as find_status
from truism.incidents.following import Following, Found
from truism.model.files import load_model
from truism.report.freshness import say_remedy, say_status
from truism.report.terminal import show_pairs
from truism.table.columnar import Columnar
from truism.table.columns import Table
from truism.work import Progress

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
@memory_option
@layout_options
@click.pass_obj
def status(
    screen: Screen,
    /,
    data: tuple[str, ...],
    place: str,
    form: Form,
    jobs: int,
    memory_limit: str | None,
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
        files = open_beyond(data, said, checker.model.reading, memory_limit, ())
        if files is None:
            table = read_data(screen, data, said, checker.model.reading).table
            progress("comparing", 0, 0)
            found = find_status(checker, table)
        else:
            found = _in_portions(screen, progress, checker, files, said, memory_limit)
    if form == "json":
        content = {"format": "truism-status", "format_version": 1, "status": found}
        screen.write_json({**content, "advice": say_remedy(found)})
    else:
        screen.show(show_pairs(say_status(found)))
    return STALE if found.verdict == "stale" else 0


def _in_portions(
    screen: Screen,
    progress: Progress,
    checker: Checker,
    files: Columnar,
    said: Asked,
    limit: str | None,
) -> Status:
    """Ask about rows that do not fit, portion by portion."""
    portions = Portions(screen, files, said, checker.model.reading)
    survey = Survey(checker, files.n_rows, checker.absent(portions.opening.table))
    if survey.is_blind:
        return survey.status()

    def taken(prepared: Table, found: Found, before: Following | None) -> None:  # noqa: ARG001
        survey.take(prepared)

    gathering = Check(survey.checker, files.n_rows)
    return survey.status(portions.gather(gathering, limit, progress, taken))
