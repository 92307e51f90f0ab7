"""Speed, memory and growth of the paper's method; every claim is a ratio measured in one run.

    python -m benchmarks.speed [--only NAME ...] [--out FILE]

Each measurement runs in its own process, so that its peak memory is its own. Growth and compilation
are measured in processor seconds: there the two sides are minutes apart, and other work on the
machine must not count.

A results file holds one JSON line per measurement, with the machine that it was made on.
Measurements that were not repeated stay in the file as they are.
"""

import argparse
import functools
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np

FILE = Path("benchmarks/results/speed.jsonl")
MEGA = 1 << 20
PAPER = {"scoring": "paper", "support_ratio": 0.7, "max_predicates": 5}


class Measurement(msgspec.Struct, frozen=True):
    """One line of a results file."""

    measurement: str
    machine: str
    numpy: str
    figures: dict[str, int | float | str]


def read(path):
    """Return the measurements of a file by name."""
    lines = msgspec.json.Decoder(Measurement).decode_lines(path.read_bytes())
    return {each.measurement: each for each in lines}


def write(measured, path):
    """Write measurements; those in the file that were not repeated stay."""
    from truism.table.atomic import write_atomically

    known = read(path) if path.exists() else {}
    known |= {each.measurement: each for each in measured}
    ordered = [known[name] for name in MEASUREMENTS if name in known]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, msgspec.json.Encoder().encode_lines(ordered))


def plant_table(n_rows, *, seed=1, n_continuous=50, n_categorical=15):
    """Make a table like a plant's: sensors, their changes, and actuators."""
    from truism.plant import ACTUATORS, SENSORS, simulate
    from truism.table.frames import as_table

    length = min(n_rows, 100_000)
    recorded = simulate(length, seed=seed).columns
    copies = -(-n_rows // length)
    rng = np.random.default_rng(seed)
    columns = {}
    for sensor in [each.tag for each in SENSORS][: (n_continuous + 1) // 2]:
        values = np.tile(recorded[sensor], copies)[:n_rows]
        # Repeated rows would be too easy; equal noise at every length keeps growth comparable.
        values = values + rng.normal(scale=1e-3 * values.std(), size=n_rows).round(4)
        columns[sensor] = values
        columns[f"Δ{sensor}"] = np.diff(values, prepend=values[0])
    columns = dict(list(columns.items())[:n_continuous])
    for actuator in [each.tag for each in ACTUATORS][:n_categorical]:
        columns[actuator] = np.tile(recorded[actuator], copies)[:n_rows]
    return as_table(columns)


def wide_table(n_rows, n_columns, seed=0):
    """Make a table of correlated continuous columns."""
    from truism.table.frames import as_table

    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n_rows, 8))
    mixed = hidden @ rng.normal(size=(8, n_columns)) + 0.1 * rng.normal(size=(n_rows, n_columns))
    return as_table(mixed)


def warm_up():
    from benchmarks.learning import learn

    learn(plant_table(2_000), min_support=0.05, **PAPER)


def timed(work, repeat=1):
    best = float("inf")
    for _ in range(repeat):
        started = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - started)
    return best, result


