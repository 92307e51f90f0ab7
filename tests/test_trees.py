"""Histogram trees are the exact trees of the paper wherever values are few."""

from fractions import Fraction

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import oracle
from learned import infer
from strategies import exact, tables
from truism.learn import trees
from truism.learn.trees import Proposal, bin_columns, propose
from truism.model.schema import Numeric
from truism.table.frames import as_table


def grown(data, min_leaves, min_support=Fraction(1, 10), n_jobs=1, **overrides):
    table = as_table(data)
    schema = infer(table, **overrides)
    column_of = table.column_of()
    columns = [column_of[name] for name in schema.names]
    binned = bin_columns(schema, columns, min_support, n_jobs)
    return schema, binned, propose(binned, schema, columns, min_leaves, n_jobs)


def named(binned, proposals):
    bins_of = {bins.variable: bins for bins in binned.bins}
    return sorted(
        (each.variable, float(bins_of[each.variable].above[each.cut]), -each.loss)
        for each in proposals
    )


def expected(data, schema, min_leaf):
    numeric = {
        v.name: data[v.name] for v in schema.variables if isinstance(v, Numeric) and v.low < v.high
    }
    found = []
    for variable in schema.variables:
        regress = isinstance(variable, Numeric)
        varies = variable.low < variable.high if regress else len(variable.values) > 1
        if varies:
            found += oracle.grow_tree(
                numeric, data[variable.name], regress, min_leaf, variable.name if regress else None
            )
    return sorted((split.variable, split.above, split.gain) for split in found)


@given(tables(max_rows=30, max_columns=4, min_columns=2), st.integers(1, 8))
def test_trees_equal_exact_trees(data, min_leaf):
    schema, binned, (proposals,) = grown(data, [min_leaf])
    try:
        wanted = expected(data, schema, min_leaf)
    except oracle.AmbiguousError:
        assume(False)
    found = named(binned, proposals)
    assert [each[:2] for each in found] == [each[:2] for each in wanted]
    assert [each[2] for each in found] == pytest.approx([each[2] for each in wanted], abs=1e-5)


@given(tables(max_rows=40, max_columns=4, min_columns=2))
def test_growing_for_several_leaf_sizes_equals_growing_for_each(data):
    sizes = [1, 2, 3, 5, 9]
    _, _, together = grown(data, sizes)
    for size, found in zip(sizes, together, strict=True):
        assert found == grown(data, [size])[2][0]


@given(tables(max_rows=40, max_columns=4, min_columns=2))
def test_threads_and_tables_of_classes_change_nothing(data):
    once = grown(data, [2, 4])[2]
    assert grown(data, [2, 4], n_jobs=2)[2] == once
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "MAX_TABLE", 0)  # classes are counted by sorting instead
        assert grown(data, [2, 4])[2] == once


@given(tables(max_rows=40, max_columns=4, min_columns=2), st.randoms())
def test_the_order_of_rows_and_columns_changes_nothing(data, random):
    once = grown(data, [2, 4])[2]
    rows = list(range(len(next(iter(data.values())))))
    random.shuffle(rows)
    names = list(data)
    random.shuffle(names)
    shuffled = {name: [data[name][i] for i in rows] for name in names}
    assert grown(shuffled, [2, 4])[2] == once


def few_values(seed, n=300, columns=4):
    return np.random.default_rng(seed).integers(0, 12, (n, columns)).astype(float)


