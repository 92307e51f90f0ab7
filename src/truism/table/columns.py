"""Tables as NumPy columns: the values that everything after the border to dataframes works on."""

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from truism.arrays import Mask
from truism.errors import TableError
from truism.table.layouts import ColumnReading, Kind, Reading, zone_named

ColumnKind = Literal["number", "boolean", "text", "time", "empty", "other", "faulty"]

NOUNS: Mapping[ColumnKind, str] = {
    "number": "numbers",
    "boolean": "booleans",
    "text": "text",
    "time": "dates",
    "empty": "no values",
}


class Fault(msgspec.Struct, frozen=True):
    """Why a column cannot be read, worded to follow its name, and what to do about it."""

    reason: str
    hint: str

    def error(self, name: str) -> TableError:
        """Complain about a column."""
        return TableError(f"Column {name!r} {self.reason}.", self.hint)


class Column(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """One column, read-only."""

    name: str  # the column's own name
    # what its values are; "empty" when every value is missing and the type says nothing,
    # "other" when they are of a type that no rule is about, "faulty" when they should be
    # readable and are not
    kind: ColumnKind
    # `number`: integers or float64, which is NaN where it is missing; `boolean`: bool;
    # `text`: int32 positions in `categories`; `time`: datetime64[us], or microseconds since
    # midnight; otherwise zeros. Where `missing` is true the value means nothing.
    values: NDArray[Any]
    # true where there is no value; None when nothing is missing
    missing: NDArray[np.bool_] | None = None
    categories: tuple[str, ...] = ()  # the distinct texts of a text column
    categorical: bool = False  # whether the dataframe itself calls the column categorical
    zoned: bool = False  # whether times came with a zone; then the values are in UTC
    index: bool = False  # whether it is not one of the dataframe's columns but its index
    fault: Fault | None = None  # why a column of kind `other` or `faulty` cannot be read
    # the zone in which such times are shown: a name or an offset; UTC when absent
    zone: str | None = None

    def take(self, rows: slice | NDArray[Any]) -> "Column":
        """Give some of the rows: a view for a slice, a copy for positions or a mask."""
        missing = None if self.missing is None else self.missing[rows]
        return msgspec.structs.replace(self, values=self.values[rows], missing=missing)

    @property
    def n_missing(self) -> int:
        """How many values are missing."""
        return 0 if self.missing is None else int(self.missing.sum())

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows that have a value."""
        if self.missing is None:
            return np.arange(len(self.values))
        return np.flatnonzero(~self.missing)

    @property
    def first_row(self) -> int:
        """The first row that has a value; 0 if none has."""
        return 0 if self.missing is None else int((~self.missing).argmax())

    @property
    def present(self) -> NDArray[Any]:
        """The values that are not missing."""
        return self.values if self.missing is None else self.values[~self.missing]

    def cell(self, row: int) -> Any:
        """Give one value as a Python scalar, None where it is missing."""
        if self.kind in ("empty", "other", "faulty"):
            return None
        if self.missing is not None and self.missing[row]:
            return None
        value = self.values[row].item()
        if self.kind == "text":
            return self.categories[value]
        # Whole numbers are the same, whatever a file or a library keeps them as.
        if self.kind == "number" and float(value).is_integer():
            return int(value)
        if isinstance(value, int) and self.values.dtype.kind == "M":
            return far_moment(self.values[row])
        if self.kind == "time" and isinstance(value, int) and self.values.dtype.kind == "i":
            since_midnight = datetime.timedelta(microseconds=value)
            if not 0 <= since_midnight.days < 1:  # a file may hold anything
                return str(since_midnight)
            return (datetime.datetime.min + since_midnight).time()
        if self.zoned and isinstance(value, datetime.datetime):
            moment = value.replace(tzinfo=datetime.UTC)
            try:
                return moment.astimezone(zone_named(self.zone or "UTC") or datetime.UTC)
            except OverflowError:  # the first and the last hours that Python's own type can hold
                return moment
        return value


def far_moment(moment: np.datetime64) -> str:
    """Print a time that Python's own type cannot hold, because its year is below 1 or above 9999.

    >>> far_moment(np.datetime64("10000-01-01T01:08:00.000000"))
    '10000-01-01 01:08:00'
    """
    date, _, clock = str(moment).partition("T")
    return f"{date} {clock.removesuffix('.' + '0' * 6)}".rstrip()


class Texts(msgspec.Struct, frozen=True, eq=False):
    """The texts that occur in a text column, and in how many rows each does; masks are of them."""

    column: Column
    used: NDArray[np.int64]  # which of its categories occur
    counts: NDArray[np.int64]  # in how many rows
    distinct: Any  # the texts themselves, as an Arrow array

    @classmethod
    def of(cls, column: Column) -> "Texts":
        """Count the texts of a column."""
        counts = np.bincount(column.present, minlength=len(column.categories))
        used = np.flatnonzero(counts)
        texts: Sequence[str] = column.categories
        if len(used) < len(texts):
            texts = [texts[code] for code in used.tolist()]
        return cls(column, used, counts[used], pa.array(texts, pa.string()))

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    def spread(self, values: NDArray[Any], other: Any) -> NDArray[Any]:
        """Return for each row the value of its text."""
        of_category = np.full(max(len(self.column.categories), 1), other, values.dtype)
        of_category[self.used] = values
        return np.asarray(of_category[self.column.values])

    def list(self, mask: Mask) -> list[str]:
        """Return the texts of a mask."""
        return list(self.distinct.filter(pa.array(mask)).to_pylist())

    def count(self, mask: Mask) -> int:
        """Return how many rows hold a text of a mask."""
        return int(self.counts[mask].sum())

    def first_row(self, mask: Mask) -> int:
        """Return the first row that holds a text of a mask."""
        hits = self.spread(mask, False)
        if self.column.missing is not None:
            hits &= ~self.column.missing
        return int(hits.argmax())

    def example(self, mask: Mask) -> str:
        """Return the first text of a mask."""
        return str(self.distinct[int(mask.argmax())])


class Table(msgspec.Struct, frozen=True, eq=False):
    """Columns of equal length with distinct, non-empty names."""

    columns: tuple[Column, ...]
    n_rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in the table's order."""
        return tuple(column.name for column in self.columns)

    def column_of(self) -> dict[str, Column]:
        """Map names to columns."""
        return {column.name: column for column in self.columns}

    def take(
        self, rows: slice | NDArray[Any], names: Collection[str | None] | None = None
    ) -> "Table":
        """Give some of the rows, of all columns or of some: a view for a slice, else a copy."""
        wanted = [column for column in self.columns if names is None or column.name in names]
        columns = tuple(column.take(rows) for column in wanted)
        n_rows = len(range(*rows.indices(self.n_rows))) if isinstance(rows, slice) else None
        if n_rows is None:
            n_rows = int(np.arange(self.n_rows)[rows].size)
        return Table(columns, n_rows)


def numbers(column: Column) -> NDArray[np.float64]:
    """Give a numeric column as float64, missing values as NaN."""
    if column.kind == "empty":
        return np.full(len(column.values), np.nan)
    values = column.values.astype(np.float64, copy=False)
    if column.missing is None or column.values.dtype.kind == "f":
        return values
    return np.where(column.missing, np.nan, values)


def renamed(table: Table, names: Sequence[str]) -> Table:
    """Name columns after others, by position; for arrays, whose columns have no names."""
    columns = zip(table.columns, names, strict=True)
    return Table(
        tuple(msgspec.structs.replace(column, name=name) for column, name in columns), table.n_rows
    )


def kind_of(column: Column) -> Kind:
    """Return what a column's values are; a time of day is not a time."""
    kinds: dict[ColumnKind, Kind] = {"faulty": "other", "other": "other", "empty": "empty"}
    if column.kind == "time" and column.values.dtype.kind != "M":
        return "clock"
    return kinds.get(column.kind, column.kind)  # type: ignore[arg-type]


def reading_of(table: Table) -> Reading:
    """Return the reading of a table that already had types, such as a dataframe."""
    return Reading(
        columns=tuple(
            ColumnReading(column.name, kind_of(column), truths=truths_of(column))
            for column in table.columns
        )
    )


def truths_of(column: Column) -> tuple[str, str] | None:
    """Return how false and true are spelled in a text column, None where they are not among its texts.

    A table without the other states would hold booleans, which are then known again.
    """
    if column.kind != "text":
        return None
    spelled = {text.casefold(): text for text in column.categories}
    return (spelled["false"], spelled["true"]) if {"false", "true"} <= {*spelled} else None


def join_tables(tables: Sequence[Table]) -> Table:
    """Put parts of a table one below the other; they must have the same columns.

    >>> from truism.table.frames import as_table
    >>> both = join_tables([as_table({"pump": ["on"]}), as_table({"pump": ["off", "on"]})])
    >>> [both.columns[0].cell(row) for row in range(both.n_rows)]
    ['on', 'off', 'on']
    """
    if len(tables) == 1:
        return tables[0]
    columns = tuple(
        _join(parts) for parts in zip(*(table.columns for table in tables), strict=True)
    )
    return Table(columns, sum(table.n_rows for table in tables))


def _join(parts: Sequence[Column]) -> Column:
    """Join the parts of one column; those that hold nothing adapt to the others."""
    full = [part for part in parts if part.kind != "empty"] or parts
    first = full[0]
    for part in full:
        if part.kind != first.kind:
            raise TableError(
                f"Column {first.name!r} holds {NOUNS.get(first.kind, first.kind)} in one part of the "
                f"table and {NOUNS.get(part.kind, part.kind)} in another.",
                "columns must hold the same kind of values everywhere.",
            )
    missing = None
    if any(part.missing is not None for part in parts):
        missing = np.concatenate([_missing(part) for part in parts])
    categories, values = first.categories, [_blank(part, first) for part in parts]
    if first.kind == "text":
        code_of: dict[str, int] = {}
        for at, part in enumerate(parts):
            if part.kind == "text":
                codes = [code_of.setdefault(text, len(code_of)) for text in part.categories]
                values[at] = np.array(codes or [0], np.int32)[part.values]
        categories = tuple(code_of)
    faults = [part.fault for part in parts if part.fault is not None]
    return msgspec.structs.replace(
        first,
        values=np.concatenate(values),
        missing=missing,
        categories=categories,
        fault=faults[0] if faults else None,
    )


def _missing(part: Column) -> NDArray[np.bool_]:
    return np.zeros(len(part.values), np.bool_) if part.missing is None else part.missing


def _blank(part: Column, like: Column) -> NDArray[np.generic]:
    """Return a part's values; of a part that holds none, what stands for missing ones."""
    if part.kind == like.kind:
        return part.values
    if like.values.dtype.kind == "f":
        return np.full(len(part.values), np.nan)
    return np.zeros(len(part.values), like.values.dtype)
