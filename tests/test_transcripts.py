"""Whole output of every command and format that jobs use: standard output, standard error, exit code.

``data/transcripts`` holds what is printed, call by call; ``python tests/test_transcripts.py`` writes it
anew, to be read before it is kept. Numbers in JSON are rounded; dates and styles of pages are left out.
"""

import os
import re
import shlex
import tempfile
from pathlib import Path

import pytest

from test_cli import run, table

FOLDER = Path(__file__).parent / "data" / "transcripts"
LINES = table(wrong=(101, 102, 103, 252)).splitlines(keepends=True)
LIST = """\
[[machine]]
name = "pump 1"
model = "m.truism.json"
data = "hours/*.csv"
state = "p1.state"

[[machine]]
name = "pump 2"
model = "m.truism.json"
data = "normal.csv"

[[machine]]
name = "pump 3"
model = "absent.truism.json"
data = "normal.csv"
"""
EXPORT = "Zeit;Durchfluss;Zustand;Zähler total\n;m³/h;;\n" + "".join(
    f"13.03.2024 {i // 60:02}:{i % 60:02};{'Bad' if i == 17 else f'{2 + i % 7},5'};"
    f"{'ein' if i % 4 else 'aus'};{100 + i * 3}\n"
    for i in range(120)
)
JOB = "check h.csv -m m.truism.json --state s.json --name 'pump 1'"
CALLS = {
    "jobs": [
        (0, 102, JOB),
        (90, 105, JOB),
        (105, 200, JOB),
        (105, 200, JOB),
        (0, 0, JOB),
        (200, 300, f"{JOB} --min-rows 2"),
        (300, 400, f"{JOB} --format json"),
    ],
    "events": [
        (0, 102, f"{JOB} --format events"),
        (102, 106, f"{JOB} --format events"),
        (106, 200, f"{JOB} --format events"),
        (200, 400, f"{JOB} --format events"),
    ],
    "jsonl": [
        (0, 102, f"{JOB} --format jsonl"),
        (102, 200, f"{JOB} --format jsonl"),
        (200, 253, f"{JOB} --format json"),
        (253, 400, f"{JOB} --format csv"),
    ],
    "refused": [
        (0, 102, JOB),
        (102, 110, JOB.replace("pump 1", "pump 2")),
        (102, 110, f"{JOB} --report r.html"),
        (102, 110, JOB.replace("s.json", "normal.csv")),
        (102, 110, JOB.replace("h.csv", "absent.csv")),
        (102, 110, f"{JOB} --min-rows 0"),
        (102, 110, f"{JOB} --format events --top x"),
        (102, 110, f"{JOB} --ignore flwo"),
        (102, 110, f"{JOB} --mute time"),
        (102, 110, f"{JOB} --threshold 2"),
    ],
    "leaving-out": [
        (90, 260, "check h.csv -m m.truism.json --ignore flow"),
        (90, 260, "check h.csv -m m.truism.json --mute flow"),
        (90, 260, "check h.csv -m m.truism.json --min-rows 3"),
        (90, 260, "check h.csv -m m.truism.json --min-rows 3 --mute flow --mute pump"),
    ],
    "machines": [
        (90, 260, "check --models machines.toml"),
        (90, 260, "check --models machines.toml --format events"),
        (90, 260, "check --models machines.toml --format jsonl"),
        (90, 260, "check --models machines.toml --format json"),
        (90, 260, "check --models normal.csv"),
    ],
    "calibrate": [
        (105, 250, "calibrate m.truism.json h.csv"),
        (105, 250, "calibrate m.truism.json h.csv --max-false-positive-rate 0.1"),
        (105, 250, "calibrate m.truism.json h.csv --max-false-incidents 1/week"),
        (105, 250, "calibrate m.truism.json h.csv --max-false-incidents often"),
        (0, 0, "calibrate m.truism.json h.csv"),
        (105, 250, "calibrate normal.csv h.csv"),
    ],
    "look": [
        (0, 0, "look export.csv"),
        (0, 0, "look export.csv --format json"),
        (0, 0, "look h.csv"),
        (0, 0, "look export.csv --strict"),
        (0, 0, "look export.csv --time Zustand"),
        (0, 0, "look absent.csv"),
        (0, 0, "look export.csv --report page.html"),
    ],
}


def prepare(model):
    """Put everything that calls need into the working folder."""
    Path("m.truism.json").write_bytes(model)
    Path("normal.csv").write_text(table())
    Path("machines.toml").write_text(LIST)
    Path("export.csv").write_text(EXPORT)
    Path("hours").mkdir()
    for start in (0, 200):
        Path(f"hours/{start:03}.csv").write_text(
            "".join([LINES[0], *LINES[1 + start : 201 + start]])
        )


def learn():
    Path("normal.csv").write_text(table())
    assert run("learn", "normal.csv", "-o", "m.truism.json", "--lookback", "0")[2] == 0
    return Path("m.truism.json").read_bytes()


def transcript(calls):
    """Return what calls print, one below the other."""
    parts = []
    for start, end, call in calls:
        Path("h.csv").write_text("".join([LINES[0], *LINES[1 + start : 1 + end]]))
        out, err, code = run(*shlex.split(call))
        parts.append(f"$ truism {call}  # rows {start} to {end}\n{rounded(out)}")
        parts += [f"stderr:\n{rounded(err)}"] * bool(err) + [f"exit code {code}\n\n"]
    page = Path("page.html")
    if page.exists():
        undated = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(?=</p>)", "DATE", page.read_text())
        parts.append(re.sub(r"(?s)<style>.*?</style>", "<style>…</style>", undated))
    return "".join(parts)


def rounded(out):
    """Round long numbers, as the last digits may differ from machine to machine."""
    return re.sub(r"-?\d+\.\d{7,}(e-?\d+)?", lambda found: f"{float(found[0]):.6g}", out)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("learned"))
        return learn()


@pytest.mark.parametrize("name", CALLS)
def test_calls_print_what_they_printed(name, model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare(model)
    assert transcript(CALLS[name]) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_every_transcript_is_checked():
    assert {each.stem for each in FOLDER.iterdir()} == {*CALLS}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as first:
        os.chdir(first)
        content = learn()
    for name, calls in CALLS.items():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            prepare(content)
            (FOLDER / f"{name}.txt").write_text(transcript(calls), encoding="utf-8")
