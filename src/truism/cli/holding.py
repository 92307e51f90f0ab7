"""Rows that a command goes through several times: held whole, or read in portions each time."""

from collections.abc import Iterator, Sequence

import msgspec

from truism.cli.batched import Portions, open_beyond
from truism.cli.fitting import fit, read_for
from truism.cli.reading import Asked
from truism.cli.screen import Screen
from truism.explaining.checker import Check, Checker
from truism.explaining.findings import Findings
from truism.incidents.following import Following, Found
from truism.table.columns import Table
from truism.work import Progress


class Whole(msgspec.Struct, frozen=True, eq=False):
    """A table that is held."""

    checker: Checker
    table: Table
    prepared: Table

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.table.n_rows

    def read(self) -> Iterator[tuple[Table, Table]]:
        """Return all rows at once."""
        yield self.table, self.prepared

    def find(self, *, patterns: bool) -> Findings:  # noqa: ARG002, they cost nothing here
        """Check all rows."""
        return self.checker.find(self.prepared)


class Beyond(msgspec.Struct, frozen=True, eq=False):
    """Files that do not fit."""

    checker: Checker
    portions: Portions
    limit: str | None
    progress: Progress

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.portions.files.n_rows

    def read(self) -> Iterator[tuple[Table, Table]]:
        """Read all rows with all columns; changes go on from portion to portion."""
        names, before, done = {*self.portions.opening.table.names}, None, 0
        n_rows = self.portions.rows_at_once(len(names), self.limit)
        for table in self.portions.read(names, n_rows):
            prepared = self.checker.prepare(table, before)
            before = self.checker.pass_by(prepared, before)
            done += table.n_rows
            self.progress("reading", done, self.n_rows)
            yield table, prepared

    def find(self, *, patterns: bool) -> Findings:
        """Check all rows, portion by portion."""

        def taken(prepared: Table, found: Found, before: Following | None) -> None:
            """Keep nothing of a portion."""

        gathering = Check(self.checker, self.n_rows, patterns=patterns)
        return self.portions.gather(gathering, self.limit, self.progress, taken)


def hold(
    screen: Screen,
    progress: Progress,
    checker: Checker,
    sources: Sequence[str],
    said: Asked,
    limit: str | None,
    *,
    allow_missing: bool,
    whole: Sequence[str] = (),
) -> Whole | Beyond:
    """Hold the rows of some files, or be ready to read them again and again.

    Parameters
    ----------
    screen, progress
        Where to say what is odd, and how far it is.
    checker
        The model.
    sources, said
        Paths, folders and patterns, and how they are to be read.
    limit
        How much memory may be used.
    allow_missing
        Whether columns may be absent.
    whole
        What needs all rows at once, and is refused for files that do not fit.

    """
    files = open_beyond(sources, said, checker.model.reading, limit, whole)
    if files is None:
        found = read_for(screen, checker, sources, said, allow_missing=allow_missing)
        return Whole(found.checker, found.table, found.checker.prepare(found.table))
    portions = Portions(screen, files, said, checker.model.reading)
    fitted = fit(screen, checker, portions.opening, said, allow_missing=allow_missing)
    return Beyond(fitted.checker, portions, limit, progress)
