"""A job that runs every hour, over a day and over a month: told as one check over all rows tells it."""

import json
from pathlib import Path

import numpy as np
import pytest

from learned import learn
from test_cli import run
from truism.explain.checker import Checker
from truism.explain.states import decode_state, encode_state, proceed
from truism.model.files import save_model
from truism.table.frames import as_table

HOUR = 6  # rows, one every ten minutes
BEGIN, STEP = np.datetime64("2024-03-01T00:00", "s"), np.timedelta64(600, "s")


def waterworks(first, n_rows, faults=()):
    """Make a pump that runs by day, a flow that follows it, a tank, and the weather."""
    rows = np.arange(first, first + n_rows)
    random = np.random.default_rng(first)
    hour = rows / HOUR % 24
    on = (hour >= 6) & (hour < 21)
    flow = np.where(on, 40 + 5 * np.sin(hour * np.pi / 12), 0) + random.normal(0, 0.5, n_rows)
    columns = {
        "pump": np.where(on, "on", "off"),
        "flow": flow,
        "pressure": 2 + flow / 20 + random.normal(0, 0.05, n_rows),
        "tank": 3 + np.sin(hour * np.pi / 12) + random.normal(0, 0.05, n_rows),
        "outside": 8 + 4 * np.sin((hour - 9) * np.pi / 12) + random.normal(0, 1, n_rows),
    }
    for name, start, end, size in faults:
        columns[name][start - first : end - first] += size
    return {"time": BEGIN + rows * STEP, **columns}


@pytest.fixture(scope="module")
def checker():
    return Checker(learn(as_table(waterworks(0, 3000)), min_support=0.05)).named("waterworks")


DAY, MONTH = 3024, 30 * 24 * HOUR  # the first row after training that is a midnight
NOON = DAY + 12 * HOUR
LEAK = ("pressure", NOON, NOON + 6 * HOUR, -1.5)


def hours(checker, table):
    """Check a table hour by hour, with the state written and read again after each call."""
    state, steps = None, []
    for start in range(0, table.n_rows, HOUR):
        steps.append(proceed(checker, table.take(slice(start, start + HOUR)), state))
        state = decode_state(encode_state(steps[-1].state))
    return steps


def last_told(steps):
    told = {each.id: each for step in steps for each in step.changes}
    return sorted((each.incident for each in told.values()), key=lambda each: each.start)


def by_id(steps):
    found = {}
    for step in steps:
        for each in step.changes:
            found.setdefault(each.id, []).append(each.what)
    return found


def test_a_month_of_hourly_calls_tells_what_one_check_tells(checker):
    faults = (
        LEAK,
        ("outside", DAY + 1000, DAY + 1003, 40.0),
        ("tank", DAY + 2000, DAY + 2000 + 4 * 24 * HOUR, 1.5),
        ("flow", DAY + 3111, DAY + 3111 + 6 * HOUR, -12.0),
    )
    table = as_table(waterworks(DAY, MONTH, faults))
    steps = hours(checker, table)
    whole = proceed(checker, table)
    assert last_told(steps) == last_told([whole])  # ids, rows, blames, severities, words
    assert sum(step.findings.n_rows for step in steps) == MONTH == 6 * len(steps)
    assert b"".join(step.findings.scores.tobytes() for step in steps) == (
        whole.findings.scores.tobytes()
    )
    for told in by_id(steps).values():
        assert (told[0], told[-1], {*told[1:-1]} - {"updated"}) == ("opened", "closed", set())
    long = {each.start: each for each in last_told(steps) if each.n_rows >= 6 * HOUR}
    assert {LEAK[1] - DAY, 2000, 3111} <= {*long}
    assert (long[2000].kind, long[3111].kind) == ("shift", "incident")


def write(table, n_rows, place="today.csv"):
    """Write the first rows of a day, as a logger that appends has them by now."""
    names, columns = list(table), list(table.values())
    lines = (
        ",".join(str(column[row]).replace("T", " ") for column in columns) for row in range(n_rows)
    )
    Path(place).write_text("\n".join([",".join(names), *lines]) + "\n")


def test_an_event_of_six_hours_opens_once_and_closes_once(checker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_model(checker.model, "works.truism.json")
    day = waterworks(DAY, 24 * HOUR, (LEAK,))
    call = ("check", "today.csv", "-m", "works.truism.json", "--name", "waterworks")
    events, codes = [], []
    for hour in range(1, 25):
        write(day, hour * HOUR)  # the file of the day, which grows
        out, err, code = run(*call, "--state", "works.state", "--format", "events")
        skipped = (hour - 1) * HOUR
        said = f"Note: {skipped} rows are not newer than those of earlier calls, and were skipped."
        assert err.startswith(said if skipped else "Note: clean: none of 6 rows")
        events += [json.loads(line) for line in out.splitlines()]
        codes.append(code)
    told = [each["event"] for each in events]
    assert told == ["opened", *["updated"] * 5, "closed"]
    # What the event leaves behind fades, and then more than five normal rows must follow.
    assert codes == [0] * 12 + [1] * 11 + [0]
    out, _, _ = run(*call, "--format", "jsonl")
    whole = json.loads(out)
    assert {**whole, "event": "closed"} == events[-1]
    assert (whole["started"], whole["ended"]) == ("2024-03-22T12:00:00", "2024-03-22T17:50:00")
    assert {each["id"] for each in events} == {whole["id"]}
