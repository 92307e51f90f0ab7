"""How to learn, as one checked value."""

import inspect
import math
from fractions import Fraction

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import finite
from truism.errors import ParameterError
from truism.model.settings import Settings, check_number, check_threshold, check_whole, exact

NO_NUMBERS = (True, "0.5", None, [0.5], math.nan)


def refused(name, value):
    with pytest.raises(ParameterError) as caught:
        Settings(**{name: value})
    assert (caught.value.parameter, caught.value.message.endswith(f"got {value!r}.")) == (
        name,
        True,
    )


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("min_support", ["auto", 0.29, 1e-300, 1 - 1e-9], [0, 0.0, 1, -0.1, math.inf, *NO_NUMBERS]),
        ("support_ratio", ["auto", 0, 0.0, 0.99], [1, -0.1, math.inf, *NO_NUMBERS]),
        ("max_predicates", ["auto", 2, 16, np.int64(3)], [1, 17, 2.0, *NO_NUMBERS]),
        ("cutoffs", ["tree", "uniform", "kmeans"], ["Tree", None, 1]),
        ("scoring", ["evidence", "paper"], ["both", None, 0]),
        ("random_state", [0, 2**40], [-1, 1.0, *NO_NUMBERS]),
        ("max_nodes", [1], [0, 1.5, *NO_NUMBERS]),
        ("max_rules", [1], [0, 1.5, *NO_NUMBERS]),
    ],
)
def test_every_setting_has_its_bounds(name, right, wrong):
    for value in right:
        assert getattr(Settings(**{name: value}), name) == value
    for value in wrong:
        refused(name, value)


def test_what_is_left_open_suits_the_scoring():
    evidence, paper = Settings(), Settings(scoring="paper")
    assert (evidence.longest, evidence.ratio) == (3, 0.1)
    assert (paper.longest, paper.ratio) == (5, 0.7)
    asked = Settings(max_predicates=4, support_ratio=0.3)
    assert (asked.longest, asked.ratio) == (4, 0.3)


@given(finite)
def test_a_number_is_taken_as_the_decimal_it_prints_as(value):
    assert exact(value) == Fraction(repr(value))
    assert float(exact(value)) == value


@given(st.integers(1, 99), st.integers(1, 10**6))
def test_a_part_of_rows_is_never_one_off_by_rounding(percent, hundreds):
    assert exact(percent / 100) * (100 * hundreds) == percent * hundreds


@given(st.floats(), st.floats(-5, 5), st.floats(-5, 5))
def test_a_number_is_within_its_bounds_or_refused(value, at_least, below):
    if at_least <= value < below:
        check_number("x", value, "be right", at_least=at_least, below=below)
        return
    with pytest.raises(ParameterError) as caught:
        check_number("x", value, "be right", at_least=at_least, below=below)
    assert (caught.value.parameter, caught.value.constraint) == ("x", "be right")


def test_whole_numbers_and_thresholds_are_checked():
    check_whole("n", np.int32(3), 3)
    check_threshold(0)
    check_threshold(1e300)
    for wrong in (2, 3.0, True, "3"):
        with pytest.raises(ParameterError):
            check_whole("n", wrong, 3)
    for wrong in (-1e-9, math.inf, math.nan, "0", True):
        with pytest.raises(ParameterError):
            check_threshold(wrong)


def test_settings_survive_a_file():
    some = Settings(min_support=0.1, max_predicates=4, ignore=("a",), time="t")
    assert msgspec.json.decode(msgspec.json.encode(some), type=Settings) == some
    assert set(inspect.signature(Settings).parameters) == set(Settings.__struct_fields__)
