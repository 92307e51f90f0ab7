"""Notices about files: what surrounds a table, and which part of a file was read."""

from truism.errors import shorten
from truism.table.notices import Notice

WINDOWS = "windows-1252"


class FirstRows(Notice, frozen=True, forbid_unknown_fields=True):
    """Files of which only the first rows were looked at."""

    count: int
    of: int

    def __str__(self) -> str:
        return f"only the first {self.count:,} of {self.of:,} rows are looked at."


class UnitRow(Notice, frozen=True, forbid_unknown_fields=True):
    """A row of units below the names."""

    source: str
    units: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source}: the row below the names holds units ({shorten(self.units)})."


class LinesBeforeNames(Notice, frozen=True, forbid_unknown_fields=True):
    """Lines before the names that are no part of the table."""

    source: str
    count: int
    first: str

    def __str__(self) -> str:
        lines = "1 line" if self.count == 1 else f"{self.count} lines"
        return f"{self.source}: {lines} before the names left out, beginning with {self.first!r}."


class ColumnWithoutName(Notice, frozen=True, forbid_unknown_fields=True):
    """An empty last column, as a delimiter at the end of each line makes it."""

    source: str

    def __str__(self) -> str:
        return (
            f"{self.source}: every line ends with a delimiter; the empty last column is left out."
        )


class OtherDelimiter(Notice, frozen=True, forbid_unknown_fields=True):
    """A file with another delimiter than the files before it."""

    source: str
    found: str
    learned: str

    def __str__(self) -> str:
        return (
            f"{self.source} has the delimiter {self.found!r}; earlier files had {self.learned!r}."
        )


class WindowsText(Notice, frozen=True, forbid_unknown_fields=True):
    """A file that is not UTF-8, and is taken for what western programs on Windows write."""

    source: str
    example: str

    DOUBTFUL = True
    SEE = ("encoding",)

    def __str__(self) -> str:
        return (
            f"{self.source} is not UTF-8; it is read as {WINDOWS}, in which a part of it is "
            f"{self.example!r}."
        )


class OneColumnOfText(Notice, frozen=True, forbid_unknown_fields=True):
    """A file that no delimiter divides, though its lines hold several values."""

    source: str
    looks: str
    example: str

    DOUBTFUL = True
    SEE = ("delimiter",)

    def __str__(self) -> str:
        return (
            f"{self.source} is read as one column of text, but looks like {self.looks}, for instance "
            f"{self.example!r}; say what divides its values, or convert it to CSV."
        )


class NoRows(Notice, frozen=True, forbid_unknown_fields=True):
    """A file that adds nothing."""

    source: str

    def __str__(self) -> str:
        return f"{self.source} has no rows."


class PartChosen(Notice, frozen=True, forbid_unknown_fields=True):
    """One of several sheets or tables in a file."""

    source: str
    chosen: str
    others: tuple[str, ...]
    what: str = "sheet"

    @property
    def see(self) -> tuple[str, ...]:
        return (self.what,)

    def __str__(self) -> str:
        return f"{self.source}: {self.what} {self.chosen!r} is read, not {shorten(self.others)}."


class TagsPivoted(Notice, frozen=True, forbid_unknown_fields=True):
    """A table of single values that became one with a column for each tag."""

    n_values: int
    n_tags: int
    every: str
    n_rows: int

    def __str__(self) -> str:
        return (
            f"{self.n_values:,} values of {self.n_tags:,} tags are read as {self.n_rows:,} rows, one "
            f"every {self.every}, in which each tag holds its last value."
        )


class LooksLong(Notice, frozen=True, forbid_unknown_fields=True):
    """A table that seems to hold one value per row."""

    parts: tuple[str, ...]

    DOUBTFUL = True

    @property
    def columns(self) -> tuple[str, ...]:
        return self.parts

    SEE = ("every",)

    def __str__(self) -> str:
        return (
            f"Columns {shorten(self.parts)} look like one value per row; to make a column of each "
            f"tag, choose the time between rows."
        )
