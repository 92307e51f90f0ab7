"""Files that need not fit, on the command line: how much is held at once, and how batches are read."""

import os
import re
from collections.abc import Sequence

import click

from truism.cli.options import Decorated
from truism.cli.reading import Asked, tell
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.learning.parts import PART_ROWS, Parts, of_files
from truism.learning.passes import SAMPLE
from truism.learning.scattered import of_spans
from truism.table.columnar import Columnar, open_batches, read_opening
from truism.table.files import TableRead
from truism.table.notices import refuse_doubts

BYTES_PER_VALUE = 200  # held at once for each value of a batch: its copies, truths, and sums
LEAST_ROWS = 1 << 12
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def memory_option(command: Decorated) -> Decorated:
    """Add the option that limits memory."""
    return click.option(
        "--memory-limit",
        metavar="SIZE",
        help="How much memory to use for batches of large Parquet, Arrow and CSV files, such as 3GiB; "
        "results do not depend on it.  [default: half of the machine's]",
    )(command)


def size_of(text: str | None) -> int:
    """Return a number of bytes; half of the machine's memory if nothing is said.

    >>> size_of("3GiB"), size_of("500 MB")
    (3221225472, 524288000)
    """
    if text is None:
        if not hasattr(os, "sysconf"):  # Windows does not tell
            return _UNITS["g"]
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?", text.strip().lower())
    size = 0 if found is None else int(float(found[1]) * _UNITS[found[2]])
    if size < 1 << 20:
        raise ParameterError.of("memory_limit", "be a size of at least 1 MiB, such as 3GiB", text)
    return size


def open_large(sources: Sequence[str], said: Asked) -> Columnar | None:
    """Open files that have more rows than are learned from at once; None for all others."""
    files = open_batches(sources, said.layout, least_rows=SAMPLE)
    return files if files is not None and files.n_rows > SAMPLE else None


def dask_option(command: Decorated) -> Decorated:
    """Add the option that leaves the work to a cluster."""
    return click.option(
        "--dask",
        metavar="ADDRESS",
        help="Let the workers of a Dask scheduler such as tcp://host:8786 read large files, which all "
        "of them must see.",
    )(command)


def read_large(
    screen: Screen,
    files: Columnar,
    said: Asked,
    limit: str | None,
    jobs: int,
    dask: str | None = None,
) -> tuple[TableRead, Parts]:
    """Decide how large files are read, and return their first rows and all rows in parts."""
    opening = read_opening(files, said.layout)
    if said.strict:
        refuse_doubts(opening.notices)
    for notice in opening.notices:
        tell(screen, notice)
    held = size_of(limit) // (BYTES_PER_VALUE * len(files.schema.names) * (jobs + 1))
    n_rows = min(max(held, LEAST_ROWS), PART_ROWS)
    if dask is not None:
        from truism.clusters.daskcrew import DaskCrew, connect

        client = connect(dask)
        click.get_current_context().call_on_close(client.close)
        return opening, of_spans(DaskCrew(client), files, opening.reading, n_rows)
    return opening, of_files(files, opening.reading, n_rows)
