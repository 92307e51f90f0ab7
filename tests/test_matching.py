"""Claims are matched by what they are about; oracle.py takes the closest pair again and again."""

import math

from hypothesis import given
from hypothesis import strategies as st

import oracle
from strategies import few_claims
from truism.model.implication import Claim
from truism.model.matching import Pair, match, shape
from truism.model.predicates import AnyOf, Interval, OneOf, Present, Range

ON, OFF = OneOf("pump", ("on",)), OneOf("pump", ("off",))
SPREADS = {"x": 2.0, "y": 0.0}
different = st.tuples(
    st.lists(few_claims, max_size=7, unique=True), st.lists(few_claims, max_size=7, unique=True)
).map(lambda sides: (sides[0], [each for each in sides[1] if each not in sides[0]]))


def flow(low):
    return Interval("flow", low=low)


def pairs(old, new, spread_of=None):
    return [(pair.old, pair.new) for pair in match(old, new, spread_of or {})]


def test_a_moved_cut_off_is_a_change_and_another_direction_is_not():
    old = [Claim((ON,), flow(2.0))]
    assert match(old, [Claim((ON,), flow(3.0))], {"flow": 0.5}) == [Pair(0, 0, 2.0)]
    assert match(old, [Claim((ON,), Interval("flow", high=3.0))], {}) == []
    assert match(old, [Claim((ON,), Interval("level", low=2.0))], {}) == []
    assert match(old, [Claim((), flow(2.0))], {}) == []


def test_other_states_match_if_the_conditions_have_one_in_common():
    old = [Claim((ON,), flow(2.0))]
    assert match(old, [Claim((OFF,), flow(2.0))], {}) == []
    both = OneOf("pump", ("off", "on"))
    assert match(old, [Claim((both,), flow(2.0))], {}) == [Pair(0, 0, 0.5)]


def test_conditions_on_numbers_must_overlap():
    old = [Claim((Interval("level", 1.0, 2.0),), ON)]
    assert pairs(old, [Claim((Interval("level", 1.9, 3.0),), ON)]) == [(0, 0)]
    assert pairs(old, [Claim((Interval("level", 2.0, 3.0),), ON)]) == []


def test_a_rule_that_was_turned_round_is_a_change():
    assert match([Claim((flow(2.0),), ON)], [Claim((flow(2.0),), OFF)], {}) == [Pair(0, 0, 1.0)]


def test_the_closest_are_matched_first():
    old = [Claim((ON,), flow(low)) for low in (1.0, 5.0)]
    new = [Claim((ON,), flow(low)) for low in (4.5, 9.0)]
    assert pairs(old, new) == [(0, 1), (1, 0)]


def test_a_range_and_a_join_match_and_what_is_present_cannot_change():
    join = AnyOf((OneOf("u", ("a",)), OneOf("v", ("b",))))
    other = AnyOf((OneOf("u", ("a",)), OneOf("v", ("c",))))
    assert pairs([Claim((join,), ON)], [Claim((other,), ON)]) == [(0, 0)]
    assert pairs([Claim((), Range("x", 1.0, 2.0))], [Claim((), Range("x", 1.0, 2.5))]) == [(0, 0)]
    assert pairs([Claim((ON,), Present("x"))], [Claim((ON,), Present("y"))]) == []


def test_bounds_as_far_apart_as_numbers_can_be_still_match():
    old, new = [Claim((ON,), flow(-1e308))], [Claim((ON,), flow(1e308))]
    assert match(old, new, {"flow": 1e-300}) == [Pair(0, 0, math.inf)]
    assert match(old, new, {"flow": math.inf}) == [Pair(0, 0, math.inf)]


@given(different)
def test_it_is_what_taking_the_closest_pair_again_and_again_finds(sides):
    assert set(pairs(*sides, SPREADS)) == oracle.match(*sides, SPREADS)


@given(different)
def test_no_claim_is_matched_twice_and_only_with_its_like(sides):
    old, new = sides
    found = match(old, new, SPREADS)
    assert len({pair.old for pair in found}) == len({pair.new for pair in found}) == len(found)
    for pair in found:
        assert shape(old[pair.old]) == shape(new[pair.new])
        assert pair.distance == oracle.between(old[pair.old], new[pair.new], SPREADS)


@given(different)
def test_swapping_old_and_new_swaps_every_pair(sides):
    old, new = sides
    assert {(j, i) for i, j in pairs(old, new, SPREADS)} == set(pairs(new, old, SPREADS))


@given(different, st.randoms(use_true_random=False))
def test_the_order_of_the_claims_does_not_matter(sides, random):
    old, new = sides
    others = random.sample(old, len(old)), random.sample(new, len(new))
    expected = {(old[i], new[j]) for i, j in pairs(old, new, SPREADS)}
    assert {(others[0][i], others[1][j]) for i, j in pairs(*others, SPREADS)} == expected
