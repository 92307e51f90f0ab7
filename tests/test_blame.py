"""The benchmark of blame, and the incidents for readers, on a small series whose fault is known."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import blame, reading, results
from benchmarks.markdown import method_title
from benchmarks.pages import render
from benchmarks.results import Finding, Results
from benchmarks.sections.blame import hits

N_ROWS, FAULT = 900, (200, 216)


def series(n_rows, seed):
    random = np.random.default_rng(seed)
    level = np.sin(np.arange(n_rows) / 9) + random.normal(0, 0.1, n_rows)
    return {
        "m1": level,
        "m2": 2 * level + random.normal(0, 0.1, n_rows),
        "m3": random.normal(20, 1, n_rows),
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder that holds one table, with the true variable of its only segment."""
    folder = tmp_path_factory.mktemp("data") / "timed"
    folder.mkdir()
    rows = series(400, 1)
    rows["m3"][slice(*FAULT)] += 30.0
    label = np.zeros(400, np.int64)
    label[slice(*FAULT)] = 1
    pq.write_table(pa.table(series(N_ROWS, 0)), folder / "smd_1_6_train.parquet")
    pq.write_table(pa.table({**rows, "label": label}), folder / "smd_1_6_test.parquet")
    line = f"smd_1_6,{FAULT[0]},{FAULT[1]},m3;m9"
    (folder / "root_causes.csv").write_text(f"table,start,end,variables\n{line}\n")
    return folder.parent


@pytest.fixture(scope="module")
def judged(data):
    (case,) = blame.find_cases(data, ["smd_1_6"])
    return list(blame.blame_all([case]))


def test_a_fault_is_blamed_on_its_variable_by_everybody(judged):
    assert [each.method for each in judged] == ["truism", *blame.PEERS]
    for each in judged:
        assert each.experiment == "blame"
        (finding,) = each.findings
        assert (finding.targets, finding.n_rows) == (("m3", "m9"), 16)
        # A variable that goes with no other has a component of its own, and leaves no residual.
        assert (finding.target_rank == 1) == (each.method != "pca_error"), each.method


def test_the_page_shows_each_method(judged):
    page = render(Results(results.environment(), interpretations=tuple(judged))).text
    assert f"| {method_title('truism')} | 1.00 / 1.00 |" in page
    assert "normal rows" not in page
    assert "Table 3" not in page


def test_results_of_blame_and_of_table_3_are_replaced_apart(judged, tmp_path):
    place = tmp_path / "results.jsonl"
    old = Results(results.environment(), interpretations=tuple(judged))
    results.write(old, place)
    assert results.read(place).interpretations == tuple(judged)
    nothing = Results(results.environment())
    assert results.merge(old, nothing, ["table3"]).interpretations == tuple(judged)
    assert results.merge(old, nothing, ["blame"]).interpretations == ()


def test_only_segments_that_are_told_count():
    finding = Finding("x", ("a",), 5, 1, target_rank=1)
    missed = Finding("x", ("a",), 5, 0)
    unknown = Finding("x", ("a",), 5, 1)
    assert hits([finding, missed, unknown]) == (2, 0.5, 0.5)
    assert hits([missed]) == (0, 0.0, 0.0)


def test_changes_count_as_their_variable():
    assert blame.merged([("Δa", 1.0), ("b", 1.5), ("a", 1.0)]) == {"a": 2.0, "b": 1.5}


def test_the_plant_has_every_attack_once():
    case = blame.plant_case(0, n_rows=50, n_attacked=3000)
    assert case.train.num_rows == 50
    assert {"time"} < set(case.test.column_names)
    assert len({each.name for each in case.segments}) == len(case.segments) > 0


def test_incidents_for_readers_do_not_tell_the_answers(data, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "N_FROM", {"smd_1_6": 1})
    assert reading.write_test(data, tmp_path) == 1
    text = (tmp_path / "incidents" / "incident-01.txt").read_text()
    assert text.startswith("1  ")
    assert "m3" in text
    assert "<html" in (tmp_path / "incidents" / "incident-01.html").read_text()
    (answer,) = json.loads((tmp_path / "answers" / "answers.json").read_bytes())
    assert answer["variables"] == ["m3", "m9"]
    assert (answer["first_row"], answer["last_row"]) == (200, 215)
    assert "m9" not in text