def worked(work, repeat=3):
    """Return the processor seconds of all threads; the least of a few, as other work disturbs it."""
    best = float("inf")
    for _ in range(repeat):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def learning():
    """Learning from 99,360 × 65 values, against scikit-learn's exact trees for the same targets."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    from benchmarks.learning import learn
    from truism.model.schema import Numeric

    warm_up()
    table = plant_table(99_360)
    before = peak_mib()
    ours, model = timed(lambda: learn(table, min_support=0.01, **PAPER, n_jobs=os.cpu_count()))
    grown = peak_mib() - before
    column_of = table.column_of()
    numeric = [v.name for v in model.schema.variables if isinstance(v, Numeric)]
    others = [v.name for v in model.schema.variables if not isinstance(v, Numeric)]
    matrix = np.column_stack([column_of[name].values for name in numeric])
    leaf = int(0.01 * table.n_rows) + 1
    sampled = {"regressors": numeric[::10], "classifiers": others[::5]}
    theirs = 0.0
    for kind, names in sampled.items():
        spent = 0.0
        for name in names:
            inputs = matrix[:, [i for i, other in enumerate(numeric) if other != name]]
            tree = (
                DecisionTreeRegressor(min_samples_leaf=leaf)
                if kind == "regressors"
                else DecisionTreeClassifier(criterion="entropy", min_samples_leaf=leaf)
            )
            spent += timed(lambda t=tree, x=inputs, n=name: t.fit(x, column_of[n].values))[0]
        theirs += spent / len(names) * len(numeric if kind == "regressors" else others)
    cells = table.n_rows * len(table.columns) * 8 / MEGA
    return {
        "rows x columns": f"{table.n_rows:,} x {len(table.columns)}",
        "truism, trees and mining (s)": round(ours, 2),
        "rules": len(model.rules),
        "scikit-learn, trees only (s, extrapolated from every 10th and 5th target)": round(
            theirs, 1
        ),
        "times as fast as scikit-learn (target 30)": round(theirs / ours, 1),
        "peak extra memory / table size (limit 3)": round(grown / cells, 2),
    }


def scoring():
    """Scoring a million rows against IsolationForest, and one row alone."""
    from sklearn.ensemble import IsolationForest

    from benchmarks.learning import learn
    from truism.model.schema import Numeric
    from truism.score.scorer import Scorer
    from truism.table.columns import numbers
    from truism.table.frames import as_table

    table = plant_table(99_360)
    model = learn(table, min_support=0.01, **PAPER, n_jobs=os.cpu_count())
    scorer = Scorer(model)
    million = plant_table(1_000_000, seed=2)
    before = peak_mib()
    ours, scores = timed(lambda: scorer.score(million, os.cpu_count()))
    grown = peak_mib() - before - scores.nbytes / MEGA
    names = [v.name for v in model.schema.variables if isinstance(v, Numeric)]
    training, testing = table.column_of(), million.column_of()
    forest = IsolationForest(random_state=0, n_jobs=os.cpu_count()).fit(
        np.column_stack([numbers(training[name]) for name in names])
    )
    matrix = np.column_stack([numbers(testing[name]) for name in names])
    theirs, _ = timed(lambda: forest.score_samples(matrix))
    row = {column.name: column.cell(7) for column in million.columns}
    scorer.score(as_table(row))
    alone, _ = timed(lambda: scorer.score(as_table(row)), repeat=50)
    cells = million.n_rows * len(million.columns) * 8 / MEGA
    return {
        "rules": len(model.rules),
        "truism, 1,000,000 rows (s)": round(ours, 2),
        "IsolationForest (s)": round(theirs, 2),
        "truism / IsolationForest (limit 1)": round(ours / theirs, 3),
        "rows that break a rule": f"{(scores > 0).mean():.1%}",
        "one row from a dict (ms, limit 2)": round(1000 * alone, 2),
        "peak extra memory / table size (limit 1)": round(grown / cells, 2),
    }


def evidence():
    """The default scoring against the paper's at the same θ: learning, a million rows, one row."""
    from benchmarks.learning import learn
    from truism.score.scorer import Scorer
    from truism.table.frames import as_table

    warm_up()
    table = plant_table(99_360)
    learn(table.take(slice(0, 2_000)), min_support=0.05)
    million = plant_table(1_000_000, seed=2)
    row = as_table({column.name: column.cell(7) for column in million.columns})
    found = {}
    for name, settings in (("paper", PAPER), ("evidence", {})):
        learned = functools.partial(_learn_anew, table, settings)
        found[f"{name}, learning (processor s)"] = round(worked(learned), 2)
        scorer = Scorer(learned())
        scored = functools.partial(scorer.score, million, os.cpu_count())
        found[f"{name}, 1,000,000 rows (s)"] = round(timed(scored)[0], 2)
        alone, _ = timed(functools.partial(scorer.score, row), repeat=50)
        found[f"{name}, one row (ms)"] = round(1000 * alone, 2)
    ratio = found["evidence, learning (processor s)"] / found["paper, learning (processor s)"]
    found["learning, evidence / paper (limit 3)"] = round(ratio, 2)
    others = {
        "6,000 rows": table.take(slice(0, 6_000)),
        "30,000 rows": table.take(slice(0, 30_000)),
        "5,000 x 200": wide_table(5_000, 200),
        "1,000 x 20": wide_table(1_000, 20),
    }
    for name, part in others.items():
        by_default, as_paper = (
            worked(functools.partial(_learn_anew, part, settings)) for settings in ({}, PAPER)
        )
        found[f"{name}, learning with default settings (processor s)"] = round(by_default, 2)
        found[f"{name}, default settings / paper's scoring"] = round(by_default / as_paper, 2)
    return found


def attacks():
    """Scoring in turn with IsolationForest: normal rows, and tables that are mostly attacks."""
    found = {}
    tables = {
        "a plant's normal rows": (plant_table(99_360), plant_table(1_000_000, seed=2)),
        "plant": _tampered(),
    }
    if os.environ.get("TRUISM_DATA"):
        from benchmarks.datasets import load
        from truism.table.frames import as_table

        data = load("whole-kddcup99")
        tables["KDD Cup 99"] = as_table(data.train), as_table(data.test)
    for name, (training, testing) in tables.items():
        found |= {f"{name}, {label}": figure for label, figure in _race(training, testing).items()}
    return found


