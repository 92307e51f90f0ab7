"""A column of labels: what is not 0, false or missing is anomalous."""

import numpy as np
import pytest

from truism.errors import ParameterError
from truism.table.columns import read_labels
from truism.table.frames import as_table


@pytest.mark.parametrize(
    "column", [[0, 2, None, 1], [False, True, None, True], [0.0, -1.0, np.nan, 1]]
)
def test_everything_but_zero_false_and_missing_marks_a_row(column):
    assert read_labels(as_table({"attack": column}), "attack").tolist() == [
        False,
        True,
        False,
        True,
    ]


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(ParameterError) as raised:
        read_labels(as_table({"attack": [0, 1]}), "atack")
    assert str(raised.value) == (
        "label must name a column of the table, got 'atack'.\nHint: did you mean 'attack'?"
    )
