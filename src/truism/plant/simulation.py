"""One run: surroundings, process, sensors, attackers and controllers, row after row.

The order within a row is that of a real plant. Actuators move as commanded (or as an attacker forces
them), water moves, sensors measure, an attacker falsifies the report, the report is recorded, and the
controllers use it to decide the next row. So the states in a row are those that caused its flows.
"""

from collections.abc import Sequence

import numpy as np

from truism.errors import ParameterError
from truism.plant.control import Controllers, rest
from truism.plant.process import Equipment, Process
from truism.plant.recording import Log, Recording
from truism.plant.surroundings import Surroundings, draw
from truism.plant.tags import SENSORS
from truism.plant.tampering import Attack, falsify, override

RUN_IN = 600  # rows in which the tanks fill; they are not recorded
_READERS = tuple((sensor.tag, sensor.read) for sensor in SENSORS)


def simulate(
    n_rows: int,
    *,
    seed: int = 0,
    attacks: Sequence[Attack] = (),
    retuned: int | None = None,
) -> Recording:
    """Run the plant and record it, one row for every `STEP_SECONDS`.

    The recording starts after the plant has been running for `RUN_IN` rows, so that it leaves out the
    start-up, in which nearly empty tanks fill. The same arguments give the same bits; a longer run
    begins with the shorter one; and up to its first attack or the row in which it is retuned, a run
    equals the run without.

    Parameters
    ----------
    n_rows
        Rows to record.
    seed
        Random seed of raw water, demand and sensor noise.
    attacks
        The attacks, for example from `schedule`. Attacks may overlap; the later one in the
        sequence then wins.
    retuned
        The row from which on a controller is tuned otherwise: it starts to fill the tank of LIT301
        at 600 mm in place of 800, and stops at 800 mm in place of 1,000. This is no fault and no
        attack, but a change of the process. None changes nothing.

    Returns
    -------
    Recording
        The reported values, without any mark of when an attack takes place.

    Examples
    --------
    >>> recording = simulate(1000, seed=7)
    >>> recording.columns["MV101"][:6].tolist()
    ['open', 'open', 'open', 'open', 'open', 'open']

    """
    if n_rows < 1:
        raise ParameterError.of("n_rows", "be at least 1", n_rows)
    if seed < 0:
        raise ParameterError.of("seed", "be at least 0", seed)
    if retuned is not None and retuned < 0:
        raise ParameterError.of("retuned", "be at least 0", retuned)
    log = Log(n_rows)
    _run(log, n_rows, seed, _changes(attacks), retuned)
    return log.close()


def _run(
    log: Log, n_rows: int, seed: int, changes: dict[int, tuple[Attack, ...]], retuned: int | None
) -> None:
    surroundings = Surroundings()
    process = Process(np.random.default_rng((seed, 1)).standard_normal(5).tolist())
    equipment, controllers = Equipment(), Controllers()
    commands = rest()
    active: tuple[Attack, ...] = ()
    for row, (shocks, errors) in enumerate(draw(RUN_IN + n_rows, seed), -RUN_IN):
        active = changes.get(row, active)
        if row == retuned:
            controllers.retune()
        for attack in active:
            override(commands, attack)
        equipment.obey(commands)
        surroundings.advance(row, shocks)
        process.advance(equipment.position, surroundings)
        readings = _measure(process.truth(), errors)
        states = equipment.states.copy()
        for attack in active:
            falsify(readings, states, attack, row, log)
        if row >= 0:
            log.write(row, readings, states)
        commands = controllers.decide(readings, states)


def _measure(truth: tuple[float, ...], errors: list[float]) -> dict[str, float]:
    return {
        tag: read(value, error)
        for (tag, read), value, error in zip(_READERS, truth, errors, strict=True)
    }


def _changes(attacks: Sequence[Attack]) -> dict[int, tuple[Attack, ...]]:
    """Return the attacks that are active from a row on, for each row at which they change."""
    rows = {attack.start for attack in attacks} | {attack.end for attack in attacks}
    return {
        row: tuple(attack for attack in attacks if attack.start <= row < attack.end)
        for row in sorted(rows)
    }