def _tampered():
    """Return a plant's table, and another in most of whose rows half of the values are others'."""
    from truism.table.columns import Table

    testing, rng = plant_table(100_000, seed=2), np.random.default_rng(3)
    rows = np.arange(testing.n_rows)
    others = np.where(rng.random(len(rows)) < 0.75, rng.permutation(rows), rows)
    columns = [
        column.take(others) if place % 2 else column for place, column in enumerate(testing.columns)
    ]
    return plant_table(99_360), Table(tuple(columns), testing.n_rows)


def _race(training, testing):
    """Score a table in turn with IsolationForest and with both ways of scoring."""
    from sklearn.ensemble import IsolationForest

    from benchmarks.learning import learn
    from truism.model.schema import Numeric
    from truism.score.scorer import Scorer
    from truism.table.columns import numbers

    settings = {"default": {}, "paper": {"min_support": 0.01, **PAPER}}
    scorers = {
        name: Scorer(learn(training, n_jobs=os.cpu_count(), **each))
        for name, each in settings.items()
    }
    variables = scorers["paper"].model.schema.variables
    names = [each.name for each in variables if isinstance(each, Numeric)]
    known, rows = (
        np.column_stack([numbers(table.column_of()[name]) for name in names])
        for table in (training, testing)
    )
    forest = IsolationForest(random_state=0, n_jobs=os.cpu_count()).fit(known)
    spent = {"IsolationForest": [], "default": [], "paper": []}
    for _ in range(7):
        # In turn, so that other work on the machine disturbs all of them.
        spent["IsolationForest"].append(_clocked(lambda: forest.score_samples(rows)))
        for name, scorer in scorers.items():
            score = functools.partial(scorer.score, testing.take(slice(None)), os.cpu_count())
            spent[name].append(_clocked(score))
    found = {"rows": testing.n_rows}
    for name, scorer in scorers.items():
        ratios = np.median(np.array(spent["IsolationForest"]) / np.array(spent[name]), axis=0)
        found[f"{name}, rules"] = len(scorer.model.rules)
        found[f"{name}, times as fast as IsolationForest"] = round(float(ratios[0]), 2)
        found[f"{name}, the same in processor time"] = round(float(ratios[1]), 2)
    for name, both in spent.items():
        seconds, processor = np.median(both, axis=0).round(3).tolist()
        found[f"{name} (s, median of {len(both)})"] = seconds
        found[f"{name} (processor s)"] = processor
    return found


def _clocked(work):
    """Return the seconds and the processor seconds that work takes."""
    started, worked_before = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - worked_before


def _learn_anew(table, settings):
    """Learn from fresh columns, which have nothing cached."""
    from benchmarks.learning import learn

    return learn(table.take(slice(None)), min_support=0.01, **settings)


N_FAULTS = 1_146  # as a user met them, in 22,544 rows


def explaining():
    """Showing one of a thousand incidents, against scoring alone and against explaining all."""
    from benchmarks.learning import learn
    from truism.explain.checker import Checker

    warm_up()
    normal = plant_table(20_000)
    found = {}
    for name, ordered, n_rows in (("records", False, 22_544), ("series", True, 120_000)):
        checker = Checker(learn(normal, min_support=0.02, ordered=ordered))
        table = with_faults(plant_table(n_rows, seed=3), N_FAULTS)
        checker.score(table)
        scored = worked(functools.partial(checker.score, table))
        one = worked(lambda c=checker, t=table: c.find(t).incidents[:1])
        grouped = worked(lambda c=checker, t=table: c.find(t).patterns[:10])
        all_of = worked(lambda c=checker, t=table: list(c.find(t).incidents), repeat=1)
        found |= {
            f"{name}, incidents": len(checker.find(table).incidents),
            f"{name}, scoring alone (processor s)": round(scored, 2),
            f"{name}, the worst incident shown (processor s)": round(one, 2),
            f"{name}, ten patterns shown (processor s)": round(grouped, 2),
            f"{name}, every incident explained (processor s)": round(all_of, 2),
            f"{name}, the worst shown / scoring alone": round(one / scored, 2),
            f"{name}, explaining: all / the worst": round((all_of - scored) / (one - scored), 1),
            f"{name}, all explained / the worst shown (target 10)": round(all_of / one, 1),
        }
    return found


