"""Packed truth vectors: one bit per row, 64 rows to a word, the first row in the lowest bit.

Bits beyond the last row are zero in every vector, so counting needs no mask. "Not true" is therefore
never written as ``~true`` but as a vector of its own.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]


def n_words(n_rows: int) -> int:
    """Return how many words hold one bit for each row.

    >>> n_words(64), n_words(65)
    (1, 2)
    """
    return (n_rows + 63) // 64


def pack(flags: NDArray[np.bool_]) -> Words:
    """Pack truth values along the last axis.

    >>> pack(np.array([True, False, True])).tolist()
    [5]
    """
    packed = np.ascontiguousarray(np.packbits(flags, axis=-1, bitorder="little"))
    shape = (*packed.shape[:-1], 8 * n_words(flags.shape[-1]))
    if shape != packed.shape:
        padded = np.zeros(shape, np.uint8)
        padded[..., : packed.shape[-1]] = packed
        packed = padded
    return packed.view(np.uint64)


def unpack(words: Words, n_rows: int) -> NDArray[np.bool_]:
    """Undo `pack`.

    >>> unpack(np.array([5], np.uint64), 3).tolist()
    [True, False, True]
    """
    flags = np.unpackbits(words.view(np.uint8), axis=-1, count=n_rows, bitorder="little")
    return flags.view(np.bool_)


def count(words: Words) -> NDArray[np.int64]:
    """Count the true rows along the last axis.

    >>> int(count(np.array([5, 1], np.uint64)))
    3
    """
    total: Any = np.bitwise_count(words).sum(axis=-1, dtype=np.int64)
    return total  # type: ignore[no-any-return]


def count_runs(words: Words) -> NDArray[np.int64]:
    """Count the runs of true rows along the last axis.

    >>> int(count_runs(np.array([0b1011, 1], np.uint64)))
    3
    """
    previous = words << np.uint64(1)
    previous[..., 1:] |= words[..., :-1] >> np.uint64(63)
    return count(words & ~previous)
