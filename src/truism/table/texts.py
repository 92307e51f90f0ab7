"""What the texts of a column mean: numbers, times, booleans, states or nothing, with notices about how.

`interpret` decides it from the values when a table is learned; `conform` follows an earlier decision, and
a value that cannot be read that way raises a `BadCell` that names it.
"""

import re
from collections.abc import Collection, Iterator
from typing import Protocol

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from truism.arrays import Mask
from truism.errors import SchemaError
from truism.table.columns import NOUNS, Column, Table, kind_of, truths_of
from truism.table.columns import renamed as with_names
from truism.table.layouts import ColumnReading, Layout, Reading, renamed
from truism.table.notices import (
    Notice,
    WordCount,
    column_converted,
    day_or_month,
    grouped_digits,
    limits_as_values,
    may_be_missing,
    mixed_decimals,
    several_zones,
    stays_text,
    times_read,
    unit_in_cells,
    words_as_missing,
)
from truism.table.numerals import Numbers, read_numbers
from truism.table.timelines import in_zone
from truism.table.times import (
    Timing,
    column_of_epochs,
    column_of_times,
    find_epoch,
    find_times,
    join_times,
    texts_of,
    zones_of,
)
from truism.table.words import is_status, says_time

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


def interpret(column: Column, layout: Layout, unit: str | None = None) -> Interpreted:
    """Decide what a column holds.

    Parameters
    ----------
    column
        Any column; texts and numbers are looked at more closely.
    layout
        What was asked for: decimal sign, formats and zone of times, columns that stay as they are.
    unit
        From a row of units.

    """
    found = _interpreted(column, layout, unit)
    truths = truths_of(found.column)
    if truths is None:
        return found
    return msgspec.structs.replace(
        found, reading=msgspec.structs.replace(found.reading, truths=truths)
    )


def _interpreted(column: Column, layout: Layout, unit: str | None) -> Interpreted:
    if column.name in layout.states or column.kind not in ("text", "number", "time"):
        return Interpreted(column, ColumnReading(column.name, kind_of(column), unit))
    said = layout.time_format if column.name in layout.time else None
    if column.kind == "number":
        style = said or find_epoch(column)
        if style is None:
            return Interpreted(column, ColumnReading(column.name, "number", unit))
        return told_times(column, style, layout)
    if column.kind == "time":
        return zoned(column, ColumnReading(column.name, kind_of(column), unit), (), layout)
    texts = Texts.of(column)
    timing = find_times(column, said)
    if timing is not None:
        found = as_times(texts, timing, layout)
        if found is not None:
            return found
    numbers = read_numbers(pa.array(texts.distinct), layout.decimal)
    if numbers.known.any():
        return _as_numbers(texts, numbers, unit)
    return Interpreted(column, ColumnReading(column.name, "text", unit))


def interpret_times(column: Column, layout: Layout) -> Interpreted:
    """Read the column that was named as the time column.

    Raises
    ------
    BadCell
        For the first value that is neither a time nor a word for a missing value.

    """
    if column.kind != "text":
        found = interpret(column, layout)
        if found.reading.kind != "time":
            raise bad_value(column, ColumnReading(column.name, "time"))
        return found
    texts = Texts.of(column)
    timing = find_times(column, layout.time_format)
    fine = np.zeros(len(texts.distinct), bool) if timing is None else timing.instants.known
    strange = [
        not good and not is_status(text) for text, good in zip(texts.distinct, fine, strict=True)
    ]
    if timing is None or any(strange):
        bad = np.array(strange, bool) if any(strange) else ~fine
        raise bad_text(texts, bad, ColumnReading(column.name, "time"))
    again = layout.time_format is not None
    times = as_times(texts, timing, layout, strict=True, again=again)
    assert times is not None
    return times


def _as_numbers(texts: Texts, numbers: Numbers, unit: str | None) -> Interpreted:
    """Read texts as numbers where only a few are not."""
    column = texts.column
    words = [texts.distinct[i] for i in np.flatnonzero(~numbers.known)]
    found = np.unique(numbers.values[numbers.known])
    whole = numbers.decimal is None and bool((found == np.floor(found)).all())
    if words and not are_few(words, len(found), whole):
        notices: tuple[Notice, ...] = ()
        n_numbers = texts.count(numbers.known)
        if len(found) > MAX_STATES and 2 * n_numbers >= int(texts.counts.sum()):
            notices = (stays_text(column.name, n_numbers, texts.words(~numbers.known)),)
        return Interpreted(column, ColumnReading(column.name, "text", unit), notices)
    if numbers.unit is not None and len(found) <= MAX_STATES and numbers.unit not in "%‰":
        return Interpreted(column, ColumnReading(column.name, "text", unit))
    reading = ColumnReading(
        column.name,
        "number",
        unit or numbers.unit,
        tuple(sorted(words)),
        decimal=numbers.decimal,
        thousands=next(iter(numbers.grouped), None),
    )
    notices = tuple(number_notices(texts, numbers, ()))
    return Interpreted(column_of_numbers(texts, numbers), reading, notices)


