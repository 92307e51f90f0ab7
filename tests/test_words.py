"""Clues in words, in full and in a few; a value never seems to satisfy what it breaks."""

import datetime
import math

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strategies import finite, intervals
from truism.explain.clues import (
    Circumstance,
    Contradiction,
    Lasting,
    Nearest,
    Outside,
    Rarity,
    Seen,
    UsualNumber,
    UsualStates,
)
from truism.explain.words import ANYWAY, Reason, Statement, join, say, say_at, say_when, state
from truism.model.predicates import AnyOf, Interval, OneOf, Present, Range
from truism.model.rules import Rule
from truism.model.wording import Legend
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
    rare = Rarity("X", 1.00000001, Nearest(1.0, None), Seen(0, "high"), 1.0, True)
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


OPEN = Circumstance("MV501", OneOf("MV501", ("open",)), (), (), True)
HIGH = Circumstance("LIT301", Interval("LIT301", low=800.0), (), (), True)
NARROW = Circumstance("LIT301", Interval("LIT301", 800.0, 810.0), (), (), True)
ODD = Circumstance("LIT301", Interval("LIT301", low=800.0), (), ("missing",), False)
ABOUT_9 = UsualNumber(9.02, 0.3, 0.01, False)


def number(found, *circumstances):
    return Contradiction(
        "AIT504", found, Interval("AIT504", 8.4, 9.6), circumstances, ABOUT_9, 100, 5.0
    )


def states(n_usual):
    usual = UsualStates(n_usual, 0, False, False)
    return Contradiction("P1", "on", OneOf("P1", ("off",)), (), usual, 90, 5.0)


def broken(failed, found, *conditions):
    return Violation(Rule(conditions, (failed,), 9), failed, found, 1.0)


SAID = [
    (number(255.0, OPEN), "AIT504 read 255 instead of about 9.02 while MV501 was open"),
    (
        number(255.0, OPEN, HIGH),
        "AIT504 read 255 instead of about 9.02 while MV501 was open and LIT301 was at least 800",
    ),
    (number(255.0, OPEN, HIGH, OPEN), "AIT504 read 255 instead of about 9.02"),
    (number(255.0, NARROW), "AIT504 read 255 instead of about 9.02"),
    (number(255.0, OPEN, ODD), "AIT504 read 255 instead of about 9.02"),
    (number(None, OPEN), "AIT504 was missing while MV501 was open"),
    (states(81), "P1 was on instead of off"),
    (states(80), "P1 was on, where off is usual"),
    (
        msgspec.structs.replace(states(80), expected=OneOf("P1", ("off", "auto"))),
        "P1 was on, where off, auto are usual",
    ),
    (
        msgspec.structs.replace(number(10.123456789), expected=None),
        "AIT504 read 10.12 where about 9.02 is usual",
    ),
    (
        msgspec.structs.replace(states(90), expected=None),
        "P1 was on, which is less common in such rows",
    ),
    (Outside("x", 9.0, 1.0, 2.0, 1.0), "x read 9 instead of at most 2"),
    (Outside("x", 0.5, 1.0, 2.0, 1.0), "x read 0.5 instead of at least 1"),
    (
        Rarity("x", 255.0, Nearest(9.3, None), Seen(0, "high"), 1.0, True),
        "x read 255 instead of at most 9.3",
    ),
    (
        Rarity("x", 5.0, Nearest(4.0, 6.0), Seen(0, "high"), 1.0, False),
        "x read 5 instead of at most 4 or at least 6",
    ),
    (
        Rarity("U", "ctf", OneOf("U", ("http",)), Seen(0, "same"), 1.0, True),
        "U was ctf, which no training row had",
    ),
    (
        Rarity("U", "ctf", OneOf("U", ("http",)), Seen(1, "same"), 1.0, False),
        "U was ctf, which only 1 training row had",
    ),
    (broken(Range("x", 1.0, 2.0), (2.5,)), "x read 2.5 instead of at most 2"),
    (broken(Range("x", 1.0, 2.0), (0.5,)), "x read 0.5 instead of at least 1"),
    (broken(Range("x", 2.0, 2.0), (0.5,)), "x read 0.5 instead of 2"),
    (broken(Interval("x", 1.0, 2.0), (2.0,)), "x read 2 instead of less than 2"),
    (
        broken(OneOf("P1", ("off",)), ("on",), Interval("x", high=3.0)),
        "P1 was on instead of off while x was less than 3",
    ),
    (broken(OneOf("P1", ("off",)), (None,)), "P1 was missing"),
    (broken(Present("x"), (None,)), "x was missing"),
    (
        broken(AnyOf((OneOf("P1", ("a",)), OneOf("P2", ("b",)))), ("x", "y")),
        "P1 was x, against P1 = a or P2 = b",
    ),
    (Lasting("x", 12, 1.0), "x was unusual for 12 rows"),
]


