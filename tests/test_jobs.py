"""Checks that go on, several machines, calibrating, leaving out: whole output, good input and bad."""

# ruff: noqa: F811 - the fixtures of test_cli are imported, and then named as arguments

import datetime
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import msgspec
import openpyxl
import pytest

from test_cli import learned, place, run, table  # noqa: F401
from test_states import fits
from truism.cli.check import read_machines
from truism.errors import TruismError
from truism.export.incidents import json_schema
from truism.model.files import load_model
from truism.table.atomic import alone_with

LINES = table(wrong=(101, 102, 103, 252)).splitlines(keepends=True)
JOB = ("-m", "m.truism.json", "--state", "s.json", "--name", "pump 1")


def piece(start, end, name="h.csv"):
    Path(name).write_text(LINES[0] + "".join(LINES[1 + start : 1 + end]))
    return name


def anonymous(out):
    """Return an output without what others test: sentences and reasons, ids, and where lines break."""
    out = re.sub(r"\n   (?! )", " ", out)
    out = re.sub(r"id\s+[a-z2-7]{16}", "id ID", out)
    return re.sub(
        r"(?s)1  .*? ((?:new|ongoing|over) · .*? id ID).*?\n\n", r"1  …\n   \1\n   …\n\n", out
    )


def test_a_job_does_not_repeat_how_files_are_read_but_says_what_is_in_doubt(place):
    Path("h.csv").write_text("export of line 3\n" + LINES[0] + "".join(LINES[1:60]))
    assert "1 line before the names left out" in run("check", "h.csv", *JOB[:2])[1]
    assert run("check", "h.csv", *JOB)[1] == ""
    Path("h.csv").write_text(
        "".join([LINES[0], *LINES[60:70], "2024-03-01 00:11:40,on,Stuck?,505\n"])
    )
    assert "'Stuck?' (once) is taken as missing" in run("check", "h.csv", *JOB)[1]


def test_a_job_notes_once_what_stays_so(place):
    for n, (start, noted) in enumerate([(0, True), (60, False), (120, False)]):
        lines = [LINES[0], *LINES[1 + start : 61 + start]]
        more = ["new", *["1"] * 60] if n < 2 else ["newer", *["1"] * 60]
        rows = (f"{line.strip()},{cell}\n" for line, cell in zip(lines, more, strict=True))
        Path("h.csv").write_text("".join(rows))
        err = run("check", "h.csv", *JOB)[1]
        assert ("the model does not know are ignored: 'new'." in err) == noted
        assert ("'newer'" in err) == (n == 2)


def test_a_job_tells_an_incident_from_its_beginning_to_its_end(place):
    out, err, code = run("check", piece(0, 102), *JOB)
    assert (anonymous(out), err, code) == (OPENED, "", 1)
    names = {*re.findall(r"id\s+([a-z2-7]{16})", out)}
    skipped = "Note: 12 rows are not newer than those of earlier calls, and were skipped.\n"
    out, err, code = run("check", piece(90, 105), *JOB)
    assert (anonymous(out), err, code) == (ONGOING, skipped, 1)
    names |= {*re.findall(r"id\s+([a-z2-7]{16})", out)}
    assert len(names) == 1
    out, err, code = run("check", piece(105, 200), *JOB)
    assert (anonymous(out), err, code) == (OVER, "", 0)
    assert run("check", piece(105, 200), *JOB) == (
        "nothing checked: there were no rows to check.\nSince the last call: nothing new.\n",
        "Warning: 95 rows are not newer than those of earlier calls, and were skipped.\n",
        0,
    )
    assert run("check", piece(199, 201), *JOB)[1] == (
        "Note: 1 row is not newer than those of earlier calls, and was skipped.\n"
    )


OPENED = """\
1  …
   new · 2024-03-01 00:16:50 · 1 row · peak 11.2 · id ID
   …

anomalies: 1 incident in 16 min 50 s; 1 of 102 rows (0.98 %) scores above 0.777.
Since the last call: 1 incident is new.
"""
ONGOING = """\
1  …
   ongoing · 2024-03-01 00:16:50 · 20 s · 3 rows · peak 11.2 at 00:16:50 · id ID
   …

anomalies: 1 incident in 20 s; 2 of 3 rows (66.7 %) score above 0.777.
Since the last call: 1 incident goes on.
"""
OVER = """\
1  …
   over · 2024-03-01 00:16:50 · 20 s · 3 rows · peak 11.2 at 00:16:50 · id ID
   …

clean: none of 95 rows scores above 0.777.
Since the last call: 1 incident is over.
"""


