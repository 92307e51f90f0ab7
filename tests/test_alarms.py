"""How the benchmark counts alarms in a series: against brute force, and by example."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from benchmarks import alarms, datasets, timed
from benchmarks.alarms import GAP, average, excused, judge_incidents, judge_scores, recall
from benchmarks.cases import segments_of
from benchmarks.pages import render
from benchmarks.results import Alarms, Averaged, Job, Outcome, Results, Run, environment
from benchmarks.timed import Truth


def truth_of(label):
    return Truth(label == 0, np.ones(len(label), bool))


def brute_recall(scores, segments, near, n_allowed):
    """Lower the threshold from the top, and count groups anew each time."""
    found = 0.0
    for level in sorted(set(scores.tolist()), reverse=True):
        rows = np.flatnonzero(scores >= level)
        groups = np.split(rows, np.flatnonzero(np.diff(rows) > GAP + 1) + 1)
        if sum(not near[group[0] : group[-1] + 1].any() for group in groups) > n_allowed:
            break
        found = np.mean([any(start <= row < stop for row in rows) for start, stop in segments])
    return found


@examples(max_examples=60, deadline=None)
@given(
    scores=st.lists(st.integers(0, 12), min_size=30, max_size=120),
    first=st.integers(0, 20),
    n_allowed=st.integers(0, 4),
)
def test_recall_is_what_its_definition_says(scores, first, n_allowed):
    label = np.zeros(len(scores), np.int8)
    label[first : first + 4] = 1
    label[-3:] = 1
    segments = segments_of(label)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alarms, "MARGIN", 2)
        near = excused(segments, truth_of(label))
    values = np.array(scores, float)
    assert recall(values, segments, near, n_allowed) == pytest.approx(
        brute_recall(values, segments, near, n_allowed)
    )


def test_an_average_over_one_row_is_the_row():
    scores = np.array([1.0, 5.0, 2.0])
    assert average(scores, 1).tolist() == scores.tolist()


def test_scores_are_judged_for_each_span():
    label = np.zeros(400, np.int8)
    label[200:220] = 1
    random = np.random.default_rng(0)
    scores = random.normal(0, 1, 400) + 2 * label
    once, often = judge_scores(scores, label, truth_of(label), (1, 5))
    assert (once.span, often.span) == (1, 5)
    assert often.auc > once.auc
    assert often.recall == often.strict_recall == 1.0


def test_incidents_are_judged_as_they_are_told():
    label = np.zeros(1000, np.int8)
    label[500:520] = 1
    label[900:905] = 1
    told = [
        SimpleNamespace(start=100, end=109, kind="incident"),
        SimpleNamespace(start=300, end=499, kind="shift"),
        SimpleNamespace(start=505, end=530, kind="incident"),
        SimpleNamespace(start=700, end=750, kind="shift"),
    ]
    found = judge_incidents(told, label, truth_of(label))
    n_normal = 975
    assert found == Alarms(
        inside=pytest.approx((10 + 11) / n_normal),
        false_incidents=pytest.approx(1000 / n_normal),
        false_shifts=pytest.approx(1000 / n_normal),
        found=0.5,
        delay=5.0,
    )
    assert judge_incidents([], label, truth_of(label)).delay is None


def test_rows_of_batadals_windows_are_not_normal():
    label = np.zeros(4177, np.int8)
    truth = timed.truth_of("batadal", label, label == 0)
    assert (~truth.normal).sum() == 492
    assert timed.family_of("series-batadal") == "BATADAL"
    assert timed.family_of("series-gas_pipeline") == timed.GAS


def test_tables_in_order_of_time_are_found_by_family(tmp_path):
    (tmp_path / "timed").mkdir()
    for name in ("timed/skab_a", "timed/smd_1", "batadal", "timed/alone"):
        for part in ("train", "test"):
            (tmp_path / f"{name}_{part}.parquet").touch()
    assert timed.tables(tmp_path) == ("series-batadal", "series-smd_1", "series-skab_a")
    assert timed.path_of("smd_1", tmp_path, "test").exists()


def test_a_generated_table_may_be_taken_for_a_series():
    dataset = datasets.load("series-generated-300x6")
    assert dataset.truth is not None
    assert not dataset.told
    assert dataset.truth.normal.sum() == (dataset.label == 0).sum()


def test_the_page_shows_families_beside_averaged_peers():
    def run(name, method, settings, auc, seconds, spans=(1,)):
        job = Job(f"series-{name}", method, settings=settings)
        averaged = tuple(Averaged(span, auc + span / 1000, 0.6, 0.5, 0.4) for span in spans)
        told = Alarms(0.01, 1.0, 0.5, 0.8, 3.0) if method == "truism" else None
        outcome = Outcome(auc, 0.6, fit_seconds=seconds, score_seconds=1.0)
        return Run(
            "series",
            job,
            Outcome(
                outcome.auc,
                outcome.pauc,
                fit_seconds=seconds,
                score_seconds=1.0,
                averaged=averaged,
                alarms=told,
            ),
        )

    ordered, alone = (("ordered", True),), (("lookback", 0), ("ordered", True))
    runs = tuple(
        each
        for name in ("batadal", "smd_1", "smd_2")
        for each in (
            run(name, "truism", ordered, 0.9, 2.4),
            run(name, "truism", alone, 0.8, 2.0),
            run(name, "knn", (), 0.7, 1.0, (1, 5, 20)),
        )
    )
    text = render(Results(environment(), runs=runs)).text
    assert "| method | BATADAL | SMD |" in text
    assert "| truism (default) | 0.901/0.600 | 0.901/0.600 |" in text
    assert "| rows alone | 0.801/0.600 | 0.801/0.600 |" in text
    assert "| KNN | 0.720/0.600 (20) | 0.720/0.600 (20) |" in text
    assert "(together 1.50, at worst 1.50)" in text
    assert render(Results(environment())).text.count("## Tables in order") == 0
