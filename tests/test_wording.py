"""Predicates, lists and numbers as a person reads them: short, and never false."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import finite
from truism.model.predicates import AnyOf, Interval, OneOf, Present, format_value
from truism.model.wording import (
    brief,
    brief_conditions,
    count,
    exclude,
    lasting,
    name_some,
    percent,
    same_side,
    shorten,
    visible,
)


def test_durations_are_said_in_their_two_largest_units():
    assert [lasting(s) for s in (0.5, 60, 7000, 86_400, 3e7)] == [
        "0.5 s", "1 min", "1 h 56 min", "1 day", "347 days 5 h",
    ]  # fmt: skip


@given(st.text())
def test_what_is_visible_has_nothing_that_a_terminal_obeys_and_stays_so(text):
    shown = visible(text)
    assert not {unicodedata.category(each) for each in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert visible(shown) == shown
    if text.isascii() and text.isprintable():
        assert shown == text


@given(st.lists(st.text("abc", min_size=1, max_size=3), max_size=12), st.integers(1, 5))
def test_of_some_states_the_first_are_named_and_the_rest_counted(states, most):
    said = name_some(states, most)
    head, _, tail = said.partition(" and ")
    assert head == ", ".join(format_value(each) for each in states[:most])
    assert int(tail.split()[0] if tail else 0) == max(len(states) - most, 0)


def test_few_states_are_printed_as_the_rule_prints_them():
    for predicate in (Interval("X", low=1.0), Present("X"), OneOf("U", tuple("abc"))):
        assert brief(predicate) == str(predicate)
    many = OneOf("U", tuple("abcdefgh"))
    assert len(brief(many)) < len(brief(OneOf("U", tuple("abcdef")))) + len(" and 2 others}")
    joined = " and ".join(
        brief_conditions([AnyOf((OneOf("U", ("a",)), OneOf("V", ("b",)))), Present("X")])
    )
    assert joined.startswith("(U = a or V = b) and ")


@given(finite, st.lists(finite, max_size=4))
def test_a_shortened_number_lies_to_every_bound_as_the_number_does(value, bounds):
    shown = float(shorten(value, same_side(value, bounds)))
    for bound in bounds:
        assert (shown < bound, shown > bound) == (value < bound, value > bound)
    assert shown == value or shown == pytest.approx(value, rel=1e-3)


@given(st.floats(0, 1))
def test_only_nothing_is_printed_as_nothing_and_only_all_as_all(part):
    assert (percent(part) == "0 %") == (part == 0)
    if part < 0.999:
        assert percent(part) != "100 %"


@given(st.integers(0, 10**7))
def test_a_duration_is_the_sum_of_its_units_but_for_what_is_smaller(seconds):
    size = {"day": 86400, "days": 86400, "h": 3600, "min": 60, "s": 1}
    words = lasting(seconds).split()
    pairs = list(zip(words[::2], words[1::2], strict=True)) if seconds else []
    total = sum(float(n) * size[unit] for n, unit in pairs)
    assert len(pairs) <= 2
    assert total <= seconds
    assert seconds - total < max((size[unit] for _, unit in pairs), default=1)


def test_one_thing_is_not_several():
    assert [count(n, "row") for n in (0, 1, 2, 1200)] == ["0 rows", "1 row", "2 rows", "1,200 rows"]
    assert exclude("U", ("a",)) != exclude("U", ("a", "b"))
