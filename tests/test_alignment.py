"""The variables of a model are found in the columns of a table, and states become codes."""

import datetime
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as examples

import oracle
from learned import infer
from strategies import learned as learned_tables
from truism.errors import SchemaError, TableError
from truism.model.schema import Categorical
from truism.score.alignment import MISSING, UNSEEN, align, codes, time_column
from truism.table.columns import numbers
from truism.table.frames import as_table


def learned():
    return infer(
        as_table(
            {"X": [float(i % 9) for i in range(36)], "U": list("abc" * 12), "B": [True, False] * 18}
        )
    )


def test_column_order_is_free_and_extra_columns_are_named():
    table = as_table({"more": [1], "B": [True], "U": ["a"], "X": [0.5]})
    columns, extra = align(learned(), table)
    assert [column.name for column in columns] == ["X", "U", "B"]
    assert extra == ("more",)


def test_an_index_is_no_extra_column():
    index = pd.date_range("2026-01-01", periods=1)
    table = as_table(pd.DataFrame({"X": [0.5], "U": ["a"], "B": [True]}, index=index))
    assert table.names == ("X", "U", "B", "index")
    assert align(learned(), table)[1] == ()


def test_only_columns_of_variables_must_be_readable():
    rows = {"X": [0.5, 1.5], "U": ["a", "b"], "B": [True, False]}
    columns, extra = align(learned(), as_table({**rows, "note": [1, "x"], "tags": [[1], [2]]}))
    assert [column.name for column in columns] == ["X", "U", "B"]
    assert extra == ("note", "tags")
    with pytest.raises(TableError) as caught:
        align(learned(), as_table({**rows, "X": [1, "x"]}))
    assert str(caught.value) == (
        "Column 'X' mixes values of different types.\n"
        "Hint: make them one type, for instance with frame['X'].astype(str)."
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"U": ["a"], "B": [True]},
            "Column 'X' is missing from the table to score.\n"
            "Hint: the model was learned with 3 variables.",
        ),
        (
            {"X": [1.0], "U ": ["a"], "B": [True]},
            "Column 'U' is missing from the table to score.\n"
            "Hint: the model was learned with 3 variables; did you mean 'U '?",
        ),
        (
            {"U ": ["a"]},
            "Columns 'X', 'U', 'B' are missing from the table to score.\n"
            "Hint: the model was learned with 3 variables.",
        ),
        (
            {"X": ["1.0"], "U": ["a"], "B": [True]},
            "Column 'X' held numbers when the model was learned, got text.\n"
            "Hint: convert the column, or learn the model again.",
        ),
        (
            {"X": [1.0], "U": [1], "B": [True]},
            "Column 'U' held text when the model was learned, got numbers.\n"
            "Hint: convert the column, or learn the model again.",
        ),
        (
            {"X": [datetime.datetime(2024, 1, 1)], "U": ["a"], "B": [True]},
            "Column 'X' held numbers when the model was learned, got dates.\n"
            "Hint: convert the column, or learn the model again.",
        ),
        (
            {"X": [1.0], "U": ["a"], "B": ["yes"]},
            "Column 'B' held booleans when the model was learned, got text.\n"
            "Hint: convert the column, or learn the model again.",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused(data, message):
    with pytest.raises(SchemaError) as caught:
        align(learned(), as_table(data))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "nothing",
    [
        [None, None],
        [math.nan, math.nan],
        pd.Series([None, None], dtype="string"),
        np.full(2, np.nan),
    ],
)
def test_a_column_without_a_single_value_fits_any_variable(nothing):
    table = as_table({"X": nothing, "U": nothing, "B": nothing})
    columns, _ = align(learned(), table)
    variable_of = learned().variable_of()
    assert np.isnan(numbers(columns[0])).all()
    assert (codes(variable_of["U"], columns[1]) == MISSING).all()
    assert (codes(variable_of["B"], columns[2]) == MISSING).all()


def test_codes_tell_seen_unseen_and_missing_apart():
    (variable,) = infer(as_table({"U": [3, 1, 7] * 4})).variables
    column = as_table({"U": [1.0, 7.0, 2.0, None, 8.0, 0.0, math.inf]}).columns[0]
    assert codes(variable, column).tolist() == [0, 2, UNSEEN, MISSING, UNSEEN, UNSEEN, UNSEEN]
    (variable,) = infer(as_table({"U": list("bca" * 4)})).variables
    column = as_table({"U": ["a", "z", None, "c"]}).columns[0]
    assert codes(variable, column).tolist() == [0, UNSEEN, MISSING, 2]


@examples(max_examples=30)
@given(learned_tables())
def test_codes_are_positions_among_the_states_one_by_one(drawn):
    _, model, rows = drawn
    table = as_table(rows)
    columns, extra = align(model.schema, table)
    assert extra == ()
    assert tuple(column.name for column in columns) == model.schema.names
    for variable, column in zip(model.schema.variables, columns, strict=True):
        if not isinstance(variable, Categorical):
            continue
        wanted = [
            MISSING
            if oracle.is_missing(value)
            else next((i for i, state in enumerate(variable.values) if state == value), UNSEEN)
            for value in rows[variable.name]
        ]
        assert codes(variable, column).tolist() == wanted


def test_a_table_need_not_say_when():
    table = as_table({"t": ["2026-01-01", "2026-01-02"], "u": ["a", "b"]})
    schema = infer(table)
    assert time_column(schema, table).kind == "time"
    assert time_column(schema, as_table({"u": ["a"]})) is None
    assert time_column(infer(as_table({"u": ["a", "b"]})), table) is None
