"""Series that are small enough to draw, and still have every peak."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reported import NORMAL
from truism.model.schema import Schema
from truism.show.contents import Span
from truism.show.pictures import Axis, reduce, runs
from truism.table.columns import Column, Table
from truism.table.frames import as_table


def test_reducing_keeps_every_peak_and_every_gap():
    y = np.zeros(100_000)
    y[54_321] = 9.0
    y[10_000:20_000] = np.nan
    line = reduce(np.arange(100_000.0), y, 1000)
    assert len(line.x) == 2000
    assert max(value for value in line.y if value is not None) == 9.0
    assert line.y.count(None) == 200


def test_many_runs_become_few_without_losing_the_ends():
    mask = np.arange(1000) % 2 == 0
    some = runs(mask, most=10)
    assert len(some) == 10
    assert (some[0][0], some[-1][1]) == (0, 998)


def test_times_that_run_backwards_do_not_make_an_axis():
    times = NORMAL["time"][::-1]
    axis = Axis(as_table({"time": times}), Schema((), (), "time"))
    assert axis.unit == "row"


def test_times_are_said_in_their_zone():
    times = [f"2026-01-05T07:{minute:02}:00+01:00" for minute in range(10)]
    axis = Axis(as_table({"time": times}), Schema((), (), "time"))
    assert axis.when(3, 3) == "07:03 +01:00"
    assert axis.when(3, 8) == "07:03 to 07:08 +01:00"
    assert axis.x[0] == np.datetime64("2026-01-05T07:00", "ms").astype(float)
    utc = Axis(as_table({"time": [f"2026-01-05T07:0{i}Z" for i in range(3)]}), axis_of("time"))
    assert utc.when(1, 1) == "07:01 UTC"


def axis_of(name):
    return Schema((), (), name)


def test_an_hour_that_occurs_twice_does_not_turn_the_axis_back():
    instants = np.datetime64("2024-10-26T23:30", "us") + np.arange(5) * np.timedelta64(30, "m")
    column = Column("time", "time", instants, zoned=True, zone="Europe/Vienna")
    axis = Axis(Table((column,), 5), axis_of("time"))
    assert [axis.when(row, row) for row in range(5)] == [
        f"{clock} Europe/Vienna" for clock in ("01:30", "02:00", "02:30", "02:00", "02:30")
    ]
    assert (np.diff(axis.x) == 30 * 60_000).all()
    assert axis.x[0] == np.datetime64("2024-10-27T01:30", "ms").astype(float)
    assert axis.lasted(0, 4) == "2 h"


def test_how_long_it_lasted_knows_of_summer_time():
    instants = np.datetime64("2024-03-31T00:30", "us") + np.arange(3) * np.timedelta64(30, "m")
    column = Column("time", "time", instants, zoned=True, zone="Europe/Vienna")
    axis = Axis(Table((column,), 3), axis_of("time"))
    assert axis.when(0, 2) == "01:30 to 03:30 Europe/Vienna"
    assert axis.lasted(0, 2) == "1 h"


masks = st.lists(st.booleans(), max_size=60)


@given(masks)
def test_runs_are_the_groups_of_true(mask):
    groups = [
        list(rows) for held, rows in itertools.groupby(range(len(mask)), mask.__getitem__) if held
    ]
    assert runs(np.array(mask, np.bool_)) == [(rows[0], rows[-1]) for rows in groups]


@given(masks, st.integers(1, 6))
def test_where_there_are_many_runs_the_shortest_gaps_close(mask, most):
    every, some = runs(np.array(mask, np.bool_)), runs(np.array(mask, np.bool_), most)
    assert len(some) == min(len(every), most)
    if every:
        assert (some[0][0], some[-1][1]) == (every[0][0], every[-1][1])
    gaps = sorted((b[0] - a[1] for a, b in itertools.pairwise(every)), reverse=True)
    kept = sorted((b[0] - a[1] for a, b in itertools.pairwise(some)), reverse=True)
    assert kept == gaps[: len(kept)]


@given(
    st.lists(st.floats(-1e6, 1e6) | st.sampled_from([np.nan, np.inf, -np.inf]), min_size=1),
    st.integers(1, 12),
)
def test_every_bucket_keeps_its_smallest_and_its_largest_value(values, n_buckets):
    y = np.array(values)
    found = reduce(np.arange(len(y), dtype=float), y, n_buckets)
    known = [value for value in values if np.isfinite(value)]
    drawn = [value for value in found.y if value is not None]
    assert len(found.x) == len(found.y) <= max(2 * n_buckets, 1)
    assert bool(drawn) == bool(known)
    if known:
        assert (min(drawn), max(drawn)) == pytest.approx((min(known), max(known)), rel=1e-6)
    if len(y) > 2 * n_buckets:
        starts = [int(len(y) * i / n_buckets + 1e-9) for i in range(n_buckets)]
        for i, (start, end) in enumerate(itertools.pairwise([*starts, len(y)])):
            own = [value for value in values[start:end] if np.isfinite(value)]
            pair = [value for value in found.y[2 * i : 2 * i + 2] if value is not None]
            assert sorted(pair) == pytest.approx([min(own), max(own)] if own else [], rel=1e-6)


def test_rows_cover_the_axis_up_to_the_next_row_but_no_long_pause():
    seconds = np.array([0, 60, 120, 180, 3600, 3660], "timedelta64[s]")
    times = np.datetime64("2024-01-01T10:00") + seconds
    axis = Axis(as_table({"time": times}), Schema((), (), "time"))
    first = axis.x[0]
    assert (axis.unit, axis.step) == ("time", 60_000.0)
    assert axis.span(1, 2) == Span(first + 60_000, first + 3 * 60_000)
    assert axis.span(3, 3) == Span(first + 3 * 60_000, first + 13 * 60_000)
    assert axis.span(5, 5) == Span(first + 61 * 60_000, first + 62 * 60_000)
    assert axis.lasted(0, 3) == "3 min"


def test_without_times_rows_are_numbered():
    axis = Axis(as_table({"x": [1.0, 2.0, 3.0]}), Schema(()))
    assert (axis.unit, axis.x.tolist()) == ("row", [0.0, 1.0, 2.0])
    assert axis.span(1, 2) == Span(1.0, 3.0)
    assert axis.lasted(1, 2) == "2 rows"
    assert axis.when(1, 1) != axis.when(1, 2)
