"""Whatever holds columns becomes the same table."""

import datetime
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from strategies import tables
from truism.errors import TableError
from truism.table import Table, as_table, to_frame


def cells(table):
    return {
        column.name: [column.cell(row) for row in range(table.n_rows)] for column in table.columns
    }


MIXED = {
    "x0": ["on", "off", None, "on"],
    "x1": [1.5, None, 2.5, -0.0],
    "x2": [True, False, True, None],
    "x3": [1, 2, 3, 4],
}


def test_every_library_gives_the_same_table(to_library):
    table = as_table(to_library(MIXED))
    assert cells(table) == MIXED
    assert [column.kind for column in table.columns] == ["text", "number", "boolean", "number"]
    assert [column.n_missing for column in table.columns] == [1, 1, 1, 0]


def test_a_table_of_numbers_may_be_an_array():
    table = as_table(np.array([[1.0, np.nan], [3.0, 4.0]]))
    assert cells(table) == {"x0": [1.0, 3.0], "x1": [None, 4.0]}


def test_reading_changes_nothing(to_library):
    data = to_library(MIXED)
    before = repr(data)
    as_table(data)
    assert repr(data) == before


def test_a_table_is_taken_as_it_is():
    table = as_table(MIXED)
    assert as_table(table) is table


def test_a_dict_of_single_values_is_one_row():
    row = {
        "a": "on",
        "b": 1.5,
        "c": None,
        "d": decimal.Decimal("2.5"),
        "e": np.float32(0.5),
        "f": True,
    }
    table = as_table(row)
    assert table.n_rows == 1
    assert cells(table) == {
        "a": ["on"],
        "b": [1.5],
        "c": [None],
        "d": [2.5],
        "e": [0.5],
        "f": [True],
    }


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        (pd.array([1, None, 3], dtype="Int64"), "number", [1, None, 3]),
        (pd.array([True, None, False], dtype="boolean"), "boolean", [True, None, False]),
        (pd.array(["a", None, "b"], dtype="string"), "text", ["a", None, "b"]),
        (pd.Categorical(["a", None, "b"]), "text", ["a", None, "b"]),
        (pd.Categorical([3, None, 1]), "number", [3, None, 1]),
        (pd.array([1.5, None, 2.0], dtype="Float64"), "number", [1.5, None, 2.0]),
        (pd.array(["a", None, "b"], dtype=pd.ArrowDtype(pa.string())), "text", ["a", None, "b"]),
        (np.array([1, 2, 3], np.uint8), "number", [1, 2, 3]),
        (np.array([0.5, np.nan, 1.0], np.float16), "number", [0.5, None, 1.0]),
        ([decimal.Decimal("1.5"), None, decimal.Decimal("2.25")], "number", [1.5, None, 2.25]),
        ([datetime.timedelta(seconds=2), None, datetime.timedelta(0)], "number", [2.0, None, 0.0]),
        (pd.Series([None, None, None], dtype=object), "empty", [None, None, None]),
    ],
    ids=lambda value: getattr(value, "dtype", None) and str(value.dtype),
)
def test_types_are_read_as_what_they_are(values, kind, wanted):
    for data in ({"x": values}, pd.DataFrame({"x": values})):
        table = as_table(data)
        assert table.columns[0].kind == kind
        assert cells(table) == {"x": wanted}


def test_arrays_of_the_other_byte_order_are_read():
    swapped = np.array([[0.5, np.nan], [1.0, 2.0]], ">f8")
    assert cells(as_table(swapped)) == {"x0": [0.5, 1.0], "x1": [None, 2.0]}
    assert cells(as_table({"x": swapped[:, 0]})) == {"x": [0.5, 1.0]}


def test_dates_are_times_with_or_without_a_zone():
    naive = pd.to_datetime(["2024-01-01 00:00", None, "2024-01-03 12:00"])
    for column in (naive, naive.tz_localize("Europe/Vienna")):
        table = as_table(pd.DataFrame({"t": column}))
        assert table.columns[0].kind == "time"
        assert table.columns[0].cell(1) is None
    table = as_table({"d": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]})
    assert table.columns[0].cell(1) == datetime.datetime(2024, 1, 2)


def test_a_lazy_frame_is_collected():
    table = as_table(pl.DataFrame({"a": [1, 2]}).lazy())
    assert cells(table) == {"a": [1, 2]}


def test_a_record_batch_is_a_table():
    assert cells(as_table(pa.RecordBatch.from_pydict({"a": [1, 2]}))) == {"a": [1, 2]}


def test_chunks_with_dictionaries_of_their_own_are_one_column():
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "c"]).dictionary_encode()]
    table = as_table(pa.table({"u": pa.chunked_array(chunks)}))
    assert cells(table) == {"u": ["a", "b", "b", "c"]}
    assert sorted(table.columns[0].categories) == ["a", "b", "c"]


def test_a_dictionary_that_lists_a_text_twice_has_it_once():
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", "a"]))
    table = as_table(pa.table({"u": twice}))
    assert cells(table) == {"u": ["a", "b", "a", "a"]}
    assert sorted(table.columns[0].categories) == ["a", "b"]


