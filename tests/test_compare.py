"""``truism compare`` and ``truism.compare``, whole output: screen, JSON, page, failures."""

import json
from pathlib import Path

import msgspec
import pytest

import truism
from test_cli import run, table
from truism.errors import ModelFileError, ParameterError
from truism.estimator import compare
from truism.model.files import load_model
from truism.review.compare import Comparison
from truism.table.files import read

ATTACKED = {*range(51, 54), *range(121, 124), *range(203, 205), *range(261, 264), *range(331, 334)}


def retuned():
    """The table after a change: more flow, no level, and a temperature."""
    lines = ["time,pump,flow,temperature"]
    for i, line in enumerate(table().splitlines()[1:]):
        time, pump, flow, _ = line.split(",")
        flow = float(flow) + (0.5 if pump == "on" else 0.0)
        lines.append(f"{time},{pump},{flow:.2f},{20 + i * 7 % 11 / 10:.1f}")
    return "\n".join(lines) + "\n"


def labelled():
    """A table that both models can check, with labels."""
    head, *lines = table(wrong=ATTACKED).splitlines()
    rows = [
        f"{line},{20 + i * 7 % 11 / 10:.1f},{int(i in ATTACKED)}" for i, line in enumerate(lines)
    ]
    return "\n".join([f"{head},temperature,attack", *rows]) + "\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    for name, content in (("old", table()), ("new", retuned()), ("labelled", labelled())):
        (folder / f"{name}.csv").write_text(content)
    for name in ("old", "new"):
        _, err, code = run(
            *("learn", folder / f"{name}.csv", "-o", folder / f"{name}.json", "--lookback", "0")
        )
        assert code == 0, err
        content = load_model(folder / f"{name}.json")
        made = msgspec.structs.replace(content.provenance, created="2024-05-01T10:00:00+00:00")
        truism.model.files.save_model(
            msgspec.structs.replace(content, provenance=made), folder / f"{name}.json"
        )
    return folder


