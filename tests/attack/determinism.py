"""Determinism: cores, hash seeds, dataframe libraries and order change nothing that is learned."""

import io
import random

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from attack.attempts import Bench, Broken, Kind
from attack.program import complaint, fresh
from attack.samples import WRITINGS, masked, table
from truism import InvariantRuleDetector


def attempt(draw: random.Random, bench: Bench) -> None:
    """Learn the same table in two ways."""
    draw.choice([starts, starts, libraries, order, writings])(draw, bench)


def starts(draw: random.Random, bench: Bench) -> None:
    """Start Python with other hashes and another number of cores."""
    (bench.folder / "t.csv").write_text(table(draw.randrange(10**6), draw.choice([60, 300])))
    more = draw.choice([[], ["--delta"], ["--scoring", "paper"], ["--lookback", "0"]])
    models, found = set(), set()
    for _ in range(2):
        changes = {"PYTHONHASHSEED": str(draw.randrange(2**32))}
        jobs = ["--jobs", str(draw.choice([1, 2, 3, 7]))]
        line = "TRUISM" if draw.random() < 0.5 else "taskset -c 0 TRUISM"
        command = ("learn", "t.csv", "-o", "m.json", *more, *jobs)
        ended = fresh(bench.folder, *command, line=line, **changes)
        if complaint(ended, (0,)):
            raise Broken(complaint(ended, (0,)))
        models.add(masked((bench.folder / "m.json").read_bytes()))
        command = ("check", "t.csv", "-m", "m.json", "--format", "json", *jobs)
        found.add(fresh(bench.folder, *command, "--threshold", "0", **changes).out)
    if len(models) > 1 or len(found) > 1:
        raise Broken(f"{len(models)} models and {len(found)} results from one table {more}")


def writings(draw: random.Random, bench: Bench) -> None:
    """Let a command write its files in a Python with other hashes."""
    # The demo and what counts as a large file are others there.
    chosen = draw.choice(
        [each for each in WRITINGS if each.name not in ("demo", "large", "portions")]
    )
    over = draw.random() < 0.5
    bench.samples.copy_to(bench.folder, chosen, over=over)
    seed = str(draw.randrange(2**32))
    ended = fresh(bench.folder, *bench.samples.arguments(chosen), PYTHONHASHSEED=seed)
    if complaint(ended, (0, 1)):
        raise Broken(complaint(ended, (0, 1)))
    for output, content in bench.samples.written(chosen, over).items():
        if masked((bench.folder / output).read_bytes()) != content:
            raise Broken(f"{chosen.name}: {output} differs with hash seed {seed}")


def _columns(draw: random.Random) -> dict[str, list[object]]:
    frame = pd.read_csv(io.StringIO(table(draw.randrange(10**6), draw.choice([60, 300]))))
    return {name: [None if x != x else x for x in frame[name].tolist()] for name in frame}


def libraries(draw: random.Random, bench: Bench) -> None:
    """Hand over the same columns as tables of every library."""
    columns = _columns(draw)
    scoring = draw.choice(["evidence", "paper"])
    seen = set()
    for make in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        detector = InvariantRuleDetector(scoring=scoring, n_jobs=draw.choice([1, 2]))
        detector.fit(make(columns)).save(bench.folder / "m.json")
        scores = detector.anomaly_score(make(columns)).tobytes()
        seen.add((masked((bench.folder / "m.json").read_bytes()), scores))
    if len(seen) > 1:
        raise Broken(f"{len(seen)} models from four libraries")


def order(draw: random.Random, bench: Bench) -> None:
    """Shuffle the columns, and rows for the paper's score; the default sets its scale on stretches."""
    columns = _columns(draw)
    del columns["time"]
    rows = list(range(len(columns["pump"])))
    names = list(columns)
    scoring = draw.choice(["evidence", "paper"])
    scores = []
    for _ in range(2):
        draw.shuffle(names)
        if scoring == "paper":
            draw.shuffle(rows)
        shuffled = {name: [columns[name][i] for i in rows] for name in names}
        detector = InvariantRuleDetector(min_support=0.05, scoring=scoring, n_jobs=1)
        detector.fit(shuffled)
        rules = sorted(str(rule) for rule in detector.rules_)
        scores.append((rules, detector.anomaly_score(columns)))
    if scores[0][0] != scores[1][0]:
        raise Broken("other rules after shuffling")
    if not np.allclose(scores[0][1], scores[1][1], rtol=1e-14, atol=1e-14):  # sums of other order
        raise Broken("other scores after shuffling")


KIND = Kind("determinism", 30, attempt)
