"""Work shared out among threads: a function and its arguments go in, results in their order come out."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

_MIN_CELLS = 1 << 17  # below, waiting for another thread takes as long as what it would do


def worthwhile(n_jobs: int, n_rows: int, n_columns: int) -> int:
    """Say how many threads are worth their while for a table.

    >>> worthwhile(2, 1_000, 20), worthwhile(2, 100_000, 20)
    (1, 2)
    """
    return n_jobs if n_rows * n_columns >= _MIN_CELLS else 1


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
