"""Distinct values are counted, add up over parts, and are divided into runs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learned import infer
from strategies import tables
from truism.table.distinct import Distinct, distinct
from truism.table.frames import as_table


def test_whole_numbers_that_are_one_as_floats_are_one_value():
    found = distinct(as_table({"n": [2**60 + i for i in range(300)]}).columns[0])
    assert found.values.tolist() == [2.0**60, 2.0**60 + 256]
    assert found.counts.sum() == 300
    (variable,) = infer(as_table({"n": [2**60 + 3 * i for i in range(300)]})).variables
    assert (np.diff(variable.edges) > 0).all()


@given(st.lists(st.integers(1, 50), min_size=1, max_size=80), st.integers(1, 20))
def test_cuts_divide_into_few_runs_and_scale(counts, max_bins):
    found = Distinct(np.arange(float(len(counts))), np.array(counts))
    cuts = found.cuts(max_bins)
    assert len(cuts) + 1 <= max(max_bins, 1)
    assert (np.diff(cuts) > 0).all()
    assert all(0 < cut < len(counts) for cut in cuts)
    assert np.array_equal(Distinct(found.values, found.counts * 7).cuts(max_bins), cuts)
    if len(counts) <= max_bins:
        assert len(cuts) == len(counts) - 1


@given(tables(min_columns=1, max_columns=1))
def test_distinct_values_ascend_and_their_counts_add_up(data):
    column = as_table(data).columns[0]
    if column.kind in ("number", "boolean"):
        found = distinct(column)
        assert sorted(set(found.values.tolist())) == found.values.tolist()
        assert found.counts.sum() == len(column.values) - column.n_missing
        assert distinct(column) is found  # remembered, and safe from whoever asks
        with pytest.raises(ValueError, match="read-only"):
            found.values[:] = 0.0
        assert distinct(column.take(slice(0, 1))).counts.sum() <= 1


@given(
    st.lists(st.one_of(st.none(), st.floats(-3, 3), st.sampled_from([-0.0, 0.0, 1.0])), min_size=1),
    st.data(),
)
def test_distinct_values_of_parts_add_up_to_those_of_the_whole(values, choose):
    column = as_table({"x": [0.5, *values]}).columns[0]
    cuts = choose.draw(st.lists(st.integers(0, len(values) + 1), max_size=3).map(sorted))
    bounds = itertools.pairwise([0, *cuts, len(values) + 1])
    first, *others = [distinct(column.take(slice(*each))) for each in bounds]
    total = sum(others, first)
    whole = distinct(column)
    assert np.array_equal(total.values, whole.values)
    assert np.array_equal(total.counts, whole.counts)


def test_very_many_distinct_values_are_not_remembered():
    column = as_table({"x": np.arange(20_000.0)}).columns[0]
    assert distinct(column) is not distinct(column)
    column = as_table({"x": np.arange(200_000.0) // 70}).columns[0]
    assert distinct(column) is distinct(column)
