"""How rare a value is by itself: exact at training values, bounded, and quiet about strange ones."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from strategies import finite
from truism.learn.holdout import space
from truism.score import rarity
from truism.score.rarity import Emptiness, state_rarities

LARGEST = 1.7976931348623157e308


def spaced(values):
    distinct, counts = np.unique(np.array(values, np.float64) + 0.0, return_counts=True)
    return space("X", distinct, counts)


def emptiness_of(values):
    spacing = spaced(values)
    return Emptiness(spacing.values, spacing.counts, spacing.near, spacing.spread)


def rare(values, asked):
    emptiness = emptiness_of(values)
    return rarity.rarity(emptiness.distance(np.array(asked, np.float64)), emptiness.spread)


def test_a_value_in_a_gap_is_as_rare_as_one_at_the_end_of_a_tail():
    two_modes = [i / 50 for i in range(50)] + [10 + i / 50 for i in range(50)]
    within, gap, end = rare(two_modes, [0.5, 5.5, 15.0])
    assert within < gap
    assert within < end


def test_a_value_that_many_rows_share_is_not_rare_though_the_rest_lies_elsewhere():
    values = [0.0] * 80 + [100.0 + i for i in range(20)]
    zero, usual, between = rare(values, [0.0, 110.0, 50.0])
    assert zero == 0.0
    assert between > max(zero, usual)


def test_rarity_of_many_values_is_nearly_what_all_of_them_say():
    values = np.sort(np.random.default_rng(0).normal(size=100_000))
    spacing = space("X", values, np.ones(len(values), np.int64))
    kept = Emptiness(spacing.values, spacing.counts, spacing.near, spacing.spread)
    places = np.linspace(-6.0, 6.0, 121)
    exact = [np.partition(np.abs(values - at), spacing.near - 1)[spacing.near - 1] for at in places]
    wanted = rarity.rarity(np.array(exact), spacing.spread)
    found = rarity.rarity(kept.distance(places), spacing.spread)
    assert np.abs(found - wanted).max() < 0.05
    assert kept.count_beyond(-4.0)[0] == (values <= -4.0).sum()
    assert kept.count_beyond(-2.5)[0] == pytest.approx((values <= -2.5).sum(), rel=0.2)


@pytest.mark.parametrize(
    "values",
    [
        [0.0] * 95 + [1e200] * 5,
        [0.0] * 95 + [LARGEST] * 5,
        [-LARGEST, LARGEST] * 10,
        [-LARGEST] * 99 + [LARGEST],
        [5e-324, 0.0] * 10,
        [0.0] * 99 + [5e-324],
        [3.0] * 10,
        [LARGEST],
    ],
)
def test_extreme_training_values_give_a_usable_spread_without_a_warning(values):
    spacing = spaced(values)
    assert 0.0 < spacing.spread < math.inf
    found = rare(values, [-math.inf, -LARGEST, -1e200, 0.0, 5e-324, 1e200, LARGEST, math.inf])
    assert (found >= 0).all()
    assert (found <= rarity.MAX_RARITY).all()
    assert found[0] == found[-1] == rarity.MAX_RARITY


@given(
    st.lists(st.tuples(st.floats(-50, 50), st.floats(0.001, 3)), min_size=1, max_size=4),
    st.integers(0, 10**6),
)
def test_between_ordinary_bounds_nothing_is_rare(modes, seed):
    random = np.random.default_rng(seed)
    values = np.concatenate([random.normal(*each, size=200) for each in modes])
    emptiness = emptiness_of(values.tolist())
    bounds = emptiness.ordinary()
    assert len(bounds) <= 2
    for low, high in bounds:
        between = random.uniform(low, high, 100)
        found = rarity.rarity(emptiness.distance(between), emptiness.spread)
        assert found == pytest.approx(np.zeros(100), abs=1e-12)


def test_rows_are_counted_on_either_side():
    emptiness = emptiness_of([1.0, 2.0, 2.0, 5.0])
    assert [emptiness.count_beyond(x) for x in (0.0, 1.0, 2.0, 3.0, 9.0)] == [
        (0, 4),
        (1, 4),
        (3, 3),
        (3, 1),
        (4, 0),
    ]


def test_knots_that_stand_for_no_row_are_as_good_as_absent():
    held_out = Emptiness([1.0, 2.0, 3.0, 9.0], [2, 0, 1, 0], 2, 1.0)
    plain = Emptiness([1.0, 3.0], [2, 1], 2, 1.0)
    asked = np.array([0.0, 1.5, 2.0, 9.0])
    assert np.array_equal(held_out.distance(asked), plain.distance(asked))


some_values = st.lists(
    st.one_of(st.integers(-20, 20).map(float), st.floats(-1e6, 1e6)), min_size=1, max_size=120
)


@given(some_values)
def test_at_a_training_value_the_distance_is_that_of_the_kth_nearest_one(values):
    emptiness = emptiness_of(values)
    near = spaced(values).near
    wanted = [oracle.distance(value, values, near) for value in values]
    assert emptiness.distance(np.array(values)).tolist() == wanted


@given(some_values, st.floats(-1e7, 1e7))
def test_elsewhere_the_distance_is_at_most_one_value_off(values, asked):
    # Between two training values the true distance may have kinks that are not kept; it never
    # changes faster than the value itself does.
    spacing = spaced(values)
    found = emptiness_of(values).distance(np.array([asked]))[0]
    for value in values:
        limit = oracle.distance(value, values, spacing.near) + abs(asked - value)
        assert found <= limit * (1 + 1e-12)
    outside = asked < min(values) or asked > max(values)
    if outside:
        wanted = oracle.distance(asked, values, spacing.near)
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@given(st.lists(finite, min_size=1, max_size=60), st.lists(st.floats(), min_size=1, max_size=20))
def test_rarity_is_bounded_and_a_missing_value_has_none(values, asked):
    found = rare(values, asked)
    for value, each in zip(asked, found.tolist(), strict=True):
        assert 0.0 <= each <= rarity.MAX_RARITY
        if math.isnan(value):
            assert each == 0.0
        if math.isinf(value):
            assert each == rarity.MAX_RARITY


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60), st.lists(st.floats(0, 1e12)))
def test_beyond_the_range_rarity_grows_with_the_distance(values, steps):
    beyond = np.cumsum([0.0, *steps])
    for side in (max(values) + beyond, min(values) - beyond):
        assert (np.diff(rare(values, side)) >= 0).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60), st.randoms())
def test_the_order_of_rows_does_not_matter(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    assert spaced(shuffled) == spaced(values)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=10))
def test_the_rarity_of_states_is_as_defined(counts):
    found = state_rarities(np.array(counts))
    wanted = oracle.state_rarities(counts, rarity.WELL_KNOWN, rarity.MAX_RARITY)
    assert found.tolist() == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def test_a_well_known_state_and_a_missing_one_are_not_rare_and_an_unseen_one_is_rarest():
    counts = [1000, rarity.WELL_KNOWN, 3, 1]
    found = state_rarities(np.array(counts)).tolist()
    assert found[0] == found[1] == found[-1] == 0.0
    assert 0.0 < found[2] <= found[3] <= found[4]
