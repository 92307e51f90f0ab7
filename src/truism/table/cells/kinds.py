"""What the values of a column are, as a `Reading` says it."""

from truism.table.columns import Column, ColumnKind, Table
from truism.table.layouts import ColumnReading, Kind, Reading


def kind_of(column: Column) -> Kind:
    """Return what a column's values are; a time of day is not a time."""
    kinds: dict[ColumnKind, Kind] = {"faulty": "other", "other": "other", "empty": "empty"}
    if column.kind == "time" and column.values.dtype.kind != "M":
        return "clock"
    return kinds.get(column.kind, column.kind)  # type: ignore[arg-type]


def reading_of(table: Table) -> Reading:
    """Return the reading of a table that already had types, such as a dataframe."""
    return Reading(columns=tuple(ColumnReading(each.name, kind_of(each)) for each in table.columns))
