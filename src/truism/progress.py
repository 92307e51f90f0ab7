"""How far the work is: callbacks that whoever waits may hand in, and the ones that do nothing."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and of how much."""

Advance = Callable[[int, int], None]
"""Told how much of one stage is done, and of how much."""


def be_silent(stage: str, done: int, of: int) -> None:
    """Report no progress."""


def stand_still(done: int, of: int) -> None:
    """Report no progress within a stage."""
