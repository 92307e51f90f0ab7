"""A calibrated threshold is the lowest that normal rows seldom exceed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism.errors import ParameterError, TableError
from truism.model.settings import exact
from truism.score.thresholds import calibrate


@given(
    scores=st.lists(st.floats(0, 1e6), min_size=1, max_size=60),
    rate=st.sampled_from([0.0, 0.01, 0.05, 0.29, 0.5, 0.99]),
)
def test_at_most_the_allowed_part_of_calibration_rows_exceeds_the_threshold(scores, rate):
    chosen = calibrate(np.array(scores), rate)
    assert chosen.origin.n_above == sum(score > chosen.value for score in scores)
    assert chosen.origin.n_above <= rate * len(scores) + 1e-9
    assert chosen.value <= 1.01 * max(scores)


def test_a_rate_must_be_a_part():
    for rate in (-0.1, 1.0, float("nan")):
        with pytest.raises(ParameterError) as caught:
            calibrate(np.zeros(3), rate)
        assert str(caught.value) == (
            f"max_false_positive_rate must be at least 0 and below 1, got {rate!r}."
        )


def brute_force(scores, rate):
    """The lowest number of at most three digits that few enough scores exceed, tried one by one."""
    allowed = int(exact(rate) * len(scores))
    exponents = {math.floor(math.log10(score)) for score in scores if score > 0}
    tried = {0.0} | {
        float(f"{digits}e{exponent - 2}") for exponent in exponents for digits in range(100, 1001)
    }
    return min(t for t in tried if sum(score > t for score in scores) <= allowed)


@given(
    st.lists(st.floats(0.001, 1000) | st.just(0.0), min_size=1, max_size=12),
    st.sampled_from([0.0, 0.1, 0.29, 0.5, 0.9]),
)
def test_no_lower_threshold_of_three_digits_would_do(scores, rate):
    assert calibrate(np.array(scores), rate).value == brute_force(scores, rate)


def test_no_rows_give_no_threshold():
    with pytest.raises(TableError):
        calibrate(np.zeros(0), 0.1)
