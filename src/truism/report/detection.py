"""With labels: how well scores tell labelled rows from the others, as in KDD'23, section 6.1."""

import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError, did_you_mean
from truism.report.contents import Detection, Segment
from truism.report.series import Axis, runs
from truism.table.columns import Table

MAX_FALSE_POSITIVE_RATE = 0.1
_MAX_POINTS = 400


def detect(
    table: Table, label: str, scores: NDArray[np.float64], threshold: float, axis: Axis
) -> Detection:
    """Compare scores with a column of labels."""
    truth = _labels(table, label)
    n_true, n_false = int(truth.sum()), int((~truth).sum())
    false_rates, true_rates = roc(truth, scores)
    reported = scores > threshold
    keep = np.unique(np.linspace(0, len(false_rates) - 1, _MAX_POINTS).astype(np.int64))
    if len(false_rates) > _MAX_POINTS:
        low = np.flatnonzero(false_rates <= MAX_FALSE_POSITIVE_RATE)
        keep = np.union1d(keep, low[np.linspace(0, len(low) - 1, _MAX_POINTS).astype(np.int64)])
    segments = tuple(
        _segment(start, end, reported, axis) for start, end in runs(truth, most=truth.size)
    )
    return Detection(
        label,
        n_true,
        area(false_rates, true_rates),
        standardised(
            area(false_rates, true_rates, MAX_FALSE_POSITIVE_RATE), MAX_FALSE_POSITIVE_RATE
        ),
        MAX_FALSE_POSITIVE_RATE,
        tuple(false_rates[keep].tolist()),
        tuple(true_rates[keep].tolist()),
        float((reported & ~truth).sum() / n_false),
        float((reported & truth).sum() / n_true),
        segments,
    )


def roc(
    truth: NDArray[np.bool_], scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give false- and true-positive rates for every threshold, from the highest down.

    >>> roc(np.array([True, False, True]), np.array([3.0, 2.0, 1.0]))[1].tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    falling = np.argsort(-scores, kind="stable")
    last_of_score = np.append(np.flatnonzero(np.diff(scores[falling])), len(scores) - 1)
    true = np.cumsum(truth[falling])[last_of_score]
    false = last_of_score + 1 - true
    return np.append(0.0, false / false[-1]), np.append(0.0, true / true[-1])


def area(
    false_rates: NDArray[np.float64], true_rates: NDArray[np.float64], up_to: float = 1.0
) -> float:
    """Give the area under a ROC up to a false-positive rate."""
    inside = false_rates <= up_to
    end = float(np.interp(up_to, false_rates, true_rates))
    x, y = np.append(false_rates[inside], up_to), np.append(true_rates[inside], end)
    return float(np.trapezoid(y, x))


def standardised(partial: float, up_to: float) -> float:
    """Scale a partial area so that guessing gives 0.5 and perfection 1 (McClish 1989)."""
    least = up_to**2 / 2
    return 0.5 * (1 + (partial - least) / (up_to - least))


def _segment(start: int, end: int, reported: NDArray[np.bool_], axis: Axis) -> Segment:
    hits = np.flatnonzero(reported[start : end + 1])
    first = int(hits[0]) + start if len(hits) else None
    return Segment(axis.when(start, end), start, end, len(hits), first)


def _labels(table: Table, label: str) -> NDArray[np.bool_]:
    column = table.column_of().get(label)
    if column is None:
        raise ParameterError(
            f"label must name a column of the table, got {label!r}.",
            did_you_mean(label, table.names),
        )
    if column.kind not in ("number", "boolean"):
        raise ParameterError(
            f"label must name a column of numbers or booleans, got {label!r}.",
            "0 and false mean normal, everything else anomalous.",
        )
    known = column.present
    if (known % 1 != 0).any():
        raise ParameterError(
            f"label must name a column of whole numbers or booleans, got {label!r} with "
            f"{known[known % 1 != 0][0]:g}.",
            "0 and false mean normal, everything else anomalous.",
        )
    truth = column.values.astype(np.bool_)
    if column.missing is not None:
        truth = truth & ~column.missing
    if truth.all() or not truth.any():
        only = "anomalous" if truth.all() else "normal"
        raise ParameterError(f"label must mark some rows and not all, got only {only} rows.")
    return truth
