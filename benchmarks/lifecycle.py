"""Life after learning, measured on the simulated plant: `python -m benchmarks.lifecycle`.

*Accepting*: how many of the attacks that a model detects are lost by accepting one benign incident, over
many pairs of an incident and an attack. Benign incidents are those of runs without attacks, with and
without a retuned controller. An attack is detected if a row of it is reported.

*Status*: how often a model is called stale on days that are like training, and how many sensors are
found within a day if they are scaled by 10 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from truism.explaining.accepting import Terms, offer
from truism.explaining.checker import Checker
from truism.explaining.freshness import status
from truism.learning.training import train
from truism.model.settings import Settings
from truism.plant import schedule, simulate
from truism.table.columns import Table
from truism.table.frames import as_table

DAY = 8640  # rows
SCALED = 1.1


def accepting(checker: Checker, n_runs: int, n_rows: int) -> str:
    """Accept benign incidents one by one, and count the attacks that are lost."""
    benign = list(_benign(checker, n_runs, n_rows))
    runs = [_attacked(seed, n_rows) for seed in range(500, 500 + n_runs)]
    n_pairs = n_lost = 0
    for table, marks in runs:
        before = _detected(checker, table, marks)
        for model in benign:
            after = _detected(Checker(model), table, marks)
            n_pairs += len(before)
            n_lost += len(before - after)
    return f"accepting: {len(benign)} benign incidents, {n_pairs} pairs, {n_lost} attacks lost"


def _benign(checker: Checker, n_runs: int, n_rows: int) -> Iterator[object]:
    for seed in range(300, 300 + n_runs):
        for retuned in (None, n_rows // 6):
            table = as_table(simulate(n_rows, seed=seed, retuned=retuned).columns)
            found = checker.find(table)
            for each in [*found.incidents, *found.shifts][:2]:
                rows = np.arange(each.start, each.end + 1)
                yield offer(checker, table, rows, Terms("benign")).model


def _attacked(seed: int, n_rows: int) -> tuple[Table, list[tuple[int, int]]]:
    attacks = schedule(n_rows, seed=seed)
    table = as_table(simulate(n_rows, seed=seed, attacks=attacks).columns)
    return table, [(each.start, each.end) for each in attacks]


def _detected(checker: Checker, table: Table, marks: list[tuple[int, int]]) -> set[int]:
    reported = checker.score(table) > checker.model.threshold
    return {i for i, (start, end) in enumerate(marks) if reported[start:end].any()}


def freshness(checker: Checker, n_days: int) -> str:
    """Ask for the status on stationary days, and on one day with each sensor scaled."""
    verdicts = [
        status(checker, as_table(simulate(DAY, seed=seed).columns)).verdict
        for seed in range(700, 700 + n_days)
    ]
    columns = simulate(DAY, seed=900).columns
    sensors = [name for name in columns if np.asarray(columns[name]).dtype.kind == "f"]
    found = [
        name
        for name in sensors
        if any(
            sign.variable == name
            for sign in status(
                checker, as_table({**columns, name: np.asarray(columns[name]) * SCALED})
            ).signs
        )
    ]
    missed = sorted({*sensors} - {*found})
    return (
        f"status: {verdicts.count('stale')} stale and {verdicts.count('drifting')} drifting of "
        f"{n_days} stationary days; {len(found)} of {len(sensors)} scaled sensors found; missed {missed}"
    )


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--training", type=int, default=20_000)
    asked = parser.parse_args()
    model = train(as_table(simulate(asked.training, seed=5).columns), Settings(), n_jobs=2)
    checker = Checker(model)
    print(accepting(checker, asked.runs, asked.rows), flush=True)
    print(freshness(checker, asked.days), flush=True)


if __name__ == "__main__":
    main()
