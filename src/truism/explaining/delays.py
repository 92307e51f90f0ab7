"""How long something must be unusual before it is told, and how long it is waited for its return."""

import math

import msgspec

from truism.errors import ParameterError
from truism.model.settings import check_whole
from truism.table.layouts import seconds_of


class Delays(msgspec.Struct, frozen=True):
    """An on-delay and an off-delay, as rows or as durations such as ``"5min"``; by default there is none.

    Parameters
    ----------
    on
        What is over before it has lasted so long is never told, and what is going on is told from then.
    off
        What returns before so long has passed still belongs to the same incident.

    """

    on: int | str = 0
    off: int | str = 0

    def in_rows(self, step: float | None) -> tuple[int, int]:
        """Return both as numbers of rows, which are `step` seconds apart.

        >>> Delays("2min", 3).in_rows(30.0)
        (4, 3)
        """
        return _rows("on_delay", self.on, step), _rows("off_delay", self.off, step)


def _rows(name: str, said: int | str, step: float | None) -> int:
    if isinstance(said, str) and not said.isdecimal():
        try:
            seconds = seconds_of(said)
        except ParameterError:
            raise ParameterError.of(
                name, "be a number of rows, or a duration such as '5min'", said
            ) from None
        if step is None:
            raise ParameterError.of(
                name, "be a number of rows, because the model knows no times", said
            )
        return math.ceil(seconds / step)
    rows = int(said) if isinstance(said, str) else said
    check_whole(name, rows, 0)
    return rows
