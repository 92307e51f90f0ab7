"""Rows that are kept tell as much as the rows of a table; incidents told in chunks are the same."""

import datetime
import itertools
import math

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from learned import learn
from test_following import FAULTS, series
from truism.errors import StateError
from truism.explain.checker import Check, Checker
from truism.explain.states import proceed
from truism.incidents.keeping import Cell, Clock, Infinite, Kept, Stamp, as_rows, cells_of
from truism.table.columns import Column
from truism.table.frames import as_table

BEGIN = np.datetime64("2024-01-01T00:00:00", "us")
STEP = np.timedelta64(60, "s")
VIENNA = datetime.timezone(datetime.timedelta(hours=1))


def timed(rows, first=0):
    n_rows = len(next(iter(rows.values())))
    return {"time": BEGIN + (first + np.arange(n_rows)) * STEP, **rows}


@pytest.fixture(scope="module")
def checker():
    return Checker(learn(as_table(timed(series(1500))), min_support=0.05))


@pytest.fixture(scope="module")
def today():
    return as_table(timed(series(330, 1, FAULTS), 5000))


def told(checker, table, cuts):
    """Check a table in pieces, and return what was said last of each incident."""
    found, state = {}, None
    for start, end in itertools.pairwise([0, *sorted(cuts), table.n_rows]):
        findings = checker.find(table.take(slice(start, end)), state)
        state = findings.state
        found |= {each.id: each for each in (*findings.incidents, *findings.shifts)}
    return sorted(found.values(), key=lambda each: each.start)


@examples(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 330), max_size=8))
def test_incidents_are_told_alike_in_one_piece_and_in_chunks(checker, today, cuts):
    whole = told(checker, today, ())
    assert len(whole) >= 3
    assert told(checker, today, cuts) == whole


def test_incidents_are_told_alike_row_by_row(checker, today):
    part = today.take(slice(50, 175))
    assert told(checker, part, range(1, 125)) == told(checker, part, ())


def test_times_with_a_zone_are_refused_after_others_while_something_is_open(checker, today):
    state = checker.find(today.take(slice(0, 160))).state
    assert state.kept
    later = today.take(slice(160, 200))
    zoned = msgspec.structs.replace(later.column_of()["time"], zoned=True, zone="UTC")
    others = [each for each in later.columns if each.name != "time"]
    with pytest.raises(StateError, match="Times in column 'time' have a zone"):
        checker.find(msgspec.structs.replace(later, columns=(zoned, *others)), state)


def test_an_id_follows_from_model_source_and_start(checker, today):
    found = told(checker, today, ())
    assert len({each.id for each in found}) == len(found)
    worst = max(found, key=lambda each: each.score)
    later = checker.find(today.take(slice(worst.start - 9, None)))
    assert worst.id in {each.id for each in (*later.incidents, *later.shifts)}
    named = checker.named("pump 1")
    assert worst.id not in {each.id for each in told(named, today, ())}
    assert named.origin.source == "pump 1"


def test_the_id_of_a_model_is_that_of_its_rules_and_its_evidence(checker):
    model = checker.model
    rule = next(rule for rule in model.rules if rule.antecedent)
    tail = msgspec.structs.replace(model.memory.tail, n_incidents=3)
    memory = msgspec.structs.replace(model.memory, tail=tail)
    calibrated = msgspec.structs.replace(model.series, memory=memory)
    for same in (
        model.with_threshold(3.0),
        model.disable(rule.id, "why"),
        msgspec.structs.replace(model, series=calibrated),
    ):
        assert same.id == model.id
    fewer = msgspec.structs.replace(model.rules, rules=model.rules.rules[1:])
    assert msgspec.structs.replace(model, rules=fewer).id != model.id
    assert checker.without(["heat"]).origin.model.version == model.id


def test_without_times_an_id_follows_from_the_row():
    data = as_table(series(800))
    checker = Checker(learn(data, min_support=0.05, ordered=True))
    odd = as_table(series(200, 1, (("flow", 60, 64, 2.5), ("flow", 120, 124, 2.5))))
    whole = told(checker, odd, ())
    assert len({each.id for each in whole}) == len(whole) >= 2
    assert all(each.started is None for each in whole)
    assert told(checker, odd, (62, 100, 122)) == whole


