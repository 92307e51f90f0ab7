"""What a column holds, decided from its values when a table is learned."""

import msgspec
import numpy as np
import pyarrow as pa

from truism.table.cells.kinds import kind_of, truths_of
from truism.table.cells.numerals import Numbers, read_numbers
from truism.table.cells.texts import (
    MAX_STATES,
    Interpreted,
    Texts,
    are_few,
    as_times,
    bad_text,
    bad_value,
    column_of_numbers,
    number_notices,
    told_times,
    zoned,
)
from truism.table.cells.times import find_epoch, find_times
from truism.table.cells.words import is_status
from truism.table.columns import Column
from truism.table.layouts import ColumnReading, Layout
from truism.table.notices import Notice, stays_text


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
