"""Columns become variables of the right kind, with statistics that no order of rows changes."""

import datetime
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learned import infer
from strategies import finite, tables
from truism.errors import ParameterError, TableError
from truism.model.schema import Categorical, LeftOut, Numeric
from truism.score.alignment import time_column
from truism.table.frames import as_table
from truism.table.times import dated


def kinds(data, **overrides):
    return {v.name: type(v).__name__ for v in infer(as_table(data), **overrides).variables}


def test_kinds_are_inferred_as_decided():
    data = {
        "text": list("ab" * 10),
        "flag": [True, False] * 10,
        "state": [1, 2, 3, 4, 5] * 4,
        "state as float": [0.0, 1.5] * 10,
        "quantity": [1, 2, 3, 4, 5, 6, 1, 2, 3, 4] * 2,
        "constant": [3.0] * 20,
    }
    assert kinds(data) == {
        "text": "Categorical",
        "flag": "Categorical",
        "state": "Categorical",
        "state as float": "Categorical",
        "quantity": "Numeric",
        "constant": "Categorical",
    }


def test_a_categorical_column_of_numbers_stays_categorical():
    data = pd.DataFrame({"u": pd.Categorical([i % 8 for i in range(40)])})
    assert kinds(data) == {"u": "Categorical"}


def test_overrides_change_only_the_columns_they_name():
    data = {"a": [1, 2] * 10, "b": [1, 2] * 10, "c": [i % 7 for i in range(20)]}
    assert kinds(data, continuous=["a"], categorical=["c"]) == {
        "a": "Numeric",
        "b": "Categorical",
        "c": "Categorical",
    }


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("id", [f"row {i}" for i in range(40)], "text with 40 distinct values in 40 rows"),
        ("n", list(range(100, 140)), "whole numbers that count the rows"),
        ("n", list(range(139, 99, -1)), "whole numbers that count the rows"),
        ("empty", [None] * 40, "every value is missing"),
        ("nan", [math.nan] * 40, "every value is missing"),
    ],
)
def test_columns_that_only_identify_rows_are_left_out_with_the_reason(name, values, reason):
    schema = infer(as_table({name: values, "u": ["a", "b"] * 20}))
    assert schema.left_out == (LeftOut(name, reason),)
    assert schema.names == ("u",)


def test_text_with_exactly_95_percent_distinct_values_stays():
    values = [f"t{i}" for i in range(19)] + ["t0"]
    assert kinds({"t": values}) == {"t": "Categorical"}
    values = [f"t{i}" for i in range(39)] + ["t0"]
    assert infer(as_table({"t": values, "u": [1, 2] * 20})).names == ("u",)


def test_whole_numbers_that_skip_one_or_repeat_one_stay():
    assert kinds({"n": [*range(39), 40]}) == {"n": "Numeric"}
    assert kinds({"n": [*range(39), 0]}) == {"n": "Numeric"}


@pytest.mark.parametrize("library", [list, np.array, lambda ids: pd.array(ids, dtype="Int64")])
@pytest.mark.parametrize("kind", [int, float])
def test_numbers_that_count_rows_do_so_in_any_type(kind, library):
    ids = library([kind(i) for i in range(100, 140)])
    (left,) = infer(as_table({"n": ids, "u": ["a", "b"] * 20})).left_out
    assert left == LeftOut("n", "whole numbers that count the rows")


def test_numbers_that_count_rows_may_lack_a_few():
    for ids in ([*range(20), None, *range(21, 40)], [None, *map(float, range(39))]):
        assert infer(as_table({"n": ids, "u": ["a", "b"] * 20})).names == ("u",)
    often = [i if i % 3 else None for i in range(40)]
    assert kinds({"n": often}) == {"n": "Numeric"}


def test_an_override_brings_a_left_out_column_back():
    data = {"n": list(range(40)), "id": [f"row {i}" for i in range(40)]}
    assert kinds(data, continuous=["n"], categorical=["id"]) == {
        "n": "Numeric",
        "id": "Categorical",
    }


def test_dates_are_the_time_axis_and_never_a_variable():
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=i) for i in range(20)]
    schema = infer(as_table({"t": days, "t2": days, "u": ["a", "b"] * 10}))
    assert schema.time == "t"
    assert schema.names == ("u",)
    assert schema.left_out == (LeftOut("t2", "dates, and the time axis is another column"),)
    assert infer(as_table({"t": days, "t2": days, "u": [1, 2] * 10}), time="t2").time == "t2"
    assert infer(as_table({"t": days, "u": [1, 2] * 10}), ignore=["t"]).time is None


