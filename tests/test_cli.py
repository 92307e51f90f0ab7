"""Every command, whole output: standard output, standard error and exit code apart."""

import datetime
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from truism.cli import app, screen
from truism.cli.app import COMMANDS
from truism.model import files as modelfiles
from truism.model.files import decode_model, load_model
from truism.score import kernels
from truism.score.kernels import compiling
from truism.table.atomic import alone_with, write_atomically
from truism.table.files import read

ROOT = Path(__file__).parents[1]


def table(n_rows=400, wrong=()):
    """A pump that runs for five rows of ten, a flow that follows it, and a level that follows that."""
    lines = ["time,pump,flow,level"]
    for i in range(n_rows):
        on = i % 10 < 5
        flow = 2.5 + 0.01 * (i * 7 % 13) if on else 0.0
        if i in wrong:
            flow = 0.0 if on else 2.5
        level = 500 + (i % 10 if on else 10 - i % 10)
        clock = f"2024-03-01 {i // 360 % 24:02}:{i // 6 % 60:02}:{i % 6 * 10:02}"
        lines.append(f"{clock},{'on' if on else 'off'},{flow:.2f},{level}")
    return "\n".join(lines) + "\n"


def run(*arguments, stdin=None, env=None):
    runner = CliRunner(env={"COLUMNS": "80", "NO_COLOR": None, **(env or {})})
    result = runner.invoke(app, [str(each) for each in arguments], input=stdin)
    return result.stdout, result.stderr, result.exit_code


def program(*arguments, **options):
    command = [sys.executable, "-m", "truism", *map(str, arguments)]
    env = {**os.environ, "COLUMNS": "80"}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, **options)


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    (folder / "normal.csv").write_text(table())
    (folder / "today.csv").write_text(table(wrong=(101, 102, 103, 252)))
    out, err, code = run(
        *("learn", folder / "normal.csv", "-o", folder / "m.truism.json", "--lookback", "0")
    )
    assert code == 0, err
    return folder, out, err


@pytest.fixture
def place(learned, tmp_path, monkeypatch):
    """A folder of one's own with the model and the tables, to work in."""
    for name in ("normal.csv", "today.csv", "m.truism.json"):
        (tmp_path / name).write_bytes((learned[0] / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_learning_says_that_compiled_code_could_not_be_kept(learned, tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "failures", ["No space left on device"])
    monkeypatch.setattr(kernels, "can_cache", lambda _: True)
    monkeypatch.setattr(kernels, "are_cached", lambda *_: True)
    out, err, code = run("learn", learned[0] / "normal.csv", "-o", tmp_path / "m.json")
    assert code == 0
    assert "Learned" in out
    assert err.splitlines()[-1] == (
        "Note: compiled code could not be kept (No space left on device), so the next run compiles it "
        "again; set NUMBA_CACHE_DIR to a folder with room for it."
    )


def test_learn_tells_what_a_person_wants_to_know(learned):
    folder, out, err = learned
    # Where the folder's name is long, its line is broken.
    assert out.replace("is in\n", "is in ").replace(str(folder), "DIR") == LEARNED
    assert [line for line in err.splitlines() if "first run compiles" not in line] == []


LEARNED = """\
Learned 17 rules.
  table        400 rows, 3 variables
  time         time
  continuous   2: flow  level
  categorical  1: pump
  support θ    0.0288, so that every rule holds in at least 12 rows
  rules        6 about one variable alone; 10 of 2, 1 of 3 predicates
  threshold φ  0.777: at most 1 % of 400 training rows score above it when held
               out

rules     rows  what is always true
2 rules    200  pump = off ⇔ flow < 1
oqyvmynp    40  level < 500.5 ⇒ pump = on

The model is in DIR/m.truism.json.
"""


def test_learn_takes_its_options(place):
    out, err, code = run(
        *("learn", "normal.csv", "-o", "n.truism.json", "--delta", "--ignore", "level"),
        *("--min-support", "0.1", "--support-ratio", "0.5", "--max-predicates", "3"),
        *("--cutoffs", "uniform", "--threshold", "0.25", "--seed", "3", "--jobs", "1"),
        *("--categorical", "pump", "--continuous", "flow", "--time", "time"),
    )
    assert (code, err) == (0, "")
    model = load_model("n.truism.json")
    assert model.derived == ("flow",)
    assert model.schema.names == ("pump", "flow", "Δflow")
    assert model.threshold == 0.25
    assert model.provenance.created is not None
    assert model.settings.max_predicates == 3
    assert "support θ    0.1, set by hand\n" in out
    assert "left out     level: ignored on request\n" in out
    assert "threshold φ  0.25: set by hand\n" in out


def test_learn_reads_standard_input_and_several_files(place):
    lines = table().splitlines(keepends=True)
    Path("a1.csv").write_text("".join(lines[:201]))
    Path("a2.csv").write_text("".join([lines[0], *lines[201:]]))
    for data, stdin in ((["-"], table()), (["a*.csv"], None), (["a1.csv", "a2.csv"], None)):
        _, err, code = run("learn", *data, "-o", "n.truism.json", stdin=stdin)
        assert (code, err) == (0, "")
        assert load_model("n.truism.json").rules == load_model("m.truism.json").rules


def test_check_tells_incidents_worst_first_and_the_verdict_last(place):
    assert run("check", "today.csv", "-m", "m.truism.json") == (CHECKED, "", 1)


CHECKED = """\
1  flow read 0 instead of about 2.559 while pump was on.
   2024-03-01 00:16:50 · 20 s · 3 rows · peak 11.2 at 00:16:50 · 1 more like it:
   1 Mar 00:42
   flow  71 %  expected flow ≥ 2.484, found 0 at 1 Mar 00:17:10
               because pump = on (or pump is wrong)
               (on average 2.559 ± 0.038 in the 200 of 400 training rows like
               this)
   pump  29 %  expected pump = off, found on
               because flow < 1 (or flow is wrong)
               (200 of 400 training rows, no exception)

Percentages are shares of the blame. An incident may contain up to 6 normal
rows; --gap changes that.
anomalies: 2 incidents in 1 h 6 min; 4 of 400 rows (1 %) score above 0.777.
"""


def test_a_series_is_told_with_its_past_and_what_chance_explains(place):
    out, err, code = run("learn", "normal.csv", "-o", "s.truism.json")
    assert (code, err) == (0, "")
    assert "about 2.5 false incidents per 1,000 rows" in out
    out, err, code = run("check", "today.csv", "-m", "s.truism.json")
    assert (code, err) == (1, "")
    assert out.startswith(
        "1  flow read 0 instead of about 2.559 while pump was on.\n"
        "   2024-03-01 00:16:50 · 20 s · 3 rows · peak 14.8 at "
    )
    assert re.search(
        r"anomalies: 2 incidents in 1 h 6 min \(fewer than 0.01 expected by chance\);", out
    )
    often = ("--max-false-incidents", "1/1000rows", "--format", "json")
    out, _, code = run("check", "today.csv", "-m", "s.truism.json", *often)
    assert code == 1
    assert json.loads(out)["threshold"] < 2.43
    rate = ("--max-false-incidents", "1/week")
    _, err, code = run("calibrate", "s.truism.json", "normal.csv", *rate)
    assert "about 1 false incident a week, extrapolated from 400" in err
    out, _, _ = run("check", "today.csv", "-m", "s.truism.json", "--format", "json")
    assert json.loads(out)["expected"] < 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--max-false-incidents", "often"],
            "Error: --max-false-incidents must be a rate such as '1/day', '2/week' or '1/1000rows', "
            "got 'often'.\n",
        ),
        (
            ["--max-false-incidents", "1/day"],
            "Error: --max-false-incidents must be absent unless the model is of a series, whose rows "
            "are judged by their past, got '1/day'.\n"
            "Hint: learn it from rows in order, or calibrate it by a share of the rows; see "
            "--ordered.\n",
        ),
        (
            ["--max-false-incidents", "1/day", "--threshold", "3"],
            "Error: --threshold and --max-false-incidents must not both be given.\n",
        ),
    ],
)
def test_rates_that_cannot_be_are_refused(place, options, message):
    assert run("check", "today.csv", "-m", "m.truism.json", *options) == ("", message, 2)


