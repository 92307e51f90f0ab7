"""CSV files that need not fit: a first reading decides the types of columns, later ones read batches.

What pyarrow makes of a column depends on all its cells. So all cells are looked at: block by block, and
what blocks hold is put together by the same rules by which pyarrow goes from one type to the next.
"""

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from truism.table.csv import (
    Dialect,
    convert_options,
    has_codes,
    parse_options,
    read_options,
    refusing,
    see_csv,
    trimmed,
)
from truism.table.layouts import Layout, Reading
from truism.table.notices import Notice
from truism.table.words import MISSING

_BITS = pa.array(["0", "1"])


class Written(msgspec.Struct, frozen=True, eq=False):
    """How a CSV file is written, and what its columns hold.

    Parameters
    ----------
    dialect
        How it is written.
    missing
        Spellings of a missing value, besides the usual ones.
    types
        The types of columns, by name.
    n_rows
        How many rows it has.
    notices
        Notices about it.

    """

    dialect: Dialect
    missing: tuple[str, ...]
    types: dict[str, pa.DataType]
    n_rows: int
    notices: tuple[Notice, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        """The types as a schema."""
        return pa.schema(list(self.types.items()))

    def as_text(self, names: Collection[str]) -> "Written":
        """Return the file with some columns read as text."""
        types = {
            name: pa.string() if name in names and not pa.types.is_null(kind) else kind
            for name, kind in self.types.items()
        }
        return msgspec.structs.replace(self, types=types)


def look_through(
    name: str, file: BinaryIO, layout: Layout, learned: Reading | None = None
) -> Written:
    """Decide what the columns of a CSV file hold, from all its cells.

    Parameters
    ----------
    name
        What to call the file in messages.
    file
        Its bytes; must be able to seek.
    layout
        What was said about how it is written.
    learned
        How earlier files were read: columns of text stay text.

    """
    seen = see_csv(name, file, layout, learned)
    dialect, texts = seen.dialect, seen.texts
    names = [each for each in dialect.names if each]
    found = {each: _Holds() for each in names}
    n_rows = 0
    strings = dict.fromkeys(names, pa.string())
    for block in _blocks(name, file, dialect, layout.missing, strings, names):
        n_rows += block.num_rows
        again = io.BytesIO()
        pa_csv.write_csv(block, again)
        again.seek(0)
        convert = convert_options(dialect, layout.missing, dict.fromkeys(texts, pa.string()), names)
        typed = pa_csv.read_csv(
            again,
            read_options=pa_csv.ReadOptions(block_size=1 << 30),
            parse_options=pa_csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=convert,
        )
        for each in names:
            found[each] = found[each].also(typed.schema.field(each).type, block.column(each))
    codes = [each for each in names if found[each].has_codes and each not in texts]
    if codes:
        dialect = msgspec.structs.replace(dialect, texts=(*dialect.texts, *codes))
    types = {each: found[each].type() for each in names}
    return Written(dialect, layout.missing, types, n_rows, seen.notices)


class _Holds(msgspec.Struct, frozen=True, eq=False):
    """What the blocks of a column hold: kinds of values, and what stands for whole numbers."""

    kinds: frozenset[pa.DataType] = frozenset()
    only_bits: bool = True
    has_codes: bool = False

    def also(self, kind: pa.DataType, texts: Any) -> "_Holds":
        bits, codes = self.only_bits, self.has_codes
        if pa.types.is_integer(kind):
            bits = bits and bool(pc.all(pc.is_in(texts.drop_null(), _BITS)).as_py())
            codes = codes or has_codes(texts)
        return _Holds(self.kinds | {kind}, bits, codes)

    def type(self) -> pa.DataType:
        """Return the first type to which pyarrow can convert all cells."""
        kinds = {each for each in self.kinds if not pa.types.is_null(each)}
        if self.has_codes:
            return pa.string()
        if len(kinds) < 2:
            return next(iter(kinds), pa.null())
        if kinds == {pa.int64(), pa.float64()}:
            return pa.float64()
        if kinds == {pa.int64(), pa.bool_()} and self.only_bits:
            return pa.bool_()
        moments = {each for each in kinds if pa.types.is_timestamp(each)}
        zones = {each.tz for each in moments}
        if (
            moments
            and len(zones) == 1
            and all(pa.types.is_date(each) and zones == {None} for each in kinds - moments)
        ):
            return max(moments, key=lambda each: each.unit == "ns")
        return pa.string()


def read_batches(
    name: str, file: BinaryIO, written: Written, n_rows: int, names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Read some columns of a CSV file, in batches of at most so many rows."""
    types = written.types
    for block in _blocks(name, file, written.dialect, written.missing, types, names):
        yield from trimmed(block, [*MISSING, *written.missing]).to_batches(max_chunksize=n_rows)


def _blocks(
    name: str,
    file: BinaryIO,
    dialect: Dialect,
    missing: Sequence[str],
    types: Mapping[str, pa.DataType],
    names: Sequence[str],
) -> Iterator[pa.Table]:
    file.seek(0)
    with refusing(name, file, dialect):
        try:
            reader = pa_csv.open_csv(
                file,
                read_options=read_options(dialect),
                parse_options=parse_options(dialect),
                convert_options=convert_options(dialect, missing, types, names),
            )
        except pa.ArrowInvalid as problem:
            if "Empty CSV file" in str(problem):
                return
            raise
        for batch in reader:
            yield pa.Table.from_batches([batch])
