"""A fitted detector goes through skops, which reads no pickle, and comes back equal."""

import numpy as np
import pytest

import truism
from truism.plant import schedule, simulate

sio = pytest.importorskip("skops.io", reason="skops is not installed")


@pytest.mark.parametrize("options", [{}, {"lookback": 0}, {"scoring": "paper"}])
def test_a_detector_comes_back_equal(options, tmp_path):
    detector = truism.InvariantRuleDetector(**options).fit(simulate(1500).columns)
    place = tmp_path / "detector.skops"
    sio.dump(detector, place)
    unknown = sio.get_untrusted_types(file=place)
    assert all(each.startswith("truism.") for each in unknown)
    again = sio.load(place, trusted=unknown)
    today = simulate(700, seed=1, attacks=schedule(700, seed=1)).columns
    assert again.get_params() == detector.get_params()
    assert again.model_ == detector.model_
    assert np.array_equal(again.anomaly_score(today), detector.anomaly_score(today))
