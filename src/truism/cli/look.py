"""``truism look``: what would be read of a table, and what would become of it."""

import math
from typing import Any

import click

from truism.cli.app import option_of
from truism.cli.options import (
    Command,
    Form,
    check_output,
    data_argument,
    file_options,
    form_option,
    layout_options,
)
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.model.provenance import now_here
from truism.show.looks import describe, show_sight, to_record
from truism.table.atomic import write_atomically
from truism.table.files import open_files, read_first
from truism.table.labels import label_notices
from truism.table.looking import look as look_at
from truism.table.notices import Notice, refuse_doubts

MOST_VALUES = 1 << 26  # of larger tables only the first rows are looked at


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism look normal.csv
  truism look export.csv --decimal , --time Date,Time
  truism look june/ --report june.html
  truism look normal.csv --format json | jq '.columns[] | select(.left_out)'""",
)
@data_argument
@click.option(
    "--report",
    "-o",
    "page",
    metavar="FILE",
    help="Write the same as a single .html page.",
)
@form_option
@click.option(
    "--categorical", multiple=True, metavar="COL", help="Column of states; may be repeated."
)
@click.option(
    "--by", metavar="COL", help="Column that names the series of each row, if there are several."
)
@layout_options
@click.pass_obj
def look(
    screen: Screen,
    /,
    data: tuple[str, ...],
    page: str | None,
    form: Form,
    **options: Any,
) -> None:
    """Show how a table would be read, before anything is learned.

    DATA takes the same kinds of files as learn. For each column: what it holds, its unit, missing
    values, the first values and how values are spread; what would be left out and why; and whatever
    is odd about the files.
    """
    how = file_options(options)
    if page is not None:
        if not page.lower().endswith((".html", ".htm")):
            raise ParameterError(f"The page's name must end in .html, got {page!r}.")
        check_output(page, data)
    with screen.stages() as progress:
        progress("reading", 0, 0)
        files = open_files(data, how.layout)
        most = math.inf if how.layout.every is not None else MOST_VALUES
        opening = read_first(files, most_values=most, allow_empty=True)
        notices = (*opening.notices, *label_notices(opening.table, files.layout.states))
        if not opening.is_whole:
            n_read = f"{opening.table.n_rows:,} of {files.n_rows:,}"
            notices = (
                *notices,
                Notice("first_rows", f"only the first {n_read} rows are looked at."),
            )
        if how.strict:
            refuse_doubts(notices)
        seen = look_at(opening.table, opening.reading, notices)
    source = ", ".join(data)
    sight = describe(seen, option_of)
    if page is not None:
        from truism.show.html import look_page  # only a page needs its library

        write_atomically(page, look_page(sight, source, now_here()).encode())
        screen.note(f"the page is in {page}.")
    if form == "json":
        screen.write_json(to_record(seen, option_of))
    else:
        screen.show(show_sight(sight, source))