def test_the_papers_scoring_reports_any_broken_rule(place):
    out, _, code = run("learn", "normal.csv", "-o", "p.truism.json", "--scoring", "paper")
    assert code == 0
    why = (
        "0.04, the smallest value with fewer than 1 % false alarms on\n"
        "               held-out rows: 0 %\n"
    )
    assert f"  support θ    {why}" in out
    assert "  threshold φ  0: any broken rule\n" in out
    assert run("check", "today.csv", "-m", "p.truism.json") == (CHECKED_BY_RULES, "", 1)
    clean = "clean: none of 400 rows scores above 0.\n"
    assert run("check", "normal.csv", "-m", "p.truism.json") == (clean, "", 0)


CHECKED_BY_RULES = """\
1  pump was on instead of off while flow was less than 1.
   2024-03-01 00:16:50 · 20 s · 3 rows · peak 0.5 at 00:16:50 · 1 more like it:
   1 Mar 00:42
   pump  100 %  expected pump = off, found on
                because flow < 1
                (200 of 400 training rows, no exception)

Percentages are shares of the blame. An incident may contain up to 6 normal
rows; --gap changes that.
anomalies: 2 incidents in 1 h 6 min; 4 of 400 rows (1 %) score above 0.
"""


def test_check_of_normal_rows_is_clean(place):
    expected = "clean: none of 400 rows scores above 0.777.\n"
    assert run("check", "normal.csv", "-m", "m.truism.json") == (expected, "", 0)


def test_check_with_differences_makes_them_again(place):
    assert run("learn", "normal.csv", "-o", "d.truism.json", "--delta")[2] == 0
    assert run("check", "normal.csv", "-m", "d.truism.json")[2] == 0
    out, _, code = run("check", "today.csv", "-m", "d.truism.json")
    assert code == 1
    assert "Δflow" in out


def test_check_with_a_threshold_reports_less(place):
    out, err, code = run("check", "today.csv", "-m", "m.truism.json", "--threshold", "1000")
    assert (out, err, code) == ("clean: none of 400 rows scores above 1000.\n", "", 0)


def test_a_model_keeps_a_threshold_chosen_on_other_rows(place):
    Path("quiet.csv").write_text(table(200, wrong=(1,)))
    assert run("learn", "normal.csv", "-o", "c.truism.json", "--lookback", "0")[2] == 0
    rate = ("--max-false-positive-rate", "0.01")
    _, err, code = run("calibrate", "c.truism.json", "quiet.csv", *rate)
    meaning = "1 of 200 calibration rows (0.5 %) exceed it"
    assert (err, code) == (f"Note: threshold 0.679: {meaning}.\n", 0)
    model = load_model("c.truism.json")
    assert (model.threshold, str(model.limit.origin)) == (0.679, meaning)
    assert "scores above 0.679" in run("check", "quiet.csv", "-m", "c.truism.json")[0]
    before = Path("c.truism.json").read_bytes()
    Path("fewer.csv").write_text("pump,level\non,1\n")
    out, err, code = run("calibrate", "c.truism.json", "fewer.csv", *rate)
    assert (out, code) == ("", 2)
    assert err.startswith("Error: Column 'flow' is missing from the table to score.")
    assert Path("c.truism.json").read_bytes() == before
    _, err, _ = run("calibrate", "c.truism.json", "normal.csv", *rate)
    first = "Note: these are the training rows; use other rows."
    assert err.splitlines()[0] == first


def test_check_doubts_the_model_when_much_is_reported(place):
    Path("changed.csv").write_text(table(200, wrong=range(0, 200, 3)))
    _, err, code = run("check", "changed.csv", "-m", "m.truism.json")
    assert code == 1
    assert " ".join(err.split()) == (
        "Note: 34 % of all rows are reported: either much is wrong, or what is normal has "
        "changed since the model was learned. If it has changed, learn from newer rows or calibrate "
        "the threshold on them."
    )


def test_check_gap_and_top(place):
    out, _, _ = run("check", "today.csv", "-m", "m.truism.json", "--gap", "300", "--top", "1")
    assert "1 incident in 1 h 6 min; 4 of 400 rows" in out
    out, _, _ = run("check", "today.csv", "-m", "m.truism.json", "--top", "1")
    assert "1 more like it:\n   1 Mar 00:42\n" in out


def test_check_for_programs(place):
    out, err, code = run("check", "today.csv", "-m", "m.truism.json", "--format", "json")
    assert (err, code) == (f"Note: {CHECKED.splitlines()[-1]}\n", 1)
    found = json.loads(out)
    incident = found["incidents"][0]
    assert [found[key] for key in ("verdict", "n_rows", "n_anomalous", "threshold", "gap")] == [
        *("anomalies", 400, 4, 0.777, 6)
    ]
    assert (incident["start"], incident["end"], incident["seconds"]) == (101, 103, 20.0)
    assert incident["started"] == "2024-03-01T00:16:50"
    assert set(incident["blames"][0]["reasons"][0]) >= {"expected", "found", "because", "evidence"}
    out, _, _ = run("check", "today.csv", "-m", "m.truism.json", "--format", "jsonl")
    assert [json.loads(line) for line in out.splitlines()] == found["incidents"]
    out, _, _ = run("check", "today.csv", "-m", "m.truism.json", "--format", "csv")
    header, first, *_ = out.splitlines()
    assert header == (
        "incident,id,source,series,start,end,n_rows,peak,score,severity,kind,state,started,ended,"
        "peaked,seconds,summary,variable,share,since,began,expected,found,because,evidence,rule,row"
    )
    assert first.split(",")[:6] == ["1", incident["id"], "", "", "101", "103"]


