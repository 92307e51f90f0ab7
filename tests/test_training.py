"""What is added around learning: the threshold that was asked for."""

import pytest

from truism.errors import ParameterError
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.table.frames import as_table


def test_a_bad_threshold_is_refused_before_learning():
    told = []
    table = as_table({"u": ["a", "b"] * 20})
    with pytest.raises(ParameterError, match=r"^threshold must be a finite number of at least 0"):
        train(table, Settings(), threshold=-1, progress=lambda *news: told.append(news))
    assert told == []
