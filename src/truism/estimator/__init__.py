"""The scikit-learn face: a table comes in, scores, attributions and explanations go out.

- `detector`: `InvariantRuleDetector`, with the conventions of scikit-learn; model files read as
  detectors, two models compared, and whether one still fits
- `batches`: streams of Arrow batches scored
"""

from truism.estimator.batches import arrow_scorer as arrow_scorer
from truism.estimator.detector import EXPECTED_FAILED_CHECKS as EXPECTED_FAILED_CHECKS
from truism.estimator.detector import InvariantRuleDetector as InvariantRuleDetector
from truism.estimator.detector import compare as compare
from truism.estimator.detector import load as load
from truism.estimator.detector import status as status
