"""Clues in words: short, and a value never seems to satisfy what it breaks."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import finite, intervals, ranges
from truism.explaining.clues import Rarity
from truism.explaining.expectations import Beyond, Nearest
from truism.explaining.reasons import ANYWAY, Reason, say
from truism.model.predicates import Interval, OneOf, Range
from truism.model.rules import Rule
from truism.scoring.weighed import Violation


@pytest.mark.parametrize(
    ("found", "printed"),
    [
        (0.9348712349871234, "0.9349"),
        (0.99999999, "0.99999999"),  # 1 would seem to satisfy what it breaks
        (0.5, "0.5"),
        (-123456.0, "-123456"),
        (0.123456, "0.123456"),
        (-math.inf, "-inf"),
    ],
)
def test_a_found_number_has_as_many_digits_as_it_needs(found, printed):
    for failed in (Interval("X", low=1.0), Interval("X", 1.0, 2.0), Range("X", 1.0, 2.0)):
        clue = Violation(Rule((), (failed,), 9), failed, (found,), 1.0)
        assert say(clue, 9).found == printed


def test_a_found_number_stays_beyond_a_bound_that_is_printed_rounded():
    failed = Range("X", -1.0, 2.33333333333)
    shown = float(str(failed).split()[-1])
    found = shown + 1e-7
    assert not failed.seems_to_hold(found)
    said = say(Violation(Rule((), (failed,), 9), failed, (found,), 1.0), 9)
    assert float(said.found) > shown
    assert said.expected == str(failed)


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


@given(intervals() | ranges, finite)
def test_a_found_number_never_seems_to_satisfy_what_it_breaks(failed, value):
    low = failed.low <= value
    high = value < failed.high if isinstance(failed, Interval) else value <= failed.high
    if low and high:
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
    said = say(Violation(rule, failed, (None,), 2.0), 9, row)
    assert (said.found, said.rule, said.penalty, said.row) == ("missing", rule.id, 2.0, row)
    assert said.because == "V = b"
    assert "5 of 9" in said.evidence
