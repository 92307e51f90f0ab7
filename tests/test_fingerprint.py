"""A fingerprint depends on what a table holds, and on the order of rows only where that matters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import tables
from truism.table.fingerprint import fingerprint
from truism.table.frames import as_table

DATA = {"X": [1.0, 2.0, 3.0, None], "U": ["a", "b", "b", None], "B": [True, False, True, True]}


@pytest.mark.parametrize(
    "other",
    [
        {"X": [1.0, 2.0, 4.0, None]},
        {"X": [1.0, 2.0, None, 3.0]},
        {"U": ["a", "b", "c", None]},
        {"B": [False, True, True, True]},
        {"Y": [1.0] * 4},
    ],
)
@pytest.mark.parametrize("ordered", [True, False])
def test_another_table_has_another_fingerprint(other, ordered):
    one, two = as_table(DATA), as_table({**DATA, **other})
    assert fingerprint(one, ordered=ordered) != fingerprint(two, ordered=ordered)


def test_values_that_change_columns_have_another_fingerprint():
    one, two = as_table({"a": [1.0], "b": [2.0]}), as_table({"a": [2.0], "b": [1.0]})
    assert fingerprint(one, ordered=False) != fingerprint(two, ordered=False)


def test_every_library_gives_the_same_fingerprint(to_library):
    data = {"x0": [1.5, 2.5, 2.5], "x1": [0.5, 0.25, 8.0]}
    table = as_table(to_library(data))
    assert fingerprint(table, ordered=True) == fingerprint(as_table(data), ordered=True)


@given(tables(min_rows=2), st.randoms(use_true_random=False))
def test_the_order_of_columns_and_of_rows_without_an_order_means_nothing(data, random):
    table = as_table(data)
    names = list(data)
    random.shuffle(names)
    assert fingerprint(as_table({name: data[name] for name in names}), ordered=True) == fingerprint(
        table, ordered=True
    )
    rows = np.array(random.sample(range(table.n_rows), table.n_rows))
    shuffled = table.take(rows)
    assert fingerprint(shuffled, ordered=False) == fingerprint(table, ordered=False)
    same = fingerprint(shuffled, ordered=True) == fingerprint(table, ordered=True)
    cells = list(zip(*data.values(), strict=True))
    assert same == ([cells[row] for row in rows] == cells)
