"""Whatever holds columns becomes the same table."""

import datetime
import decimal
import uuid
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from truism.errors import TableError
from truism.table.columns import Table, numbers
from truism.table.frames import as_table, library_of, to_frame
from truism.table.times import dated


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


def test_what_is_changed_later_stays_as_it_was_read():
    numbers = np.array([1.5, 2.5, 3.5])
    frame = pd.DataFrame({"x": numbers.copy(), "n": [1, 2, 3], "f": [True, False, True]})
    for data in (frame, {"x": numbers}, numbers[:, None]):
        table = as_table(data)
        before = cells(table)
        if data is frame:
            frame.loc[0, "x"], frame.loc[1, "n"], frame.loc[2, "f"] = 9.5, 9, False
        else:
            numbers[:] = 9.5
        assert cells(table) == before


def test_numbers_of_arrow_are_not_copied():
    data = pa.table({"x": [1.5, 2.5], "n": [1, 2]})
    for column in as_table(data).columns:
        assert np.shares_memory(column.values, data[column.name].chunk(0).to_numpy())


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
        (
            [decimal.Decimal("Infinity"), decimal.Decimal("NaN"), decimal.Decimal("2.25")],
            "number",
            [float("inf"), None, 2.25],
        ),
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


def test_times_keep_the_zone_of_the_data():
    naive = pd.to_datetime(["2024-01-01 00:00", "2024-07-01 12:00"])
    table = as_table(pd.DataFrame({"t": naive.tz_localize("Europe/Vienna"), "n": naive}))
    assert str(table.columns[0].cell(0)) == "2024-01-01 00:00:00+01:00"
    assert str(table.take(slice(1, 2)).columns[0].cell(0)) == "2024-07-01 12:00:00+02:00"
    assert str(table.columns[1].cell(0)) == "2024-01-01 00:00:00"
    texts = as_table({"t": ["2024-01-01T02:00:00+02:00", "2024-01-01T01:00:00Z"]})
    assert str(dated(texts.columns[0]).cell(0)) == "2024-01-01 00:00:00+00:00"


def test_times_of_day_are_times_of_day():
    (column,) = as_table({"t": [datetime.time(7, 30), None, datetime.time(0, 0, 0, 5)]}).columns
    assert column.kind == "time"
    assert [column.cell(row) for row in range(3)] == [
        datetime.time(7, 30),
        None,
        datetime.time(0, 0, 0, 5),
    ]


def test_periods_are_the_times_at_which_they_start():
    periods = pd.PeriodIndex(["2026-01", None, "2026-03"], freq="M")
    for data in ({"t": periods}, pd.DataFrame({"t": periods})):
        (column,) = as_table(data).columns
        assert column.kind == "time"
        assert column.cell(1) is None
        assert column.cell(2) == datetime.datetime(2026, 3, 1)


@pytest.mark.parametrize(
    "index",
    [
        pd.date_range("2026-01-01", periods=2, freq="h"),
        pd.date_range("2026-01-01", periods=2, freq="h", tz="UTC"),
        pd.period_range("2026-01-01", periods=2, freq="h"),
    ],
    ids=str,
)
def test_an_index_of_dates_is_a_column_where_there_are_none(index):
    frame = pd.DataFrame({"a": [1, 2]}, index=index)
    _, when = as_table(frame).columns
    assert (when.name, when.kind, when.index) == ("index", "time", True)
    assert str(when.cell(1)).startswith("2026-01-01 01:00:00")
    assert as_table(frame.rename_axis("when")).names == ("a", "when")
    assert as_table(frame.rename_axis("a")).names == ("a",)
    assert as_table(frame.assign(t=pd.Timestamp("2026-01-01"))).names == ("a", "t")
    assert as_table(frame.reset_index(drop=True)).names == ("a",)


def test_missing_durations_are_missing():
    lasts = pd.Series(pd.to_timedelta([1_500_000_001, None, 2_000_000_000], unit="ns"))
    for data in (pd.DataFrame({"x": lasts}), {"x": lasts}, {"x": lasts.to_numpy()}):
        (column,) = as_table(data).columns
        assert numbers(column).tolist() == pytest.approx([1.500000001, np.nan, 2.0], nan_ok=True)
        assert column.missing.tolist() == [False, True, False]


