"""Findings, and rows that are rounded more than in training."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truism.explaining.checker import Checker
from truism.explaining.findings import find_coarser
from truism.explaining.quiet import Quiet, Unusual
from truism.learning.training import train
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
            before = checker.follow(prepared, before)[1]
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


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=60),
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(0, 9)), max_size=6),
    st.lists(st.integers(0, 60), max_size=3),
)
def test_rows_outside_incidents_are_counted_however_they_are_divided(rows, events, cuts):
    first = {"a": 3}
    unusual = Unusual(first)
    for start, end in itertools.pairwise([0, *sorted(cuts), 60]):
        part = rows[start:end]
        names = np.array([name for name, _ in part])
        rows_of = {each: np.flatnonzero(names == each) for each in {*names.tolist()}}
        unusual.take(np.array([above for _, above in part], bool), rows_of)
    spans = {}
    for name, start, more in events:
        spans.setdefault(name, []).append((start, start + more))
    expected, numbers = 0, {"b": 0, **first}
    for name, above in rows:
        inside = any(a <= numbers[name] <= b for a, b in spans.get(name, ()))
        expected += above and not inside
        numbers[name] += 1
    assert unusual.outside(spans) == expected


def test_rows_that_raise_no_alarm_are_counted_and_explained():
    random = np.random.default_rng(0)

    def rows(n_rows, decimals):
        level = np.cumsum(random.normal(0, 0.001, n_rows)) % 0.02 + 2.9
        return {"a": level, "b": np.round(level + random.normal(0, 0.0004, n_rows), decimals)}

    checker = Checker(train(as_table(rows(3000, 9)), Settings(ordered=True)))
    found = checker.find(as_table(rows(600, 2)))
    assert "rounded" in found.quiet.why
    inside = {
        row
        for each in (*found.incidents.outlines[:], *found.shifts.outlines[:])
        for row in range(each.event.start, each.event.last + 1)
    }
    above = np.flatnonzero(found.scores > found.threshold).tolist()
    assert found.quiet.n_rows == sum(row not in inside for row in above) > 0
    assert f"{found.quiet.n_rows} of them raise no alarm: rounding explains them, or" in str(found)
    assert len(repr(found)) < 100
    assert str(Quiet(1, ("usual",))) == "1 of them raises no alarm: nothing about it is new"
    assert str(Quiet()) == ""


def test_few_rows_or_values_do_not_tell_rounding():
    fine = {"x": 2.97 + np.random.default_rng(0).normal(0, 0.004, 600)}
    model = train(as_table(fine), Settings(min_support=0.1))
    assert find_coarser(model, as_table({"x": np.round(fine["x"][:50], 2)})) == ()
    assert find_coarser(model, as_table({"x": [3.0] * 500})) == ()
