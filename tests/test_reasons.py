"""Clues in words: short, and a value never seems to satisfy what it breaks."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import finite, intervals
from truism.explain.clues import (
    Beyond,
    Contradiction,
    Nearest,
    Outside,
    Rarity,
    UsualNumber,
    UsualStates,
)
from truism.explain.words import ANYWAY, Reason, say
from truism.model.predicates import Interval, OneOf
from truism.model.rules import Rule
from truism.score.weighed import Violation


@pytest.mark.parametrize(
    ("found", "printed"),
    [
        (0.9348712349871234, "0.9349"),
        (0.99999999, "0.99999999"),  # 1 would seem to satisfy what it breaks
        (0.5, "0.5"),
        (-123456.0, "-123456"),
        (0.123456, "0.1235"),
        (-math.inf, "-inf"),
    ],
)
def test_a_found_number_has_as_many_digits_as_it_needs(found, printed):
    for failed in (Interval("X", low=1.0), Interval("X", 1.0, 2.0)):
        clue = Violation(Rule((), (failed,), 9), failed, (found,), 1.0)
        assert say(clue, 9).found == printed


@given(finite, finite, finite)
def test_a_number_outside_all_that_training_had_is_told_beside_what_was_seen(one, other, found):
    low, high = sorted((one, other))
    if low == high or low <= found <= high:
        return
    said = say(Outside("X", found, low, high, 1.0, "abc"), 9)
    bottom, top = (float(each) for each in said.expected.split(" ≤ X ≤ "))
    # Told rounded, but never narrower than what was seen, and never so wide that it holds the value.
    assert bottom <= low + 1e-9 * abs(low)
    assert top >= high - 1e-9 * abs(high)
    assert not bottom <= float(said.found) <= top
    assert (said.because, said.rule, said.kind) == (None, "abc", "outside")
    assert said.evidence == f"0 of 9 training rows were this {'low' if found < low else 'high'}"


def test_bounds_are_rounded_as_a_person_would():
    said = say(Outside("X", 414.8123, 11.973, 267.0912, 1.0), 4000)
    assert said.lines() == (
        "expected 11 ≤ X ≤ 268, found 414.8",
        ANYWAY,
        "(0 of 4,000 training rows were this high)",
    )
    assert say(Outside("X", 267.1, 11.973, 267.0912, 1.0), 9).expected == "11.973 ≤ X ≤ 267.092"


def context(found, expected, usual, n_like=304):
    return Contradiction("U", found, expected, (), usual, n_like, 1.0)


def test_a_mean_is_called_one():
    said = say(context(5.0, Interval("U", 0.5, 1.5), UsualNumber(1.0, 0.0, 0.01, False)), 10_000)
    assert said.evidence == "on average 1 in the 304 of 10,000 training rows like this"
    assert said.kind == "context"


def test_a_number_that_is_not_far_from_the_mean_has_no_interval():
    said = say(context(86.0, None, UsualNumber(128.3, 57.0, 1.0, False)), 10_000)
    assert (said.expected, said.found) == ("U about 128", "86")
    assert said.evidence.startswith("on average 128 ± 57 in the 304")


@pytest.mark.parametrize(
    ("n_usual", "states", "expected"),
    [
        (304, ("a",), "U = a"),
        (280, ("a",), "U = a"),
        (160, ("a",), "U usually a"),
        (250, ("a", "b", "c"), "U usually one of a, b, c"),
        (304, ("a", "b"), "U in {a, b}"),
    ],
)
def test_a_state_is_expected_only_where_nearly_all_rows_have_it(n_usual, states, expected):
    usual = UsualStates(n_usual, 0, usual_is_shared=False, found_is_shared=False)
    said = say(context("x", OneOf("U", states), usual), 10_000)
    assert said.expected == expected
    assert said.evidence.endswith(
        f"in {n_usual} of the 304 of 10,000 training rows like this, x in 0 of them"
    )


def test_a_state_that_most_rows_have_is_only_less_common():
    usual = UsualStates(0, 200, usual_is_shared=False, found_is_shared=False)
    said = say(context("x", None, usual, n_like=9), 9)
    assert said.expected == "U less often x"
    assert said.evidence == "x in 200 of all 9 training rows"


def test_a_number_that_is_rare_is_printed_beside_the_places_that_are_named():
    rare = Rarity("X", 1.00000001, Nearest(1.0, None), Beyond(0, "high"), 1.0, True)
    assert say(rare, 9).found == "1.00000001"
    assert say(msgspec.structs.replace(rare, found=1.23456789), 9).found == "1.235"


def test_states_that_are_numbers_keep_their_digits():
    failed = OneOf("X", (1.0, 2.0))
    clue = Violation(Rule((), (failed,), 9), failed, (1.23456789,), 1.0)
    assert say(clue, 9).found == "1.23456789"


def test_very_many_states_are_counted_in_words_and_kept_in_rules():
    many = OneOf("U", tuple(f"s{i:03}" for i in range(500)))
    failed = OneOf("V", tuple(f"t{i}" for i in range(7)))
    rule = Rule((many, OneOf("W", ("x",))), (failed,), 9)
    said = say(Violation(rule, failed, ("other",), 1.0), 9)
    assert said.because == "U in {s000, s001, s002, s003, s004, s005 and 494 others} and W = x"
    assert said.expected == "V in {t0, t1, t2, t3, t4, t5 and 1 other}"
    assert "s499" in str(rule)


@given(intervals(), finite)
def test_a_found_number_never_seems_to_satisfy_what_it_breaks(failed, value):
    low = failed.low <= value
    if low and value < failed.high:
        return
    said = say(Violation(Rule((), (failed,), 9), failed, (value,), 1.0), 9)
    shown = float(said.found)
    assert (shown < failed.low, shown > failed.high) == (value < failed.low, value > failed.high)


@given(st.text(max_size=5), st.text(max_size=5), st.none() | st.text(max_size=5), st.integers(0, 9))
def test_the_lines_hold_all_four_parts(expected, found, because, row):
    reason = Reason(expected, found, because, "9 of 9", "abc", 1.0, row)
    first, why, evidence = reason.lines()
    assert expected in first
    assert found in first
    assert first.endswith(f"row {row}")
    assert (why == ANYWAY) == (because is None)
    assert "9 of 9" in evidence
    assert Reason(expected, found, because, "", "", 1.0).place == ""


@pytest.mark.parametrize("row", [None, 7])
def test_a_missing_value_is_found_missing_and_the_rule_is_named(row):
    failed = OneOf("U", ("a",))
    rule = Rule((OneOf("V", ("b",)),), (failed,), 5)
    said = say(Violation(rule, failed, (None,), 2.0), 9, row=row)
    assert (said.found, said.rule, said.penalty, said.row) == ("missing", rule.id, 2.0, row)
    assert said.because == "V = b"
    assert "5 of 9" in said.evidence