def test_events_are_what_one_check_tells(place):
    events = []
    for start in range(0, 400, 20):
        out, err, code = run("check", piece(start, start + 20), *JOB, "--format", "events")
        found = [json.loads(line) for line in out.splitlines()]
        events += found
        is_open = bool(found) and found[-1]["event"] != "closed"
        assert code == (any(each["event"] == "opened" for each in found) or is_open)
        assert err.startswith("Note: ")
    assert [(each["event"], each["start"], each["end"]) for each in events] == [
        *(("opened", 101, 103), ("closed", 101, 103)),
        *(("opened", 252, 252), ("closed", 252, 252)),
    ]
    out, _, code = run("check", "today.csv", *JOB[:2], "--name", "pump 1", "--format", "jsonl")
    whole = [json.loads(line) for line in out.splitlines()]
    closed = [{**each} for each in events if each.pop("event") == "closed"]
    assert sorted(closed, key=lambda each: each["start"]) == sorted(
        whole, key=lambda each: each["start"]
    )
    out, _, code = run("check", "today.csv", *JOB[:2], "--format", "events")
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["opened", "closed"] * 2
    assert code == 1


def test_what_programs_get_fits_the_schema(place):
    schema = json_schema()
    for form in ("json", "jsonl", "events"):
        out, _, _ = run("check", "today.csv", *JOB, "--format", form)
        Path("s.json").unlink()
        for each in [out] if form == "json" else out.splitlines():
            plain = json.loads(each)
            assert fits(plain, {"anyOf": schema["anyOf"]}, schema["$defs"])
            told = plain.get("incidents", [plain])[0]
            assert told["model"] == {"name": "m", "version": load_model("m.truism.json").id}
            assert (told["source"], told["threshold"]) == ("pump 1", 0.777)
    assert plain["blames"][0]["reasons"][0]["facts"] == {
        "expected": [{"type": "interval", "variable": "flow", "low": 2.484}],
        "found": {"flow": 0.0},
        "because": [{"type": "one_of", "variable": "pump", "values": ["on"]}],
        "usual": {
            "mean": pytest.approx(2.559, abs=0.001),
            "spread": pytest.approx(0.0375, abs=1e-3),
            "resolution": pytest.approx(0.0256, abs=1e-3),
            "some_missing": False,
        },
    }


def test_an_empty_file_changes_nothing(place):
    run("check", piece(0, 102), *JOB)
    before = json.loads(Path("s.json").read_text())
    out, err, code = run("check", piece(0, 0), *JOB)
    assert (err, code) == ("", 1)
    assert "ongoing · 2024-03-01 00:16:50 · 1 row ·" in out
    assert out.endswith("Since the last call: 1 incident goes on.\n")
    assert json.loads(Path("s.json").read_text()) == before


BAD_CALLS = [
    (
        ("h.csv", "-m", "m.truism.json", "--state", "s.json"),
        "Error: The state belongs to source 'pump 1', not to a source without a name.\n"
        "Hint: use one state for each source.\n",
    ),
    (
        ("h.csv", "-m", "n.truism.json", *JOB[2:]),
        "Error: The state belongs to another model: rules or evidence differ.\n"
        "Hint: use the model that it belongs to, or begin a new state.\n",
    ),
    (
        ("h.csv", *JOB[:2], "--state", "m.truism.json"),
        "Error: 'm.truism.json' is both input and output.\n"
        "Hint: write to another file; inputs are never overwritten.\n",
    ),
    (
        ("h.csv", *JOB[:2], "--state", "normal.csv"),
        "Error: This is not a truism state file. (normal.csv)\n"
        "Hint: name another file for the state.\n",
    ),
    (
        ("h.csv", *JOB[:2], "--state", "no/s.json"),
        "Error: 'no/s.json' cannot be written: there is no directory 'no'.\n"
        "Hint: make it with mkdir -p 'no'.\n",
    ),
    (
        ("h.csv", *JOB, "--report", "r.html"),
        "Error: --state and --report must not both be given.\n"
        "Hint: --report shows one table from its beginning: call again without --state.\n",
    ),
    (
        ("h.csv", *JOB, "--scores", "r.csv"),
        "Error: --state and --scores must not both be given.\n"
        "Hint: --scores shows one table from its beginning: call again without --state.\n",
    ),
    (
        ("h.csv", *JOB[:2], "--ignore", "flwo"),
        "Error: --ignore must name a variable of the model, got 'flwo'.\n"
        "Hint: did you mean 'flow'?\n",
    ),
    (
        ("h.csv", *JOB, "--retain", "soon"),
        "Error: --retain must be a duration such as '10s', '5min' or '1h', got 'soon'.\n",
    ),
    (
        ("h.csv", *JOB[:2], "--retain", "90d"),
        "Error: --retain must be given with --state, which keeps series.\n",
    ),
    (
        ("h.csv", *JOB[:2], "--mute", "time"),
        "Error: --mute must name a variable of the model, got 'time'.\n",
    ),
    (
        ("h.csv", *JOB[:2], "--ignore", "flow", "--ignore", "pump", "--ignore", "level"),
        "Error: --ignore must leave a variable to check.\n",
    ),
]


