"""Later files and frames are read as those that were learned, on the command line and in Python."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import truism
from test_cli import run
from truism.errors import SchemaError
from truism.model.files import load_model

MODEL = "m.truism.json"
STATES = {
    "code": ["12", "13", "A7"],
    "run": ["true", "false", "fault"],
    "shift": ["06:00", "14:00", "none"],
    "due": ["2014-03-01", "2014-03-02", "unknown"],
}


@pytest.fixture(autouse=True)
def _somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, n_rows=240, n_states=3, **changes):
    """Write columns that all follow one another, with some or all of their states."""
    columns = {
        name: [states[i % n_states] for i in range(n_rows)] for name, states in STATES.items()
    }
    columns["level"] = [f"{10 + 2.5 * (i % n_states) + 0.25 * (i % 4)}" for i in range(n_rows)]
    columns |= changes
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def learn(*arguments):
    out, err, code = run("learn", *arguments, "-o", MODEL)
    assert code == 0, err
    return out, err


def check(*arguments):
    return run("check", *arguments, "-m", MODEL)


def verdict(*arguments):
    return json.loads(check(*arguments, "--format", "json")[0])


# --- columns keep their kind ---


def test_a_file_without_the_odd_states_is_checked_as_what_it_is():
    learn(write("normal.csv"))
    assert load_model(MODEL).schema.names == ("code", "run", "shift", "due", "level")
    out, err, code = check(write("today.csv", 60, n_states=2))
    assert (out.splitlines()[-1].split(":")[0], err, code) == ("clean", "", 0)
    out, err, code = run("explain", "today.csv", "-m", MODEL, "--row", "3")
    assert (err, code) == ("", 0)
    assert run("calibrate", MODEL, "today.csv", "--max-false-positive-rate", "0.1")[2] == 0


def test_files_that_differ_are_learned_and_checked_together():
    learn(write("a.csv", 120, n_states=2), write("b.csv", 120, n_states=3))
    both = check(write("c.csv", 40, n_states=2), write("d.csv", 60, n_states=3))
    assert (both[1], both[2]) in (("", 0), ("", 1))
    assert check("c.csv")[2] == 0
    assert load_model(MODEL).schema.variable_of()["code"].values == ("12", "13", "A7")


def test_a_state_that_was_never_seen_is_an_anomaly_and_not_an_error():
    learn(write("normal.csv"))
    code = ["12", "13"] * 30
    code[7] = "99"
    today = write("today.csv", 60, n_states=2, code=code)
    found = verdict(today)
    assert [incident["peak"] for incident in found["incidents"]] == [7]
    assert found["incidents"][0]["blames"][0]["variable"] == "code"


def test_python_reads_frames_as_the_file_that_was_learned():
    learn(write("normal.csv"))
    write("today.csv", 60, n_states=2)
    detector = truism.load(MODEL)
    typed = pd.read_csv("today.csv", dtype={"run": str})
    assert typed["code"].dtype == np.int64
    texts = pd.read_csv("today.csv", dtype=str)
    for frame in (typed, texts, typed.to_dict("list")):
        assert detector.predict(frame).tolist() == [1] * 60
    assert np.array_equal(detector.anomaly_score(typed), detector.anomaly_score(texts))


def test_python_reads_frames_as_the_frame_that_was_learned():
    write("normal.csv")
    write("today.csv", 60, n_states=2)
    normal = pd.read_csv("normal.csv")
    assert normal["code"].dtype != np.int64
    detector = truism.InvariantRuleDetector().fit(normal)
    today = pd.read_csv("today.csv", dtype={"run": str})
    assert today["code"].dtype == np.int64
    assert detector.predict(today).tolist() == [1] * 60
    detector.save(MODEL)
    assert truism.load(MODEL).model_ == detector.model_
    assert check("today.csv")[2] == 0


def test_booleans_are_the_states_that_they_were():
    learn(write("normal.csv"))
    write("today.csv", 60, n_states=2)
    write("capitals.csv", run=[("TRUE", "FALSE", "fault")[i % 3] for i in range(240)])
    today = pd.read_csv("today.csv")
    assert today["run"].dtype == bool
    for detector in (
        truism.load(MODEL),
        truism.InvariantRuleDetector().fit(pd.read_csv("normal.csv")),
        truism.InvariantRuleDetector().fit(pd.read_csv("capitals.csv")),
    ):
        assert detector.predict(today).tolist() == [1] * 60
    texts = pd.read_csv("today.csv", dtype=str)
    same = truism.load(MODEL)
    assert np.array_equal(same.anomaly_score(today), same.anomaly_score(texts))


def test_python_names_the_value_that_cannot_be_read():
    detector = truism.InvariantRuleDetector().fit(pd.read_csv(write("normal.csv")))
    today = pd.read_csv(write("today.csv", 60, n_states=2), dtype={"run": str})
    with pytest.raises(SchemaError) as caught:
        detector.predict(today.assign(code=0.5))
    assert str(caught.value) == (
        "Column 'code' must hold text in row 0, got '0.5'.\n"
        "Hint: convert the column, or learn the model again."
    )
    level = today["level"].astype(object)
    level[5] = "Bad"
    with pytest.warns(UserWarning, match=r"'Bad' \(once\) is taken as missing, first in row 5\."):
        assert detector.predict(today.assign(level=level.astype(str))).shape == (60,)


def test_the_cell_that_cannot_be_read_is_named():
    learn(write("normal.csv"))
    level = [str(i % 5) for i in range(30)]
    level[11:] = [f"high{i}" for i in range(19)]
    out, err, code = check(write("today.csv", 30, level=level))
    assert (out, code) == ("", 2)
    assert err == (
        "Error: 'today.csv', line 13: column 'level' must hold a number, got 'high0'.\n"
        "Hint: see --missing.\n"
    )


def test_a_column_that_was_left_out_may_hold_anything():
    comments = [f"comment {i}" for i in range(240)]
    learn(write("normal.csv", comment=comments))
    assert [each.name for each in load_model(MODEL).schema.left_out] == ["comment"]
    today = write("today.csv", 60, n_states=2, comment=["06:00"] * 30 + ["7.5"] * 30)
    assert check(today)[1:] == ("", 0)
    frame = pd.read_csv(today, dtype={"run": str}).assign(comment=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (truism.load(MODEL).predict(frame) == 1).all()


# --- columns that are absent, or called otherwise ---


def without(name, *columns):
    pd.read_csv(name, dtype=str).drop(columns=list(columns)).to_csv("less.csv", index=False)
    return "less.csv"


def test_absent_columns_are_an_error_unless_they_are_allowed():
    learn(write("normal.csv"))
    less = without(write("today.csv", 60), "level", "due")
    assert check(less) == (
        "",
        "Error: Columns 'due', 'level' are missing from the table to score.\n"
        "Hint: the model was learned with 5 variables; see --rename and --allow-missing.\n",
        2,
    )
    _, err, code = check(less, "--allow-missing")
    assert code == 0
    assert err.startswith(
        "Warning: Columns 'due', 'level' are absent; everything that needs them is unknown: "
    )
    assert run("explain", less, "-m", MODEL, "--row", "0", "--allow-missing")[2] == 0
    wrong = pd.read_csv(less, dtype=str)
    wrong.loc[9, "code"] = "A7"
    wrong.to_csv("wrong.csv", index=False)
    found = verdict("wrong.csv", "--allow-missing")
    assert [incident["peak"] for incident in found["incidents"]] == [9]
    assert "level" not in json.dumps(found["incidents"])


def test_nothing_is_left_when_every_column_is_absent():
    learn(write("normal.csv"))
    Path("other.csv").write_text("x\n1\n2\n")
    assert check("other.csv", "--allow-missing")[2] == 2


def test_optional_columns_may_be_absent():
    learn(write("normal.csv"), "--optional", "level")
    _, err, code = check(without(write("today.csv", 60), "level"))
    assert code == 0
    assert err.startswith("Warning: Column 'level' is absent; everything that needs it is unknown")
    assert check(without("today.csv", "due"))[2] == 2
    assert check(without("today.csv", "due", "level"))[2] == 2
    assert run("learn", "normal.csv", "-o", "n.json", "--optional", "levle")[1] == (
        "Error: --optional must name columns of the table, got 'levle'.\n"
        "Hint: did you mean 'level'?\n"
    )


def test_columns_can_be_renamed():
    learn(write("normal.csv"))
    text = Path(write("today.csv", 60)).read_text().replace("level", "LT-1", 1)
    Path("today.csv").write_text(text.replace("due", "Due date", 1))
    assert check("today.csv")[2] == 2
    assert check("today.csv", "--rename", "LT-1=level", "--rename", "Due date=due")[1:] == ("", 0)
    Path("names.txt").write_text("# since June\nLT-1=level\nDue date=due\n")
    assert check("today.csv", "--rename-file", "names.txt")[1:] == ("", 0)
    assert check("today.csv", "--rename", "LT-2=level")[1] == (
        "Error: --rename must name columns of the table, got 'LT-2'.\nHint: did you mean 'LT-1'?\n"
    )
    assert check("today.csv", "--rename", "LT-1")[1] == (
        "Error: --rename must be OLD=NEW, got 'LT-1'.\n"
    )
    assert run("learn", "today.csv", "-o", MODEL, "--rename", "tank=LT-1")[1] == (
        "Error: --rename must be OLD=NEW, got 'tank=LT-1'.\n"
        "Hint: the table has 'LT-1': write LT-1=tank.\n"
    )
    learn("today.csv", "--rename", "LT-1=level", "--rename-file", "names.txt")
    assert check("today.csv")[1:] == ("", 0)
    assert check("normal.csv")[1:] == ("", 0)


def test_names_that_differ_only_by_case_or_blanks_are_names_of_their_own():
    lines = "".join(f"{i % 5},{i % 3}\n" for i in range(60))
    Path("normal.csv").write_text("Level,level\n" + lines)
    assert run("learn", "normal.csv", "-o", MODEL)[2] == 0
    out = run("rules", MODEL, "--about", "Level")[0]
    assert "Level" in out


# --- times ---


def clocks(n_rows=200, day=1, form="{day:02}.03.2014 {hour:02}:{minute:02}"):
    return [
        form.format(day=day + i // 144, hour=i // 6 % 24, minute=i % 6 * 10) for i in range(n_rows)
    ]


def test_dates_and_times_in_two_columns_say_when_together():
    date = clocks(form="{day:02}.03.2014")
    clock = clocks(form="{hour:02}:{minute:02}")
    write("normal.csv", 200, Date=date, Clock=clock)
    out, _ = learn("normal.csv", "--time", "Date,Clock")
    assert "time         Date Clock\n" in out
    assert load_model(MODEL).schema.time == "Date Clock"
    code = [STATES["code"][i % 3] for i in range(200)]
    code[150] = "12" if code[150] != "12" else "13"
    write("today.csv", 200, Date=date, Clock=clock, code=code)
    incident = verdict("today.csv")["incidents"][0]
    assert (incident["peak"], incident["peaked"]) == (150, "2014-03-02T01:00:00")


def test_python_joins_times_and_renames_columns_as_the_files_were():
    date = clocks(form="{day:02}.03.2014")
    clock = clocks(form="{hour:02}:{minute:02}")
    write("normal.csv", 200, Date=date, Clock=clock)
    learn("normal.csv", "--time", "Date,Clock", "--zone", "Europe/Vienna", "--rename", "level=LT1")
    detector = truism.load(MODEL)
    frame = pd.read_csv("normal.csv", dtype={"run": str})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (explained,) = detector.explain(frame, rows=[150])
    assert str(explained.time) == "2014-03-02 01:00:00+01:00"
    typed = frame.assign(Date=pd.to_datetime(frame["Date"], format="%d.%m.%Y"))
    typed["Clock"] = pd.to_datetime(frame["Clock"], format="%H:%M").dt.time
    (again,) = detector.explain(typed, rows=[150])
    assert again.time == explained.time
    with pytest.raises(SchemaError, match="Column 'Date' must hold a time in row 0, got 'never'"):
        detector.predict(frame.assign(Date="never"))


def test_a_statement_selects_both_columns_that_say_when():
    date, clock = clocks(form="{day:02}.03.2014"), clocks(form="{hour:02}:{minute:02}")
    write("normal.csv", 200, Date=date, Clock=clock)
    learn("normal.csv", "--time", "Date,Clock", "--lookback", "0")
    out, err, code = run("export", MODEL, "--to", "sql", "--dialect", "duckdb", "--table", "t")
    assert code == 0, err
    assert '"Date Clock"' not in out
    assert '"Date"' in out
    assert '"Clock"' in out


def test_a_stream_says_once_what_it_reads_with_doubts():
    learn(write("normal.csv"))
    frame = pd.read_csv("normal.csv", dtype=str)
    frame.loc[[1, 2, 130], "level"] = "broken"
    batches = pa.Table.from_pandas(frame).to_batches(max_chunksize=100)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = list(truism.arrow_scorer(MODEL)(batches))
    assert len(found) == 3
    (warning,) = said
    assert "'broken' (twice)" in str(warning.message)
    assert warning.filename == __file__


def test_a_column_of_times_that_cannot_be_read_is_an_error_with_its_line():
    when = clocks()
    when[40] = "soon"
    write("normal.csv", 200, when=when)
    assert run("learn", "normal.csv", "-o", MODEL, "--time", "when")[1] == (
        "Error: 'normal.csv', line 42: column 'when' must hold a time, got 'soon'.\n"
        "Hint: see --time-format.\n"
    )
    assert run("learn", "normal.csv", "-o", MODEL, "--time", "whne")[1] == (
        "Error: --time must name columns of the table, got 'whne'.\nHint: did you mean 'when'?\n"
    )


def test_a_format_of_times_can_be_said():
    when = clocks(100, form="{day:02}/03/2014 {hour:02}:{minute:02}")
    write("normal.csv", 100, when=when)
    learn("normal.csv", "--time", "when", "--time-format", "month first")
    assert load_model(MODEL).reading.column_of()["when"].style == "month first"
    assert run("learn", "normal.csv", "-o", MODEL, "--time-format", "%Q")[2] == 2


def test_a_model_without_times_is_told_which_column_says_when():
    learn(write("normal.csv", 200))
    code = [STATES["code"][i % 3] for i in range(200)]
    code[150] = "12" if code[150] != "12" else "13"
    write("today.csv", 200, when=clocks(), code=code)
    assert verdict("today.csv")["incidents"][0]["peaked"] is None
    found = verdict("today.csv", "--time", "when")
    assert found["incidents"][0]["peaked"] == "2014-03-02T01:00:00"


def test_times_are_shown_in_their_zone():
    write("normal.csv", 200, when=clocks(form="2014-07-{day:02}T{hour:02}:{minute:02}:00Z"))
    learn("normal.csv", "--zone", "Europe/Vienna")
    code = [STATES["code"][i % 3] for i in range(200)]
    code[3] = "12" if code[3] != "12" else "13"
    when = clocks(form="2014-07-{day:02}T{hour:02}:{minute:02}:00Z")
    write("today.csv", 200, when=when, code=code)
    incident = verdict("today.csv")["incidents"][0]
    assert incident["peaked"] == "2014-07-01T02:30:00+02:00"


# --- doubts ---


def test_doubts_are_loud_and_can_be_refused():
    level = [f"{i * 17 % 50 / 4}" for i in range(240)]
    level[33] = "hä"
    write("normal.csv", level=level)
    _, err = learn("normal.csv")
    sentence = "Column 'level' holds numbers; 'hä' (once) is taken as missing, first in row 33"
    assert err == f"Warning: {sentence}; see --categorical and --missing.\n"
    assert run("learn", "normal.csv", "-o", MODEL, "--strict")[1:] == (
        f"Error: {sentence}.\nHint: see --categorical and --missing.\n",
        2,
    )
    _, err = learn("normal.csv", "--strict", "--missing", "hä")
    assert err == ""
    assert check("normal.csv")[1] == ""


# --- no rows ---


@pytest.mark.parametrize("text", ["", "code,run,shift,due,level\n"])
def test_a_file_without_rows_is_not_called_clean(text):
    learn(write("normal.csv"))
    Path("today.csv").write_text(text)
    out, _, code = check("today.csv", "--report", "r.html", "--scores", "s.csv")
    assert (out, code) == ("nothing checked: there were no rows to check.\n", 0)
    assert run("learn", "today.csv", "-o", "n.json")[2] == 2


# --- columns that only count ---


def test_meters_are_learned_as_their_change():
    total = np.cumsum([i % 3 + 1 for i in range(240)]).astype(str).tolist()
    number = [str(100 + 3 * i) for i in range(240)]
    out, _ = learn(write("normal.csv", energy_total=total, record_id=number))
    model = load_model(MODEL)
    assert model.schema.names == (*STATES, "level", "Δenergy_total")
    assert model.derived == ("energy_total",)
    assert [str(each) for each in model.schema.left_out] == [
        "Column 'energy_total' is left out: a counter: whole numbers that only grow over 240 rows, "
        "and its name says so; its change 'Δenergy_total' is learned instead.",
        "Column 'record_id' is left out: running numbers: whole numbers that only grow over 240 "
        "rows, and its name says so.",
    ]
    assert "left out     energy_total: a counter: whole numbers that only grow" in out
    jump = [str(int(each) + 500 * (i > 30)) for i, each in enumerate(total)]
    found = verdict(write("today.csv", energy_total=jump, record_id=number))
    assert [incident["peak"] for incident in found["incidents"]] == [31]
    detector = truism.load(MODEL)
    assert detector.get_params()["delta"] is False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = detector.attribute(pd.read_csv("today.csv", dtype={"run": str}))
    assert detector.feature_names_in_[parts[31].argmax()] == "energy_total"
    learn("normal.csv", "--continuous", "energy_total", "--categorical", "record_id")
    assert {"energy_total", "record_id"} < {*load_model(MODEL).schema.names}
    learn("normal.csv", "--ignore", "energy_total")
    assert load_model(MODEL).derived == ()


def test_a_meter_alone_is_learned_by_its_change():
    total = np.cumsum([i % 3 + 1 for i in range(240)])
    detector = truism.InvariantRuleDetector().fit({"total": total})
    assert detector.model_.schema.names == ("Δtotal",)
    with pytest.raises(truism.TruismError, match="No column can be learned from"):
        truism.InvariantRuleDetector(ignore=["total"]).fit({"total": total})


def test_a_sensor_that_happens_to_rise_is_a_sensor():
    level = np.arange(400) // 2 + np.arange(400) // 3
    detector = truism.InvariantRuleDetector().fit({"level": level, "flow": level % 7})
    assert detector.model_.schema.names == ("level", "flow")
    assert detector.model_.derived == ()


def test_a_change_that_is_a_column_already_stays_it():
    total = np.cumsum([i % 3 + 1 for i in range(240)])
    change = np.append(0, np.diff(total))
    detector = truism.InvariantRuleDetector().fit({"total": total, "Δtotal": change})
    assert detector.model_.schema.names == ("Δtotal",)
    assert detector.model_.derived == ()
    assert "its change 'Δtotal' is a column already" in detector.model_.notices[0]
