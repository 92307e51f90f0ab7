"""What anomalies among the training rows cost, and what learning without suspects regains.

``python -m benchmarks.lab unclean`` contaminates the paper's tables as the benchmarks do
(`benchmarks.worker.vary`), with several seeds, and ``python -m benchmarks.lab strewn`` tables of the panel, on
which nothing was chosen. Both print the AUC of learning from all rows, and of learning without its own
suspects.
"""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

from benchmarks.datasets import PAPER_TABLES
from benchmarks.lab import panel
from benchmarks.metrics import auc
from benchmarks.results import Job
from benchmarks.worker import Order, measure
from truism import InvariantRuleDetector

RATES = (0.0, 0.001, 0.005, 0.01)
SEEDS = (0, 1, 2)
WAYS = {"all rows": {}, "without suspects": {"suspects": "exclude"}}
# Of every kind and size; chosen by name before any of them was measured.
STREWN = (
    *("penbased", "letter", "satellite", "segment", "texture", "splice", "chess", "hypothyroid"),
    *("magic", "optdigits0", "satimage2", "page_blocks", "letter_v", "nursery", "mushroom"),
    "twonorm",
)


def unclean() -> Iterator[str]:
    """Yield the AUC on each of the paper's tables, and the means."""

    def found(name: str, rate: float, seed: int, way: str) -> float:
        settings = tuple(WAYS[way].items())
        job = Job(name, "truism", seed=seed, contamination=rate, settings=settings)
        return measure(Order(job, warm_up=False)).auc or 0.0

    yield from _lines(PAPER_TABLES, found)


def strewn() -> Iterator[str]:
    """Yield the AUC on tables of the panel, and the means."""

    def found(name: str, rate: float, seed: int, way: str) -> float:
        load, normal, anomaly = (panel.DEV | panel.HELD)[name]
        train, test, labels = panel.split(*load(), normal, anomaly, seed=seed)
        train, test, labels = panel.contaminate(train, test, labels, rate, seed=seed + 1)
        detector = InvariantRuleDetector(**WAYS[way]).fit(train)
        return float(auc(labels, detector.anomaly_score(test)))

    yield from _lines(STREWN, found)


def _lines(names: Any, measured: Any) -> Iterator[str]:
    for seed in SEEDS:
        means: dict[tuple[float, str], list[float]] = {}
        for name in names:
            for rate in RATES:
                found = [measured(name, rate, seed, way) for way in WAYS]
                yield f"seed {seed} {name:14} {rate:5} " + _said(found)
                for way, value in zip(WAYS, found, strict=True):
                    means.setdefault((rate, way), []).append(value)
        for rate in RATES:
            yield f"seed {seed} mean           {rate:5} " + _said(
                [fmean(means[rate, way]) for way in WAYS]
            )


def _said(found: list[float]) -> str:
    return "  ".join(f"{way} {value:.4f}" for way, value in zip(WAYS, found, strict=True))
