"""Findings gathered from parts: the same as of the whole table, however it is divided."""

import functools
import itertools
import tracemalloc
import weakref

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truism.explain.checker import Check, Checker
from truism.explain.explanations import tabulate
from truism.incidents.delays import Delays
from truism.incidents.keeping import Clock, count_equal
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.score.past import rows_by_series
from truism.table.aside import Aside
from truism.table.columns import Table
from truism.table.frames import as_table

N_ROWS = 500


def rows_of(n_rows: int = N_ROWS, seed: int = 0, *, timed: bool = True) -> dict[str, list]:
    rng = np.random.default_rng(seed)
    on = np.arange(n_rows) % 20 < 12
    flow = np.where(on, 2.5, 0.0) + rng.normal(0, 0.02, n_rows)
    level = np.cumsum(np.where(on, 0.1, -0.15)) % 7 + rng.normal(0, 0.01, n_rows)
    times = np.datetime64("2026-01-01", "us") + 10_000_000 * np.arange(n_rows)
    return {
        **({"time": times} if timed else {}),
        "pump": np.where(on, "on", "off").tolist(),
        "flow": flow.tolist(),
        "level": level.tolist(),
        "line": np.where(np.arange(n_rows) % 2, "A", "B").tolist(),
    }


def tampered(*, timed: bool = True, seed: int = 1) -> dict[str, list]:
    table = rows_of(seed=seed, timed=timed)
    for row in range(150, 180):
        table["flow"][row] = 1.0
    for row in (60, 61, 220, 300, 305, 390, 499):
        table["level"][row] = 99.0 - row / 10
    table["flow"][300], table["pump"][330], table["flow"][410] = None, "stuck", np.inf
    return table


CASES = {
    "exchangeable": (Settings(ordered=False), {}, True),
    "without times": (Settings(), {}, False),
    "series": (Settings(ordered=True), {}, True),
    "changes": (Settings(ordered=True), {"delta": True}, True),
    "lines": (Settings(by="line", ordered=True), {}, True),
    "paper": (Settings(scoring="paper", min_support=0.1), {}, True),
}


@pytest.fixture(scope="module", params=CASES)
def checker(request: pytest.FixtureRequest) -> Checker:
    asked, options, timed = CASES[request.param]
    return Checker(train(as_table(rows_of(2000, timed=timed)), asked, **options))


def gathered(checker: Checker, table: Table, ends: list[int], **options) -> Check:
    found = Check(checker, table.n_rows, **options)
    for start, end in itertools.pairwise([0, *sorted(ends), table.n_rows]):
        found.take(checker.prepare(table.take(slice(start, end)), found.following))
    if found.needs_times:
        found.read_times(lambda: (table.take(slice(i, i + 90)) for i in range(0, N_ROWS, 90)))
    return found


def told(findings) -> dict:
    return {
        "incidents": [each.to_dict() for each in findings.incidents],
        "shifts": [each.to_dict() for each in findings.shifts],
        "patterns": [each.to_dict() for each in findings.patterns],
        **{
            name: getattr(findings, name)
            for name in (
                "n_rows",
                "n_anomalous",
                "gap",
                "ordered",
                "expected",
                "extra",
                "coarser",
                "seconds",
            )
        },
    }


def needs_time(checker: Checker) -> bool:
    return checker.model.schema.time is not None


@settings(max_examples=3, deadline=None)
@given(
    ends=st.lists(st.integers(0, N_ROWS), max_size=5),
    order=st.sampled_from(["as is", "repeating", "descending"]),
)
def test_findings_do_not_depend_on_how_rows_are_divided(checker, ends, order):
    data = tampered(timed=needs_time(checker))
    if needs_time(checker) and order == "repeating":
        data["time"] = data["time"].astype("datetime64[m]").astype("datetime64[us]")
    if needs_time(checker) and order == "descending":
        data["time"] = np.concatenate([data["time"][:250], data["time"][:250]])
    table = as_table(data)
    whole = told(checker.find(checker.prepare(table)))
    assert whole["incidents"]
    assert told(gathered(checker, table, ends, patterns=True).findings()) == whole


@pytest.mark.parametrize("options", [{"gap": 2}, {"min_rows": 3}, {"delays": Delays("3", "10")}])
def test_options_mean_the_same(checker, options):
    table = as_table(tampered(timed=needs_time(checker)))
    whole = checker.find(checker.prepare(table), **options)
    found = gathered(checker, table, [1, 100, 155, 303], patterns=True, **options)
    assert told(found.findings()) == told(whole)


