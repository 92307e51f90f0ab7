"""How an attacker tampers with the plant: with a sensor, an actuator, or an actuator's report.

Controllers see the falsified sensor, so the water follows the lie. A forced actuator really acts, and
reports that it does, unless the attacker also conceals it.
"""

from typing import Literal

import msgspec

from truism.errors import ParameterError
from truism.plant.recording import Log
from truism.plant.tags import ACTUATOR_OF, SENSOR_OF

Kind = Literal["jump", "drift", "freeze", "replay", "override", "combined", "stealthy"]
"""What an attack mainly does: sensors that jump, drift, freeze or replay the past; actuators that
are overridden; both at once; or anything done so as not to be noticed at a glance."""


class Jump(msgspec.Struct, frozen=True, tag=True):
    """A sensor reads one fixed value."""

    target: str
    value: float


class Ramp(msgspec.Struct, frozen=True, tag=True):
    """A sensor moves from its last reading by a steady amount per row, whatever the water does."""

    target: str
    per_row: float


class Shift(msgspec.Struct, frozen=True, tag=True):
    """A sensor is wrong by an amount, which may grow from row to row, but follows the water."""

    target: str
    by: float
    per_row: float = 0.0


class Freeze(msgspec.Struct, frozen=True, tag=True):
    """A sensor repeats its last reading."""

    target: str


class Replay(msgspec.Struct, frozen=True, tag=True):
    """A sensor repeats what it read some rows earlier, noise and all."""

    target: str
    rows: int


class Force(msgspec.Struct, frozen=True, tag=True):
    """An actuator is driven to a state against its controller, at its own pace."""

    target: str
    state: Literal["open", "closed", "on", "off"]


class Conceal(msgspec.Struct, frozen=True, tag=True):
    """An actuator reports the state it had some rows earlier, whatever it really does.

    With ``rows`` = 0 that is the state just before the attack, for as long as the attack lasts.
    """

    target: str
    rows: int = 0


Tampering = Jump | Ramp | Shift | Freeze | Replay | Force | Conceal


class Attack(msgspec.Struct, frozen=True):
    """One attack on the plant.

    Parameters
    ----------
    id
        Its number in the catalogue.
    kind
        What it mainly does.
    start, end
        Its first row, and the row after its last. In the catalogue ``start`` is 0, so that ``end``
        is its length.
    targets
        Tags that the attacker tampers with: the truth to compare explanations with.
    description
        What the attacker does, and why, in a sentence.
    steps
        What is done to each target from start to end.

    """

    id: int
    kind: Kind
    start: int
    end: int
    targets: tuple[str, ...]
    description: str
    steps: tuple[Tampering, ...]

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ParameterError.of("start", f"be from 0 to below end={self.end!r}", self.start)
        for step in self.steps:
            _check(step)

    def moved(self, start: int) -> "Attack":
        """Return the same attack with another first row."""
        return msgspec.structs.replace(self, start=start, end=start + self.end - self.start)


def _check(step: Tampering) -> None:
    match step:
        case Force(target, state):
            actuator = ACTUATOR_OF.get(target)
            if actuator is None or state not in (actuator.resting, actuator.acting):
                raise ParameterError.of("Force", "name an actuator and an end state", step)
        case Conceal(target):
            if target not in ACTUATOR_OF:
                raise ParameterError.of("target", "be an actuator", target)
        case _:
            if step.target not in SENSOR_OF:
                raise ParameterError.of("target", "be a sensor", step.target)


def override(commands: dict[str, bool], attack: Attack) -> None:
    """Replace the commands for the actuators that an attack forces."""
    for step in attack.steps:
        if isinstance(step, Force):
            commands[step.target] = step.state in ("open", "on")


def falsify(
    readings: dict[str, float], states: dict[str, str], attack: Attack, row: int, log: Log
) -> None:
    """Replace the values in a row's report that an attack falsifies."""
    for step in attack.steps:
        if isinstance(step, Conceal):
            if row > 0:
                states[step.target] = log.state(step.target, _earlier(attack, step.rows, row))
        elif not isinstance(step, Force):
            tag = step.target
            value = _falsified(step, readings[tag], attack, row, log)
            readings[tag] = SENSOR_OF[tag].read(value)


def _falsified(
    step: Jump | Ramp | Shift | Freeze | Replay, honest: float, attack: Attack, row: int, log: Log
) -> float:
    elapsed = row - attack.start
    match step:
        case Jump(_, value):
            return value
        case Shift(_, by, per_row):
            return honest + by + per_row * elapsed
        case _ if row == 0:
            return honest  # there is no past to repeat yet
        case Ramp(tag, per_row):
            return log.reading(tag, _earlier(attack, 0, row)) + per_row * (elapsed + 1)
        case Freeze(tag):
            return log.reading(tag, _earlier(attack, 0, row))
        case Replay(tag, rows):
            return log.reading(tag, _earlier(attack, rows, row))


def _earlier(attack: Attack, rows: int, row: int) -> int:
    """Return the row to look back at: the last before the attack, or this many before the current one."""
    return max(0, row - rows if rows else attack.start - 1)
