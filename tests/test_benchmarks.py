"""The harness itself: loaders, encoding, metrics, cache, results, page, command line."""

import csv
import json
import re
import runpy
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import (
    cases,
    datasets,
    former,
    interpretability,
    metrics,
    paper,
    results,
    speed,
    swat,
    tables,
)
from benchmarks.__main__ import main
from benchmarks.conditions import count_conditions
from benchmarks.datasets import Kinds
from benchmarks.encode import fit_encoder
from benchmarks.experiments import Plan, run_all, usable_methods
from benchmarks.methods import METHOD_OF
from benchmarks.pages import Page, render
from benchmarks.results import Finding, Interpretation, Job, Outcome, Results, Run
from benchmarks.rules import RuleDetector
from benchmarks.runner import Cache, Known, Runner
from benchmarks.worker import _by_attack, vary

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TINY = "generated-300x6"
ACTUATORS = ("MV101", "P101", "P102")
SENSORS = ("FIT101", "LIT101")


# -- SWaT, as its owners distribute it ---------------------------------------------------------


def swat_rows(n_rows: int, *, attacked: bool) -> list[list[str]]:
    """P102 never moves; an attack is on from the middle, once misspelt."""
    rows = []
    for t in range(n_rows):
        label = "Normal"
        if attacked and t >= n_rows // 2:
            label = "A ttack" if t % 10 == 5 else "Attack"
        time = f" 22/12/2015 4:{t // 60:02}:{t % 60:02} PM"
        rows.append([time, f"{t * 0.5}", f"{500 + t}", f"{1 + t // 5 % 2}", "2", "1", label])
    return rows


