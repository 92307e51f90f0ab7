"""Test the default settings on many tables: ``python -m benchmarks.lab five dev held``.

Prints AUC and pAUC (false-positive rate below 0.1) of `InvariantRuleDetector` with default settings and
of the distance to the fifth nearest neighbour on standardised columns, and the share of unseen normal rows
that the default threshold reports, which should be 1 %.

``switched``, ``names``, ``rounded``, ``blame`` and ``cost`` answer single questions (`benchmarks.lab.probes`).
``leaveout`` shows whether each table was needed to find the default (`benchmarks.lab.leaveout`).
``unclean`` and ``strewn`` show what learning without suspects regains
(`benchmarks.lab.unclean`).
"""

import sys

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from benchmarks.lab import panel
from benchmarks.lab.leaveout import leave_one_out
from benchmarks.lab.probes import PROBES
from benchmarks.lab.unclean import strewn, unclean
from benchmarks.metrics import auc, partial_auc
from truism import InvariantRuleDetector

GROUPS = {"five": panel.FIVE, "dev": list(panel.DEV), "held": list(panel.HELD)}
QUESTIONS = PROBES | {"leaveout": leave_one_out, "unclean": unclean, "strewn": strewn}
MAX_KNOWN = 20_000


def quality(labels, scores):
    return auc(labels, scores), partial_auc(labels, scores)


def nearest_neighbours(train, test):
    both = pd.get_dummies(pd.concat([train, test], ignore_index=True)).astype(float)
    both = both.fillna(both[: len(train)].median())
    inside = both[: len(train)]
    scaled = (both - inside.mean()) / inside.std(ddof=0).replace(0, 1)
    known = scaled[: len(train)]
    known = known.sample(min(len(known), MAX_KNOWN), random_state=0)
    search = NearestNeighbors(n_neighbors=5).fit(known.to_numpy())
    return search.kneighbors(scaled[len(train) :].to_numpy())[0][:, -1]


def evaluate(name):
    """Return AUC and pAUC of truism and of nearest neighbours, and truism's false-positive rate."""
    train, test, labels = panel.load(name)
    detector = InvariantRuleDetector().fit(train)
    scores = detector.anomaly_score(test)
    reported = (scores[labels == 0] > -detector.offset_).mean()
    ours, theirs = quality(labels, scores), quality(labels, nearest_neighbours(train, test))
    return (*ours, *theirs, reported)


def show(name, found):
    ours, our_part, theirs, their_part, reported = found
    print(
        f"{name:14} truism {ours:.3f}/{our_part:.3f}  KNN {theirs:.3f}/{their_part:.3f}  "
        f"normal rows reported {100 * reported:.2f} %",
        flush=True,
    )


def main(groups):
    for group in groups:
        if group in QUESTIONS:
            for line in QUESTIONS[group]():
                print(line, flush=True)
            continue
        found = []
        for name in GROUPS[group]:
            found.append(evaluate(name))
            show(name, found[-1])
        means = np.mean(found, axis=0)
        means[-1] = np.median(np.array(found)[:, -1])
        show(f"{group}, mean", means)


if __name__ == "__main__":
    main(sys.argv[1:] or ["five"])
