"""What there is to say about how a table was read: values, each with its sentence.

A notice is *doubtful* where the reading may be wrong; faces show those loudly, and who wants no doubts
turns them into errors with `refuse_doubts`. Like errors, notices name settings (`see`), not options.
"""

from collections.abc import Iterable

import msgspec

from truism.errors import TableError, shorten


class _Said(msgspec.Struct, frozen=True, tag=True, forbid_unknown_fields=True):
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


class _OfColumn(_Said, frozen=True, forbid_unknown_fields=True):
    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)


class WordCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text and how many rows hold it."""

    word: str
    count: int

    def __str__(self) -> str:
        return f"{self.word!r} ({_times(self.count)})"


class WordsAsMissing(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """Words in a column of numbers or times that are taken as missing values."""

    words: tuple[WordCount, ...]
    known: bool
    row: int
    holds: str = "numbers"

    @property
    def doubtful(self) -> bool:
        return not self.known

    @property
    def see(self) -> tuple[str, ...]:
        return () if self.known else ("categorical", "missing")

    def __str__(self) -> str:
        return (
            f"Column {self.column!r} holds {self.holds}; {_list(self.words)} "
            f"{_are(self.words)} taken as missing, first in row {self.row:,}."
        )


class StaysText(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """A column in which numbers and other texts are mixed, and that is read as states."""

    n_numbers: int
    words: tuple[WordCount, ...]

    @property
    def doubtful(self) -> bool:
        return True

    @property
    def see(self) -> tuple[str, ...]:
        return ("missing",)

    def __str__(self) -> str:
        return (
            f"Column {self.column!r} is read as text: it holds {_rows(self.n_numbers)} with "
            f"numbers, and also {_list(self.words)}."
        )


class MixedDecimals(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """A few values with the other decimal sign."""

    usual: str
    count: int
    example: str

    @property
    def doubtful(self) -> bool:
        return True

    @property
    def see(self) -> tuple[str, ...]:
        return ("decimal",)

    def __str__(self) -> str:
        usual, other = ("points", "comma") if self.usual == "." else ("commas", "point")
        has = "has" if self.count == 1 else "have"
        return (
            f"Column {self.column!r} is written with decimal {usual}, but {_rows(self.count)} {has} "
            f"a decimal {other}, for instance {self.example!r}."
        )


class GroupedDigits(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """Numbers whose digits are grouped by thousands."""

    sign: str
    example: str
    unsure: bool

    @property
    def doubtful(self) -> bool:
        return self.unsure

    @property
    def see(self) -> tuple[str, ...]:
        return ("decimal",) if self.unsure else ()

    def __str__(self) -> str:
        name = {",": "commas", ".": "points", " ": "blanks", "'": "apostrophes"}[self.sign]
        doubt = ", though they may be decimal signs," if self.unsure else ","
        return (
            f"{name.capitalize()} in column {self.column!r} are taken to group thousands{doubt} "
            f"for instance in {self.example!r}."
        )


class LimitsAsValues(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """Values such as ``<0.01``, read as the limit."""

    count: int
    example: str

    def __str__(self) -> str:
        return (
            f"In column {self.column!r} {_rows(self.count)} {'holds' if self.count == 1 else 'hold'} "
            f"a limit such as {self.example!r}, which is read as that number."
        )


class UnitInCells(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """Numbers written with a unit, such as ``45 %``."""

    unit: str
    n_without: int

    @property
    def doubtful(self) -> bool:
        return self.n_without > 0

    def __str__(self) -> str:
        text = f"Column {self.column!r} is written with the unit {self.unit!r}, which is taken off"
        if self.n_without:
            without = "has" if self.n_without == 1 else "have"
            text += f", but {_rows(self.n_without)} {without} no unit"
        return f"{text}."


class UnitRow(_Said, frozen=True, forbid_unknown_fields=True):
    """A row of units below the names."""

    source: str
    units: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.source}: the row below the names holds units ({shorten(self.units)})."


class LinesBeforeNames(_Said, frozen=True, forbid_unknown_fields=True):
    """Lines before the names that are no part of the table."""

    source: str
    count: int
    first: str

    def __str__(self) -> str:
        lines = "1 line" if self.count == 1 else f"{self.count} lines"
        return f"{self.source}: {lines} before the names left out, beginning with {self.first!r}."


class ColumnWithoutName(_Said, frozen=True, forbid_unknown_fields=True):
    """An empty last column, as a delimiter at the end of each line makes it."""

    source: str

    def __str__(self) -> str:
        return (
            f"{self.source}: every line ends with a delimiter; the empty last column is left out."
        )


class OtherDelimiter(_Said, frozen=True, forbid_unknown_fields=True):
    """A file that is divided otherwise than the files before it."""

    source: str
    found: str
    learned: str

    def __str__(self) -> str:
        return (
            f"{self.source} is divided by {self.found!r}, earlier files were by {self.learned!r}."
        )


class NoRows(_Said, frozen=True, forbid_unknown_fields=True):
    """A file that adds nothing."""

    source: str

    def __str__(self) -> str:
        return f"{self.source} has no rows."


class PartChosen(_Said, frozen=True, forbid_unknown_fields=True):
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


class TimesRead(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """A column of numbers or texts that was read as times."""

    style: str
    example: str
    first: str

    @property
    def see(self) -> tuple[str, ...]:
        return ("time_format",)

    def __str__(self) -> str:
        return (
            f"Column {self.column!r} is read as times ({self.style}): "
            f"{self.example!r} is {self.first}."
        )


class DayOrMonth(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """Dates of which nothing says whether the day or the month comes first."""

    example: str
    taken: str

    @property
    def doubtful(self) -> bool:
        return True

    @property
    def see(self) -> tuple[str, ...]:
        return ("time_format",)

    def __str__(self) -> str:
        return (
            f"Column {self.column!r} does not tell whether the day or the month comes first, for "
            f"instance in {self.example!r}; the {self.taken.partition(' ')[0]} is taken to."
        )


class TimesJoined(_Said, frozen=True, forbid_unknown_fields=True):
    """Two columns that together say when."""

    parts: tuple[str, ...]
    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name,)

    def __str__(self) -> str:
        return f"Columns {shorten(self.parts)} are read as one column of times, {self.name!r}."


class TimesInTwoColumns(_Said, frozen=True, forbid_unknown_fields=True):
    """A column of dates and one of times of day that are read apart."""

    parts: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.parts

    @property
    def see(self) -> tuple[str, ...]:
        return ("time",)

    def __str__(self) -> str:
        return f"Columns {shorten(self.parts)} may together say when; they are read apart."


class TimesUnsorted(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """Times that run backwards."""

    count: int
    row: int

    def __str__(self) -> str:
        return (
            f"Times in column {self.column!r} run backwards {_times(self.count)}, first in row "
            f"{self.row:,}; rows stay in the order of the table."
        )


class TimesDoubled(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """Times that occur more than once."""

    count: int
    row: int

    def __str__(self) -> str:
        have = "has" if self.count == 1 else "have"
        return (
            f"In column {self.column!r} {_rows(self.count)} {have} the time of the row before, "
            f"first row {self.row:,}."
        )


class HourRepeated(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """An hour that occurs twice, as when summer time ends."""

    row: int
    time: str

    @property
    def see(self) -> tuple[str, ...]:
        return ("zone",)

    def __str__(self) -> str:
        return (
            f"Times in column {self.column!r} go back by an hour in row {self.row:,} ({self.time}), "
            f"as when summer time ends."
        )


class SeveralZones(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """Times with different offsets from UTC."""

    zones: tuple[str, ...]
    shown: str

    @property
    def see(self) -> tuple[str, ...]:
        return ("zone",)

    def __str__(self) -> str:
        return (
            f"Times in column {self.column!r} are of several zones ({', '.join(self.zones[:5])}); "
            f"they are shown in {self.shown}."
        )


class Converted(_OfColumn, frozen=True, forbid_unknown_fields=True):
    """A column whose type differs from the one that was learned, without loss."""

    found: str
    wanted: str

    def __str__(self) -> str:
        return (
            f"Column {self.column!r} holds {self.found}; read as {self.wanted}, as when learning."
        )


class TagsPivoted(_Said, frozen=True, forbid_unknown_fields=True):
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


class LooksLong(_Said, frozen=True, forbid_unknown_fields=True):
    """A table that seems to hold one value a row."""

    parts: tuple[str, ...]

    @property
    def doubtful(self) -> bool:
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        return self.parts

    @property
    def see(self) -> tuple[str, ...]:
        return ("every",)

    def __str__(self) -> str:
        return (
            f"Columns {shorten(self.parts)} look like one value a row; to make a column of each tag, "
            f"say how often a row is wanted."
        )


Notice = (
    WordsAsMissing
    | StaysText
    | MixedDecimals
    | GroupedDigits
    | LimitsAsValues
    | UnitInCells
    | UnitRow
    | LinesBeforeNames
    | ColumnWithoutName
    | OtherDelimiter
    | NoRows
    | PartChosen
    | TimesRead
    | DayOrMonth
    | TimesJoined
    | TimesInTwoColumns
    | TimesUnsorted
    | TimesDoubled
    | HourRepeated
    | SeveralZones
    | Converted
    | TagsPivoted
    | LooksLong
)


def refuse_doubts(notices: Iterable[Notice]) -> None:
    """Raise an error for the first notice that is doubtful."""
    for notice in notices:
        if notice.doubtful:
            raise TableError(str(notice), see=notice.see)


def _list(words: tuple[WordCount, ...], most: int = 5) -> str:
    shown = ", ".join(str(word) for word in words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def _are(words: tuple[WordCount, ...]) -> str:
    return "is" if len(words) == 1 else "are"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
