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
    return Reading(
        columns=tuple(
            ColumnReading(each.name, kind_of(each), truths=truths_of(each))
            for each in table.columns
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
