"""Tables read for a model on the command line: as it was learned, and with columns that may be absent."""

from collections.abc import Sequence

import click
import msgspec

from truism.cli.options import Decorated
from truism.cli.reading import Asked, read_data
from truism.cli.screen import Screen
from truism.explaining.absences import suited
from truism.explaining.checker import Checker
from truism.table.columns import Table
from truism.table.files import TableRead


def allow_missing_option(command: Decorated) -> Decorated:
    """Add the option for tables that lack columns."""
    return click.option(
        "--allow-missing",
        is_flag=True,
        help="Go on if columns are absent; everything that needs them is unknown.",
    )(command)


class Fitted(msgspec.Struct, frozen=True, eq=False):
    """A table, the checker that suits it, and what readers of a report about it must know."""

    checker: Checker
    table: Table
    doubts: tuple[str, ...] = ()


def read_for(
    screen: Screen,
    checker: Checker,
    sources: Sequence[str],
    said: Asked,
    *,
    allow_missing: bool = False,
    allow_empty: bool = False,
    only_doubts: bool = False,
) -> Fitted:
    """Read tables as the training table was read, and return the checker that suits them."""
    reading = checker.model.reading
    found = read_data(
        screen, sources, said, reading, allow_empty=allow_empty, only_doubts=only_doubts
    )
    return fit(screen, checker, found, said, allow_missing=allow_missing)


def fit(
    screen: Screen, checker: Checker, found: TableRead, said: Asked, *, allow_missing: bool
) -> Fitted:
    """Return a table that was read with the checker that suits it."""
    doubts = tuple(str(notice) for notice in found.notices if notice.doubtful)
    if said.layout.time:
        checker = checker.timed(found.reading.axis)
    suits = suited(checker, found.table, allow_missing=allow_missing)
    if suits.doubt is not None:
        screen.warn(suits.doubt)
        doubts = (*doubts, suits.doubt)
    return Fitted(suits.checker, found.table, doubts)
