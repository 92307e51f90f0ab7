"""Rows as they are weighed: standardised numbers, and classes of states."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import oracle
from truism.model.schema import Categorical
from truism.scoring import readings
from truism.scoring.alignment import MISSING, UNSEEN
from truism.scoring.readings import classes, standardise


@given(st.lists(st.integers(1, 50), min_size=1, max_size=150))
def test_states_are_ranked_by_how_common_they_are_and_the_rarest_share_a_class(counts):
    states = tuple(f"s{i:03}" for i in range(len(counts)))
    found = classes(Categorical("U", "text", states, tuple(counts), 0))
    assert found[: len(counts)].tolist() == oracle.classes(counts, readings.MAX_CLASSES)
    n_classes = min(len(counts), readings.MAX_CLASSES)
    assert (found[UNSEEN], found[MISSING]) == (n_classes, n_classes + 1)


@given(st.floats(), st.floats(-1e308, 1e308), st.floats(0, 1e308, exclude_min=True))
def test_standardised_numbers_stay_within_bounds_and_missing_ones_missing(value, mean, std):
    found = standardise(np.array([value]), mean, std)[0]
    assert math.isnan(found) == math.isnan(value)
    assert math.isnan(value) or abs(found) <= readings.CLIP


def test_of_very_many_states_a_new_one_counts_among_the_rarest():
    states = tuple(f"u{i:03}" for i in range(readings.MAX_CLASSES + 10))
    many = classes(Categorical("U", "text", states, (2,) * len(states), 0))
    assert many[UNSEEN] == many[len(states) - 1] == readings.MAX_CLASSES - 1
    few = classes(Categorical("U", "text", states[:5], (2,) * 5, 0))
    assert few[UNSEEN] == 5
