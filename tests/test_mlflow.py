"""Detectors in MLflow, as far as that needs no MLflow; `make test-ecosystem` asks a real one."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import truism
from truism.errors import TruismError
from truism.mlflow import ARTIFACT, CODE, FILE, judge, log_model
from truism.version import __version__

NORMAL = {"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
TODAY = {"pump": ["on", "on"], "flow": [2.5, 0.0]}


@pytest.fixture(scope="module")
def detector():
    return truism.InvariantRuleDetector(min_support=0.1).fit(NORMAL)


def test_rows_are_judged_in_a_dataframe(detector):
    found = judge(detector, TODAY)
    assert found["anomaly"].tolist() == [False, True]
    assert np.array_equal(found["score"], detector.anomaly_score(TODAY))


def test_a_detector_is_logged_as_its_file_and_code_that_loads_it(detector, monkeypatch):
    logged, models = {}, []

    def log(**asked):
        logged.update(asked)
        logged["loaded"] = truism.load(asked["artifacts"][ARTIFACT])
        exec(Path(asked["python_model"]).read_text("utf-8"), {})
        return "info"

    fake = ModuleType("mlflow")
    fake.pyfunc = SimpleNamespace(log_model=log, PythonModel=object)
    fake.models = SimpleNamespace(set_model=models.append)
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    assert log_model(detector, "plant", tags={"site": "north"}) == "info"
    assert (logged["name"], logged["tags"]) == ("plant", {"site": "north"})
    assert logged["pip_requirements"] == [f"truism=={__version__}"]
    assert Path(logged["artifacts"][ARTIFACT]).name == FILE
    assert logged["loaded"].model_ == detector.model_
    (model,) = models
    model.detector = logged["loaded"]
    assert model.predict(None, TODAY)["anomaly"].tolist() == [False, True]
    assert "pickle" not in CODE


def test_where_mlflow_is_absent_it_is_named(detector, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(TruismError) as caught:
        log_model(detector)
    assert str(caught.value) == (
        "MLflow is not installed.\nHint: install it with pip install mlflow."
    )