def test_a_null_in_a_dictionary_is_missing():
    holed = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    assert cells(as_table(pa.table({"u": holed}))) == {"u": ["a", None, None]}


def test_enums_and_categoricals_of_polars_are_text():
    frame = pl.DataFrame(
        {
            "a": pl.Series(["x", "y"], dtype=pl.Categorical),
            "b": pl.Series(["x", None], dtype=pl.Enum(["x"])),
        }
    )
    assert cells(as_table(frame)) == {"a": ["x", "y"], "b": ["x", None]}


def test_a_table_with_no_rows_has_no_rows(to_library):
    for data in (pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), np.empty((0, 2)), {"a": []}):
        assert as_table(data).n_rows == 0


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


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"a": [1, "x"]},
            "Column 'a' mixes values of different types.\n"
            "Hint: make them one type, for instance with frame['a'].astype(str).",
        ),
        (
            pd.DataFrame({"a": [1.5, "x"]}),
            "Column 'a' mixes values of different types.\n"
            "Hint: make them one type, for instance with frame['a'].astype(str).",
        ),
        (
            {"a": [True, 2]},
            "Column 'a' mixes values of different types.\n"
            "Hint: make them one type, for instance with frame['a'].astype(str).",
        ),
        (
            {"a": [1, 2], "b": [1]},
            "Columns must be of equal length, got 1 values in 'b' and 2 elsewhere.",
        ),
        ({}, "A table must have at least one column, got 0 feature(s)."),
        (pd.DataFrame(), "A table must have at least one column, got 0 feature(s)."),
        (pl.DataFrame(), "A table must have at least one column, got 0 feature(s)."),
        (pa.table({}), "A table must have at least one column, got 0 feature(s)."),
        (np.empty((3, 0)), "A table must have at least one column, got 0 feature(s)."),
        (
            np.arange(3),
            "A table must be a NumPy array of 2 dimensions, got 1.\nHint: reshape it with "
            "array.reshape(-1, 1) if it is one column, (1, -1) if it is one row.",
        ),
        (
            "rows.csv",
            "A table must be a dataframe, a NumPy array of 2 dimensions or a dict of columns, got "
            "str.\nHint: wrap it with pandas.DataFrame(...) or pass a dict from names to columns.",
        ),
        (
            None,
            "A table must be a dataframe, a NumPy array of 2 dimensions or a dict of columns, got "
            "NoneType.\nHint: wrap it with pandas.DataFrame(...) or pass a dict from names to "
            "columns.",
        ),
        (
            {"a": np.zeros((2, 2))},
            "Column 'a' must have one dimension, got 2.",
        ),
        (
            {"a": [[1], [2]]},
            "Column 'a' has values of type list<item: int64>, which cannot be read.\n"
            "Hint: leave it out, or turn it into text or numbers first.",
        ),
        (
            {"a": [b"x"]},
            "Column 'a' has values of type binary, which cannot be read.\n"
            "Hint: leave it out, or turn it into text or numbers first.",
        ),
        (
            {1: [1, 2]},
            "Column names must be strings, got 1.\nHint: rename them, for instance with "
            "frame.columns = frame.columns.astype(str).",
        ),
        (
            pd.DataFrame([[1, 2]], columns=["a", 3]),
            "Column names must be strings, got 3.\nHint: rename them, for instance with "
            "frame.columns = frame.columns.astype(str).",
        ),
        (
            {"a": [1], " ": [2]},
            "Column names must not be empty, got ' ' at position 1.\n"
            "Hint: give the column a name, or drop it.",
        ),
        (
            pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
            "Column names must be distinct, got more than one 'a'.\n"
            "Hint: rename or drop one of them.",
        ),
        (
            pa.table([[1], [2]], names=["a", "a"]),
            "Column names must be distinct, got more than one 'a'.\n"
            "Hint: rename or drop one of them.",
        ),
        (
            {"a": ["\ud800"]},
            "Column 'a' holds text that is not valid Unicode.\n"
            "Hint: it was probably read with a wrong encoding.",
        ),
        (
            {"\ud800": [1]},
            "Column names must be valid Unicode, got '\\ud800'.\n"
            "Hint: they were probably read with a wrong encoding.",
        ),
        (
            {"a": [10**30, 1]},
            "Column 'a' holds whole numbers beyond 64 bits.\n"
            "Hint: turn it into text, or into floating-point numbers.",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(data, message):
    with pytest.raises(TableError) as caught:
        as_table(data)
    assert str(caught.value) == message


def test_results_come_as_a_dataframe_of_an_installed_library():
    frame = to_frame({"a": [1, 2], "b": ["x", None]})
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["a", "b"]


def test_a_table_gives_its_columns_by_name():
    table = as_table(MIXED)
    assert isinstance(table, Table)
    assert table.names == tuple(MIXED)
    assert table.column_of()["x3"].cell(2) == 3
