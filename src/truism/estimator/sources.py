"""What checks in Python hand on: what was kept of the rows, and of which source they were."""

from typing import Any

from truism.errors import ParameterError
from truism.incidents.following import Following


class Sourced(Following, frozen=True, eq=False):
    """What has to be kept of the rows of a source.

    Parameters
    ----------
    source
        The name of what was checked; None if it has none.

    """

    source: str | None = None

    @classmethod
    def of(cls, following: Following, source: str | None) -> "Sourced":
        """Return what was kept, with the source that it is of."""
        kept = {name: getattr(following, name) for name in Following.__struct_fields__}
        return cls(**kept, source=source)

    def __repr__(self) -> str:
        return super().__repr__().replace("Following", "Sourced", 1)


def past_of(state: Any, source: str | None) -> tuple[Following | None, str | None]:
    """Return the past of rows, and their source: another source than that of the state has no past."""
    if state is None:
        return None, source
    if not isinstance(state, Following):
        raise ParameterError.of(
            "state", "be the state of earlier findings", state, "hand in findings.state."
        )
    known = state.source if isinstance(state, Sourced) else None
    if source is None or source == known:
        return state, known
    return None, source
