"""Work shared out among threads: a function and its arguments go in, results in their order come out."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

PATIENCE = 0.004  # seconds; starting other threads and waiting for them takes about as long

_Result = TypeVar("_Result")


def share_out(
    n_jobs: int, work: Callable[..., _Result], *arguments: Iterable[Any]
) -> Iterator[_Result]:
    """Map, alone at first; when that turns out to take long, others are called to help.

    How long something takes cannot be told from the size of a table, and on a small one threads would
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


@contextmanager
def threads(n_jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Provide a `map` that uses so many threads; one alone is the one that asks.

    >>> with threads(2) as spread:
    ...     list(spread(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if n_jobs == 1:
        yield map
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield pool.map