def test_check_shows_what_repeats_if_asked(place):
    out, _, _ = run("check", "today.csv", "-m", "m.truism.json", "--patterns", "--top", "1")
    repeats = out[out.index("What repeats") :]
    assert repeats.startswith(
        "What repeats\n100 % of the anomalous rows · 4 rows at 2 times · pattern "
    )
    assert "   flow 0, expected flow ≥ 2.484 because pump = on\n" in repeats
    assert "   worst: 2024-03-01 00:16:50 (0), " in repeats
    command = ("check", "today.csv", "-m", "m.truism.json", "--patterns", "--format")
    out, _, _ = run(*command, "json")
    (pattern,) = json.loads(out)["patterns"]
    out, _, _ = run(*command, "jsonl")
    assert [json.loads(line) for line in out.splitlines()] == [pattern]
    out, _, _ = run(*command, "csv")
    header, line = out.splitlines()
    assert header == "id,variable,kind,n_rows,share,n_times,summary,worst"
    assert line.split(",")[:6] == [pattern["id"], "flow", "conflict", "4", "1.0", "2"]
    out, _, _ = run("check", "today.csv", "-m", "m.truism.json", "--format", "json")
    assert json.loads(out)["patterns"] is None


def test_rows_that_are_no_series_are_shown_by_pattern(place):
    rows = [line.partition(",")[2] for line in table().splitlines()]
    Path("normal.csv").write_text("\n".join(rows))
    Path("today.csv").write_text("\n".join([rows[0], *[_with_pump(row) for row in rows[1:13]]]))
    assert run("learn", "normal.csv", "-o", "n.truism.json")[2] == 0
    out, err, code = run("check", "today.csv", "-m", "n.truism.json")
    assert (err, code) == ("", 1)
    assert "   pump never seen in training (never)\n" in out
    assert re.search(r"anomalies: 12 of 12 rows \(100 %\) score above .*, in \d patterns?\.", out)
    assert "incident" not in out


def _with_pump(row):
    """Return a row with a pump in a state that it never was in."""
    return row.replace("on", "never").replace("off", "never")


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet", "scores.csv.gz"])
def test_check_writes_every_rows_score_and_blames(place, name):
    assert run("check", "today.csv", "-m", "m.truism.json", "--scores", name)[2] == 1
    scores = read([name]).table
    assert scores.names == (
        *("row", "time", "score", "anomaly", "variable_1", "share_1", "expected_1", "found_1"),
        *("variable_2", "share_2", "expected_2", "found_2"),
        *("variable_3", "share_3", "expected_3", "found_3"),
    )
    column_of = scores.column_of()
    anomalies = [row for row in range(400) if column_of["anomaly"].cell(row)]
    assert anomalies == [101, 102, 103, 252]
    assert column_of["score"].cell(1) == 0
    assert column_of["variable_1"].cell(1) is None
    assert 0 < column_of["score"].cell(100) < 0.777  # so it is not explained
    assert column_of["expected_1"].cell(100) is None
    assert column_of["variable_1"].cell(101) == "flow"
    assert column_of["expected_1"].cell(101) == "flow ≥ 2.484"


def test_check_writes_a_report_in_the_form_its_name_asks_for(place):
    lines = Path("today.csv").read_text().splitlines()
    marks = ["attack", *("1" if i in (101, 102, 103, 252) else "0" for i in range(400))]
    labelled = "\n".join(f"{line},{mark}" for line, mark in zip(lines, marks, strict=True))
    Path("labelled.csv").write_text(labelled + "\n")
    verdicts = []
    for name in ("r.html", "r.json"):
        out, err, code = run(
            *("check", "labelled.csv", "-m", "m.truism.json", "--report", name, "--label", "attack")
        )
        assert (err, code) == (f"Note: the report is in {name}.\n", 1)
        verdicts.append(out.splitlines()[-1])
    assert len(set(verdicts)) == 1
    told = json.loads(Path("r.json").read_text())
    assert told["verdict"] in Path("r.html").read_text()
    assert "labelled.csv" in Path("r.html").read_text()
    assert told["labels"].startswith("attack: ")
    assert told["labels"] in Path("r.html").read_text()


def test_check_says_which_columns_it_ignores(place):
    Path("more.csv").write_text(table().replace("\n", ",1\n").replace("level,1", "level,extra"))
    out, err, code = run("check", "more.csv", "-m", "m.truism.json")
    assert (out, code) == ("clean: none of 400 rows scores above 0.777.\n", 0)
    assert err == "Note: columns that the model does not know are ignored: 'extra'.\n"


def test_explain_tells_one_row_in_full(place):
    assert run("explain", "today.csv", "-m", "m.truism.json", "--row", 252) == (EXPLAINED, "", 0)


EXPLAINED = """\
row 252 · 2024-03-01 00:42:00 · score 10.96 · anomaly (threshold 0.777)

flow  71 %  expected flow ≥ 2.484, found 0
            because pump = on (or pump is wrong)
            (on average 2.559 ± 0.038 in the 200 of 400 training rows like this)
            · +8.11
pump  29 %  expected pump = off, found on
            because flow < 1 (or flow is wrong)
            (200 of 400 training rows, no exception) · rule jc562q7m +2.76

1 more variable with 0 % of the blame; --top 0 shows all.
"""


def test_explain_a_row_that_nothing_speaks_against(place):
    out, err, code = run("explain", "today.csv", "-m", "m.truism.json", "--row", 1)
    assert (out, err, code) == (
        "row 1 · 2024-03-01 00:00:10 · score 0 · not reported (threshold 0.777)\n"
        "Nothing is unusual about it.\n",
        "",
        0,
    )


def test_explain_shows_the_first_variables_and_counts_the_others(place):
    arguments = ("explain", "today.csv", "-m", "m.truism.json", "--row", 252, "--top")
    assert run(*arguments, 1) == (EXPLAINED_BRIEFLY, "", 0)
    assert "level   0 %  expected level about 503, found 502\n" in run(*arguments, 0)[0]
    for top, n in ((0, 3), (2, 2)):
        found = json.loads(run(*arguments, top, "--format", "json")[0])
        assert len(found["blames"]) == n


EXPLAINED_BRIEFLY = """\
row 252 · 2024-03-01 00:42:00 · score 10.96 · anomaly (threshold 0.777)

flow  71 %  expected flow ≥ 2.484, found 0
            because pump = on (or pump is wrong)
            (on average 2.559 ± 0.038 in the 200 of 400 training rows like this)
            · +8.11

2 more variables with 29.1 % of the blame; --top 0 shows all.
"""


