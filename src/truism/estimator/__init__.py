"""The scikit-learn face: a table comes in, scores, attributions and explanations go out.

- `detector`: `InvariantRuleDetector`, with the conventions of scikit-learn
- `models`: model files read as detectors, two models compared, and whether one still fits
- `batches`: streams of Arrow batches scored
- `inputs`: what callers hand in, checked
"""

from truism.estimator.batches import arrow_scorer as arrow_scorer
from truism.estimator.detector import EXPECTED_FAILED_CHECKS as EXPECTED_FAILED_CHECKS
from truism.estimator.detector import InvariantRuleDetector as InvariantRuleDetector
from truism.estimator.models import compare as compare
from truism.estimator.models import load as load
from truism.estimator.models import status as status
