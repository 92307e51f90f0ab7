"""A simulated water treatment plant, its controllers, and attacks on it.

It is for demonstrations and tests of detectors. A number of rows and a seed come in; normal data to
learn from, attacked data to check, and the list of true attacks go out. It stands in for the SWaT
testbed, whose data cannot be passed on, with the same six stages (raw water, dosing, ultrafiltration
with backwash, dechlorination with ultraviolet light, reverse osmosis, permeate) and the same tag names.

- `tags`: the sensors and actuators
- `surroundings`, `process`: outside influences, and water, tanks and machines
- `control`: the controllers
- `tampering`, `attacks`, `timetable`: how to attack, the catalogue of attacks, and when to play which
- `simulation`, `recording`: a run, and what is recorded of it
- `files`: runs as files

No other part of the package knows this plant, and the plant knows no detector; otherwise it would not
be a test.
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