@pytest.mark.parametrize(("arguments", "said"), BAD_CALLS)
def test_bad_calls_get_a_sentence_and_change_nothing(place, arguments, said):
    run("check", piece(0, 102), *JOB)
    model = load_model("m.truism.json")
    fewer = msgspec.structs.replace(model.rules, rules=model.rules.rules[1:])
    from truism.model.files import save_model

    save_model(msgspec.structs.replace(model, rules=fewer), "n.truism.json")
    piece(102, 110)
    before = {each.name: each.read_bytes() for each in Path().iterdir()}
    assert run("check", *arguments) == ("", said, 2)
    assert {each.name: each.read_bytes() for each in Path().iterdir()} == before


def test_a_state_that_is_in_use_is_refused(place, monkeypatch):
    run("check", piece(0, 102), *JOB)
    monkeypatch.setattr("truism.table.atomic.PATIENCE", 0.0)
    with alone_with("s.json"):
        assert run("check", piece(102, 200), *JOB) == (
            "",
            "Error: The state file 's.json' is in use by another program.\n"
            "Hint: wait until that has finished, or use one state for each source.\n",
            2,
        )


def test_a_state_goes_on_after_the_threshold_was_changed(place):
    run("check", piece(0, 102), *JOB)
    model = load_model("m.truism.json")
    rule = next(rule for rule in model.rules if rule.antecedent)
    run("rules", "m.truism.json", "--disable", rule.id, "--reason", "why")
    _, err, code = run("check", piece(102, 110), *JOB, "--threshold", "2")
    assert code == 1
    assert err == (
        "Note: The threshold is 2; when the state was written it was 0.777.\n"
        "Note: What is switched off, muted or accepted has changed since the state was written.\n"
    )


def test_what_nobody_has_seen_is_told_again(place):
    piece(0, 102)
    command = [sys.executable, "-m", "truism", "check", "h.csv", *JOB]
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert not Path("s.json").exists()


# --- leaving out ---


def test_what_is_ignored_or_muted_is_not_told(place):
    clean = "clean: none of 400 rows scores above 0.777.\n"
    arguments = ("check", "today.csv", "-m", "m.truism.json")
    assert run(*arguments, "--ignore", "flow") == (clean, "", 0)
    assert run(*arguments, "--mute", "flow", "--mute", "pump") == (clean, "", 0)
    out, _, code = run(*arguments, "--mute", "flow", "--format", "jsonl")
    blamed = {each["variable"] for line in out.splitlines() for each in json.loads(line)["blames"]}
    assert (blamed, code) == ({"pump"}, 1)


def test_short_incidents_can_be_left_out(place):
    out, _, _ = run("check", "today.csv", "-m", "m.truism.json", "--min-rows", "2")
    assert "2024-03-01 00:16:50 · 20 s · 3 rows" in out
    assert "00:42:00" not in out
    assert out.endswith(
        "anomalies: 1 incident in 1 h 6 min; 4 of 400 rows (1 %) score above 0.777.\n"
    )


# --- calibrating ---


def test_calibrate_writes_the_threshold_and_nothing_else(place):
    model = load_model("m.truism.json")
    piece(0, 100)
    assert run("calibrate", "m.truism.json", "h.csv", "--max-false-positive-rate", "0.1") == (
        "m.truism.json: the threshold was 0.777 and is 0.647 now.\n",
        "Note: threshold 0.647: 2 of 100 calibration rows (2 %) exceed it.\n",
        0,
    )
    edited = load_model("m.truism.json")
    assert edited.threshold == 0.647
    assert msgspec.structs.replace(edited, limit=model.limit) == model


