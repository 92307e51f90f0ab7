"""Tables in parts: rows in order, as many at a time as are held; a task for each part, results in order.

A driver reads the same rows again for every pass. `truism.learning.scattered` has one for rows that lie
elsewhere, on a cluster for instance.
"""

import functools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import msgspec

from truism.errors import TableError
from truism.scoring.series import rows_by_series
from truism.table.columns import Table
from truism.table.deltas import Latest, Run, last_values, with_deltas
from truism.table.files import Files, read_alike
from truism.table.layouts import Reading
from truism.work import Advance

PART_ROWS = 1 << 18

_Result = TypeVar("_Result")
Task = Callable[[Table, int], _Result]
"""What is done with a part: its rows go in, and the number of the first one in the whole table."""


class Parts(Protocol):
    """Rows that can be read several times, part by part."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    def total(self, task: Task[Any], n_jobs: int, advance: Advance) -> Any:
        """Do something with every part, and add up the results in the order of the rows."""

    def with_changes(self, variables: Sequence[str], by: str | None) -> "Parts":
        """Add the change since the previous row of some columns, in each series."""


class Stream(msgspec.Struct, frozen=True, eq=False):
    """Parts that are read one after the other.

    Parameters
    ----------
    read
        Reads all rows from the beginning, in tables of any size.
    n_rows
        How many rows there are.

    """

    read: Callable[[], Iterator[Table]]
    n_rows: int

    def total(self, task: Task[Any], n_jobs: int, advance: Advance) -> Any:
        """Do something with every part, and add up the results."""

        def told() -> Iterator[Any]:
            done = 0
            for n_rows, result in self.run(functools.partial(_sized, task), n_jobs):
                done += n_rows
                advance(done, self.n_rows)
                yield result

        return merge_all(told())

    def run(self, task: Task[_Result], n_jobs: int) -> Iterator[_Result]:
        """Do something with every part while the next ones are read; results in order."""
        n_read = 0
        waiting: deque[Future[_Result]] = deque()
        with ThreadPoolExecutor(n_jobs) as pool:
            for table in self.read():
                if not table.n_rows:
                    continue
                waiting.append(pool.submit(task, table, n_read))
                n_read += table.n_rows
                if len(waiting) > n_jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        if n_read != self.n_rows:
            raise TableError(
                f"The table had {self.n_rows:,} rows at first and {n_read:,} when read again.",
                "files must not change while they are learned from.",
            )

    def with_changes(self, variables: Sequence[str], by: str | None) -> "Stream":
        """Add changes, which go on from table to table."""
        return Stream(lambda: with_changes_in(self.read(), variables, by, {}), self.n_rows)


def _sized(task: Task[_Result], table: Table, first: int) -> tuple[int, _Result]:
    return table.n_rows, task(table, first)


def in_memory(table: Table, size: int = PART_ROWS) -> Stream:
    """Return the rows of one table in parts."""

    def read() -> Iterator[Table]:
        for start in range(0, table.n_rows, size):
            yield table.take(slice(start, min(start + size, table.n_rows)))

    return Stream(read, table.n_rows)


def of_files(files: Files, reading: Reading, size: int = PART_ROWS) -> Stream:
    """Return the rows of files in parts, read as their first rows were."""
    return Stream(lambda: read_alike(files, reading, size), files.n_rows)


def with_changes_in(
    tables: Iterator[Table], variables: Sequence[str], by: str | None, latest: Latest
) -> Iterator[Table]:
    """Add changes to tables that follow each other, and rows with known last values."""
    for table in tables:
        rows_of = rows_by_series(by, table)
        yield with_deltas(
            table, variables, [Run(rows, latest.get(name, {})) for name, rows in rows_of.items()]
        )
        latest = {**latest, **last_values(table, variables, rows_of)}


def merge_all(results: Iterator[Any]) -> Any:
    """Add up results in their order, neighbours first, so that no sum is copied often."""
    sums: list[tuple[int, Any]] = []
    for each in results:
        size, total = 1, each
        while sums and sums[-1][0] == size:
            _, before = sums.pop()
            size, total = 2 * size, before + total
        sums.append((size, total))
    total = sums.pop()[1]
    while sums:
        total = sums.pop()[1] + total
    return total
