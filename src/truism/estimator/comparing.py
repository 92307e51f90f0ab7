"""Two detectors, models or model files compared."""

import os
from typing import Any

from truism.errors import ParameterError
from truism.estimator.detector import InvariantRuleDetector
from truism.estimator.inputs import refuse_path
from truism.estimator.loading import model_of
from truism.explaining.checker import Checker
from truism.model.model import Model
from truism.review.compare import Comparison
from truism.review.compare import compare as compare_checkers
from truism.table.frames import as_table
from truism.work import count_threads


def compare(
    old: InvariantRuleDetector | Model | str | os.PathLike[str],
    new: InvariantRuleDetector | Model | str | os.PathLike[str],
    table: Any = None,
    label: str | None = None,
) -> Comparison:
    """Compare two models and, if there is a table, what they report in it.

    Parameters
    ----------
    old, new
        Fitted detectors, models, or names of model files.
    table
        Rows that both can check: any dataframe or dict of columns.
    label
        The column of `table` that marks true anomalies: 0 and false mean normal.

    Returns
    -------
    Comparison
        It prints; `rules`, `variables` and `facts` hold what differs between the models, `table` what
        differs between their reports.

    Examples
    --------
    >>> normal = {"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50}
    >>> detector = InvariantRuleDetector(min_support=0.1).fit(normal)
    >>> compare(detector, detector).same
    True

    """
    checkers = [_checker(name, given) for name, given in (("old", old), ("new", new))]
    if label is not None and table is None:
        raise ParameterError.of("label", "be None where there is no table", label)
    refuse_path(table)
    rows = None if table is None else as_table(table)
    return compare_checkers(checkers[0], checkers[1], rows, label)


def _checker(name: str, given: Any) -> Checker:
    n_jobs = given.n_jobs if isinstance(given, InvariantRuleDetector) else None
    return Checker(model_of(name, given), count_threads(n_jobs))
