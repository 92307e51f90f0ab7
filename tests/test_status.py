"""``truism status`` and ``truism.status``: verdicts, reasons, remedies, whole output."""

import json

import msgspec
import numpy as np
import pytest

import truism
from test_cli import run, table
from truism.explain.checker import Checker
from truism.model.files import load_model
from truism.model.provenance import Calibrated, Threshold
from truism.review.status import Sign, Status, say_remedy, say_status, status
from truism.table.files import read


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    folder = tmp_path_factory.mktemp("status")
    (folder / "normal.csv").write_text(table())
    _, err, code = run("learn", folder / "normal.csv", "-o", folder / "m.json", "--lookback", "0")
    assert code == 0, err
    return folder


@pytest.fixture
def place(ready, tmp_path, monkeypatch):
    for each in ready.iterdir():
        (tmp_path / each.name).write_bytes(each.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def changed(change, name="today.csv"):
    """Write the table with its cells changed."""
    head, *lines = table().splitlines()
    rows = [change(*line.split(",")) for line in lines]
    with open(name, "w", encoding="utf-8") as file:
        file.write("\n".join([head, *(",".join(row) for row in rows)]) + "\n")


def test_the_same_process_is_fresh(place):
    assert run("status", "-m", "m.json", "normal.csv") == (
        "  status  fresh, by 400 rows\n  remedy  none needed\n",
        "",
        0,
    )
    read = json.loads(run("status", "-m", "m.json", "normal.csv", "--format", "json")[0])
    assert read["status"]["verdict"] == "fresh"
    assert read["advice"] == "none needed"


def test_a_scaled_sensor_makes_it_stale(place):
    changed(lambda time, pump, flow, level: (time, pump, f"{1.6 * float(flow):.2f}", level))
    out, err, code = run("status", "-m", "m.json", "today.csv")
    assert (err, code) == ("", 3)
    assert out.splitlines()[0] == "  status   stale, by 400 rows"
    assert "flow" in out
    assert out.splitlines()[-1].startswith("  remedy   ")


def test_new_states_are_told(place):
    changed(lambda time, pump, flow, level: (time, "auto" if pump == "on" else pump, flow, level))
    out, _, code = run("status", "-m", "m.json", "today.csv")
    assert code == 3
    assert "pump has states never seen in 50 % of the rows" in " ".join(out.split())
    assert "look at how the rows were exported" in " ".join(out.split())


def test_absent_columns_are_told(place):
    lines = [",".join(line.split(",")[:3]) for line in table().splitlines()]
    (place / "less.csv").write_text("\n".join(lines) + "\n")
    out, _, code = run("status", "-m", "m.json", "less.csv")
    assert code == 3
    assert out.splitlines()[1] == "  because  column 'level' is absent"
    (place / "other.csv").write_text("a,b\n1,2\n3,4\n")
    out, _, code = run("status", "-m", "m.json", "other.csv")
    assert code == 3
    assert out.splitlines()[1:4] == [
        "  because  column 'pump' is absent",
        "           column 'flow' is absent",
        "           column 'level' is absent",
    ]


def test_bad_input_is_refused(place):
    assert run("status", "-m", "none.json", "normal.csv") == (
        "",
        "Error: The model file 'none.json' cannot be read: No such file or directory.\n",
        2,
    )


def test_python_tells_the_same(place):
    detector, rows = truism.load("m.json"), read(["normal.csv"]).table
    assert truism.status(detector, rows).verdict == "fresh"
    assert str(truism.status("m.json", rows)) == "fresh"
    none = rows.take(np.arange(0))
    assert truism.status(detector, none).verdict == "fresh"


def test_what_was_promised_counts(place):
    model = load_model("m.json")
    limit = Threshold(0.0, Calibrated(100, 400))
    found = status(Checker(msgspec.structs.replace(model, limit=limit)), read(["normal.csv"]).table)
    assert {each.kind for each in found.signs} <= {"reported"}
    by_hand = status(Checker(model.with_threshold(0.0)), read(["normal.csv"]).table)
    assert by_hand.remedy == "calibrate"
    assert by_hand.signs[0].text.endswith(" of the rows are reported")


def test_a_series_tells_since_when_and_how_many_incidents(tmp_path):
    model = truism.InvariantRuleDetector(min_support=0.1, ordered=True).fit(
        {"pump": ["on", "off"] * 300, "flow": [2.5, 0.0] * 300}
    )
    wrong = [0.0 if i >= 200 else v for i, v in enumerate([2.5, 0.0] * 300)]
    found = truism.status(model, {"pump": ["on", "off"] * 300, "flow": wrong})
    assert found.verdict == "drifting"
    assert found.since == "row 200"
    assert found.n_older == 600
    lines = dict(say_status(found))
    assert lines["change"] == (
        "the newest lasting change began at row 200; all 600 training rows are older"
    )
    assert "after row 200" in lines["remedy"]
    often = [0.0 if i % 60 < 4 and i > 60 else v for i, v in enumerate([2.5, 0.0] * 300)]
    found = truism.status(model, {"pump": ["on", "off"] * 300, "flow": often})
    assert any(each.kind == "incidents" for each in found.signs)


@pytest.mark.parametrize(
    ("remedy", "said"),
    [
        ("none", "look at the variables above"),
        ("accept", "accept the lasting change if it is meant to stay, or learn again from rows"),
        ("calibrate", "calibrate the threshold on rows known to be normal"),
        ("learn", "learn again from rows"),
    ],
)
def test_every_remedy_is_named(remedy, said):
    assert say_remedy(Status("drifting", (), 10, remedy)) == said


def test_many_signs_are_counted():
    sign = Sign("outside", "x", 0.3, "drifting", None, "x is outside")
    lines = say_status(Status("drifting", (sign,) * 11, 10))
    assert ("", "and 3 more signs") in lines
