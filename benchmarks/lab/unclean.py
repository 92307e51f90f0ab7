"""What anomalies among the training rows cost, and what learning without suspects regains.

``python -m benchmarks.lab unclean`` contaminates tables as the benchmarks do (`benchmarks.worker.vary`), with
one seed, and prints the AUC of learning from all rows, and of learning without its own suspects.
"""

from statistics import fmean

from benchmarks.datasets import PAPER_TABLES
from benchmarks.results import Job
from benchmarks.worker import Order, measure

RATES = (0.0, 0.001, 0.005, 0.01)
SETTINGS = ((), (("suspects", "exclude"),))


def unclean(seed=0):
    """Print the AUC on each table, and the means."""
    for rate in RATES:
        found = [
            [
                measure(
                    Order(
                        Job(name, "truism", seed=seed, contamination=rate, settings=settings),
                        warm_up=False,
                    )
                ).auc
                for settings in SETTINGS
            ]
            for name in PAPER_TABLES
        ]
        for name, (whole, without) in zip(PAPER_TABLES, found, strict=True):
            print(f"{rate:5} {name:14} {whole:.4f}  without suspects {without:.4f}", flush=True)
        whole, without = (fmean(of) for of in zip(*found, strict=True))
        print(f"{rate:5} mean           {whole:.4f}  without suspects {without:.4f}", flush=True)
