"""Columns of plain numbers with a few words among them, read at once; anything else is left to others.

A historian's export holds thousands of different numbers and now and then ``Bad``. Looking at each
distinct text takes long where nearly all are distinct; so such columns are read as Arrow arrays. What
comes out is exactly what `truism.table.texts` would say.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from truism.table.columns import Column
from truism.table.layouts import ColumnReading, Layout
from truism.table.notices import Notice, words_as_missing
from truism.table.numerals import PLAIN
from truism.table.shaped import count_words
from truism.table.texts import MAX_CODES, MAX_WORDS, Interpreted, may_hold_numbers
from truism.table.words import is_status

_SAMPLE = 200


def read_plain(
    name: str,
    texts: pa.Array,
    layout: Layout,
    known: ColumnReading | None = None,
    unit: str | None = None,
) -> Interpreted | None:
    """Read texts as plain numbers with a few words; None where they are anything else.

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
    decimal = (None if known is None else known.decimal) or layout.decimal or "."
    if known is not None and known.thousands == decimal:
        return None
    pattern = PLAIN[decimal]
    if not pc.any(pc.match_substring_regex(texts[:_SAMPLE], pattern)).as_py():
        return None
    trimmed = pc.utf8_trim_whitespace(texts)
    plain = pc.fill_null(pc.match_substring_regex(trimmed, pattern), False)
    others = pc.and_(pc.invert(plain), texts.is_valid())
    words = count_words(texts.filter(others))
    seen = () if known is None else known.words
    strange = [word for word in words if not is_status(word.word) and word.word not in seen]
    if len(strange) > MAX_WORDS or any(letter.isdigit() for w in words for letter in w.word):
        return None
    column, signed = _numbers(name, trimmed, plain, decimal)
    values = column.present
    if len(np.unique(values[: 4 * MAX_CODES])) <= MAX_CODES and (
        len(np.unique(values)) <= MAX_CODES
    ):
        return None
    if sum(word.count for word in strange) > len(values):
        return None
    notices: tuple[Notice, ...] = ()
    if words:
        row = int(np.asarray(others).argmax())
        notices = (words_as_missing(name, words, not strange, row),)
    taken = tuple(sorted(word.word for word in words))
    new = ColumnReading(name, "number", unit, taken, decimal=decimal if signed else None)
    return Interpreted(column, known or new, notices)


def _numbers(name: str, texts: pa.Array, plain: pa.Array, decimal: str) -> tuple[Column, bool]:
    """Return plain numbers as a column, and whether a decimal sign stands anywhere."""
    written = pc.if_else(plain, texts, None)
    signed = bool(pc.any(pc.match_substring(written, decimal)).as_py())
    written = pc.replace_substring(written, "−", "-")
    if pc.any(pc.starts_with(written, "+")).as_py():
        written = pc.replace_substring_regex(written, r"^\+", "")
    if decimal == ",":
        written = pc.replace_substring(written, ",", ".")
    floats = written.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
    missing = np.isnan(floats)
    return Column(name, "number", floats, missing if missing.any() else None), signed
