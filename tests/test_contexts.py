"""Contexts find the leaf that a walk finds, and weigh what the formula says."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import oracle
from learned import learn
from strategies import learned
from truism.learn.kinds import variable_columns
from truism.model.evidence import LEAF
from truism.model.schema import Categorical
from truism.score import alignment, contexts
from truism.score.contexts import LeafProfiles, Leaves, state_evidence, statistics_of, surprise
from truism.score.scorer import Scorer
from truism.score.truths import Truths, pack
from truism.table.frames import as_table

CONSTANTS = SimpleNamespace(**vars(alignment) | vars(contexts))
seen_in_contexts = learned(scoring="evidence", min_rows=30, max_rows=80, min_columns=2)


def averages_of_each(scorer, leaves, readings):
    """The evidence of each context as if it were the only one: contexts × rows × variables."""
    reader = scorer.weigher.reader
    found = np.empty((len(leaves), leaves.shape[1], len(reader.schema.variables)))
    for k, context in enumerate(scorer.model.evidence.contexts):
        judge = LeafProfiles(reader, [statistics_of(context)])
        found[k] = judge.average(leaves[[k]], readings)
    return found


def n_judges(model):
    """How many contexts judge each variable, at least 1."""
    return [
        max(sum(i in {*each.numbers, *each.states} for each in model.evidence.contexts), 1)
        for i in range(len(model.schema.variables))
    ]


def leaves_of(trees, rows):
    """The leaves that a walk reaches: trees × rows."""
    truths = rows.T.tolist()
    return [[oracle.leaf_of(tree, row)[0] for row in truths] for tree in trees]


@st.composite
def trees(draw, n_splits, max_leaves=40):
    """A tree as its nodes, each before its children."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_leaves = draw(st.integers(1, max_leaves))

    def grown(leaves):
        if leaves == 1:
            return [LEAF]
        left = int(random.integers(1, leaves))
        return [int(random.integers(n_splits)), *grown(left), *grown(leaves - left)]

    return tuple(grown(n_leaves))