def test_explain_for_programs(place):
    arguments = ("explain", "today.csv", "-m", "m.truism.json", "--row", "252", "--format")
    found = json.loads(run(*arguments, "json")[0])
    assert found["row"] == 252
    assert json.loads(run(*arguments, "jsonl")[0]) == found
    lines = run(*arguments, "csv")[0].splitlines()
    assert lines[0].startswith("row,time,score,variable,share,expected,found,because,evidence")
    assert len(lines) - 1 == sum(len(blame["reasons"]) for blame in found["blames"])


def test_rules_are_listed_least_likely_by_chance_first(place):
    assert run("rules", "m.truism.json", "--top", "3") == (LISTED, "", 0)


LISTED = """\
id        rows  chance  rule
jc562q7m   200   1e-60  flow < 1 ⇒ pump = off
76uzp2nk   200   1e-60  pump = off ⇒ flow < 1
dkjqw3pj    60   1e-18  2.525 ≤ flow < 2.565 ⇒ pump = on

3 of 17 rules; --top 0 shows all.
"""


def test_rules_can_be_searched_and_sorted(place):
    every = json.loads(run("rules", "m.truism.json", "--format", "json")[0])
    about = json.loads(run("rules", "m.truism.json", "--about", "level", "--format", "json")[0])
    assert (
        run("rules", "m.truism.json", "--about", "LeVeL", "--format", "json")[0]
        == run("rules", "m.truism.json", "--about", "level", "--format", "json")[0]
    )
    assert about == [rule for rule in every if "level" in rule["variables"]]
    some = json.loads(
        run("rules", "m.truism.json", "--contains", "PUMP = ON", "--format", "json")[0]
    )
    assert some == [rule for rule in every if "pump = on" in rule["text"]]
    for sort, key in (("id", "id"), ("length", "length"), ("support", "count")):
        lines = run("rules", "m.truism.json", "--sort", sort, "--format", "csv")[0].splitlines()
        at = lines[0].split(",").index(key)
        values = [re.sub(r'"[^"]*"', "", line).split(",")[at] for line in lines[1:]]
        ordered = sorted(values) if sort == "id" else sorted(values, key=int)
        assert values == (ordered[::-1] if sort == "support" else ordered)
    lines = run("rules", "m.truism.json", "--format", "jsonl")[0].splitlines()
    assert [json.loads(line) for line in lines] == every
    assert run("rules", "m.truism.json", "--contains", "no such text") == (
        "no rule matches.\n",
        "",
        0,
    )


def test_rules_are_switched_off_and_on_again(place):
    found = json.loads(run("check", "today.csv", "-m", "m.truism.json", "--format", "json")[0])
    blames = found["incidents"][0]["blames"]
    rule_id = next(each["rule"] for blame in blames for each in blame["reasons"] if each["rule"])
    rule = load_model("m.truism.json").rules.find(rule_id)
    before = Path("m.truism.json").read_bytes()
    arguments = ("--disable", rule_id, "--reason", "new pump")
    assert run("rules", "m.truism.json", *arguments) == (f"off  {rule_id}  {rule}\n", "", 0)
    disabled = load_model("m.truism.json").disabled
    assert [(each.rule_id, each.reason) for each in disabled] == [(rule_id, "new pump")]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", disabled[0].date)
    assert rule_id not in run("check", "today.csv", "-m", "m.truism.json", "--format", "json")[0]
    assert f"off since {disabled[0].date}: new pump" in run("rules", "m.truism.json", "--top", 0)[0]
    assert run("rules", "m.truism.json", "--enable", rule_id) == (f"on  {rule_id}  {rule}\n", "", 0)
    assert Path("m.truism.json").read_bytes() == before


def test_of_two_edits_at_once_none_is_lost(place):
    # Whoever comes second waits until the first has written, and edits what that wrote.
    script = (
        "import sys, time\nfrom truism.model import files\nfrom truism.cli import main\n"
        "load = files.load_model\n"
        "files.load_model = lambda place: (load(place), time.sleep(1))[0]\n"
        "main()"
    )
    ids = [rule.id for rule in load_model("m.truism.json").rules][:2]
    edits = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", script, "rules", "m.truism.json"),
                *("--disable", each, "--reason", "noise"),
            ],
            stdout=subprocess.DEVNULL,
        )
        for each in ids
    ]
    assert [edit.wait(timeout=120) for edit in edits] == [0, 0]
    assert {each.rule_id for each in load_model("m.truism.json").disabled} == set(ids)


def test_an_edit_of_a_file_that_was_replaced_meanwhile_is_refused(place, monkeypatch):
    rule_id = load_model("m.truism.json").rules[0].id
    replaced = Path("m.truism.json").read_bytes() + b"\n"

    def replacing(content):
        write_atomically("m.truism.json", replaced)
        return decode_model(content)

    monkeypatch.setattr(modelfiles, "decode_model", replacing)
    assert run("rules", "m.truism.json", "--disable", rule_id, "--reason", "noise") == (
        "",
        "Error: The model file 'm.truism.json' was changed by another program meanwhile.\n"
        "Hint: nothing was written; try again.\n",
        2,
    )
    assert Path("m.truism.json").read_bytes() == replaced


def test_an_edit_of_a_file_that_another_program_holds_is_refused(place, monkeypatch):
    rule_id = load_model("m.truism.json").rules[0].id
    monkeypatch.setattr("truism.table.atomic.PATIENCE", 0.05)
    with alone_with("m.truism.json"):
        assert run("rules", "m.truism.json", "--disable", rule_id, "--reason", "noise") == (
            "",
            "Error: The model file 'm.truism.json' is in use by another program.\n"
            "Hint: wait until that has finished.\n",
            2,
        )


def test_a_replaced_file_keeps_its_mode_and_other_names_are_told(place):
    rule_id = load_model("m.truism.json").rules[0].id
    Path("m.truism.json").chmod(0o600)
    os.link("m.truism.json", "backup")
    _, err, code = run("rules", "m.truism.json", "--disable", rule_id, "--reason", "noise")
    real = str(place / "m.truism.json")
    assert (err, code) == (
        f"Note: {real!r} was written anew: its other names (hard links) keep the old content.\n",
        0,
    )
    assert Path("m.truism.json").stat().st_mode & 0o777 == 0o600


def test_a_file_in_a_folder_that_cannot_be_written_is_refused_before_the_work(place, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != place)  # root may write all
    assert run("learn", "normal.csv", "-o", "m.truism.json") == (
        "",
        f"Error: 'm.truism.json' cannot be replaced: no file can be made in {str(place)!r}.\n"
        "Hint: files are written whole or not at all, which needs a new file beside the old one.\n",
        2,
    )