def conform(column: Column, known: ColumnReading, layout: Layout) -> Interpreted:
    """Read a column as it was read when it was learned.

    Raises
    ------
    BadCell
        Where a value does not allow it.

    """
    if not len(column.values):
        return Interpreted(without_rows(known), known)
    found = kind_of(column)
    if found == known.kind or known.kind in ("empty", "other") or found in ("empty", "other"):
        if found == "time":
            return zoned(column, known, (), layout)
        return Interpreted(column, known)
    if found == "number" and known.kind == "time":
        if known.style is None:
            raise bad_value(column, known)
        return told_times(column, known.style, layout, known)
    if found == "text":
        return _conform_text(Texts.of(column), known, layout)
    return _conform_typed(column, known)


def conform_table(table: Table, reading: Reading) -> tuple[Table, tuple[Notice, ...]]:
    """Read the columns of a table that already has types, such as a dataframe, as they were learned.

    Returns
    -------
    table
        With columns converted where that is exact.
    notices
        What there is to say about it.

    """
    known = reading.column_of()
    columns: list[Column] = []
    notices: list[Notice] = []
    try:
        table = _with_joined_times(_renamed(table, reading.layout), reading)
        for column in table.columns:
            wanted = known.get(column.name)
            if wanted is None or column.fault is not None or kind_of(column) == wanted.kind:
                columns.append(column)
                continue
            found = conform(column, wanted, reading.layout)
            columns.append(msgspec.structs.replace(found.column, index=column.index))
            notices += found.notices
    except BadCell as cell:
        raise SchemaError(
            f"Column {cell.column!r} must hold {cell.wanted} in row {cell.row}, got {cell.value!r}.",
            "convert the column, or learn the model again.",
        ) from None
    return Table(tuple(columns), table.n_rows), tuple(notices)


def _renamed(table: Table, layout: Layout) -> Table:
    return with_names(table, renamed(table.names, layout)) if layout.renames else table


def _with_joined_times(table: Table, reading: Reading) -> Table:
    """Put two columns that say when together into one, as was done when learning."""
    layout, axis = reading.layout, reading.axis
    known, column_of = reading.column_of().get(axis or ""), table.column_of()
    if len(layout.time) != 2 or known is None or axis is None or axis in column_of:
        return table
    if not {*layout.time} <= {*column_of}:
        return table
    first, second = layout.time
    date = conform(column_of[first], msgspec.structs.replace(known, name=first), Layout())
    clock = conform(column_of[second], ColumnReading(second, "clock"), Layout())
    times = join_times(axis, date.column, clock.column)
    if times is None:
        return table
    joined = zoned(times, known, (), layout).column
    columns = (joined if each.name == first else each for each in table.columns)
    return Table(tuple(each for each in columns if each.name != second), table.n_rows)


def without_rows(known: ColumnReading) -> Column:
    """Return a column of a known kind that has no rows."""
    match known.kind:
        case "text":
            return Column(known.name, "text", np.zeros(0, np.int32))
        case "boolean":
            return Column(known.name, "boolean", np.zeros(0, bool))
        case "time":
            return Column(known.name, "time", np.zeros(0, "datetime64[us]"))
        case "clock":
            return Column(known.name, "time", np.zeros(0, np.int64))
        case "number":
            return Column(known.name, "number", np.zeros(0))
    return Column(known.name, "empty", np.zeros(0), np.ones(0, bool))


def _conform_text(texts: Texts, known: ColumnReading, layout: Layout) -> Interpreted:
    """Read texts as the numbers, times or booleans that they were when learned."""
    column = texts.column
    if known.kind in ("time", "clock"):
        timing = find_times(column, known.style or ("clock" if known.kind == "clock" else None))
        if timing is None:
            raise bad_text(texts, np.ones(len(texts.distinct), bool), known)
        _check_words(texts, timing.instants.known, known)
        found = as_times(texts, timing, layout, known.words, strict=True, again=True)
        assert found is not None
        return msgspec.structs.replace(found, reading=known)
    if known.kind == "boolean":
        return _conform_booleans(texts, known)
    numbers = read_numbers(
        pa.array(texts.distinct), known.decimal or layout.decimal, known.thousands
    )
    _check_words(texts, numbers.known, known)
    notices = tuple(number_notices(texts, numbers, known.words))
    return Interpreted(column_of_numbers(texts, numbers), known, notices)


