"""The PyOD face, for code that expects PyOD's detectors; PyOD itself is not needed."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from truism.estimator import InvariantRuleDetector


class InvariantRules:
    """An `InvariantRuleDetector` with PyOD's names and directions: 1 means anomaly.

    Parameters
    ----------
    **parameters
        The parameters of `InvariantRuleDetector`. There is no ``contamination``: the threshold is
        not guessed from it.

    Attributes
    ----------
    detector_
        The fitted `InvariantRuleDetector`.
    decision_scores_
        Scores of the training rows; higher is worse.
    threshold_
        Rows that score above it are anomalies.
    labels_
        0 for normal training rows, 1 for anomalies.

    Examples
    --------
    >>> detector = InvariantRules(min_support=0.1)
    >>> _ = detector.fit({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> detector.predict({"pump": ["on", "on"], "flow": [2.5, 0.0]}).tolist()
    [0, 1]

    """

    def __init__(self, **parameters: Any) -> None:
        self._detector = InvariantRuleDetector(**parameters)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803
        """Learn from normal rows."""
        self.detector_ = self._detector.fit(X)
        self.decision_scores_ = self.detector_._excess(X)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:  # noqa: ARG002, N803
        """Learn from normal rows, and return 0 for the normal ones of them and 1 for anomalies."""
        return self.fit(X).labels_

    @property
    def threshold_(self) -> float:
        """Rows above it are anomalies; changes with the parameter."""
        return self.detector_.threshold_

    @property
    def labels_(self) -> NDArray[np.int64]:
        """0 for normal training rows, 1 for anomalies."""
        return (self.decision_scores_ > self.threshold_).astype(np.int64)

    def decision_function(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Score rows, those of a series by their excess; higher is worse."""
        return self.detector_._excess(X)

    def predict(self, X: Any) -> NDArray[np.int64]:  # noqa: N803
        """Return 0 for normal rows and 1 for anomalies."""
        return (self.decision_function(X) > self.threshold_).astype(np.int64)

    def __repr__(self) -> str:
        return repr(self._detector).replace("InvariantRuleDetector", "InvariantRules", 1)

    def _repr_html_(self) -> str:
        return str(self._detector._repr_html_())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn does."""
        return dict(self._detector.get_params(deep))

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters, as scikit-learn does."""
        self._detector.set_params(**parameters)
        return self
