"""Models in MLflow: a fitted detector is logged as its own JSON file and a few lines of code, no pickle.

    pip install truism mlflow

What `log_model` logs loads as a pyfunc wherever truism is installed: a table goes in, a dataframe with
``score`` and ``anomaly`` comes out.
"""

import tempfile
from pathlib import Path
from typing import Any

from truism.errors import TruismError
from truism.estimator.detector import InvariantRuleDetector
from truism.table.frames import to_frame
from truism.version import __version__

__all__ = ["judge", "log_model"]

ARTIFACT = "model"
FILE = "model.truism.json"
CODE = f'''"""What MLflow runs to load a detector that truism logged; its model file lies beside it."""

import mlflow

import truism
from truism.mlflow import judge


class Detector(mlflow.pyfunc.PythonModel):
    def load_context(self, context):
        self.detector = truism.load(context.artifacts["{ARTIFACT}"])

    def predict(self, context, model_input, params=None):
        return judge(self.detector, model_input)


mlflow.models.set_model(Detector())
'''


def judge(detector: InvariantRuleDetector, rows: Any) -> Any:
    """Return a pandas dataframe with the ``score`` of each row and whether it is an ``anomaly``.

    Rows of one call follow each other; what a series remembers does not pass from call to call.

    Parameters
    ----------
    detector
        A fitted detector.
    rows
        A table, as for `InvariantRuleDetector.anomaly_score`.

    """
    scores = detector.anomaly_score(rows)
    return to_frame({"score": scores, "anomaly": detector.predict(rows) < 0}, "pandas")


def log_model(detector: InvariantRuleDetector, name: str = "model", **options: Any) -> Any:
    """Log a fitted detector in the active run of MLflow.

    Parameters
    ----------
    detector
        A fitted detector.
    name
        What the model is called.
    **options
        Whatever else ``mlflow.pyfunc.log_model`` takes, such as ``registered_model_name``.

    Returns
    -------
    ModelInfo
        What MLflow says about the model; ``mlflow.pyfunc.load_model(info.model_uri)`` loads it. Its
        artifact `FILE` is the file that `truism.load` and the command line read.

    """
    try:
        from mlflow import pyfunc  # whoever does not log models does without it
    except ImportError:
        raise TruismError(
            "MLflow is not installed.", "install it with pip install mlflow."
        ) from None
    with tempfile.TemporaryDirectory() as folder:
        place, code = Path(folder, FILE), Path(folder, "detector.py")
        detector.save(place)
        code.write_text(CODE, "utf-8")
        return pyfunc.log_model(
            name=name,
            python_model=str(code),
            artifacts={ARTIFACT: str(place)},
            **{"pip_requirements": [f"truism=={__version__}"], **options},
        )
