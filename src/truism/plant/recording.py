"""The record of a run: row by row while it lasts, by column when it is over."""

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.plant.tags import ACTUATORS, SENSORS, STEP_SECONDS

_BEGIN = np.datetime64("2024-01-01T00:00:00", "s")
_SENSOR_TAGS = tuple(sensor.tag for sensor in SENSORS)
_ACTUATOR_TAGS = tuple(actuator.tag for actuator in ACTUATORS)


class Recording(msgspec.Struct, frozen=True, eq=False):
    """The record of one run.

    Parameters
    ----------
    columns
        By name: ``time`` as ``datetime64[s]``, then every sensor as ``float64`` and every actuator
        as an object array of ``str``.

    """

    columns: dict[str, NDArray[Any]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.columns["time"])


class Log:
    """The rows reported so far; an attacker can look back on them, and on nothing else."""

    __slots__ = ("_readings", "_states")

    def __init__(self, n_rows: int) -> None:
        self._readings = np.empty((n_rows, len(SENSORS)))
        self._states = np.empty((n_rows, len(ACTUATORS)), dtype=object)

    def write(self, row: int, readings: dict[str, float], states: dict[str, str]) -> None:
        """Record a row; the values must be in the order of the columns."""
        self._readings[row] = list(readings.values())
        self._states[row] = list(states.values())

    def reading(self, tag: str, row: int) -> float:
        """Return what a sensor reported."""
        return float(self._readings[row, _SENSOR_TAGS.index(tag)])

    def state(self, tag: str, row: int) -> str:
        """Return what an actuator reported."""
        return str(self._states[row, _ACTUATOR_TAGS.index(tag)])

    def close(self) -> Recording:
        """Return the rows as columns."""
        seconds = np.arange(len(self._readings)) * STEP_SECONDS
        columns: dict[str, NDArray[Any]] = {"time": _BEGIN + seconds.astype("timedelta64[s]")}
        for tag, readings in zip(_SENSOR_TAGS, self._readings.T, strict=True):
            columns[tag] = readings.copy()
        for tag, states in zip(_ACTUATOR_TAGS, self._states.T, strict=True):
            columns[tag] = states.copy()
        return Recording(columns)
