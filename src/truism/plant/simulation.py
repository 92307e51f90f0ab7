"""One run: surroundings, process, sensors, attackers and controllers, row after row.

The order within a row is that of a real plant. Actuators move as commanded (or as an attacker forces
them), water moves, sensors measure, an attacker falsifies the report, the report is recorded, and the
controllers use it to decide the next row. So the states in a row are those that caused its flows.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError
from truism.plant.attacks import Attack, Force, Jump, Ramp, Replay, Shift, check_run
from truism.plant.control import Controllers, Report
from truism.plant.process import Process, surround
from truism.plant.tags import ACTUATOR_OF, SENSOR_OF, SENSORS, STEP_SECONDS

RUN_IN = 600  # rows in which the tanks fill; they are not recorded
_BEGIN = np.datetime64("2024-01-01T00:00:00", "s")
_READERS = tuple((sensor.tag, sensor.read) for sensor in SENSORS)


class Recording(msgspec.Struct, frozen=True, eq=False):
    """The record of one run.

    Parameters
    ----------
    columns
        By name: ``time`` as ``datetime64[s]``, then every sensor as ``float64`` and every actuator
        as an object array of ``str``.

    """

    columns: dict[str, NDArray[Any]]


def simulate(
    n_rows: int, *, seed: int = 0, attacks: Sequence[Attack] = (), retuned: int | None = None
) -> Recording:
    """Run the plant and record it, one row for every `STEP_SECONDS`.

    The recording starts after the plant has been running for `RUN_IN` rows, so that it leaves out the
    start-up, in which nearly empty tanks fill. The same arguments give the same bits; a longer run
    begins with the shorter one; and up to its first attack or the row in which it is retuned, a run
    equals the run without.

    Parameters
    ----------
    n_rows, seed
        Rows to record, and the random seed of raw water, demand and sensor noise.
    attacks
        For example from `schedule`. Where attacks overlap, the later one in the sequence wins.
    retuned
        The row from which on the tank of LIT301 is filled from 600 mm in place of 800, and up to
        800 mm in place of 1,000: no fault and no attack, but a change of the process.

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
    check_run(n_rows, seed)
    if retuned is not None and retuned < 0:
        raise ParameterError.of("retuned", "be at least 0", retuned)
    times = _BEGIN + (np.arange(n_rows) * STEP_SECONDS).astype("timedelta64[s]")
    columns: dict[str, NDArray[Any]] = {"time": times}
    columns |= {tag: np.empty(n_rows) for tag in SENSOR_OF}
    columns |= {tag: np.empty(n_rows, object) for tag in ACTUATOR_OF}
    process = Process(np.random.default_rng((seed, 1)).standard_normal(5).tolist())
    controllers, commands = Controllers(), dict.fromkeys(ACTUATOR_OF, False)
    for row, (around, errors) in enumerate(surround(-RUN_IN, RUN_IN + n_rows, seed), -RUN_IN):
        active = [attack for attack in attacks if attack.start <= row < attack.end]
        if row == retuned:
            controllers.retune()
        for attack in active:
            for step in attack.steps:
                if isinstance(step, Force):
                    commands[step.target] = step.state in ("open", "on")
        process.advance(commands, around)
        measured = zip(_READERS, process.truth(), errors, strict=True)
        report: Report = {tag: read(value, error) for (tag, read), value, error in measured}
        report |= process.states
        for attack in active:
            _falsify(report, attack, row, columns)
        if row >= 0:
            for tag, value in report.items():
                columns[tag][row] = value
        commands = controllers.decide(report)
    return Recording(columns)


def _falsify(report: Report, attack: Attack, row: int, past: dict[str, NDArray[Any]]) -> None:
    """Replace what an attack falsifies in a row's report; an attacker can look back on the record."""
    before = max(0, attack.start - 1)
    for step in attack.steps:
        tag = step.target
        match step:
            case Jump(_, value):
                pass
            case Shift(_, by, per_row):
                value = report[tag] + by + per_row * (row - attack.start)
            case Ramp(_, per_row) if row > 0:  # in the first row there is no past to repeat
                value = past[tag].item(before) + per_row * (row - attack.start + 1)
            case Replay(_, rows) if row > 0:
                value = past[tag].item(max(0, row - rows) if rows else before)
            case _:
                continue
        report[tag] = SENSOR_OF[tag].read(value) if tag in SENSOR_OF else value
