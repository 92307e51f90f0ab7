"""Where a number usually lies is said so that it fits what was found and what was seen."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import finite
from truism.explain.clues import (
    Beyond,
    Nearest,
    Sparse,
    count_others,
    nearest,
    usual_classes,
    usual_interval,
)
from truism.model.schema import Numeric
from truism.score.contexts import FLOOR
from truism.score.rarity import Emptiness


def numeric(low=0.0, high=100.0, mean=50.0, std=10.0, n_missing=0):
    return Numeric("x", low, high, mean, std, n_missing, (low, high), (9,))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (90.0, "46 ≤ x < 54"),
        (60.0, "46 ≤ x < 54"),
        (54.0, "46 ≤ x < 54"),
        (53.9, "None"),  # within two spreads: no narrower interval is made up
        (50.0, "None"),
        (10.0, "46 ≤ x < 54"),
        (math.inf, "46 ≤ x < 54"),
        (-math.inf, "46 ≤ x < 54"),
    ],
)
def test_the_interval_is_two_spreads_wide_or_there_is_none(found, said):
    assert str(usual_interval(numeric(), 50.0, 2.0, found)) == said


def test_the_interval_is_no_narrower_than_what_contexts_tell_apart():
    assert str(usual_interval(numeric(), 50.0, 0.0, 90.0)) == "49.5 ≤ x < 50.5"


def test_a_bound_beyond_all_training_values_is_left_open():
    assert str(usual_interval(numeric(), 0.0, 28.0, 90.0)) == "x < 56"
    assert str(usual_interval(numeric(), 100.0, 28.0, 10.0)) == "x ≥ 44"
    # On the side of what was found it stays: it is what is broken.
    assert str(usual_interval(numeric(), 95.0, 5.0, 120.0)) == "85 ≤ x < 105"


@pytest.mark.parametrize("found", [1e16, 1e16 + 2, -1.7e308, 1.7e308, math.inf, -math.inf])
@pytest.mark.parametrize("mean", [1e16, 1e16 + 2, -1.7e308, 1.7e308])
@pytest.mark.parametrize(("spread", "std"), [(0.0, 1.0), (1e308, 1e308), (math.inf, 1e308)])
def test_no_number_is_where_it_was_expected_however_large(found, mean, spread, std):
    expected = usual_interval(numeric(-1.7e308, 1.7e308, std=std), mean, spread, found)
    assert expected is None or not expected.low <= found < expected.high


@given(finite, st.floats(0, 1e9), st.floats(1e-9, 1e9), finite)
def test_an_interval_excludes_what_was_found_and_holds_two_spreads(mean, spread, std, found):
    variable = numeric(-1e300, 1e300, std=std)
    expected = usual_interval(variable, mean, spread, found)
    if expected is None:
        return
    assert not expected.low <= found < expected.high
    # Rounding moves a bound by a tenth of the width at most.
    half = max(2 * spread, FLOOR * std)
    slack = 0.11 * half + 1e-9 * abs(mean)
    assert expected.low <= mean - half + slack
    assert expected.high >= mean + half - slack


def brute_force_classes(counts, found, rest):
    """Try every number of the commonest other classes."""
    others = sorted(
        (k for k in range(len(counts)) if k != found and counts[k]),
        key=lambda k: (k == rest, -counts[k], k),
    )
    own = counts[found] if found < len(counts) else 0
    if own > sum(counts) / 2:
        return ()
    for n in range(1, len(others) + 1):
        covered = sum(counts[k] for k in others[:n])
        if counts[others[0]] >= sum(counts) / 2 or covered >= 0.8 * (sum(counts) - own):
            return tuple(others[:n])
    return tuple(others)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(0, 7), st.booleans())
def test_usual_states_cover_most_rows_or_one_covers_half(counts, found, has_rest):
    rest = len(counts) - 1 if has_rest else None
    chosen = usual_classes(counts, found, rest)
    assert chosen == brute_force_classes(counts, found, rest)
    assert found not in chosen


def emptiness(values):
    values, counts = np.unique(values, return_counts=True)
    return Emptiness(values, counts, 5, 1.0)


def around(values, found, n_training):
    empty = emptiness(values)
    near = nearest(empty, found)
    return near, count_others(empty, near, found, n_training)


def test_rows_are_counted_where_a_rare_number_lies():
    two_modes = [0.0] * 50 + [5.0] * 50 + [2.0, 3.0]
    assert around(two_modes, 2.5, 102) == (Nearest(1.0, 4.0), Sparse(2))
    assert around(two_modes, 50.0, 102)[1] == Beyond(0, "high")
    near, others = around([0.0] * 80 + [9.0, 10.0, 11.0, 12.0], 9.5, 84)
    assert (near.above, others) == (None, Sparse(4))
    near, others = around([0.0] * 80 + [-9.0, -10.0, -11.0, -12.0], -9.5, 84)
    assert (near.below, others) == (None, Sparse(4))


def test_a_number_is_never_said_to_be_expected_where_it_was_found():
    near, _ = around([1.0], 1.0, 1)
    assert near == Nearest(None, None)
    assert (near.interval("x"), near.values) == (None, ())


def test_what_is_ordinary_on_one_side_is_an_interval():
    below, above = Nearest(2.0, None).interval("x"), Nearest(None, 3.0).interval("x")
    assert below.low == -math.inf
    assert below.high == math.nextafter(2.0, math.inf)
    assert (above.low, above.high) == (3.0, math.inf)
    assert Nearest(2.0, 3.0).interval("x") is None


def test_few_rows_beyond_a_number_are_counted_exactly():
    assert Beyond(50, "low").is_exact
    assert not Beyond(51, "low").is_exact
