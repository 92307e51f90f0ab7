"""The face in the manner of PyOD: its names, and 1 for an anomaly."""

import numpy as np
import pandas as pd

from truism import InvariantRuleDetector
from truism.pyod import InvariantRules

NORMAL = pd.DataFrame({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50, "level": [1.0] * 100})


TODAY = pd.DataFrame({"pump": ["on", "on"], "flow": [2.5, 0.0], "level": [1.0, 1.0]})


def test_the_adapter_speaks_pyods_language():
    adapter = InvariantRules(min_support=0.1, scoring="paper").fit(NORMAL)
    assert adapter.decision_scores_.tolist() == [0.0] * 100
    assert adapter.labels_.tolist() == [0] * 100
    assert adapter.threshold_ == 0.0
    assert adapter.decision_function(TODAY).tolist() == [0.0, 1.0]
    assert adapter.predict(TODAY).tolist() == [0, 1]
    assert adapter.get_params()["min_support"] == 0.1
    adapter.set_params(min_support=0.2).fit(NORMAL)
    assert adapter.detector_.model_.provenance.min_support == 0.2


def test_the_adapter_follows_a_changed_threshold():
    adapter = InvariantRules(min_support=0.1)
    labels = adapter.fit_predict(NORMAL)
    assert labels.tolist() == adapter.labels_.tolist() == [0] * 100
    adapter.set_params(threshold=0)
    assert adapter.threshold_ == 0.0
    assert np.array_equal(adapter.labels_, (adapter.decision_scores_ > 0).astype(int))
    assert adapter.predict(TODAY)[1] == 1
    adapter.set_params(threshold=1e6)
    assert adapter.predict(TODAY).tolist() == [0, 0]
    assert not hasattr(InvariantRules(), "labels_")


def test_scores_are_those_of_the_detector_and_higher_is_worse():
    adapter = InvariantRules(min_support=0.1).fit(NORMAL)
    detector = InvariantRuleDetector(min_support=0.1).fit(NORMAL)
    assert np.array_equal(adapter.decision_function(TODAY), detector.anomaly_score(TODAY))
    assert np.array_equal(adapter.predict(TODAY), (detector.predict(TODAY) == -1).astype(int))
    assert adapter.get_params() == detector.get_params()
