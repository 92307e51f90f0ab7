"""Predicates are values with one meaning and one text."""

import itertools
import json
import math
from decimal import Context, Decimal, setcontext

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from strategies import HOSTILE_NAMES, finite, predicates
from truism.errors import ParameterError
from truism.model.predicates import (
    AnyOf,
    Interval,
    OneOf,
    Predicate,
    Present,
    Range,
    conjunction,
    cut_between,
    format_number,
    format_value,
    order,
    quote_name,
    variables,
)


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (Interval("X1", 5.0, 10.0), "5 ≤ X1 < 10"),
        (Interval("X2", low=20.4), "X2 ≥ 20.4"),
        (Interval("X3", high=7.1), "X3 < 7.1"),
        (OneOf("U1", (0,)), "U1 = 0"),
        (OneOf("U", ("a", "b")), "U in {a, b}"),
        (OneOf("U", ("rock and roll", "")), 'U in {"rock and roll", ""}'),
        (OneOf("U", ("1", 'say "hi"')), 'U in {"1", "say \\"hi\\""}'),
        (OneOf("U", (True,)), "U = true"),
        (OneOf("U", ("true",)), 'U = "true"'),
        (OneOf("U", ("nan",)), 'U = "nan"'),
        (OneOf("U", (2.5,)), "U = 2.5"),
        (AnyOf((OneOf("U", ("a",)), OneOf("V", ("b",)))), "U = a or V = b"),
        (Range("X", 1.0, 2.5), "1 ≤ X ≤ 2.5"),
        (Range("X", 3.0, 3.0), "X = 3"),
        (Present("X"), "X is present"),
        (Present("x <= 3"), '"x <= 3" is present'),
        (Interval("a or b", high=1e300), '"a or b" < 1e+300'),
    ],
)
def test_a_predicate_knows_its_text(predicate, text):
    assert str(predicate) == text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Interval("X", 2.0, 2.0), "An interval must have low < high, got 2.0 and 2.0."),
        (lambda: Interval("X", 3.0, 2.0), "An interval must have low < high, got 3.0 and 2.0."),
        (lambda: Interval("X", math.nan), "An interval must have low < high, got nan and inf."),
        (
            lambda: Interval("X", high=math.nan),
            "An interval must have low < high, got -inf and nan.",
        ),
        (lambda: Interval("X"), "An interval must have a bound, got none for 'X'."),
        (lambda: OneOf("X", ()), "A set of values must not be empty, got none for 'X'."),
        (lambda: AnyOf(()), "A join must have at least 2 parts, got 0."),
        (
            lambda: Range("X", 1.0, math.inf),
            "A range must have finite low <= high, got 1.0 and inf.",
        ),
        (lambda: Range("X", 2.0, 1.0), "A range must have finite low <= high, got 2.0 and 1.0."),
        (
            lambda: Range("X", math.nan, 1.0),
            "A range must have finite low <= high, got nan and 1.0.",
        ),
    ],
)
def test_an_empty_or_senseless_predicate_is_refused(make, message):
    with pytest.raises(ParameterError) as caught:
        make()
    assert str(caught.value) == message


@given(predicates)
def test_a_predicate_survives_json(predicate):
    again = msgspec.json.decode(msgspec.json.encode(predicate), type=Predicate)
    assert again == predicate
    assert hash(again) == hash(predicate)
    assert str(again) == str(predicate)


def test_an_open_side_is_absent_in_json():
    assert msgspec.json.encode(Interval("X", low=1.0)) == (
        b'{"type":"interval","variable":"X","low":1.0}'
    )
    assert msgspec.json.encode(Interval("X", float("-inf"), 2.0)) == (
        b'{"type":"interval","variable":"X","high":2.0}'
    )


@given(st.lists(predicates, min_size=2, max_size=6))
def test_any_predicates_can_be_put_in_order(some):
    ordered = sorted(some, key=order)
    backwards = ordered[::-1]
    assert sorted(backwards, key=order) == ordered


@given(st.lists(predicates, min_size=2, max_size=2))
def test_different_predicates_have_different_places(pair):
    one, other = pair
    if type(one) is type(other) and one != other and str(one) != str(other):
        assert order(one) != order(other)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_hostile_name_is_one_unit_of_the_text(name):
    text = str(OneOf(name, ("on",)))
    assert text in (f"{name} = on", f"{json.dumps(name, ensure_ascii=False)} = on")
    assert variables(OneOf(name, ("on",))) == (name,)


@given(finite)
def test_a_printed_number_reads_as_the_same_number(value):
    assert float(format_number(value)) == value


@given(st.text(max_size=10))
def test_a_printed_text_value_can_be_read_again(value):
    text = format_value(value)
    assert text == value or json.loads(text) == value


@given(st.one_of(st.booleans(), st.integers(), finite, st.text(max_size=5)), st.text(max_size=5))
def test_text_is_never_printed_like_a_value_of_another_type(value, text):
    assume(not isinstance(value, str))
    assert format_value(value) != format_value(text)


