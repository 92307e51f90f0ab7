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


def times(count: int) -> str:
    """Return how often, in words."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def rows(count: int) -> str:
    """Return a number of rows, in words."""
    return "1 row" if count == 1 else f"{count:,} rows"


def unit_row(source: str, units: tuple[str, ...]) -> Notice:
    """Report a row of units below the names."""
    listed = shorten([*dict.fromkeys(filter(None, units))])
    return Notice("unit_row", f"{source}: the row below the names holds units ({listed}).")


def lines_before_names(source: str, count: int, first: str) -> Notice:
    """Report lines before the names that are no part of the table."""
    lines = "1 line" if count == 1 else f"{count} lines"
    text = f"{source}: {lines} before the names left out, beginning with {first!r}."
    return Notice("lines_before_names", text)
