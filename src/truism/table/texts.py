"""From texts to values: each column is decided once, from all its cells, and later ones follow that.

Cells of CSV files are texts. A column whose cells are all plain numbers, times or booleans is cast by
Arrow's kernels. Of any other the distinct texts are taken apart: numbers with units, signs of thousands
or limits, times in any notation, and a few words where there is no value. What cannot be read as it was
when learned raises a `BadCell` that names it.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truism.arrays import Mask
from truism.errors import SchemaError, listed, shorten
from truism.table.columns import NOUNS, Column, Table, Texts, kind_of, truths_of
from truism.table.columns import renamed as with_names
from truism.table.layouts import DAYS, EPOCHS, ColumnReading, Layout, Reading, renamed
from truism.table.notices import Notice, rows, times
from truism.table.numerals import Numbers, read_numbers
from truism.table.timelines import in_zone
from truism.table.times import (
    Timing,
    column_of_epochs,
    column_of_times,
    find_epoch,
    find_times,
    join_times,
    zones_of,
)
from truism.table.words import is_status

MAX_STATES = 5  # with no more distinct numbers, numbers beside words are states
MAX_WORDS = 5  # more distinct words, none of them known, are not a few
MAX_CODES = 50  # so many whole numbers beside words such as A7 may be codes
_FIRST = 64
_MOMENTS = (pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("us", "UTC"))
_WANTED = {
    "number": "a number",
    "boolean": "true or false",
    "time": "a time",
    "clock": "a time of day",
    "text": "text",
    "empty": "no value",
}
_GROUPS = {",": "Commas", ".": "Points", " ": "Blanks", "'": "Apostrophes"}
MIN_COUNT = 3
_NINES = re.compile(r"-?(?:9{3,}(?:\.9+|\.25)?|99\.9+|9\.9{2,})")
_ENDS = frozenset((32767, -32768, 65535, 2**31 - 1, -(2**31), 2**32 - 1))


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


def cast(texts: Any, decimal: str = ".") -> Any:
    """Return texts as numbers, times or booleans if all of them are written plainly; else as they are.

    >>> [cast(pa.chunked_array([texts])).type for texts in (["1", None], ["1.5"], ["TRUE", "0"], ["0x1"])]
    [DataType(int64), DataType(double), DataType(bool), DataType(string)]
    """
    if texts.null_count == len(texts):
        return pa.chunked_array([pa.nulls(len(texts))])
    numbers = texts
    if decimal == "," and not pc.any(pc.match_substring(texts, ".")).as_py():
        numbers = pc.replace_substring(texts, ",", ".")
    elif decimal == ",":
        numbers = None
    floats = None if numbers is None else _all_as(numbers, pa.float64())
    if floats is not None:  # Arrow takes 0x11 for a whole number, but not for any number
        whole = _all_as(texts, pa.int64())
        return floats if whole is None else whole
    for kind in _MOMENTS:
        times = _all_as(texts, kind)
        if times is not None and (kind.tz is None or pc.all(pc.ends_with(texts, "Z")).as_py()):
            return times
    booleans = _all_as(texts, pa.bool_())
    return texts if booleans is None else booleans


def _all_as(texts: Any, kind: pa.DataType) -> Any:
    """Return texts as values of a type, None where some are none."""
    try:
        texts[:_FIRST].cast(kind)  # what fails takes Arrow longer than what does not
        return texts.cast(kind)
    except pa.ArrowInvalid:
        return None


def interpret(
    column: Column,
    layout: Layout,
    unit: str | None = None,
    learned: ColumnReading | None = None,
    closed: bool = False,
) -> Interpreted:
    """Decide what a column holds, or read it as it was read when it was learned.

    A value that does not allow the latter raises a `BadCell`, and so does one that is no time in the
    column named as the time column. A `closed` reading takes no new words as missing.
    """
    if closed and learned is not None and learned.kind == "empty" and len(column.present):
        raise _bad_value(column, learned)
    if learned is not None and (column.kind == "empty" or not len(column.values)):
        return Interpreted(without_values(learned, len(column.values)), learned)
    if column.kind == "text":
        result = _read_texts(Texts.of(column), layout, unit, learned, closed)
    else:
        result = _read_values(column, layout, unit, learned)
    truths = None if learned is not None else truths_of(result.column)
    if truths is None:
        return result
    reading = msgspec.structs.replace(result.reading, truths=truths)
    return msgspec.structs.replace(result, reading=reading)


def _is_axis(name: str, layout: Layout) -> bool:
    return layout.time == (name,)


# --- columns with a type ---


def _read_values(
    column: Column, layout: Layout, unit: str | None, learned: ColumnReading | None
) -> Interpreted:
    kind = kind_of(column)
    if learned is None:
        reading = ColumnReading(column.name, kind, unit)
        if column.kind == "number" and column.name not in layout.states:
            style = layout.time_format if column.name in layout.time else None
            style = style or find_epoch(column)
            if style is not None:
                return _as_epochs(column, style, layout, None)
        if _is_axis(column.name, layout) and kind != "time":
            raise _bad_value(column, ColumnReading(column.name, "time"))
        return zoned(column, reading, (), layout)
    if kind == learned.kind or learned.kind in ("empty", "other") or kind == "other":
        return (
            zoned(column, learned, (), layout) if kind == "time" else Interpreted(column, learned)
        )
    if kind == "number" and learned.kind == "time" and learned.style in (*EPOCHS, DAYS, "digits"):
        return _as_epochs(column, learned.style, layout, learned)
    return _converted(column, learned)


def _as_epochs(
    column: Column, style: str, layout: Layout, learned: ColumnReading | None
) -> Interpreted:
    """Read numbers as times, and say so."""
    moments = column_of_epochs(column, style)
    notices: tuple[Notice, ...] = ()
    if learned is None and len(column.present):
        row = column.first_row
        notices = (_times_read(moments, style, str(column.cell(row)), row),)
    reading = learned or ColumnReading(column.name, "time", style=style)
    return zoned(moments, reading, notices, layout)


def _times_read(moments: Column, style: str, example: str, row: int) -> Notice:
    name = moments.name
    text = f"Column {name!r} is read as times ({style}): {example!r} is {moments.cell(row)}."
    return Notice("times_read", text, (name,), see=("time_format",))


def zoned(
    column: Column, reading: ColumnReading, notices: tuple[Notice, ...], layout: Layout
) -> Interpreted:
    """Return a column, and one of times in the zone that was asked for."""
    if layout.zone is not None and kind_of(column) == reading.kind == "time":
        column, doubts = in_zone(column, layout.zone)
        notices = (*notices, *doubts)
    return Interpreted(column, reading, notices)


def _converted(column: Column, learned: ColumnReading) -> Interpreted:
    """Convert between types where that is exact."""
    name, values, missing = column.name, column.values, column.missing
    whole = values if missing is None else np.where(missing, np.zeros((), values.dtype), values)
    match column.kind, learned.kind:
        case "number", "text" if _all_whole(column):
            distinct, codes = np.unique(whole.astype(np.int64), return_inverse=True)
            texts = tuple(str(value) for value in distinct.tolist())
            converted = Column(name, "text", codes.astype(np.int32), missing, texts)
        case "number", "boolean" if np.isin(column.present, (0, 1)).all():
            converted = Column(name, "boolean", whole.astype(bool), missing)
        case "boolean", "text" if learned.truths is not None:
            converted = Column(name, "text", values.astype(np.int32), missing, learned.truths)
        case "boolean", "number":
            converted = Column(name, "number", values.astype(np.int64), missing)
        case _:
            raise _bad_value(column, learned)
    text = (
        f"Column {name!r} holds {NOUNS[column.kind]}; it is read as {NOUNS[converted.kind]}, "
        "as in training."
    )
    return Interpreted(converted, learned, (Notice("column_converted", text, (name,)),))


def _all_whole(column: Column) -> bool:
    values = column.present
    if values.dtype.kind in "iu":
        return True
    return bool((np.abs(values) < 2**53).all()) and bool((values % 1 == 0).all())


def without_values(learned: ColumnReading, n_rows: int = 0) -> Column:
    """Return a column of a known kind in which every value is missing."""
    missing = np.ones(n_rows, bool) if n_rows else None
    match learned.kind:
        case "text":
            return Column(learned.name, "text", np.zeros(n_rows, np.int32), missing)
        case "boolean":
            return Column(learned.name, "boolean", np.zeros(n_rows, bool), missing)
        case "time":
            never = np.full(n_rows, "NaT", "datetime64[us]")
            return Column(learned.name, "time", never, missing)
        case "clock":
            return Column(learned.name, "time", np.zeros(n_rows, np.int64), missing)
        case "number":
            return Column(learned.name, "number", np.full(n_rows, np.nan), missing)
    return Column(learned.name, "empty", np.zeros(n_rows), np.ones(n_rows, bool))


# --- columns of texts ---


def _read_texts(
    texts: Texts, layout: Layout, unit: str | None, learned: ColumnReading | None, closed: bool
) -> Interpreted:
    name, axis = texts.name, learned is None and _is_axis(texts.name, layout)
    as_text = Interpreted(texts.column, learned or ColumnReading(name, "text", unit))
    if learned is not None and learned.kind in ("text", "empty", "other"):
        return as_text
    if learned is None and name in layout.states and not axis:
        return as_text
    if learned is None or learned.kind in ("time", "clock"):
        time_format = layout.time_format if name in layout.time else None
        moments = _as_times(texts, time_format, layout, learned, named=axis, closed=closed)
        if moments is not None:
            return moments
    if learned is not None and learned.kind == "boolean":
        return _as_booleans(texts, learned)
    if learned is not None:
        numbers = read_numbers(texts.distinct, learned.decimal or layout.decimal, learned.thousands)
        _check_words(texts, numbers.valid, learned, closed)
        notices = tuple(_number_notices(texts, numbers, learned.words))
        return Interpreted(_column_of_numbers(texts, numbers), learned, notices)
    numbers = read_numbers(texts.distinct, layout.decimal)
    return _as_numbers(texts, numbers, unit) if numbers.valid.any() else as_text


def _as_times(
    texts: Texts,
    time_format: str | None,
    layout: Layout,
    learned: ColumnReading | None,
    *,
    named: bool,
    closed: bool,
) -> Interpreted | None:
    """Read texts as times; None where too many are not, unless a reading or a name says so."""
    style, sure = time_format, time_format is not None and named
    if learned is not None:
        style, sure = learned.style or ("clock" if learned.kind == "clock" else None), True
    wanted = learned or ColumnReading(texts.name, "time")
    timing = find_times(texts, style)
    if timing is None and learned is None and not named:
        return None
    fine = np.zeros(len(texts.distinct), bool) if timing is None else timing.instants.valid
    strange = _strange(texts, fine, () if learned is None else learned.words)
    if named and (timing is None or strange.any()):
        raise _bad_text(texts, strange if strange.any() else ~fine, wanted)
    if timing is None:
        raise _bad_text(texts, ~fine, wanted)
    words = texts.list(~fine)
    if learned is not None:
        _check_words(texts, fine, learned, closed)
    elif words and not named and not _are_few(words, int(fine.sum()), whole=False):
        return None
    moments = column_of_times(texts, timing)
    reading = learned or ColumnReading(
        texts.name, kind_of(moments), words=tuple(sorted(words)), style=timing.style
    )
    notices = [*_time_notices(texts, timing, moments, sure=sure, layout=layout)]
    if words:
        notices.append(_missing(texts, ~fine, not strange.any(), "times"))
    return zoned(moments, reading, tuple(notices), layout)


def _time_notices(
    texts: Texts, timing: Timing, moments: Column, *, sure: bool, layout: Layout
) -> Iterator[Notice]:
    name, fine = texts.name, timing.instants.valid
    if timing.style in ("day first", "month first") and not sure:
        example = texts.example(fine)
        if timing.undecided:
            text = (
                f"In column {name!r} nothing shows whether the day or the month comes first, for "
                f"instance in {example!r}; the {timing.style.partition(' ')[0]} is taken to come first."
            )
            yield Notice("day_or_month", text, (name,), True, ("time_format",))
        elif moments.kind == "time":
            first = np.zeros_like(fine)
            first[int(fine.argmax())] = True
            yield _times_read(moments, timing.style, example, texts.first_row(first))
    zones = zones_of(timing)
    if len(zones) > 1 and timing.style != "clock":
        text = (
            f"Times in column {name!r} are of several zones ({', '.join(zones[:5])}); they are shown "
            f"in {layout.zone or 'UTC'}."
        )
        yield Notice("several_zones", text, (name,), see=("zone",))


def _as_booleans(texts: Texts, learned: ColumnReading) -> Interpreted:
    plain = pc.utf8_lower(pc.utf8_trim_whitespace(texts.distinct))
    true = np.asarray(pc.is_in(plain, pa.array(["true", "1"])))
    fine = true | np.asarray(pc.is_in(plain, pa.array(["false", "0"])))
    strange = _strange(texts, fine, ())
    if strange.any():
        raise _bad_text(texts, strange, learned)
    notices = () if fine.all() else (_missing(texts, ~fine, True, "booleans"),)
    missing = _holes(texts, fine)
    return Interpreted(
        Column(texts.name, "boolean", texts.spread(true, False), missing), learned, notices
    )


def _as_numbers(texts: Texts, numbers: Numbers, unit: str | None) -> Interpreted:
    """Read texts as numbers where only a few are not."""
    name, words = texts.name, texts.list(~numbers.valid)
    values = numbers.values[numbers.valid] + 0  # one zero, not two
    whole = numbers.decimal is None and bool((values == np.floor(values)).all())
    n_values = len(pc.unique(pa.array(values)))
    if words and not _are_few(words, n_values, whole=whole):
        notices: tuple[Notice, ...] = ()
        n_numbers = texts.count(numbers.valid)
        if n_values > MAX_STATES and 2 * n_numbers >= int(texts.counts.sum()):
            text = (
                f"Column {name!r} is read as text: it holds {rows(n_numbers)} with numbers, and also "
                f"{_listed(_ranked(texts, ~numbers.valid))}."
            )
            notices = (Notice("stays_text", text, (name,), True, ("missing",)),)
        return Interpreted(texts.column, ColumnReading(name, "text", unit), notices)
    if numbers.unit is not None and n_values <= MAX_STATES and numbers.unit not in "%‰":
        return Interpreted(texts.column, ColumnReading(name, "text", unit))
    reading = ColumnReading(
        name,
        "number",
        unit or numbers.unit,
        tuple(sorted(words)),
        decimal=numbers.decimal,
        thousands=next(iter(numbers.grouped), None),
    )
    notices = tuple(_number_notices(texts, numbers, ()))
    return Interpreted(_column_of_numbers(texts, numbers), reading, notices)


def _column_of_numbers(texts: Texts, numbers: Numbers) -> Column:
    """Return texts as numbers; others become missing values."""
    missing = _holes(texts, numbers.valid)
    values = texts.spread(numbers.values, 0)
    if missing is not None and values.dtype.kind == "f":
        values[missing] = np.nan
    return Column(texts.name, "number", values, missing)


def _holes(texts: Texts, fine: Mask) -> Mask | None:
    """Return the rows without a value: those without a text, and those whose text is not fine."""
    missing = ~texts.spread(fine, False)
    if texts.column.missing is not None:
        missing |= texts.column.missing
    return missing if missing.any() else None


def _number_notices(texts: Texts, numbers: Numbers, words: Collection[str]) -> Iterator[Notice]:
    """Yield notices about texts that are read as numbers."""
    name = texts.name
    if numbers.strays.any():
        n_strays = texts.count(numbers.strays)
        usual, other = ("points", "comma") if numbers.decimal == "." else ("commas", "point")
        text = (
            f"Numbers are written with decimal {usual}, but in column {name!r} {rows(n_strays)} "
            f"{'has' if n_strays == 1 else 'have'} a decimal {other}, for instance "
            f"{texts.example(numbers.strays)!r}."
        )
        yield Notice("mixed_decimals", text, (name,), True, ("decimal",))
    for sign, mask in numbers.grouped.items():
        unsure = mask & numbers.unsure
        doubtful = bool(unsure.any())
        doubt = ", though they may be decimal signs," if doubtful else ","
        text = (
            f"{_GROUPS[sign]} in column {name!r} are taken to group thousands{doubt} for instance in "
            f"{texts.example(unsure if doubtful else mask)!r}."
        )
        see = ("decimal",) if doubtful else ()
        yield Notice("grouped_digits", text, (name,), doubtful, see)
    if numbers.limits.any():
        n_limits = texts.count(numbers.limits)
        text = (
            f"In column {name!r} {rows(n_limits)} {'holds' if n_limits == 1 else 'hold'} a limit such "
            f"as {texts.example(numbers.limits)!r}, which is read as that number."
        )
        yield Notice("limits_as_values", text, (name,))
    if numbers.unit is not None:
        n_without = texts.count(numbers.valid & ~numbers.with_unit)
        text = f"Column {name!r} is written with the unit {numbers.unit!r}, which is taken off"
        if n_without:
            text += f", but {rows(n_without)} {'has' if n_without == 1 else 'have'} no unit"
        yield Notice("unit_in_cells", f"{text}.", (name,), n_without > 0)
    if not numbers.valid.all():
        strange = _strange(texts, numbers.valid, words)
        yield _missing(texts, ~numbers.valid, not strange.any(), "numbers")


# --- words among values ---


def _strange(texts: Texts, fine: Mask, words: Collection[str]) -> Mask:
    """Return which texts are neither fine, nor words that are known to stand for missing values."""
    strange = ~fine
    rows = np.flatnonzero(strange)
    strange[rows] = [not is_status(text) and text not in words for text in texts.list(strange)]
    return strange


def _check_words(texts: Texts, fine: Mask, learned: ColumnReading, closed: bool) -> None:
    """Refuse a column with more than a few unknown words, or with more of them than values."""
    if closed:
        new = ~fine & ~np.asarray(pc.is_in(texts.distinct, pa.array(learned.words, pa.string())))
        if new.any():
            raise _bad_text(texts, new, learned)
    strange = _strange(texts, fine, learned.words)
    n_strange = int(strange.sum())
    if n_strange and (n_strange > MAX_WORDS or texts.count(strange) > texts.count(fine)):
        raise _bad_text(texts, strange, learned)


def _are_few(words: Sequence[str], n_values: int, *, whole: bool) -> bool:
    """Return whether words beside `n_values` distinct numbers or times stand for missing ones."""
    if n_values <= MAX_STATES:
        return False
    strange = [word for word in words if not is_status(word)]
    codes = [word for word in strange if any(letter.isdigit() for letter in word)]  # A7 beside 12
    if whole and n_values <= MAX_CODES and codes:
        return False
    return len(strange) <= MAX_WORDS


def _missing(texts: Texts, mask: Mask, sure: bool, holds: str) -> Notice:
    """Return the notice that some texts are taken as missing."""
    words = _ranked(texts, mask)
    text = (
        f"Column {texts.name!r} holds {holds}; {_listed(words)} "
        f"{'is' if len(words) == 1 else 'are'} taken as missing, first in row {texts.first_row(mask):,}."
    )
    see = () if sure else ("categorical", "missing")
    return Notice("words_as_missing", text, (texts.name,), not sure, see, tuple(words))


def _ranked(texts: Texts, mask: Mask) -> dict[str, int]:
    """Return texts and their counts, the most frequent first."""
    pairs = sorted(zip((-texts.counts[mask]).tolist(), texts.list(mask), strict=True))
    return {word: -count for count, word in pairs}


def _listed(words: dict[str, int]) -> str:
    return listed([f"{word!r} ({times(count)})" for word, count in words.items()])


def _bad_value(column: Column, learned: ColumnReading) -> BadCell:
    """Return the first value of a column that holds values of the wrong kind."""
    row = column.first_row
    return BadCell(column.name, row, str(column.cell(row)), _WANTED[learned.kind])


def _bad_text(texts: Texts, mask: Mask, learned: ColumnReading) -> BadCell:
    """Return the first of the texts that are not what the column held."""
    row = texts.first_row(mask)
    return BadCell(texts.name, row, str(texts.column.cell(row)), _WANTED[learned.kind])


# --- tables ---


def read_columns(
    table: Table,
    layout: Layout,
    reading: Reading | None = None,
    units: Mapping[str, str] = {},
    *,
    closed: bool = False,
) -> list[Interpreted]:
    """Decide what each column holds, or follow what was decided, and put two columns of time together."""
    readings, several = {} if reading is None else reading.column_of(), len(layout.time) > 1
    joined = readings.get(" ".join(layout.time))
    if several and joined is not None:  # the first of the two was read as both were
        readings[layout.time[0]] = msgspec.structs.replace(joined, name=layout.time[0])
    naive = msgspec.structs.replace(layout, zone=None)
    results = [
        interpret(
            column,
            naive if several and column.name in layout.time else layout,
            units.get(column.name),
            readings.get(column.name),
            closed,
        )
        for column in table.columns
    ]
    return _joined(results, layout, later=reading is not None) if several else results


def _joined(results: list[Interpreted], layout: Layout, *, later: bool) -> list[Interpreted]:
    """Join the columns that together give the time, in the place of the first.

    In later files all times may be missing.
    """
    by_name = {result.column.name: result for result in results}
    date, clock = (by_name[name].column for name in layout.time[:2])
    name = " ".join(layout.time)
    moments = join_times(name, date, clock) if len(layout.time) == 2 else None
    if moments is None or (len(moments.values) and not len(moments.present) and not later):
        which = clock if kind_of(date) == "time" else date
        wanted, cell = "a time of day" if which is clock else "a date", which.cell(which.first_row)
        raise BadCell(which.name, which.first_row, "" if cell is None else str(cell), wanted)
    first = by_name[layout.time[0]]
    text = f"Columns {shorten(layout.time)} are read as one column of times, {name!r}."
    notices = (*first.notices, Notice("times_joined", text, (name,)))
    whole = zoned(moments, msgspec.structs.replace(first.reading, name=name), notices, layout)
    return [
        whole if result.column.name == layout.time[0] else result
        for result in results
        if result.column.name not in layout.time[1:]
    ]


def conform_table(table: Table, reading: Reading) -> tuple[Table, tuple[Notice, ...]]:
    """Read a table that has types, such as a dataframe, as it was learned, where that is exact."""
    learned, layout = reading.column_of(), reading.layout
    if layout.renames:
        table = with_names(table, renamed(table.names, layout))
    apart = len(layout.time) == 2 and {*layout.time} <= {*table.names}
    if not apart or reading.axis in table.names:
        layout = msgspec.structs.replace(layout, time=())

    def differs(column: Column) -> bool:
        wanted = learned.get(column.name)
        other = wanted is not None and kind_of(column) != wanted.kind
        return column.fault is None and (other or column.name in layout.time)

    differing = Table(tuple(filter(differs, table.columns)), table.n_rows)
    try:
        results = read_columns(differing, layout, reading)
    except BadCell as cell:
        raise SchemaError(
            f"Column {cell.column!r} must hold {cell.wanted} in row {cell.row}, got {cell.value!r}.",
            "convert the column, or learn the model again.",
        ) from None
    changed = {result.column.name: result.column for result in results}
    columns = []
    for column in table.columns:
        name = reading.axis if column.name in layout.time[:1] else column.name
        if name in changed:
            columns.append(msgspec.structs.replace(changed[name], index=column.index))
        elif name not in layout.time:
            columns.append(column)
    notices = (notice for result in results for notice in result.notices)
    others = tuple(notice for notice in notices if notice.code != "times_joined")
    return Table(tuple(columns), table.n_rows), others


# --- numbers that may stand for missing values ---


def find_sentinels(column: Column) -> tuple[Notice, ...]:
    """Return which numbers of a column may stand for missing values.

    >>> values = np.array([2.5, -9999, 3, 3.5, -9999, 4, 4.5, -9999, 5])
    >>> [str(notice)[:31] for notice in find_sentinels(Column("T1", "number", values))]
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
    notices = []
    for mark, count in counts.items():
        if count >= MIN_COUNT and max(low - mark, mark - high) > high - low:
            text = (
                f"Column {column.name!r} holds {_written(mark)} {times(count)}, far from all its other "
                "values; if it stands for a missing value, say so as the file writes it."
            )
            notices.append(Notice("may_be_missing", text, (column.name,), True, ("missing",)))
    return tuple(notices)


def is_mark(value: float) -> bool:
    """Return whether a number is one of those that devices write in place of a missing one.

    >>> [is_mark(value) for value in (-9999, 999.25, -99.9, 65535, 99, 998)]
    [True, True, True, True, False, False]
    """
    return value in _ENDS or _NINES.fullmatch(_written(value)) is not None


def _written(value: float) -> str:
    """Return a number in as many digits as single precision has, whole ones in all."""
    return f"{value:.0f}" if value == round(value) else f"{value:.7g}"
