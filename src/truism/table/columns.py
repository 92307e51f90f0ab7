"""Tables as NumPy columns: the values that everything after the border to dataframes works on."""

import datetime
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import TableError
from truism.table.zones import zone_named

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
    """One column, read-only.

    Parameters
    ----------
    name
        The column's own name.
    kind
        What its values are; ``"empty"`` when every value is missing and the type says nothing,
        ``"other"`` when they are of a type that no rule is about, ``"faulty"`` when they should be
        readable and are not.
    values
        ``number``: integers or float64, which is NaN where it is missing; ``boolean``: bool;
        ``text``: int32 positions in `categories`; ``time``: datetime64[us], or microseconds since
        midnight; otherwise zeros. Where `missing` is true the value means nothing.
    missing
        True where there is no value; None when nothing is missing.
    categories
        The distinct texts of a text column.
    categorical
        Whether the dataframe itself calls the column categorical.
    zoned
        Whether times came with a zone; then the values are in UTC.
    zone
        The zone in which such times are shown: a name or an offset; UTC when absent.
    index
        Whether it is not one of the dataframe's columns but its index.
    fault
        Why a column of kind ``other`` or ``faulty`` cannot be read.

    """

    name: str
    kind: ColumnKind
    values: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    categories: tuple[str, ...] = ()
    categorical: bool = False
    zoned: bool = False
    index: bool = False
    fault: Fault | None = None
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
        wanted = [each for each in self.columns if names is None or each.name in names]
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
