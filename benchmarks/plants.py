"""The simulated plant as series: normal rows to learn from, and normal rows of other runs.

What a model promised on the rows it learned must hold on those of another run, after a change of the
process, and with noisier sensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truism.plant import SENSORS, simulate

REVISION = 1  # raise it when the same name stands for other rows
LEARNED_ROWS, LEARNED_SEED = 12_000, 1
NORMAL_ROWS, NORMAL_SEED = 10_000, 203
NOISE_SEED = 3
TITLES: Mapping[str, str] = {
    "plant": "plant",
    "plant_retuned": "plant, re-tuned",
    "plant_noise_1": "plant, noise of 1 added",
    "plant_noise_1.5": "plant, noise of 1.5 added",
    "plant_noise_2": "plant, noise of 2 added",
}

Columns = dict[str, NDArray[Any]]


def learned() -> Columns:
    """Return the normal rows that models of the plant learn."""
    return simulate(LEARNED_ROWS, seed=LEARNED_SEED).columns


def normal(name: str) -> Columns:
    """Return normal rows of another run; the name says under which conditions."""
    retuned = 0 if name == "plant_retuned" else None
    columns = simulate(NORMAL_ROWS, seed=NORMAL_SEED, retuned=retuned).columns
    _, _, times = name.partition("noise_")
    random = np.random.default_rng(NOISE_SEED)
    for sensor in SENSORS if times else ():
        errors = float(times) * random.normal(size=NORMAL_ROWS)
        read = [sensor.read(*each) for each in zip(columns[sensor.tag], errors, strict=True)]
        columns[sensor.tag] = np.array(read)
    return columns