@pytest.mark.parametrize(("clue", "said"), SAID, ids=[said for _, said in SAID])
def test_a_clue_in_a_few_words(clue, said):
    name = said.split()[0]
    assert join([state(name, clue)]) == said


def test_a_change_is_said_as_one():
    clue = Rarity("ΔLIT1", -8.1, Nearest(None, 0.5), Seen(0, "low"), 1.0, True)
    assert join([state("ΔLIT1", clue)]) == "LIT1 changed by -8.1 instead of at least 0.5"


def test_titles_and_units_are_said_where_they_are_known():
    titles = {"AIT504": "conductivity", "MV501": "brine valve", "LIT301": "tank level"}
    legend = Legend({"AIT504": "µS/cm", "LIT301": "mm"}, titles)
    assert join([state("AIT504", number(255.0, OPEN, HIGH), legend)]) == (
        "conductivity read 255 instead of about 9.02 µS/cm while brine valve was open and tank "
        "level was at least 800 mm"
    )
    clue = Rarity("ΔLIT301", -8.1, Nearest(None, 0.5), Seen(0, "low"), 1.0, True)
    assert join([state("ΔLIT301", clue, legend)]) == (
        "tank level changed by -8.1 instead of at least 0.5 mm"
    )
    twice = Legend(titles={"P1": "pump", "P2": "pump"})
    assert join([state("P1", states(90), twice)]) == "P1 (pump) was on instead of off"


def test_variables_of_which_the_same_is_said_share_a_verb():
    shut = [Statement(name, "was", "shut instead of open") for name in ("MV1", "MV2", "MV3")]
    assert join(shut) == "MV1, MV2 and MV3 were shut instead of open"
    apart = [*shut[:1], Statement("rock and roll", "read", "3 instead of 4")]
    assert join(apart) == 'MV1 was shut instead of open and "rock and roll" read 3 instead of 4'


@given(
    found=st.floats(-1e6, 1e6),
    bound=st.floats(-1e6, 1e6),
    above=st.booleans(),
)
def test_a_value_never_seems_to_be_as_expected(found, bound, above):
    assume(found > bound if above else found < bound)
    low, high = (-2e6, bound) if above else (bound, 2e6)
    said = state("x", broken(Range("x", low, high), (found,))).rest
    shown, wanted = said.split(" instead of ")
    side, number_shown = wanted.rsplit(" ", 1)
    assert side == ("at most" if above else "at least")
    assert (float(shown) > float(number_shown)) is above
    assert float(shown) != float(number_shown)


EVENING = datetime.datetime(2024, 3, 1, 23, 59, 50)
NIGHT = datetime.datetime(2024, 3, 2)


def test_moments_are_said_as_briefly_as_they_can_be():
    assert say_when(0, EVENING) == "1 Mar 23:59:50"
    assert say_at(1, NIGHT, EVENING) == "on 2 Mar at 00:00"
    assert say_at(1, NIGHT, NIGHT) == "at 00:00"
    assert say_at(1, NIGHT.replace(microsecond=250_000), NIGHT) == "at 00:00:00.25"
    assert say_at(1, "noon", NIGHT) == "at noon"
    assert say_at(1234, None, NIGHT) == "in row 1,234"