def test_export_to_markdown_and_json(place):
    out, err, code = run("export", "m.truism.json", "--to", "markdown")
    assert (err, code) == ("", 0)
    assert out.startswith("# What is always true\n\n")
    assert "| pump | categorical | off, on |\n" in out
    assert run("export", "m.truism.json", "--to", "json", "-o", "rules.json") == ("", "", 0)
    content = json.loads(Path("rules.json").read_text())
    assert content["format"] == "truism-rules"
    assert len(content["rules"]) == len(load_model("m.truism.json").rules)


def test_export_to_sql(place):
    out, err, code = run(
        *("export", "m.truism.json", "--to", "sql", "--dialect", "duckdb", "--table", "today")
    )
    assert (err, code) == ("", 0)
    with duckdb.connect() as database:
        database.execute("CREATE TABLE today AS SELECT * FROM read_csv('today.csv')")
        found = database.execute(out).fetchall()
    rules = {rule.id for rule in load_model("m.truism.json").rules}
    assert found
    assert {row[-4] for row in found} <= rules
    limited = ("--form", "paper", "--key", "pump", "--rules", 1, "-o", "score.sql")
    arguments = ("export", "m.truism.json", "--to", "sql", "--dialect", "spark", "--table", "p.t")
    out, err, code = run(*arguments, *limited)
    assert (out, code) == ("", 0)
    assert err.endswith("Note: So a row may score lower than in truism, never higher.\n")
    assert "\n  FROM p.t\n" in Path("score.sql").read_text()


@pytest.mark.parametrize(
    ("target", "start"),
    [
        ("dbt", "-- the rules that rows break"),
        ("great-expectations", '{\n  "name": "truism pumps",\n'),
        ("odcs", "apiVersion: v3.0.2\nkind: DataContract\n"),
    ],
)
def test_export_to_other_tools(place, target, start):
    arguments = ("--to", target, "--dialect", "duckdb", "--table", "pumps", "--rules", 2)
    out, err, code = run("export", "m.truism.json", *arguments)
    assert (err, code) == ("", 0)
    assert out.startswith(start)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--to", "sql", "--table", "t"),
            "An export to sql needs a dialect.\nHint: see --dialect.\n",
        ),
        (
            ("--to", "dbt", "--dialect", "spark"),
            "An export to dbt needs a table.\nHint: see --table.\n",
        ),
        (
            ("--to", "json", "--rules", 3),
            "An export to json takes no rules.\nHint: see --to.\n",
        ),
    ],
)
def test_an_export_that_is_asked_for_wrongly_is_refused(place, arguments, said):
    assert run("export", "m.truism.json", *arguments) == ("", f"Error: {said}", 2)


def test_plant_writes_its_files(place):
    out, err, code = run("plant", "--rows", "700", "--attacks", "--seed", "1", "-o", "new/plant")
    assert (err, code) == ("", 0)
    assert out == "new/plant/normal.csv\nnew/plant/attacked.csv\nnew/plant/attacks.json\n"
    normal, attacked = read(["new/plant/normal.csv"]).table, read(["new/plant/attacked.csv"]).table
    assert (normal.n_rows, attacked.n_rows) == (700, 700)
    assert normal.names == attacked.names
    assert normal.columns[0].kind == "time"
    (attack,) = json.loads(Path("new/plant/attacks.json").read_text())
    assert {"start", "end", "targets", "kind"} <= set(attack)
    assert 0 <= attack["start"] < attack["end"] <= 700
    assert set(attack["targets"]) <= set(normal.names)
    assert run("plant", "--rows", "5", "--format", "parquet", "-o", "p")[0] == "p/normal.parquet\n"
    assert read(["p/normal.parquet"]).table.n_rows == 5


def test_a_retuned_plant_is_the_same_up_to_that_row(place):
    plant = ("plant", "--rows", "700", "--attacks", "-o")
    assert run(*plant, "as-it-was") == (
        *("as-it-was/normal.csv\nas-it-was/attacked.csv\nas-it-was/attacks.json\n", "", 0),
    )
    assert run(*plant, "retuned", "--retuned", "100")[2] == 0
    for name in ("normal.csv", "attacked.csv"):
        before, after = (
            Path(folder, name).read_text().splitlines() for folder in ("as-it-was", "retuned")
        )
        assert before[:101] == after[:101]
        assert before != after
    assert Path("retuned/attacks.json").read_bytes() == Path("as-it-was/attacks.json").read_bytes()


