"""Influences from outside the plant: raw water, its supply, and what customers draw.

Each influence wanders about its mean and returns within the hour, so that a few thousand rows cover
its whole range and the normal rows of one seed look like those of any other. Only demand also depends
on the time of day.
"""

import math
from collections.abc import Iterator

import numpy as np

from truism.plant.tags import SENSORS, STEP_SECONDS

_CHUNK = 4096  # rows drawn at once: fast, and little memory however long the run
_DAY = 86_400 // STEP_SECONDS
_KEEP = math.exp(-STEP_SECONDS / 1500)  # a deviation lasts for about 25 minutes
_GAIN = math.sqrt(1 - _KEEP**2)
_FURTHEST = 2.0  # standard deviations that a wandering influence may stray


class Surroundings:
    """The influences on the plant during one row.

    Each attribute is a deviation in standard deviations, except ``demand`` in m³/h.
    """

    __slots__ = (
        "_states",
        "acidity",
        "conductivity",
        "demand",
        "hardness",
        "orp",
        "supply",
        "turbidity",
    )

    n_influences = 7

    def __init__(self) -> None:
        self._states: list[float] = []

    def advance(self, row: int, shocks: list[float]) -> None:
        """Let every influence wander on by one row."""
        if self._states:
            states = [_KEEP * x + _GAIN * z for x, z in zip(self._states, shocks, strict=True)]
        else:
            states = shocks  # starts anywhere in its range, not at the mean
        self._states = [min(max(x, -_FURTHEST), _FURTHEST) for x in states]
        self.supply, self.conductivity, self.acidity, self.orp = self._states[:4]
        self.hardness, self.turbidity, draw = self._states[4:]
        self.demand = 0.8 * (1 + _rhythm(row) + 0.06 * draw)


def _rhythm(row: int) -> float:
    """Return the share by which customers draw more than average, from midnight: two peaks a day."""
    angle = 2 * math.pi * row / _DAY
    return -0.12 * math.cos(angle) - 0.10 * math.cos(2 * angle)


def draw(n_rows: int, seed: int) -> Iterator[tuple[list[float], list[float]]]:
    """Draw the shocks of the surroundings and the errors of the sensors, row by row.

    They come from one stream in the order of the rows, so a longer run begins like a shorter one,
    and an attacked run has the same random events as the same run without attacks.
    """
    generator = np.random.default_rng(seed)
    width = Surroundings.n_influences + len(SENSORS)
    for begin in range(0, n_rows, _CHUNK):
        block = generator.standard_normal((min(_CHUNK, n_rows - begin), width))
        for numbers in block.tolist():
            yield numbers[: Surroundings.n_influences], numbers[Surroundings.n_influences :]
