"""Findings, and rows that are rounded more than in training."""

import numpy as np

from truism.explain.checker import Checker
from truism.explain.findings import find_coarser
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.table.frames import as_table


def rounded(table, decimals):
    return as_table({name: np.round(values, decimals) for name, values in table.items()})


def metered(n_rows, first=0, gap_at=None):
    """A pump, a meter that counts what it moves, and minutes, with hours between two rows."""
    rows = np.arange(first, first + n_rows)
    minutes = rows + (0 if gap_at is None else 600 * (rows >= gap_at))
    on = minutes // 30 % 2 == 0
    moved = np.cumsum(np.where(np.arange(10_000) // 30 % 2 == 0, 4, 1))
    return {
        "time": np.datetime64("2024-03-01", "us") + minutes.astype("timedelta64[m]"),
        "pump": np.where(on, "on", "off"),
        "meter": moved[minutes],
    }


def test_over_a_gap_in_time_there_is_no_change():
    model = train(as_table(metered(2000)), Settings(), delta=True)
    table = as_table(metered(300, 2000, gap_at=2100))
    checker = Checker(model)
    whole = checker.prepare(table).column_of()["Δmeter"]
    assert np.flatnonzero(whole.missing).tolist() == [0, 100]
    assert not checker.find(checker.prepare(table)).incidents
    for cut in (60, 100, 101):  # in pieces the same
        before, found = None, []
        for piece in (table.take(slice(0, cut)), table.take(slice(cut, 300))):
            prepared = checker.prepare(piece, before)
            found.append(prepared.column_of()["Δmeter"].values)
            before = checker.find(prepared, before).state
        assert np.array_equal(np.concatenate(found), whole.values, equal_nan=True)


def test_rows_that_are_rounded_more_than_in_training_are_told():
    random = np.random.default_rng(0)
    fine = {
        "narrow": 2.97 + random.normal(0, 0.004, 600),
        "wide": random.normal(0, 50, 600),
        "whole": random.integers(0, 90, 600).astype(float),
    }
    model = train(as_table(fine), Settings(min_support=0.1))
    assert find_coarser(model, as_table(fine)) == ()
    # Of the wide one nothing that matters is lost.
    assert find_coarser(model, rounded(fine, 2)) == ("narrow",)
    checker, table = Checker(model), rounded(fine, 2)
    found = checker.find(table)
    assert found.doubts[0] == (
        "Fewer decimals than in training: 'narrow'. Rows may be reported because of rounding alone; "
        "learn from rows with the same rounding."
    )


def test_few_rows_or_values_do_not_tell_rounding():
    fine = {"x": 2.97 + np.random.default_rng(0).normal(0, 0.004, 600)}
    model = train(as_table(fine), Settings(min_support=0.1))
    assert Checker(model).find(as_table({"x": np.round(fine["x"][:50], 2)})).coarser == ()
    assert find_coarser(model, as_table({"x": [3.0] * 500})) == ()