def test_calibrate_a_series_by_incidents(place):
    out, err, code = run("learn", "normal.csv", "-o", "t.truism.json")
    assert code == 0
    model = load_model("t.truism.json")
    piece(105, 250)
    out, err, code = run("calibrate", "t.truism.json", "h.csv", "--max-false-incidents", "1/week")
    assert (code, out.startswith("t.truism.json: the threshold was ")) == (0, True)
    assert "about 1 false incident a week" in err
    edited = load_model("t.truism.json")
    assert edited.id == model.id
    assert edited.limit != model.limit
    assert edited.memory.tail != model.memory.tail


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("m.truism.json", "normal.csv", "--max-false-incidents", "1/day"),
            "Note: these are the training rows; use other rows.\n"
            "Error: --max-false-incidents must be absent unless the model is of a series, whose rows "
            "are judged by their past, got '1/day'.\n"
            "Hint: learn it from rows in order, or calibrate it by a share of the rows; see "
            "--ordered.\n",
        ),
        (
            ("m.truism.json", "normal.csv", "--max-false-positive-rate", "7"),
            "Error: --max-false-positive-rate must be at least 0 and below 1, got 7.0.\n",
        ),
        (
            ("m.truism.json", "m.truism.json"),
            "Error: 'm.truism.json' is both input and output.\n"
            "Hint: write to another file; inputs are never overwritten.\n",
        ),
        (
            ("none.json", "normal.csv"),
            "Error: The model file 'none.json' cannot be read: No such file or directory.\n",
        ),
    ],
)
def test_bad_calibrations_change_nothing(place, arguments, said):
    before = Path("m.truism.json").read_bytes()
    assert run("calibrate", *arguments) == ("", said, 2)
    assert Path("m.truism.json").read_bytes() == before


# --- several machines ---

LIST = """\
[[machine]]
name = "pump 1"
model = "m.truism.json"
data = "today.csv"
state = "p1.state"

[[machine]]
name = "pump 2"
model = "m.truism.json"
data = ["normal.csv"]
"""


def write_far_cells(name, kind):
    """Write a sheet whose two cells are the first and the last that a sheet may have."""
    if kind == "xlsx":
        book = openpyxl.Workbook()
        book.active["A1"], book.active["XFD1048576"] = 1, 2
        book.save(name)
        return
    one = '<table:table-cell office:value-type="float" office:value="1"/>'
    gap = '<table:table-cell table:number-columns-repeated="16383"/>'
    rows = (
        f"<table:table-row>{one}</table:table-row>"
        f'<table:table-row table:number-rows-repeated="1048574">{gap}</table:table-row>'
        f"<table:table-row>{gap}{one}</table:table-row>"
    )
    with zipfile.ZipFile(name, "w") as packed:
        packed.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        packed.writestr(
            "content.xml",
            f"<office:document-content><table:table>{rows}</table:table></office:document-content>",
        )


def test_several_machines_have_one_summary(place):
    Path("machines.toml").write_text(LIST)
    out, err, code = run("check", "--models", "machines.toml", "--top", "1")
    assert (err, code) == ("", 1)
    assert out.startswith("pump 1\n1  ")
    assert "came and went · 2024-03-01 00:16:50 · 20 s · 3 rows" in out
    assert out.endswith(
        "Since the last call: 2 incidents came and went.\n\n"
        "pump 2\nclean: none of 400 rows scores above 0.777.\n\n"
        "2 machines: 1 without anomalies, 1 with anomalies ('pump 1').\n"
    )
    out, err, code = run("check", "--models", "machines.toml", "--format", "events")
    assert (out, code) == ("", 0)
    assert err == (
        "Warning: 400 rows are not newer than those of earlier calls, and were skipped.\n"
        "Warning: nothing checked: there were no rows to check.\n"
        "Note: clean: none of 400 rows scores above 0.777.\n"
        "Note: 2 machines: 2 without anomalies.\n"
    )


