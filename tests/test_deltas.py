"""The change since the previous row is a variable like any other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import finite
from truism.errors import SchemaError, TableError
from truism.table.deltas import Stretch, delta_name, last_values, with_deltas
from truism.table.frames import as_table


def deltas(values):
    table = with_deltas(as_table({"X": values}), ["X"])
    assert table.names == ("X", "ΔX")
    return [table.columns[1].cell(row) for row in range(table.n_rows)]


def test_the_change_is_taken_from_the_previous_row():
    assert deltas([1.0, 3.0, 2.5]) == [None, 2.0, -0.5]
    assert deltas([1, 3, 2]) == [None, 2.0, -1.0]


def test_a_change_from_or_to_a_missing_value_is_missing():
    assert deltas([1.0, None, 2.0, 3.0]) == [None, None, None, 1.0]


def test_one_row_has_no_change():
    assert deltas([1.0]) == [None]
    assert deltas([None]) == [None]


def test_infinite_and_enormous_changes_do_not_warn():
    assert deltas([1e308, -1e308, 0.0]) == [None, -math.inf, 1e308]
    assert deltas([math.inf, math.inf, 0.0]) == [None, None, -math.inf]


@given(st.lists(st.one_of(st.floats(-1e6, 1e6), st.none()), min_size=1, max_size=30))
def test_changes_equal_differences(values):
    if all(value is None for value in values):
        return
    found = deltas(values)
    assert found[0] is None
    for before, now, change in zip(values, values[1:], found[1:], strict=False):
        if before is None or now is None:
            assert change is None
        else:
            larger = max(abs(before), abs(now))
            assert change == pytest.approx(now - before, rel=0, abs=1e-12 * larger)


@given(st.lists(st.one_of(finite, st.sampled_from([0.1, 0.3, 1.1, 1e6, 1e-9])), min_size=1))
def test_a_change_depends_on_its_two_rows_alone(values):
    among = deltas(values)
    for row in range(1, len(values)):
        assert deltas(values[row - 1 : row + 1])[1] == among[row]
        assert deltas(values[: row + 1]) == among[: row + 1]


def test_noise_elsewhere_leaves_a_change_as_it_is():
    assert deltas([0.1, 0.4, math.pi, 1e300])[1] == deltas([0.1, 0.4])[1] == 0.3


def test_changes_of_large_whole_numbers_are_exact():
    assert deltas([2**50, 2**50 + 1, 2**50 - 6]) == [None, 1.0, -7.0]
    assert deltas([1_700_000_000_000_000_000, 1_700_000_000_000_000_256]) == [None, 256.0]
    assert deltas([math.pi, math.e]) == [None, math.e - math.pi]
    assert deltas([3e-15, 1e-15])[1] == pytest.approx(-2e-15)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"Y": [1.0]}, SchemaError, "Column 'X' is missing from the table to score."),
        (
            {"X": ["a"]},
            SchemaError,
            "Column 'X' must hold numbers for its change to be taken.",
        ),
        (
            {"X": [1.0, "a"]},
            TableError,
            "Column 'X' mixes values of different types.\n"
            "Hint: make them one type, for instance with frame['X'].astype(str).",
        ),
        (
            {"X": [1.0], "ΔX": [2.0]},
            TableError,
            "Column 'ΔX' exists already; it is the name of the change of 'X'.\n"
            "Hint: rename or drop it.",
        ),
    ],
)
def test_changes_that_cannot_be_taken_are_refused(data, error, message):
    with pytest.raises(error) as caught:
        with_deltas(as_table(data), ["X"])
    assert str(caught.value) == message


def test_the_name_says_what_it_is():
    assert delta_name("LIT301") == "ΔLIT301"


def test_the_change_of_decimals_is_a_decimal():
    table = with_deltas(as_table({"X": [0.1, 0.4, 1.1, 0.8]}), ["X"])
    assert [table.columns[1].cell(row) for row in range(4)] == [None, 0.3, 0.7, -0.3]


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=9), st.integers(0, 6))
def test_a_change_does_not_depend_on_the_decimals_of_other_rows(ticks, decimals):
    values = [tick / 10**decimals for tick in ticks]
    alone = with_deltas(as_table({"X": values[:2]}), ["X"]).columns[1].cell(1)
    among = with_deltas(as_table({"X": values}), ["X"]).columns[1].cell(1)
    assert alone == among == (ticks[1] - ticks[0]) / 10**decimals


def test_changes_stay_within_runs_and_go_on_from_what_was_before():
    table = as_table({"x": [1.0, 10.0, 2.0, 30.0]})
    runs = [Stretch(np.array([0, 2]), {"x": 0.5}), Stretch(np.array([1, 3]))]
    changes = with_deltas(table, ["x"], runs).columns[1]
    assert [changes.cell(row) for row in range(4)] == [0.5, None, 1.0, 20.0]


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.integers(0, 30))
def test_a_meter_that_falls_goes_on_as_in_the_row_before(values, cut):
    expected = list[float | None]()
    for change in deltas(values):
        fell = change is not None and change < 0
        expected.append(expected[-1] if fell else change)
    found, before = list[float | None](), dict[str, float]()
    for part in (values[:cut], values[cut:]):  # however rows are divided
        if part:
            rows = np.arange(len(part))
            table = with_deltas(as_table({"X": part}), ["X"], [Stretch(rows, before)], {"X"})
            found += [table.columns[1].cell(row) for row in rows]
            before = last_values(table, ["X", "ΔX"], {"": rows})[""]
    assert found == expected
