"""A simulated water treatment plant, its controllers, and attacks on it.

For demonstrations and tests of detectors: normal data to learn from, attacked data to check, and
the truth about who did what and when. It stands in for the SWaT testbed, whose data cannot be
passed on, with the same six stages (raw water, dosing, ultrafiltration with backwash,
dechlorination with ultraviolet light, reverse osmosis, permeate) and the same naming of tags.

Nothing else in the package knows this plant, and the plant knows no detector: otherwise it would be
no test.
"""

from truism.plant.attacks import ATTACKS
from truism.plant.recording import Recording
from truism.plant.simulation import simulate
from truism.plant.tags import ACTUATORS, SENSORS, STEP_SECONDS, Actuator, Sensor
from truism.plant.tampering import Attack
from truism.plant.timetable import schedule

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