def test_a_machine_that_fails_stops_no_other(place):
    Path("sub").mkdir()
    text = LIST.replace('model = "m.', 'model = "../m.', 1).replace('"today', '"../today')
    Path("sub/machines.toml").write_text(text.replace("normal.csv", "../normal.csv"))
    out, err, code = run("check", "--models", "sub/machines.toml", "--format", "jsonl")
    assert {json.loads(line)["source"] for line in out.splitlines()} == {"pump 1"}
    assert Path("sub/p1.state").exists()
    assert err == (
        "Note: anomalies: 2 incidents in 1 h 6 min; 4 of 400 rows (1 %) score above 0.777.\n"
        "Error: pump 2: The model file 'sub/m.truism.json' cannot be read: No such file or "
        "directory.\n"
        "Note: 2 machines: 0 without anomalies, 1 with anomalies ('pump 1'), 1 failed "
        "('pump 2').\n"
    )
    assert code == 2


@pytest.mark.parametrize("kind", ["xlsx", "ods", "jsonl"])
def test_a_table_that_would_be_huge_stops_no_other_machine(place, kind):
    if kind == "jsonl":
        depth = 10_000
        Path("today.csv").write_text('{"x": ' + '{"y":' * depth + "1" + "}" * depth + "}\n")
        problem = ", line 1: lists and objects are nested too deeply."
    else:
        write_far_cells("today.csv", kind)
        problem = (
            ": Cells of a sheet must lie close together, got 2 in 1,048,576 rows and 16,384 columns.\n"
            "Hint: delete what lies far from the table, or export the sheet as CSV."
        )
    Path("machines.toml").write_text(LIST)
    out, err, code = run("check", "--models", "machines.toml")
    assert err == f"Error: pump 1: 'today.csv'{problem}\n"
    assert "pump 2\nclean: none of 400 rows" in out
    assert code == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Object missing required field `machine`"),
        ("machine = []", "Expected `array` of length >= 1 - at `$.machine`"),
        ("[[machine]]\nname = 'a'", "Object missing required field `model` - at `$.machine[0]`"),
        (
            LIST.replace("data", "date", 1),
            "Object contains unknown field `date` - at `$.machine[0]`",
        ),
        ("x", "Expected '=' after a key in a key/value pair (at end of document)"),
        ("\xff", None),
        ("a" * (1 << 20) + "b", "it is too large"),
    ],
)
def test_a_list_that_cannot_be_read_gets_one_sentence(place, text, problem):
    Path("machines.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(TruismError) as caught:
        read_machines("machines.toml")
    start = "The list of machines 'machines.toml' cannot be read: "
    assert caught.value.message.startswith(start)
    if problem is not None:
        assert caught.value.message == f"{start}{problem}."
    assert caught.value.hint == (
        "each machine needs [[machine]], name, model and data; state is optional."
    )


def test_a_list_names_nothing_twice(place):
    Path("machines.toml").write_text(LIST.replace("pump 2", "pump 1"))
    assert run("check", "--models", "machines.toml") == (
        "",
        "Error: The list of machines 'machines.toml' has a name twice: 'pump 1'.\n",
        2,
    )
    Path("machines.toml").write_text(LIST + 'state = "p1.state"\n')
    assert run("check", "--models", "machines.toml")[1] == (
        "Error: The list of machines 'machines.toml' has a state twice: 'p1.state'.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("h.csv", "--models", "m.toml"), "Error: --models and DATA must not both be given.\n"),
        (
            ("--models", "m.toml", "--state", "s"),
            "Error: --models and --state must not both be given.\n",
        ),
        (
            ("--models", "m.toml", "--format", "json"),
            "Error: --format must be table, jsonl or events with --models, got 'json'.\n",
        ),
        (
            ("--models", "none.toml"),
            "Error: The list of machines 'none.toml' cannot be read: No such file or directory.\n",
        ),
        (
            ("h.csv",),
            "Usage: truism check [OPTIONS] [DATA]...\nTry 'truism check --help' for help.\n\n"
            "Error: Missing option '-m' / '--model'.\n",
        ),
        (
            ("-m", "m.truism.json"),
            "Usage: truism check [OPTIONS] [DATA]...\nTry 'truism check --help' for help.\n\n"
            "Error: Missing argument 'DATA...'.\n",
        ),
    ],
)
def test_bad_calls_for_machines(place, arguments, said):
    assert run("check", *arguments) == ("", said, 2)


# --- times ---