def test_joins_stand_in_brackets_only_among_others():
    join = AnyOf((OneOf("U", ("a",)), OneOf("V", ("b",))))
    assert conjunction([join]) == "U = a or V = b"
    assert conjunction([join, Present("X")]) == "(U = a or V = b) and X is present"


def test_a_name_is_quoted_only_where_it_could_mislead():
    assert quote_name("FIT-201 (m³/h)") == "FIT-201 (m³/h)"
    for name in ("a and b", "a or b", "x=1", "x<1", 'a"b', " a", "a ", "x is y", "⇒", "a\nb"):
        assert quote_name(name) == json.dumps(name, ensure_ascii=False)


# --- cut-offs ---


def significant_digits(value):
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


@given(finite, finite)
@example(0.0, 5e-324)
@example(-1.7976931348623157e308, 1.7976931348623157e308)
@example(1.0 - 2**-53, 1.0 + 2**-52)
@example(9.5, 10.4)
@example(0.1, 0.30000000000000004)
def test_a_cut_parts_its_neighbours(a, b):
    below, above = sorted([a, b])
    assume(below < above)
    cut = cut_between(below, above)
    if math.nextafter(below, math.inf) == above:
        assert cut == above
    else:
        assert below < cut < above


def decimals_near(middle, digits):
    """The decimals of so many digits around a point, in one decade and the next."""
    base = Decimal(middle)
    exponent = base.adjusted() if base else 0
    for place in (exponent, exponent + 1, exponent - 1):
        step = Decimal(10) ** (place - digits + 1)
        centre = (base / step).to_integral_value()
        for offset in range(-12, 13):
            yield (centre + offset) * step


@given(st.floats(-1e9, 1e9), st.floats(1e-9, 1e3))
def test_no_shorter_decimal_lies_between_and_none_as_short_is_nearer_the_middle(below, gap):
    above = below + gap
    assume(below < above and math.nextafter(below, math.inf) != above)
    cut = cut_between(below, above)
    length = significant_digits(cut)
    setcontext(Context(prec=1500))
    middle = (Decimal(below) + Decimal(above)) / 2
    for digits in range(1, length + 1):
        for other in decimals_near(middle, digits):
            if len(other.normalize().as_tuple().digits) > digits:
                continue
            if Decimal(below) < other < Decimal(above) and below < float(other) < above:
                assert digits == length
                if float(other) == cut:
                    continue  # another text of as many digits for the same double
                ours, theirs = abs(Decimal(repr(cut)) - middle), abs(other - middle)
                assert ours < theirs or (ours == theirs and Decimal(repr(cut)) <= other)


def test_the_examples_of_cut_offs():
    assert cut_between(2.31, 2.58) == 2.4
    assert cut_between(-1.0, 1.0) == 0.0
    assert cut_between(1.0, 2.0) == 1.5
    assert cut_between(1.0, 4.0) == 2.0  # 2 and 3 are equally near 2.5: the smaller
    assert cut_between(99.0, 101.0) == 100.0
    assert cut_between(1.0, math.nextafter(1.0, 2.0)) == math.nextafter(1.0, 2.0)


@given(st.lists(finite, min_size=2, max_size=2, unique=True).map(sorted), st.integers(1, 5))
def test_neighbouring_doubles_always_have_a_cut(pair, steps):
    below = pair[0]
    above = below
    for _ in range(steps):
        above = math.nextafter(above, math.inf)
    assume(math.isfinite(above))
    assert below < cut_between(below, above) <= above


@given(st.lists(finite, min_size=2, max_size=2, unique=True).map(sorted))
def test_the_text_of_a_range_is_never_narrower_than_the_range(pair):
    low, high = str(Range("X", *pair)).split(" ≤ X ≤ ")
    assert float(low) <= pair[0]
    assert float(high) >= pair[1]


def test_the_exact_text_of_a_range_is_the_range_that_is_checked():
    low, high = Range("X", 0.123456789, 9.87654321).exact_text().split(" ≤ X ≤ ")
    assert (float(low), float(high)) == (0.123456789, 9.87654321)


@pytest.mark.parametrize(
    "bounds", [(-1.7e308, 1.7e308), (-1e200, 1e-200), (5e-324, 1e-323), (0.0, 5e-324)]
)
def test_the_text_of_an_extreme_range_never_fails(bounds):
    assert " ≤ X ≤ " in str(Range("X", *bounds))


def test_every_pair_of_kinds_is_unequal():
    kinds = [
        Interval("X", 1.0, 2.0),
        Range("X", 1.0, 2.0),
        Present("X"),
        OneOf("X", (1.0,)),
        AnyOf((OneOf("X", (1.0,)), OneOf("Y", (1.0,)))),
    ]
    for one, other in itertools.combinations(kinds, 2):
        assert one != other
        assert order(one) != order(other)


def test_a_range_of_one_value_holds_for_no_other():
    assert not Range("X", 3.0, 3.0).seems_to_hold(3.1)
    assert not Range("X", 3.0, 3.0).seems_to_hold(math.nextafter(3.0, 4.0))
