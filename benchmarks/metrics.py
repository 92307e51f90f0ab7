"""The measures of the paper's table 2: AUC, standardised partial AUC, mean rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

MAX_FPR = 0.1


def auc(label: NDArray[np.int8], score: NDArray[np.float64]) -> float:
    """Area under the ROC curve; `score` is higher for worse rows."""
    return float(roc_auc_score(label, score))


def partial_auc(label: NDArray[np.int8], score: NDArray[np.float64]) -> float:
    """Standardised partial AUC at a false-positive rate below 0.1 (0.5 is a coin toss)."""
    return float(roc_auc_score(label, score, max_fpr=MAX_FPR))


def ranks(values: Sequence[float], digits: int = 2) -> tuple[int, ...]:
    """Rank of each value, best first; ties share the better rank, as in the paper.

    Values are compared as printed, that is, after rounding to `digits`.

    >>> ranks([0.81, 0.95, 0.81, 0.5])
    (2, 1, 2, 4)
    """
    rounded = [round(value, digits) for value in values]
    return tuple(1 + sum(other > value for other in rounded) for value in rounded)


def mean_ranks(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Mean rank of each method over the datasets, from `table[dataset][method]`."""
    places: dict[str, list[int]] = {}
    for row in table.values():
        for method, rank in zip(row, ranks(list(row.values())), strict=True):
            places.setdefault(method, []).append(rank)
    return {method: fmean(values) for method, values in places.items()}