def test_masked_values_are_missing():
    masked = np.ma.array([[1, 2], [3, 4], [5, 6]], mask=[[0, 1], [0, 0], [1, 0]])
    assert cells(as_table(masked)) == {"x0": [1, 3, None], "x1": [None, 4, 6]}
    assert cells(as_table({"a": masked[:, 1]})) == {"a": [None, 4, 6]}
    assert cells(as_table({"a": np.ma.array([1.5, 2.5])})) == {"a": [1.5, 2.5]}
    assert cells(as_table({"a": np.ma.array(["on", "off"], mask=[0, 1])})) == {"a": ["on", None]}
    swapped = np.ma.array([1.5, 2.5], ">f8", mask=[1, 0])
    assert cells(as_table({"a": swapped})) == {"a": [None, 2.5]}


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


@pytest.mark.parametrize(
    ("data", "message"),
    [
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
            "Column names must not be empty, got none for column 2 of 2.\nHint: rename or drop it.",
        ),
        (
            pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
            "Column names must be distinct, got 'a' for columns 1 and 3.\nHint: rename or drop it.",
        ),
        (
            pa.table([[1], [2]], names=["a", "a"]),
            "Column names must be distinct, got 'a' for columns 1 and 2.\nHint: rename or drop it.",
        ),
        (
            {"\ud800": [1]},
            "Column names must be valid Unicode, got '\\ud800'.\n"
            "Hint: they were probably read with a wrong encoding.",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(data, message):
    with pytest.raises(TableError) as caught:
        as_table(data)
    assert str(caught.value) == message


FOREIGN = "Hint: leave it out, or turn it into text or numbers first."


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
            {"a": ["\ud800"]},
            "Column 'a' holds text that is not valid Unicode.\n"
            "Hint: it was probably read with a wrong encoding.",
        ),
        (
            {"a": np.array(["\ud800", "b"])},
            "Column 'a' holds text that is not valid Unicode.\n"
            "Hint: it was probably read with a wrong encoding.",
        ),
        (
            {"a": [10**30, 1]},
            "Column 'a' holds whole numbers beyond 64 bits.\n"
            "Hint: turn it into text, or into floating-point numbers.",
        ),
    ],
)
def test_a_column_with_unreadable_values_is_kept_with_the_reason(data, message):
    (column,) = as_table(data).columns
    assert column.kind == "faulty"
    assert str(column.fault.error("a")) == message


def name_of_uuids():
    """Return how a column of them is called; older versions of Arrow do not know them."""
    try:
        return str(pa.array([uuid.UUID(int=1)]).type)
    except pa.ArrowInvalid:
        return "UUID"


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([[1], [2]], "list<item: int64>"),
        ([[1], ["x"]], "list"),
        ([b"x", b"y"], "binary"),
        ([{"x": 1}, None], "struct<x: int64>"),
        ([uuid.UUID(int=1), uuid.UUID(int=2)], name_of_uuids()),
        ([1j, None], "complex"),
        ([float("nan"), 1j], "complex"),
        (np.array([1j, 2.0]), "complex128"),
        ([Fraction(1, 3), Fraction(2, 3)], "Fraction"),
        (np.zeros(2, [("x", "i4")]), "[('x', '<i4')]"),
    ],
)
def test_a_column_of_another_type_is_kept_with_the_reason(values, name):
    table = as_table({"a": values, "b": [1, 2]})
    assert table.n_rows == 2
    assert table.columns[0].kind == "other"
    assert str(table.columns[0].fault.error("a")) == (
        f"Column 'a' has values of type {name}, which cannot be read.\n{FOREIGN}"
    )
    assert table.take(slice(1, 2)).columns[0].cell(0) is None


def test_complex_numbers_of_a_frame_are_called_so():
    (column,) = as_table(pd.DataFrame({"a": [1j, 2.0]})).columns
    assert column.fault.reason == "has values of type complex128, which cannot be read"


