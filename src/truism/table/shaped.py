"""Columns of numbers with signs of groups, units or limits, read as Arrow arrays, all rows at once.

Like `truism.table.plain`, it is a shortcut: what comes out is exactly what
`truism.table.texts` would say, and anything that is not plainly such a column is left to them.
"""

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from truism.arrays import Mask
from truism.table.columns import Column
from truism.table.layouts import ColumnReading, Layout
from truism.table.notices import WordCount
from truism.table.numerals import Numbers, read_alike
from truism.table.texts import (
    MAX_CODES,
    MAX_WORDS,
    Interpreted,
    may_hold_numbers,
    number_notices,
)
from truism.table.times import find_times
from truism.table.words import is_status

_SAMPLE, _MIN_DISTINCT = 4_096, 128


class RowTexts(msgspec.Struct, frozen=True, eq=False):
    """The texts of a column row by row; a mask has one entry for each row with a text.

    Parameters
    ----------
    name
        The column's name.
    present
        The texts, without missing ones.
    rows
        Where each of them is.

    """

    name: str
    present: pa.Array
    rows: NDArray[np.int64]

    def words(self, mask: Mask) -> tuple[WordCount, ...]:
        """Return the distinct texts of a mask, the most frequent first."""
        return count_words(self.present.filter(pa.array(mask)))

    def count(self, mask: Mask) -> int:
        """Return how many rows a mask holds."""
        return int(mask.sum())

    def first_row(self, mask: Mask) -> int:
        """Return the first row of a mask."""
        return int(self.rows[int(mask.argmax())])

    def example(self, mask: Mask) -> str:
        """Return the first text of a mask."""
        return str(self.present[int(mask.argmax())])


def count_words(texts: pa.Array) -> tuple[WordCount, ...]:
    """Return the distinct texts, the most frequent first."""
    counted = pc.value_counts(texts).to_pylist()
    pairs = sorted((-each["counts"], each["values"]) for each in counted)
    return tuple(WordCount(word, -count) for count, word in pairs)


def read_shaped(
    name: str,
    texts: pa.Array,
    layout: Layout,
    known: ColumnReading | None = None,
    unit: str | None = None,
) -> Interpreted | None:
    """Read texts as numbers that are written in any way; None where it is not that simple.

    Parameters
    ----------
    name
        The column's name.
    texts
        Its texts, with nulls where nothing stands.
    layout
        What was asked for: decimal sign, columns that say when or stay as they are.
    known
        How the column was read when it was learned.
    unit
        From a row of units.

    """
    if not may_hold_numbers(name, layout, known):
        return None
    some = pc.unique(texts[:_SAMPLE].drop_null())[:_MIN_DISTINCT]
    if len(some) < _MIN_DISTINCT or (known is None and _are_times(name, some)):
        return None
    here = np.asarray(texts.is_valid())
    own = RowTexts(name, texts.drop_null(), np.flatnonzero(here))
    said = (None if known is None else known.decimal) or layout.decimal
    numbers = read_alike(own.present, said, None if known is None else known.thousands)
    if numbers is None:
        return None
    words = () if numbers.known.all() else own.words(~numbers.known)
    seen = () if known is None else known.words
    strange = [each for each in words if not is_status(each.word) and each.word not in seen]
    if len(strange) > MAX_WORDS or len(np.unique(numbers.values[numbers.known])) <= MAX_CODES:
        return None
    if sum(each.count for each in strange) > int(numbers.known.sum()):
        return None
    reading = known or ColumnReading(
        name,
        "number",
        unit or numbers.unit,
        tuple(sorted(each.word for each in words)),
        decimal=numbers.decimal,
        thousands=next(iter(numbers.grouped), None),
    )
    return Interpreted(
        _column(own, numbers, here), reading, tuple(number_notices(own, numbers, seen))
    )


def _are_times(name: str, some: pa.Array) -> bool:
    """Return whether texts would be read as times."""
    codes = np.arange(len(some), dtype=np.int32)
    return find_times(Column(name, "text", codes, None, tuple(some.to_pylist()))) is not None


def _column(own: RowTexts, numbers: Numbers, here: Mask) -> Column:
    """Return numbers where they stand; what is no number is missing."""
    values = np.zeros(len(here), numbers.values.dtype)
    values[own.rows] = numbers.values
    missing = ~here
    missing[own.rows] = ~numbers.known
    if values.dtype.kind == "f":
        values[missing] = np.nan
    return Column(own.name, "number", values, missing if missing.any() else None)
