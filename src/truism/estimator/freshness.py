"""Whether a detector, a model or a model file still fits."""

import os
from typing import Any

from truism.estimator.detector import InvariantRuleDetector
from truism.estimator.inputs import refuse_path
from truism.estimator.loading import model_of
from truism.explaining.checker import Checker
from truism.model.model import Model
from truism.review.status import Status
from truism.review.status import status as find_status
from truism.table.frames import as_table


def status(model: InvariantRuleDetector | Model | str | os.PathLike[str], table: Any) -> Status:
    """Find out whether a model still fits: fresh, drifting or stale.

    Parameters
    ----------
    model
        A fitted detector, a model, or the name of a model file.
    table
        Recent rows, a day or a week of them: any dataframe or dict of columns.

    Returns
    -------
    Status
        It prints; `signs` says why, as effect sizes, and `remedy` what to do.

    Examples
    --------
    >>> normal = {"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
    >>> detector = InvariantRuleDetector(min_support=0.1).fit(normal)
    >>> status(detector, normal).verdict
    'fresh'

    """
    refuse_path(table)
    own = model_of("model", model)
    return find_status(Checker(own), as_table(table, own.reading))
