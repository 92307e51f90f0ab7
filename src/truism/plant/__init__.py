"""A simulated water treatment plant, its controllers, and attacks on it: to try detectors on.

It stands in for the SWaT testbed, whose data cannot be passed on, with the same six stages (raw water,
dosing, ultrafiltration with backwash, dechlorination with ultraviolet light, reverse osmosis, permeate)
and the same tag names. No other part of the package knows this plant, and the plant knows no detector;
otherwise it would not be a test.
"""

from truism.plant.attacks import ATTACKS, Attack, schedule
from truism.plant.simulation import Recording, simulate
from truism.plant.tags import ACTUATORS, SENSORS, STEP_SECONDS, Actuator, Sensor

__all__ = [
    "ACTUATORS",
    "ATTACKS",
    "SENSORS",
    "STEP_SECONDS",
    "Actuator",
    "Attack",
    "Recording",
    "Sensor",
    "schedule",
    "simulate",
]
