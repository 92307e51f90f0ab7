"""The executors of Spark as a crew: jobs go out with `mapInArrow`, and results are added up in order."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from truism.errors import TruismError
from truism.learning.parts import Task, merge_all
from truism.learning.scattered import Job
from truism.table.batches import content_batch, contents_of
from truism.work import Advance

RESULTS = "at long, content binary"


class SparkCrew(msgspec.Struct, frozen=True, eq=False):
    """Executors of a Spark session.

    Parameters
    ----------
    session
        A `pyspark.sql.SparkSession`.
    frame
        A DataFrame that is kept, of which each partition is a piece; None if jobs read files.
    places
        The partitions of the jobs, by the numbers of their first rows.

    """

    session: Any
    frame: Any = None
    places: dict[int, int] = {}

    def total(self, jobs: Sequence[Job], task: Task[Any], advance: Advance) -> Any:
        """Do all jobs, and add up what comes out in their order."""
        from pyspark.serializers import CPickleSerializer

        pack = CPickleSerializer()
        shared = self.session.sparkContext.broadcast((tuple(jobs), task))
        if self.frame is None:
            frame = self.session.range(0, len(jobs), 1, len(jobs))
            work = _on_files(shared, pack)
        else:
            place_of = {self.places[job.first]: at for at, job in enumerate(jobs)}
            frame, work = self.frame, _on_partitions(shared, pack, place_of)
        try:
            rows = frame.mapInArrow(work, RESULTS).collect()
        finally:
            shared.destroy()
        found = {row["at"]: pack.loads(bytes(row["content"])) for row in rows}
        for result in found.values():
            if isinstance(result, TruismError):
                raise result
        n_rows = sum(job.n_rows for job in jobs)
        advance(n_rows, n_rows)
        return merge_all(found[at] for at in range(len(jobs)))


Work = Callable[[Iterator[Any]], Iterator[Any]]


def _on_files(shared: Any, pack: Any) -> Work:
    """Return what an executor does with numbers of jobs."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        jobs, task = shared.value
        for batch in batches:
            for at in contents_of(batch):
                yield content_batch(at, pack.dumps(_done(jobs[at], task)))

    return work


def _on_partitions(shared: Any, pack: Any, place_of: dict[int, int]) -> Work:
    """Return what an executor does with the rows of its partition."""

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        jobs, task = shared.value
        context = TaskContext.get()
        at = place_of.get(context.partitionId()) if context is not None else None
        if at is not None:
            yield content_batch(at, pack.dumps(_done(jobs[at], task, batches)))

    return work


def _done(job: Job, task: Task[Any], batches: Iterator[Any] | None = None) -> Any:
    """Do a job; what is wrong with rows comes back as a value, which Spark would bury in a traceback."""
    try:
        return job.do(task, batches)
    except TruismError as problem:
        return problem
