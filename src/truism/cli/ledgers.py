"""Ledgers of accepted rows on the command line: taken in when learning."""

import click
import msgspec

from truism.cli.options import Decorated
from truism.cli.screen import Screen
from truism.errors import ParameterError, TableError, shorten
from truism.model.wording import count
from truism.table.columns import Table
from truism.table.files.ledgers import MARKS, read_ledger
from truism.table.files.reading import TableRead, read_table
from truism.table.joining import join_tables
from truism.table.notices import rows as say_rows


def accepted_option(command: Decorated) -> Decorated:
    """Add the option for a ledger of accepted rows."""
    return click.option(
        "--accepted",
        multiple=True,
        metavar="LEDGER",
        help="Rows that were accepted as normal, *.accepted.parquet; learned like the others.",
    )(command)


def with_accepted(
    screen: Screen, found: TableRead, ledgers: tuple[str, ...], *, large: bool
) -> TableRead:
    """Return a table with the rows of ledgers at its end."""
    if not ledgers:
        return found
    if large:
        raise ParameterError("--accepted needs rows that fit into memory.")
    tables = [found.table]
    for place in ledgers:
        ledger = read_ledger(place)
        if ledger is None:
            raise TableError(f"There is no ledger {place!r}.")
        if not ledger.num_rows:  # all that was accepted was taken back
            screen.note(f"no rows are accepted in {place!r}.")
            continue
        read = read_table([place], reading=found.reading)
        known = read.column_of()
        absent = [name for name in found.table.names if name not in known]
        if absent:
            raise TableError(
                f"The ledger {place!r} lacks {shorten(absent)}.",
                "learn from rows with its columns.",
            )
        ids = {read.column_of()[MARKS[0]].cell(row) for row in range(read.n_rows)}
        accepted = f"{say_rows(read.n_rows)} of {count(len(ids), 'acceptance')}"
        screen.note(f"{accepted} {'is' if read.n_rows == 1 else 'are'} learned as normal.")
        own = tuple(known[name] for name in found.table.names)
        tables.append(Table(own, read.n_rows))
    return msgspec.structs.replace(found, table=join_tables(tables))
