"""Columns and tables: rows are taken, cells are Python's own scalars."""

import numpy as np
from hypothesis import given

from strategies import tables
from truism.table.frames import as_table


def cells(table):
    return {
        column.name: [column.cell(row) for row in range(table.n_rows)] for column in table.columns
    }


@given(tables())
def test_taking_rows_takes_the_rows(data):
    table = as_table(data)
    assert cells(table.take(slice(2, 7))) == {name: cs[2:7] for name, cs in cells(table).items()}
    picked = np.array([5, 0, 5])
    taken = table.take(picked)
    assert taken.n_rows == 3
    assert cells(taken) == {name: [cs[i] for i in picked] for name, cs in cells(table).items()}
    mask = np.arange(table.n_rows) % 2 == 0
    assert table.take(mask).n_rows == mask.sum()
