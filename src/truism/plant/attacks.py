"""Attacks on the plant: what an attacker can do, the catalogue of attacks, and when to play which.

Controllers see the falsified sensor, so the water follows the lie. A forced actuator really acts, and
reports that it does, unless the attacker replays an earlier report. The catalogue is `attacks.toml`.
"""

import tomllib
from importlib.resources import files
from typing import Literal

import msgspec
import numpy as np

from truism.errors import ParameterError
from truism.plant.tags import ACTUATOR_OF, SENSOR_OF

Kind = Literal["jump", "drift", "freeze", "replay", "override", "combined", "stealthy"]
"""What an attack mainly does: sensors that jump, drift, freeze or replay the past; actuators that
are overridden; both at once; or anything done so as not to be noticed at a glance."""

_LEAD = 600  # normal rows before the first attack
_SHORTEST_RECOVERY = 300


class Jump(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A sensor reads one fixed value."""

    target: str
    value: float


class Ramp(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A sensor moves from its last reading by a steady amount per row, whatever the water does."""

    target: str
    per_row: float


class Shift(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A sensor is wrong by an amount, which may grow from row to row, but follows the water."""

    target: str
    by: float
    per_row: float = 0.0


class Replay(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """A sensor or an actuator reports what it did some rows earlier; 0 is just before the attack."""

    target: str
    rows: int = 0


class Force(msgspec.Struct, frozen=True, tag=True, array_like=True):
    """An actuator is driven to a state against its controller, at its own pace."""

    target: str
    state: Literal["open", "closed", "on", "off"]


Tampering = Jump | Ramp | Shift | Replay | Force


class Attack(msgspec.Struct, frozen=True):
    """One attack on the plant.

    Parameters
    ----------
    id, kind, description
        Its number in the catalogue, what it mainly does, and what the attacker does and why.
    start, end
        Its first row, and the row after its last. In the catalogue ``start`` is 0, so that ``end``
        is its length.
    targets, steps
        Tags that the attacker tampers with, the truth to compare explanations with; and what is done
        to them from start to end.

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
            tag, actuator = step.target, ACTUATOR_OF.get(step.target)
            if isinstance(step, Force):
                if actuator is None or step.state not in (actuator.resting, actuator.acting):
                    raise ParameterError.of("Force", "name an actuator and an end state", step)
            elif tag not in SENSOR_OF and not (actuator and isinstance(step, Replay)):
                raise ParameterError.of("target", "be a sensor", tag)

    def moved(self, start: int) -> "Attack":
        """Return the same attack with another first row."""
        return msgspec.structs.replace(self, start=start, end=start + self.end - self.start)

    @property
    def recovery(self) -> int:
        """Rows that the plant needs to recover: a tank refills slower than it was drained."""
        return max(_SHORTEST_RECOVERY, 5 * (self.end - self.start) // 2)


_TABLE = msgspec.convert(
    tomllib.loads(files("truism.plant").joinpath("attacks.toml").read_text("utf-8"))["attacks"],
    list[tuple[Kind, int, str, tuple[Tampering, ...]]],
)
ATTACKS: tuple[Attack, ...] = tuple(
    Attack(i, kind, 0, n_rows, tuple(dict.fromkeys(step.target for step in steps)), text, steps)
    for i, (kind, n_rows, text, steps) in enumerate(_TABLE, 1)
)
"""The catalogue: every attack once, as if it began in row 0."""


def schedule(n_rows: int, *, seed: int = 0) -> tuple[Attack, ...]:
    """Choose when to play which attacks.

    Every attack is played at most once, in a random order, with time to recover after each. The rows
    left over are spread between them.

    Parameters
    ----------
    n_rows
        Length of the run that they must fit into. A run too short for a quiet start and recovery
        still gets one attack in its second half, cut only if none fits.
    seed
        Random seed of the order and the pauses.

    Returns
    -------
    tuple of Attack
        In order of their start, without overlap.

    Examples
    --------
    >>> [attack.id for attack in schedule(1_500)]
    [28, 14]
    >>> len(schedule(100_000)) == len(ATTACKS)
    True

    """
    check_run(n_rows, seed)
    generator = np.random.default_rng((seed, 2))
    order = [ATTACKS[number] for number in generator.permutation(len(ATTACKS))]
    room = n_rows - _LEAD
    chosen: list[Attack] = []
    for attack in order:
        if attack.end + attack.recovery <= room:
            chosen.append(attack)
            room -= attack.end + attack.recovery
    if not chosen:
        start = n_rows // 2
        shortest = min(order, key=lambda attack: attack.end)
        attack = next((one for one in order if one.end <= (n_rows - start) // 2), shortest)
        end = min(start + attack.end, n_rows)
        return (msgspec.structs.replace(attack, start=start, end=end),)
    pauses = np.diff(np.sort(generator.integers(0, room + 1, len(chosen))), prepend=0)
    row, placed = _LEAD, []
    for attack, pause in zip(chosen, pauses.tolist(), strict=True):
        placed.append(attack.moved(row + pause))
        row = placed[-1].end + attack.recovery
    return tuple(placed)


def check_run(n_rows: int, seed: int) -> None:
    """Refuse a run without rows, and a seed that is negative."""
    if n_rows < 1:
        raise ParameterError.of("n_rows", "be at least 1", n_rows)
    if seed < 0:
        raise ParameterError.of("seed", "be at least 0", seed)
