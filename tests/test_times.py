"""Columns of text that read as times become columns of times."""

import datetime

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truism.table.frames import as_table
from truism.table.times import dated


def test_only_texts_that_occur_must_read_as_times():
    texts = pd.Categorical(["2026-01-01", None], categories=["never", "2026-01-01"])
    column = dated(as_table({"t": texts}).columns[0])
    assert column.kind == "time"
    assert [column.cell(row) for row in range(2)] == [datetime.datetime(2026, 1, 1), None]


def read(texts):
    return dated(as_table({"t": texts}).columns[0])


@pytest.mark.parametrize(
    "texts",
    [
        ["2026-01-01", "soon"],
        ["2026-13-01", "2026-01-01"],
        ["7", "8"],
        ["", "2026-01-01"],
    ],
)
def test_a_column_in_which_one_text_is_no_time_stays_text(texts):
    column = as_table({"t": texts}).columns[0]
    assert dated(column) is column


@pytest.mark.parametrize("values", [[1, 2], [True, False], [None, None], [1.5, 2.5]])
def test_what_is_no_text_stays_as_it_is(values):
    column = as_table({"t": values}).columns[0]
    assert dated(column) is column


@given(
    st.lists(
        st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1)) | st.none(),
        min_size=1,
    ).filter(any),
    st.sampled_from([None, datetime.UTC, datetime.timezone(datetime.timedelta(hours=-5))]),
    st.sampled_from("T "),
)
def test_times_come_back_as_they_were_and_in_utc_if_they_had_a_zone(times, zone, between):
    moments = [None if each is None else each.replace(tzinfo=zone) for each in times]
    column = read([each and each.isoformat(between) for each in moments])
    assert (column.kind, column.zoned) == ("time", zone is not None)
    assert [column.cell(row) for row in range(len(moments))] == moments