@st.composite
def forests(draw):
    n_splits, n_rows = draw(st.integers(1, 12)), draw(st.integers(1, 150))
    some = draw(st.lists(trees(n_splits), max_size=5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    return some, random.random((n_splits, n_rows)) < 0.5


def test_leaves_are_numbered_as_they_are_met():
    tree = (0, LEAF, 1, LEAF, LEAF)
    true = np.array([[True, False, False], [True, True, False]])
    assert Leaves([tree]).find(pack(true), 3).tolist() == [[0, 1, 2]]


def test_a_tree_of_one_leaf_and_no_tree_at_all():
    nothing = pack(np.zeros((0, 5), np.bool_))
    assert Leaves([(LEAF,)]).find(nothing, 5).tolist() == [[0] * 5]
    assert Leaves([]).find(nothing, 5).shape == (0, 5)


def test_as_many_leaves_as_a_byte_can_number_are_told_apart():
    depth = 8

    def whole(level):
        return [LEAF] if level == depth else [level, *whole(level + 1), *whole(level + 1)]

    rows = np.array([[i >> (depth - 1 - level) & 1 == 0 for i in range(256)] for level in range(8)])
    leaves = Leaves([tuple(whole(0))])
    assert leaves.find(pack(rows), 256).tolist() == [list(range(256))]


def test_a_chain_of_splits_as_long_as_can_be_is_walked_to_its_end():
    chain = (*(i for split in range(255) for i in (split, LEAF)), LEAF)
    other = (*range(255), *[LEAF] * 256)
    leaves = Leaves([chain, other])
    rows = np.random.default_rng(0).random((255, 200)) < 0.01
    found = leaves.find(pack(rows), 200)
    assert found.tolist() == leaves_of([chain, other], rows)


def test_rows_of_several_portions_fall_into_the_same_leaves():
    chain = (*(i for split in range(40) for i in (split, LEAF)), LEAF)
    rows = np.random.default_rng(0).random((40, 20_003)) < 0.1
    trees = [chain, (LEAF,), (3, LEAF, LEAF)]
    leaves = Leaves(trees)
    found = leaves.find(pack(rows), 20_003)
    assert found.flags.c_contiguous
    some = np.random.default_rng(1).integers(20_003, size=300)
    assert found[:, some].tolist() == leaves_of(trees, rows[:, some])
    assert len(np.unique(found[0])) == 41


@given(forests())
def test_the_leaf_is_the_one_that_a_walk_reaches(forest):
    some, true = forest
    leaves = Leaves(some)
    found = leaves.find(pack(true), true.shape[1])
    assert found.shape == (len(some), true.shape[1])
    assert found.tolist() == leaves_of(some, true)


@examples(max_examples=25)
@given(seen_in_contexts)
def test_missing_and_unseen_values_go_where_a_split_does_not_hold(drawn):
    _, model, data = drawn
    columns = variable_columns(model.schema, as_table(data))
    splits, rows = model.evidence.splits, oracle.rows_of(data)
    true, _ = Truths(model.schema, splits).evaluate(columns)
    found = Leaves([each.tree for each in model.evidence.contexts]).find(true, len(rows))
    for row, leaves in zip(rows, found.T.tolist(), strict=True):
        truths = [oracle.holds(split, row) is True for split in splits]
        for context, leaf in zip(model.evidence.contexts, leaves, strict=True):
            assert leaf == oracle.leaf_of(context.tree, truths)[0]


@examples(max_examples=25)
@given(seen_in_contexts)
def test_the_judgement_is_the_formula_to_the_letter(drawn):
    _, model, data = drawn
    scorer = Scorer(model)
    columns = variable_columns(model.schema, as_table(data))
    weighed, _ = scorer.weigher.weigh(columns)
    found = scorer.weigher.profiles.contradict(weighed.leaves, weighed.readings)
    for row, parts in zip(oracle.rows_of(data), found.tolist(), strict=True):
        wanted = oracle.judge(
            model.schema.variables, model.evidence.contexts, model.evidence.splits, row, CONSTANTS
        )
        assert parts == pytest.approx(wanted, rel=1e-4, abs=1e-4)


@examples(max_examples=25)
@given(seen_in_contexts)
def test_rows_are_judged_the_same_alone_and_among_thousands(drawn):
    _, model, data = drawn
    scorer = Scorer(model)
    weighed, _ = scorer.weigher.weigh(variable_columns(model.schema, as_table(data)))
    judge = scorer.weigher.profiles
    rows = np.arange(2_500) % len(weighed.leaves.T)
    together = judge.contradict(weighed.leaves[:, rows], weighed.readings.take(rows))
    alone = [
        judge.contradict(weighed.leaves[:, [row]], weighed.readings.take(slice(row, row + 1)))
        for row in range(len(weighed.leaves.T))
    ]
    assert together.tobytes() == np.concatenate(alone)[rows].tobytes()


def test_values_far_out_are_judged_by_all_contexts_without_an_overflow():
    """Every one of many contexts finds them as far out as they can be: the product needs many bits."""
    random = np.random.default_rng(0)
    level = random.normal(size=600)
    close = {f"x{i}": level + random.normal(scale=1e-3, size=600) for i in range(9)}
    model = learn(as_table(close), ordered=False)
    far = {name: [1e300, -1e300, 40.0, np.nan, values[0]] * 120 for name, values in close.items()}
    scorer = Scorer(model)
    columns = variable_columns(model.schema, as_table(far))
    weighed, _ = scorer.weigher.weigh(columns)
    judge, seen = scorer.weigher.profiles, (weighed.leaves, weighed.readings)
    assert len(weighed.leaves) > 12
    together = judge.average(*seen)
    each = averages_of_each(scorer, *seen).sum(axis=0) / n_judges(model)
    assert together == pytest.approx(each, rel=1e-5, abs=1e-6)
    assert together[0].min() > 30
    assert not together[3].any()


@examples(max_examples=25)
@given(seen_in_contexts)
def test_each_context_alone_and_all_together_say_the_same(drawn):
    _, model, data = drawn
    scorer = Scorer(model)
    columns = variable_columns(model.schema, as_table(data))
    weighed, _ = scorer.weigher.weigh(columns)
    judge = scorer.weigher.profiles
    each = averages_of_each(scorer, weighed.leaves, weighed.readings)
    together = judge.contradict(weighed.leaves, weighed.readings)
    assert each.shape == (len(model.evidence.contexts), *together.shape)
    assert (each >= 0).all()
    assert (together >= 0).all()
    # What no context finds surprising is not surprising together.
    assert (together[each.max(axis=0, initial=0.0) == 0.0] == 0.0).all()
    for i, variable in enumerate(model.schema.variables):
        if isinstance(variable, Categorical):
            judged = [i in context.states for context in model.evidence.contexts]
            mean = each[judged][:, :, i].mean(axis=0) if any(judged) else 0.0
            assert together[:, i] == pytest.approx(mean, rel=1e-5, abs=1e-6)


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(1, 6), st.integers(0, 10**6)
)
def test_the_evidence_of_states_is_the_formula_to_the_letter(widths, n_leaves, seed):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 40, (n_leaves, sum(widths))) * random.integers(0, 2, sum(widths))
    known, unseen = state_evidence(counts.astype(np.float64), widths)
    for at, (end, width) in enumerate(zip(np.cumsum(widths), widths, strict=True)):
        own = counts[:, end - width : end].tolist()
        for leaf in range(n_leaves):
            found = [*known[leaf, end - width : end].tolist(), unseen[leaf, at]]
            for each, state in zip(found, [*range(width), None], strict=True):
                wanted = oracle.state_evidence(own, leaf, state, contexts.PSEUDO_COUNT)
                assert each == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    # Of stacked tables each is weighed alone.
    other = random.integers(0, 3, counts.shape)
    stacked = state_evidence(np.stack([counts, other]).astype(np.float64), widths)
    for of_both, first, second in zip(
        stacked, (known, unseen), state_evidence(other.astype(np.float64), widths), strict=True
    ):
        assert of_both.tolist() == [first.tolist(), second.tolist()]


def test_surprise_is_nothing_at_the_mean_and_grows_on_either_side():
    away = np.array([0.0, 0.5, 1.0, 3.0, 10.0, 50.0])
    found = surprise(away)
    assert found[0] == 0.0
    assert (np.diff(found) > 0).all()
    assert np.array_equal(surprise(-away), found)
    assert found.tolist() == pytest.approx(
        [oracle.surprise(each, contexts.TAIL) for each in away.tolist()]
    )


def test_a_variable_that_never_varies_is_not_judged():
    data = {"u": ["a"] * 40, "x": [2.0] * 40, "v": ["b", "c"] * 20, "y": [1.0, 2.0] * 20}
    model = learn(as_table(data), min_support=0.1, continuous=("x", "y"))
    judged = {i for each in model.evidence.contexts for i in (*each.numbers, *each.states)}
    assert {model.schema.names[i] for i in judged} == {"v", "y"}
