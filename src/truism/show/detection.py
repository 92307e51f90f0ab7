"""How well scores separate labelled rows from the others, as in KDD'23, section 6.1."""

import numpy as np
from numpy.typing import NDArray

from truism.show.contents import Detection, Segment
from truism.show.series import Axis, runs
from truism.table.columns import Table, read_labels

MAX_FALSE_POSITIVE_RATE = 0.1
_MAX_POINTS = 400


def detect(
    table: Table, label: str, scores: NDArray[np.float64], threshold: float, axis: Axis
) -> Detection:
    """Compare scores with a column of labels."""
    truth = read_labels(table, label)
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
