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
    tag
        Its name, and that of its column.
    unit
        The unit of its readings.
    noise
        Standard deviation of its error, whatever the reading.
    steps
        Its resolution in steps per unit: 10 shows tenths.
    description
        What it measures, in words.
    relative
        Additional error as a share of what is measured.
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
        value = truth + error * (self.noise + self.relative * abs(truth))
        if value < self.lowest:
            value = self.lowest
        # Not round(): it goes through text and would take a third of the whole simulation.
        return (value * self.steps + 0.5) // 1 / self.steps


class Actuator(msgspec.Struct, frozen=True):
    """One valve, pump or lamp that a controller moves.

    Parameters
    ----------
    tag
        Its name, and that of its column.
    travel
        Rows from one end position to the other; 1 acts at once. A power of two, so that a position
        reaches its end exactly.
    description
        What it does, in words.

    """

    tag: str
    travel: int
    description: str

    @property
    def states(self) -> tuple[str, ...]:
        """The states it reports: a valve can be seen halfway, a pump cannot."""
        if self.is_valve:
            return (self.resting, "opening", self.acting, "closing")
        return (self.resting, self.acting)

    @property
    def resting(self) -> str:
        """The state in which nothing passes."""
        return "closed" if self.is_valve else "off"

    @property
    def acting(self) -> str:
        """The state in which it does its work."""
        return "open" if self.is_valve else "on"

    @property
    def is_valve(self) -> bool:
        """Whether it is a motorised valve rather than a pump or a lamp."""
        return self.tag.startswith("MV")


def _level(tag: str, description: str) -> Sensor:
    return Sensor(tag, "mm", 0.4, 10, description)


def _flow(tag: str, description: str) -> Sensor:
    return Sensor(tag, "m³/h", 0.0005, 1000, description, relative=0.005)


def _pressure(tag: str, description: str) -> Sensor:
    return Sensor(tag, "kPa", 0.15, 100, description, relative=0.003)


SENSORS: tuple[Sensor, ...] = (
    _flow("FIT101", "raw water into the raw water tank"),
    _level("LIT101", "level of the raw water tank"),
    Sensor("AIT201", "µS/cm", 0.4, 100, "conductivity after dosing"),
    Sensor("AIT202", "pH", 0.012, 1000, "acidity after dosing"),
    Sensor("AIT203", "mV", 1.5, 10, "oxidation-reduction potential after dosing"),
    _flow("FIT201", "dosed water into the ultrafiltration feed tank"),
    Sensor(
        "DPIT301", "kPa", 0.12, 100, "pressure difference over the ultrafiltration", lowest=-50.0
    ),
    _flow("FIT301", "water through the ultrafiltration"),
    _level("LIT301", "level of the ultrafiltration feed tank"),
    Sensor("AIT401", "ppm", 0.5, 100, "hardness of the reverse osmosis feed tank"),
    Sensor("AIT402", "mV", 1.2, 10, "oxidation-reduction potential after dechlorination"),
    _flow("FIT401", "water from the reverse osmosis feed tank"),
    _level("LIT401", "level of the reverse osmosis feed tank"),
    Sensor("AIT501", "pH", 0.025, 1000, "acidity before the membranes"),
    Sensor("AIT502", "mV", 1.2, 10, "oxidation-reduction potential before the membranes"),
    Sensor("AIT503", "µS/cm", 0.8, 100, "conductivity before the membranes"),
    Sensor("AIT504", "µS/cm", 0.06, 100, "conductivity of the permeate"),
    _flow("FIT501", "water into the membranes"),
    _flow("FIT502", "permeate out of the membranes"),
    _flow("FIT503", "reject out of the membranes"),
    _flow("FIT504", "reject led back to the membranes"),
    _pressure("PIT501", "pressure before the membranes"),
    Sensor("PIT502", "kPa", 0.05, 100, "pressure of the permeate", relative=0.01),
    _pressure("PIT503", "pressure of the reject"),
    _flow("FIT601", "backwash water out of the permeate tank"),
    _flow("FIT602", "permeate into the service tank"),
    _level("LIT601", "level of the permeate tank"),
    _level("LIT602", "level of the service tank, which the customers draw from"),
)
"""Every sensor, in the order of the columns."""

ACTUATORS: tuple[Actuator, ...] = (
    Actuator("MV101", 4, "lets raw water into the raw water tank"),
    Actuator("P101", 1, "raw water pump, in turns with P102"),
    Actuator("P102", 1, "raw water pump, in turns with P101"),
    Actuator("MV201", 4, "lets dosed water into the ultrafiltration feed tank"),
    Actuator("P201", 1, "doses salt, in turns with P202"),
    Actuator("P202", 1, "doses salt, in turns with P201"),
    Actuator("P203", 1, "doses acid, in turns with P204"),
    Actuator("P204", 1, "doses acid, in turns with P203"),
    Actuator("P205", 1, "doses chlorine, in turns with P206"),
    Actuator("P206", 1, "doses chlorine, in turns with P205"),
    Actuator("P301", 1, "ultrafiltration feed pump, in turns with P302"),
    Actuator("P302", 1, "ultrafiltration feed pump, in turns with P301"),
    Actuator("MV301", 2, "lets backwash water into the ultrafiltration"),
    Actuator("MV302", 2, "lets filtered water into the reverse osmosis feed tank"),
    Actuator("MV303", 2, "lets backwash water out to the drain"),
    Actuator("MV304", 2, "lets rinse water out to the drain"),
    Actuator("P401", 1, "reverse osmosis feed pump, in turns with P402"),
    Actuator("P402", 1, "reverse osmosis feed pump, in turns with P401"),
    Actuator("P403", 1, "doses bisulphite, in turns with P404"),
    Actuator("P404", 1, "doses bisulphite, in turns with P403"),
    Actuator("UV401", 1, "ultraviolet lamp that breaks down chlorine"),
    Actuator("P501", 1, "high pressure pump, in turns with P502"),
    Actuator("P502", 1, "high pressure pump, in turns with P501"),
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
