"""The texts of a column read as numbers or times, with notices about how.

These are the steps that `truism.table.cells.interpreting`, which decides what a column holds, and
`truism.table.cells.conforming`, which follows an earlier decision, have in common.
"""

from collections.abc import Collection, Iterator
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Mask
from truism.table.cells.kinds import kind_of
from truism.table.cells.numerals import Numbers
from truism.table.cells.timelines import in_zone
from truism.table.cells.times import (
    Timing,
    column_of_epochs,
    column_of_times,
    texts_of,
    zones_of,
)
from truism.table.cells.words import is_status, says_time
from truism.table.columns import Column
from truism.table.layouts import ColumnReading, Layout
from truism.table.notices import (
    Notice,
    WordCount,
    day_or_month,
    grouped_digits,
    limits_as_values,
    mixed_decimals,
    several_zones,
    times_read,
    unit_in_cells,
    words_as_missing,
)

MAX_STATES = 5  # with no more distinct numbers, numbers beside words are states
MAX_WORDS = 5  # more distinct words, none of them known, are not a few
MAX_CODES = 50  # so many whole numbers beside words such as A7 may be codes


class BadCell(Exception):  # noqa: N818 - it is turned into an error where files are known
    """A value that is not what the column held when it was learned."""

    def __init__(self, column: str, row: int, value: str, wanted: str) -> None:
        super().__init__(f"{column}: {value}")
        self.column, self.row, self.value, self.wanted = column, row, value, wanted


class Interpreted(msgspec.Struct, frozen=True, eq=False):
    """A column, how it was read, and notices about that."""

    column: Column
    reading: ColumnReading
    notices: tuple[Notice, ...] = ()


def may_hold_numbers(name: str, layout: Layout, known: ColumnReading | None) -> bool:
    """Return whether a column of texts may be read as numbers, by its name and what is known of it."""
    if name in (*layout.states, *layout.time) or says_time(name):
        return False
    return known is None or known.kind == "number"


class Texts(msgspec.Struct, frozen=True, eq=False):
    """A text column with the texts that occur and in how many rows each does."""

    column: Column
    used: NDArray[np.int64]
    counts: NDArray[np.int64]
    distinct: list[str]

    @classmethod
    def of(cls, column: Column) -> "Texts":
        """Count the texts of a column."""
        counts = np.bincount(column.present, minlength=len(column.categories))
        used = np.flatnonzero(counts)
        return cls(column, used, counts[used], texts_of(column, used))

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    def words(self, mask: Mask) -> tuple[WordCount, ...]:
        """Return the texts of a mask, the most frequent first."""
        rows = np.flatnonzero(mask)
        pairs = sorted((-int(self.counts[row]), self.distinct[row]) for row in rows)
        return tuple(WordCount(word, -count) for count, word in pairs)

    def count(self, mask: Mask) -> int:
        """Return how many rows hold a text of a mask."""
        return int(self.counts[mask].sum())

    def first_row(self, mask: Mask) -> int:
        """Return the first row that holds a text of a mask."""
        wanted = np.zeros(max(len(self.column.categories), 1), bool)
        wanted[self.used[mask]] = True
        hits = wanted[self.column.values]
        if self.column.missing is not None:
            hits &= ~self.column.missing
        return int(hits.argmax())

    def example(self, mask: Mask) -> str:
        """Return the first text of a mask."""
        return self.distinct[int(mask.argmax())]


def told_times(
    column: Column, style: str, layout: Layout, known: ColumnReading | None = None
) -> Interpreted:
    """Read numbers as times, and say so."""
    times = column_of_epochs(column, style)
    reading = known or ColumnReading(column.name, "time", style=style)
    notices: tuple[Notice, ...] = ()
    if known is None and len(column.present):
        row = 0 if column.missing is None else int((~column.missing).argmax())
        shown = str(times.cell(row))
        notices = (times_read(column.name, style, str(column.cell(row)), shown),)
    return zoned(times, reading, notices, layout)


def zoned(
    column: Column, reading: ColumnReading, notices: tuple[Notice, ...], layout: Layout
) -> Interpreted:
    """Return a column of times in the zone that was asked for."""
    if layout.zone is not None and reading.kind == "time":
        column, doubts = in_zone(column, layout.zone)
        notices = (*notices, *doubts)
    return Interpreted(column, reading, notices)


def as_times(
    texts: Texts,
    timing: Timing,
    layout: Layout,
    known: Collection[str] = (),
    *,
    strict: bool = False,
    again: bool = False,
) -> Interpreted | None:
    """Read texts as times; None where too many are not, unless that was looked at."""
    column = texts.column
    fine = timing.instants.known
    words = [texts.distinct[i] for i in np.flatnonzero(~fine)]
    if words and not strict and not are_few(words, int(fine.sum()), False):
        return None
    times = column_of_times(column, timing)
    kind = kind_of(times)
    reading = ColumnReading(
        column.name, kind, words=tuple(sorted({*words, *known})), style=timing.style
    )
    notices = [*_time_notices(texts, timing, times, again, layout)]
    if words:
        notices.append(
            words_as_missing(
                column.name,
                texts.words(~fine),
                all(is_status(word) or word in known for word in words),
                texts.first_row(~fine),
                "times",
            )
        )
    return zoned(times, reading, tuple(notices), layout)


