"""Rows that lie elsewhere: pieces of a table and a crew go in, parts to learn from come out.

A crew does jobs wherever it likes, and adds up what comes out in the order of the rows: with threads,
processes, or the workers of a cluster. All else is the same for every crew.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import msgspec

from truism.errors import TableError
from truism.learning.parts import Task, merge_all, with_changes_in
from truism.scoring.series import rows_by_series
from truism.table.columns import Table
from truism.table.deltas import Latest, last_values
from truism.table.files import Files, Span, read_alike
from truism.table.layouts import Reading
from truism.work import Advance, stand_still


class Piece(Protocol):
    """Rows that follow each other, read where they are needed."""

    def read(self, frame: Any) -> Iterator[Table]:
        """Read the rows, in tables of any size; from a frame, if the crew holds one for the piece."""


class FilePiece(msgspec.Struct, frozen=True, eq=False):
    """Some rows of files that all workers see."""

    files: Files
    reading: Reading
    span: Span
    n_rows: int

    def read(self, frame: Any) -> Iterator[Table]:  # noqa: ARG002, the rows are in files
        """Read the rows from the files."""
        return read_alike(self.files, self.reading, self.n_rows, self.span)


class Job(msgspec.Struct, frozen=True, eq=False):
    """What is to be done with one piece.

    Parameters
    ----------
    piece, first, n_rows
        The rows, the number of the first one in the whole table, and how many there are.
    changing, by, latest
        Of which columns the change is added, in each series, and the last values before the piece.

    """

    piece: Any
    first: int
    n_rows: int
    changing: tuple[str, ...] = ()
    by: str | None = None
    latest: Latest = {}

    def do(self, task: Task[Any], frame: Any = None) -> Any:
        """Do a task with the rows, and add up what comes out; None if there are no rows."""
        tables = self.piece.read(frame)
        if self.changing:
            tables = with_changes_in(tables, self.changing, self.by, self.latest)
        results, done = [], 0
        for table in tables:
            if table.n_rows:
                results.append(task(table, self.first + done))
                done += table.n_rows
        if done != self.n_rows:
            raise TableError(
                f"A piece of the table had {self.n_rows:,} rows at first and {done:,} when read again.",
                "rows must not change while they are learned from.",
            )
        return merge_all(iter(results)) if results else None


class Crew(Protocol):
    """Who does jobs."""

    def total(self, jobs: Sequence[Job], task: Task[Any], advance: Advance) -> Any:
        """Do all jobs, and add up what comes out in their order."""


class Scattered(msgspec.Struct, frozen=True, eq=False):
    """Parts that a crew reads.

    Parameters
    ----------
    crew
        Who does the jobs.
    jobs
        The pieces of the table, in the order of its rows.

    """

    crew: Any
    jobs: tuple[Job, ...]

    @classmethod
    def of(cls, crew: Crew, pieces: Sequence[tuple[Piece, int]]) -> "Scattered":
        """Take pieces with their numbers of rows, in the order of the rows."""
        jobs, first = [], 0
        for piece, n_rows in pieces:
            if n_rows:
                jobs.append(Job(piece, first, n_rows))
            first += n_rows
        return cls(crew, tuple(jobs))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(job.n_rows for job in self.jobs)

    def total(self, task: Task[Any], n_jobs: int, advance: Advance) -> Any:  # noqa: ARG002
        """Do something with every part, and add up what comes out; the crew decides how many at once."""
        return self.crew.total(self.jobs, task, advance)

    def with_changes(self, variables: Sequence[str], by: str | None) -> "Scattered":
        """Add changes, which go on from piece to piece: the last values of each are looked up first."""
        found: _Lasts = self.crew.total(self.jobs, _Last(tuple(variables), by), stand_still)
        jobs, latest = [], dict[str, dict[str, float]]()
        ends = sorted(found.by_first.items())
        for job in self.jobs:
            while ends and ends[0][0] < job.first:
                latest = {**latest, **ends.pop(0)[1]}
            jobs.append(
                msgspec.structs.replace(job, changing=tuple(variables), by=by, latest=latest)
            )
        return Scattered(self.crew, tuple(jobs))


class _Lasts(msgspec.Struct, frozen=True, eq=False):
    """The last values of parts, by the number of their first row."""

    by_first: dict[int, Latest]

    def __add__(self, other: "_Lasts") -> "_Lasts":
        return _Lasts({**self.by_first, **other.by_first})


class _Last(msgspec.Struct, frozen=True):
    """Finds the last values of a part."""

    variables: tuple[str, ...]
    by: str | None

    def __call__(self, table: Table, first: int) -> _Lasts:
        return _Lasts({first: last_values(table, self.variables, rows_by_series(self.by, table))})


def of_spans(crew: Crew, files: Files, reading: Reading, size: int) -> Scattered:
    """Return the rows of files that all workers see, in pieces of about `size` rows."""
    files = files.anywhere()
    pieces = [(FilePiece(files, reading, span, size), span.n_rows) for span in files.spans(size)]
    return Scattered.of(crew, pieces)
