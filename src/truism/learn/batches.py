"""The rows to learn from: batches in order, read again for every pass; a task for each, results added up.

Jobs say which rows are read where. What runs them yields the results in the order of the rows: threads
here, or the workers of a cluster (`truism.dask`, `truism.spark`).
"""

import functools
import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec

from truism.errors import TableError
from truism.score.past import rows_by_series
from truism.table.columns import Table, join_tables
from truism.table.deltas import LastValues, Stretch, delta_name, last_values, with_deltas
from truism.table.files import Files, RowGroups, read_batches
from truism.table.layouts import Reading
from truism.work import Advance, Progress, stand_still

BATCH_ROWS = 1 << 18

Task = Callable[[Table, int], Any]
"""From the rows of a batch, and the number of the first one in the whole table, to what can be added."""


Piece = Callable[[Any], Iterator[Table]]
"""Reads rows that follow each other in batches of any size, from a frame if what runs the job has one."""


def read_held(table: Table, size: int, frame: Any) -> Iterator[Table]:  # noqa: ARG001, the rows are here
    """Read a table in memory."""
    for start in range(0, table.n_rows, size):
        yield table.take(slice(start, min(start + size, table.n_rows)))


def read_spans(
    files: Files,
    reading: Reading,
    size: int,
    span: RowGroups | None,
    frame: Any,  # noqa: ARG001
) -> Iterator[Table]:
    """Read the rows of files, or a span of them, as their first rows were read."""
    found = read_batches(files, reading, size, None, span, closed=True)
    return (batch.table for batch in found)


class Job(msgspec.Struct, frozen=True, eq=False):
    """What is to be read: rows of a piece, and of which columns the change is added, in each series.

    `first` is the number of the first row in the whole table, `latest` the last values before the piece.
    """

    piece: Piece
    first: int
    n_rows: int
    changing: tuple[str, ...] = ()
    by: str | None = None
    latest: LastValues = {}
    meters: tuple[str, ...] = ()

    def batches(self, frame: Any = None) -> Iterator[tuple[Table, int]]:
        """Read batches with the numbers of their first rows."""
        latest, n_read = self.latest, 0
        for table in self.piece(frame):
            if not table.n_rows:
                continue
            rows_of = rows_by_series(self.by, table) if self.changing else {}
            runs = [Stretch(rows, latest.get(name, {})) for name, rows in rows_of.items()]
            changed = with_deltas(table, self.changing, runs, self.meters)
            yield changed, self.first + n_read
            names = (*self.changing, *map(delta_name, self.meters))
            latest = {**latest, **last_values(changed, names, rows_of)}
            n_read += table.n_rows
        if n_read != self.n_rows:
            raise TableError(
                f"The table had {self.n_rows:,} rows at first and {n_read:,} when read again.",
                "rows must not change while they are learned from.",
            )

    def do(self, task: Task, frame: Any = None) -> Any:
        """Do a task with every batch, and add up the results."""
        return merge_all(task(table, first) for table, first in self.batches(frame))


Run = Callable[[Sequence[Job], Task, int], Iterator[tuple[int, Any]]]
"""Does a task with every batch of jobs; yields each row number up to which a result tells of the rows."""


def run_in_threads(jobs: Sequence[Job], task: Task, n_jobs: int) -> Iterator[tuple[int, Any]]:
    """Do a task with every batch while the next ones are read."""
    waiting = deque[tuple[int, Future[Any]]]()
    with ThreadPoolExecutor(n_jobs) as pool:
        for table, first in itertools.chain.from_iterable(job.batches() for job in jobs):
            waiting.append((first + table.n_rows, pool.submit(task, table, first)))
            if len(waiting) > n_jobs:
                end, future = waiting.popleft()
                yield end, future.result()
        while waiting:
            end, future = waiting.popleft()
            yield end, future.result()


class Batches(msgspec.Struct, frozen=True, eq=False):
    """Rows that can be read several times: jobs in their order, and what runs them."""

    jobs: tuple[Job, ...]
    run: Run = run_in_threads

    @classmethod
    def of(cls, pieces: Sequence[tuple[Piece, int]], run: Run = run_in_threads) -> "Batches":
        """Take pieces with their numbers of rows, in the order of the rows."""
        jobs, first = [], 0
        for piece, n_rows in pieces:
            if n_rows:
                jobs.append(Job(piece, first, n_rows))
            first += n_rows
        return cls(tuple(jobs), run)

    @classmethod
    def of_table(cls, table: Table, size: int = BATCH_ROWS) -> "Batches":
        """Take a table."""
        return cls.of([(functools.partial(read_held, table, size), table.n_rows)])

    @classmethod
    def of_files(
        cls, files: Files, reading: Reading, size: int = BATCH_ROWS, run: Run | None = None
    ) -> "Batches":
        """Take files, read as their first rows were; in spans where jobs do not run here."""
        spans: list[RowGroups | None] = [None]
        if run is not None:
            files = files.anywhere()
            spans = [*files.spans(size)]
        pieces = [
            (
                functools.partial(read_spans, files, reading, size, span),
                files.n_rows if span is None else span.n_rows,
            )
            for span in spans
        ]
        return cls.of(pieces, run or run_in_threads)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(job.n_rows for job in self.jobs)

    def total(self, stage: str, task: Task, n_jobs: int, progress: Progress) -> Any:
        """Do a task with every batch in one pass, and add up the results."""
        return self._merged(task, n_jobs, functools.partial(progress, stage))

    def _merged(self, task: Task, n_jobs: int = 1, advance: Advance = stand_still) -> Any:
        advance(0, self.n_rows)

        def results() -> Iterator[Any]:
            for end, result in self.run(self.jobs, task, n_jobs):
                advance(end, self.n_rows)
                yield result

        return merge_all(results())

    def whole(self, n_jobs: int) -> Table:
        """Return all rows as one table."""
        return join_tables(self._merged(_alone, n_jobs))

    def with_changes(
        self, variables: Sequence[str], by: str | None, meters: Sequence[str] = ()
    ) -> "Batches":
        """Add the change since the previous row of some columns, in each series."""
        changing, latest, ends = tuple(variables), dict[str, dict[str, float]](), []
        if len(self.jobs) > 1:
            ends = list(self._merged(_Last(changing, by)))
        jobs = []
        for job in self.jobs:
            while ends and ends[0][0] < job.first:
                latest = {**latest, **ends.pop(0)[1]}
            changes = {"changing": changing, "by": by, "latest": latest, "meters": tuple(meters)}
            jobs.append(msgspec.structs.replace(job, **changes))
        return Batches(tuple(jobs), self.run)


def _alone(table: Table, first: int) -> tuple[Table, ...]:  # noqa: ARG001, a task
    return (table,)


class _Last(msgspec.Struct, frozen=True):
    """Finds the last values of a batch, with the number of its first row."""

    variables: tuple[str, ...]
    by: str | None

    def __call__(self, table: Table, first: int) -> tuple[tuple[int, LastValues], ...]:
        return ((first, last_values(table, self.variables, rows_by_series(self.by, table))),)


def merge_all(results: Iterator[Any]) -> Any:
    """Add up results in their order, neighbours first, so that no sum is copied often."""
    sums: list[tuple[int, Any]] = []
    for result in results:
        size, total = 1, result
        while sums and sums[-1][0] == size:
            _, before = sums.pop()
            size, total = 2 * size, before + total
        sums.append((size, total))
    return functools.reduce(lambda after, pair: pair[1] + after, sums[-2::-1], sums[-1][1])
