"""What there is to say about how a table was read: values, each with its sentence.

A notice is *doubtful* where the reading may be wrong; faces show those loudly, and who wants no doubts
turns them into errors with `refuse_doubts`. Like errors, notices name settings (`see`), not options.
The notices themselves stand where they are made: in `table.cells.notices` and `table.files.notices`.
"""

from collections.abc import Iterable

import msgspec

from truism.errors import TableError


class Notice(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
    """What all notices share: who reads a list of them need not know their types."""

    @property
    def doubtful(self) -> bool:
        """Whether the reading may be wrong."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return ()

    @property
    def see(self) -> tuple[str, ...]:
        """Names of settings that say it otherwise."""
        return ()


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