def with_faults(table, n_faults):
    """Return a table in which some sensors jump in single rows, far apart from each other."""
    sensors = [column for column in table.columns if column.kind == "number"]
    places = np.linspace(5, table.n_rows - 5, n_faults).astype(np.int64)
    columns = {column.name: column.values.copy() for column in sensors}
    for at, column in enumerate(sensors[:40:2]):
        own = places[at::20]
        columns[column.name][own] += 40 * column.values.std()
    changed = [
        msgspec.structs.replace(column, values=columns.get(column.name, column.values))
        for column in table.columns
    ]
    return type(table)(tuple(changed), table.n_rows)


def rows():
    """Growth with rows: 50,000 to 800,000."""
    from benchmarks.learning import learn

    warm_up()
    found, last = {}, None
    for n_rows in (50_000, 100_000, 200_000, 400_000, 800_000):
        table = plant_table(n_rows)
        spent = worked(lambda t=table: learn(t, min_support=0.01, **PAPER, n_jobs=os.cpu_count()))
        found[f"{n_rows:,} rows (processor s)"] = round(spent, 2)
        if last is not None:
            found[f"{n_rows:,} rows / half as many (limit 2.2)"] = round(spent / last, 2)
        last = spent
    return found


def columns():
    """Growth with columns: 25 to 200."""
    from benchmarks.learning import learn

    warm_up()
    found, last = {}, None
    for n_columns in (25, 50, 100, 200):
        table = wide_table(20_000, n_columns)
        spent = worked(lambda t=table: learn(t, min_support=0.02, **PAPER, n_jobs=os.cpu_count()))
        found[f"{n_columns} columns (processor s)"] = round(spent, 2)
        if last is not None:
            found[f"{n_columns} columns / half as many (limit 4.5)"] = round(spent / last, 2)
        last = spent
    return found


def wide():
    """Wide tables within the default budget."""
    from benchmarks.learning import learn
    from truism.table.frames import as_table

    warm_up()
    rng = np.random.default_rng(0)
    chance = np.where(rng.random(1500) < 0.9, rng.uniform(0.97, 0.999, 1500), 0.5)
    binary = as_table((rng.random((1000, 1500)) < chance).astype(int))
    spent, model = timed(lambda: learn(binary, min_support=0.05, **PAPER, n_jobs=os.cpu_count()))
    numeric = wide_table(2_000, 170)
    numeric_spent, _ = timed(
        lambda: learn(numeric, min_support=0.01, **PAPER, n_jobs=os.cpu_count())
    )
    return {
        "1,000 x 1,500 binary (s, limit 60)": round(spent, 2),
        "complete up to this many conditions": model.provenance.complete_to,
        "2,000 x 170 continuous (s, limit 10)": round(numeric_spent, 2),
    }


def use():
    """Learn a series with default settings, and find incidents in another."""
    from truism import InvariantRuleDetector
    from truism.plant import schedule, simulate

    detector = InvariantRuleDetector(ordered=True).fit(simulate(4_000, seed=0).columns)
    detector.incidents(simulate(4_000, seed=1, attacks=schedule(4_000, seed=1)).columns)


def start():
    """Importing, and compiling with an empty cache all that learning and checking a series take."""
    importing, _ = timed(lambda: _python("import truism"), repeat=5)
    nothing, _ = timed(lambda: _python("pass"), repeat=5)
    code = "from benchmarks.speed import use; use()"
    with tempfile.TemporaryDirectory() as cache:
        first = _children(lambda: _python(code, NUMBA_CACHE_DIR=cache))
        second = _children(lambda: _python(code, NUMBA_CACHE_DIR=cache))
    return {
        "import truism (s, limit 0.2)": round(importing - nothing, 3),
        "compiling on first use (processor s, limit 8)": round(first - second, 1),
        "whole process afterwards (processor s)": round(second, 1),
    }


def _children(work):
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime


def _python(code, **environment):
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **environment})


MEASUREMENTS = {
    work.__name__: work
    for work in (
        *(learning, scoring, evidence, explaining, attacks, rows, columns, wide),
        start,
    )
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=MEASUREMENTS, default=list(MEASUREMENTS))
    parser.add_argument("--out", type=Path, help="also write the results as JSON lines")
    parser.add_argument("--here", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(MEASUREMENTS[options.here](), ensure_ascii=False))
        return
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    measured = []
    for name in options.only:
        command = [sys.executable, "-m", "benchmarks.speed", "--here", name]
        finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        figures = json.loads(finished.stdout)
        measured.append(Measurement(name, machine, np.__version__, figures))
        print(f"\n{MEASUREMENTS[name].__doc__}")
        for label, value in figures.items():
            print(f"  {label:<74} {value:>14}", flush=True)
    if options.out:
        write(measured, options.out)


if __name__ == "__main__":
    main()
