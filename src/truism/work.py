"""Long work: shared among threads, with progress.

`Progress` and `Advance` are callbacks that report progress; `share_out` is a ``map`` that starts
other threads when the work takes long. Results never depend on the number of threads.
"""

import itertools
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from truism.errors import ParameterError

PATIENCE = 0.004  # seconds; starting other threads and waiting for them takes about as long

Progress = Callable[[str, int, int], None]
"""Called with the stage, the amount done, and the total amount."""

Advance = Callable[[int, int], None]
"""Called within one stage, with the amount done and the total amount."""


def be_silent(stage: str, done: int, of: int) -> None:
    """Report no progress."""


def stand_still(done: int, of: int) -> None:
    """Report no progress within a stage."""


_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def count_threads(n_jobs: Any) -> int:
    """Return the number of threads to use; None and -1 mean all cores.

    >>> count_threads(2), count_threads(None) == count_threads(-1) == n_cores()
    (2, True)
    """
    if n_jobs is None or n_jobs == -1:
        return n_cores()
    if not hasattr(n_jobs, "__index__") or isinstance(n_jobs, bool) or n_jobs < 1:
        raise ParameterError.of("n_jobs", "be None, -1 or at least 1", n_jobs)
    return int(n_jobs)


def share_out(
    n_jobs: int, work: Callable[..., _Result], *arguments: Iterable[Any]
) -> Iterator[_Result]:
    """Map in one thread at first, and start others only when the work takes long.

    The size of a table does not say how long the work takes, and on a small one starting threads would
    take longer than the work.

    >>> list(share_out(2, abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    waiting = zip(*arguments, strict=True)
    started = time.monotonic()
    for given in waiting:
        yield work(*given)
        if n_jobs > 1 and time.monotonic() - started >= PATIENCE:
            break
    with threads(n_jobs) as spread:
        yield from spread(lambda given: work(*given), waiting)


def work_ahead(
    n_jobs: int, work: Callable[[_Item], _Result], items: Sequence[_Item]
) -> Iterator[_Result]:
    """Map with threads that are a few items ahead of the reader, so that results never pile up.

    >>> list(work_ahead(2, abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if n_jobs == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        ahead: deque[Future[_Result]] = deque()
        for item in items:
            ahead.append(pool.submit(work, item))
            if len(ahead) > 2 * n_jobs:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()


def read_ahead(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield items while another thread gets the next one.

    >>> list(read_ahead(map(abs, [-1, 2, -3])))
    [1, 2, 3]
    """
    waiting = iter(items)

    def get() -> list[_Item]:
        return list(itertools.islice(waiting, 1))

    with ThreadPoolExecutor(1) as pool:
        ahead = pool.submit(get)
        while found := ahead.result():
            ahead = pool.submit(get)
            yield from found


@contextmanager
def threads(n_jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Provide a `map` that uses this many threads; with one, the caller's own.

    >>> with threads(2) as spread:
    ...     list(spread(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if n_jobs == 1:
        yield map
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield pool.map