@pytest.mark.parametrize(
    "form", ["2026-01-{:02}", "2026-01-{:02} 07:00", "2026-01-{:02}T07:00:00Z"]
)
def test_text_that_reads_as_times_is_the_time_axis(form):
    ids, times = [f"u{i}" for i in range(20)], [form.format(i + 1) for i in range(20)]
    table = as_table({"id": ids, "t": times, "X": [0, 1] * 10})
    assert infer(table).time == "t"
    assert infer(table, ignore=["t"]).time is None
    assert "t" in infer(table, categorical=["t"]).names
    column = dated(time_column(infer(table), table))
    assert column.cell(4).isoformat().startswith("2026-01-05")


def test_text_that_reads_as_times_is_a_date_even_if_it_repeats():
    table = as_table({"batch": ["2026-01-01", "2026-01-02"] * 10, "X": [0, 1] * 10})
    assert infer(table).time == "batch"
    assert infer(table).names == ("X",)
    forced = infer(table, categorical=["batch"])
    assert (forced.time, forced.names) == (None, ("batch", "X"))
    days = [datetime.datetime(2024, 1, 1 + i) for i in range(20)]
    both = as_table({"batch": ["2026-01-01", "2026-01-02"] * 10, "t": days, "X": [0, 1] * 10})
    schema = infer(both)
    assert schema.left_out == (LeftOut("batch", "dates, and the time axis is another column"),)


def test_dates_go_before_text_that_reads_as_times():
    texts = [f"2026-01-{i + 1:02}" for i in range(20)]
    dates = [datetime.date(2026, 1, i + 1) for i in range(20)]
    assert infer(as_table({"t": texts, "d": dates, "X": [0, 1] * 10})).time == "d"


def test_ignored_columns_are_left_out_as_asked():
    schema = infer(as_table({"a": [1, 2] * 5, "b": [1, 2] * 5}), ignore=["a"])
    assert schema.left_out == (LeftOut("a", "ignored on request"),)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"categorical": ["FIT20"]},
            "categorical must name columns of the table, got 'FIT20'.\n"
            "Hint: did you mean 'FIT201'?",
        ),
        ({"ignore": ["zzz"]}, "ignore must name columns of the table, got 'zzz'."),
        ({"time": "zzz"}, "time must name columns of the table, got 'zzz'."),
        ({"ignore": [0]}, "ignore must name columns of the table, got 0."),
        ({"time": 3}, "time must name columns of the table, got 3."),
        (
            {"ignore": "FIT201"},
            "ignore must be a list of column names, got 'FIT201'.\nHint: put it in a list: ['FIT201'].",
        ),
        (
            {"categorical": ["FIT201"], "continuous": ["FIT201"]},
            "A column must be either categorical or continuous, got both for 'FIT201'.",
        ),
        (
            {"continuous": ["U"]},
            "continuous must name columns of numbers, got 'U'.\nHint: it holds text.",
        ),
        (
            {"ignore": ["FIT201", "U"]},
            None,
        ),
    ],
)
def test_overrides_that_make_no_sense_are_refused(options, message):
    table = as_table({"FIT201": [1.0, 2.0] * 5, "U": ["a", "b"] * 5})
    with pytest.raises(TableError if message is None else ParameterError) as caught:
        infer(table, **options)
    if message is None:
        message = (
            "No column can be learned from ('FIT201': ignored on request).\nHint: a rule needs at "
            "least one column of states or numbers; name the columns that hold them."
        )
    assert str(caught.value) == message


@pytest.mark.parametrize("infinity", [math.inf, -math.inf])
def test_infinity_is_refused_in_training_with_the_column_named(infinity):
    with pytest.raises(TableError) as caught:
        infer(as_table({"X": [*map(float, range(9)), infinity]}))
    assert str(caught.value) == (
        "Column 'X' holds infinity in row 9; training values must be finite.\n"
        "Hint: replace it with a missing value (NaN), or drop the row."
    )


