"""Notices about the texts of cells: words among numbers, signs, units, and times in their many forms."""

import msgspec

from truism.errors import shorten
from truism.table.notices import ColumnNotice, Notice, rows, times


class WordCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text and how many rows hold it."""

    word: str
    count: int

    def __str__(self) -> str:
        return f"{self.word!r} ({times(self.count)})"


class WordsAsMissing(ColumnNotice, frozen=True, forbid_unknown_fields=True):
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


class StaysText(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """A column in which numbers and other texts are mixed, and that is read as states."""

    n_numbers: int
    words: tuple[WordCount, ...]

    DOUBTFUL = True
    SEE = ("missing",)

    def __str__(self) -> str:
        return (
            f"Column {self.column!r} is read as text: it holds {rows(self.n_numbers)} with "
            f"numbers, and also {_list(self.words)}."
        )


class MixedDecimals(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """A few values with the other decimal sign."""

    usual: str
    count: int
    example: str

    DOUBTFUL = True
    SEE = ("decimal",)

    def __str__(self) -> str:
        usual, other = ("points", "comma") if self.usual == "." else ("commas", "point")
        has = "has" if self.count == 1 else "have"
        return (
            f"Numbers are written with decimal {usual}, but in column {self.column!r} "
            f"{rows(self.count)} {has} a decimal {other}, for instance {self.example!r}."
        )


class GroupedDigits(ColumnNotice, frozen=True, forbid_unknown_fields=True):
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


class LimitsAsValues(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """Values such as ``<0.01``, read as the limit."""

    count: int
    example: str

    def __str__(self) -> str:
        return (
            f"In column {self.column!r} {rows(self.count)} {'holds' if self.count == 1 else 'hold'} "
            f"a limit such as {self.example!r}, which is read as that number."
        )


class UnitInCells(ColumnNotice, frozen=True, forbid_unknown_fields=True):
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
            text += f", but {rows(self.n_without)} {without} no unit"
        return f"{text}."


class MayBeMissing(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """A number such as -9999 that is read as a number, but may stand for a missing value."""

    value: str
    count: int

    DOUBTFUL = True
    SEE = ("missing",)

    def __str__(self) -> str:
        return (
            f"Column {self.column!r} holds {self.value} {times(self.count)}, far from all its other "
            f"values; if it stands for a missing value, say so as the file writes it."
        )


class TimesRead(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """A column of numbers or texts that was read as times."""

    style: str
    example: str
    first: str

    SEE = ("time_format",)

    def __str__(self) -> str:
        return (
            f"Column {self.column!r} is read as times ({self.style}): "
            f"{self.example!r} is {self.first}."
        )


class DayOrMonth(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """Dates in which nothing shows whether the day or the month comes first."""

    example: str
    taken: str

    DOUBTFUL = True
    SEE = ("time_format",)

    def __str__(self) -> str:
        return (
            f"In column {self.column!r} nothing shows whether the day or the month comes first, for "
            f"instance in {self.example!r}; the {self.taken.partition(' ')[0]} is taken to come first."
        )


class TimesJoined(Notice, frozen=True, forbid_unknown_fields=True):
    """Two columns that together give the time."""

    parts: tuple[str, ...]
    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name,)

    def __str__(self) -> str:
        return f"Columns {shorten(self.parts)} are read as one column of times, {self.name!r}."


class TimesInTwoColumns(Notice, frozen=True, forbid_unknown_fields=True):
    """A column of dates and one of times of day that are read separately."""

    parts: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.parts

    SEE = ("time",)

    def __str__(self) -> str:
        return (
            f"Columns {shorten(self.parts)} may together give the time ({','.join(self.parts)}); they "
            "are read separately."
        )


class TimesUnsorted(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """Times that run backwards."""

    count: int
    row: int

    def __str__(self) -> str:
        return (
            f"Times in column {self.column!r} run backwards {times(self.count)}, first in row "
            f"{self.row:,}; rows stay in the order of the table."
        )


class TimesDoubled(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """Times that occur more than once."""

    count: int
    row: int

    def __str__(self) -> str:
        have = "has" if self.count == 1 else "have"
        return (
            f"In column {self.column!r} {rows(self.count)} {have} the time of the row before, "
            f"first row {self.row:,}."
        )


class HourRepeated(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """An hour that occurs twice, as when summer time ends."""

    row: int
    time: str

    SEE = ("zone",)

    def __str__(self) -> str:
        return (
            f"Times in column {self.column!r} go back by an hour in row {self.row:,} ({self.time}), "
            f"as when summer time ends."
        )


class HourUndecided(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """Rows in the hour that a clock change repeats, which may be of either pass."""

    count: int
    row: int
    time: str

    DOUBTFUL = True

    def __str__(self) -> str:
        lie, are = ("lies", "is") if self.count == 1 else ("lie", "are")
        return (
            f"In column {self.column!r} {rows(self.count)} {lie} in the hour that a clock change "
            f"repeats, first row {self.row:,} ({self.time}), and {are} taken to be from before the "
            "change: no row around them says which. Times in UTC are never in doubt."
        )


class SeveralZones(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """Times with different offsets from UTC."""

    zones: tuple[str, ...]
    shown: str

    SEE = ("zone",)

    def __str__(self) -> str:
        return (
            f"Times in column {self.column!r} are of several zones ({', '.join(self.zones[:5])}); "
            f"they are shown in {self.shown}."
        )


class Converted(ColumnNotice, frozen=True, forbid_unknown_fields=True):
    """A column whose type differs from the one that was learned, without loss."""

    found: str
    wanted: str

    def __str__(self) -> str:
        return f"Column {self.column!r} holds {self.found}; it is read as {self.wanted}, as in training."


def _list(words: tuple[WordCount, ...], most: int = 5) -> str:
    shown = ", ".join(str(word) for word in words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most} more"


def _are(words: tuple[WordCount, ...]) -> str:
    return "is" if len(words) == 1 else "are"
