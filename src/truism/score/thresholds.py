"""Which scores to report: scores of normal rows go in, a threshold comes out."""

from decimal import ROUND_CEILING, Context

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, TableError
from truism.model.model import Model
from truism.model.provenance import Calibrated, RateOfIncidents, Threshold
from truism.model.series import Memory, Series
from truism.model.settings import IncidentRate, check_number, exact

LEAST = 1.0  # point that rows of a series must exceed: less says nothing, however calm training was


def calibrate(scores: NDArray[np.float64], max_rate: float) -> Threshold:
    """Choose the lowest threshold, of three digits, that at most a given share of rows exceeds.

    Parameters
    ----------
    scores
        Scores of normal rows that were not learned from.
    max_rate
        The share of them that may exceed it.

    Examples
    --------
    >>> import numpy as np
    >>> calibrate(np.array([0.0, 0.0, 3.0, 7.0]), 0.25)
    Threshold(value=3.0, origin=Calibrated(n_above=1, n_rows=4))

    """
    check_number("max_false_positive_rate", max_rate, "be at least 0 and below 1")
    if not len(scores):
        raise TableError("A table to calibrate on must have at least 1 row, got 0 samples.")
    allowed = int(exact(max_rate) * len(scores))
    threshold = _rounded_up(float(np.sort(scores)[::-1][allowed]))
    return Threshold(threshold, Calibrated(int((scores > threshold).sum()), len(scores)))


def expect(memory: Memory, rate: IncidentRate, step: float | None) -> Threshold:
    """Choose the threshold above which normal rows form incidents at most at a given rate.

    `step` is how many seconds there are from row to row; None if that is unknown.
    """
    wanted = rate.in_rows(step)
    tail = memory.tail
    value = max(_rounded_up(tail.threshold(wanted)), LEAST)
    origin = RateOfIncidents(rate, tail.n_incidents, tail.n_rows, not tail.has_seen(wanted))
    return Threshold(value, origin)


def _rounded_up(value: float) -> float:
    """Round up to three digits, so that the number is easy to read and type.

    >>> _rounded_up(0.6044059), _rounded_up(7.0), _rounded_up(0.04), _rounded_up(0.0)
    (0.605, 7.0, 0.04, 0.0)
    """
    return float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(value)))


def series_of(model: Model, max_false_incidents: str | None) -> tuple[Series, Memory]:
    """Return what a model knows about the order of rows; refuse a model that knows nothing of it."""
    if model.series is None or model.series.memory is None:
        problem = ParameterError.of(
            "max_false_incidents",
            "be absent unless the model is of a series, whose rows are judged by their past",
            max_false_incidents,
            "learn it from rows in order, or calibrate it by a share of the rows.",
        )
        problem.see = ("ordered",)
        raise problem
    return model.series, model.series.memory


def adopt(model: Model, other: Model) -> Model:
    """Return a model with the threshold of another, and with how many incidents that one expects."""
    model = msgspec.structs.replace(model, limit=other.limit)
    if model.series is None or model.memory is None or other.memory is None:
        return model
    memory = msgspec.structs.replace(model.memory, tail=other.memory.tail)
    return msgspec.structs.replace(
        model, series=msgspec.structs.replace(model.series, memory=memory)
    )


def expecting(model: Model, max_false_incidents: str | None) -> Model:
    """Return a model of a series with the threshold for a rate of false incidents."""
    if max_false_incidents is None and model.memory is None:
        return model
    series, memory = series_of(model, max_false_incidents)
    rate = IncidentRate.asked(max_false_incidents, series.step)
    return msgspec.structs.replace(model, limit=expect(memory, rate, series.step))
