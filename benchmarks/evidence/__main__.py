"""Judge the prototype: ``python -m benchmarks.evidence five dev held``.

Prints AUC and pAUC (false-positive rate below 0.1) of the prototype with and without mined rules, and
of the fifth nearest neighbour's distance on standardised columns.
"""

import sys

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors

from benchmarks.evidence import panel, prototype
from truism.learning import learn
from truism.schema import align
from truism.scoring import Scorer
from truism.table import as_table
from truism.truths import BLOCK_ROWS

GROUPS = {"five": panel.FIVE, "dev": list(panel.DEV), "held": list(panel.HELD)}


def quality(labels, scores):
    return roc_auc_score(labels, scores), roc_auc_score(labels, scores, max_fpr=0.1)


def rule_evidence(train, test, names):
    """ln(1 + E) of the strongest broken rule about each variable; E exceptions were to be expected."""
    theta = max(0.01, min(0.3, 12 / len(train)))
    model = learn(as_table(train), min_support=theta, support_ratio=0.1, max_predicates=4)
    scorer = Scorer(model)
    columns, _ = align(model.schema, as_table(test))
    n_false = {each.predicate: each.n_false for each in model.rules.predicates}
    place = {name: i for i, name in enumerate(names)}
    strongest = np.zeros((len(test), len(names)))
    for start in range(0, len(test), BLOCK_ROWS):
        block = slice(start, min(start + BLOCK_ROWS, len(test)))
        part = [column.take(block) for column in columns]
        for consequent, rows, broken in scorer._violated(part):
            expected = scorer._unit_count[consequent.units] * n_false[consequent.predicate]
            worth = (broken * np.log1p(expected / model.rules.n_rows)[:, None]).max(axis=0)
            for owner in consequent.owners:
                at = place[model.schema.names[owner]]
                mine = strongest[rows + start, at]
                strongest[rows + start, at] = np.maximum(mine, worth / len(consequent.owners))
    return strongest


def nearest_neighbours(train, test):
    both = pd.get_dummies(pd.concat([train, test], ignore_index=True)).astype(float)
    both = both.fillna(both[: len(train)].median())
    inside = both[: len(train)]
    scaled = (both - inside.mean()) / inside.std(ddof=0).replace(0, 1)
    known = scaled[: len(train)]
    known = known.sample(min(len(known), 20_000), random_state=0)
    search = NearestNeighbors(n_neighbors=5).fit(known.to_numpy())
    return search.kneighbors(scaled[len(train) :].to_numpy())[0][:, -1]


def main(groups):
    for group in groups:
        found = []
        for name in GROUPS[group]:
            train, test, labels = panel.load(name)
            model = prototype.fit(train)
            names = [variable.name for variable in model.variables]
            rules = rule_evidence(train, test, names)
            found.append(
                (
                    quality(labels, prototype.score(model, test).sum(axis=1)),
                    quality(labels, prototype.score(model, test, rules).sum(axis=1)),
                    quality(labels, nearest_neighbours(train, test)),
                )
            )
            print(f"{name:14}", *(f"{auc:.3f}/{pauc:.3f}" for auc, pauc in found[-1]), flush=True)
        means = np.mean(found, axis=0)
        print(f"{group:14}", *(f"{auc:.3f}/{pauc:.3f}" for auc, pauc in means), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["five"])
