"""The scikit-learn face: a table comes in, scores, attributions and explanations go out.

- `detector`: `InvariantRuleDetector`, with the conventions of scikit-learn
- `answers`: what it says about rows
- `loading`: model files read as fitted detectors
- `comparing`: what differs between two of them
- `accepting`: rows that a user calls normal
- `freshness`: whether a model still fits
- `batches`: streams of Arrow batches scored
- `inputs`: what callers hand in, checked
"""

from truism.estimator.batches import arrow_scorer as arrow_scorer
from truism.estimator.comparing import compare as compare
from truism.estimator.detector import EXPECTED_FAILED_CHECKS as EXPECTED_FAILED_CHECKS
from truism.estimator.detector import InvariantRuleDetector as InvariantRuleDetector
from truism.estimator.freshness import status as status
from truism.estimator.loading import load as load