def test_columns_of_other_types_are_left_out_with_the_reason():
    schema = infer(as_table({"tags": [["a"], ["b"]] * 10, "u": ["a", "b"] * 10}))
    reason = "it has values of type list<item: string>, which cannot be read"
    assert schema.left_out == (LeftOut("tags", reason),)
    assert schema.names == ("u",)


@pytest.mark.parametrize("option", ["categorical", "continuous", "time"])
def test_columns_of_other_types_cannot_be_asked_for(option):
    table = as_table({"tags": [["a"], ["b"]] * 10, "u": ["a", "b"] * 10})
    with pytest.raises(TableError) as caught:
        infer(table, **{option: "tags" if option == "time" else ["tags"]})
    assert str(caught.value) == (
        "Column 'tags' has values of type list<item: string>, which cannot be read.\n"
        "Hint: leave it out, or turn it into text or numbers first."
    )


def test_columns_of_mixed_types_are_refused_unless_they_are_ignored():
    table = as_table({"note": [1, "x"] * 10, "u": ["a", "b"] * 10})
    with pytest.raises(TableError) as caught:
        infer(table)
    assert str(caught.value) == (
        "Column 'note' mixes values of different types.\n"
        "Hint: make them one type, for instance with frame['note'].astype(str)."
    )
    assert infer(table, ignore=["note"]).names == ("u",)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60))
def test_statistics_are_those_of_the_values(values):
    (variable,) = infer(as_table({"X": values}), continuous=["X"]).variables
    assert isinstance(variable, Numeric)
    assert (variable.low, variable.high) == (min(values), max(values))
    assert variable.mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-9)
    assert variable.std == pytest.approx(np.std(values), rel=1e-6, abs=1e-6)
    assert variable.low <= variable.mean <= variable.high
    assert sum(variable.counts) == len(values)
    assert len(variable.edges) == len(variable.counts) <= 255


@given(st.lists(finite, min_size=2, max_size=30), st.randoms())
def test_statistics_do_not_depend_on_the_order_of_rows(values, random):
    once = infer(as_table({"X": values}), continuous=["X"])
    shuffled = list(values)
    random.shuffle(shuffled)
    assert infer(as_table({"X": shuffled}), continuous=["X"]) == once


@given(st.lists(finite, min_size=2, max_size=30), st.integers(2, 7))
def test_repeating_all_rows_scales_only_counts(values, times):
    (once,) = infer(as_table({"X": values}), continuous=["X"]).variables
    (often,) = infer(as_table({"X": values * times}), continuous=["X"]).variables
    assert often.edges == once.edges
    assert often.counts == tuple(times * count for count in once.counts)
    assert (often.low, often.high) == (once.low, once.high)
    assert (often.mean, often.std) == (once.mean, once.std)


@pytest.mark.parametrize(
    "values",
    [
        [1.7976931348623157e308, -1.7976931348623157e308] * 4,
        [1.7976931348623157e308] * 7 + [-1.7976931348623157e308],
        [5e-324, 0.0, -5e-324, 1e-323],
        [1e308, 1e-308, -1e308],
    ],
)
def test_extreme_numbers_have_finite_statistics(values):
    (variable,) = infer(as_table({"X": values}), continuous=["X"]).variables
    assert math.isfinite(variable.mean)
    assert math.isfinite(variable.std)
    assert variable.std > 0


def test_the_two_zeros_are_one_number():
    (variable,) = infer(as_table({"X": [0.0, -0.0, 1.0] * 4})).variables
    assert variable.values == (0.0, 1.0)
    assert variable.counts == (8, 4)


def test_states_ascend_and_are_the_tables_own_values():
    (variable,) = infer(as_table({"U": ["b", "a", "b", None] * 3})).variables
    assert variable == Categorical("U", "text", ("a", "b"), (3, 6), 3)
    (variable,) = infer(as_table({"U": [True, False, True, None] * 3})).variables
    assert variable == Categorical("U", "boolean", (False, True), (3, 6), 3)
    (variable,) = infer(as_table({"U": [10, 9, 10, None] * 3})).variables
    assert variable == Categorical("U", "number", (9, 10), (3, 6), 3)
    assert all(type(value) is int for value in variable.values)


@given(tables())
def test_every_column_is_a_variable_or_left_out(data):
    schema = infer(as_table(data))
    assert {*schema.names, *(each.name for each in schema.left_out)} == set(data)
    assert list(schema.names) == [name for name in data if name in schema.names]
