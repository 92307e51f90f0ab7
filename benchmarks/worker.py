"""Runs one job in its own process, so that time and peak memory are the job's alone.

`python -m benchmarks.worker` reads a job (JSON) from stdin and prints its outcome; `measure` does
the same in the current process.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import alarms, datasets, metrics
from benchmarks.datasets import Dataset
from benchmarks.methods import METHOD_OF, TableDetector
from benchmarks.results import Alarms, AttackScore, Averaged, Job, Outcome
from benchmarks.rules import RuleDetector

SAMPLE_SEED = 0
WARM_UP = "generated-400x6"
_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")


class Order(msgspec.Struct, frozen=True):
    """The parent process's request."""

    job: Job
    data: str | None = None
    warm_up: bool = True


def measure(order: Order) -> Outcome:
    """Load the tables, vary the training rows as the job says, fit, score, evaluate."""
    job = order.job
    dataset = vary(_load(job.dataset, order.data), job)
    method = METHOD_OF[job.method]
    if order.warm_up:
        _warm_up(job)
    resident = _reset_peak()
    detector = method.make(dataset, job.scaling, job.seed, dict(job.settings))
    started = time.perf_counter()
    detector.fit(dataset.train)
    fitted = time.perf_counter()
    score = detector.score(dataset.test)
    scored = time.perf_counter()
    extra_mb = _peak_mb() - resident
    normal = dataset.label == 0
    averaged, own = _over_time(dataset, detector, score)
    is_compared = score is not None and not normal.all()
    return Outcome(
        auc=metrics.auc(dataset.label, score) if is_compared else None,
        pauc=metrics.partial_auc(dataset.label, score) if is_compared else None,
        alarm_rate=None if score is None else float(np.mean(score[normal] > 0)),
        fit_seconds=fitted - started,
        score_seconds=scored - fitted,
        extra_mb=extra_mb,
        table_mb=dataset.train.num_rows * dataset.train.num_columns * 8 / 2**20,
        train_rows=dataset.train.num_rows,
        test_rows=dataset.test.num_rows,
        n_rules=getattr(detector, "n_rules", None),
        choice=str(getattr(detector, "choice", "")),
        by_attack=() if score is None else tuple(_by_attack(dataset, score)),
        averaged=averaged,
        alarms=own,
    )


def _over_time(
    dataset: Dataset, detector: TableDetector, score: NDArray[np.float64] | None
) -> tuple[tuple[Averaged, ...], Alarms | None]:
    """Measure what matters in a series: our excess as it is and our events, peers averaged."""
    label, truth = dataset.label, dataset.truth
    if truth is None or score is None:
        return (), None
    if not isinstance(detector, RuleDetector):
        return alarms.judge_scores(score, label, truth, alarms.SPANS), None
    excess = -detector.detector.decision_function(dataset.test)
    averaged: tuple[Averaged, ...] = ()
    if label.any():  # alarms come from the excess, AUC is about how unusual rows are
        (told,) = alarms.judge_scores(excess, label, truth, (1,))
        auc, pauc = metrics.auc(label, score), metrics.partial_auc(label, score)
        averaged = (replace(told, auc=auc, pauc=pauc),)
    return averaged, alarms.judge(detector.detector.incidents, dataset.test, label, truth)


def _by_attack(dataset: Dataset, score: NDArray[np.float64]) -> Iterator[AttackScore]:
    """Each attack against all normal rows, the most frequent first."""
    if dataset.attack is None:
        return
    names = Counter(dataset.attack[dataset.label == 1].tolist())
    for name, n_rows in names.most_common():
        rows = (dataset.label == 0) | (dataset.attack == name)
        label, own = dataset.label[rows], score[rows]
        yield AttackScore(name, n_rows, metrics.auc(label, own), metrics.partial_auc(label, own))


def vary(dataset: Dataset, job: Job) -> Dataset:
    """Return the dataset as a job needs it: a share of the training rows, anomalies mixed in.

    Mixed-in anomalies are removed from the test table, or a detector would be asked about rows that
    it has learned as normal. At most half of them are used, so that enough remain to be found. They
    are scattered among the training rows, which keep their order: at the end they would all fall
    into one block of a detector that holds out consecutive rows.
    """
    rng = np.random.default_rng([SAMPLE_SEED, job.seed])
    train, test, label = dataset.train, dataset.test, dataset.label
    attack = dataset.attack
    if job.share != 1.0:
        n_kept = round(train.num_rows * job.share)
        train = train.take(np.sort(rng.permutation(train.num_rows)[:n_kept]))
    if job.contamination:
        anomalies = np.flatnonzero(label == 1)
        n_mixed = max(1, round(train.num_rows * job.contamination))
        mixed = np.sort(rng.permutation(anomalies)[: min(n_mixed, len(anomalies) // 2)])
        places = np.concatenate(
            [np.arange(train.num_rows), rng.uniform(0, train.num_rows, len(mixed))]
        )
        train = pa.concat_tables([train, test.take(mixed)]).take(np.argsort(places, kind="stable"))
        rest = np.setdiff1d(np.arange(test.num_rows), mixed)
        test, label = test.take(rest), label[rest]
        attack = None if attack is None else attack[rest]
    return replace(dataset, train=train, test=test, label=label, attack=attack)


@lru_cache(maxsize=1)
def _load(name: str, data: str | None) -> Dataset:
    """Load a dataset; the last one is kept, as jobs on the same dataset follow each other."""
    return datasets.load(name, Path(data) if data else None)


def _warm_up(job: Job) -> None:
    """Fit and score a tiny table first, so that imports and compilation are not measured."""
    method = METHOD_OF[job.method]
    tiny = datasets.load(f"binned-{WARM_UP}" if method.role == "miner" else WARM_UP)
    detector = method.make(tiny, job.scaling, job.seed, dict(job.settings))
    if not method.needs_torch:
        detector.fit(tiny.train)
        detector.score(tiny.test)


def _reset_peak() -> float:
    """Reset the peak where the system can (Linux), and return the memory in use, in MB."""
    gc.collect()
    if _CLEAR_REFS.exists():
        _CLEAR_REFS.write_text("5")
    return _peak_mb()


def _peak_mb() -> float:
    if _STATUS.exists():
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Run one job from stdin."""
    warnings.simplefilter("ignore")
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    sys.stdout.buffer.write(msgspec.json.encode(measure(order)))


if __name__ == "__main__":
    main()