def test_what_arrow_cannot_convert_is_read_all_the_same():
    long = pa.array([2**62, None], pa.duration("s"))
    assert cells(as_table(pa.table({"x": long}))) == {"x": [2.0**62, None]}
    views = pa.DictionaryArray.from_arrays([0, None], pa.array(["on"], pa.string_view()))
    assert cells(as_table(pa.table({"x": views}))) == {"x": ["on", None]}


def test_sparse_columns_are_read():
    sparse = pd.arrays.SparseArray([0.0, 1.5, np.nan])
    for data in (pd.DataFrame({"x": sparse}), {"x": sparse}, {"x": pd.Series(sparse)}):
        assert cells(as_table(data)) == {"x": [0.0, 1.5, None]}


@pytest.mark.parametrize(
    ("values", "hint"),
    [
        (b"on", "turn it into text first, for instance with value.decode()."),
        (bytearray(b"on"), "turn it into text first, for instance with value.decode()."),
        ({"on", "off"}, "turn it into a list first."),
        (frozenset({1, 2}), "turn it into a list first."),
        ((i for i in range(2)), "turn it into a list first."),
        (iter([1, 2]), "turn it into a list first."),
        ({0: 1.0, 1: 2.0}, "give a list of its values; pandas does with frame.to_dict('list')."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_column_is_refused(values, hint):
    with pytest.raises(TableError) as caught:
        as_table({"a": values})
    kind = type(values).__name__
    assert str(caught.value) == (
        f"Column 'a' must be a list or an array of values, got {kind}.\nHint: {hint}"
    )


def test_results_come_as_a_dataframe_of_an_installed_library():
    frame = to_frame({"a": [1, 2], "b": ["x", None]})
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["a", "b"]


def test_a_table_gives_its_columns_by_name():
    table = as_table(MIXED)
    assert isinstance(table, Table)
    assert table.names == tuple(MIXED)
    assert table.column_of()["x3"].cell(2) == 3


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps"])
def test_times_of_numpy_are_read_in_every_unit(unit):
    first = "1970-03-01" if unit == "ps" else "2024-01-01"  # picoseconds reach 106 days
    times = np.array([first, "NaT", "1970-01-01"], f"datetime64[{unit}]")
    for values in (times, np.ma.masked_array(times, [False, True, False])):
        column = as_table({"when": values}).columns[0]
        assert column.kind == "time"
        expected = times.astype("datetime64[us]").tolist()
        assert [column.cell(row) for row in range(3)] == [expected[0], None, expected[2]]


@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns", "ps"])
def test_durations_of_numpy_are_read_in_every_unit(unit):
    durations = np.array([0, "NaT", 2], f"timedelta64[{unit}]")
    column = as_table({"took": durations}).columns[0]
    seconds = durations.astype("timedelta64[ns]").astype(float) / 1e9
    assert [column.cell(row) for row in range(3)] == [0.0, None, seconds[2]]


@pytest.mark.parametrize(
    ("data", "library"),
    [
        (pd.DataFrame({"a": [1]}), "pandas"),
        (pd.Series([1]), "pandas"),
        (pl.DataFrame({"a": [1]}), "polars"),
        (pl.LazyFrame({"a": [1]}), "polars"),
        (pa.table({"a": [1]}), "pyarrow"),
        (np.zeros((2, 2)), None),
        ({"a": [1]}, None),
        (None, None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_results_come_in_the_library_that_is_asked_for(data, library):
    assert library_of(data) == library
    columns = {"b": np.array([0.5]), "c": ["x"]}
    found = to_frame(columns, library)
    assert library_of(found) == library or library is None
    assert as_table(found).columns[0].values.tolist() == [0.5]


def test_a_frame_may_have_the_index_of_another():
    like = pd.DataFrame({"a": [1, 2]}, index=pd.Index([7, 9], name="shift"))
    found = to_frame({"b": [0.5, 1.0]}, "pandas", like)
    assert found.index.equals(like.index)
    assert found.index.name == "shift"
    assert to_frame({"b": [0.5]}, "polars", pl.DataFrame({"a": [1]})).columns == ["b"]
