"""How well scores separate labelled rows from the others, as in KDD'23, section 6.1."""

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
    # scikit-learn takes half a second to import, and only this needs it.
    from sklearn.metrics import roc_auc_score, roc_curve

    false_rates, true_rates, _ = roc_curve(truth, scores, drop_intermediate=False)
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
        float(roc_auc_score(truth, scores)),
        float(roc_auc_score(truth, scores, max_fpr=MAX_FALSE_POSITIVE_RATE)),
        MAX_FALSE_POSITIVE_RATE,
        tuple(false_rates[keep].tolist()),
        tuple(true_rates[keep].tolist()),
        float((reported & ~truth).sum() / n_false),
        float((reported & truth).sum() / n_true),
        segments,
    )


def _segment(start: int, end: int, reported: NDArray[np.bool_], axis: Axis) -> Segment:
    hits = np.flatnonzero(reported[start : end + 1])
    first = int(hits[0]) + start if len(hits) else None
    return Segment(axis.when(start, end), start, end, len(hits), first)


def _labels(table: Table, label: str) -> NDArray[np.bool_]:
    column = table.column_of().get(label)
    if column is None:
        raise ParameterError.of(
            "label",
            "name a column of the table",
            label,
            did_you_mean(label, table.names),
        )
    if column.kind not in ("number", "boolean"):
        raise ParameterError.of(
            "label",
            "name a column of numbers or booleans",
            label,
            "0 and false mean normal, everything else anomalous.",
        )
    known = column.present
    if (known % 1 != 0).any():
        raise ParameterError.of(
            "label",
            "name a column of whole numbers or booleans",
            label,
            f"it holds {known[known % 1 != 0][0]:g}; 0 and false mean normal, everything else "
            f"anomalous.",
        )
    truth = column.values.astype(np.bool_)
    if column.missing is not None:
        truth = truth & ~column.missing
    if truth.all() or not truth.any():
        only = "anomalous" if truth.all() else "normal"
        hint = f"all its rows are {only}."
        raise ParameterError.of("label", "mark some rows and not all", label, hint)
    return truth
