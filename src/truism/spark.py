"""Learning and scoring in Spark: the same passes and the same scores, partition by partition.

    pip install "truism[spark]"

`learn` takes a DataFrame, or files that all executors see; `score` is lazy. Files have an order. The rows
of a DataFrame have one only if a column says so (`order_by`); otherwise they are learned as exchangeable
rows.
"""

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from truism.errors import ParameterError, TruismError
from truism.estimator.batches import (
    are_files,
    arrow_scorer,
    check_distributed,
    check_kept,
    learn_files,
    learn_pieces,
)
from truism.learn.batches import Job, Run, Task
from truism.model.model import Model
from truism.table.files import OPENING
from truism.table.frames import as_table
from truism.work import Progress, be_silent

__all__ = ["learn", "score"]

RESULTS = "at long, content binary"


def learn(
    rows: Any,
    *,
    order_by: str | None = None,
    session: Any = None,
    progress: Progress = be_silent,
    **parameters: Any,
) -> Model:
    """Learn from normal rows in Spark.

    Parameters
    ----------
    rows
        A Spark DataFrame; or a path, folder or pattern, or several, of files that all executors see.
    order_by
        The column that says in which order the rows of a DataFrame are; its values should differ.
        Without it they are learned as exchangeable rows, and a warning says so.
    session
        A `SparkSession`; the active one when absent.
    progress
        Called with the stage, the amount done, and the total amount.
    parameters
        Those of `truism.InvariantRuleDetector`.

    Returns
    -------
    Model
        The same as if one process had learned it.

    """
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate() if session is None else session
    if are_files(rows, order_by, "mapInArrow"):
        return learn_files(run_on(session), rows, parameters, progress)
    kept = (rows if order_by is None else rows.orderBy(order_by)).persist()
    try:
        found = kept.mapInArrow(_count, RESULTS).collect()
        sizes = dict(sorted((row["at"], int(bytes(row["content"]))) for row in found))
        firsts = itertools.accumulate(sizes.values(), initial=0)
        places = {
            first: place
            for first, (place, size) in zip(firsts, sizes.items(), strict=False)
            if size
        }
        return learn_pieces(
            run_on(session, kept, places),
            [*sizes.values()],
            as_table(kept.limit(OPENING).toArrow()),
            parameters,
            progress,
            ordered=order_by is not None,
        )
    finally:
        kept.unpersist()


def _count(batches: Iterator[Any]) -> Iterator[Any]:
    """Return the number of a partition, and how many rows it has."""
    from pyspark import TaskContext

    n_rows = sum(batch.num_rows for batch in batches)
    yield _result(TaskContext.get().partitionId(), str(n_rows).encode())


def run_on(session: Any, frame: Any = None, places: Mapping[int, int] = {}) -> Run:
    """Return what runs jobs on executors with `mapInArrow`.

    Each partition of a `frame` that is kept is a piece; without one, jobs read files. `places` are the
    partitions of the jobs, by the numbers of their first rows.
    """
    return functools.partial(_run, session, frame, places)


def _run(
    session: Any,
    frame: Any,
    places: Mapping[int, int],
    jobs: Sequence[Job],
    task: Task,
    n_jobs: int,  # noqa: ARG001, the session decides how many at once
) -> Iterator[tuple[int, Any]]:
    from pyspark.serializers import CPickleSerializer

    pack = CPickleSerializer()
    if frame is None:  # a partition for each job
        frame = session.range(0, len(jobs), 1, len(jobs))
        places = {job.first: at for at, job in enumerate(jobs)}
    job_of = {places[job.first]: job for job in jobs}
    shared = session.sparkContext.broadcast((job_of, task))

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        """Do, on an executor, the job whose rows are in its partition."""
        from pyspark import TaskContext

        (job_of, task), at = shared.value, TaskContext.get().partitionId()
        if at in job_of:
            yield _result(at, pack.dumps(_done(job_of[at], task, batches)))

    try:
        rows = frame.mapInArrow(work, RESULTS).collect()
    finally:
        shared.destroy()
    found = {row["at"]: pack.loads(bytes(row["content"])) for row in rows}
    for result in found.values():
        if isinstance(result, TruismError):
            raise result
    for at, job in job_of.items():
        yield job.first + job.n_rows, found[at]


def _result(at: int, content: bytes) -> pa.RecordBatch:
    """Return bytes as a batch of one row, with their place."""
    return pa.record_batch({"at": pa.array([at], pa.int64()), "content": pa.array([content])})


def _done(job: Job, task: Task, batches: Iterator[Any]) -> Any:
    """Do a job; what is wrong with rows comes back as a value, which Spark would bury in a traceback."""
    try:
        return job.do(task, batches)
    except TruismError as problem:
        return problem


def score(
    rows: Any,
    model: Any,
    *,
    order_by: str | None = None,
    blames: int = 0,
    keep: Sequence[str] = (),
) -> Any:
    """Score the rows of a Spark DataFrame, when its result is asked for.

    Parameters
    ----------
    rows
        A Spark DataFrame.
    order_by
        The column that tells the order of the rows; needed where a row's score depends on those before
        it. They are then scored in one partition.
    model, blames, keep
        As for `truism.arrow_scorer`.

    Returns
    -------
    pyspark.sql.DataFrame
        With the columns to keep, ``score``, ``anomaly``, and the blames; lazy.

    """
    from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

    check_distributed(rows, "mapInArrow")
    scorer = arrow_scorer(model, blames=blames, keep=keep, n_jobs=1)
    if scorer.checker.model.memory is not None or scorer.checker.model.derived:
        if order_by is None:
            raise ParameterError.of(
                "order_by",
                "name the column that gives the order of the rows, because scores depend on it",
                order_by,
            )
        rows = rows.repartition(1).sortWithinPartitions(order_by)
    check_kept(rows.columns, scorer.keep, scorer.added)
    types = {"number": DoubleType, "boolean": BooleanType, "text": StringType}
    added = [StructField(name, types[kind]()) for name, kind in scorer.added.items()]
    schema = StructType([*(rows.schema[name] for name in scorer.keep), *added])
    return rows.mapInArrow(lambda batches: scorer(batches), schema)
