"""Generated tables that look like a plant's, for growth curves and for smoke runs without data.

A few hidden states drive everything: categorical columns show a state, continuous columns follow
a state with noise, so there are rules to find. An anomalous test row takes some of its values from
other rows, so every value is ordinary and only the combination is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

REVISION = 1
ANOMALY_SHARE = 0.1
_CATEGORICAL_SHARE = 0.25
_N_STATES = 3


@dataclass(frozen=True, slots=True)
class Made:
    """What `make` returns."""

    train: pa.Table
    test: pa.Table
    label: NDArray[np.int8]
    categorical: tuple[str, ...]
    continuous: tuple[str, ...]


def make(n_rows: int, n_columns: int, seed: int = 0) -> Made:
    """A training table of `n_rows` and a test table of a quarter as many (at least 200)."""
    rng = np.random.default_rng(seed)
    n_test = max(200, n_rows // 4)
    n_categorical = max(1, round(n_columns * _CATEGORICAL_SHARE))
    columns = _columns(rng, n_rows + n_test, n_columns, n_categorical)
    label = (rng.random(n_test) < ANOMALY_SHARE).astype(np.int8)
    test = {name: values[n_rows:].copy() for name, values in columns.items()}
    _mix(rng, test, np.flatnonzero(label))
    names = tuple(columns)
    return Made(
        train=pa.table({name: values[:n_rows] for name, values in columns.items()}),
        test=pa.table(test),
        label=label,
        categorical=names[:n_categorical],
        continuous=names[n_categorical:],
    )


def _columns(
    rng: np.random.Generator, n_rows: int, n_columns: int, n_categorical: int
) -> dict[str, NDArray[np.generic]]:
    hidden = rng.integers(0, _N_STATES, size=(n_rows, max(2, n_columns // 8)))
    columns: dict[str, NDArray[np.generic]] = {}
    for position in range(n_columns):
        state = hidden[:, position % hidden.shape[1]]
        if position < n_categorical:
            columns[f"state{position}"] = np.array(["low", "mid", "high"])[state]
        else:
            center = rng.normal(size=_N_STATES) * 10
            columns[f"sensor{position}"] = center[state] + rng.normal(size=n_rows)
    return columns


def _mix(
    rng: np.random.Generator, table: dict[str, NDArray[np.generic]], rows: NDArray[np.intp]
) -> None:
    """Replace a third of the values of these rows by values of other rows, in place."""
    for values in table.values():
        moved = rows[rng.random(len(rows)) < 1 / 3]
        values[moved] = values[rng.permutation(len(values))[: len(moved)]]
