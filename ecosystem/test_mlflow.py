"""A detector in a real, local MLflow: logged as JSON, loaded as a pyfunc, without a pickle."""

from pathlib import Path

import numpy as np
import pytest

import truism
from truism.mlflow import FILE, log_model
from truism.plant import schedule, simulate

mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")


def test_a_logged_detector_scores_as_before(tmp_path, monkeypatch):
    detector = truism.InvariantRuleDetector().fit(pd.DataFrame(simulate(1500).columns))
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    today = pd.DataFrame(simulate(700, seed=1, attacks=schedule(700, seed=1)).columns)
    with mlflow.start_run():
        info = log_model(detector)
    found = mlflow.pyfunc.load_model(info.model_uri).predict(today)
    assert np.array_equal(found["score"], detector.anomaly_score(today))
    assert np.array_equal(found["anomaly"], detector.predict(today) == -1)
    assert 0 < found["anomaly"].sum() < len(today)
    place = Path(mlflow.artifacts.download_artifacts(info.model_uri))
    assert not [each for each in place.rglob("*") if each.suffix in (".pkl", ".pickle")]
    assert truism.load(next(place.rglob(FILE))).model_ == detector.model_
