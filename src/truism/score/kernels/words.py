"""The bits of one word of 64 rows, as compiled loops count and visit them."""

from typing import Any

import numpy as np
from numba.extending import overload

from truism.score.kernels.compiling import inner


def popcount(word: Any) -> int:
    """Count the bits of a word (this body runs only when compilation is switched off)."""
    return int(word).bit_count()


@overload(popcount)
def _compiled_popcount(word: Any) -> Any:  # noqa: ARG001
    def bit_tricks(word: Any) -> Any:
        x = np.uint64(word)
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + (
            (x >> np.uint64(2)) & np.uint64(0x3333333333333333)
        )
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))

    return bit_tricks


@inner
def first_bit(word):
    """Return the place of the lowest bit that is set; there must be one."""
    return popcount((word & (~word + np.uint64(1))) - np.uint64(1))


@inner
def without_first_bit(word):
    """Take away the lowest bit that is set; there must be one."""
    return word & (word - np.uint64(1))
