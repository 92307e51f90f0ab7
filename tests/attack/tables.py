"""Odd tables in Python: learned from or refused in our own words, and never a wrong sum."""

import os
import random
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attack.attempts import Bench, Broken, Kind
from attack.columns import odd_columns, odd_frame, odd_values
from truism import InvariantRuleDetector, TruismError, load

CHECKS = os.path.join("sklearn", "utils", "validation.py")
_NOT_TABLES = (None, "text", 5, object(), b"", {}, [], [[]], np.zeros(()), iter(()), {"a": 1})


def attempt(draw: random.Random, bench: Bench) -> None:
    """Learn from one odd table and score another."""
    n_rows = draw.choice([0, 1, 2, 3, 10, 40, 40, 40, 120])
    columns = odd_columns(draw, n_rows, draw.randint(1, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what builds frames
        training = odd_frame(draw, columns)
        later = odd_frame(draw, _later(draw, columns))
    if draw.random() < 0.03:
        training = draw.choice(_NOT_TABLES)
    detector = InvariantRuleDetector(**_parameters(draw), n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What truism notices it says to its caller; the other is scikit-learn's.
        warnings.filterwarnings("ignore", category=UserWarning, module=r".*attack\.tables")
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if own(lambda: detector.fit(training)) is None:
            return
        own(lambda: _use(detector, training))
        own(lambda: _use(detector, later))
        if draw.random() < 0.3:
            own(lambda: _write(detector, later, bench.folder))


def _parameters(draw: random.Random) -> dict[str, Any]:
    choices = {
        "min_support": ["auto", 0.1, 0.3, 1e-9, 0.999],
        "scoring": ["evidence", "paper"],
        "delta": [True, False],
        "ordered": [True, False],
        "lookback": ["auto", 0, 3],
        "cutoffs": ["tree", "uniform", "kmeans"],
        "threshold": [None, 0.0, 1e300],
    }
    chosen = draw.sample(sorted(choices), draw.randint(0, 3))
    return {name: draw.choice(choices[name]) for name in chosen}


def _later(draw: random.Random, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return later rows: often the same columns, of which some hold something else."""
    n_rows = draw.choice([0, 1, 7])
    later = {}
    for name, values in columns.items():
        if draw.random() < 0.05:
            continue
        same = values and draw.random() < 0.6
        drawn = [draw.choice(values) for _ in range(n_rows)] if same else odd_values(draw, n_rows)
        later[name] = drawn
    return later or {"a": [1] * n_rows}


def own(ask: Callable[[], Any]) -> Any:
    """Return what is asked for, or None if it is refused in our own words."""
    try:
        return ask() or True
    except TruismError as problem:
        if not str(problem).strip():
            raise Broken(f"{type(problem).__name__} without a word") from problem
        return None
    except ValueError as problem:
        # Arrays and lists are refused by scikit-learn's own checks, as its contract asks.
        frames = traceback.extract_tb(problem.__traceback__)
        if not any(frame.filename.endswith(CHECKS) for frame in frames):
            raise
        return None


def _use(detector: InvariantRuleDetector, table: Any) -> None:
    """Score and explain a table."""
    scores = detector.anomaly_score(table)
    if not np.isfinite(scores).all() or (scores < 0).any():
        raise Broken(f"scores are not finite: {scores[:5]}")
    shares = detector.attribute(table)
    if not np.allclose(shares.sum(axis=1), scores, rtol=1e-9, atol=1e-9):
        raise Broken("blames do not add up to the score")
    detector.predict(table)
    for each in (detector.explain(table), detector.incidents(table)):
        str(each), repr(each)


def _write(detector: InvariantRuleDetector, table: Any, folder: Path) -> None:
    """Write a report and the model."""
    page = folder / "page.html"
    detector.report(table, page)
    if not page.read_bytes().rstrip().endswith(b"</html>"):
        raise Broken("the page has no end")
    detector.save(folder / "m.json")
    again = load(folder / "m.json")
    if not np.array_equal(again.anomaly_score(table), detector.anomaly_score(table)):
        raise Broken("a loaded model scores otherwise")


KIND = Kind("tables", 300, attempt)