@pytest.fixture
def place(models, tmp_path, monkeypatch):
    for each in models.iterdir():
        (tmp_path / each.name).write_bytes(each.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model_against_itself_has_nothing_to_show(place):
    assert run("compare", "old.json", "old.json") == ("The models are the same.\n", "", 0)
    on = ("--on", "labelled.csv", "--label", "attack", "--fail-if", "lost,new,worse")
    out, err, code = run("compare", "old.json", "old.json", *on)
    assert (out, code) == (SAME, 0)
    assert err == "Note: columns that neither model uses are ignored: 'temperature'.\n"


SAME = """\
The models are the same.
By 5 labelled segments: AUC 1.000 instead of 1.000, the same; segments found
1.000 instead of 1.000, the same; false alarms 0.000 instead of 0.000, the same.
Of 400 rows the old model reports 14 in 5 incidents, the new one 14 in 5
incidents; 0 of the old model alone, 0 of the new one alone.
"""


def test_what_differs_between_models(place):
    assert run("compare", "old.json", "new.json", "--top", "2") == (COMPARED, "", 0)


COMPARED = """\
Variables: 1 added, 1 gone.
Rules: 5 unchanged, 8 with other numbers (14 in the new model), 4 lost, 2 new.

Models
                 old               new
  training rows  400               400
  variables      3                 3
  rules          17                21
  threshold φ    0.777             0.753
  learned        2024-05-01 10:00  2024-05-01 10:00
  fingerprint    40ba7590          ccba5580
  model id       lsrbmtyg          m67jpwlg

Variables
  variable     old      new
  level        numeric  –
  temperature  –        numeric

Rules with other numbers
       rule                              rows  id
  was  2.525 ≤ flow < 2.565 ⇒ pump = on    60  dkjqw3pj
  was  1 ≤ flow < 2.505 ⇒ pump = on        16  ifz52dcr
  was  … and 4 more
  now  1 ≤ flow < 3.005 ⇒ pump = on        16  wjf23y4z
  now  3.005 ≤ flow < 3.015 ⇒ pump = on    16  dk4dvvhf
  now  … and 10 more
  was  flow ≥ 2.585 ⇒ pump = on            60  4qegfhuw
  now  flow ≥ 3.115 ⇒ pump = on            15  4lsuskqh
  and 1 more; --top 0 shows all.

Lost rules
  rule                                     rows  id
  level < 500.5 ⇒ pump = on                  40  oqyvmynp
  level ≥ 504.5 ⇒ flow < 1 and pump = off    40  rauyclfd
  and 2 more; --top 0 shows all.

New rules
  rule                                                    rows  id
  19.5491 ≤ temperature ≤ 21.4509 (20 to 21 in training)   400  onjril3k
  always temperature is present                            400  nh24k44l
"""


def test_what_differs_between_reports(place):
    out, err, code = run(
        "compare", "old.json", "new.json", "--on", "labelled.csv", "--label", "attack"
    )
    assert (err, code) == ("", 0)
    assert out[: out.index("\nVariables\n")] == REPORTED


REPORTED = """\
By 5 labelled segments: false alarms 0.482 instead of 0.000, worse; AUC 1.000
instead of 1.000, the same; segments found 1.000 instead of 1.000, the same.
Of 400 rows the old model reports 14 in 5 incidents, the new one 200 in 1
incident; 0 of the old model alone, 0 of the new one alone.
Variables: 1 added, 1 gone.
Rules: 5 unchanged, 8 with other numbers (14 in the new model), 4 lost, 2 new.

Models
                 old               new
  training rows  400               400
  variables      3                 3
  rules          17                21
  threshold φ    0.777             0.753
  learned        2024-05-01 10:00  2024-05-01 10:00
  fingerprint    40ba7590          ccba5580
  model id       lsrbmtyg          m67jpwlg

Reports  (14 rows of 400 reported by both)
                   old   new
  rows reported     14   200
  share of rows  3.5 %  50 %
  incidents          5     1

Labels  (14 labelled rows in 5 segments, column attack)
                    old    new  difference     95 % interval  verdict
  AUC             1.000  1.000      +0.000  +0.000 to +0.000  same
  segments found  1.000  1.000      +0.000  +0.000 to +0.000  same
  false alarms    0.000  0.482      +0.482  +0.469 to +0.495  old better

Incidents that both models report
  when                              old rows  old peak  new rows  new peak
  rows 0–394 · 2024-03-01 00:00:00        14      11.2       200      11.2
"""


def test_incidents_of_one_model_alone_are_shown_with_variables(place):
    Path("deaf.json").write_bytes(Path("old.json").read_bytes())
    model = load_model("old.json").with_threshold(1000.0)
    truism.model.files.save_model(model, "deaf.json")
    out, _, code = run(
        *("compare", "old.json", "deaf.json", "--on", "labelled.csv", "--top", "1"),
        *("--fail-if", "lost, new"),
    )
    assert code == 1
    assert ALONE in out
    _, err, code = run(
        "compare", "deaf.json", "old.json", "--on", "labelled.csv", "--fail-if", "lost"
    )
    assert (code, "--fail-if" in err) == (0, False)
    _, err, code = run(
        "compare", "deaf.json", "old.json", "--on", "labelled.csv", "--fail-if", "new,lost"
    )
    assert (code, err.splitlines()[-1]) == (1, "Note: --fail-if: new.")


ALONE = """\
Incidents that only the old model reports
  when                              rows  peak  blamed
  rows 51–53 · 2024-03-01 00:08:30     3  11.2  flow, pump
  and 4 more; --top 0 shows all.
"""


@pytest.mark.parametrize(("faults", "code"), [("lost", 1), ("new", 1), ("lost,new", 1), (None, 0)])
def test_without_rows_rules_are_lost_and_new(place, faults, code):
    options = () if faults is None else ("--fail-if", faults)
    assert run("compare", "old.json", "new.json", *options)[2] == code


def test_a_model_with_more_false_alarms_is_worse(place):
    options = ("--on", "labelled.csv", "--label", "attack", "--fail-if", "worse")
    assert run("compare", "old.json", "new.json", *options)[1:] == ("Note: --fail-if: worse.\n", 1)
    assert run("compare", "new.json", "old.json", *options)[1:] == ("", 0)


def test_json_holds_everything(place):
    out, err, code = run(
        "compare", "old.json", "new.json", "--on", "labelled.csv", "--format", "json"
    )
    assert (err, code) == ("Note: columns that neither model uses are ignored: 'attack'.\n", 0)
    content = json.loads(out)
    assert content["format"] == "truism-comparison"
    found = compare("old.json", "new.json", read(["labelled.csv"]).table)
    assert msgspec.json.encode(msgspec.json.decode(out, type=Comparison)) == msgspec.json.encode(
        found
    )


@pytest.mark.parametrize("form", ["table", "json", "html"])
def test_a_file_gets_what_the_screen_would(place, form):
    out, err, code = run("compare", "old.json", "new.json", "--format", form, "-o", "changes.out")
    assert (out, err, code) == ("", "", 0)
    content = Path("changes.out").read_text()
    if form != "table":
        assert run("compare", "old.json", "new.json", "--format", form)[0] == content
    assert "4 lost" in content


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["old.json", "labelled.csv"],
            "This is not a truism model file. (labelled.csv)\n"
            "Hint: learn a model from normal rows, and save it.",
        ),
        (
            ["none.json", "old.json"],
            "The model file 'none.json' cannot be read: No such file or directory.",
        ),
        (
            ["old.json", "new.json", "--on", "old.csv"],
            "The new model cannot be used on the table. Column 'temperature' is missing from the "
            "table to score.\nHint: the model was learned with 3 variables; see --rename.",
        ),
        (
            ["old.json", "new.json", "--on", "new.csv"],
            "The old model cannot be used on the table. Column 'level' is missing from the table to "
            "score.\nHint: the model was learned with 3 variables; see --rename.",
        ),
        (
            ["old.json", "new.json", "--label", "attack"],
            "--label must be given with --on, which names the labelled rows.",
        ),
        (
            ["old.json", "new.json", "--on", "labelled.csv", "--label", "atack"],
            "--label must name a column of the table, got 'atack'.\nHint: did you mean 'attack'?",
        ),
        (
            ["old.json", "new.json", "--fail-if", "gone"],
            "--fail-if must list some of 'lost', 'new', 'worse', got 'gone'.",
        ),
        (
            ["old.json", "new.json", "--fail-if", "worse", "--on", "labelled.csv"],
            "--fail-if worse must be given with --label.",
        ),
        (
            ["old.json", "new.json", "-o", "new.json"],
            "'new.json' is both input and output.\n"
            "Hint: write to another file; inputs are never overwritten.",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(place, arguments, message):
    assert run("compare", *arguments) == ("", f"Error: {message}\n", 2)


def test_python_takes_detectors_models_and_files(place):
    old, new = truism.load("old.json"), load_model("new.json")
    found = truism.compare(old, new)
    assert found == compare(Path("old.json"), "new.json")
    assert not found.same
    assert found.table is None
    assert str(found).startswith("Variables: 1 added, 1 gone.\n")


def test_python_compares_on_a_table_with_the_thresholds_that_detectors_have(place):
    rows = read(["labelled.csv"]).table
    old, new = truism.load("old.json"), truism.load("old.json")
    new.threshold = 1000.0
    found = compare(old, new, rows, "attack")
    assert (found.table.n_old, found.table.n_new) == (14, 0)
    assert [each.verdict for each in found.table.advantage.measures] == ["same", "worse", "same"]


def test_python_refuses_what_is_no_model(place):
    with pytest.raises(ParameterError) as raised:
        compare("old.json", 3)
    assert str(raised.value) == (
        "new must be a detector, a model or the name of a model file, got 'int'."
    )
    with pytest.raises(ParameterError, match=r"^label must be None where there is no table"):
        compare("old.json", "new.json", label="attack")
    with pytest.raises(ModelFileError):
        compare("old.csv", "new.json")
    with pytest.raises(truism.TableError, match=r"^X must be a table, not the name of a file"):
        compare("old.json", "new.json", "labelled.csv")
