"""The predicates worth mining are those of algorithms 1 and 2."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.preprocessing import KBinsDiscretizer

import oracle
from learned import infer
from strategies import exact, tables, thresholds
from truism.learn.predicates import (
    Exceeds,
    categories,
    choose_cuts,
    intervals,
    kmeans_edges,
    simple_intervals,
    tree_intervals,
)
from truism.learn.trees import Bins, Proposal
from truism.model.predicates import AnyOf, Interval, OneOf
from truism.model.schema import Categorical
from truism.table.distinct import distinct
from truism.table.frames import as_table


def found_categories(data, min_support):
    table = as_table(data)
    schema = infer(table, categorical=list(data))
    return categories(schema, table.columns, Exceeds(exact(min_support), table.n_rows))


def test_two_rare_values_whose_join_exceeds_make_one_predicate():
    data = {"U": ["a"] * 2 + ["b"] * 2 + ["c"] * 16}
    assert found_categories(data, 0.1) == [OneOf("U", ("c",)), OneOf("U", ("a", "b"))]


def test_a_join_across_variables_counts_rows_once():
    data = {"U": ["r"] * 2 + ["c"] * 18, "V": ["s"] * 2 + ["d"] * 18}
    assert found_categories(data, 0.1) == [OneOf("U", ("c",)), OneOf("V", ("d",))]
    data["V"] = ["d"] * 18 + ["s"] * 2
    assert found_categories(data, 0.1)[-1] == AnyOf((OneOf("U", ("r",)), OneOf("V", ("s",))))


def test_what_could_not_stand_alone_joins_too():
    data = {"U": ["a"] * 2 + ["b"] * 2 + ["c"] * 2 + ["z"] * 14}
    assert found_categories(data, 0.1) == [OneOf("U", ("z",)), OneOf("U", ("a", "b", "c"))]


def test_a_list_that_cannot_exceed_makes_nothing():
    assert found_categories({"U": ["a", "b"] + ["z"] * 18}, 0.1) == [OneOf("U", ("z",))]


def test_a_constant_makes_nothing():
    assert found_categories({"U": ["a"] * 20, "V": [None] + [1] * 19}, 0.1) == []


def test_values_are_joined_in_the_order_of_their_text():
    data = {"U": [2] * 2 + [10] * 2 + [100] * 2 + [3] * 2 + [7] * 12}
    assert found_categories(data, 0.1) == [
        OneOf("U", (7,)),
        OneOf("U", (10, 100)),
        OneOf("U", (2, 3)),
    ]


@given(tables(max_columns=4), thresholds)
def test_joining_equals_algorithm_1(data, min_support):
    table = as_table(data)
    schema = infer(table, categorical=list(data))
    wanted = oracle.categories(data, exact(min_support))
    found = categories(schema, table.columns, Exceeds(exact(min_support), table.n_rows))
    assert found == wanted


@given(tables(max_columns=4), thresholds)
def test_every_categorical_predicate_has_its_support(data, min_support):
    for predicate in found_categories(data, min_support):
        held = sum(oracle.holds(predicate, row) is True for row in oracle.rows_of(data))
        assert held > exact(min_support) * len(oracle.rows_of(data))


def test_counts_come_from_the_rows_at_hand():
    # A schema may have seen more rows than the ones that predicates are made for.
    whole = as_table({"U": ["a"] * 10 + ["b"] * 10 + ["c"] * 80})
    part = whole.take(slice(8, 100))
    schema = infer(whole)
    found = categories(schema, part.columns, Exceeds(Fraction(1, 20), part.n_rows))
    assert OneOf("U", ("a",)) not in found


# --- algorithm 2 ---


@st.composite
def proposed(draw):
    values = draw(st.lists(st.integers(0, 12), min_size=5, max_size=60))
    column = as_table({"X": [float(value) for value in values]}).columns[0]
    found = distinct(column)
    states, counts = found.values, found.counts
    rank = np.cumsum(counts)[:-1]
    bins = Bins("X", states[:-1], states[1:], rank, len(values))
    cuts = draw(st.permutations(range(len(states) - 1)))
    repeated = draw(st.lists(st.sampled_from(cuts), max_size=4)) if cuts else []
    return values, bins, [*cuts, *repeated]


@given(proposed(), thresholds, st.integers(0, 10))
def test_selection_equals_algorithm_2(drawn, min_support, n_missing):
    values, bins, cuts = drawn
    n_rows = len(values) + n_missing
    proposals = [Proposal(-1.0 / (i + 1), "X", cut) for i, cut in enumerate(cuts)]
    found = choose_cuts(bins, proposals, Exceeds(exact(min_support), n_rows))
    places = [float(bins.above[cut]) for cut in cuts]
    wanted = oracle.choose_cuts(values, places, exact(min_support), n_rows)
    assert [float(bins.above[cut]) for cut in found] == wanted


@given(proposed(), thresholds)
def test_intervals_of_a_variable_partition_the_line_and_keep_their_support(drawn, min_support):
    values, bins, cuts = drawn
    proposals = [Proposal(-1.0, "X", cut) for cut in cuts]
    parts = tree_intervals([bins], proposals, Exceeds(exact(min_support), len(values)))
    if not parts:
        return
    assert parts[0].low == -math.inf
    assert parts[-1].high == math.inf
    assert all(one.high == other.low for one, other in pairwise(parts))
    for part in parts:
        held = sum(part.low <= value < part.high for value in values)
        assert held > exact(min_support) * len(values)
    for value in values:
        assert sum(oracle.holds(part, {"X": float(value)}) for part in parts) == 1


def test_the_first_cut_off_is_checked_too():
    bins = Bins("X", np.array([0.0]), np.array([1.0]), np.array([1]), 20)
    assert choose_cuts(bins, [Proposal(-1.0, "X", 0)], Exceeds(Fraction(1, 10), 20)) == []


def test_three_cut_offs_give_four_intervals():
    assert intervals("X", [1.0, 2.0, 3.0]) == [
        Interval("X", high=1.0),
        Interval("X", 1.0, 2.0),
        Interval("X", 2.0, 3.0),
        Interval("X", low=3.0),
    ]
    assert intervals("X", []) == []


@pytest.mark.parametrize(
    ("min_support", "count", "exceeds"), [(0.29, 29, False), (0.29, 30, True), (0.07, 7, False)]
)
def test_exceeding_is_exact(min_support, count, exceeds):
    compare = Exceeds(exact(min_support), 100)
    assert compare(count) is exceeds
    assert compare(compare.least)
    assert not compare(compare.least - 1)


# --- simple bins ---


def simple(values, cutoffs, min_support=0.001):
    table = as_table({"X": values})
    schema = infer(table, continuous=["X"])
    return simple_intervals(
        schema, table.columns, cutoffs, Exceeds(exact(min_support), table.n_rows)
    )


def test_five_uniform_bins_divide_the_range_evenly():
    values = [float(i) for i in range(101)]
    parts = simple(values, "uniform")
    assert len(parts) == 5
    sizes = [sum(part.low <= value < part.high for value in values) for part in parts]
    assert sizes == [20, 20, 20, 20, 21]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=60), st.sampled_from(["uniform", "kmeans"])
)
def test_simple_bins_are_disjoint_and_hold_training_values(values, cutoffs):
    parts = simple(values, cutoffs)
    for one, other in pairwise(parts):
        assert one.high <= other.low
    for part in parts:
        assert any(part.low <= value < part.high for value in values)


def clustered(seed, spread):
    random = np.random.default_rng(seed)
    centres = (0, 20, 45, 60, 90)
    return np.round(np.concatenate([random.normal(each, spread, 40) for each in centres]), 2)


def kmeans_codes(values):
    states, counts = np.unique(values, return_counts=True)
    return np.searchsorted(kmeans_edges(states, counts), values, side="right")


@pytest.mark.parametrize("seed", range(6))
def test_kmeans_bins_agree_with_scikit_learns_discretizer(seed):
    values = clustered(seed, 2.0)
    reference = KBinsDiscretizer(5, encode="ordinal", strategy="kmeans", subsample=None)
    if "quantile_method" in reference.get_params():  # newer versions warn unless it is chosen
        reference.set_params(quantile_method="averaged_inverted_cdf")
    wanted = reference.fit_transform(values.reshape(-1, 1))[:, 0]
    assert np.array_equal(kmeans_codes(values), wanted)


@pytest.mark.parametrize("seed", range(6))
def test_kmeans_bins_agree_with_lloyds_algorithm_run_to_its_end(seed):
    # The discretizer stops at a tolerance; on data without gaps that is not yet the end.
    values = clustered(seed, 12.0)
    edges = np.linspace(values.min(), values.max(), 6)
    reference = KMeans(
        5, init=((edges[1:] + edges[:-1]) / 2).reshape(-1, 1), n_init=1, tol=0, max_iter=300
    ).fit(values.reshape(-1, 1))
    centres = np.sort(reference.cluster_centers_[:, 0])
    wanted = np.searchsorted((centres[1:] + centres[:-1]) / 2, values, side="right")
    assert np.array_equal(kmeans_codes(values), wanted)


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40, unique=True), st.integers(2, 4))
def test_kmeans_does_not_depend_on_repetition(values, times):
    states = np.array(sorted(values))
    counts = np.ones(len(states), np.int64)
    once = kmeans_edges(states, counts)
    assert kmeans_edges(states, counts * times) == pytest.approx(once)


@pytest.mark.parametrize("cutoffs", ["uniform", "kmeans"])
def test_simple_bins_of_extreme_numbers_do_not_warn(cutoffs):
    largest = 1.7976931348623157e308
    parts = simple([-largest, -1.0, 0.0, 1.0, largest, largest / 2], cutoffs)
    assert parts


@pytest.mark.parametrize("cutoffs", ["uniform", "kmeans"])
def test_a_variable_without_a_value_in_the_rows_at_hand_has_no_bins(cutoffs):
    whole = as_table({"X": [1.0, 2.0, 3.0, None, None], "U": list("ababa")})
    schema = infer(whole, continuous=["X"])
    part = whole.take(slice(3, 5))
    columns = [column for column in part.columns if column.name in schema.names]
    assert simple_intervals(schema, columns, cutoffs, Exceeds(Fraction(1, 10), 2)) == []


def test_text_is_ordered_by_itself_and_not_by_its_quotes():
    data = {"U": ["b c"] * 2 + ["a"] * 2 + ["b"] * 2 + ["z"] * 14}
    (joined,) = [each for each in found_categories(data, 0.1) if len(each.values) > 1]
    assert joined.values == ("a", "b", "b c")
    assert isinstance(infer(as_table(data)).variables[0], Categorical)
