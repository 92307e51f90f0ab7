"""Where training values lie is kept in few numbers, and exactly at the ends."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism.learn import holdout as rarity
from truism.learn.holdout import space, stand_in


def spaced(values):
    distinct, counts = np.unique(np.array(values, np.float64) + 0.0, return_counts=True)
    return space("X", distinct, counts)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 9, 10, 11, 500, 10_000])
def test_how_many_rows_must_be_near(n_rows):
    near = spaced(list(range(n_rows))).near
    wanted = min(max(int(rarity.NEAR_SHARE * n_rows), rarity.MIN_NEAR), rarity.MAX_NEAR)
    assert near == min(wanted, max(1, n_rows // 2))


@pytest.mark.parametrize("n_values", [1, 255, 256, 300, 5000])
def test_of_many_values_the_outermost_are_all_kept_and_every_row_is_counted(n_values):
    values = np.arange(n_values) ** 1.5
    counts = np.arange(n_values) % 3 + 1
    spacing = space("X", values, counts)
    most = min(n_values, rarity.N_KNOTS)
    assert 0.7 * most <= len(spacing.values) <= most
    assert sum(spacing.counts) == counts.sum()
    assert set(spacing.values) <= set(values.tolist())
    if n_values > rarity.N_KNOTS:
        # The innermost of them also stands for values that are not kept.
        outer = rarity.N_EXACT
        assert spacing.values[:outer] == tuple(values[:outer])
        assert spacing.values[-outer:] == tuple(values[-outer:])
        assert spacing.counts[: outer - 1] == tuple(counts[: outer - 1])
        assert spacing.counts[1 - outer :] == tuple(counts[1 - outer :])


def test_of_nearly_constant_values_the_spread_is_the_standard_deviation():
    values = [0.0] * 95 + [7.0] * 5
    assert spaced(values).spread == pytest.approx(np.std(values))


@given(
    st.lists(st.integers(-500, 500), min_size=1, max_size=12, unique=True).map(sorted),
    st.lists(st.integers(-600, 600), min_size=1, max_size=40),
)
def test_the_nearest_kept_value_stands_for_a_value(knots, values):
    owners = stand_in(np.array(knots, float), np.array(values, float))
    for value, owner in zip(values, owners.tolist(), strict=True):
        assert abs(value - knots[owner]) == min(abs(value - knot) for knot in knots)


@given(st.lists(st.floats(), min_size=1, max_size=12).map(lambda v: np.unique(np.array(v) + 0.0)))
def test_a_kept_value_stands_for_itself(values):
    knots = values[np.isfinite(values)]
    assert stand_in(knots, knots).tolist() == list(range(len(knots)))
