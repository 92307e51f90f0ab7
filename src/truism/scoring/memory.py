"""What earlier rows leave behind: evidence against rows in order goes in, the past of each row comes out.

The *past* of a variable is an exponential average of the evidence against it over some rows, and adds to
its part of the score. It is causal, and rows in one piece, in chunks or one by one give equal bits.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats
from truism.model.schema import Count
from truism.model.series import Memory
from truism.scoring.weighed import Remembered

MIN_SPAN = 3.0  # rows of one kind, if kinds of rows take turns
LASTING = 0.25  # share of the cap above which a variable's past counts as lasting


class Past(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What is left of earlier rows: the state of a series.

    Parameters
    ----------
    averages
        The average of all variables, for each kind of row if kinds take turns.
    n_rows
        Rows since the beginning.
    lasting
        For how many rows each variable's past has been high.

    """

    averages: tuple[Floats, ...]
    n_rows: Count
    lasting: NDArray[np.int32]


def no_past(memory: Memory) -> Past:
    """Return the state at the beginning of a series."""
    nothing = np.zeros(len(memory.usual))
    return Past((nothing,) * memory.period, 0, np.zeros(len(nothing), np.int32))


def share_of(lookback: float, period: int = 1) -> float:
    """Return the share of a new row in the past."""
    span = max(lookback / period, MIN_SPAN) if period > 1 else float(lookback)
    return 2 / (span + 1)


def recall(
    memory: Memory, evidence: Floats, before: Past, anew: NDArray[np.bool_] | None = None
) -> tuple[Remembered, Past]:
    """Return what the past adds to consecutive rows of one series, and what they leave behind.

    Parameters
    ----------
    memory
        How earlier rows count.
    evidence
        Rows × variables, without what grave rules add.
    before
        The state before the first row.
    anew
        In which rows the series begins again; in none when absent.

    """
    from truism.scoring.kernels.memory import recall as follow  # only series load the compiler

    found, since = np.empty(evidence.shape), np.empty(evidence.shape, np.int32)
    averages, lasting = np.stack(before.averages), before.lasting.copy()
    n_rows = follow(
        evidence,
        np.zeros(len(evidence), np.bool_) if anew is None else anew,
        *(before.n_rows, share_of(memory.lookback, memory.period)),
        *(memory.cap, LASTING * memory.cap),
        *(averages, lasting, found, since),
    )
    found *= memory.weight
    return Remembered(found, since), Past(tuple(averages), n_rows, lasting)
