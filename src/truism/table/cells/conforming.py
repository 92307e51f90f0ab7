"""Columns read as they were when learned: a column and its `ColumnReading` go in, the column comes out.

A value that cannot be read that way raises a `BadCell` that names it.
"""

import msgspec
import numpy as np
import pyarrow as pa

from truism.arrays import Mask
from truism.errors import SchemaError
from truism.table.cells.kinds import kind_of
from truism.table.cells.names import renamed
from truism.table.cells.numerals import read_numbers
from truism.table.cells.texts import (
    MAX_WORDS,
    BadCell,
    Interpreted,
    Texts,
    as_times,
    bad_text,
    bad_value,
    column_of_numbers,
    number_notices,
    told_times,
    zoned,
)
from truism.table.cells.times import find_times, join_times
from truism.table.cells.words import is_status
from truism.table.columns import NOUNS, Column, Table
from truism.table.columns import renamed as with_names
from truism.table.layouts import ColumnReading, Layout, Reading
from truism.table.notices import Notice, column_converted, words_as_missing


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
