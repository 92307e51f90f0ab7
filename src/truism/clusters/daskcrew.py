"""The workers of Dask as a crew: futures for jobs, and a tree of futures that adds up what they bring.

Jobs are done again if a worker dies; what they bring depends on nothing but the rows.
"""

import logging
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any

import msgspec

from truism.errors import ParameterError, TruismError
from truism.learning.parts import Task
from truism.learning.scattered import Job
from truism.work import Advance

RETRIES = 3  # for workers that die


class DaskCrew(msgspec.Struct, frozen=True, eq=False):
    """Workers of a Dask cluster.

    Parameters
    ----------
    client
        A `distributed.Client`.
    frames
        Partitions as futures or delayed values, by the number of their first row; none if jobs read
        files.

    """

    client: Any
    frames: dict[int, Any] = {}

    def total(self, jobs: Sequence[Job], task: Task[Any], advance: Advance) -> Any:
        """Do all jobs, and add up what comes out in their order."""
        from distributed import KilledWorker, as_completed

        client, n_rows = self.client, sum(job.n_rows for job in jobs)
        # As the result of a task it can be made again if the worker that holds it dies.
        shared = client.submit(_same, task, pure=False)
        level = [
            client.submit(_do, job, shared, self.frames.get(job.first), pure=False, retries=RETRIES)
            for job in jobs
        ]
        sizes = {future.key: job.n_rows for future, job in zip(level, jobs, strict=True)}
        waiting = as_completed(level, loop=client.loop)  # else that of a default client, if any
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [
                client.submit(_add, *pair, pure=False) if len(pair) == 2 else pair[0]
                for pair in pairs
            ]
        done = 0
        try:
            for future in waiting:
                if future.status == "error":
                    future.result()
                done += sizes[future.key]
                advance(done, n_rows)
            return level[0].result()
        except (CancelledError, KilledWorker) as problem:
            reason = str(problem).strip().split("\n", maxsplit=1)[0].rstrip(".")[:150]
            raise TruismError(
                f"The Dask cluster was lost before all rows were read: {reason}.",
                "look at what its scheduler and workers wrote, and learn again.",
            ) from None


def _same(task: Task[Any]) -> Task[Any]:
    return task


def _do(job: Job, task: Task[Any], frame: Any) -> Any:
    return job.do(task, frame)


def _add(one: Any, other: Any) -> Any:
    return one + other


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
