"""Who is wrong only because another is: blamed variables go in, and behind whom each stands comes out."""

from collections.abc import Sequence

from truism.model.model import Model
from truism.table.deltas import delta_name


def fold(blamed: Sequence[str], model: Model) -> dict[str, str]:
    """Return the variables that go with one that is blamed more, and with which.

    A number goes with one that it moves together with in training, and ``ΔX`` with ``X``, or the other
    way round. A state goes with nobody: a pump that is off is often the cause of a flow that is not.

    Parameters
    ----------
    blamed
        The blamed variables, most blamed first.
    model
        The model, which knows the twins.

    """
    together = {frozenset(pair) for pair in model.twins or ()}
    together |= {frozenset((name, delta_name(name))) for name in model.derived}
    leaders: list[str] = []
    behind: dict[str, str] = {}
    for name in blamed:
        leader = next((each for each in leaders if frozenset((each, name)) in together), None)
        if leader is None:
            leaders.append(name)
        else:
            behind[name] = leader
    return behind
