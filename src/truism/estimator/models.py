"""Models of whatever holds one: files read as detectors, compared, and asked whether they still fit."""

import os
from typing import Any

from truism.errors import ParameterError
from truism.estimator.detector import InvariantRuleDetector
from truism.estimator.inputs import refuse_path
from truism.explain.checker import Checker
from truism.model.files import load_model
from truism.model.model import Model
from truism.model.provenance import ByHand
from truism.review.compare import Comparison, Source
from truism.review.compare import compare as compare_checkers
from truism.review.status import Status
from truism.review.status import status as find_status
from truism.table.deltas import delta_name
from truism.table.frames import as_table
from truism.work import count_threads


def load(path: str | os.PathLike[str]) -> InvariantRuleDetector:
    """Read a model file as a fitted detector.

    Parameters
    ----------
    path
        A file that ``detector.save`` or ``truism learn`` wrote.

    Returns
    -------
    InvariantRuleDetector

    """
    model = load_model(path)
    detector = InvariantRuleDetector(
        threshold=model.threshold if isinstance(model.limit.origin, ByHand) else None,
        delta=any(name in model.schema.names for name in model.derived),
        optional=() if model.reading is None else model.reading.optional,
    )
    for name in detector.get_params():
        if hasattr(model.settings, name):
            setattr(detector, name, getattr(model.settings, name))
    made_here = {delta_name(variable) for variable in model.derived}
    columns = model.provenance.columns or model.schema.names
    names = tuple(name for name in columns if name not in made_here)
    detector.remember(names, named=names != tuple(f"x{i}" for i in range(len(names))))
    return detector.adopt(model)


def model_of(name: str, given: Any) -> Model:
    """Return the model of a detector, with the threshold in force, of a file, or the model itself."""
    match given:
        case InvariantRuleDetector():
            return given._current().model
        case Model():
            return given
        case str() | os.PathLike():
            return load_model(given)
    constraint = "be a detector, a model or the name of a model file"
    raise ParameterError.of(name, constraint, type(given).__name__)


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
    source = None
    if table is not None:
        rows = as_table(table)
        source = Source(rows.n_rows, lambda: [rows])
    return compare_checkers(checkers[0], checkers[1], source, label)


def _checker(name: str, given: Any) -> Checker:
    n_jobs = given.n_jobs if isinstance(given, InvariantRuleDetector) else None
    return Checker(model_of(name, given), count_threads(n_jobs))


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
    learned = model_of("model", model)
    return find_status(Checker(learned), as_table(table, learned.reading))