def _check_words(texts: Texts, fine: Mask, known: ColumnReading) -> None:
    """Refuse a column with more than a few unknown words, or with more of them than values."""
    strange = np.array(
        [
            not good and not is_status(text) and text not in known.words
            for text, good in zip(texts.distinct, fine, strict=True)
        ],
        bool,
    )
    n_strange = int(strange.sum())
    if n_strange and (n_strange > MAX_WORDS or texts.count(strange) > texts.count(fine)):
        raise bad_text(texts, strange, known)


def _conform_booleans(texts: Texts, known: ColumnReading) -> Interpreted:
    truth = {"true": True, "false": False, "1": True, "0": False}
    found = [truth.get(text.strip().casefold()) for text in texts.distinct]
    fine = np.array([each is not None for each in found], bool)
    strange = np.array(
        [
            each is None and not is_status(text)
            for each, text in zip(found, texts.distinct, strict=True)
        ],
        bool,
    )
    if strange.any():
        raise bad_text(texts, strange, known)
    column = texts.column
    values = np.zeros(max(len(column.categories), 1), bool)
    values[texts.used] = [bool(each) for each in found]
    holes = np.ones(len(values), bool)
    holes[texts.used] = ~fine
    missing = holes[column.values]
    if column.missing is not None:
        missing |= column.missing
    notices: tuple[Notice, ...] = ()
    if not fine.all():
        row = texts.first_row(~fine)
        notices = (words_as_missing(column.name, texts.words(~fine), True, row, "booleans"),)
    flags = Column(
        column.name, "boolean", values[column.values], missing if missing.any() else None
    )
    return Interpreted(flags, known, notices)


def _conform_typed(column: Column, known: ColumnReading) -> Interpreted:
    """Convert between types where that is exact."""
    name, values, missing = column.name, column.values, column.missing
    whole = values if missing is None else np.where(missing, np.zeros((), values.dtype), values)
    match column.kind, known.kind:
        case "number", "text" if _all_whole(column):
            distinct, codes = np.unique(whole.astype(np.int64), return_inverse=True)
            texts = tuple(str(each) for each in distinct.tolist())
            converted = Column(name, "text", codes.astype(np.int32), missing, texts)
        case "number", "boolean" if np.isin(column.present, (0, 1)).all():
            converted = Column(name, "boolean", whole.astype(bool), missing)
        case "boolean", "text" if known.truths is not None:
            converted = Column(name, "text", values.astype(np.int32), missing, known.truths)
        case "boolean", "number":
            converted = Column(name, "number", values.astype(np.int64), missing)
        case _:
            raise bad_value(column, known)
    said = column_converted(name, NOUNS[column.kind], NOUNS[converted.kind])
    return Interpreted(converted, known, (said,))


def _all_whole(column: Column) -> bool:
    values = column.present
    if values.dtype.kind in "iu":
        return True
    return bool((np.abs(values) < 2**53).all()) and bool((values % 1 == 0).all())


MIN_COUNT = 3
_NINES = re.compile(r"-?(?:9{3,}(?:\.9+|\.25)?|99\.9+|9\.9{2,})")
_ENDS = frozenset((32767, -32768, 65535, 2**31 - 1, -(2**31), 2**32 - 1))


def find_sentinels(column: Column) -> tuple[Notice, ...]:
    """Return which numbers of a column may stand for missing values.

    Parameters
    ----------
    column
        Of any kind; only in numbers there is something to find.

    Examples
    --------
    >>> values = np.array([2.5, -9999, 3, 3.5, -9999, 4, 4.5, -9999, 5])
    >>> [str(each)[:31] for each in find_sentinels(Column("T1", "number", values))]
    ["Column 'T1' holds -9999 3 times"]

    """
    if column.kind != "number":
        return ()
    values = column.present.astype(np.float64)
    values = values[np.isfinite(values)]
    counts: dict[float, int] = {}
    while len(values):
        ends = (float(values.min()), float(values.max()))
        mark = next((end for end in ends if is_mark(end)), None)
        if mark is None:
            break
        counts[mark] = int((values == mark).sum())
        values = values[values != mark]
    if not counts or len(np.unique(values)) <= MAX_STATES:
        return ()
    low, high = float(values.min()), float(values.max())
    return tuple(
        may_be_missing(column.name, _written(mark), count)
        for mark, count in counts.items()
        if count >= MIN_COUNT and max(low - mark, mark - high) > high - low
    )


def is_mark(value: float) -> bool:
    """Return whether a number is one of those that devices write in place of a missing one.

    >>> [is_mark(each) for each in (-9999, 999.25, -99.9, 65535, 99, 998)]
    [True, True, True, True, False, False]
    """
    return value in _ENDS or _NINES.fullmatch(_written(value)) is not None


def _written(value: float) -> str:
    """Return a number in as many digits as single precision has, whole ones in all."""
    return f"{value:.0f}" if value == round(value) else f"{value:.7g}"