@pytest.mark.parametrize("times", ["ascending", "doubled", "repeated"])
def test_an_id_does_not_depend_on_rows_of_other_series(times):
    normal = timed(series(1200)) | {"machine": ["A", "B", "C"] * 400}
    checker = Checker(learn(as_table(normal), min_support=0.05, by="machine", ordered=True))
    places = [("level", 95, 100, 9.0), ("flow", 230, 236, -9.0)]
    machines = [timed(series(300, seed, places)) for seed in (1, 2, 3)]
    when = np.arange(300)
    if times == "doubled":
        when //= 2
    if times == "repeated":  # as local times do when summer time ends
        when[98:] -= 8
    table = as_table(
        {
            name: np.stack([np.array(each[name]) for each in machines], 1).ravel()
            for name in machines[0]
        }
        | {"time": np.repeat(BEGIN + when * STEP, 3), "machine": ["A", "B", "C"] * 300}
    )
    whole = told(checker, table, ())
    assert len({each.id for each in whole}) == len(whole) >= 6
    alone = [
        each.id
        for machine in range(3)
        for each in told(checker, table.take(np.arange(machine, 900, 3)), ())
    ]
    assert sorted(alone) == sorted(each.id for each in whole)
    gathering = Check(checker, 900)
    for start in range(0, 900, 100):
        part = checker.prepare(table.take(slice(start, start + 100)), gathering.following)
        gathering.take(part)
    if gathering.needs_times:
        gathering.read_times(lambda: (table.take(slice(at, at + 70)) for at in range(0, 900, 70)))
    found = gathering.findings()
    assert {each.id for each in (*found.incidents, *found.shifts)} == {each.id for each in whole}
    if times == "ascending":  # what is not newer is skipped by a job
        steps, state = [], None
        for start in range(0, 900, 90):
            steps.append(proceed(checker, table.take(slice(start, start + 90)), state))
            state = steps[-1].state
        assert {each.id for step in steps for each in step.changes} == {each.id for each in whole}


def test_rows_of_the_same_time_are_told_apart():
    times = as_table({"t": np.array([BEGIN, BEGIN + STEP, BEGIN, BEGIN])}).columns[0]
    clock = Clock(times, {"": np.arange(4)})
    assert [clock.stamp(row).repeats for row in range(4)] == [0, 0, 1, 2]
    assert str(clock.stamp(3)) == "2024-01-01 00:00:00 2"
    clock = Clock(times, {"A": np.array([0, 1, 3]), "B": np.array([2])})
    assert [clock.stamp(row).repeats for row in range(4)] == [0, 0, 0, 1]
    assert Clock(None, {}).stamp(0) == Stamp()


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (datetime.datetime(2024, 1, 1, 10), "2024-01-01 10:00:00"),
        (datetime.datetime(2024, 1, 1, 10, tzinfo=VIENNA), "2024-01-01 09:00:00+00:00"),
        (datetime.time(0, 0), "00:00:00"),
        ("10000-01-01", "10000-01-01"),
        (0, "0"),
        (math.inf, "inf"),
        (None, ""),
    ],
)
def test_times_are_kept_as_they_are(time, text):
    stamp = Stamp.of(time)
    assert str(stamp) == text
    again = msgspec.json.decode(msgspec.json.encode(stamp), type=Stamp)
    assert again == stamp
    assert again.time == (str(time) if time == math.inf else time)


CELLS = st.one_of(
    st.lists(st.one_of(st.none(), st.floats(allow_nan=False)), min_size=1, max_size=5),
    st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=5),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=1, max_size=5),
    st.lists(st.one_of(st.none(), st.text(min_size=1, max_size=3)), min_size=1, max_size=5),
)


@given(CELLS)
def test_cells_come_back_as_they_were(values):
    table = as_table({"a": values}) if any(v is not None for v in values) else None
    if table is None:
        column = Column("a", "empty", np.zeros(len(values)), np.ones(len(values), np.bool_))
        table = msgspec.structs.replace(as_table({"a": [1.0] * len(values)}), columns=(column,))
    kept = {row: Kept(cells=cells_of(table, row, ["a"])) for row in range(len(values))}
    again = msgspec.json.decode(msgspec.json.encode(kept), type=dict[int, Kept])
    assert again == kept
    back = as_rows(list(again.values()), ["a"]).columns[0]
    assert [back.cell(row) for row in range(len(values))] == [
        table.columns[0].cell(row) for row in range(len(values))
    ]


def test_cells_of_a_row_are_those_that_it_has():
    table = as_table({"a": [1.0, math.inf]})
    assert cells_of(table, 1, ["a", "b"]) == {"a": Infinite()}
    mixed: list[Cell] = ["x", 2.0]
    rows = as_rows([Kept(cells={"a": each}) for each in mixed], ["a"])
    assert [rows.columns[0].cell(row) for row in range(2)] == ["x", "2.0"]
