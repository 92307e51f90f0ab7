"""The instruments and machines of the plant, by tag.

The letters of a tag name the kind of device and its first digit names the stage, as in the SWaT
testbed: ``LIT301`` is the level transmitter of stage 3. The values of the process are visible only
through a `Sensor`, which adds noise and has a limited resolution.
"""

import msgspec

STEP_SECONDS = 10
"""Seconds between two rows: long enough for 20,000 rows to cover two days and more than seventy
cycles of every tank, short enough to catch a valve halfway."""


class Sensor(msgspec.Struct, frozen=True):
    """One measuring instrument.

    Parameters
    ----------
    tag, unit, description
        Its name, which is that of its column, the unit of its readings, and what it measures.
    noise, relative
        Standard deviation of its error, and what is added to that as a share of what is measured.
    steps
        Its resolution in steps per unit: 10 shows tenths.
    lowest
        The lower end of its scale.

    """

    tag: str
    unit: str
    noise: float
    steps: int
    description: str
    relative: float = 0.0
    lowest: float = 0.0

    def read(self, truth: float, error: float = 0.0) -> float:
        """Return a reading of the true value, with an error given in standard deviations."""
        value = max(truth + error * (self.noise + self.relative * abs(truth)), self.lowest)
        # Not round(): it goes through text and would take a third of the whole simulation.
        return (value * self.steps + 0.5) // 1 / self.steps


class Actuator(msgspec.Struct, frozen=True):
    """One valve, pump or lamp that a controller moves.

    Parameters
    ----------
    tag, description
        Its name, which is that of its column, and what it does.
    travel
        Rows from one end position to the other; 1 acts at once. A power of two, so that a position
        reaches its end exactly.

    """

    tag: str
    travel: int
    description: str

    @property
    def resting(self) -> str:
        """The state in which nothing passes."""
        return "closed" if self.tag.startswith("MV") else "off"

    @property
    def acting(self) -> str:
        """The state in which it does its work."""
        return "open" if self.tag.startswith("MV") else "on"

    @property
    def states(self) -> tuple[str, ...]:
        """The states it reports: a valve can be seen halfway, a pump cannot."""
        halfway = ("opening", "closing") if self.tag.startswith("MV") else ()
        return (self.resting, *halfway, self.acting)


def _pair(one: str, other: str, description: str) -> tuple[Actuator, Actuator]:
    return (
        Actuator(one, 1, f"{description}, in turns with {other}"),
        Actuator(other, 1, f"{description}, in turns with {one}"),
    )


SENSORS: tuple[Sensor, ...] = (
    Sensor("FIT101", "m³/h", 0.0005, 1000, "raw water into the raw water tank", 0.005),
    Sensor("LIT101", "mm", 0.4, 10, "level of the raw water tank"),
    Sensor("AIT201", "µS/cm", 0.4, 100, "conductivity after dosing"),
    Sensor("AIT202", "pH", 0.012, 1000, "acidity after dosing"),
    Sensor("AIT203", "mV", 1.5, 10, "oxidation-reduction potential after dosing"),
    Sensor("FIT201", "m³/h", 0.0005, 1000, "dosed water into the ultrafiltration feed tank", 0.005),
    Sensor("DPIT301", "kPa", 0.12, 100, "pressure over the ultrafiltration", lowest=-50.0),
    Sensor("FIT301", "m³/h", 0.0005, 1000, "water through the ultrafiltration", 0.005),
    Sensor("LIT301", "mm", 0.4, 10, "level of the ultrafiltration feed tank"),
    Sensor("AIT401", "ppm", 0.5, 100, "hardness of the reverse osmosis feed tank"),
    Sensor("AIT402", "mV", 1.2, 10, "oxidation-reduction potential after dechlorination"),
    Sensor("FIT401", "m³/h", 0.0005, 1000, "water from the reverse osmosis feed tank", 0.005),
    Sensor("LIT401", "mm", 0.4, 10, "level of the reverse osmosis feed tank"),
    Sensor("AIT501", "pH", 0.025, 1000, "acidity before the membranes"),
    Sensor("AIT502", "mV", 1.2, 10, "oxidation-reduction potential before the membranes"),
    Sensor("AIT503", "µS/cm", 0.8, 100, "conductivity before the membranes"),
    Sensor("AIT504", "µS/cm", 0.06, 100, "conductivity of the permeate"),
    Sensor("FIT501", "m³/h", 0.0005, 1000, "water into the membranes", 0.005),
    Sensor("FIT502", "m³/h", 0.0005, 1000, "permeate out of the membranes", 0.005),
    Sensor("FIT503", "m³/h", 0.0005, 1000, "reject out of the membranes", 0.005),
    Sensor("FIT504", "m³/h", 0.0005, 1000, "reject led back to the membranes", 0.005),
    Sensor("PIT501", "kPa", 0.15, 100, "pressure before the membranes", 0.003),
    Sensor("PIT502", "kPa", 0.05, 100, "pressure of the permeate", 0.01),
    Sensor("PIT503", "kPa", 0.15, 100, "pressure of the reject", 0.003),
    Sensor("FIT601", "m³/h", 0.0005, 1000, "backwash water out of the permeate tank", 0.005),
    Sensor("FIT602", "m³/h", 0.0005, 1000, "permeate into the service tank", 0.005),
    Sensor("LIT601", "mm", 0.4, 10, "level of the permeate tank"),
    Sensor("LIT602", "mm", 0.4, 10, "level of the service tank, which the customers draw from"),
)
"""Every sensor, in the order of the columns."""

ACTUATORS: tuple[Actuator, ...] = (
    Actuator("MV101", 4, "lets raw water into the raw water tank"),
    *_pair("P101", "P102", "raw water pump"),
    Actuator("MV201", 4, "lets dosed water into the ultrafiltration feed tank"),
    *_pair("P201", "P202", "doses salt"),
    *_pair("P203", "P204", "doses acid"),
    *_pair("P205", "P206", "doses chlorine"),
    *_pair("P301", "P302", "ultrafiltration feed pump"),
    Actuator("MV301", 2, "lets backwash water into the ultrafiltration"),
    Actuator("MV302", 2, "lets filtered water into the reverse osmosis feed tank"),
    Actuator("MV303", 2, "lets backwash water out to the drain"),
    Actuator("MV304", 2, "lets rinse water out to the drain"),
    *_pair("P401", "P402", "reverse osmosis feed pump"),
    *_pair("P403", "P404", "doses bisulphite"),
    Actuator("UV401", 1, "ultraviolet lamp that breaks down chlorine"),
    *_pair("P501", "P502", "high pressure pump"),
    Actuator("MV501", 2, "lets good permeate into the permeate tank"),
    Actuator("MV502", 2, "lets bad permeate out to the drain"),
    Actuator("MV503", 2, "lets reject out to the drain"),
    Actuator("P601", 1, "lifts permeate into the service tank"),
    Actuator("P602", 1, "backwash pump of the ultrafiltration"),
)
"""Every actuator, in the order of the columns. None of them is a mere standby: pumps in pairs take
turns, so each is seen in all its states."""

SENSOR_OF: dict[str, Sensor] = {sensor.tag: sensor for sensor in SENSORS}
ACTUATOR_OF: dict[str, Actuator] = {actuator.tag: actuator for actuator in ACTUATORS}
