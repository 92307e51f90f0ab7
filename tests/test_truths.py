"""Packed truth vectors say what the predicates say, row by row, and nothing beyond the last row."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from learned import infer
from strategies import tables
from truism.model.predicates import AnyOf, Interval, OneOf, Present
from truism.model.schema import Categorical
from truism.score.alignment import Reader, align
from truism.score.truths import Truths, count, count_runs, n_words, pack, unpack
from truism.table.frames import as_table


@st.composite
def tables_and_predicates(draw):
    data = draw(tables())
    schema = infer(as_table(data))
    found = []
    for variable in schema.variables:
        if isinstance(variable, Categorical):
            n = len(variable.values)
            for size in (1, 2):
                if size <= n:
                    picked = draw(st.permutations(variable.values))[:size]
                    found.append(OneOf(variable.name, tuple(picked)))
        else:
            low, high = sorted(draw(st.tuples(st.floats(-1, 10), st.floats(-1, 10))))
            if low < high:
                found.append(Interval(variable.name, low, high))
            found += [Interval(variable.name, low=low), Interval(variable.name, high=high)]
    sets = [each for each in found if isinstance(each, OneOf)]
    if len({each.variable for each in sets}) > 1:
        first = sets[0]
        other = next(each for each in sets if each.variable != first.variable)
        found.append(AnyOf((first, other)))
    return data, schema, draw(st.permutations(found))


def check(data, schema, predicates):
    table = as_table(data)
    columns, _ = align(schema, table)
    true, false = Truths(schema, predicates).evaluate_all(columns)
    wanted = oracle.evaluate(predicates, data)
    n_rows = table.n_rows
    assert unpack(true, n_rows).tolist() == [[each is True for each in row] for row in wanted]
    assert unpack(false, n_rows).tolist() == [[each is False for each in row] for row in wanted]
    assert not (true & false).any()
    read = Reader(schema).read(columns)
    again = Truths(schema, predicates).evaluate(columns, read)
    assert all(np.array_equal(a, b) for a, b in zip((true, false), again, strict=True))


@given(tables_and_predicates())
def test_truth_vectors_equal_the_predicates_row_by_row(drawn):
    check(*drawn)


@given(tables_and_predicates(), st.integers(0, 20))
def test_rows_that_were_not_learned_from_are_judged_the_same_way(drawn, seed):
    data, schema, predicates = drawn
    random = np.random.default_rng(seed)
    strange = {}
    for variable in schema.variables:
        if isinstance(variable, Categorical):
            pool = [
                *variable.values,
                None,
                {"text": "never", "boolean": True, "number": 99}[variable.holds],
            ]
        else:
            pool = [-5.0, 2.5, 99.0, None, math.inf, -math.inf, variable.low, variable.high]
        strange[variable.name] = [pool[i] for i in random.integers(len(pool), size=70)]
        if variable.name in data and isinstance(variable, Categorical) and variable.holds == "text":
            strange[variable.name][0] = "never"
    check(strange, schema, predicates)


@given(tables_and_predicates())
def test_the_size_of_blocks_does_not_matter(drawn):
    data, schema, predicates = drawn
    data = {name: column * 8 for name, column in data.items()}
    columns, _ = align(schema, as_table(data))
    evaluated = Truths(schema, predicates)
    whole = evaluated.evaluate(columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("truism.score.truths.BLOCK_ROWS", 64)
        blocked = evaluated.evaluate_all(columns)
    assert all(np.array_equal(a, b) for a, b in zip(whole, blocked, strict=True))


def test_an_interval_holds_at_its_lower_bound_and_not_at_its_upper():
    data = {"X": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, math.nextafter(2.0, 0), math.nextafter(4.0, 0)]}
    schema = infer(as_table(data))
    true, _ = Truths(schema, [Interval("X", 2.0, 4.0)]).evaluate(as_table(data).columns)
    assert unpack(true, 8)[0].tolist() == [False, True, True, False, False, False, False, True]


def test_joins_follow_kleenes_logic():
    data = {"U": ["a", "a", "b", "b", None, None, None], "V": ["c", None, "c", "d", "c", "d", None]}
    schema = infer(as_table(data))
    join = AnyOf((OneOf("U", ("a",)), OneOf("V", ("c",))))
    true, false = Truths(schema, [join]).evaluate(as_table(data).columns)
    assert unpack(true, 7)[0].tolist() == [True, True, True, False, True, False, False]
    assert unpack(false, 7)[0].tolist() == [False, False, False, True, False, False, False]


def test_univariate_predicates_are_not_truth_vectors():
    with pytest.raises(TypeError, match=r"^Present is not evaluated as a truth vector\.$"):
        Truths(infer(as_table({"U": ["a", "b"]})), [Present("U")])


flags = st.one_of(
    st.lists(st.booleans(), max_size=200),
    st.lists(st.tuples(st.booleans(), st.integers(1, 90)), max_size=4).map(
        lambda runs: [value for value, length in runs for _ in range(length)]
    ),
)


@given(flags)
def test_unpacking_undoes_packing(values):
    packed = pack(np.array(values, bool))
    assert packed.dtype == np.uint64
    assert packed.shape == (n_words(len(values)),)
    assert unpack(packed, len(values)).tolist() == values


@given(flags)
def test_the_first_row_is_the_lowest_bit_and_the_rest_is_zero(values):
    whole = sum(int(word) << 64 * i for i, word in enumerate(pack(np.array(values, bool))))
    assert whole == sum(1 << i for i, value in enumerate(values) if value)


@given(flags)
def test_counting_counts_the_true_rows(values):
    assert count(pack(np.array(values, bool))) == sum(values)


@given(flags)
def test_runs_are_rows_that_follow_each_other(values):
    assert count_runs(pack(np.array(values, bool))) == sum(
        value for value, _ in itertools.groupby(values)
    )


@given(st.integers(1, 5), st.integers(1, 130))
def test_packing_works_along_the_last_axis(n, n_rows):
    matrix = np.random.default_rng(n * 1000 + n_rows).random((n, n_rows)) < 0.5
    packed = pack(matrix)
    assert packed.shape == (n, n_words(n_rows))
    for row, words in zip(matrix, packed, strict=True):
        assert np.array_equal(pack(row), words)
    assert np.array_equal(unpack(packed, n_rows), matrix)
    assert np.array_equal(count(packed), matrix.sum(axis=1))


def test_a_strided_vector_packs_like_its_copy():
    matrix = np.random.default_rng(0).random((70, 3)) < 0.5
    assert np.array_equal(pack(matrix[:, 1]), pack(matrix[:, 1].copy()))
