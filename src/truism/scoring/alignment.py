"""The variables of a model found in the columns of a table, and states as codes."""

import numpy as np
from numpy.typing import NDArray

from truism.errors import SchemaError, did_you_mean, shorten
from truism.model.schema import Categorical, Numeric, Schema, Variable
from truism.table.columns import NOUNS, Column, Table
from truism.table.times import dated

UNSEEN, MISSING = -2, -1  # codes of a categorical value that is not one of the variable's values


def time_column(schema: Schema, table: Table) -> Column | None:
    """Return the column of times, read as times if possible; None if there is none."""
    column = None if schema.time is None else table.column_of().get(schema.time)
    return None if column is None else dated(column)


def align(schema: Schema, table: Table) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """Find the schema's variables in a table to score.

    Returns
    -------
    columns
        One per variable, in the schema's order.
    extra
        Names of columns that the model does not know and ignores. An index is not a column.

    """
    column_of = table.column_of()
    columns = []
    absent = [name for name in schema.names if name not in column_of]
    if absent:
        raise _missing_columns(absent, schema, table)
    for variable in schema.variables:
        column = column_of[variable.name]
        if column.fault is not None:
            raise column.fault.error(column.name)
        if column.kind != "empty" and 0 < len(column.values) == column.n_missing:
            # The type of a column without any value is its library's guess.
            column = Column(column.name, "empty", column.values, column.missing)
        _check_kind(variable, column)
        columns.append(column)
    known = {*schema.names, schema.time, *(left.name for left in schema.left_out)}
    own = (column.name for column in table.columns if not column.index)
    return tuple(columns), tuple(name for name in own if name not in known)


def codes(variable: Categorical, column: Column) -> NDArray[np.int32]:
    """Return each value's position in ``variable.values``, or `UNSEEN`, or `MISSING`."""
    if column.kind == "empty":
        return np.full(len(column.values), MISSING, np.int32)
    if column.kind == "text":
        position = {value: code for code, value in enumerate(variable.values)}
        lookup = np.array(
            [position.get(text, UNSEEN) for text in column.categories] or [UNSEEN], np.int32
        )
        found: NDArray[np.int32] = lookup[column.values]
    else:
        states = np.array(variable.values)
        found = np.searchsorted(states, column.values).astype(np.int32)
        found[found == len(states)] = 0
        found[states[found] != column.values] = UNSEEN
    if column.missing is not None:
        found[column.missing] = MISSING
    return found


def refuse_text_for_numbers(schema: Schema, table: Table) -> None:
    """Refuse text in a column of numbers, and name it; historians write "Bad" and the like."""
    column_of = table.column_of()
    for variable in schema.variables:
        column = column_of.get(variable.name)
        if isinstance(variable, Numeric) and column is not None and column.kind == "text":
            wrong = {code for code, text in enumerate(column.categories) if not _is_number(text)}
            row = next((row for row, code in enumerate(column.values) if code in wrong), 0)
            raise SchemaError(
                f"Column {column.name!r} held numbers when the model was learned, "
                f"got {column.cell(row)!r} in row {row}.",
                "convert it, or read it as missing.",
                see=("missing",),
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _missing_columns(absent: list[str], schema: Schema, table: Table) -> SchemaError:
    hint = f"the model was learned with {len(schema.variables)} variables"
    unknown = [other for other in table.names if other not in schema.names]
    guess = did_you_mean(absent[0], unknown) if len(absent) == 1 else None
    which = f"Column {absent[0]!r} is" if len(absent) == 1 else f"Columns {shorten(absent)} are"
    return SchemaError(
        f"{which} missing from the table to score.",
        f"{hint}; {guess}" if guess else f"{hint}.",
        see=("rename", "allow_missing"),
    )


def _check_kind(variable: Variable, column: Column) -> None:
    expected = "number" if isinstance(variable, Numeric) else variable.holds
    if column.kind in (expected, "empty"):
        return
    if isinstance(variable, Numeric) and column.kind == "boolean":
        return
    raise SchemaError(
        f"Column {column.name!r} held {NOUNS[expected]} when the model was learned, "
        f"got {NOUNS[column.kind]}.",
        "convert the column, or learn the model again.",
    )
