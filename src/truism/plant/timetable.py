"""When to play which attacks: the length of a run goes in, attacks with their rows come out."""

import msgspec
import numpy as np

from truism.errors import ParameterError
from truism.plant.attacks import ATTACKS
from truism.plant.tampering import Attack

_LEAD = 600  # normal rows before the first attack
_SHORTEST_RECOVERY = 300


def schedule(n_rows: int, *, seed: int = 0) -> tuple[Attack, ...]:
    """Choose when to play which attacks.

    Every attack is played at most once, in a random order, with time to recover after each. The rows
    left over are spread between them.

    Parameters
    ----------
    n_rows
        Length of the run that they must fit into. A run too short for a quiet start and recovery
        still gets one attack, cut to fit.
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
    if n_rows < 1:
        raise ParameterError.of("n_rows", "be at least 1", n_rows)
    if seed < 0:
        raise ParameterError.of("seed", "be at least 0", seed)
    generator = np.random.default_rng((seed, 2))
    order = [ATTACKS[number] for number in generator.permutation(len(ATTACKS))]
    room = n_rows - _LEAD
    chosen: list[Attack] = []
    for attack in order:
        needed = attack.end + _recovery(attack)
        if needed <= room:
            chosen.append(attack)
            room -= needed
    if not chosen:
        return (_squeezed(order, n_rows),)
    return _spread(chosen, room, generator)


def _squeezed(order: list[Attack], n_rows: int) -> Attack:
    """Return one attack in the second half of a short run, cut only if none fits."""
    start = n_rows // 2
    shortest = min(order, key=lambda attack: attack.end)
    fitting = (attack for attack in order if attack.end <= (n_rows - start) // 2)
    attack = next(fitting, shortest)
    return msgspec.structs.replace(attack, start=start, end=min(start + attack.end, n_rows))


def _spread(chosen: list[Attack], room: int, generator: np.random.Generator) -> tuple[Attack, ...]:
    """Place attacks one after another, and divide the spare rows between them at random."""
    pauses = np.diff(np.sort(generator.integers(0, room + 1, len(chosen))), prepend=0)
    row = _LEAD
    placed = []
    for attack, pause in zip(chosen, pauses.tolist(), strict=True):
        placed.append(attack.moved(row + pause))
        row = placed[-1].end + _recovery(attack)
    return tuple(placed)


def _recovery(attack: Attack) -> int:
    """Return how many rows the plant needs to recover: a tank refills slower than it was drained."""
    return max(_SHORTEST_RECOVERY, 5 * (attack.end - attack.start) // 2)
