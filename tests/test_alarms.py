"""How the benchmark counts alarms in a series: against brute force, and by example."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from benchmarks import alarms, datasets, faults, plants, timed
from benchmarks.alarms import (
    GAP,
    assign,
    average,
    figures,
    in_hindsight,
    judge,
    judge_scores,
    telling,
    windows,
    windows_of,
)
from benchmarks.experiments import PROMISES, Plan, series, usable_methods
from benchmarks.pages import render
from benchmarks.results import (
    Alarms,
    Averaged,
    Finding,
    Interpretation,
    Job,
    Labelled,
    Outcome,
    Results,
    Run,
    environment,
    merge,
    read,
    write,
)
from benchmarks.runner import Cache, Runner
from benchmarks.timed import Truth
from truism.plant import SENSORS


def event(start, end, kind="incident", blames=()):
    named = [SimpleNamespace(variable=name) for name in blames]
    return SimpleNamespace(start=start, end=end, kind=kind, blames=named)


def labelled(n_rows, *segments):
    label = np.zeros(n_rows, np.int8)
    for start, stop in segments:
        label[start:stop] = 1
    return label


def test_a_window_ends_with_its_series_its_deadline_and_before_the_next_segment():
    label = labelled(1000, (10, 200), (210, 220), (300, 320), (990, 1000))
    placed = windows_of(label, (0, 305))
    assert [(w.start, w.stop) for w in placed] == [
        (10, 200),
        (210, 220),
        (300, 305),  # a segment is within one series
        (305, 320),
        (990, 1000),
    ]
    assert [(w.first, w.deadline, w.reach) for w in placed] == [
        (5, 70, 205),
        (205, 240, 240),
        (295, 305, 305),
        (305, 340, 340),
        (985, 1000, 1000),
    ]
    assert windows([], (0,), 10) == []


def test_an_event_belongs_to_the_segment_in_whose_reach_it_begins():
    placed = windows([(100, 110), (112, 150)], (0,), 300)
    assert placed[0].reach == 110, "the next window begins before, but a segment is its own"
    events = [event(row, row) for row in (94, 95, 109, 110, 169, 170)]
    of_segment, false = assign(events, placed, 300)
    assert [[e.start for e in own] for own in of_segment] == [[95, 109], [110, 169]]
    assert [e.start for e in false] == [94, 170]


def test_an_event_that_is_open_when_a_segment_begins_does_not_tell_it():
    events = [event(start, 250) for start in (210, 198, 10)]
    assert telling(events, [(50, 60), (200, 220)], 300) == [None, events[1]]


def test_events_are_counted_where_they_begin():
    label = labelled(1000, (300, 310), (500, 600), (700, 705), (900, 905))
    causes = {(300, 310): frozenset("a"), (500, 600): frozenset("b"), (900, 905): frozenset("a")}
    all_events = [
        event(100, 109),
        event(200, 450, "shift"),  # covers the first segment, and says nothing new when it begins
        event(504, 530, blames=["x", "Δb", "b"]),
        event(590, 599, blames=["b"]),
        event(640, 650),
        event(708, 709),
    ]
    asked = []

    def incidents(test):
        asked.append(len(test))
        known = [e for e in all_events if e.start < len(test)]
        return known[::-1] if len(test) > 505 else []  # worst first, and two starts need later rows

    table = pa.table({"x": np.zeros(1000)})
    counted = judge(incidents, table, label, Truth(causes=causes))
    assert counted.segments == (
        Labelled(300, 35, is_judged=True),
        Labelled(500, 65, delay=4, n_repeats=1, stays=37 / 96, is_judged=True, rank=2),
        Labelled(700, 30, delay=8, stays=1.0),
        Labelled(900, 30, is_judged=True),
    )
    n_normal = 1000 - 120
    assert asked == [1000, 101, 505, 641], "every second event, three in all"
    assert counted == Alarms(counted.segments, n_normal, 2, 1, 10 + 11 + 2, 3, 2)
    part = figures([counted, counted])
    assert (part.segments, part.told, part.late, part.delay) == (8, 0.5, 0.0, 6.0)
    assert (part.false, part.lasting) == (2000 / n_normal, 1000 / n_normal)
    assert (part.first, part.three, part.first_all) == (0.0, 1.0, 0.0)
    assert part.three_all == pytest.approx(1 / 3)
    assert part.chance == pytest.approx(
        np.mean(1 - np.exp(-3 / n_normal * np.array([35, 65, 30, 30])))
    )
    assert part.acausal == pytest.approx(2 / 3)


def test_an_event_after_the_window_is_late():
    label = labelled(1000, (500, 600))
    counted = judge(lambda _: [event(570, 580)], pa.table({"x": np.zeros(1000)}), label, Truth())
    assert counted.segments == (Labelled(500, 65, is_late=True),)
    assert (counted.n_false, counted.n_open) == (0, 0)
    part = figures([counted])
    assert (part.told, part.late, part.delay, part.stays, part.first) == (
        0.0,
        1.0,
        None,
        None,
        None,
    )


def brute_hindsight(scores, placed, firsts, n_allowed):
    """Lower the threshold from the top, and look for groups anew each time."""
    series = np.searchsorted(firsts, np.arange(len(scores)), "right")
    most = 0
    for level in sorted(set(scores.tolist()), reverse=True):
        rows = np.flatnonzero(scores >= level)
        apart = (np.diff(rows) > GAP + 1) | (np.diff(series[rows]) > 0)
        groups = [event(int(g[0]), int(g[-1])) for g in np.split(rows, np.flatnonzero(apart) + 1)]
        of_segment, false = assign(groups, placed, len(scores))
        if len(false) > n_allowed:
            break
        told = [
            any(e.start < w.deadline for e in own)
            for own, w in zip(of_segment, placed, strict=True)
        ]
        most = max(most, sum(told))
    return most


@examples(max_examples=80, deadline=None)
@given(
    scores=st.lists(st.integers(0, 12), min_size=90, max_size=160),
    first=st.integers(0, 20),
    n_allowed=st.integers(0, 4),
    edge=st.integers(1, 80),
)
def test_hindsight_is_what_its_definition_says(scores, first, n_allowed, edge):
    label = labelled(len(scores), (first, first + 4), (60, 63), (len(scores) - 3, len(scores)))
    firsts, values = (0, edge), np.array(scores, float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alarms, "AFTER", 4)
        placed = windows_of(label, firsts)
    assert in_hindsight(values, placed, firsts, n_allowed) == brute_hindsight(
        values, placed, firsts, n_allowed
    )


def test_an_average_over_one_row_is_the_row_and_series_are_averaged_apart():
    scores = np.array([1.0, 5.0, 2.0])
    assert average(scores, 1).tolist() == scores.tolist()
    assert average(np.array([9.0, 9.0, 0.0, 0.0]), 5, (0, 2)).tolist() == [9.0, 9.0, 0.0, 0.0]


def test_scores_are_judged_for_each_span():
    label = labelled(400, (200, 220))
    scores = np.random.default_rng(0).normal(0, 1, 400) + 2 * label
    once, often = judge_scores(scores, label, Truth(), (1, 5))
    assert (once.span, often.span) == (1, 5)
    assert often.auc > once.auc
    assert (often.n_told, often.n_segments) == (1, 1)


def test_all_of_batadals_attacks_are_anomalous():
    label = np.zeros(4177, np.int8)
    assert timed.anomalous("batadal", label).sum() == 492
    assert timed.anomalous("smd_1_6", label).sum() == label.sum() == 0


def test_tables_in_order_of_time_are_found_by_family(tmp_path):
    (tmp_path / "timed").mkdir()
    assert timed.tables(tmp_path) == ()
    for name in ("timed/skab_a", "timed/smd_1", "batadal", "gas_pipeline", "timed/alone"):
        for part in ("train", "test"):
            (tmp_path / f"{name}_{part}.parquet").touch()
    real = ("series-batadal", "series-skab_a", "series-smd_1")
    assert timed.tables(tmp_path) == (*real, *(f"series-{name}" for name in plants.TITLES))
    assert timed.path_of("smd_1", tmp_path, "test").exists()


def test_a_table_of_several_series_knows_where_they_begin_and_what_was_wrong(tmp_path):
    (tmp_path / "timed").mkdir()
    columns = {
        "x": [1.0, None, 3.0, 4.0],
        "text": ["a", None, "a", "b"],
        "run": ["1", "1", "2", "2"],
    }
    for part, more in (("train", {}), ("test", {"label": [0, 1, 0, 0]})):
        place = tmp_path / "timed" / f"causrca_a_{part}.parquet"
        pq.write_table(pa.table(columns | more), place)
    lines = "table,start,end,variables\ncausrca_a,1,2,x;y\nother,0,1,z\n"
    (tmp_path / "timed" / "root_causes.csv").write_text(lines)
    dataset = datasets.load("series-causrca_a", tmp_path)
    assert dataset.truth == Truth((0, 2), {(1, 2): frozenset("xy")})
    assert "run" not in dataset.kinds.categorical + dataset.kinds.continuous
    assert timed.settings_of("series-causrca_a") == (("by", "run"), ("ordered", True))


def test_a_generated_table_may_be_taken_for_a_series():
    dataset = datasets.load("series-generated-300x6")
    assert dataset.truth == Truth()
    assert not dataset.told


def test_a_noisier_plant_has_sensors_of_the_same_resolution(monkeypatch):
    monkeypatch.setattr(plants, "NORMAL_ROWS", 400)
    plain, noisy, retuned = map(plants.normal, ("plant", "plant_noise_2", "plant_retuned"))
    added = noisy["LIT101"] - plain["LIT101"]
    assert added.std() == pytest.approx(2 * SENSORS[1].noise, rel=0.2)
    assert np.array_equal(noisy["MV101"], plain["MV101"])
    for values in (plain["LIT101"], noisy["LIT101"]):
        assert np.allclose(values * 10, np.round(values * 10))
    assert not np.array_equal(retuned["LIT301"], plain["LIT301"])


def test_faults_begin_where_they_must_be_told():
    values = np.linspace(0, 1, faults.FAULTY_ROWS)
    for kind, fault in faults.FAULTS.items():
        wrong = fault.change(values, 5.0)
        before, same = wrong[: fault.start], np.isclose(wrong, values)
        if fault.start == faults.BEGIN:
            assert np.array_equal(before, values[: fault.start]), kind
            assert not same[fault.start + 1 : fault.start + 60].any(), kind
        else:
            assert wrong[fault.start] - wrong[fault.start - 1] == pytest.approx(
                5 if "again" in kind else -5, abs=0.01
            )
    off = faults.FAULTS["120 rows in every 720"].change(values, 5.0) - values
    assert np.flatnonzero(np.diff(off) > 1).tolist() == [999, 1719, 2439, 3159, 3879, 4599, 5319]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The experiment on one small table, with a small plant."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "timed").mkdir()
    for seed, part in enumerate(("train", "test")):
        random = np.random.default_rng(seed)
        rows = {"a": random.normal(0, 1, 700), "b": random.normal(5, 1, 700)}
        if part == "test":
            rows["b"][300:320] += 30
            rows["label"] = labelled(700, (300, 320))
        pq.write_table(pa.table(rows), folder / "timed" / f"smd_a_{part}.parquet")
    (folder / "timed" / "root_causes.csv").write_text(
        "table,start,end,variables\nsmd_a,300,320,b\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plants, "LEARNED_ROWS", 600)
        patch.setattr(plants, "NORMAL_ROWS", 300)
        patch.setattr(faults, "SEEDS", range(1))
        kinds = ("a step", "dead (0)")
        patch.setattr(faults, "FAULTS", {kind: faults.FAULTS[kind] for kind in kinds})
        names = tuple(name for name in timed.tables(folder) if "noise" not in name)
        plan = Plan(Runner(folder, Cache()), (), usable_methods(("truism", "knn")), names)
        return series(plan)


def test_every_table_is_measured_by_default_and_with_each_promise(measured):
    assert [run.outcome.error for run in measured.runs if run.outcome.error] == []
    jobs = [(run.job.dataset, run.job.method, dict(run.job.settings)) for run in measured.runs]
    promised = [{"max_false_incidents": each, "ordered": True} for each in PROMISES]
    assert jobs == [
        ("series-smd_a", "truism", {"ordered": True}),
        *(("series-smd_a", "truism", each) for each in promised),
        ("series-smd_a", "knn", {}),
        *(("series-plant", "truism", each) for each in promised),
        *(("series-plant_retuned", "truism", each) for each in promised),
    ]
    (told,) = measured.runs[0].outcome.alarms.segments
    assert told == Labelled(300, 45, delay=told.delay, stays=1.0, is_judged=True, rank=1)
    (judged,) = {run.outcome.averaged[0].n_told for run in measured.runs[:5]}
    assert judged == 1
    assert measured.runs[5].outcome.averaged == ()
    assert measured.runs[5].outcome.auc is None


def test_the_page_shows_families_peers_promises_and_faults(measured, tmp_path):
    found = Results(environment(), runs=measured.runs, interpretations=measured.interpretations)
    text = render(found).text
    assert "| SMD | 1 | 1.00 | 0.00 |" in text
    assert "| **mean** | 1 | 1.00 | 0.00 |" in text
    assert "| KNN | 1.00 | 1.00 |" in text
    assert "| plant, re-tuned | 300 |" in text
    assert "| a step |" in text
    assert "Table 3" not in text
    assert render(Results(environment())).text.count("## Tables in order") == 0
    write(found, tmp_path / "results.jsonl")
    assert read(tmp_path / "results.jsonl") == found
    assert merge(found, Results(environment()), ["series"]).interpretations == ()
    assert merge(found, Results(environment()), ["blame"]) == found


def test_the_page_marks_broken_promises_and_counts_faults_told():
    def promised(name, n_false):
        settings = (("max_false_incidents", "2/1000rows"), ("ordered", True))
        told = Alarms((), 10_000, n_false, 0, 0, 0, 0)
        return Run("series", Job(name, "truism", settings=settings), Outcome(alarms=told))

    default = Run(
        "series",
        Job("series-smd_a", "truism"),
        Outcome(
            0.9,
            0.8,
            averaged=(Averaged(1, 0.9, 0.8, 0, 1),),
            alarms=Alarms((Labelled(3, 9),), 10_000, 0, 0, 0, 0, 0),
        ),
    )
    runs = (default, promised("series-plant", 41), promised("series-plant_retuned", 60))
    findings = tuple(Finding("0", ("a",), 60, 2, target_rank=rank) for rank in (None, 1, 3, 4))
    judged = (Interpretation("fault-frozen", "truism", "", 1, 0.0, findings),)
    text = render(Results(environment(), runs=runs, interpretations=judged)).text
    assert "| plant | 10,000 | **4.10** |" in text
    assert "| plant, re-tuned | 10,000 | 6.00 |" in text
    assert "| frozen | 2 of 4 | 2 2 2 2 |" in text