def test_demo_tells_a_story_and_leaves_its_files(place, monkeypatch):
    from truism.cli import demo

    monkeypatch.setattr(demo, "N_ROWS", 800)
    monkeypatch.setattr(demo, "N_ATTACKED", 1800)
    out, err, code = run("demo", "d")
    assert (err, code) == ("", 0)
    titles = re.findall(r"^(\d  \S.*)$", out, re.MULTILINE)
    told = [
        "1  A water treatment plant at work",
        "2  What is always true of it",
        "3  Someone attacks it",
        "4  What truism found",
        "5  Your turn",
    ]
    assert [title for title in titles if title in told] == told
    assert any(" instead of " in title for title in titles)
    assert out.count("truth: ") >= 2
    assert re.search(r"\d of \d attacks\s+detected", out)
    commands = re.findall(r"^ +\S*truism (.*d/.*)$", out, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        assert run(*command.split())[2] in (0, 1)
    assert sorted(path.name for path in Path("d").iterdir()) == [
        *("attacked.csv", "attacks.json", "normal-1.csv", "normal-2.csv", "normal-3.csv"),
        *("normal-4.csv", "plant.truism.json", "quiet.csv", "report.html"),
    ]


FAILURES = [
    (
        ["learn", "no.csv", "-o", "n.json"],
        "Error: 'no.csv' cannot be read: No such file or directory.\n",
    ),
    (
        ["learn", "normal.csv", "-o", "no/n.json"],
        "Error: 'no/n.json' cannot be written: there is no directory 'no'.\n"
        "Hint: make it with mkdir -p 'no'.\n",
    ),
    (
        ["learn", "normal.csv", "-o", "normal.csv"],
        "Error: 'normal.csv' is both input and output.\n"
        "Hint: write to another file; inputs are never overwritten.\n",
    ),
    (["learn", "normal.csv", "-o", "."], "Error: '.' cannot be written: it is a directory.\n"),
    (
        ["learn", "normal.csv", "-o", "n.json", "--min-support", "2"],
        "Error: --min-support must be 'auto' or above 0 and below 1, got 2.0.\n",
    ),
    (
        ["learn", "normal.csv", "-o", "n.json", "--min-support", "much"],
        "Error: --min-support must be 'auto' or above 0 and below 1, got 'much'.\n",
    ),
    (
        ["learn", "normal.csv", "-o", "n.json", "--max-predicates", "1"],
        "Error: --max-predicates must be a whole number of at least 2, got 1.\n",
    ),
    (
        ["learn", "normal.csv", "-o", "n.json", "--threshold", "-1"],
        "Error: --threshold must be a finite number of at least 0, got -1.0.\n",
    ),
    (
        ["learn", "normal.csv", "-o", "n.json", "--ignore", "levle"],
        "Error: --ignore must name columns of the table, got 'levle'.\n"
        "Hint: did you mean 'level'?\n",
    ),
    (
        ["learn", "normal.csv", "-o", "n.json", "--continuous", "pump"],
        "Error: --continuous must name columns of numbers, got 'pump'.\nHint: it holds text.\n",
    ),
    (
        ["learn", "normal.csv", "-o", "n.json", "--delimiter", "::"],
        "Error: --delimiter must be one character, got '::'.\n",
    ),
    (
        ["learn", "one.csv", "-o", "n.json"],
        "Error: A table to learn from must have at least 2 rows, got 1 sample.\n",
    ),
    (
        ["learn", "count.csv", "-o", "n.json"],
        "Error: No column can be learned from ('a': whole numbers that count the rows).\n"
        "Hint: a rule needs at least one column of states or numbers; name the columns that hold "
        "them; see --categorical and --continuous.\n",
    ),
    (
        ["check", "today.csv", "-m", "normal.csv"],
        "Error: This is not a truism model file. (normal.csv)\n"
        "Hint: learn a model from normal rows, and save it.\n",
    ),
    (
        ["check", "today.csv", "-m", "no.json"],
        "Error: The model file 'no.json' cannot be read: No such file or directory.\n",
    ),
    (
        ["check", "fewer.csv", "-m", "m.truism.json"],
        "Error: Column 'flow' is missing from the table to score.\n"
        "Hint: the model was learned with 3 variables; did you mean 'flwo'? See --rename and "
        "--allow-missing.\n",
    ),
    (
        ["check", "text.csv", "-m", "m.truism.json"],
        "Error: 'text.csv', line 2: column 'flow' must hold a number, got 'v2.50'.\n"
        "Hint: see --missing.\n",
    ),
    (
        ["learn", "normal.csv", "-o", "n.truism.json", "--lookback", "soon"],
        "Error: --lookback must be 'auto', a number of rows, or a duration such as '10min', got "
        "'soon'.\n",
    ),
    (
        ["check", "today.csv", "-m", "m.truism.json", "--scores", "s.xlsx"],
        "Error: 's.xlsx' must end in .csv, .csv.gz, .parquet, .feather or .arrow.\n"
        "Hint: the ending decides the file format.\n",
    ),
    (
        ["check", "today.csv", "-m", "m.truism.json", "--report", "r.pdf"],
        "Error: The report's name must end in .html or .json, got 'r.pdf'.\n",
    ),
    (
        ["check", "today.csv", "-m", "m.truism.json", "--report", "today.csv"],
        "Error: The report's name must end in .html or .json, got 'today.csv'.\n",
    ),
    (
        ["check", "today.csv", "-m", "m.truism.json", "--label", "pump"],
        "Error: --label must not be a variable of the model, got 'pump'.\n"
        "Hint: learn again without that column.\n",
    ),
    (
        ["check", "today.csv", "-m", "m.truism.json", "--report", "r.html", "--label", "pum"],
        "Error: --label must name a column of the table, got 'pum'.\nHint: did you mean 'pump'?\n",
    ),
    (
        ["check", "today.csv", "-m", "m.truism.json", "--scores", "today.csv"],
        "Error: 'today.csv' is both input and output.\n"
        "Hint: write to another file; inputs are never overwritten.\n",
    ),
    (
        ["explain", "today.csv", "-m", "m.truism.json", "--row", "400"],
        "Error: --row must be at least 0 and below 400, the number of rows, got 400.\n",
    ),
    (
        ["rules", "m.truism.json", "--about", "pum"],
        "Error: --about must name a variable of the model, got 'pum'.\n"
        "Hint: did you mean 'pump'?\n",
    ),
    (
        ["rules", "m.truism.json", "--disable", "zzzzzzzz", "--reason", "x"],
        "Error: The model has no rule with id 'zzzzzzzz'.\n"
        "Hint: truism rules MODEL lists the ids.\n",
    ),
    (
        ["rules", "m.truism.json", "--disable", "zzzzzzzz"],
        "Error: --disable and --reason must be given together.\n"
        "Hint: say why, for those who read the model later.\n",
    ),
    (
        ["plant", "--rows", "5", "-o", "normal.csv"],
        "Error: 'normal.csv': File exists.\n",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), FAILURES, ids=range(len(FAILURES)))
def test_failures_are_a_sentence_and_exit_code_2(place, arguments, message):
    Path("one.csv").write_text("".join(table().splitlines(keepends=True)[:2]))
    Path("count.csv").write_text("a\n" + "".join(f"{i}\n" for i in range(20)))
    Path("fewer.csv").write_text(table().replace("flow", "flwo"))
    Path("text.csv").write_text(re.sub(r"(\d\.\d\d)", r"v\1", table()))
    before = {path: path.read_bytes() for path in place.iterdir()}
    assert run(*arguments) == ("", message, 2)
    assert {path: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chekc"], "Error: No such command 'chekc'."),
        (["check", "today.csv"], "Error: Missing option '-m' / '--model'."),
        (["learn", "-o", "x"], "Error: Missing argument 'DATA...'."),
        (["check", "a", "-m", "b", "--format", "xml"], "Error: Invalid value for '--format'"),
        (["plant", "--rows", "0", "-o", "x"], "Error: Invalid value for '--rows'"),
        (
            ["plant", "--rows", "9", "--retuned", "-1", "-o", "x"],
            "Error: Invalid value for '--retuned': -1 is not in the range x>=0.",
        ),
    ],
)
def test_usage_errors_are_exit_code_2(place, arguments, message):
    out, err, code = run(*arguments)
    assert (out, code) == ("", 2)
    assert message in err
    assert re.search(r"Try 'truism.* (-h|--help)' for help", err)  # click has said either


def test_version_and_help():
    assert run("--version") == ("truism 0.1.0\n", "", 0)
    for arguments in ([], *([name] for name in COMMANDS)):
        out, err, code = run(*arguments, "--help")
        assert (err, code) == ("", 0)
        assert "Usage: truism" in out
        assert "truism " in out.split("Options:")[1], "there are examples"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_they_say_of_themselves(name):
    command = app.get_command(None, name)
    assert command.help.split("\n\n")[0].replace("\n", " ") == COMMANDS[name]


def test_debug_shows_the_traceback_and_nothing_else_does(place):
    for arguments in (["--debug", "check"], ["check", "--debug"]):
        _, err, code = run(*arguments, "no.csv", "-m", "m.truism.json")
        assert code == 2
        assert err.startswith("Traceback (most recent call last)")
        assert err.endswith("Error: 'no.csv' cannot be read: No such file or directory.\n")