def partitions(tree, data, n):
    """Each split of a scikit-learn tree: variable, rows on the left, impurity decrease."""
    reached = tree.decision_path(data).toarray().astype(bool)
    inner = tree.tree_
    found = []
    for node in range(inner.node_count):
        left, right = inner.children_left[node], inner.children_right[node]
        if left < 0:
            continue
        sizes = inner.n_node_samples
        gain = sizes[node] / n * inner.impurity[node] - sum(
            sizes[child] / n * inner.impurity[child] for child in (left, right)
        )
        found.append(
            (gain, frozenset(np.flatnonzero(reached[:, left]).tolist()), inner.feature[node])
        )
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("regress", [False, True])
def test_trees_agree_with_scikit_learn(seed, regress):
    values = few_values(seed)
    noise = np.random.default_rng(seed + 100).normal(size=len(values))
    signal = values[:, 0] * 2 + (values[:, 1] > 5) * 7 + values[:, 2] * values[:, 3] / 9 + noise
    data = {f"x{i}": values[:, i] for i in range(4)}
    min_leaf = 20
    if regress:
        data["y"] = signal
        reference = DecisionTreeRegressor(min_samples_leaf=min_leaf, random_state=0)
        target = (signal - signal.mean()) / signal.std()
        schema, binned, (proposals,) = grown(data, [min_leaf])
        # The trees for the other targets are not wanted here.
        others = {name: column for name, column in data.items() if name != "y"}
        splits = oracle.grow_tree(
            {name: column.tolist() for name, column in others.items()},
            target.tolist(),
            True,
            min_leaf,
        )
    else:
        data["y"] = np.digitize(signal, np.quantile(signal, [0.3, 0.7])).astype(str)
        reference = DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=min_leaf, random_state=0
        )
        target = data["y"]
        schema, binned, (proposals,) = grown(data, [min_leaf])
        others = {f"x{i}": values[:, i] for i in range(4)}
        splits = oracle.grow_tree(
            {name: column.tolist() for name, column in others.items()},
            list(target),
            False,
            min_leaf,
        )
    reference.fit(values, target)
    wanted = sorted(gain for gain, _, _ in partitions(reference, values, len(values)))
    # The oracle's tree is scikit-learn's, and ours holds every one of its splits.
    assert sorted(split.gain for split in splits) == pytest.approx(wanted, abs=1e-9)
    ours = {(name, above): [] for name, above, _ in named(binned, proposals)}
    for name, above, gain in named(binned, proposals):
        ours[name, above].append(gain)
    for split in splits:
        assert any(
            abs(gain - split.gain) < 1e-5 for gain in ours.get((split.variable, split.above), [])
        )
    assert len(schema.variables) == 5


def test_a_row_missing_the_split_variable_goes_to_neither_child():
    data = {
        "x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, None, None],
        "u": ["a"] * 4 + ["b"] * 4 + ["a", "b"],
    }
    _, binned, (proposals,) = grown(data, [2], continuous=["x"])
    ((variable, above, gain),) = named(binned, proposals)
    assert (variable, above) == ("x", 4.0)
    assert gain == pytest.approx(8 / 10 * 1.0)


def test_a_row_without_a_target_takes_no_part():
    data = {
        "x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0],
        "u": ["a", "a", None, None, None, None, "b", "b"],
    }
    _, binned, (proposals,) = grown(data, [2], continuous=["x"])
    ((variable, above, gain),) = named(binned, proposals)
    assert (variable, above) == ("x", 2.0)  # of equal splits the smallest cut-off
    assert gain == pytest.approx(4 / 8)
    assert named(binned, grown(data, [3], continuous=["x"])[2][0]) == []


def test_equal_splits_go_to_the_first_name():
    values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    data = {"zebra": values, "Ant": values[::-1], "u": list("aaaabbbb")}
    _, binned, (proposals,) = grown(data, [4], continuous=["zebra", "Ant"])
    by_class = [each for each in named(binned, proposals) if each[2] == pytest.approx(1.0)]
    assert [each[0] for each in by_class] == ["Ant"]


def test_proposals_are_sorted_best_first():
    assert sorted([Proposal(-0.1, "b", 3), Proposal(-0.5, "z", 9), Proposal(-0.1, "b", 1)]) == [
        Proposal(-0.5, "z", 9),
        Proposal(-0.1, "b", 1),
        Proposal(-0.1, "b", 3),
    ]


def test_many_values_are_binned_at_order_statistics():
    random = np.random.default_rng(0)
    data = {"x": random.normal(size=5000), "u": ["a", "b"] * 2500}
    table = as_table(data)
    schema = infer(table)
    for min_support, most in ((Fraction(1, 10), 255), (exact(0.005), 400)):
        binned = bin_columns(schema, table.columns, min_support, 1)
        (bins,) = binned.bins
        assert 250 <= len(bins.above) + 1 <= most
        assert np.isin(bins.above, data["x"]).all()
        for below, above, rank in zip(bins.below, bins.above, bins.rank, strict=True):
            assert (data["x"] < above).sum() == rank
            assert (data["x"] <= below).sum() == rank
        codes = np.searchsorted(bins.above, data["x"], side="right")
        assert np.array_equal(binned.binned[:, 0], codes)


