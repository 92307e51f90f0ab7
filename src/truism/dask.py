"""Learning and scoring on a Dask cluster: the same passes and the same scores, partition by partition.

    pip install "truism[dask]"

`learn` takes a Dask DataFrame, or files that all workers see; `score` is lazy. Files have an order. The
rows of a DataFrame have one only if a column says so (`order_by`); otherwise they are learned as
exchangeable rows.
"""

import functools
import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from typing import Any

import pyarrow as pa

from truism.errors import ParameterError, TruismError, did_you_mean
from truism.estimator.batches import (
    ArrowScorer,
    Left,
    are_files,
    arrow_scorer,
    check_distributed,
    learn_files,
    learn_pieces,
)
from truism.learn.batches import Job, Run, Task
from truism.model.model import Model
from truism.table.files import OPENING
from truism.table.frames import as_table
from truism.work import Progress, be_silent

__all__ = ["learn", "score"]

RETRIES = 3  # for workers that die


def learn(
    rows: Any,
    *,
    order_by: str | None = None,
    client: Any = None,
    progress: Progress = be_silent,
    **parameters: Any,
) -> Model:
    """Learn from normal rows on a cluster.

    Parameters
    ----------
    rows
        A Dask DataFrame; or a path, folder or pattern, or several, of files that all workers see.
    order_by
        The column that says in which order the rows of a DataFrame are; its values should differ.
        Without it they are learned as exchangeable rows, and a warning says so.
    client
        A `distributed.Client`; the current one when absent.
    progress
        Called with the stage, the amount done, and the total amount.
    parameters
        Those of `truism.InvariantRuleDetector`.

    Returns
    -------
    Model
        The same as if one process had learned it.

    """
    client = _current_client() if client is None else client
    if are_files(rows, order_by, "to_delayed"):
        return learn_files(run_on(client), rows, parameters, progress)
    with client.as_current():
        return _learn_frame(client, rows, order_by, parameters, progress)


def _current_client() -> Any:
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ParameterError(
            "client must be given, because there is no current one.",
            "make one with distributed.Client(...).",
        ) from None


def _learn_frame(
    client: Any, rows: Any, order_by: str | None, parameters: dict[str, Any], progress: Progress
) -> Model:
    if order_by is not None:
        if order_by not in rows.columns:
            hint = did_you_mean(order_by, map(str, rows.columns))
            raise ParameterError.of("order_by", "name a column of the DataFrame", order_by, hint)
        rows = rows.sort_values(order_by)
    rows = client.persist(rows)
    partitions = rows.to_delayed()
    sizes = client.gather(client.compute([partition.shape[0] for partition in partitions]))
    futures, first, frames = client.compute(partitions), 0, {}
    for future, size in zip(futures, sizes, strict=True):
        frames[first] = future
        first += size
    return learn_pieces(
        run_on(client, frames),
        sizes,
        as_table(rows.head(OPENING, npartitions=-1)),
        parameters,
        progress,
        ordered=order_by is not None,
    )


def run_on(client: Any, frames: Mapping[int, Any] = {}) -> Run:
    """Return what runs jobs on a cluster.

    Jobs are done again if a worker dies; the results depend on nothing but the rows. `frames` are
    partitions as futures or delayed values, by the number of their first row; none if jobs read files.
    """
    return functools.partial(_run, client, frames)


def _run(
    client: Any,
    frames: Mapping[int, Any],
    jobs: Sequence[Job],
    task: Task,
    n_jobs: int,  # noqa: ARG001, the cluster decides how many at once
) -> Iterator[tuple[int, Any]]:
    from distributed import KilledWorker

    # As the result of a task it can be made again if the worker that holds it dies.
    shared = client.submit(_same, task, pure=False)
    waiting = deque(
        client.submit(_do, job, shared, frames.get(job.first), pure=False, retries=RETRIES)
        for job in jobs
    )
    for job in jobs:
        try:
            result = waiting.popleft().result()
        except (CancelledError, KilledWorker) as problem:
            reason = str(problem).strip().split("\n", maxsplit=1)[0].rstrip(".")[:150]
            raise TruismError(
                f"The Dask cluster was lost before all rows were read: {reason}.",
                "look at what its scheduler and workers wrote, and learn again.",
            ) from None
        yield job.first + job.n_rows, result


def _same(task: Task) -> Task:
    return task


def _do(job: Job, task: Task, frame: Any) -> Any:
    return job.do(task, [frame])


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address, which logs nothing: problems are errors."""
    try:
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port
    except ImportError:
        raise TruismError(
            "Dask is not installed.", 'install it with: pip install "truism[dask]"'
        ) from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it logs tracebacks
    try:
        get_address_host_port(address)  # a client that was never made cannot be closed quietly
        return Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as problem:
        reason = str(problem).split("\n", maxsplit=1)[0][:150]
        raise ParameterError.of(
            "dask", "be the address of a scheduler", address, f"it does not answer: {reason}."
        ) from None


def score(rows: Any, model: Any, *, blames: int = 0, keep: Sequence[str] = ()) -> Any:
    """Score the rows of a Dask DataFrame, when its result is asked for.

    Parameters
    ----------
    rows
        A Dask DataFrame. Rows of a series must be in order: each partition goes on where the one before
        it ended.
    model, blames, keep
        As for `truism.arrow_scorer`.

    Returns
    -------
    dask.dataframe.DataFrame
        With the columns to keep, ``score``, ``anomaly``, and the blames; lazy.

    """
    import dask
    import dask.dataframe as dd

    check_distributed(rows, "to_delayed")
    scorer = arrow_scorer(model, blames=blames, keep=keep, n_jobs=1)
    schema = scorer.schema(pa.Schema.from_pandas(rows._meta, preserve_index=False))
    meta = schema.empty_table().to_pandas()
    has_past = scorer.checker.model.memory is not None or bool(scorer.checker.model.derived)
    shared, state, scored = dask.delayed(scorer), None, []
    for part in rows.to_delayed():
        pair = dask.delayed(_follow, nout=2, pure=True)(shared, part, state)
        scored.append(pair[0])
        state = pair[1] if has_past else None
    return dd.from_delayed(scored, meta=meta, verify_meta=False)


def _follow(scorer: ArrowScorer, frame: Any, state: Left | None) -> tuple[Any, Any]:
    rows = pa.RecordBatch.from_pandas(frame, preserve_index=False)
    [(batch, after)] = scorer.follow([rows], state)
    return batch.to_pandas().set_index(frame.index), after