def _time_notices(
    texts: Texts, timing: Timing, times: Column, again: bool, layout: Layout
) -> Iterator[Notice]:
    name, fine = texts.column.name, timing.instants.known
    if timing.style in ("day first", "month first") and not again:
        example = texts.example(fine)
        if timing.undecided:
            yield day_or_month(name, example, timing.style)
        elif times.kind == "time":
            first = times.cell(texts.first_row(_only(fine)))
            yield times_read(name, timing.style, example, str(first))
    zones = zones_of(timing)
    if len(zones) > 1 and timing.style != "clock":
        yield several_zones(name, zones, layout.zone or "UTC")


def _only(mask: Mask) -> Mask:
    """Return a mask with its first entry only."""
    first = np.zeros_like(mask)
    first[int(mask.argmax())] = True
    return first


def are_few(words: Collection[str], n_values: int, whole: bool) -> bool:
    """Return whether words beside `n_values` distinct numbers or times stand for missing ones."""
    if n_values <= MAX_STATES:
        return False
    strange = [word for word in words if not is_status(word)]
    if whole and n_values <= MAX_CODES and any(_is_code(word) for word in strange):
        return False
    return len(strange) <= MAX_WORDS


def _is_code(word: str) -> bool:
    """Return whether a word looks like the numbers beside it, as A7 does beside 12."""
    return any(letter.isdigit() for letter in word)


def column_of_numbers(texts: Texts, numbers: Numbers) -> Column:
    """Return a text column as numbers; other texts become missing values."""
    column = texts.column
    values = np.zeros(max(len(column.categories), 1), numbers.values.dtype)
    values[texts.used] = numbers.values
    known = np.zeros(len(values), bool)
    known[texts.used] = numbers.known
    missing = ~known[column.values]
    if column.missing is not None:
        missing |= column.missing
    filled = values[column.values]
    if missing.any() and filled.dtype.kind == "f":
        filled[missing] = np.nan
    return Column(column.name, "number", filled, missing if missing.any() else None)


class Counted(Protocol):
    """The texts of a column, distinct ones or row by row; masks have one entry for each."""

    @property
    def name(self) -> str:
        """The column's name."""

    def words(self, mask: Mask) -> tuple[WordCount, ...]:
        """Return the distinct texts of a mask, the most frequent first."""

    def count(self, mask: Mask) -> int:
        """Return how many rows hold a text of a mask."""

    def first_row(self, mask: Mask) -> int:
        """Return the first row that holds a text of a mask."""

    def example(self, mask: Mask) -> str:
        """Return the first text of a mask."""


def number_notices(texts: Counted, numbers: Numbers, known: Collection[str]) -> Iterator[Notice]:
    """Yield notices about texts that are read as numbers."""
    name = texts.name
    if numbers.strays.any():
        assert numbers.decimal is not None
        strays = numbers.strays
        yield mixed_decimals(name, numbers.decimal, texts.count(strays), texts.example(strays))
    for sign, mask in numbers.grouped.items():
        unsure = mask & numbers.unsure
        example = texts.example(unsure if unsure.any() else mask)
        yield grouped_digits(name, sign, example, bool(unsure.any()))
    if numbers.limits.any():
        yield limits_as_values(name, texts.count(numbers.limits), texts.example(numbers.limits))
    if numbers.unit is not None:
        without = numbers.known & ~numbers.with_unit
        yield unit_in_cells(name, numbers.unit, texts.count(without))
    if not numbers.known.all():
        words = texts.words(~numbers.known)
        sure = all(is_status(each.word) or each.word in known for each in words)
        yield words_as_missing(name, words, sure, texts.first_row(~numbers.known))


_WANTED = {
    "number": "a number",
    "boolean": "true or false",
    "time": "a time",
    "clock": "a time of day",
    "text": "text",
}


def bad_value(column: Column, known: ColumnReading) -> BadCell:
    """Return the first value of a column that holds values of the wrong kind."""
    row = 0 if column.missing is None else int((~column.missing).argmax())
    return BadCell(column.name, row, str(column.cell(row)), _WANTED[known.kind])


def bad_text(texts: Texts, mask: Mask, known: ColumnReading) -> BadCell:
    """Return the first of the texts that are not what the column held."""
    row = texts.first_row(mask)
    return BadCell(texts.column.name, row, str(texts.column.cell(row)), _WANTED[known.kind])