def test_only_the_gravest_are_kept_but_all_are_counted(checker, monkeypatch):
    monkeypatch.setattr("truism.explain.checker.SLACK", 0)
    table = as_table(tampered(timed=needs_time(checker)))
    whole = checker.find(checker.prepare(table))
    found = gathered(checker, table, list(range(10, 500, 45)), most=1).findings()
    assert len(found.incidents) == len(whole.incidents)
    assert found.incidents[:1] == whole.incidents[:1]
    assert found.shifts[:1] == whole.shifts[:1]


def test_scores_are_listed_with_their_series():
    checker = Checker(train(as_table(rows_of(600)), Settings(by="line", ordered=True)))
    data = rows_of(40, seed=2)
    table = checker.prepare(as_table(data))
    scores = checker.score(table)
    columns = tabulate(checker.scorer, table, scores, scores)
    assert list(columns)[:3] == ["row", "time", "line"]
    assert columns["line"] == data["line"]


def test_coarser_numbers_are_noticed():
    checker = Checker(train(as_table(rows_of(2000)), Settings(ordered=False)))
    data = rows_of(3000, seed=3)
    data["flow"] = np.round(data["flow"], 1).tolist()
    table = as_table(data)
    whole = checker.find(checker.prepare(table))
    assert whole.coarser == ("flow",)
    found = gathered(checker, table, [7, 1203])
    assert found.findings().coarser == whole.coarser


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.data())
def test_equal_times_of_a_series_are_counted_across_parts(values, data):
    names = data.draw(st.lists(st.sampled_from("AB"), min_size=len(values), max_size=len(values)))
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, len(values) - 1), min_size=1))))
    ends = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=3)))
    table = as_table({"t": np.array(values), "line": names})
    parts = [table.take(slice(a, b)) for a, b in itertools.pairwise([0, *ends, len(values)])]
    clocks = [Clock(part.columns[0], rows_by_series("line", part)) for part in parts]
    found = dict(count_equal(rows, lambda: clocks))
    pairs = list(zip(names, values, strict=True))
    assert found == {row: pairs[:row].count(pairs[row]) for row in rows.tolist()}


def test_a_state_can_be_handed_on(checker):
    table = as_table(tampered(timed=needs_time(checker)))
    found = gathered(checker, table, [200])
    whole = checker.find(checker.prepare(table)).state
    assert found.findings().state.n_rows == N_ROWS
    as_json = functools.partial(msgspec.json.encode, enc_hook=np.ndarray.tolist)
    assert as_json(found.findings().state) == as_json(whole)


def test_rows_are_let_go_when_they_were_looked_at(checker):
    table, held = as_table(tampered(timed=needs_time(checker))), []
    gathering = Check(checker, N_ROWS, patterns=True)
    for start in range(0, N_ROWS, 100):
        prepared = checker.prepare(table.take(np.arange(start, start + 100)), gathering.following)
        held.append([weakref.ref(each.values) for each in prepared.columns])
        gathering.take(prepared)
        del prepared
        alive = [each for part in held[:-1] for each in part if each() is not None]
        assert not alive


@pytest.mark.parametrize("at_once", [1, 100, 1000])
def test_rows_set_aside_come_back(monkeypatch, at_once):
    monkeypatch.setattr("truism.table.aside.IN_MEMORY", 100)
    monkeypatch.setattr("truism.table.aside.AT_ONCE", at_once)
    aside, table = Aside(), as_table(tampered())
    for start in range(0, N_ROWS, 90):
        part = table.take(slice(start, min(start + 90, N_ROWS)))
        aside.add(part.take(np.arange(0, part.n_rows, 3)), np.arange(start, start + part.n_rows, 3))
    rows = [300, 3, 498, 3]
    found, expected = aside.take(rows), table.take(np.array(rows))
    for one, other in zip(found.columns, expected.columns, strict=True):
        assert [one.cell(i) for i in range(4)] == [other.cell(i) for i in range(4)]
    assert (300 in aside, 301 in aside, -1 in aside) == (True, False, False)
    assert aside.take([3, 300], {"flow", None}).names == ("flow",)
    assert aside.take([]).n_rows == 0
    assert Aside().take([]).n_rows == 0


def test_little_is_held_of_an_anomalous_row(monkeypatch):
    """Rows that wait in a file must not be held by something that is left of them."""
    monkeypatch.setattr("truism.table.aside.IN_MEMORY", 1)
    monkeypatch.setattr("truism.table.aside.AT_ONCE", 1000)
    random = np.random.default_rng(0)
    normal = {f"x{i}": random.normal(size=300) for i in range(20)}
    checker = Checker(train(as_table(normal), Settings(ordered=False)))
    gathering = Check(checker, 40_000)
    held = []
    tracemalloc.start()
    try:
        for _ in range(20):
            strange = {name: random.normal(50, 1, 2000) for name in normal}
            gathering.take(checker.prepare(as_table(strange)))
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert len(gathering.findings().incidents) == 40_000
    assert (held[-1] - held[4]) / 30_000 < 80
