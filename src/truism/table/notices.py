"""What the user should know about how a table was read or a model learned: a code and a sentence.

A notice is *doubtful* if the reading may be wrong; `refuse_doubts` turns such notices into errors. Like
errors, notices name settings (`see`), not options. The sentence stands where the decision is taken.
"""

from collections.abc import Iterable

import msgspec

from truism.errors import TableError, shorten


class Notice(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A sentence that the user should read."""

    code: str  # what programs know it by
    text: str  # the sentence
    columns: tuple[str, ...] = ()  # the columns that it is about
    doubtful: bool = False  # whether the reading may be wrong
    see: tuple[str, ...] = ()  # names of the settings that change the reading
    words: tuple[str, ...] = ()  # texts in the cells that are taken as missing values

    def __str__(self) -> str:
        return self.text


def refuse_doubts(notices: Iterable[Notice]) -> None:
    """Raise an error for the first notice that is doubtful."""
    for notice in notices:
        if notice.doubtful:
            raise TableError(notice.text, see=notice.see)


def times(n: int) -> str:
    """Return how often, in words."""
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def rows(n: int) -> str:
    """Return a number of rows, in words."""
    return count(n, "row")


def count(n: int, noun: str) -> str:
    """Return a number of things."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def unit_row(source: str, units: tuple[str, ...]) -> Notice:
    """Report a row of units below the names."""
    listed = shorten([*dict.fromkeys(filter(None, units))])
    return Notice("unit_row", f"{source}: the row below the names holds units ({listed}).")


def lines_before_names(source: str, n: int, first: str) -> Notice:
    """Report lines before the names that are no part of the table."""
    text = f"{source}: {count(n, 'line')} before the names left out, beginning with {first!r}."
    return Notice("lines_before_names", text)
