"""Series that are small enough to draw, and still have every peak."""

import numpy as np

from reported import NORMAL
from truism.model.schema import Schema
from truism.report.series import Axis, reduce, runs
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


def test_times_with_a_zone_are_said_in_utc():
    times = [f"2026-01-05T07:{minute:02}:00+01:00" for minute in range(10)]
    axis = Axis(as_table({"time": times}), Schema((), (), "time"))
    assert axis.when(3, 3) == "06:03 UTC"
    assert axis.when(3, 8) == "06:03 to 06:08 UTC"
