"""The rows of files for a model: read as it was learned, batch by batch where they are many."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from truism.cli.options import LEAST_ROWS, FileOptions, show_notices
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.explain.checker import Check, Checker
from truism.incidents.following import Following, Found
from truism.score import kernels
from truism.score.alignment import time_column
from truism.table.columns import Table
from truism.table.files import open_files, read_batches, read_first
from truism.table.notices import Notice
from truism.work import Progress, read_ahead

BYTES_WHOLE = 64  # held for each value of a table that is one batch
BYTES_AT_ONCE = 100  # held for each value of other batches; few of their rows are weighed at a time
MOST_ROWS = 1 << 16
N_FIRST = 1000  # rows in which it is seen which columns there are


class InputRows:
    """The rows of files, read for a model batch by batch, as often as needed; one batch if they fit."""

    def __init__(
        self,
        screen: Screen,
        checker: Checker,
        sources: Sequence[str],
        how: FileOptions,
        *,
        size: int | None = None,  # bytes of memory; all rows are one batch when absent
        whole: Sequence[str] = (),  # options that need all rows at once
        allow_missing: bool | None = False,  # None does without columns unchecked
        allow_empty: bool = False,
        only_doubts: bool = False,  # leave out notes that are no doubts
    ) -> None:
        self._screen, self._how, self._size = screen, how, size or 0
        self.labels: list[Table] = []
        self.latest: int | None = None  # the latest time of the rows checked, in microseconds
        self.zoned: bool | None = None
        self._noted: set[tuple[str, tuple[str, ...]]] = set()
        reading = checker.model.reading
        files = open_files(sources, how.layout, reading)
        most = math.inf if size is None else size // BYTES_WHOLE
        first = read_first(
            files,
            most_values=most,
            n_first=N_FIRST if reading else None,
            allow_empty=allow_empty,
        )
        self._files = None if first.is_whole else files
        if whole and not first.is_whole:
            needed = files.n_rows * len(first.table.names) * BYTES_WHOLE
            raise ParameterError(
                f"{whole[0]} needs all rows at once: {files.n_rows:,} rows take about "
                f"{_say_size(needed)} of memory.",
                "take fewer files at a time, or raise --memory-limit.",
            )
        self._note([n for n in first.notices if n.doubtful or not only_doubts])
        self._reading = reading or first.reading
        self.opening = first.table  # the first rows, with all columns; all rows if they fit
        self.n_rows = self.opening.n_rows if self._files is None else self._files.n_rows
        self.doubts = tuple(str(notice) for notice in first.notices if notice.doubtful)
        if how.layout.time:
            checker = checker.timed(first.reading.axis)
        self.checker = checker
        if allow_missing is not None:
            self.checker, doubt = checker.suited(self.opening, allow_missing=allow_missing)
            if doubt is not None:
                screen.warn(doubt)
                self.doubts = (*self.doubts, doubt)

    @property
    def table(self) -> Table:
        """All rows, if they are one batch."""
        assert self._files is None
        return self.opening

    @property
    def extra(self) -> tuple[str, ...]:
        """The columns that the model does not know; they are ignored."""
        return self.checker.extra(self.checker.prepare(self.opening.take(slice(0, 0))))

    def batches(self, names: set[str] | None = None) -> Iterator[Table]:
        """Read all rows from the first one on; with some columns, or all."""
        if self._files is None:
            yield self.opening
            return
        wanted = {*self.opening.names} if names is None else names
        n_columns = len(wanted & {*self.opening.names})
        at_once = self._size // 4 // (BYTES_AT_ONCE * max(n_columns, 1))
        n_rows = min(max(at_once, LEAST_ROWS), MOST_ROWS)
        for batch in read_ahead(read_batches(self._files, self._reading, n_rows, wanted)):
            self._note(batch.notices)
            yield batch.table

    def prepared(self, progress: Progress) -> Iterator[tuple[Table, Table]]:
        """Read all rows with all columns: batches as they are, and prepared for the model."""
        before, done = None, 0
        for table in self.batches():
            prepared = self.checker.prepare(table, before)
            if self._files is not None:
                before = self.checker.pass_by(prepared, before)
                done += table.n_rows
                progress("reading", done, self.n_rows)
            yield table, prepared

    def feed(
        self, check: Check, progress: Progress, label: str | None = None
    ) -> Iterator[tuple[Table, Found, Following | None]]:
        """Let a check take all rows; yield each prepared batch, its scores, and what was before.

        The column of labels, if there is one, is kept in `labels`.
        """
        schema, series = check.checker.model.schema, check.checker.model.series
        marks = (schema.time, None if series is None else series.by)
        times = {name for name in marks if name is not None}
        self._screen.announce_compiling(kernels.__name__, self.checker.scorer.loops)
        progress("scoring", 0, 0 if self._files is None else self.n_rows)
        done = 0
        for table in self.batches({*check.checker.needed, *times, *filter(None, [label])}):
            axis = time_column(schema, table)
            if axis is not None and axis.values.dtype.kind == "M" and len(axis.present):
                latest = int(axis.present.max().astype(np.int64))
                self.latest, self.zoned = max(self.latest or latest, latest), axis.zoned
            if label is not None and label in table.names:
                self.labels.append(Table((table.column_of()[label],), table.n_rows))
            before = check.following
            prepared = check.checker.prepare(table, before)
            yield prepared, check.take(prepared), before
            if self._files is not None:
                done += table.n_rows
                progress("scoring", done, self.n_rows)
        if check.needs_times:
            progress("reading times", 0, 0)
            check.read_times(lambda: self.batches(times))

    def _note(self, notices: Sequence[Notice]) -> None:
        """Note once what there is to say about a column."""
        new = []
        for notice in notices:
            about = notice.code, notice.columns or (notice.text,)
            if about not in self._noted:
                self._noted.add(about)
                new.append(notice)
        show_notices(self._screen, new, self._how)


def _say_size(n_bytes: int) -> str:
    """Return a size in words.

    >>> _say_size(3 << 29), _say_size(5 << 20)
    ('1.5 GiB', '5 MiB')
    """
    gib = n_bytes / (1 << 30)
    return f"{gib:.1f} GiB" if gib >= 1 else f"{max(n_bytes >> 20, 1):,} MiB"
