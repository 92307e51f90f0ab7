"""Packed truth vectors hold what was put in, and nothing beyond the last row."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truism.score.truths import count, count_runs, n_words, pack, unpack

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
