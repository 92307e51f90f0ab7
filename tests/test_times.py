"""Columns of text that read as times become columns of times."""

import datetime

import pandas as pd

from truism.table.frames import as_table
from truism.table.times import dated


def test_only_texts_that_occur_must_read_as_times():
    texts = pd.Categorical(["2026-01-01", None], categories=["never", "2026-01-01"])
    column = dated(as_table({"t": texts}).columns[0])
    assert column.kind == "time"
    assert [column.cell(row) for row in range(2)] == [datetime.datetime(2026, 1, 1), None]
