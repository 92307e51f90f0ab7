"""``truism explain``: one row, in full."""

from typing import Any

import click
import msgspec
import numpy as np

from truism.cli.options import (
    Command,
    Format,
    allow_missing_option,
    data_argument,
    file_options,
    format_option,
    layout_options,
    model_option,
)
from truism.cli.rows import InputRows
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explain.checker import Checker
from truism.explain.explanations import LINE
from truism.model.files import load_model
from truism.show.terminal import show_explanation

N_SHOWN = 8


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism explain today.csv -m plant.truism.json --row 9230
  truism explain today.csv -m plant.truism.json --row 9230 --format json""",
)
@data_argument
@model_option
@click.option(
    "--row", required=True, type=int, metavar="N", help="The row, counted from 0 as in check."
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    help="Show the N variables with the largest shares; 0 shows all.  [default: 8 for table, without "
    "those of 0 %; else all]",
)
@format_option
@allow_missing_option
@layout_options
@click.pass_obj
def explain(
    screen: Screen,
    /,
    data: tuple[str, ...],
    place: str,
    row: int,
    top: int | None,
    form: Format,
    allow_missing: bool,
    **options: Any,
) -> None:
    """Explain one row in full.

    Shows every reason against the row, whatever the threshold: grouped by the blamed variable,
    strongest first, with what each reason adds to the score. Broken rules that a
    stronger reason about the same variable outweighs are listed, but add nothing.
    """
    how = file_options(options)
    checker = Checker(load_model(place))
    with screen.stages() as progress:
        progress("reading", 0, 0)
        rows = InputRows(screen, checker, data, how, allow_missing=allow_missing)
        checker = rows.checker
        table = checker.prepare(rows.table)
    if not 0 <= row < table.n_rows:
        constraint = f"be at least 0 and below {table.n_rows}, the number of rows"
        raise ParameterError.of("row", constraint, row)
    explanation = checker.explain(table, np.array([row]))[0]
    if top is None:
        top = N_SHOWN if form == "table" else 0
    if form == "table":
        screen.show(show_explanation(explanation, checker.model.threshold, top))
        return
    if top:
        explanation = msgspec.structs.replace(explanation, blames=explanation.blames[:top])
    if form == "csv":
        screen.write_csv(LINE, explanation.lines())
    elif form == "json":
        screen.write_json(explanation.to_dict())
    else:
        screen.write_lines([explanation.to_dict()])
