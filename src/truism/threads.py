"""Work shared out among threads: a function and its arguments go in, results in their order come out."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any


@contextmanager
def threads(n_jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Provide a `map` that uses so many threads; one alone is the one that asks.

    On a small table starting a thread and handing it work would take longer than the work.

    >>> with threads(2) as spread:
    ...     list(spread(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    if n_jobs == 1:
        yield map
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield pool.map
