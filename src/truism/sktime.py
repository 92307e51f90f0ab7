"""The sktime face: a detector of anomalies in a multivariate series; it needs sktime."""

from typing import Any

import pandas as pd
from sktime.detection.base import BaseDetector

from truism.estimator import InvariantRuleDetector


class RuleDetector(BaseDetector):  # type: ignore[misc]
    """An `InvariantRuleDetector` with sktime's names and shapes: anomalous rows by their number.

    Parameters
    ----------
    detector
        The detector, with its parameters; by default one for rows in order. An index of times counts as
        the column of times.

    Attributes
    ----------
    detector_
        The fitted `InvariantRuleDetector`; its `incidents` explain what was found.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from truism.sktime import RuleDetector
    >>> rows = np.arange(400)
    >>> pump = rows // 20 % 2
    >>> normal = pd.DataFrame({"pump": pump, "flow": pump * 2.5 + rows % 3 / 100})
    >>> detector = RuleDetector().fit(normal)
    >>> today = normal[:100].copy()
    >>> today.loc[50, "flow"] = 7.0
    >>> detector.predict(today)["ilocs"].tolist()
    [50]

    """

    _tags = {  # noqa: RUF012
        "authors": "truism developers",
        "maintainers": "truism developers",
        "task": "anomaly_detection",
        "learning_type": "unsupervised",
        "capability:multivariate": True,
        "capability:missing_values": True,
        "capability:variable_identification": True,
        "X_inner_mtype": "pd.DataFrame",
    }

    def __init__(self, detector: InvariantRuleDetector | None = None) -> None:
        self.detector = detector
        super().__init__()

    def _fit(self, X: pd.DataFrame, y: Any = None) -> "RuleDetector":  # noqa: ARG002, N803
        detector = InvariantRuleDetector(ordered=True) if self.detector is None else self.detector
        self.detector_ = detector.__sklearn_clone__().fit(_with_times(X))
        return self

    def _predict(self, X: pd.DataFrame) -> pd.Series:  # noqa: N803
        labels = self.detector_.predict(_with_times(X))
        return pd.Series((labels == -1).nonzero()[0], dtype="int64")

    def _predict_scores(self, X: pd.DataFrame) -> pd.Series:  # noqa: N803
        return self._transform_scores(X)["scores"].iloc[self._predict(X)].reset_index(drop=True)

    def _transform_scores(self, X: pd.DataFrame) -> pd.DataFrame:  # noqa: N803
        scores = self.detector_.threshold_ - self.detector_.decision_function(_with_times(X))
        return pd.DataFrame({"scores": scores}, index=X.index)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:  # noqa: ARG003
        """Return parameters with which sktime tests the detector."""
        return [{}, {"detector": InvariantRuleDetector(ordered=True, lookback=0)}]


def _with_times(series: pd.DataFrame | pd.Series) -> pd.DataFrame:
    """Return rows with an index of times as a column."""
    rows = pd.DataFrame(series).rename(columns=str)
    if isinstance(rows.index, pd.PeriodIndex):
        rows.index = rows.index.to_timestamp()
    return rows.reset_index() if isinstance(rows.index, pd.DatetimeIndex) else rows
