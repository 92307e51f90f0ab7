"""Tables that come with scikit-learn, as detection tasks: no download, and nothing was tuned on them.

Each class of a table in turn is the anomaly, and the other classes are normal. The diabetes table has
no classes; there the anomaly is the tenth of the rows with the fastest progression. Half of the normal
rows, drawn with a fixed seed, are for training, the rest and the anomalies for testing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import sklearn.datasets
from numpy.typing import NDArray

REVISION = 1
SPLIT_SEED = 0
CLASSES_OF = {"breast_cancer": 2, "digits": 10, "iris": 3, "wine": 3}
TASKS = (
    *(f"{table}-{number}" for table, n in CLASSES_OF.items() for number in range(n)),
    "diabetes-0",
)
_FAST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Task:
    """What `make` returns."""

    train: pa.Table
    test: pa.Table
    label: NDArray[np.int8]


def make(name: str) -> Task:
    """Return a task by its name in `TASKS`."""
    table, _, number = name.rpartition("-")
    bunch = getattr(sklearn.datasets, f"load_{table}")()
    rows, target = np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target)
    if table in CLASSES_OF:
        odd = target == int(number)
    else:
        odd = target > np.quantile(target, 1 - _FAST_SHARE)
    normal = np.random.default_rng(SPLIT_SEED).permutation(np.flatnonzero(~odd))
    kept, rest = np.sort(normal[: len(normal) // 2]), np.sort(normal[len(normal) // 2 :])
    test = np.concatenate([rest, np.flatnonzero(odd)])
    return Task(_table(rows[kept]), _table(rows[test]), odd[test].astype(np.int8))


def source(name: str) -> str:
    """The table behind a task.

    >>> source("digits-3")
    'digits'
    """
    return name.rpartition("-")[0]


def _table(rows: NDArray[np.float64]) -> pa.Table:
    return pa.table({f"x{place}": column for place, column in enumerate(rows.T)})
