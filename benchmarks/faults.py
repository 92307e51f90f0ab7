"""Sensors of the simulated plant that begin to fail: which faults are reported, and on time.

Models learn normal rows of the plant. In rows of other runs one sensor, drawn at random, reads wrong
values from some row on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import plants
from benchmarks.alarms import named, rank_among
from benchmarks.results import FAULT, Finding, Interpretation, warn
from truism import InvariantRuleDetector
from truism.plant import SENSORS, simulate

FAULTY_ROWS, FAULTY_SEED = 6_000, 100
SEEDS = range(10)
BEGIN, THEN = 1_000, 3_000
SIZE = 8  # training standard deviations
WITHIN = 60  # rows
AMONG = 3  # the sensor must be among the first so many that an event blames
DAY = 8_640  # rows

Values = NDArray[np.float64]

_ROW = np.arange(FAULTY_ROWS)
_SINCE = _ROW - BEGIN


@dataclass(frozen=True, slots=True)
class Fault:
    """What becomes of the values of a sensor, and within which rows it must be reported."""

    change: Callable[[Values, float], Values]
    start: int = BEGIN
    within: int = WITHIN


def _ramp(n_rows: int) -> Fault:
    return Fault(lambda values, by: values + by * np.clip(_SINCE / n_rows, 0, 1), within=n_rows)


def _returning(n_rows: int, every: int) -> Fault:
    off = (_SINCE >= 0) & (_SINCE % every < n_rows)
    return Fault(lambda values, by: values + by * off)


def _instead(value: float) -> Fault:
    return Fault(lambda values, _: np.where(_SINCE >= 0, value, values))


FAULTS: Mapping[str, Fault] = {
    "a step": Fault(lambda values, by: values + by * (_SINCE >= 0)),
    "a step, and as much again": Fault(
        lambda values, by: values + by * (_SINCE >= 0) + by * (_ROW >= THEN), THEN
    ),
    "a step, and back": Fault(
        lambda values, by: values + by * ((_SINCE >= 0) & (_ROW < THEN)), THEN
    ),
    "a ramp over 1,000 rows": _ramp(1_000),
    "a ramp over 3,000 rows": _ramp(3_000),
    "60 rows in every 150": _returning(60, 150),
    "120 rows in every 720": _returning(120, 720),
    "200 rows a day": _returning(200, DAY),
    "dead (0)": _instead(0.0),
    "missing": _instead(np.nan),
    "frozen": Fault(lambda values, _: np.where(_SINCE >= 0, values[BEGIN], values)),
}


def judge_faults() -> Iterator[Interpretation]:
    """Learn once, and look for each fault in runs of other seeds; a finding is one run."""
    columns = plants.learned()
    detector = InvariantRuleDetector(ordered=True, n_jobs=1).fit(pa.table(columns))
    findings: dict[str, list[Finding]] = {kind: [] for kind in FAULTS}
    for seed in SEEDS:
        warn(f"series: faulty sensors, run {seed + 1} of {len(SEEDS)}")
        run = simulate(FAULTY_ROWS, seed=FAULTY_SEED + seed).columns
        random = np.random.default_rng(seed)
        sensor = SENSORS[random.integers(len(SENSORS))]
        by = float(random.choice([-1, 1]) * SIZE * columns[sensor.tag].std())
        for kind, fault in FAULTS.items():
            wrong = fault.change(run[sensor.tag], by)
            wrong = np.floor(wrong * sensor.steps + 0.5) / sensor.steps
            events = detector.incidents(pa.table(run | {sensor.tag: wrong}))
            ranks = [
                rank
                for event in events
                if 0 <= event.start - fault.start < fault.within
                and (rank := rank_among(named(event), (sensor.tag,))) is not None
            ]
            rank = min(ranks, default=None)
            finding = Finding(str(seed), (sensor.tag,), fault.within, len(events), target_rank=rank)
            findings[kind].append(finding)
    for kind, runs in findings.items():
        yield Interpretation(FAULT + kind, "truism", "", len(detector.rules_), 0.0, tuple(runs))
