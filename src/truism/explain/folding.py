"""Who is wrong only because another is: blamed variables go in, and behind whom each stands comes out."""

from collections.abc import Collection, Mapping, Sequence

from truism.model.model import Model
from truism.table.deltas import delta_name


def fold(
    blamed: Sequence[str], model: Model, witnesses: Mapping[str, Collection[str]] | None = None
) -> dict[str, str]:
    """Return the variables that go with one that is blamed more, and with which.

    A number goes with one that it moves together with in training, unless one speaks against the other:
    then they do not move together now. ``ΔX`` goes with ``X``, or the other way round. A state goes with
    nobody: a pump that is off is often the cause of a flow that is not.

    Parameters
    ----------
    blamed
        The blamed variables, most blamed first.
    model
        The model, which knows the twins.
    witnesses
        By whose values each variable is told to be wrong.

    """
    told_by = {} if witnesses is None else witnesses
    twins = {frozenset(pair) for pair in model.twins or ()}
    same = {frozenset((name, delta_name(name))) for name in model.derived}

    def at_odds(one: str, other: str) -> bool:
        return one in told_by.get(other, ()) or other in told_by.get(one, ())

    leaders: list[str] = []
    behind: dict[str, str] = {}
    for name in blamed:
        alike = [each for each in leaders if frozenset((each, name)) in twins]
        if any(at_odds(each, name) for each in alike):
            alike = []
        own = [each for each in leaders if each in alike or frozenset((each, name)) in same]
        if own:
            behind[name] = own[0]
        else:
            leaders.append(name)
    return behind