def test_a_fault_of_our_own_is_a_sentence_too(place, monkeypatch):
    def fail(*_):
        raise RuntimeError("this cannot be")

    monkeypatch.setattr("truism.cli.check.load_model", fail)
    assert run("check", "today.csv", "-m", "m.truism.json") == (
        "",
        "Error: Internal error: RuntimeError: this cannot be\n"
        "Hint: please report it, with the output of the same command with --debug.\n",
        2,
    )


def test_names_cannot_command_the_terminal(place):
    hostile = "\x1b[31mred\x07"
    Path("h.csv").write_text(table().replace("flow", hostile))
    Path("i.csv").write_text(table(wrong=(101,)).replace("flow", hostile))
    out, err, code = run("learn", "h.csv", "-o", "h.truism.json")
    assert code == 0
    for data in ("i.csv", "normal.csv"):
        more = run("check", data, "-m", "h.truism.json")
        out, err = out + more[0], err + more[1]
    assert "\x1b" not in out + err
    assert "\x07" not in out + err


def test_checking_rows_loads_neither_scikit_learn_nor_pandas(place):
    columns = "--ignore", "time"
    assert run("learn", "normal.csv", "-o", "rows.truism.json", *columns)[2] == 0
    script = (
        "import sys\nfrom truism.__main__ import main\n"
        "sys.argv = ['truism', 'check', 'today.csv', '-m', 'rows.truism.json']\n"
        "try: main()\n"
        "except SystemExit as end: code = end.code\n"
        "heavy = [name for name in ('pandas', 'sklearn') if sys.modules.get(name)]\n"
        "sys.exit(f'{code} {heavy}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stderr == "1 []\n"


def test_asking_for_the_version_loads_almost_nothing():
    script = (
        "import sys\nfrom truism.cli import app\n"
        "try: app.main(['--version'])\nexcept SystemExit: pass\n"
        "sys.exit(str(sorted({'numpy', 'pyarrow', 'narwhals'} & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.stderr == "[]\n"


def test_the_program_ends_with_the_right_code(place):
    done = program("check", "today.csv", "-m", "m.truism.json")
    assert (done.stdout, done.stderr, done.returncode) == (CHECKED, "", 1)
    done = program("check", "-", "-m", "m.truism.json", input=table())
    assert (done.stdout, done.returncode) == ("clean: none of 400 rows scores above 0.777.\n", 0)
    assert program("check", "no.csv", "-m", "m.truism.json").returncode == 2


def test_a_reader_that_goes_away_changes_nothing(place):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "truism", "check", "today.csv", "-m", "m.truism.json"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_exit_code_2(place):
    command = [sys.executable, "-m", "truism", "rules", "m.truism.json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    wanted = b"Error: Standard output cannot be written: No space left on device.\n"
    assert (done.returncode, done.stderr) == (2, wanted)


def test_interrupting_a_wait_ends_with_130(place):
    command = [sys.executable, "-m", "truism", "learn", "-", "-o", "n.truism.json"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        time.sleep(3)  # it waits for standard input
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stdout.read() == b""
        assert process.stderr.read().endswith(b"Error: Interrupted.\n")
    assert not Path("n.truism.json").exists()


def test_interrupting_the_writing_leaves_the_old_file_and_no_draft(place):
    Path("m.truism.json").write_text("old")
    script = (
        "import os, signal, sys, time\n"
        "from truism.cli import main\n"
        "os.replace = lambda *_: (os.kill(os.getpid(), signal.SIGINT), time.sleep(30))\n"
        "sys.argv = ['truism', 'learn', 'normal.csv', '-o', 'm.truism.json']\n"
        "main()"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr.endswith(b"Error: Interrupted.\n")
    assert Path("m.truism.json").read_text() == "old"
    assert sorted(path.name for path in place.iterdir()) == [
        *("m.truism.json", "normal.csv", "today.csv")
    ]


def watch(*arguments, env):
    """Run on a terminal of its own, and give all that it shows."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "truism", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", **env},
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(controller, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    process.wait()
    os.close(controller)
    return shown.decode()


def test_a_terminal_sees_colours_and_progress(place):
    shown = watch("learn", "normal.csv", "-o", "n.truism.json", env={"NO_COLOR": ""})
    assert "\x1b[1m" in shown
    for stage in ("reading", "trees", "mining", "contexts", "held-out rows"):
        assert stage in shown


def test_progress_says_pass_rows_and_remaining_time():
    from rich.progress import Progress, TextColumn

    with Progress(TextColumn("{task.description}"), disable=True) as bars:
        stages = screen._Stages(bars)
        for stage, done in (
            *(("first pass", 0), ("first pass", 400), ("first pass", 900), ("mining", 0)),
            *(("verifying pass", 0), ("verifying pass", 900)),
            *(("verifying pass", 0), ("verifying pass", 300), ("verifying pass", 600)),
        ):
            stages(stage, done, 900 if stage != "mining" else 0)
        shown = {each.description: each.fields["amount"] for each in bars.tasks}
    left = shown.pop("verifying pass 2")
    assert shown == {
        "first pass": "900 of 900 rows",
        "mining": "",
        "verifying pass": "900 of 900 rows",
    }
    assert re.fullmatch(r"0:00:0\d left, 600 of 900 rows", left)


def test_no_color_is_respected(place):
    shown = watch("check", "today.csv", "-m", "m.truism.json", env={"NO_COLOR": "1"})
    assert not re.search(r"\x1b\[[0-9;]*m", shown)


def test_the_width_adapts(place):
    for width in (60, 80, 120):
        out, _, _ = run("check", "today.csv", "-m", "m.truism.json", env={"COLUMNS": str(width)})
        assert max(len(line) for line in out.splitlines()) <= width


def test_how_an_export_was_read_is_said_beside_the_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["Zeit;pump;flow"]
    for i in range(300):
        on = i % 10 < 5
        flow = f"{2.5 + 0.01 * (i * 7 % 13):.2f}".replace(".", ",") if on else "0,00"
        clock = f"{13 + i // 144:02}.03.2014 {i // 6 % 24:02}:{i % 6}0"
        lines.append(f"{clock};{'on' if on else 'off'};{'Bad' if i == 77 else flow}")
    Path("export.csv").write_text("\n".join(lines) + "\n")
    out, err, code = run("learn", "export.csv", "-o", "m.truism.json")
    assert code == 0
    assert "continuous   1: flow" in out
    assert "'13.03.2014 00:00' is 2014-03-13 00:00:00; see --time-format." in err
    assert "'Bad' (once) is taken as missing, first in row 77." in err


def test_a_file_whose_name_is_no_text_is_read_and_reported(place):
    name = os.fsdecode(b"today\xff.csv")
    Path(name).write_bytes(Path("today.csv").read_bytes())
    for form in ("html", "json"):
        _, err, code = run("check", name, "-m", "m.truism.json", "--report", f"r.{form}")
        assert (code, err) == (1, f"Note: the report is in r.{form}.\n")
        assert "today\ufffd.csv" in Path(f"r.{form}").read_text(encoding="utf-8")


def test_a_reason_that_is_no_text_is_refused(place):
    rule_id = load_model("m.truism.json").rules[0].id
    reason = os.fsdecode(b"noise\xff")
    assert run("rules", "m.truism.json", "--disable", rule_id, "--reason", reason) == (
        "",
        "Error: --reason must be valid Unicode, got 'noise\\udcff'.\n",
        2,
    )


def test_names_that_a_spreadsheet_would_run_are_tamed_in_csv(place):
    text = table(wrong=(101,)).replace("flow", "=flow", 1).replace("time", "@time", 1)
    Path("bad.csv").write_text(text)
    Path("good.csv").write_text(table().replace("flow", "=flow", 1).replace("time", "@time", 1))
    run("learn", "good.csv", "-o", "n.json")
    out, _, code = run(
        *("check", "bad.csv", "-m", "n.json", "--format", "csv"),
        *("--scores", "s.csv", "--report", "r.html"),
    )
    assert code == 1
    assert ",'=flow," in out
    scores = Path("s.csv").read_text()
    assert scores.startswith('"row","\'@time",')
    assert '"\'=flow"' in scores
    run("check", "bad.csv", "-m", "n.json", "--scores", "s.parquet")
    assert "@time" in read(["s.parquet"]).table.names


@pytest.mark.parametrize("start", ["9999-12-31T23:59:00", "250000-01-01", "-5000-01-01"])
def test_years_beyond_the_calendar_are_written_as_text(place, start):
    minutes = np.datetime64(start, "s") + np.arange(100) * np.timedelta64(60, "s")
    frame = {"t": pa.array(minutes), "pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
    pq.write_table(pa.table(frame), "far.parquet")
    pq.write_table(pa.table({**frame, "flow": [2.5, 0.0] * 49 + [0.0, 0.0]}), "bad.parquet")
    assert run("learn", "far.parquet", "-o", "far.json")[2] == 0
    _, err, code = run(
        *("check", "bad.parquet", "-m", "far.json"), *("--scores", "s.csv", "--report", "r.html")
    )
    assert (code, err) == (1, "Note: the report is in r.html.\n")
    line = Path("s.csv").read_text().splitlines()[99]
    assert f'{str(minutes[98]).replace("T", " ")}",' in line


def test_a_threshold_that_no_drawing_holds_warns_nobody(place):
    out, err, code = run(
        *("check", "today.csv", "-m", "m.truism.json", "--threshold", "1e40"),
        *("--report", "r.html"),
    )
    assert (out, err, code) == (
        "clean: none of 400 rows scores above 1e+40.\n",
        "Note: the report is in r.html.\n",
        0,
    )


def test_too_little_memory_is_not_told_as_a_damaged_file(place, monkeypatch):
    pq.write_table(pa.table({"a": [1]}), "a.parquet")

    def fail(*_):
        raise pa.ArrowMemoryError("malloc of size 64 failed")

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", fail)
    assert run("learn", "a.parquet", "-o", "n.json") == (
        "",
        "Error: There is not enough memory.\nHint: use fewer rows or columns (--ignore).\n",
        2,
    )


@pytest.mark.parametrize("moment", ["truism.cli", "click", "rich.console", "truism.cli.learn"])
def test_interrupting_the_first_moments_is_a_sentence_too(moment):
    script = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {moment!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from truism.__main__ import main\n"
        "sys.argv = ['truism', 'learn', 'no.csv', '-o', 'x']\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    # After a command began, click ends the line on which a terminal shows ^C.
    assert (done.stdout, done.stderr.lstrip()) == ("", "Error: Interrupted.\n")
    assert done.returncode == 130


def test_learning_from_a_few_rows_says_first_that_they_are_too_few(place):
    (place / "few.csv").write_text("".join(f"{line}\n" for line in table().splitlines()[:21]))
    out, _, code = run("learn", "few.csv", "-o", "few.json")
    assert code == 0
    said = " ".join(out.split())
    assert said.startswith(
        "20 rows are too few to say what is always true: rules rest on a handful of rows, and fewer "
        "than 100 cannot show a false-alarm rate of 1 %. Trust only rules that you can confirm; learn "
        "again from 1,000 rows or more. Learned"
    )


def test_rules_sums_up_and_lists_what_is_behind(place):
    out, err, code = run("rules", "m.truism.json")
    assert (code, err) == (0, "")
    assert (
        out
        == """\
rules     rows  what is always true
2 rules    200  pump = off ⇔ flow < 1
oqyvmynp    40  level < 500.5 ⇒ pump = on

17 rules. ≈ marks what is joined or rounded. --about VAR lists the rules behind
a line, --top 0 all.
"""
    )
    out, _, _ = run("rules", "m.truism.json", "--about", "level")
    assert "oqyvmynp" in out


def test_counters_of_a_server_are_learned_as_changes_and_resets_are_no_incident(place):
    rng = np.random.default_rng(3)
    busy = np.round(50 + 30 * np.sin(np.arange(3000) / 40) + rng.normal(0, 4, 3000))
    columns = {
        "user": 40_000 + np.cumsum(busy),
        "idle": 9_000 + np.cumsum(100 - busy.clip(0, 99)),
        "forks": np.cumsum(rng.random(3000) < 0.02),
        "last_pid": 300 + np.cumsum(rng.integers(0, 40, 3000)) % 32_000,
        "load": (busy / 50 + rng.normal(0, 0.2, 3000)).round(2),
    }

    def write(place, rows, since=0):
        first = datetime.datetime(2026, 3, 1)
        lines = []
        for row in range(*rows):
            counts = [
                values[row] - (values[since] if 0 < since <= row and name != "load" else 0)
                for name, values in columns.items()
            ]
            time = first + datetime.timedelta(seconds=row)
            lines.append(",".join([str(time), *map(str, counts)]))
        Path(place).write_text("\n".join([",".join(["time", *columns]), *lines]) + "\n")

    write("train.csv", (0, 2000))
    out = run("learn", "train.csv", "-o", "m.json")[0]
    assert all(f"Δ{name}" in out for name in ("user", "idle", "forks", "last_pid"))
    found = []
    for since in (0, 2500):
        write("later.csv", (2000, 3000), since)
        out = run("check", "later.csv", "-m", "m.json", "--format", "json")[0]
        found.append([(one["start"], one["summary"]) for one in json.loads(out)["incidents"]])
    assert found[0] == found[1]
