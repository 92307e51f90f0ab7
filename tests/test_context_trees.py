"""What contexts learn depends on the rows' content alone, and their sums are those of the rows."""

import types

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from learned import learn
from strategies import tables
from truism.learn import contexts
from truism.learn.kinds import infer_schema, variable_columns
from truism.model.evidence import LEAF, MAX_CLASSES
from truism.model.schema import Categorical, Numeric
from truism.model.settings import Settings
from truism.score.alignment import MISSING, classes
from truism.table.frames import as_table


def has_two_variables(data):
    return len(infer_schema(as_table(data), Settings()).variables) >= 2


rich_tables = tables(min_rows=25, max_rows=90, max_columns=5, min_columns=2).filter(
    has_two_variables
)


def grown(data, seed=0, n_jobs=1):
    table = as_table(data)
    schema = infer_schema(table, Settings())
    columns = variable_columns(schema, table)
    trees = contexts.grow(schema, columns, seed, n_jobs)
    return schema, columns, trees.splits, trees.trees, trees.leaves


def by_name(names, contexts):
    """Contexts with variables named instead of numbered, whatever the order of the columns."""
    return [
        (
            each.tree,
            each.counts,
            {names[i]: [row[k] for row in each.means] for k, i in enumerate(each.numbers)},
            {names[i]: [row[k] for row in each.spreads] for k, i in enumerate(each.numbers)},
            {names[i]: [row[k] for row in each.state_counts] for k, i in enumerate(each.states)},
        )
        for each in contexts
    ]


def shuffled(data, random):
    rows = list(range(len(next(iter(data.values())))))
    random.shuffle(rows)
    names = list(data)
    random.shuffle(names)
    return rows, {name: [data[name][i] for i in rows] for name in names}


@examples(max_examples=30)
@given(rich_tables, st.randoms())
def test_neither_the_order_of_rows_nor_of_columns_changes_what_is_usual(data, random):
    once = learn(as_table(data), min_support=0.1)
    again = learn(as_table(shuffled(data, random)[1]), min_support=0.1)
    assert again.evidence.splits == once.evidence.splits
    assert by_name(again.schema.names, again.evidence.contexts) == by_name(
        once.schema.names, once.evidence.contexts
    )
    spacing_of = {each.variable: each for each in once.evidence.spacings}
    assert {each.variable: each for each in again.evidence.spacings} == spacing_of


@examples(max_examples=30)
@given(rich_tables, st.randoms())
def test_the_order_of_columns_changes_no_bit_of_the_units_and_the_threshold(data, random):
    names = list(data)
    random.shuffle(names)
    once = learn(as_table(data), min_support=0.1)
    again = learn(as_table({name: data[name] for name in names}), min_support=0.1)
    assert again.evidence.contradiction_unit == pytest.approx(once.evidence.contradiction_unit)
    assert again.evidence.rarity_unit == pytest.approx(once.evidence.rarity_unit)
    assert again.threshold == pytest.approx(once.threshold, rel=0.011)  # it has three digits


@examples(max_examples=20)
@given(rich_tables, st.integers(0, 5))
def test_neither_threads_nor_learning_again_changes_a_bit(data, seed):
    settings = Settings(min_support=0.1, random_state=seed)
    once = learn(as_table(data), settings)
    assert learn(as_table(data), settings) == once
    assert learn(as_table(data), settings, n_jobs=3) == once


def plant(n_rows):
    """Rows of which many are alike, so that it shows which of them are sampled."""
    random = np.random.default_rng(5)
    on = random.random(n_rows) < 0.4
    return {
        "pump": np.where(on, "on", "off").tolist(),
        "flow": np.where(on, 2.5, 0.0) + random.normal(0, 0.3, n_rows).round(1),
        "level": random.normal(0, 1, n_rows),
        "valve": random.integers(0, 3, n_rows).tolist(),
    }


def test_where_only_some_rows_are_grown_on_their_order_does_not_matter_either(monkeypatch):
    monkeypatch.setattr(contexts, "MAX_FIT_ROWS", 300)
    data = plant(2000)
    order = np.random.default_rng(0).permutation(2000)
    other = {name: np.array(column)[order] for name, column in reversed(data.items())}
    once, again = (learn(as_table(each), min_support=0.1) for each in (data, other))
    assert again.evidence.splits == once.evidence.splits
    assert by_name(again.schema.names, again.evidence.contexts) == by_name(
        once.schema.names, once.evidence.contexts
    )
    assert sum(once.evidence.contexts[0].counts) == 2000


@given(tables(min_rows=4, max_rows=30), st.randoms())
def test_a_rows_hash_depends_on_its_content_only(data, random):
    rows, other = shuffled(data, random)
    schema, again = (infer_schema(as_table(each), Settings()) for each in (data, other))
    hashes = contexts.content_hash(schema, variable_columns(schema, as_table(data)))
    mixed = contexts.content_hash(again, variable_columns(again, as_table(other)))
    assert np.array_equal(mixed, hashes[rows])
    # Rows that differ have different hashes, and equal rows equal ones.
    cells = [tuple(row[name] for name in schema.names) for row in oracle.rows_of(data)]
    for one, cell in zip(hashes.tolist(), cells, strict=True):
        assert [one == each for each in hashes.tolist()] == [cell == each for each in cells]


