"""Where a number usually lies is said so that it fits what was found and what was seen."""

import math

import numpy as np
import pytest

from truism.explaining.expectations import average, ordinary, usual_interval
from truism.model.schema import Numeric
from truism.scoring.rarity import Emptiness


def numeric(low=0.0, high=100.0, mean=50.0, std=10.0, n_missing=0):
    return Numeric("x", low, high, mean, std, n_missing, (low, high), (9,))


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (90.0, "46 ≤ x < 54"),
        (60.0, "46 ≤ x < 54"),
        (54.0, "46 ≤ x < 54"),
        (53.9, "48 ≤ x < 52"),  # too near for two spreads, so one
        (52.1, "48 ≤ x < 52"),
        (51.9, "49 ≤ x < 51"),
        (10.0, "46 ≤ x < 54"),
        (math.inf, "46 ≤ x < 54"),
        (-math.inf, "46 ≤ x < 54"),
    ],
)
def test_the_interval_follows_what_was_found_in_steps_only(found, said):
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
    assert not expected.low <= found < expected.high


@pytest.mark.parametrize(
    ("mean", "spread", "std", "missing", "said"),
    [
        (50.004, 2.0, 10.0, 0, "50 ± 2"),
        (1.9712, 0.1633, 1.0, 0, "1.97 ± 0.16"),
        (2.49996, 0.0, 1.0, 0, "2.5"),
        (-0.00036, 0.0, 7.0, 0, "0"),
        (3.0, 0.00001, 1.0, 0, "3"),
        (3.0, 0.5, 1.0, 7, "3 ± 0.5, where it is known,"),
        (3.0, 0.5, 1.0, 5, "3 ± 0.5"),
    ],
)
def test_mean_and_spread_have_the_digits_that_are_kept(mean, spread, std, missing, said):
    assert average(numeric(std=std, n_missing=missing), mean, spread, 100) == said


def emptiness(values):
    values, counts = np.unique(values, return_counts=True)
    return Emptiness(values, counts, 5, 1.0)


def test_rows_elsewhere_are_said_to_lie_where_they_do():
    two_modes = emptiness([0.0] * 50 + [5.0] * 50 + [2.0, 3.0])
    between = ordinary("x", two_modes, 2.5, 102)
    assert between.said == "x ≤ 1 or x ≥ 4"
    assert between.evidence == "about 2 of 102 training rows lie between these"
    assert len(between.nearest) == 2
    beyond = ordinary("x", two_modes, 50.0, 102)
    assert beyond.evidence == "0 of 102 training rows were this high"
    one_mode = ordinary("x", emptiness([0.0] * 80 + [9.0, 10.0, 11.0, 12.0]), 9.5, 84)
    assert one_mode.evidence == "about 4 of 84 training rows lie above that"
    mirrored = ordinary("x", emptiness([0.0] * 80 + [-9.0, -10.0, -11.0, -12.0]), -9.5, 84)
    assert mirrored.evidence == "about 4 of 84 training rows lie below that"


def test_a_number_is_never_said_to_be_expected_where_it_was_found():
    alone = ordinary("x", emptiness([1.0]), 1.0, 1)
    assert alone.said == "x near other values"
    assert (alone.interval, alone.nearest) == (None, ())