def test_a_byte_holds_up_to_255_bins_and_missing():
    for n_values, width in ((255, 1), (256, 2)):
        values = [float(i) for i in range(n_values)]
        table = as_table(
            {"few": [0.0, 1.0, None] * 200, "x": [*values, *[None] * (600 - n_values)]}
        )
        binned = bin_columns(infer(table, continuous=["few", "x"]), table.columns, exact(0.001), 1)
        assert binned.binned.itemsize == width
        assert binned.binned[:, 0].tolist() == [0, 1, 2] * 200
        assert binned.binned[:, 1].tolist() == [*range(n_values), *[n_values] * (600 - n_values)]


@given(tables(max_rows=40, max_columns=4, min_columns=2))
def test_the_width_of_bin_numbers_changes_nothing(data):
    table = as_table(data)
    schema = infer(table)
    columns = [table.column_of()[name] for name in schema.names]
    narrow = bin_columns(schema, columns, Fraction(1, 10), 1)
    wide = msgspec.structs.replace(narrow, binned=narrow.binned.astype("<u2"))
    once = propose(narrow, schema, columns, [2, 4], 1)
    assert propose(wide, schema, columns, [2, 4], 1) == once


@pytest.mark.parametrize("max_table", [trees.MAX_TABLE, 0])
def test_a_cut_beyond_the_255th_bin_is_found(max_table, monkeypatch):
    monkeypatch.setattr(trees, "MAX_TABLE", max_table)
    x = np.random.default_rng(0).permutation(600)
    data = {"x": x.astype(float), "y": np.where(x < 400, 7.0, x), "u": np.where(x < 400, "a", "b")}
    _, binned, (proposals,) = grown(data, [100], exact(0.002), continuous=["x", "y"])
    assert binned.binned.itemsize == 2
    best = [
        each[:2] for each in named(binned, proposals) if each[2] == pytest.approx(0.9183, abs=1e-4)
    ]
    assert best == [("x", 400.0)]
    assert ("x", 500.0) in [each[:2] for each in named(binned, proposals)]


def test_a_tiny_support_does_not_overflow_the_bins():
    n = 70_000
    data = {"x": np.random.default_rng(0).permutation(n) / 7.0, "u": ["a", "b"] * (n // 2)}
    table = as_table(data)
    binned = bin_columns(infer(table), table.columns, exact(0.00001), 1)
    (bins,) = binned.bins
    wanted = np.searchsorted(bins.above, data["x"], side="right")
    assert np.array_equal(binned.binned[:, 0].astype(np.int64), wanted)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_the_scale_of_a_target_does_not_matter(scale):
    values = few_values(1, n=60, columns=2)
    data = {"x": values[:, 0], "y": values[:, 1]}
    scaled = {"x": values[:, 0], "y": values[:, 1] * scale}
    _, _, (once,) = grown(data, [6])
    _, _, (again,) = grown(scaled, [6])
    assert [(each.variable, each.cut) for each in again] == [
        (each.variable, each.cut) for each in once
    ]


def test_a_target_that_spans_all_doubles_is_standardised():
    largest = 1.7976931348623157e308
    data = {
        "y": [-largest] * 15 + [largest] * 5,
        "x": [float(i) for i in range(20)],
    }
    schema, binned, (proposals,) = grown(data, [2], continuous=["y", "x"])
    assert ("x", 15.0) in [each[:2] for each in named(binned, proposals)]
    assert len(schema.variables) == 2


def test_a_split_that_gains_nothing_is_not_proposed():
    # Below 4.75 both values of v2 have the same mean of v0; the rounding of v0 is no gain.
    v0 = [7.75, 1.75, 0.25, 3.25, 3.25, 7.75, 4.75, 0.25, 3.25, 6.25, 7.75]
    v2 = [None, 0.25, 0.25, 0.25, 3.25, 4.75, None, 6.25, 7.75, None, None]
    data = {
        "v0": [*v0, None, None, None, 9.25, 0.25, 4.75],
        "v2": [*v2, 7.75, 0.25, 4.75, 9.25, 3.25, 4.75],
    }
    _, binned, (proposals,) = grown(data, [1])
    found = named(binned, proposals)
    assert ("v2", 4.75) in [each[:2] for each in found]
    assert all(gain > 1e-9 for _, _, gain in found)
