"""Notices about how a table was read: values that print as sentences.

A notice is *doubtful* if the reading may be wrong; `refuse_doubts` turns such notices into errors. Like
errors, notices name settings (`see`), not options. The notices themselves are in `table.cells.notices`
and `table.files.notices`, beside the code that gives them.
"""

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from truism.errors import TableError


class Notice(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """What all notices have in common: they can be shown without knowing their types."""

    DOUBTFUL: ClassVar[bool] = False
    SEE: ClassVar[tuple[str, ...]] = ()

    @property
    def doubtful(self) -> bool:
        """Whether the reading may be wrong."""
        return self.DOUBTFUL

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return ()

    @property
    def see(self) -> tuple[str, ...]:
        """Names of the settings that change the reading."""
        return self.SEE


class ColumnNotice(Notice, frozen=True, forbid_unknown_fields=True):
    """A notice about one column."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        """That column."""
        return (self.column,)


def refuse_doubts(notices: Iterable[Notice]) -> None:
    """Raise an error for the first notice that is doubtful."""
    for notice in notices:
        if notice.doubtful:
            raise TableError(str(notice), see=notice.see)


def times(count: int) -> str:
    """Return how often, in words."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def rows(count: int) -> str:
    """Return a number of rows, in words."""
    return "1 row" if count == 1 else f"{count:,} rows"
