"""Leave one table out: would the default have been found without the table that tests it?

Each of the five tables is tested with the settings that are best on the other four, by the sum of mean AUC
and mean pAUC. The settings are those that were still open after round 2 (`docs/experiments.md`).
"""

import itertools
from unittest import mock

import numpy as np

from benchmarks.lab import panel
from benchmarks.metrics import auc, partial_auc
from truism import InvariantRuleDetector
from truism.learn import holdout as calibration
from truism.score import contexts
from truism.score import evidence as scoring

SETTINGS = tuple(itertools.product((0.4, 0.6, 0.8), (1.0, 1.25, 1.5, 2.0), (0, 1, 2, 3)))
DEFAULT = (contexts.OWN_SHARE, scoring.RARITY_WEIGHT, calibration.TRUST_POWER)


def leave_one_out():
    """Test all settings on all tables (a quarter of an hour), then choose without each table in turn."""
    tables = {name: panel.load(name) for name in panel.FIVE}
    found = np.array(
        [[_evaluate(*each, setting) for each in tables.values()] for setting in SETTINGS]
    )
    left = np.array([found[best_without(found, t), t] for t in range(len(tables))])
    for t, name in enumerate(tables):
        chosen = ", ".join(f"{number:g}" for number in SETTINGS[best_without(found, t)])
        yield f"without {name}: own share, rarity, trust {chosen}: {_said(left[t])} on it"
    yield f"leave one out, mean: {_said(left.mean(axis=0))}"
    yield f"default, mean: {_said(found[SETTINGS.index(DEFAULT)].mean(axis=0))}"
    for power in sorted({setting[2] for setting in SETTINGS}):
        means = found[[setting[2] == power for setting in SETTINGS]].mean(axis=1)
        yield f"trust to the power of {power}, at best: {_said(means[means.sum(axis=1).argmax()])}"


def best_without(found, table):
    """Return the position of the setting that is best on all tables but one (settings × tables × 2)."""
    return int(np.delete(found, table, axis=1).mean(axis=1).sum(axis=1).argmax())


def _evaluate(train, test, labels, setting):
    own_share, rarity_weight, power = setting
    with (
        mock.patch.object(contexts, "OWN_SHARE", own_share),
        mock.patch.object(calibration, "RARITY_WEIGHT", rarity_weight),
        mock.patch.object(scoring, "RARITY_WEIGHT", rarity_weight),
        mock.patch.object(calibration, "TRUST_POWER", power),
    ):
        scores = InvariantRuleDetector().fit(train).anomaly_score(test)
    return auc(labels, scores), partial_auc(labels, scores)


def _said(pair):
    return f"{pair[0]:.3f}/{pair[1]:.3f}"
