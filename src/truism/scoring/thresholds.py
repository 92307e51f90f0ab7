"""Which scores are worth reporting: scores of normal rows go in, a threshold comes out."""

from decimal import ROUND_CEILING, Context

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, TableError
from truism.model.settings import exact


class Calibration(msgspec.Struct, frozen=True):
    """A threshold chosen on normal rows, and how many of them score above it."""

    threshold: float
    n_above: int
    n_rows: int

    @property
    def meaning(self) -> str:
        """Why the threshold is what it is, in words."""
        part = f"{100 * self.n_above / self.n_rows:.2g} %"
        return f"{self.n_above:,} of {self.n_rows:,} calibration rows ({part}) score above it"


def calibrate(scores: NDArray[np.float64], max_rate: float) -> Calibration:
    """Choose the lowest threshold of three digits that at most a part of normal rows exceeds.

    Parameters
    ----------
    scores
        Scores of normal rows that were not learned from.
    max_rate
        The part of them that may exceed it.

    Examples
    --------
    >>> import numpy as np
    >>> calibrate(np.array([0.0, 0.0, 3.0, 7.0]), 0.25)
    Calibration(threshold=3.0, n_above=1, n_rows=4)

    """
    if not 0.0 <= max_rate < 1.0:
        raise ParameterError(
            f"max_false_positive_rate must be at least 0 and below 1, got {max_rate!r}."
        )
    if not len(scores):
        raise TableError("A table to calibrate on must have at least 1 row, got 0 samples.")
    allowed = int(exact(max_rate) * len(scores))
    threshold = _rounded_up(float(np.sort(scores)[::-1][allowed]))
    return Calibration(threshold, int((scores > threshold).sum()), len(scores))


def _rounded_up(value: float) -> float:
    """Give a number that is no smaller and has three digits, so that it can be said and typed.

    >>> _rounded_up(0.6044059), _rounded_up(7.0), _rounded_up(0.04), _rounded_up(0.0)
    (0.605, 7.0, 0.04, 0.0)
    """
    return float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(value)))
