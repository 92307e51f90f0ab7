"""Rows as they are weighed: standardised numbers, and classes of states."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from strategies import learned
from truism.model.evidence import CLIP, MAX_CLASSES
from truism.model.schema import Categorical, Numeric
from truism.score.alignment import (
    MISSING,
    UNSEEN,
    Reader,
    align,
    classes,
    has_rest,
    join,
    standardise,
)
from truism.table.frames import as_table


@given(st.lists(st.integers(1, 50), min_size=1, max_size=150))
def test_states_are_ranked_by_how_common_they_are_and_the_rarest_share_a_class(counts):
    states = tuple(f"s{i:03}" for i in range(len(counts)))
    found = classes(Categorical("U", "text", states, tuple(counts), 0))
    assert found[: len(counts)].tolist() == oracle.classes(counts, MAX_CLASSES)
    n_classes = min(len(counts), MAX_CLASSES)
    assert (found[UNSEEN], found[MISSING]) == (n_classes, n_classes + 1)


@given(st.floats(), st.floats(-1e308, 1e308), st.floats(0, 1e308, exclude_min=True))
def test_standardised_numbers_stay_within_bounds_and_missing_ones_missing(value, mean, std):
    found = standardise(np.array([value]), mean, std)[0]
    assert math.isnan(found) == math.isnan(value)
    assert math.isnan(value) or abs(found) <= CLIP


def test_of_very_many_states_a_new_one_counts_among_the_rarest():
    states = tuple(f"u{i:03}" for i in range(MAX_CLASSES + 10))
    many = classes(Categorical("U", "text", states, (2,) * len(states), 0))
    assert many[UNSEEN] == many[len(states) - 1] == MAX_CLASSES - 1
    few = classes(Categorical("U", "text", states[:5], (2,) * 5, 0))
    assert few[UNSEEN] == 5


@examples(max_examples=30)
@given(learned())
def test_rows_are_read_as_each_value_is(drawn):
    _, model, rows = drawn
    columns, _ = align(model.schema, as_table(rows))
    reader = Reader(model.schema)
    found = reader.read(columns)
    numeric = [each for each in model.schema.variables if isinstance(each, Numeric)]
    assert [model.schema.variables[i] for i in reader.numbers] == numeric
    for place, variable in enumerate(numeric):
        for row, value in enumerate(rows[variable.name]):
            standard = found.standard[row, place]
            if oracle.is_missing(value):
                assert math.isnan(standard)
            else:
                wanted = oracle.standardise(value, variable, CLIP)
                assert standard == pytest.approx(wanted, rel=1e-5, abs=1e-5)
    for place, i in enumerate(reader.states):
        variable = model.schema.variables[i]
        ranks = classes(variable)
        assert found.classes[:, place].tolist() == ranks[found.codes[:, place]].tolist()
        assert found.classes[:, place].max() < reader.n_classes(place)
        assert not has_rest(variable)


@examples(max_examples=20)
@given(learned())
def test_blocks_that_are_joined_are_the_whole(drawn):
    _, model, rows = drawn
    columns, _ = align(model.schema, as_table(rows))
    whole = Reader(model.schema).read(columns)
    for cut in (1, 7):
        parts = join([whole.take(slice(0, cut)), whole.take(slice(cut, None))])
        for name in ("numbers", "standard", "codes", "classes"):
            assert np.array_equal(
                getattr(parts, name),
                getattr(whole, name),
                equal_nan=name in ("numbers", "standard"),
            )
    assert whole.take(np.array([2, 0])).codes.tolist() == whole.codes[[2, 0]].tolist()
