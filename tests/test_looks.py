"""A table at first sight: the words of screen and page, whole, and the page in a browser."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from browser import browser, find_browser
from strategies import HOSTILE_NAMES
from test_cli import run
from truism.show.html import look_page
from truism.show.looks import blocks, describe, to_record
from truism.table.columns import reading_of
from truism.table.frames import as_table
from truism.table.looking import look


@pytest.fixture
def export(tmp_path, monkeypatch):
    """An export with a row of units, decimal commas, words among numbers, a meter and an id."""
    monkeypatch.chdir(tmp_path)
    lines = ["Time;pump;flow;energy total;record id;comment", "-;-;m³/h;kWh;-;-"]
    energy = 0
    for i in range(120):
        energy += i % 3
        flow = {7: "I/O Timeout", 9: "hm"}.get(i, f"{i % 40 / 8:.3f}".replace(".", ","))
        comment = f"seen by {i}" if i % 20 == 0 else ""
        clock = f"13.03.2014 {i // 60:02}:{i % 60:02}"
        lines.append(f"{clock};{'on' if i % 4 else 'off'};{flow};{energy};{500 + 3 * i};{comment}")
    Path("export.csv").write_text("\n".join(lines) + "\n", encoding="latin-1")
    return ("export.csv", "--encoding", "latin-1")


def test_look_shows_every_column_and_what_becomes_of_it(export):
    assert run("look", *export) == (SHOWN, "", 0)


SHOWN = """\
export.csv: 120 rows of 6 columns.
  time     Time (day first), 2014-03-13 00:00:00 to 2014-03-13 01:59:00, usually
           1 min from row to row
  learned  3 columns would be variables; 2 columns left out
  read as  divided by semicolons, decimal commas, encoding latin-1, a row of
           units below the names

column        kind    missing  holds                        spread
Time          times            2014-03-13 00:00:00 to       ████████████████████
                               2014-03-13 01:59:00
                               2014-03-13 00:00:00,
                               2014-03-13 00:01:00
                               says when
pump          states           on (90), off (30)            █▃
                               off, on, on, on, off
flow          number        2  0 to 4.875 [m³/h]            ███▇▇███████████████
                               0, 0.125, 0.25, 0.375, 0.5
energy total  number           0 to 120 [kWh]               ▆▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇█
                               0, 1, 3, 3, 4
                               its change is learned: a
                               counter: whole numbers that
                               only grow over 120 rows,
                               and its name says so
record id     number           500 to 857                   ████████████████████
                               500, 503, 506, 509, 512
                               left out: running numbers:
                               whole numbers that only
                               grow over 120 rows, and its
                               name says so
comment       text        114  seen by 0 (1), seen by 100
                               (1), seen by 20 (1), seen
                               by 40 (1), 2 more
                               seen by 0, –, –, –, –
                               left out: text with 6
                               distinct values in 6 rows

Warning: Column 'flow' holds numbers; 'I/O Timeout' (once), 'hm' (once) are
taken as missing, first in row 7; see --categorical and --missing.
Note: 'export.csv': the row below the names holds units ('m³/h', 'kWh').
Note: Column 'Time' is read as times (day first): '13.03.2014 00:00' is
2014-03-13 00:00:00; see --time-format.
"""


def test_look_for_programs(export):
    out, err, code = run("look", *export, "--format", "json")
    assert (err, code) == ("", 0)
    found = json.loads(out)
    assert (found["n_rows"], found["time"], found["step"]) == (120, "Time", 60.0)
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["flow"]["unit"] == "m³/h"
    assert (columns["flow"]["n_missing"], sum(columns["flow"]["bins"])) == (2, 118)
    assert columns["pump"]["states"] == [
        {"state": "on", "count": 90},
        {"state": "off", "count": 30},
    ]
    assert columns["energy total"]["change"].startswith("a counter: ")
    assert columns["record id"]["left_out"].startswith("running numbers: ")
    assert [each["doubtful"] for each in columns["flow"]["oddities"]] == [True]
    assert found["notices"][-1]["text"].endswith("see --categorical and --missing.")
    assert found["reading"]["layout"]["delimiter"] == ";"


def test_look_follows_the_options_for_reading(export):
    out = json.loads(run("look", *export, "--format", "json", "--missing", "hm")[0])
    assert not any(each["doubtful"] for each in out["notices"])
    out = json.loads(run("look", *export, "--format", "json", "--categorical", "record id")[0])
    assert [each["kind"] for each in out["columns"] if each["name"] == "record id"] == ["number"]
    assert [each["left_out"] for each in out["columns"] if each["name"] == "record id"] == [None]
    assert run("look", *export, "--strict")[2] == 2


def test_what_look_says_of_columns_is_what_learning_does(export):
    out = json.loads(run("look", *export, "--format", "json")[0])
    assert run("learn", *export, "-o", "m.truism.json")[2] == 0
    model = json.loads(Path("m.truism.json").read_text())
    left = {each["name"] for each in out["columns"] if each["left_out"] or each["change"]}
    assert {each["name"] for each in model["left_out"]} == left
    assert model["time"] == out["time"]
    assert model["derived"] == [each["name"] for each in out["columns"] if each["change"]]


def test_look_at_a_file_without_rows(export):
    Path("empty.csv").write_text("a,b\n")
    assert run("look", "empty.csv")[2] == 0
    Path("nothing.csv").write_text("")
    assert run("look", "nothing.csv")[2] == 0
    assert run("look", "absent.csv")[2] == 2


def test_look_at_the_largest_numbers_there_are(export):
    Path("far.csv").write_text("x\n-1.7e308\n1.7e308\n0\n1\n2\n3\n4\n")
    out, err, code = run("look", "far.csv", "--format", "json")
    assert (err, code) == ("", 0)
    assert sum(json.loads(out)["columns"][0]["bins"]) == 7


# Not `getrusage`, which on Linux counts the memory of the process that runs the tests, too.
PEAK = """
import re, sys
from truism.cli.app import app
try:
    app.main(sys.argv[1:])
