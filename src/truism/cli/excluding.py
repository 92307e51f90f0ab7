"""Suspects on the command line: which training rows are listed, and which are not learned from."""

from collections.abc import Sequence
from typing import Any

import click
import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.cli.options import Decorated, check_output, check_suffix
from truism.errors import ParameterError, TableError
from truism.export.suspects import listed_rows, suspects_as_columns
from truism.learning.kinds import infer_schema
from truism.learning.suspects import Suspects, find_suspects
from truism.model.settings import Settings
from truism.table.columns import Table
from truism.table.files import TableRead, read_table
from truism.table.writing import write_table
from truism.work import Progress

_OPTIONS = (
    click.option(
        "--suspects",
        "suspects_place",
        metavar="FILE",
        help="List the training rows that the others contradict most, with reasons, in a .csv or "
        ".parquet file.",
    ),
    click.option(
        "--exclude",
        "excluded_place",
        metavar="FILE",
        help="Learn without the rows that a file lists: by number (row), by time, or by both.",
    ),
    click.option(
        "--exclude-suspects",
        is_flag=True,
        help="Learn without the suspects that would be hidden by learning from them, in one command.",
    ),
)


class Exclusion(msgspec.Struct, frozen=True):
    """What was asked for: where suspects are listed, which rows are left out."""

    suspects: str | None = None
    listed: str | None = None
    own: bool = False

    @property
    def is_asked(self) -> bool:
        """Whether anything was asked for."""
        return self != Exclusion()


class Excluded(msgspec.Struct, frozen=True, eq=False):
    """The rows to learn without, and the suspects if they were looked for."""

    rows: NDArray[np.int64] | None = None
    suspects: Suspects | None = None


def exclusion_options(command: Decorated) -> Decorated:
    """Add the options about suspects."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asked_exclusion(options: dict[str, Any], inputs: Sequence[str]) -> Exclusion:
    """Remove these options from a command's options, check them, and return them as one value."""
    asked = Exclusion(
        options.pop("suspects_place"),
        options.pop("excluded_place"),
        options.pop("exclude_suspects"),
    )
    if asked.listed is not None and (asked.own or asked.suspects is not None):
        other = "--exclude-suspects" if asked.own else "--suspects"
        raise ParameterError(
            f"--exclude and {other} must not both be given.",
            "a list that you have looked through takes the place of new suspects.",
        )
    if asked.suspects is not None:
        check_suffix(asked.suspects)
        check_output(asked.suspects, inputs)
    return asked


def exclude(
    asked: Exclusion,
    found: TableRead,
    settings: Settings,
    delta: bool,
    jobs: int,
    progress: Progress,
    *,
    is_whole: bool,
) -> Excluded:
    """Find suspects or read a list of rows, as asked."""
    if not asked.is_asked:
        return Excluded()
    if not is_whole:
        raise TableError(
            "Suspects can only be found in, and rows left out of, a table that is learned from at once, "
            "not a larger one.",
            "take a part of the table for that.",
        )
    table = found.table
    settings = msgspec.structs.replace(settings, time=found.reading.axis)
    if asked.listed is not None:
        listed = read_table([asked.listed], allow_empty=True)
        time = infer_schema(table, settings).time
        return Excluded(listed_rows(listed, asked.listed, table, time))
    suspects = find_suspects(table, settings, delta=delta, n_jobs=jobs, progress=progress)
    return Excluded(suspects.hidden if asked.own else None, suspects)


def write_suspects(asked: Exclusion, excluded: Excluded, table: Table) -> None:
    """Write the list of suspects, if that was asked for."""
    if asked.suspects is not None and excluded.suspects is not None:
        write_table(suspects_as_columns(excluded.suspects, table), asked.suspects)
