"""Learning from and checking more rows than are held: time, memory and passes, beside one scan by DuckDB.

    python -m benchmarks.scale [--rows N ...] [--folder DIR] [--out FILE] [--tasks TASK ...]

Rows are those of the plant, repeated with noise of their own, 30 variables, written once as Parquet in
parts of a million rows; fewer rows are the first parts. Each measurement runs in its own process, so that
its peak memory is its own. DuckDB's time for the least and largest value of every column is the floor: it
reads the same bytes once. Where others use the machine, seconds of a processor say more than those of a
clock.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PART = 1_000_000
N_SENSORS, N_ACTUATORS = 20, 10
GIB = 1 << 30


def write_rows(folder, n_rows):
    """Write rows of the plant in parts, unless they are there already; return the names of the files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from truism.plant import ACTUATORS, SENSORS, simulate

    if n_rows % PART:
        raise ValueError(f"rows must be a multiple of {PART:,}, got {n_rows:,}")
    folder.mkdir(parents=True, exist_ok=True)
    places = [folder / f"{part:05}.parquet" for part in range(n_rows // PART)]
    recorded = None
    for part, place in enumerate(places):
        if place.exists():
            continue
        recorded = recorded or simulate(100_000, seed=1).columns
        size, rng = PART, np.random.default_rng(part)
        columns = {}
        for sensor in [each.tag for each in SENSORS][:N_SENSORS]:
            values = np.resize(recorded[sensor], size)
            columns[sensor] = values + rng.normal(scale=1e-3 * values.std(), size=size).round(4)
        for actuator in [each.tag for each in ACTUATORS][:N_ACTUATORS]:
            columns[actuator] = np.resize(recorded[actuator], size)
        draft = place.with_suffix(".draft")
        pq.write_table(pa.table(columns), draft, compression="snappy")
        draft.rename(place)
    return [str(place) for place in places]


def learn(files, model):
    """Learn from all files, and count the passes."""
    from truism.learn.batches import Batches
    from truism.learn.learn import learn as train
    from truism.model.files import save_model
    from truism.model.settings import Settings
    from truism.table.files import open_files, read_first

    stages = []

    def progress(stage, done, _):
        if done == 0:
            stages.append(stage)

    opened = open_files(files)
    reading = read_first(opened, 0).reading
    parts = Batches.of_files(opened, reading)
    learned = train(parts, Settings(), reading=reading, n_jobs=2, progress=progress)
    save_model(learned, model)
    rounds = stages.count("verifying pass")
    passes = stages.count("first pass") + rounds
    return {"passes": passes, "rounds": rounds, "rules": len(learned.rules)}


def check(files, model):
    """Check all files on the command line, within 1 GiB."""
    from truism.cli import app

    said = io.StringIO()
    asked = ["check", *files, "-m", str(model), "--memory-limit", "1GiB", "--jobs", "2"]
    try:
        with contextlib.redirect_stdout(said):
            app.main(asked)
    except SystemExit as ended:
        if ended.code not in (0, 1):
            raise
    return {"verdict": " ".join(said.getvalue().rpartition("anomalies:")[-1].split())}


def score(files, model):
    """Score all files, batch by batch."""
    import truism
    from truism.table.files import open_files

    scorer = truism.arrow_scorer(model, n_jobs=2)
    n_anomalies = 0
    parts = open_files(files).batches(1 << 16)
    for batch in scorer(batch for part in parts for batch in part.frame.to_batches()):
        n_anomalies += batch["anomaly"].true_count
    return {"anomalies": n_anomalies}


def scan(files, _):
    """Let DuckDB find the least and largest value of every column."""
    import duckdb

    duckdb.sql("SET threads = 2")
    source = f"read_parquet({files})"
    names = [row[0] for row in duckdb.sql(f"DESCRIBE SELECT * FROM {source}").fetchall()]
    asked = ", ".join(f'min("{name}"), max("{name}")' for name in names)
    duckdb.sql(f"SELECT {asked} FROM {source}").fetchall()
    return {}


TASKS = {"learn": learn, "check": check, "score": score, "scan": scan}


def measure(task, n_rows, folder):
    """Run a task in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--task", task, str(n_rows), str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def report(task, n_rows, folder):
    """Do a task, and print what it took."""
    files = write_rows(Path(folder), int(n_rows))
    started = time.monotonic()
    found = TASKS[task](files, Path(folder) / f"{n_rows}.truism.json")
    used = resource.getrusage(resource.RUSAGE_SELF)
    figures = {
        "seconds": round(time.monotonic() - started, 1),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_gib": round(used.ru_maxrss * 1024 / GIB, 2),
        "load": round(os.getloadavg()[0], 1),
        **found,
    }
    print(json.dumps(figures))


def main():
    """Measure as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000, 100_000_000])
    parser.add_argument("--folder", type=Path, help="keep the rows there, and use those that are")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--task", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.task:
        report(*asked.task)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.folder or Path(temporary)
        for n_rows in asked.rows:
            write_rows(folder, n_rows)
            for task in asked.tasks:
                found = {"rows": n_rows, "task": task, **measure(task, n_rows, folder)}
                line = json.dumps({**found, "cores": len(os.sched_getaffinity(0))})
                print(line, flush=True)
                if asked.out:
                    with asked.out.open("a", encoding="utf-8") as file:
                        file.write(line + "\n")


if __name__ == "__main__":
    main()
