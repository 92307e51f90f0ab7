"""Reading tables on the command line; notices about it go to standard error."""

from collections.abc import Sequence

from truism.cli.screen import Screen
from truism.table.cells.layouts import Layout
from truism.table.columns import Table
from truism.table.files.reading import read


def read_data(screen: Screen, sources: Sequence[str], layout: Layout | None = None) -> Table:
    """Read files as one table, and print the notices about how they were read."""
    found = read(sources, layout)
    for notice in found.notices:
        screen.note(str(notice))
    return found.table
