"""Columns and tables: rows are taken, cells are Python's own scalars."""

import datetime

import numpy as np
import pytest
from hypothesis import given

from strategies import tables
from truism.errors import TableError
from truism.table.columns import Column, Fault, numbers, renamed
from truism.table.frames import as_table


def cells(table):
    return {
        column.name: [column.cell(row) for row in range(table.n_rows)] for column in table.columns
    }


@given(tables())
def test_taking_rows_takes_the_rows(data):
    table = as_table(data)
    assert cells(table.take(slice(2, 7))) == {name: cs[2:7] for name, cs in cells(table).items()}
    picked = np.array([5, 0, 5])
    taken = table.take(picked)
    assert taken.n_rows == 3
    assert cells(taken) == {name: [cs[i] for i in picked] for name, cs in cells(table).items()}
    mask = np.arange(table.n_rows) % 2 == 0
    assert table.take(mask).n_rows == mask.sum()


def test_cells_are_pythons_own_scalars():
    some = np.array([True, False])
    columns = {
        "number": (Column("a", "number", np.array([1, 2]), ~some), 1, int),
        "boolean": (Column("a", "boolean", some, ~some), True, bool),
        "text": (Column("a", "text", np.array([1, 0], np.int32), ~some, ("x", "y")), "y", str),
        "time": (
            Column("a", "time", np.array(["2024-01-01", "NaT"], "datetime64[us]"), ~some),
            datetime.datetime(2024, 1, 1),
            datetime.datetime,
        ),
        "time of day": (
            Column("a", "time", np.array([3_600_000_000, 0]), ~some),
            datetime.time(1),
            datetime.time,
        ),
    }
    for column, value, kind in columns.values():
        assert (column.cell(0), type(column.cell(0))) == (value, kind)
        assert column.cell(1) is None
        assert (column.n_missing, len(column.present)) == (1, 1)
    for kind in ("empty", "other", "faulty"):
        assert Column("a", kind, np.zeros(2)).cell(0) is None


def test_times_with_a_zone_are_in_utc():
    column = Column("t", "time", np.array(["2024-01-01T10:00"], "datetime64[us]"), zoned=True)
    assert column.cell(0) == datetime.datetime(2024, 1, 1, 10, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("microseconds", "seen"),
    [
        (0, datetime.time(0)),
        (86_399_999_999, datetime.time(23, 59, 59, 999_999)),
        (86_400_000_000, "1 day, 0:00:00"),
        (-1, "-1 day, 23:59:59.999999"),
        (2**63 - 1, "106751991 days, 4:00:54.775807"),
    ],
)
def test_a_time_of_day_that_no_day_has_is_told_as_text(microseconds, seen):
    assert Column("t", "time", np.array([microseconds])).cell(0) == seen


@given(tables())
def test_numbers_are_the_cells_with_nan_where_they_are_missing(data):
    for column in as_table(data).columns:
        if column.kind in ("number", "boolean"):
            wanted = [column.cell(row) for row in range(len(column.values))]
            wanted = [np.nan if value is None else float(value) for value in wanted]
            assert np.array_equal(numbers(column), wanted, equal_nan=True)
    assert np.isnan(numbers(Column("a", "empty", np.zeros(3)))).all()


def test_columns_are_named_after_others_by_position():
    table = renamed(as_table(np.zeros((2, 2))), ["a", "b"])
    assert (table.names, table.n_rows) == (("a", "b"), 2)
    with pytest.raises(ValueError, match="zip"):
        renamed(table, ["a"])


def test_a_fault_names_the_column():
    problem = Fault("cannot be read", "leave it out.").error("it's")
    assert isinstance(problem, TableError)
    assert repr("it's") in problem.message
    assert problem.hint == "leave it out."


def test_a_view_is_taken_for_a_slice_and_a_copy_for_positions():
    table = as_table({"a": np.arange(5.0)})
    values = table.columns[0].values
    assert np.shares_memory(table.take(slice(1, 3)).columns[0].values, values)
    assert not np.shares_memory(table.take(np.array([1, 2])).columns[0].values, values)
    assert table.take(slice(None, None, -2)).n_rows == 3
