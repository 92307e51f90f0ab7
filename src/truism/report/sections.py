"""Lists of differences between two models, one kind each, in words."""

from collections.abc import Sequence

import msgspec


class Section(msgspec.Struct, frozen=True):
    """A list of differences of one kind.

    Parameters
    ----------
    title, note
        What it lists, and what there is to say about all of it.
    names
        The names of the columns.
    rows
        The cells of each row; not all rows need be here.
    n_rows
        How many rows there are.
    stacked
        Whether the cells of a row are long, and stand one below the other on a screen.

    """

    title: str
    note: str
    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_rows: int
    stacked: bool = False


def section(
    title: str,
    note: str,
    names: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    most: int,
    stacked: bool = False,
) -> list[Section]:
    """Return a section, unless it is empty."""
    shown = rows[:most] if most else rows
    if not rows:
        return []
    return [Section(title, note, tuple(names), tuple(shown), len(rows), stacked)]
