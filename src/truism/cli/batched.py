"""Tables that do not fit, checked on the command line: files go in, what was found comes out."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from truism.cli.fitting import fit
from truism.cli.large import LEAST_ROWS, size_of
from truism.cli.reading import Asked, tell
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explaining.checker import Check, Checker
from truism.explaining.findings import Findings
from truism.explaining.scorelists import tabulate
from truism.explaining.states import Step
from truism.incidents.delays import Delays
from truism.incidents.following import Following, Found
from truism.scoring import kernels
from truism.table.columnar import Columnar, open_batches, read_opening, read_portions
from truism.table.columns import Table
from truism.table.layouts import Reading
from truism.table.notices import Notice, refuse_doubts
from truism.work import Progress, read_ahead

BYTES_WHOLE = 64  # held for each value of a table that is checked whole
BYTES_AT_ONCE = 100  # held for each value of a portion; few of its rows are weighed at a time
MOST_ROWS = 1 << 16
N_FIRST = 1000  # rows in which it is seen which columns there are

Write = Callable[[dict[str, Any]], None]
Taken = Callable[[Table, Found, Following | None], None]


def open_beyond(
    sources: Sequence[str],
    said: Asked,
    reading: Reading | None,
    limit: str | None,
    whole: Sequence[str],
) -> Columnar | None:
    """Open files that are too large to be held whole; None for all others.

    Parameters
    ----------
    sources
        Paths, folders and patterns.
    said, reading
        How they are to be read, and how those were that were learned from.
    limit
        How much memory may be used.
    whole
        Options that need all rows at once.

    """
    size = size_of(limit)
    # A cell of a CSV file has at least two bytes.
    least = 2 * size // BYTES_WHOLE
    files = open_batches(sources, said.layout, reading, least)
    if files is None:
        return None
    needed = files.n_rows * len(files.schema.names) * BYTES_WHOLE
    if needed <= size:
        return None
    if whole:
        raise ParameterError(
            f"{whole[0]} needs all rows at once: {files.n_rows:,} rows take about "
            f"{_say_size(needed)} of memory.",
            "take fewer files at a time, or raise --memory-limit.",
        )
    return files


def _say_size(n_bytes: int) -> str:
    """Return a size in words.

    >>> _say_size(3 << 29), _say_size(5 << 20)
    ('1.5 GiB', '5 MiB')
    """
    gib = n_bytes / (1 << 30)
    return f"{gib:.1f} GiB" if gib >= 1 else f"{max(n_bytes >> 20, 1):,} MiB"


class Portions:
    """Files that are read portion by portion, as the training table was read.

    Parameters
    ----------
    screen
        Where to say what is odd.
    files, said
        The files, and how they are to be read.
    learned
        How the training table was read; None if that is not known.

    """

    def __init__(
        self, screen: Screen, files: Columnar, said: Asked, learned: Reading | None
    ) -> None:
        self.screen, self.files, self.said = screen, files, said
        self._noted: set[tuple[str, tuple[str, ...]]] = set()
        if learned is None:
            self.opening = read_opening(files, said.layout)
        else:
            self.opening = read_opening(files, said.layout, N_FIRST, learned)
        self._note(self.opening.notices)
        self._reading: Reading = self.opening.reading if learned is None else learned

    def read(self, wanted: set[str], n_rows: int) -> Iterator[Table]:
        """Read some columns, so many rows at once."""
        asked = self.files, self.said.layout, self._reading, n_rows, wanted
        for found in read_ahead(read_portions(*asked)):
            self._note(found.notices)
            yield found.table

    def rows_at_once(self, n_columns: int, limit: str | None) -> int:
        """Return how many rows with so many columns are read at once."""
        at_once = size_of(limit) // 4 // (BYTES_AT_ONCE * max(n_columns, 1))
        return min(max(at_once, LEAST_ROWS), MOST_ROWS)

    def gather(
        self, gathering: Check, limit: str | None, progress: Progress, taken: Taken
    ) -> Findings:
        """Follow all rows.

        Parameters
        ----------
        gathering
            What gathers findings.
        limit
            How much memory may be used.
        progress
            Called with the stage, the amount done, and the total amount.
        taken
            Called with the rows of each portion, prepared, what was found in them, and what was kept of
            the portions before.

        """
        checker, total = gathering.checker, self.files.n_rows
        schema, series = checker.model.schema, checker.model.series
        marks = (schema.time, None if series is None else series.by)
        times = {each for each in marks if each is not None}
        wanted = {*checker.needed, *times}
        n_rows = self.rows_at_once(len(checker.needed), limit)
        self.screen.announce_compiling(kernels.__name__)
        progress("loading compiled code", 0, 0)
        kernels.load()
        done = 0
        progress("scoring", 0, total)
        for table in self.read(wanted, n_rows):
            before = gathering.following
            prepared = checker.prepare(table, before)
            taken(prepared, gathering.take(prepared), before)
            done += table.n_rows
            progress("scoring", done, total)
        if gathering.needs_times:
            progress("reading times", 0, 0)
            gathering.read_times(lambda: self.read(times, n_rows))
        return gathering.findings()

    def _note(self, notices: Sequence[Notice]) -> None:
        """Say once what there is to say about a column."""
        for notice in notices:
            about = notice.code, notice.columns
            if about not in self._noted:
                self._noted.add(about)
                if self.said.strict:
                    refuse_doubts([notice])
                tell(self.screen, notice)


class Batched:
    """A check of files that are read portion by portion.

    Parameters
    ----------
    screen, progress
        Where to say what is odd, and how far it is.
    checker
        The model.
    files, said
        The files, and how they are to be read.
    limit
        How much memory may be used.
    allow_missing
        Whether columns may be absent.

    """

    def __init__(
        self,
        screen: Screen,
        progress: Progress,
        checker: Checker,
        files: Columnar,
        said: Asked,
        limit: str | None,
        *,
        allow_missing: bool,
    ) -> None:
        self._progress, self._limit = progress, limit
        self._portions = Portions(screen, files, said, checker.model.reading)
        opening = self._portions.opening
        self.checker = fit(screen, checker, opening, said, allow_missing=allow_missing).checker
        self._extra = self.checker.extra(self.checker.prepare(opening.table))

    def check(
        self,
        write: Write | None,
        *,
        gap: int | None,
        min_rows: int,
        delays: Delays,
        most: int | None,
        patterns: bool,
    ) -> Step:
        """Check all rows; as for `Check`, and with a function that writes scores."""
        checker = self.checker
        gathering = Check(
            checker,
            self._portions.files.n_rows,
            gap=gap,
            min_rows=min_rows,
            delays=delays,
            most=most,
            patterns=patterns,
        )

        def taken(prepared: Table, found: Found, before: Following | None) -> None:
            if write is not None:
                write(tabulate(checker, prepared, found.scores, found.excess, before=before))

        findings = self._portions.gather(gathering, self._limit, self._progress, taken)
        findings = msgspec.structs.replace(findings, extra=self._extra)
        nothing = self._portions.opening.table.take(slice(0, 0))
        return Step(findings, {}, nothing)
