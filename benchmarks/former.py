"""The same work by the present program and by a former one, in one run.

    python -m benchmarks.former [--repeat N] [--only NAME ...] [--out FILE]

The former program is taken from this repository's own history (``git archive``). Both sides run the same
lines of Python in processes of their own, one after the other in turn, and say how many processor
seconds they took; what counts is the median of the ratios. Both must find the same: rules (as values, as
their words have changed since) and threshold where they learn, the rows that are anomalous where they
explain. Each result is written when it is there, as one JSON line, in place of what was measured of the
same task before, so that a run that is cut short is not lost. Tasks may be run one by one:
the first is the longest, with twelve minutes of a processor for both sides.
"""

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import msgspec

FILE = Path("benchmarks/results/former.jsonl")
FORMER = "8aed360"  # before wide tables and many rows to explain were made faster
ROOT = Path(__file__).parent.parent

TABLES = """
import hashlib, json, os, sys, tempfile, time, warnings
import msgspec
import numpy as np
from truism import InvariantRuleDetector

warnings.simplefilter("ignore")

# Rows that stand for themselves: the former program knew no others.
ALONE = {"lookback": 0} if "lookback" in InvariantRuleDetector().get_params() else {}


def wide(n_rows, n_columns):
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(n_rows, max(4, n_columns // 50)))
    chosen = hidden[:, rng.integers(hidden.shape[1], size=n_columns)]
    return chosen * rng.normal(size=n_columns) + 0.3 * rng.normal(size=(n_rows, n_columns))


def mixed(n_rows, seed):
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(9).normal(size=(8, 56))
    values = rng.normal(size=(n_rows, 8)) @ mixing + 0.1 * rng.normal(size=(n_rows, 56))
    columns = {f"x{i}": values[:, i] for i in range(48)}
    states = {f"s{i}": np.digitize(values[:, i], [-2, -1, 0, 1, 2]).astype(str) for i in range(48, 56)}
    return columns | states


def timed(work):
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def say(spent, found=""):
    print(json.dumps([spent, found]))
"""

LEARNING = """
InvariantRuleDetector(n_jobs=1, **ALONE).fit(wide(200, 8))
table = wide({rows}, {columns})
spent, detector = timed(lambda: InvariantRuleDetector(n_jobs=1, **ALONE).fit(table))
model = detector.model_
rules = [(each.antecedent, each.consequents, each.count) for each in model.rules]
say(spent, hashlib.sha256(msgspec.json.encode((rules, model.threshold))).hexdigest())
"""

EXPLAINING = """
detector = InvariantRuleDetector(n_jobs=1, threshold=1.0, **ALONE).fit(mixed(4_000, 1))
rows = mixed({rows}, 2)
detector.explain(mixed(20, 3))
spent, explained = timed(lambda: list(detector.explain(rows)))
say(spent, str([each.row for each in explained]))
"""

REPORTING = """
detector = InvariantRuleDetector(n_jobs=1, **ALONE).fit(mixed(4_000, 1))
rows = mixed({rows}, 2)
for i in range(0, 48, 3):  # every fourth row is an incident of its own
    rows[f"x{{i}}"][::4] = -rows[f"x{{i}}"][::4] + 4
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "report.html")
    detector.report(mixed(20, 3), path)
    say(timed(lambda: detector.report(rows, path))[0])
"""

# The worst of a thousand incidents on the screen; a series has a past that was not known formerly.
WORST = """
import contextlib, io, pyarrow as pa, pyarrow.parquet as pq
from truism.cli.app import main

known = InvariantRuleDetector().get_params()
how = {{"ordered": True}} if {ordered} and "ordered" in known else {{}} if {ordered} else ALONE
rows = mixed(22_544, 2)
for i in range(0, 48, 3):  # every twentieth row is an incident of its own
    rows[f"x{{i}}"][::20] = -rows[f"x{{i}}"][::20] + 4


def check(columns, *said):
    pq.write_table(pa.table(columns), "rows.parquet")
    sys.argv = ["truism", "check", "rows.parquet", "-m", "model.json", "--jobs", "1", *said]
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        main()
    return shown.getvalue()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    InvariantRuleDetector(n_jobs=1, **how).fit(mixed(4_000, 1)).save("model.json")
    check({{name: column[:20] for name, column in rows.items()}})
    spent, shown = timed(lambda: check(rows, "--top", "1"))
    assert "more" in shown, shown
    os.chdir("/")
say(spent)
"""

