"""Variables then and now: parts of rows that add up to one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reported
from learned import infer
from strategies import tables
from truism.show.contents import Summary
from truism.show.pictures import MAX_STATES, N_BINS, extent, histogram, short
from truism.table.frames import as_table


@pytest.fixture(scope="module")
def summary() -> Summary:
    return reported.summary()


def test_variables_are_compared_with_training(summary):
    flow = next(each for each in summary.variables if each.name == "flow")
    assert (flow.seen_in_training, flow.seen_here) == ("0 to 2.56", "−1.5 to 2.56")
    assert sum(flow.histogram.training) == pytest.approx(1, abs=1e-3)
    assert sum(flow.histogram.here) == pytest.approx(1, abs=1e-3)
    assert flow.share > 0


def of(training, here, **options):
    (variable,) = infer(as_table({"v": training}), **options).variables
    return histogram(variable, as_table({"v": here}).columns[0])


@given(tables(), st.integers(0, 10**6))
def test_parts_add_up_to_one_and_a_table_is_like_itself(data, seed):
    table = as_table(data)
    schema = infer(table)
    for variable, column in ((v, table.column_of()[v.name]) for v in schema.variables):
        found = histogram(variable, column)
        assert len(found.labels) == len(found.training) == len(found.here)
        assert math.isclose(sum(found.training), 1, abs_tol=2e-3)
        assert found.here == pytest.approx(found.training, abs=2e-4)


def test_states_are_counted_one_by_one():
    found = of(["a"] * 6 + ["b"] * 2, ["a", "b", "b", "c", None])
    assert found.labels == ("a", "b", "other")
    assert found.training == (0.75, 0.25, 0.0)
    assert found.here == (0.25, 0.5, 0.25)


def test_of_very_many_states_the_rarest_are_others():
    states = [f"s{i:02}" for i in range(40)]
    found = of([state for i, state in enumerate(states) for _ in range(i + 2)], states)
    assert len(found.labels) == MAX_STATES + 1
    assert found.labels[:-1] == tuple(states[-MAX_STATES:])
    assert found.here[-1] == pytest.approx(28 / 40)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=60), st.integers(0, 10**6))
def test_numbers_are_counted_in_their_bins_and_those_far_outside_in_the_outer_ones(here, seed):
    training = np.random.default_rng(seed).uniform(-10, 10, 300)
    found = of(training.tolist(), here)
    low, high = training.min(), training.max()
    reach = 0.25 * (high - low)
    ends = max(min(low, *here), low - reach), min(max(high, *here), high + reach)
    edges = np.linspace(*ends, N_BINS + 1)
    counts = [0] * N_BINS
    for value in here:
        inside = [i for i in range(N_BINS) if edges[i] <= value < edges[i + 1]]
        counts[inside[0] if inside else (0 if value < edges[0] else N_BINS - 1)] += 1
    assert found.here == pytest.approx([n / len(here) for n in counts], abs=1e-4)


def test_nothing_here_leaves_the_bins_of_training():
    found = of([float(i) for i in range(20)] * 2, [math.nan, math.nan])
    assert sum(found.training) == pytest.approx(1, abs=1e-3)
    assert set(found.here) == {0.0}


def test_the_extent_names_what_was_seen_then_and_now():
    (variable,) = infer(as_table({"v": ["a", "b"] * 5})).variables
    then, now = extent(variable, as_table({"v": ["b", "z", "z", None]}).columns[0])
    assert then == "a, b"
    assert now.startswith("b, ")
    assert "2" in now
    (variable,) = infer(as_table({"v": [0.5 * i for i in range(9)]})).variables
    assert extent(variable, as_table({"v": [9.0, -1.0]}).columns[0]) == ("0 to 4", "−1 to 9")


@given(st.floats(-1e300, 1e300))
def test_a_short_number_is_nearly_the_number(value):
    shown = float(short(value).replace(",", "").replace("−", "-"))
    assert shown == pytest.approx(value, rel=1e-4)