def write_swat(folder: Path, stem: str, rows: list[list[str]], style: str) -> None:
    names = ["FIT101", "LIT101", *ACTUATORS[:1], "P101", "P102"]
    plain = ["Timestamp", *names, "Normal/Attack"]
    titled = [" Timestamp", "FIT101", "LIT101", " MV101", "P101", " P102", "Normal/Attack"]
    lines = [plain] if style == "plain" else [["", "P1", "", "", "", "", ""], titled]
    with (folder / f"{stem}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([*lines, *rows])


def write_swat_excel(folder: Path, stem: str, rows: list[list[str]]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append([None, "P1"])
    book.active.append(
        [" Timestamp", "FIT101", "LIT101", " MV101", "P101", " P102", "Normal/Attack"]
    )
    for row in rows:
        book.active.append([row[0], *(float(cell) for cell in row[1:-1]), row[-1]])
    book.save(folder / f"{stem}.xlsx")


@pytest.mark.parametrize("style", ["plain", "titled", "excel"])
def test_swat_is_read_in_every_style_its_owners_use(tmp_path: Path, style: str) -> None:
    normal, attack = swat_rows(52, attacked=False), swat_rows(41, attacked=True)
    for row in normal:
        row[4] = "2" if int(float(row[2])) % 3 else "1"
    for stem, rows in (("SWaT_Dataset_Normal_v1", normal), ("SWaT_Dataset_Attack_v0", attack)):
        if style == "excel":
            write_swat_excel(tmp_path, stem, rows)
        else:
            write_swat(tmp_path, stem, rows, style)

    dataset = datasets.load("swat", tmp_path)

    assert dataset.train.num_rows == 11
    assert dataset.test.num_rows == 9
    assert dataset.label.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert dataset.kinds.continuous == ("FIT101", "LIT101", "ΔFIT101", "ΔLIT101")
    assert dataset.kinds.categorical == ("MV101", "P101"), "P102 never moves in training"
    assert dataset.time == "Timestamp"
    assert datasets.column(dataset.train, "LIT101").tolist()[:3] == [500.0, 505.0, 510.0]
    assert datasets.column(dataset.train, "ΔLIT101").tolist() == [5.0] * 11
    assert set(dataset.variables) == {*dataset.kinds.continuous, *dataset.kinds.categorical}


def test_swat_row_counts_of_the_paper_follow_from_every_fifth_row() -> None:
    assert len(range(496_800)[:: swat.STEP]) == paper.TABLE_1["swat"].train_rows
    assert len(range(449_919)[:: swat.STEP]) == paper.TABLE_1["swat"].test_rows


def test_swat_with_semicolons_and_decimal_commas_is_read(tmp_path: Path) -> None:
    lines = ["Timestamp;FIT101;P101;Normal/Attack", "1/1;2,5;1;Normal", "1/2;2,5;1;Normal"]
    for stem in ("SWaT_Dataset_Normal_v0", "SWaT_Dataset_Attack_v0"):
        (tmp_path / f"{stem}.csv").write_text("\n".join(lines))
    assert datasets.column(datasets.load("swat", tmp_path).train, "FIT101").tolist() == [2.5]


def test_missing_swat_is_named(tmp_path: Path) -> None:
    with pytest.raises(datasets.DataMissingError, match=r"SWaT_Dataset_Normal_v1\.csv or \.xlsx"):
        datasets.load("swat", tmp_path)


# -- loaders and encoding ----------------------------------------------------------------------


def write_parquet(folder: Path) -> None:
    """A stand-in for a paper table: types differ between the files, as in BATADAL."""
    from pyarrow import parquet

    train = {"state": pa.array([0, 1, 0, 1] * 5, pa.int8()), "level": np.arange(20.0)}
    test = {
        "state": [0.0, 1.0, 2.0],
        "level": [1.5, 2.5, 99.0],
        "label": pa.array([0, 1, 1], pa.int8()),
        "in_paper_test": [True, False, True],
    }
    parquet.write_table(pa.table(train), folder / "cardio_train.parquet")
    parquet.write_table(pa.table(test), folder / "cardio_test.parquet")


def test_parquet_tables_keep_the_papers_rows_and_only_variables(tmp_path: Path) -> None:
    write_parquet(tmp_path)
    dataset = datasets.load("cardio", tmp_path)
    assert dataset.train.column_names == dataset.test.column_names == ["state", "level"]
    assert dataset.train.schema == dataset.test.schema
    assert dataset.label.tolist() == [0, 1]
    assert dataset.kinds == Kinds(categorical=("state",), continuous=("level",))
    assert datasets.available(tmp_path) == ("cardio",)


def test_encoding_learns_from_the_training_table_only() -> None:
    train = pa.table({"u": ["a", "b", "a"], "x": [0.0, 5.0, 10.0], "c": [3.0, 3.0, 3.0]})
    test = pa.table({"u": ["b", "z", "a"], "x": [20.0, 0.0, 5.0], "c": [3.0, 4.0, 3.0]})
    kinds = Kinds(categorical=("u",), continuous=("x", "c"))
    encoded = fit_encoder(train, kinds, "minmax").encode(test)
    assert encoded.tolist() == [[0, 1, 2, 0], [0, 0, 0, 1], [1, 0, 0.5, 0]]
    assert fit_encoder(train, kinds, "codes").encode(test)[:, 0].tolist() == [1, -1, 0]
    standard = fit_encoder(train, kinds, "standard").encode(train)[:, 2]
    assert standard.mean() == pytest.approx(0)
    assert standard.std() == pytest.approx(1)


def test_missing_values_are_encoded_as_the_training_mean_or_no_category() -> None:
    train = pa.table({"x": [0.0, None, 4.0], "u": ["a", None, "b"]})
    encoder = fit_encoder(train, Kinds(("u",), ("x",)), "minmax")
    assert encoder.encode(train).tolist() == [[0.0, 1.0, 0.0], [0.5, 0.0, 0.0], [1.0, 0.0, 1.0]]


def test_binned_tables_are_all_categorical() -> None:
    dataset = datasets.load(f"binned-{TINY}")
    assert dataset.kinds.continuous == ()
    assert all(len(set(dataset.train[name].to_pylist())) <= 5 for name in dataset.variables)


def test_every_class_of_a_bundled_table_is_the_anomaly_once() -> None:
    wine = [datasets.load(f"bundled-wine-{number}") for number in range(3)]
    assert [int(each.label.sum()) for each in wine] == [59, 71, 48]
    assert all(each.train.num_rows + each.test.num_rows == 178 for each in wine)
    diabetes = datasets.load("bundled-diabetes-0")
    assert 0.08 < diabetes.label.sum() / 442 < 0.1
    assert diabetes.kinds.categorical == ()


def test_kinds_of_bundled_tables_are_left_to_the_detector(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}
    fake = SimpleNamespace(InvariantRuleDetector=asked.update)
    monkeypatch.setitem(sys.modules, "truism", fake)  # type: ignore[arg-type]
    METHOD_OF["truism"].make(datasets.load("bundled-iris-0"), "none", 0, {})
    assert asked["categorical"] == asked["continuous"] == ()


def test_a_whole_table_keeps_every_anomaly_and_names_the_attacks(tmp_path: Path) -> None:
    write_parquet(tmp_path)
    meta = pa.table({"attack_type": ["normal", "smurf", "neptune"]})
    test = pq.read_table(tmp_path / "cardio_test.parquet")
    assert test.num_rows == 3, "one row is not among those the paper drew"
    pq.write_table(meta, tmp_path / "cardio_test_meta.parquet")
    whole = datasets.load("whole-cardio", tmp_path)
    assert whole.test.num_rows == 3
    assert whole.attack is not None
    assert whole.attack.tolist() == ["normal", "smurf", "neptune"]
    assert datasets.load("cardio", tmp_path).attack is None


def test_each_attack_is_measured_against_all_normal_rows() -> None:
    dataset = replace(
        datasets.load(TINY),
        label=np.array([0, 0, 1, 1, 1], dtype=np.int8),
        attack=np.array(["", "", "a", "b", "b"]),
    )
    scores = np.array([0.0, 1.0, 0.5, 2.0, 3.0])
    found = [(each.attack, each.n_rows, each.auc) for each in _by_attack(dataset, scores)]
    assert found == [("b", 2, 1.0), ("a", 1, 0.5)]


# -- metrics and tables ------------------------------------------------------------------------


def test_ranks_of_the_papers_table_2_come_out_as_printed() -> None:
    auc = {name: {m: cell.auc for m, cell in row.items()} for name, row in paper.TABLE_2.items()}
    pauc = {name: {m: cell.pauc for m, cell in row.items()} for name, row in paper.TABLE_2.items()}
    for method, printed in paper.MEAN_RANKS.items():
        assert metrics.mean_ranks(auc)[method] == pytest.approx(printed.auc, abs=0.006)
        assert metrics.mean_ranks(pauc)[method] == pytest.approx(printed.pauc, abs=0.006)


def test_a_perfect_score_has_auc_one_and_a_constant_score_one_half() -> None:
    label = np.array([0, 0, 1, 1], dtype=np.int8)
    assert metrics.auc(label, label.astype(float)) == 1.0
    assert metrics.partial_auc(label, np.zeros(4)) == 0.5


def run(method: str, auc: float, *, dataset: str = "cardio", **job: object) -> Run:
    wanted = replace(Job(dataset, method), **job)  # type: ignore[arg-type]
    return Run("table2", wanted, Outcome(auc=auc, pauc=auc, fit_seconds=1.0, choice="θ = 0.1"))


def found(*runs: Run) -> Results:
    return Results(results.environment(), runs=runs)


def test_every_method_is_shown_in_its_better_scaling_averaged_over_seeds() -> None:
    measured = found(
        run("knn", 0.8, scaling="minmax"),
        run("knn", 0.9, scaling="standard"),
        run("iforest", 0.7, seed=0),
        run("iforest", 0.8, seed=1),
    )
    best = tables.best_cells(tables.all_cells(measured))["cardio"]
    assert best["knn"].scaling == "standard"
    assert best["iforest"].auc == pytest.approx(0.75)
    assert best["iforest"].auc_sd == pytest.approx(0.05)


def test_a_difference_from_the_paper_without_a_reason_is_shown_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(paper, "EXPLANATIONS", {})
    monkeypatch.setattr(paper, "WHY_METHOD", {})
    page = render(found(run("lof", 0.5), run("iforest", 0.945)))
    assert "| cardio | LOF | 0.500/0.500 | 0.92/0.75 | not explained yet |" in page.text


def test_the_best_of_the_grid_stands_beside_the_papers_rule_without_a_rank() -> None:
    points = [
        replace(
            run("paper", auc, settings=(("min_support", theta), ("support_ratio", 0.3))),
            experiment="grid",
        )
        for theta, auc in ((0.01, 0.96), (0.02, 0.91))
    ]
    text = render(found(run("paper", 0.9), run("knn", 0.8), *points)).text
    for line in (
        "|  | paper's method | paper's method, best of the grid | KNN |",
        "| cardio | 0.900/0.900 | 0.960/0.960 | 0.800/0.800 |",
        "| · the paper | 0.95/0.88 | 0.95/0.88 | – |",
        "| **mean rank** | 1.00/1.00 | – | 2.00/2.00 |",
    ):
        assert line in text


# -- runner, cache, results --------------------------------------------------------------------


def test_a_finished_job_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cache.jsonl"
    job = Job(TINY, "knn", "minmax")
    first = Runner(None, Cache(path), isolated=False).run("table2", [job])
    monkeypatch.setattr("benchmarks.runner.measure", lambda _: pytest.fail("measured again"))
    assert Runner(None, Cache(path), isolated=False).run("table2", [job]) == first
    assert json.loads(path.read_text())["job"]["method"] == "knn"


def test_a_new_version_of_a_library_voids_what_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = Runner(None, Cache(tmp_path / "cache.jsonl"), isolated=False)
    runner.run("table2", [Job(TINY, "knn", "minmax")])
    monkeypatch.setattr("benchmarks.runner.package_version", lambda _: "99")
    runner.run("table2", [Job(TINY, "knn", "minmax")])
    assert len((tmp_path / "cache.jsonl").read_text().splitlines()) == 2


def test_a_job_in_its_own_process_gives_the_same_scores() -> None:
    job = Job(TINY, "knn", "standard")
    (apart,) = Runner(None, Cache()).run("table2", [job])
    (here,) = Runner(None, Cache(), isolated=False).run("table2", [job])
    assert apart.outcome.error == ""
    assert apart.outcome.auc == here.outcome.auc
    assert apart.outcome.extra_mb >= 0


def test_a_cache_keeps_the_newest_outcome_of_each_job(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.jsonl")
    other, again = run("lof", 0.7), run("knn", 0.9)
    for key, each in (("old", run("knn", 0.8)), ("other", other), ("new", again)):
        cache.add(Known(key, each.experiment, each.job, each.outcome))
    cache.compact()
    assert Cache(cache.path).outcome_of == {"other": other.outcome, "new": again.outcome}


def test_a_failing_job_leaves_its_message_and_is_not_remembered(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.jsonl")
    (failed,) = Runner(None, cache).run(
        "mining", [Job(TINY, "mlxtend", settings=(("min_support", 0),))]
    )
    assert "min_support" in failed.outcome.error
    assert cache.outcome_of == {}


def test_a_failing_job_does_not_end_a_run_in_this_process() -> None:
    jobs = [Job(TINY, "mlxtend", settings=(("min_support", 0),)), Job(TINY, "knn")]
    failed, done = Runner(None, Cache()).run("grid", jobs, isolated=False)
    assert failed.outcome.error.startswith("ValueError: ")
    assert done.outcome.error == ""


def test_training_rows_are_thinned_as_asked() -> None:
    dataset = datasets.load(TINY)
    assert vary(dataset, Job(TINY, "knn", share=0.5)).train.num_rows == 150
    assert vary(dataset, Job(TINY, "knn")).train is dataset.train


@pytest.mark.parametrize(("contamination", "n_mixed"), [(0.01, 3), (0.5, 8)])
def test_mixed_in_anomalies_leave_the_test_table_and_half_of_them_stay(
    contamination: float, n_mixed: int
) -> None:
    dataset = datasets.load(TINY)
    n_anomalies = int(dataset.label.sum())
    assert n_anomalies // 2 == 8
    dirty = vary(dataset, Job(TINY, "knn", contamination=contamination))
    assert dirty.train.num_rows == 300 + n_mixed
    assert dirty.test.num_rows == len(dirty.label) == 200 - n_mixed
    assert dirty.label.sum() == n_anomalies - n_mixed
    kept = [row for row in dirty.train.to_pylist() if row in dataset.train.to_pylist()]
    assert kept == dataset.train.to_pylist(), "normal rows keep their order"
    assert dirty.train.slice(0, 300) != dataset.train, "anomalies are not all at the end"


def test_results_survive_the_file(tmp_path: Path) -> None:
    measured = found(run("knn", 0.8, scaling="minmax", settings=(("min_support", 0.1),)))
    results.write(measured, tmp_path / "r.jsonl")
    assert results.read(tmp_path / "r.jsonl") == measured
    results.write(everything(), tmp_path / "new" / "r.jsonl")
    assert results.read(tmp_path / "new" / "r.jsonl") == everything()


def test_a_results_file_has_a_line_for_each_record(tmp_path: Path) -> None:
    measured = everything()
    results.write(measured, tmp_path / "r.jsonl")
    first, *others = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert first.keys() == {"format", "environment"}
    kinds = [next(iter(line)) for line in others]
    assert kinds == ["shape", *["run"] * len(measured.runs), "interpretation"]


def test_measurements_of_speed_that_are_not_repeated_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "speed.jsonl"
    first = [speed.Measurement(name, "m", "2", {"rules": 1}) for name in ("rows", "learning")]
    speed.write(first, path)
    speed.write([speed.Measurement("rows", "m", "2", {"rules": 3})], path)
    assert [(each.measurement, each.figures) for each in speed.read(path).values()] == [
        ("learning", {"rules": 1}),
        ("rows", {"rules": 3}),
    ]


def test_comparisons_with_a_former_program_are_kept_task_by_task(tmp_path: Path) -> None:
    path = tmp_path / "results" / "former.jsonl"
    first, *_, last = former.TASKS
    for task, now in ((last, 5.0), (first, 4.0), (last, 2.0)):
        former.write(former.Comparison(task, "abc", 1, 10.0, now, 10.0 / now), path)
    found = former.read(path)
    assert [*found] == [first, last]
    assert found[last].times_as_fast == 5.0


def test_compare_names_what_changed_and_nothing_else() -> None:
    old = found(run("knn", 0.8), run("lof", 0.7), run("pca", 0.5))
    new = found(run("knn", 0.85), run("lof", 0.7), run("hbos", 0.5))
    new = replace(new, environment=replace(new.environment, versions={"numpy": "9"}))
    old = replace(old, environment=replace(old.environment, versions={"numpy": "8"}))
    assert list(results.compare(old, new)) == [
        "version of numpy: 8 -> 9",
        "gone: table2: cardio pca seed=0",
        "new: table2: cardio hbos seed=0",
        "table2: cardio knn seed=0: auc 0.800 -> 0.850 (+0.050)",
        "table2: cardio knn seed=0: pauc 0.800 -> 0.850 (+0.050)",
    ]


def test_merging_keeps_experiments_that_were_not_run_again() -> None:
    old = found(run("knn", 0.8), replace(run("lof", 0.1), experiment="speed"))
    new = found(run("knn", 0.9))
    merged = results.merge(old, new, ["table2"])
    assert {(r.experiment, r.outcome.auc) for r in merged.runs} == {("speed", 0.1), ("table2", 0.9)}


def test_merging_puts_a_run_in_the_place_of_the_old_one() -> None:
    old = found(run("knn", 0.8), run("lof", 0.7), run("pca", 0.6))
    merged = results.merge(old, found(run("lof", 0.9), run("hbos", 0.5)), [])
    assert [r.outcome.auc for r in merged.runs] == [0.8, 0.9, 0.6, 0.5]


def test_merging_replaces_only_the_interpretations_that_were_made_again() -> None:
    def judged(method: str, rate: float) -> Interpretation:
        return Interpretation("plant", method, "", 0, rate, ())

    old = replace(found(), interpretations=(judged("paper", 0.2), judged("ecod", 0.1)))
    new = replace(found(), interpretations=(judged("paper", 0.3),))
    merged = results.merge(old, new, [])
    assert [(i.method, i.false_alarm_rate) for i in merged.interpretations] == [
        ("paper", 0.3),
        ("ecod", 0.1),
    ]
    assert results.merge(old, new, ["table3"]).interpretations == new.interpretations


def test_merging_keeps_the_version_of_a_package_that_is_absent_now() -> None:
    old, new = found(), found()
    old.environment.versions.update(torch="2.0", numpy="1")
    new.environment.versions.update(torch="absent", numpy="2")
    versions = results.merge(old, new, []).environment.versions
    assert (versions["torch"], versions["numpy"]) == ("2.0", "2")


# -- interpretability --------------------------------------------------------------------------


def explanation(variable: str, rule: str) -> SimpleNamespace:
    reason = SimpleNamespace(rule=rule, penalty=1.0)
    blame = SimpleNamespace(variable=variable, share=1.0, reasons=(reason,))
    return SimpleNamespace(score=2.0, blames=(blame,))


def test_segments_are_judged_by_rules_and_by_blame() -> None:
    rule_of = {
        "r1": SimpleNamespace(variables=("A", "ΔLIT101")),
        "r2": SimpleNamespace(variables=("P1", "B")),
    }
    level = cases.Segment("level", 0, 5, ("LIT101",))
    pump = cases.Segment("pump", 5, 9, ("P1",))

    first = interpretability.interpret(
        level, [explanation("ΔLIT101", "r1")] * 2, [explanation("ΔLIT101", "r1")], rule_of
    )
    assert (first.n_reported, first.target_rank, first.target_in_rule) == (2, 1, True)
    second = interpretability.interpret(
        pump, [explanation("B", "r2")], [explanation("B", "r2")], rule_of
    )
    assert (second.n_reported, second.target_rank, second.target_in_rule) == (1, None, True)
    third = interpretability.interpret(pump, [], [], rule_of)
    assert (third.n_reported, third.n_rules, third.target_in_rule) == (0, 0, False)


def test_a_reason_that_is_no_rule_counts_as_blame_only() -> None:
    segment = cases.Segment("level", 0, 5, ("LIT101",))
    found = interpretability.interpret(
        segment, [explanation("LIT101", "")], [explanation("LIT101", "")], {}
    )
    assert (found.n_rules, found.rules, found.target_in_rule) == (0, (), False)
    assert found.target_rank == 1


def test_peers_are_judged_by_what_each_variable_adds_to_their_scores() -> None:
    rng = np.random.default_rng(0)
    names = ("A", "B", "ΔB")
    made = {name: rng.normal(size=900) for name in names}
    made["ΔB"][820:840] = 20.0
    made["A"][860:880] = 20.0
    whole = pa.table(made)
    segments = (cases.Segment("rate", 820, 840, ("B",)), cases.Segment("other", 860, 880, ("C",)))
    case = cases.Case(
        "made", whole.slice(0, 500), whole, whole.slice(500, 300), segments, Kinds((), names)
    )
    judged = interpretability.interpret_peer(case, "ecod", "none")
    assert all(f.n_reported > 0 for f in judged.findings)
    assert [f.target_rank for f in judged.findings] == [1, None]
    assert judged.false_alarm_rate == pytest.approx(0.01)
    assert judged.n_rules == 0


def finding(segment: str, n_reported: int, rank: int | None) -> Finding:
    return Finding(segment, ("P1",), 100, n_reported, 0, (), False, rank)


def test_hits_are_counted_over_attacks_that_can_be_seen() -> None:
    seen = finding("a", 50, 1), finding("b", 5, 4), finding("c", 2, None)
    blind = finding("a", 90, 3), finding("b", 0, None), finding("c", 90, 1)
    quiet = Interpretation("plant", "ecod", "", 0, 0.01, seen)
    noisy = Interpretation("plant", "paper", "", 9, 0.3, blind)
    assert tables.detectable([quiet, noisy]) == {"a", "b"}
    ours, theirs = tables.better_hits([quiet, noisy])
    assert (ours.n_attacks, ours.n_reported, ours.first, ours.in_three) == (2, 2, 0.5, 0.5)
    assert ours.reciprocal == pytest.approx((1 + 1 / 4) / 2)
    assert (theirs.n_reported, theirs.first, theirs.in_three) == (1, 0.0, 0.5)


def test_a_peer_is_shown_in_the_preparation_that_names_targets_better() -> None:
    first = Interpretation("plant", "ecod", "", 0, 0.01, (finding("a", 50, 2),), "codes")
    second = Interpretation("plant", "ecod", "", 0, 0.01, (finding("a", 50, 1),), "none")
    (shown,) = tables.better_hits([first, second])
    assert shown.interpretation.scaling == "none"


def test_runs_of_ones_become_segments() -> None:
    assert cases.segments_of(np.array([1, 0, 1, 1], dtype=np.int8)) == [(0, 1), (2, 4)]


@pytest.mark.parametrize("name", ["ecod", "copod"])
def test_tails_are_pyods_for_a_row_scored_alone(name: str) -> None:
    pytest.importorskip("pyod")
    module = import_module(f"pyod.models.{name}")
    rng = np.random.default_rng(0)
    train, rows = rng.exponential(size=(200, 3)), rng.exponential(2.0, size=(20, 3))
    train[:, 1] *= -1
    train[:, 2], rows[:, 2] = train[:, 2].round(), rows[:, 2].round()
    ours = METHOD_OF[name].make_peer("none", 0)  # type: ignore[misc]
    ours.fit(train)
    theirs = getattr(module, name.upper())().fit(train)
    alone = [float(theirs.decision_function(row[None])[0]) for row in rows]
    assert ours.score(rows).tolist() == pytest.approx(alone)


# -- our own detector --------------------------------------------------------------------------


def test_our_detector_gets_the_papers_kinds_and_the_settings_of_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: dict[str, object] = {}

    def detector(**settings: object) -> SimpleNamespace:
        asked.update(settings)
        learned = SimpleNamespace(min_support=settings.get("min_support"))
        return SimpleNamespace(model_=SimpleNamespace(provenance=learned), rules_=("a", "b"))

    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    fake = SimpleNamespace(InvariantRuleDetector=detector)
    monkeypatch.setitem(sys.modules, "truism", fake)  # type: ignore[arg-type]
    dataset = replace(datasets.load(TINY), kinds=Kinds(("u",), ("x",), ("c",)), time="t")
    made = METHOD_OF["uniform"].make(dataset, "none", 4, {"min_support": 0.1})
    assert asked == {
        "categorical": ("u",),
        "continuous": ("x",),
        "ignore": ("c",),
        "time": "t",
        "random_state": 4,
        "n_jobs": 2,
        "scoring": "paper",
        "support_ratio": 0.7,
        "max_predicates": 5,
        "cutoffs": "uniform",
        "min_support": 0.1,
    }
    assert isinstance(made, RuleDetector)
    assert (made.n_rules, made.choice) == (2, "θ = 0.1")
    asked.clear()
    METHOD_OF["paper"].make(dataset, "none", 0, {})
    assert (asked["min_support"], asked["cutoffs"]) == ("auto", "tree")
    asked.clear()
    METHOD_OF["truism"].make(dataset, "none", 4, {})
    assert asked["ignore"] == (), "by default constant columns take part"
    assert not asked.keys() & {"min_support", "support_ratio", "max_predicates", "scoring"}


# -- page and command line ---------------------------------------------------------------------


def everything() -> Results:
    """Results of every experiment, made up."""
    grid = [
        replace(
            run("paper", auc, settings=(("min_support", theta), ("support_ratio", gamma))),
            experiment="grid",
        )
        for theta, gamma, auc in ((0.01, 0.0, 0.9), (0.02, 0.0, 0.8), (0.01, 0.9, 0.7))
    ]
    timed = [replace(run(m, 0.9), experiment="speed") for m in ("truism", "knn")]
    timed = [replace(r, outcome=replace(r.outcome, table_mb=1.0, test_rows=10)) for r in timed]
    growth = [
        replace(run("knn", 0.9, dataset=f"generated-{size}"), experiment="growth")
        for size in ("100x20", "200x20", "100x40")
    ]
    robust = [
        replace(run("truism", 0.9 - dirt, contamination=dirt), experiment="robustness")
        for dirt in (0.0, 0.01)
    ]
    robust.append(replace(run("truism", 0.8, share=0.5), experiment="robustness"))
    by_attack = (
        results.AttackScore("smurf", 7, 0.9, 0.8),
        results.AttackScore("teardrop", 1, 0.5, 0.6),
    )
    attacks = replace(run("knn", 0.9, dataset="whole-kddcup99"), experiment="attacks")
    attacks = replace(attacks, outcome=replace(attacks.outcome, by_attack=by_attack))
    further = [
        replace(run("knn", auc, dataset=f"bundled-wine-{k}"), experiment="further")
        for k, auc in enumerate((0.9, 0.7))
    ]
    mining = [replace(run("mlxtend", 0.0, dataset="binned-cardio"), experiment="mining")]
    failed = Run("table2", Job("cardio", "hbos"), Outcome(error="out of memory"))
    finding = Finding("1", ("P1",), 9, 3, 5, ("a | b ⇒ c < 1",), True, 1)
    shape = results.Shape("cardio", 1_099, 696, 19, 2, 0, 0.2)
    return Results(
        results.environment(),
        shapes=(shape,),
        runs=(run("knn", 0.9), failed, *grid, *timed, *growth, *robust, *mining, attacks, *further),
        interpretations=(Interpretation("plant", "truism", "", 7, 0.01, (finding,)),),
    )


@pytest.fixture(scope="module")
def whole_page() -> Page:
    return render(everything())


def test_the_page_shows_every_experiment(whole_page: Page, tmp_path: Path) -> None:
    page = whole_page
    for heading in (
        "## Table 1: datasets",
        "## Table 2: detection",
        "### KDD Cup 99, attack by attack",
        "### Further tables",
        "## Figure: hyperparameters",
        "## Table 3: interpretability",
        "## Speed",
        "### Mining alone",
        "### Growth",
        "## Robustness",
        "## Not measured",
    ):
        assert heading in page.text
    assert "| teardrop | 1 | 0.500/0.600 |" in page.text
    assert "| **mean over attacks** |  | 0.700/0.700 |" in page.text
    assert "| wine | 2 | 0.800/0.800 |" in page.text
    assert "a \\| b ⇒ c &lt; 1<br>and 4 more" in page.text
    page.write(tmp_path / "benchmarks.md")
    assert {path.name for path in (tmp_path / "benchmarks").iterdir()} == {
        "hyperparameters.svg",
        "growth.svg",
        "contamination.svg",
        "fewer-rows.svg",
        "split-seeds.svg",
    }


def test_costs_are_shown_as_ratios_to_the_default() -> None:
    def cost(method: str, fit: float, memory: float) -> Run:
        outcome = Outcome(
            fit_seconds=fit, score_seconds=0.5, extra_mb=memory, table_mb=2.0, test_rows=100
        )
        return Run("speed", Job("cardio", method), outcome)

    text = render(found(cost("truism", 2.0, 10.0), cost("knn", 30.0, 25.0))).text
    assert "| truism (default) | 1 / 1 / 1 |" in text
    assert "| KNN | 15 / 1 / 2.5 |" in text
    assert "| cardio | KNN | 30.00 | 0.50 | 200 | 25 | 12.5 |" in text


def test_losses_of_our_own_methods_are_named_as_weaknesses() -> None:
    runs = [
        replace(run(method, auc, contamination=dirt), experiment="robustness")
        for method in ("truism", "knn")
        for dirt, auc in ((0.0, 0.9), (0.01, 0.88), (0.05, 0.7))
    ]
    text = render(found(*runs)).text
    assert "- truism (default) on cardio, contamination 0.05: AUC 0.900 → 0.700" in text
    assert "contamination 0.01: AUC" not in text
    assert "- KNN" not in text
    assert "Neither truism nor the paper's method loses more than 0.05 AUC." in text, "fewer rows"
    without = render(found(*(run for run in runs if run.job.method == "knn"))).text
    assert "Neither truism" not in without, "nothing is said of what was not measured"


def test_robustness_is_averaged_over_datasets_that_all_methods_have() -> None:
    runs = [
        replace(run("knn", 0.9, contamination=dirt), experiment="robustness")
        for dirt in (0.0, 0.01)
    ]
    runs.append(replace(run("knn", 0.1, dataset="batadal"), experiment="robustness"))
    assert "| KNN | 0 | 0.900/0.900 | +0.000 on cardio |" in render(found(*runs)).text


def test_every_experiment_runs_on_small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("MANY_ROWS", (200, 400)),
        ("MANY_COLUMNS", (8,)),
        ("FIXED_COLUMNS", 6),
        ("FIXED_ROWS", 200),
        ("GROWTH_SETTINGS", (("min_support", 0.2),)),
        ("MINING_TABLES", ("binned-generated-150x4",)),
        ("SPLIT_SEEDS", (0, 3)),
        ("VARIATION_SEEDS", (0,)),
    ):
        monkeypatch.setattr(f"benchmarks.experiments.{name}", value)
    monkeypatch.setattr("benchmarks.bundled.TASKS", ("iris-0",))
    names = ("truism", "paper", "knn", "iforest")
    table = "generated-150x4"
    plan = Plan(Runner(None, Cache(), isolated=False), (table,), usable_methods(names))
    chosen = ("speed", "mining", "growth", "robustness", "further", "attacks")
    measured = run_all(plan, chosen)
    assert [run for run in measured.runs if run.outcome.error] == []
    assert {run.experiment for run in measured.runs} == {*chosen} - {"attacks"}
    robust = [run.job for run in measured.runs if run.experiment == "robustness"]
    assert {job.method for job in robust} == {*names}
    assert {job.contamination for job in robust} == {0.0, 0.001, 0.01, 0.05}
    assert {job.share for job in robust} == {1.0, 0.5, 0.25, 0.125}
    page = render(Results(results.environment(), runs=measured.runs))
    assert {"growth.svg", "contamination.svg", "fewer-rows.svg"} <= page.figures.keys()


def test_the_page_opens_with_conclusions_that_follow_from_the_figures(whole_page: Page) -> None:
    ahead = render(found(run("truism", 0.9), run("knn", 0.8), run("lof", 0.7))).text
    assert "- **truism detects best on average.**" in ahead
    assert "mean AUC/pAUC of 0.900/0.900 over cardio; the best of the other 2 methods, KNN" in ahead
    assert "Ahead of truism" not in ahead
    behind = render(found(run("truism", 0.9), run("knn", 0.95))).text
    assert "- **KNN detects best on average.**" in behind
    assert "to three digits: KNN on cardio (0.950/0.950; truism 0.900/0.900)." in behind
    opening = whole_page.text.partition("## Table 1")[0]
    assert "detects best" not in opening, "truism is not in table 2 of these results"
    assert "**A few anomalies in training do no harm.**" in opening
    assert "**Few training rows" not in opening, "an eighth of the rows was not measured"


def test_the_page_in_the_docs_is_fresh() -> None:
    page = render(results.read(ROOT / results.MEASURED))
    assert (ROOT / "docs" / "benchmarks.md").read_text("utf-8") == page.text


def test_the_comparison_in_the_docs_is_fresh() -> None:
    generate = runpy.run_path(str(ROOT / "docs" / "generate.py"), run_name="generate")
    for name in generate["MEASURED"]:
        page = (ROOT / name).read_text("utf-8")
        assert generate["with_detectors"](page) == page
    assert "| HBOS |" in page, "the last page has every detector"


@pytest.mark.parametrize("name", ["README", "benchmarks", "comparison", "experiments"])
def test_links_to_headings_lead_somewhere(name: str) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page):
        text = (ROOT / "docs" / target).read_text("utf-8") if target else page
        headings = re.findall(r"(?m)^#+ (.+)$", text)
        anchors = [re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings]
        assert anchor in anchors, (target, anchor)


def test_the_same_results_give_the_same_page(whole_page: Page) -> None:
    assert render(everything()) == whole_page


def test_absent_data_is_one_sentence_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRUISM_DATA", raising=False)
    assert main(["run"]) == 2
    assert capsys.readouterr().err == (
        "No benchmark tables: set TRUISM_DATA or pass --data with the folder that holds the "
        "Parquet files.\n"
    )
    assert main(["run", "--data", "nowhere"]) == 2
    assert capsys.readouterr().err == ("The folder of benchmark tables 'nowhere' does not exist.\n")


def test_an_unknown_experiment_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_parquet(tmp_path)
    assert main(["run", "--data", str(tmp_path), "--only", "table9"]) == 2
    assert "experiment must be one of table1, table2" in capsys.readouterr().err


def test_run_then_page_then_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_parquet(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUISM_DATA", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(Path(results.__file__).parents[1]))
    assert main(["run", "--only", "table1,table2", "--methods", "knn"]) == 0
    assert main(["page"]) == 0
    measured = str(results.MEASURED)
    assert main(["compare", measured, measured]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing changed"
    assert "| cardio | 20 | 2 | 1 / 1 |" in Path("docs/benchmarks.md").read_text()
    assert Path(".cache/benchmarks.jsonl").exists(), (
        "finished jobs are kept where git does not look"
    )


def test_a_file_that_holds_no_results_is_one_sentence_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for content in ("", "{}\n", '{"format":1,"runs":[]}\n', "no JSON"):
        (tmp_path / "old.json").write_text(content)
        assert main(["page", "--results", str(tmp_path / "old.json")]) == 2
        assert capsys.readouterr().err == (
            f"{str(tmp_path / 'old.json')!r} is not a results file of format 2.\n"
        )


def test_smoke_needs_no_data_and_prints_the_page(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyod")
    monkeypatch.delenv("TRUISM_DATA", raising=False)
    monkeypatch.setattr("benchmarks.__main__.SMOKE_TABLE", TINY)
    assert main(["smoke"]) == 0
    page = capsys.readouterr().out
    assert "## Table 2: detection" in page
    assert "## Speed" in page
    assert "## Not measured" not in page


@pytest.mark.parametrize("name", ["autoencoder", "autoencoder_brief", "deepsvdd"])
def test_the_neural_peers_are_deterministic_for_a_seed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("benchmarks.neural.EPOCHS", (1, 2, 40))
    monkeypatch.setattr("benchmarks.neural.SVDD_EPOCHS", 12)
    dataset = datasets.load(TINY)
    scores = []
    for _ in range(2):
        detector = METHOD_OF[name].make(dataset, "minmax", 3, {})
        detector.fit(dataset.train)
        scores.append(detector.score(dataset.test))
    assert scores[0] is not None
    assert np.array_equal(scores[0], scores[1])


def test_conditions_of_the_first_reasons_are_counted():
    def blame(*lengths):
        return SimpleNamespace(
            reasons=[SimpleNamespace(conditions=("c",) * n, kind="rule") for n in lengths]
        )

    incidents = [
        SimpleNamespace(blames=[blame(0, 9), blame(2), blame(5), blame(1)]),
        SimpleNamespace(blames=[blame(2)]),
    ]
    found = count_conditions(incidents)
    assert (found.counts, found.kinds) == ((1, 0, 2, 0, 0, 1), (("rule", 4),))
    assert (found.n_reasons, found.mean, found.share_of_few) == (4, 2.25, 0.75)
    assert count_conditions(incidents, 4).n_reasons == 5