# Rows of a plant in order: a series has a past, formerly every row stood for itself.
SERIES = """
from truism.plant import simulate

how = {{"ordered": True}} if ALONE else {{}}
normal, rows = (simulate(n, seed=seed).columns for n, seed in ((20_000, 1), ({rows}, 2)))
detector = InvariantRuleDetector(n_jobs=1, **how).fit(normal)
detector.anomaly_score(rows)
"""
LEARNING_SERIES = (
    SERIES
    + """
say(min(timed(lambda: InvariantRuleDetector(n_jobs=1, **how).fit(normal))[0] for _ in range(3)))
"""
)
SCORING_SERIES = (
    SERIES
    + """
say(min(timed(lambda: detector.anomaly_score(rows))[0] for _ in range(5)))
"""
)

TASKS = {
    "learning 300 x 5,000": LEARNING.format(rows=300, columns=5_000),
    "learning 50 x 10,000": LEARNING.format(rows=50, columns=10_000),
    "learning 300 x 1,000": LEARNING.format(rows=300, columns=1_000),
    "learning 50 x 2,000": LEARNING.format(rows=50, columns=2_000),
    "explaining 50,000 x 56": EXPLAINING.format(rows=50_000),
    "explaining 2,000 x 56": EXPLAINING.format(rows=2_000),
    "reporting 20,000 incidents": REPORTING.format(rows=80_000),
    "reporting 1,000 incidents": REPORTING.format(rows=4_000),
    "the worst of 1,000 rows": WORST.format(ordered=False),
    "the worst of 1,000 incidents": WORST.format(ordered=True),
    "learning a series": LEARNING_SERIES.format(rows=2_000),
    "scoring a series": SCORING_SERIES.format(rows=100_000),
}


def extract(commit, folder):
    """Write the program of a commit below a folder, and return where."""
    packed = subprocess.run(
        ["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return Path(folder) / "src"


def run(source, code):
    """Run lines of Python with one of the two programs; return seconds and what was found."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", TABLES + code],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    return json.loads(done.stdout)


def compare(name, former, repeat):
    """Run both programs in turn; return their median seconds, and the median of the ratios."""
    pairs = []
    for _ in range(repeat):
        (before, was), (now, found) = (
            run(source, TASKS[name]) for source in (former, ROOT / "src")
        )
        if was != found:
            sys.exit(f"{name}: both programs must find the same.")
        pairs.append((before, now))
    before, now = (statistics.median(side) for side in zip(*pairs, strict=True))
    return before, now, statistics.median(was / found for was, found in pairs)


class Comparison(msgspec.Struct, frozen=True):
    """One line of a results file: processor seconds of both programs, and the median of the ratios."""

    task: str
    former: str
    repeat: int
    before: float
    now: float
    times_as_fast: float


def read(path):
    """Return the comparisons of a file by task."""
    lines = msgspec.json.Decoder(Comparison).decode_lines(path.read_bytes())
    return {each.task: each for each in lines}


def write(compared, path):
    """Write a comparison; those of other tasks stay."""
    from truism.table.atomic import write_atomically

    known = (read(path) if path.exists() else {}) | {compared.task: compared}
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = [known[task] for task in TASKS if task in known]
    write_atomically(path, msgspec.json.Encoder().encode_lines(ordered))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=TASKS, default=list(TASKS))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--out", type=Path, help="also write the results as JSON lines")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        former = extract(FORMER, folder)
        for name in options.only:
            before, now, ratio = compare(name, former, options.repeat)
            print(f"{name:<28} {before:8.2f} s {now:8.2f} s {ratio:6.2f} times as fast", flush=True)
            if options.out:
                write(
                    Comparison(
                        name,
                        FORMER,
                        options.repeat,
                        *(round(each, 2) for each in (before, now, ratio)),
                    ),
                    options.out,
                )


if __name__ == "__main__":
    main()
