"""Mixed tables -> numeric matrices, for detectors that need numbers.

Categorical variables become one indicator column per training value (an unseen or missing value is
all zeros); continuous ones are scaled by the training table alone. Indicators are not scaled: they
already lie between 0 and 1, and standardising them would let one rare value outweigh everything
else. Constant columns stay, because a column that never moved in training is evidence when it
moves.

With `codes` nothing is scaled and a categorical variable stays one column: numbers as they are,
texts by their place in the alphabet. That is the quick way; detectors that look at one column at a
time sometimes do better with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.datasets import Kinds, column

Scaling = Literal["none", "codes", "minmax", "standard"]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scaled:
    """A continuous variable: `(x - origin) / unit`; where a value is missing, x is the mean."""

    name: str
    origin: float
    unit: float
    mean: float

    def encode(self, values: NDArray[Any]) -> Matrix:
        """One column."""
        numbers = values.astype(np.float64)
        numbers[np.isnan(numbers)] = self.mean
        scaled: Matrix = ((numbers - self.origin) / self.unit)[:, None]
        return scaled


@dataclass(frozen=True, slots=True)
class Indicators:
    """A categorical variable: one column per training value."""

    name: str
    values: tuple[Any, ...]

    def encode(self, values: NDArray[Any]) -> Matrix:
        """As many columns as there are training values."""
        known = np.asarray(self.values, dtype=values.dtype)
        indicators: Matrix = (values[:, None] == known).astype(np.float64)
        return indicators


@dataclass(frozen=True, slots=True)
class Codes:
    """A categorical variable of texts: its place in the alphabet, -1 for an unseen value."""

    name: str
    values: tuple[Any, ...]

    def encode(self, values: NDArray[Any]) -> Matrix:
        """One column."""
        place_of = {value: place for place, value in enumerate(self.values)}
        codes = [float(place_of.get(value, -1)) for value in values.tolist()]
        return np.asarray(codes)[:, None]


Part = Scaled | Indicators | Codes


@dataclass(frozen=True, slots=True)
class Encoder:
    """Turns a table into a matrix, always with the same columns."""

    parts: tuple[Part, ...]

    def encode(self, table: pa.Table) -> Matrix:
        """The matrix of a table, rows in table order."""
        return np.hstack([part.encode(column(table, part.name)) for part in self.parts])

    @property
    def variables(self) -> tuple[str, ...]:
        """The variable behind each column of the matrix."""
        names: list[str] = []
        for part in self.parts:
            names += [part.name] * (len(part.values) if isinstance(part, Indicators) else 1)
        return tuple(names)


def fit_encoder(train: pa.Table, kinds: Kinds, scaling: Scaling) -> Encoder:
    """Learn the encoding from the training table; unused columns count as continuous."""
    parts: list[Part] = []
    for name in train.column_names:
        values = train[name].drop_null().to_numpy()
        if name in kinds.categorical:
            parts.append(_categorical(name, values, scaling))
        elif name in kinds.continuous or name in kinds.unused:
            parts.append(_scaled(name, values.astype(np.float64), scaling))
    return Encoder(tuple(parts))


def _categorical(name: str, values: NDArray[Any], scaling: Scaling) -> Part:
    known = tuple(np.unique(values).tolist())
    if scaling != "codes":
        return Indicators(name, known)
    return Codes(name, known) if values.dtype.kind in "OUT" else _scaled(name, values, scaling)


def _scaled(name: str, values: Matrix, scaling: Scaling) -> Scaled:
    match scaling:
        case "minmax":
            origin, unit = float(values.min()), float(np.ptp(values))
        case "standard":
            origin, unit = float(values.mean()), float(values.std())
        case "none" | "codes":
            origin, unit = 0.0, 1.0
    return Scaled(name, origin, unit or 1.0, float(values.mean()))
