"""``truism status``: whether a model still fits, and what to do if it does not."""

from typing import Any

import click

from truism.cli.options import (
    Command,
    Form,
    data_argument,
    file_options,
    form_option,
    jobs_option,
    layout_options,
    memory_option,
    model_option,
    size_of,
)
from truism.cli.rows import InputRows
from truism.cli.screen import Screen
from truism.explain.checker import Checker
from truism.model.files import load_model
from truism.review.status import Survey, say_remedy, say_status
from truism.show.models import show_pairs

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

    DATA are recent rows, a day or a week of them. Reasons are effect sizes: rows reported beyond the
    expected share, variables that are contradicted more than usual and since when, unseen states,
    numbers out of range, absent columns and coarser decimals. Exits with 3 if the model is stale.
    """
    how = file_options(options)
    checker = Checker(load_model(place), jobs)
    with screen.stages() as progress:
        progress("reading", 0, 0)
        size = size_of(memory_limit)
        rows = InputRows(screen, checker, data, how, size=size, allow_missing=None)
        survey = Survey(checker, rows.n_rows, checker.absent(rows.opening))
        if survey.check is not None:
            for _ in rows.feed(survey.check, progress):
                pass
        fit = survey.status()
    if form == "json":
        content = {"format": "truism-status", "format_version": 1, "status": fit}
        screen.write_json({**content, "advice": say_remedy(fit)})
    else:
        screen.show(show_pairs(say_status(fit)))
    return STALE if fit.verdict == "stale" else 0
