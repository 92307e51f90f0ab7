"""Life after learning, measured on the simulated plant: `python -m benchmarks.lifecycle`.

*Weeks*: how often a model is called stale, or drifting, on weeks that are like training.

*Scaled sensors*: how many sensors are found within a day if they read 10 % too much: a reason names the
sensor.

*Accepting*: how many of the attacks that a model detects are lost by accepting one benign incident, over
many pairs of an incident and an attack. Benign incidents are those of runs without attacks, with and
without a retuned controller. An attack is detected if an event begins in its window (`alarms`). And how
many of the incidents begin again when the same rows are checked once more.

Every week, sensor and incident is a line of the results; what is there already is not measured again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.alarms import telling
from truism.explain.checker import Checker
from truism.explain.findings import Findings
from truism.incidents.events import Event
from truism.learn.learn import learn as train
from truism.model.settings import Settings
from truism.plant import schedule, simulate
from truism.review.accept import Named, offer
from truism.review.compare import Source
from truism.review.status import status
from truism.table.columns import Table
from truism.table.frames import as_table

DAY = 8640  # rows
WEEK = 7 * DAY
SCALED = 1.1
FILE = Path("benchmarks/results/lifecycle.jsonl")

Marks = list[tuple[int, int]]


class Results:
    """Lines of a file, by what they are about; new ones are written at once."""

    def __init__(self, place: Path) -> None:
        self.place = place
        lines = place.read_text("utf-8").splitlines() if place.exists() else []
        self.found: dict[tuple[str, Any], dict[str, Any]] = {}
        for line in lines:
            read = json.loads(line)
            self.found[read["what"], read["which"]] = read

    def missing(self, what: str, which: Any) -> bool:
        """Return whether something has not been measured yet."""
        return (what, which) not in self.found

    def add(self, what: str, which: Any, **measured: Any) -> None:
        """Keep what was measured."""
        line = {"what": what, "which": which, **measured}
        self.found[what, which] = line
        with self.place.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def of(self, what: str) -> list[dict[str, Any]]:
        """Return all lines of one kind."""
        return [line for (kind, _), line in self.found.items() if kind == what]


def weeks(checker: Checker, results: Results, n_weeks: int) -> None:
    """Ask for the status on weeks that are like training."""
    for seed in range(700, 700 + n_weeks):
        if results.missing("week", seed):
            found = status(checker, as_table(simulate(WEEK, seed=seed).columns))
            signs = [each.text for each in found.signs]
            results.add("week", seed, verdict=found.verdict, signs=signs)


def scaled_sensors(checker: Checker, results: Results) -> None:
    """Ask for the status on one day, with one sensor after the other scaled."""
    columns = simulate(DAY, seed=900).columns
    for name, values in columns.items():
        if np.asarray(values).dtype.kind == "f" and results.missing("sensor", name):
            changed = {**columns, name: np.asarray(values) * SCALED}
            found = status(checker, as_table(changed))
            named = any(sign.variable == name for sign in found.signs)
            results.add("sensor", name, verdict=found.verdict, named=named)


def accepting(checker: Checker, results: Results, n_runs: int, n_rows: int) -> None:
    """Accept benign incidents one by one, and count the attacks that are lost."""
    runs = [_attacked(seed, n_rows) for seed in range(500, 500 + n_runs)]
    before = [_detected(checker, table, marks) for table, marks in runs]
    for which, table, rows in _benign(checker, n_runs, n_rows):
        if results.missing("accepted", which):
            here = Source(table.n_rows, lambda table=table: [table])
            made = offer(checker, table.take(rows), Named(rows), reason="benign", here=here)
            accepted = checker.accepting(made.acceptance)
            again = accepted.find(table)
            told = any(each.start in rows for each in _events(again))
            lost = [
                len(own - _detected(accepted, today, marks))
                for (today, marks), own in zip(runs, before, strict=True)
            ]
            pairs = sum(map(len, before))
            figures = {"rows": len(rows), "pairs": pairs, "lost": sum(lost), "told_again": told}
            results.add("accepted", which, **figures)


def _benign(
    checker: Checker, n_runs: int, n_rows: int
) -> Iterator[tuple[str, Table, np.ndarray[Any, np.dtype[np.int64]]]]:
    for seed in range(300, 300 + n_runs):
        for retuned in (None, n_rows // 6):
            table = as_table(simulate(n_rows, seed=seed, retuned=retuned).columns)
            found = checker.find(table)
            for each in [*found.incidents, *found.shifts][:2]:
                rows = np.arange(each.onset, each.end + 1)
                yield f"{seed} {retuned} {each.start} {each.end}", table, rows


def _attacked(seed: int, n_rows: int) -> tuple[Table, Marks]:
    attacks = schedule(n_rows, seed=seed)
    table = as_table(simulate(n_rows, seed=seed, attacks=attacks).columns)
    return table, [(each.start, each.end) for each in attacks]


def _detected(checker: Checker, table: Table, marks: Marks) -> set[int]:
    firsts = telling(_events(checker.find(table)), marks, table.n_rows)
    return {i for i, first in enumerate(firsts) if first is not None}


def _events(findings: Findings) -> list[Event]:
    return [*findings.incidents.outlines, *findings.shifts.outlines]


def summary(results: Results) -> Iterator[str]:
    """Say what was measured."""
    verdicts = [line["verdict"] for line in results.of("week")]
    yield (
        f"stationary weeks: {len(verdicts)}, called stale {verdicts.count('stale')}, "
        f"drifting {verdicts.count('drifting')}"
    )
    sensors = results.of("sensor")
    missed = [line["which"] for line in sensors if not line["named"]]
    yield f"scaled sensors: {len(sensors) - len(missed)} of {len(sensors)} named; missed {missed}"
    accepted = results.of("accepted")
    pairs, lost, again = (
        sum(line[name] for line in accepted) for name in ("pairs", "lost", "told_again")
    )
    yield (
        f"accepting: {len(accepted)} benign incidents, {again} of them told again, {pairs} pairs, "
        f"{lost} attacks lost"
    )


def main() -> None:
    """Measure what is missing, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weeks", type=int, default=100)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--training", type=int, default=WEEK)
    parser.add_argument("--out", type=Path, default=FILE)
    asked = parser.parse_args()
    results = Results(asked.out)
    model = train(as_table(simulate(asked.training, seed=5).columns), Settings())
    checker = Checker(model)
    scaled_sensors(checker, results)
    accepting(checker, results, asked.runs, asked.rows)
    weeks(checker, results, asked.weeks)
    for line in summary(results):
        print(line, flush=True)


if __name__ == "__main__":
    main()
