"""Arrays: names for those that most modules use, and the memory they come from.

Fresh memory comes from the system page by page, and for millions of rows that takes about as long as
what is written into it. Where nothing of a block is kept but its scores, each thread uses the same
memory for all of its blocks (`Scratch`).
"""

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]  # positions in a table
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Fresh:
    """Memory of its own for each array, which may be kept."""

    def empty(
        self, _: str, /, shape: tuple[int, ...], dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """Return an array of any content; a name tells arrays apart that are needed together."""
        return np.empty(shape, dtype)

    def zeros(
        self, _: str, /, shape: tuple[int, ...], dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """Return an array of zeros."""
        return np.zeros(shape, dtype)


class Scratch(Fresh):
    """The same memory again for each array of a name, in each thread; older ones are overwritten.

    >>> scratch = Scratch()
    >>> first = scratch.zeros("worth", (2, 2))
    >>> second = scratch.empty("worth", (3,))
    >>> second[:] = 7
    >>> first.tolist()
    [[7.0, 7.0], [7.0, 0.0]]
    """

    def __init__(self) -> None:
        self._own = threading.local()

    def empty(
        self, name: str, /, shape: tuple[int, ...], dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """Return an array of any content, in the memory of the last one of that name."""
        n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
        kept: dict[str, NDArray[np.uint8]] = self._own.__dict__
        if name not in kept or len(kept[name]) < n_bytes:
            kept[name] = np.empty(n_bytes, np.uint8)
        return np.ndarray(shape, dtype, kept[name].data)

    def zeros(
        self, name: str, /, shape: tuple[int, ...], dtype: DTypeLike = np.float64
    ) -> NDArray[Any]:
        """Return an array of zeros, in the memory of the last one of that name."""
        found = self.empty(name, shape, dtype)
        found.fill(0)
        return found


FRESH = Fresh()
