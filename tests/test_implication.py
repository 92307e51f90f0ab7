"""A predicate implies another if it never holds without it; oracle.py tries values one by one."""

import itertools

import pytest
from hypothesis import given

import oracle
from strategies import few_consequents
from truism.model.implication import implies
from truism.model.predicates import AnyOf, Interval, OneOf, Present, Range

NUMBERS = [None, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5]
ROWS = [
    dict(zip("xyuv", row, strict=True))
    for row in itertools.product(NUMBERS, NUMBERS, [None, *"abcd"], [None, *"abcd"])
]
U, V = OneOf("u", ("a",)), OneOf("v", ("b",))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (Interval("x", low=3.0), Interval("x", low=2.0), True),
        (Interval("x", low=2.0), Interval("x", low=3.0), False),
        (Interval("x", 2.0, 3.0), Interval("x", high=3.0), True),
        (Interval("x", low=3.0), Interval("y", low=2.0), False),
        (Range("x", 2.0, 3.0), Interval("x", high=3.0), False),  # 3 itself
        (Interval("x", 2.0, 3.0), Range("x", 2.0, 3.0), True),
        (Interval("x", low=2.0), Range("x", 2.0, 3.0), False),
        (U, OneOf("u", ("a", "c")), True),
        (OneOf("u", ("a", "c")), U, False),
        (U, AnyOf((U, V)), True),
        (AnyOf((U, V)), U, False),
        (AnyOf((U, V)), AnyOf((OneOf("u", ("a", "c")), V)), True),
        (U, Present("u"), True),
        (Present("u"), U, False),
    ],
)
def test_examples(one, other, expected):
    assert implies(one, other) is expected
    assert oracle.implies(one, other, ROWS) is expected


@given(few_consequents, few_consequents)
def test_it_is_what_trying_all_values_says(one, other):
    # u in {a, b, c} is not all there is: the rows also hold d.
    assert implies(one, other) == oracle.implies(one, other, ROWS)
