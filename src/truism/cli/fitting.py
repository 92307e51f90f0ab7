"""Tables read for a model on the command line: as it was learned, and with columns that may be absent."""

from collections.abc import Sequence

import click
import msgspec

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
) -> Fitted:
    """Read tables as the training table was read, and return the checker that suits them."""
    reading = checker.model.reading
    found = read_data(screen, sources, said, reading, allow_empty=allow_empty)
    doubts = tuple(str(notice) for notice in found.notices if notice.doubtful)
    if said.layout.time:
        checker = checker.timed(found.reading.axis)
    optional = () if reading is None else reading.optional
    absent = checker.absent(found.table)
    allowed = allow_missing or {*absent} <= {*optional}
    if not absent or not allowed or len(absent) == checker.n_columns:
        return Fitted(checker, found.table, doubts)
    fitting = checker.without(absent)
    doubt = _say_absent(absent, checker, fitting)
    screen.warn(doubt)
    return Fitted(fitting, found.table, (*doubts, doubt))


def _say_absent(absent: Sequence[str], before: Checker, after: Checker) -> str:
    n_rules, n_left = len(before.model.active_rules), len(after.model.active_rules)
    one = len(absent) == 1
    which = f"Column {absent[0]!r} is" if one else f"Columns {shorten(tuple(absent))} are"
    return (
        f"{which} absent; everything that needs {'it' if one else 'them'} is unknown: {n_left:,} of "
        f"{n_rules:,} rules are left."
    )
