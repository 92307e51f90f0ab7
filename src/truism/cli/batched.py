"""Tables that do not fit, checked on the command line: files go in, what was found comes out."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from truism.cli.fitting import Fitted, fit
from truism.cli.large import LEAST_ROWS, size_of
from truism.cli.reading import Asked, tell
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explaining.checker import Checker
from truism.explaining.delays import Delays
from truism.explaining.gathering import Gathering
from truism.explaining.scorelists import tabulate
from truism.explaining.states import JobState, Step, tuning
from truism.scoring import kernels
from truism.table.columns import Table
from truism.table.files.columnar import Columnar, open_batches
from truism.table.files.portions import read_opening, read_portions
from truism.table.layouts import Layout, Reading
from truism.table.notices import Notice, refuse_doubts
from truism.work import Progress

BYTES_WHOLE = 64  # held for each value of a table that is checked whole
BYTES_AT_ONCE = 100  # held for each value of a portion; few of its rows are weighed at a time
MOST_ROWS = 1 << 16
N_FIRST = 1000  # rows in which it is seen which columns there are

Write = Callable[[dict[str, Any]], None]


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
            f"{needed / (1 << 30):.1f} GiB of memory.",
            "check fewer files at a time, or raise --memory-limit.",
        )
    return files


def announce_compiling(screen: Screen, progress: Progress) -> None:
    """Load compiled loops, and say so if that takes time."""
    if not kernels.are_cached():
        screen.note("the first large check compiles code; this takes a few seconds, once.")
    progress("loading compiled code", 0, 0)
    kernels.load()


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
        self.screen, self.progress, self.files, self.said = screen, progress, files, said
        self._noted: set[tuple[type, tuple[str, ...]]] = set()
        learned = checker.model.reading
        if learned is None:
            opening = read_opening(files, said.layout)
        else:
            opening = read_opening(files, said.layout, N_FIRST, learned)
        self._note(opening.notices)
        self.reading: Reading = opening.reading if learned is None else learned
        fitted: Fitted = fit(screen, checker, opening, said, allow_missing=allow_missing)
        self.checker = fitted.checker
        self.extra = self.checker.extra(self.checker.prepare(opening.table))
        at_once = BYTES_AT_ONCE * len(self.checker.needed)
        self._n_rows = min(max(size_of(limit) // 4 // at_once, LEAST_ROWS), MOST_ROWS)

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
        """Check all rows; as for `Gathering`, and with a function that writes scores."""
        checker, n_rows = self.checker, self.files.n_rows
        announce_compiling(self.screen, self.progress)
        gathering = Gathering(
            checker,
            n_rows,
            gap=gap,
            min_rows=min_rows,
            delays=delays,
            most=most,
            patterns=patterns,
        )
        schema, series = checker.model.schema, checker.model.series
        marks = (schema.time, None if series is None else series.by)
        wanted = {*checker.needed, *(each for each in marks if each is not None)}
        done = 0
        self.progress("scoring", 0, n_rows)
        for table in self._tables(wanted):
            before = gathering.following
            prepared = checker.prepare(table, before)
            found = gathering.take(prepared)
            if write is not None:
                write(tabulate(checker, prepared, found.scores, before=before))
            done += table.n_rows
            self.progress("scoring", done, n_rows)
        if gathering.needs_times:
            self.progress("reading times", 0, 0)
            gathering.read_times(lambda: self._tables({str(schema.time)}))
        findings = msgspec.structs.replace(gathering.findings(), extra=self.extra)
        nothing = findings.patterns.table.take(np.empty(0, np.int64))
        assert gathering.following is not None
        state = JobState(
            checker.origin.model,
            checker.origin.source,
            checker.model.threshold,
            tuning(checker),
            schema.names,
            gap,
            {},
            {},
            gathering.following,
        )
        return Step(findings, {}, nothing, state)

    def _tables(self, wanted: set[str]) -> Iterator[Table]:
        layout: Layout = self.said.layout
        for found in read_portions(self.files, layout, self.reading, self._n_rows, wanted):
            self._note(found.notices)
            yield found.table

    def _note(self, notices: Sequence[Notice]) -> None:
        """Say once what there is to say about a column."""
        for notice in notices:
            about = type(notice), notice.columns
            if about not in self._noted:
                self._noted.add(about)
                if self.said.strict:
                    refuse_doubts([notice])
                tell(self.screen, notice)