def test_a_job_whose_files_change_their_zone_is_refused_in_a_sentence(place):
    zoned = [re.sub(r"(\d\d:\d\d:\d\d)", r"\1Z", line) for line in LINES]
    refused = (
        "Error: Times in column 'time' have a zone, those of earlier calls had none.\n"
        "Hint: begin a new state, and say with --zone in which zone times without one are.\n"
    )
    run("check", piece(0, 102), *JOB)
    before = Path("s.json").read_bytes()
    Path("z.csv").write_text(LINES[0] + "".join(zoned[103:110]))
    for _ in range(2):
        assert run("check", "z.csv", *JOB) == ("", refused, 2)
    assert Path("s.json").read_bytes() == before
    assert run("check", piece(102, 200), *JOB)[2] == 0
    assert run("check", "z.csv", *JOB) == ("", refused, 2)  # nothing is open
    Path("s.json").unlink()
    assert run("check", "z.csv", *JOB)[2] == 1
    assert "have no zone, those of earlier calls had one." in run("check", piece(110, 120), *JOB)[1]


def in_october(start, n_rows, name="h.csv"):
    """Write ten-second rows from a time of day on, on the day on which summer time ends in Vienna."""
    first = datetime.datetime.fromisoformat(f"2024-10-27 {start}")
    lines = [
        f"{first + datetime.timedelta(seconds=10 * row)},{line.partition(',')[2]}"
        for row, line in enumerate(LINES[1 : 1 + n_rows])
    ]
    Path(name).write_text(LINES[0] + "".join(lines))
    return name


def test_rows_of_a_repeated_hour_are_placed_or_said_to_be_skipped(place):
    job = (*JOB, "--zone", "Europe/Vienna")
    assert run("check", in_october("01:50:00", 100), *job)[1] == ""  # until 02:06:30
    _, err, _ = run("check", in_october("02:30:00", 360), *job)  # the second 02:30
    assert err == "Note: No rows from 27 Oct 02:06:30 to 02:30.\n"
    said = run("check", in_october("02:10:00", 60), *job)[1]
    assert "Warning: In column 'time' 60 rows lie in the hour that a clock change repeats" in said
    assert "60 rows are not newer than those of earlier calls, and were skipped." in said
    seen = json.loads(Path("s.json").read_text())["seen"][""]
    assert datetime.datetime.fromtimestamp(seen / 1e6, datetime.UTC).hour == 2
    assert run("check", in_october("02:10:00", 60), *job, "--strict")[2] == 2


FUTURE = "2106-02-07 06:28:15,on,2.53,503\n"
SEEN = "No row was checked: an earlier call saw a row of 2106-02-07 06:28:15, which lies in the future."


def test_a_row_from_the_future_is_set_aside(place):
    aside = (
        "Note: 1 row is set aside: its time, 2106-02-07 06:28:15, lies in the future, far beyond the "
        "others.\n"
    )
    for start, row in ((0, 10), (20, 0), (40, 20)):
        lines = LINES[1 + start : 21 + start]
        lines.insert(row, FUTURE)
        Path("h.csv").write_text(LINES[0] + "".join(lines))
        out, err, code = run("check", "h.csv", *JOB)
        assert (out.splitlines()[0], err, code) == (
            "clean: none of 20 rows scores above 0.777.",
            aside,
            0,
        )
    for _ in range(2):
        out, err, code = run("check", "h.csv", *JOB)
        assert "20 rows are not newer" in err
        assert (err.endswith(aside), code) == (True, 0)
    Path("h.csv").write_text(LINES[0] + FUTURE)
    said = "No row was checked: all times lie in the future, far beyond those of earlier calls.\n"
    assert run("check", "h.csv", *JOB)[1:] == (f"{aside}Warning: {said}", 0)
    assert run("check", piece(60, 110), *JOB)[2] == 1


def test_a_job_that_a_row_from_the_future_silences_says_so(place):
    hint = "Hint: correct the times, or remove the state to begin anew.\n"
    Path("h.csv").write_text(LINES[0] + FUTURE)
    assert run("check", "h.csv", *JOB)[2] == 0
    skipped = "Warning: 102 rows are not newer than those of earlier calls, and were skipped.\n"
    out, err, code = run("check", piece(0, 102), *JOB)
    assert (err, code) == (f"{skipped}Warning: {SEEN}\n", 0)
    run("check", piece(0, 0), *JOB)
    piece(0, 102)
    for _ in range(2):
        assert run("check", "h.csv", *JOB)[1:] == (f"{skipped}Error: {SEEN}\n{hint}", 2)
    Path("machines.toml").write_text(
        '[[machine]]\nname = "pump 1"\nmodel = "m.truism.json"\ndata = "h.csv"\nstate = "s.json"\n'
    )
    out, err, code = run("check", "--models", "machines.toml")
    assert (out.splitlines()[-1], code) == (
        "1 machine: 0 without anomalies, 1 failed ('pump 1').",
        2,
    )


