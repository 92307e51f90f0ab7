"""A predicate implies another if it never holds without it; oracle.py tries values one by one."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from strategies import few_claims, few_consequents
from truism.model.implication import Book, Claim, implies, says_as_much
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


@given(few_claims, few_claims)
def test_what_says_as_much_is_broken_wherever_the_other_is(one, other):
    some = ROWS[:: 1 + len(ROWS) // 600]
    if says_as_much(one, other):
        assert oracle.says_as_much(one, other, some)


@given(few_claims)
def test_a_claim_says_as_much_as_itself(claim):
    assert says_as_much(claim, claim)


def test_a_claim_with_fewer_conditions_says_more():
    long = Claim((U, Interval("x", low=2.0)), V)
    assert says_as_much(Claim((U,), V), long)
    assert not says_as_much(long, Claim((U,), V))
    assert says_as_much(Claim((AnyOf((U, V)),), Present("x")), Claim((U,), Present("x")))


@given(st.lists(few_claims, max_size=12), few_claims)
def test_a_book_finds_what_going_through_all_claims_finds(claims, claim):
    assert Book(claims).covers(claim) == any(says_as_much(each, claim) for each in claims)


def test_a_book_finds_claims_with_fewer_conditions():
    names = [f"w{i}" for i in range(12)]
    claims = [
        Claim(tuple(OneOf(name, ("a",)) for name in some), V)
        for some in itertools.combinations(names, 2)
    ]
    book = Book(claims)
    assert book.covers(Claim((OneOf("w0", ("a",)), OneOf("w3", ("a",)), U), V))
    assert not book.covers(Claim((OneOf("w0", ("a",)), OneOf("w3", ("b",)), U), V))