def test_zeros_of_either_sign_have_one_hash_and_columns_that_swap_values_do_not():
    data = {"a": [0.0, -0.0, 1.5, 2.5] * 5, "b": [1.5, 1.5, 0.0, 7.5] * 5}
    schema = infer_schema(as_table(data), Settings(continuous=("a", "b")))
    hashes = contexts.content_hash(schema, variable_columns(schema, as_table(data)))
    assert hashes[0] == hashes[1]
    assert hashes[0] != hashes[2]


@examples(max_examples=40)
@given(rich_tables)
def test_rows_grew_into_the_leaves_in_which_they_are_found(data):
    schema, columns, splits, trees, leaves = grown(data)
    if trees:
        found = contexts.find_leaves(schema, splits, trees, columns, 1)
        assert leaves.dtype == found.dtype
        assert leaves.tolist() == found.tolist()


@given(st.integers(0, 40), st.integers(0, 9))
def test_every_variable_is_judged_by_about_half_of_the_contexts_or_more(n_usable, seed):
    groups = contexts._members(list(range(n_usable)), seed)
    assert len(groups) == (contexts.N_CONTEXTS if n_usable > 1 else 0)
    for members in groups:
        assert 0 < len(members) < n_usable
        assert len(set(members.tolist())) == len(members)
    if n_usable > 1:
        times = np.bincount(np.concatenate(groups), minlength=n_usable)
        assert times.max() <= contexts.N_CONTEXTS // 2 + 1  # so each is judged by half of them


def test_a_tree_finds_what_tells_the_others_apart():
    random = np.random.default_rng(0)
    on = random.random(400) < 0.5
    data = {
        "noise": random.normal(0, 1, 400),
        "pump": np.where(on, "on", "off").tolist(),
        "flow": np.where(on, 5.0, 0.0) + random.normal(0, 0.1, 400),
    }
    model = learn(as_table(data), min_support=0.1)
    position = model.schema.names.index("pump")
    judges = [each for each in model.evidence.contexts if position in each.states]
    assert judges
    firsts = {model.evidence.splits[each.tree[0]].variable for each in judges if len(each.tree) > 1}
    assert "flow" in firsts


def test_leaves_keep_their_least_number_of_rows():
    for context in learn(as_table(plant(1500)), min_support=0.1).evidence.contexts:
        assert min(context.counts) >= contexts.MIN_ROWS
        assert context.tree.count(LEAF) <= contexts.MAX_LEAVES


@pytest.mark.parametrize("n_columns", [0, 1])
def test_a_single_variable_has_no_context(n_columns):
    data = {"constant": [1.0] * 30} | {
        f"x{i}": [float(j % 7) for j in range(30)] for i in range(n_columns)
    }
    _, _, splits, trees, leaves = grown(data)
    assert (splits, trees, leaves.shape) == ((), (), (0, 30))


def test_kinds_of_variables_are_both_judged():
    model = learn(as_table(plant(500)), min_support=0.1)
    kinds = {type(v) for v in model.schema.variables}
    assert kinds == {Numeric, Categorical}
    assert any(each.numbers for each in model.evidence.contexts)
    assert any(each.states for each in model.evidence.contexts)
    assert msgspec.json.encode(model.evidence)


@pytest.mark.parametrize("n_states", [2, MAX_CLASSES - 1, MAX_CLASSES, MAX_CLASSES + 1, 100])
def test_a_missing_state_is_no_target_however_many_states_there_are(n_states):
    states = tuple(f"s{i:03}" for i in range(n_states))
    variable = Categorical("U", "text", states, (5,) * n_states, 3)
    known = classes(variable)[[MISSING, 0]]
    for target in contexts._indicators(variable, known):
        assert target[0] == 0.0
        assert target[1] != 0.0


@examples(max_examples=60)
@given(
    st.integers(2, 40),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(2, 6),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_a_tree_takes_the_best_split_of_all_leaves_every_time(
    n_rows, n_variables, n_targets, least, max_leaves, remembers, seed
):
    random = np.random.default_rng(seed)
    codes = random.integers(0, 5, (n_rows, n_variables)).astype(np.uint8)
    targets = random.integers(-30, 30, (n_rows, n_targets)).astype(np.int32)
    is_state = random.random(n_variables) < 0.4
    n_splits = random.integers(0, 5, n_variables)
    members = np.flatnonzero(np.arange(n_variables) != n_variables // 2) if n_variables > 1 else [0]
    members = np.array(members)
    coded = types.SimpleNamespace(codes=codes, is_state=is_state, n_splits=n_splits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contexts, "MAX_REMEMBERED", 10**6 if remembers else 0)
        root = contexts._grow_nodes(coded, members, targets, least, max_leaves)

    def gains(rows):
        found = oracle.split_gains(
            codes.tolist(), members.tolist(), is_state, n_splits, targets.tolist(), least, rows
        )
        return {split: gain for split, gain in found.items() if gain > 0}

    leaves, split = [(list(range(n_rows)), root)], 1
    while any(node.children is not None for _, node in leaves):
        best = max(max(gains(rows).values(), default=0) for rows, _ in leaves)
        open_ones = [each for each in leaves if each[1].children is not None]
        rows, node = max(open_ones, key=lambda each: each[1].gain)
        v, c = int(members[node.member]), node.code
        assert float(gains(rows)[v, c]) == pytest.approx(float(best), rel=1e-9)
        sides = oracle.split_rows(codes, is_state, rows, v, c)
        assert [sorted(child.rows.tolist()) for child in node.children] == list(map(sorted, sides))
        leaves.remove((rows, node))
        leaves += zip(sides, node.children, strict=True)
        split += 1
    assert split == max_leaves or not any(gains(rows) for rows, _ in leaves)