def test_rows_that_all_lie_in_the_future_are_checked(place):
    later = [re.sub("^2024", "2124", line) for line in LINES]
    for start in (0, 60):
        Path("h.csv").write_text(LINES[0] + "".join(later[1 + start : 103 + start]))
        out, err, code = run("check", "h.csv", *JOB)
        assert "anomalies: 1 incident" in out or "goes on" in out or "over" in out
        assert "set aside" not in err
        assert code in (0, 1)


@pytest.mark.parametrize("state", [(), ("--state", "s.json")])
def test_no_rows_may_be_a_failure(place, state):
    check = ("check", "h.csv", *JOB[:2], *state)
    piece(0, 0)
    out, err, code = run(*check, "--format", "json")
    assert (json.loads(out)["verdict"], code) == ("nothing checked", 0)
    assert err == "Warning: nothing checked: there were no rows to check.\n"
    out, err, code = run(*check, "--fail-if-no-rows")
    assert out.startswith("nothing checked: there were no rows to check.\n")
    none = "Error: There were no rows to check.\nHint: find out why none come.\n"
    assert (err, code) == (none, 2)
    assert run(*check, "--max-age", "1h")[1] == (
        "Error: No row has a time, so none is at most 1h old.\n"
        "Hint: find out why no newer ones come.\n"
    )
    piece(0, 100)
    assert run(*check, "--fail-if-no-rows")[1:] == ("", 0)
    if state:  # only rows that were seen before
        skipped = "Warning: 100 rows are not newer than those of earlier calls, and were skipped.\n"
        assert run(*check, "--fail-if-no-rows")[1:] == (skipped + none, 2)


@pytest.mark.parametrize("zone", ["", "Z"])
@pytest.mark.parametrize("state", [(), ("--state", "s.json")])
def test_rows_may_be_too_old(place, state, zone):
    now = datetime.datetime.now(datetime.UTC if zone else None).replace(tzinfo=None)

    def rows(age):
        times = (now - datetime.timedelta(minutes=age + 60 - i) for i in range(60))
        lines = (f"{time.isoformat()[:19]}{zone},{i % 7},{i % 5}\n" for i, time in enumerate(times))
        Path("now.csv").write_text("time,level,flow\n" + "".join(lines))

    rows(60)
    run("learn", "now.csv", "-o", "now.truism.json")
    check = ("check", "now.csv", "-m", "now.truism.json", *state, "--max-age")
    assert run(*check, "3h")[2] == 0
    _, err, code = run(*check, "30min")
    assert re.search(
        r"Error: The latest row, of [-0-9: ]+( UTC)?, is 1 h( 1 min)? old; --max-age", err
    )
    assert (("UTC" in err), code) == (bool(zone), 2)
    rows(-5)
    assert run(*check, "30min")[2] == 0
    assert run(*check, "soon")[1:] == (
        "Error: --max-age must be a duration such as '10s', '5min' or '1h', got 'soon'.\n",
        2,
    )


def test_a_missing_part_of_a_series_is_said_wherever_it_begins(place):
    lines = [LINES[0], *LINES[1:31], *LINES[61:101]]
    Path("h.csv").write_text("".join(lines))
    said = "Note: No rows from 1 Mar 00:04:50 to 00:10.\n"
    out, err, _ = run("check", "h.csv", *JOB[:2], "--format", "json")
    assert said in err
    assert json.loads(out)["interruptions"] == [
        {"series": None, "after": "2024-03-01T00:04:50", "until": "2024-03-01T00:10:00"}
    ]
    Path("h.csv").write_text("".join(lines[:31]))
    assert run("check", "h.csv", *JOB)[1] == ""
    Path("h.csv").write_text("".join([lines[0], *lines[31:]]))
    assert run("check", "h.csv", *JOB)[1] == said
    assert run("check", piece(61, 71), *JOB)[1].startswith("Warning: 10 rows are not newer")