finally:
    with open("/proc/self/status") as status:
        print(re.search("VmHWM:[^0-9]*([0-9]+)", status.read())[1], file=sys.stderr)
"""
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")


def peak_of(folder, *arguments):
    """Run a command by itself; return its output and its peak memory in MB."""
    ended = subprocess.run(
        [sys.executable, "-c", PEAK, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout, int(ended.stderr) / 1024


@only_linux
def test_look_at_many_rows_in_a_small_file_reads_the_first(tmp_path):
    rows = pa.table({"x": np.ones(1 << 20)})
    with pq.ParquetWriter(tmp_path / "t.parquet", rows.schema, compression="zstd") as file:
        for _ in range(80):
            file.write_table(rows)
    assert (tmp_path / "t.parquet").stat().st_size < 1 << 20
    out, peak = peak_of(tmp_path, "look", "t.parquet")
    assert out.startswith("t.parquet: 262,144 rows of 1 column.\n")
    assert out.endswith("Note: only the first 262,144 of 83,886,080 rows are looked at.\n")
    assert peak < 900


@only_linux
def test_look_at_long_texts_in_a_small_file_holds_each_once(tmp_path):
    texts = pa.DictionaryArray.from_arrays([0, 1] * 5_000, ["on" * 50_000, "off" * 50_000])
    pq.write_table(pa.table({"x": texts}), tmp_path / "t.parquet", store_schema=False)
    out, peak = peak_of(tmp_path, "look", "t.parquet")
    assert out.startswith("t.parquet: 10,000 rows of 1 column.\n")
    assert peak < 900


def test_look_writes_a_page(export):
    out, err, code = run("look", *export, "--report", "look.html")
    assert (out, err, code) == (SHOWN, "Note: the page is in look.html.\n", 0)
    page = Path("look.html").read_text()
    assert "its change is learned: a counter" in page
    assert "http" not in page.replace("http-equiv", "")
    assert run("look", *export, "-o", "look.pdf")[1] == (
        "Error: The page's name must end in .html, got 'look.pdf'.\n"
    )
    assert run("look", *export, "-o", "export.csv")[2] == 2


def hostile():
    table = as_table({name: [name, "b", "c"] * 3 for name in HOSTILE_NAMES})
    return look(table, reading_of(table))


def test_hostile_names_are_only_names():
    page = look_page(describe(hostile()), "<b>file</b>", "now")
    assert "<script" not in page
    assert "<b>file" not in page
    record = to_record(hostile())
    assert [each["name"] for each in record["columns"]] == list(HOSTILE_NAMES)


@pytest.mark.skipif(find_browser() is None, reason="no browser is installed: run make browser")
def test_the_page_in_a_browser(tmp_path):
    place = tmp_path / "look.html"
    place.write_text(look_page(describe(hostile()), "<b>file</b>", "now"), encoding="utf-8")
    problems = []
    with browser() as chromium:
        page = chromium.new_context(offline=True, viewport={"width": 900, "height": 700}).new_page()
        page.on("console", lambda message: problems.append(message.text))
        page.on("request", lambda request: problems.append(request.url))
        page.goto(place.as_uri())
        names = page.locator("tbody th").all_inner_texts()
        bars = page.locator("svg path").count()
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert [" ".join(name.split()) for name in names] == [
        " ".join(n.split()) for n in HOSTILE_NAMES
    ]
    assert bars == len(HOSTILE_NAMES)
    assert not wide
    assert problems == [place.as_uri()]


def test_blocks_are_as_high_as_their_share():
    assert blocks((0, 1, 8, 4)) == " ▁█▄"
    assert blocks((0, 1, 1000)) == " ▁█"
    assert blocks(()) == ""
