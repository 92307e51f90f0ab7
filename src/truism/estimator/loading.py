"""Model files read as fitted detectors, and models of whatever holds one."""

import os
from typing import Any

from truism.errors import ParameterError
from truism.estimator.detector import InvariantRuleDetector
from truism.model.files import load_model
from truism.model.model import Model
from truism.model.provenance import ByHand
from truism.table.deltas import delta_name


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
    chosen = model.settings
    detector = InvariantRuleDetector(
        min_support=chosen.min_support,
        support_ratio=chosen.support_ratio,
        max_predicates=chosen.max_predicates,
        cutoffs=chosen.cutoffs,
        scoring=chosen.scoring,
        threshold=model.threshold if isinstance(model.limit.origin, ByHand) else None,
        categorical=chosen.categorical,
        continuous=chosen.continuous,
        ignore=chosen.ignore,
        time=chosen.time,
        delta=any(name in model.schema.names for name in model.derived),
        ordered=chosen.ordered,
        by=chosen.by,
        lookback=chosen.lookback,
        max_false_incidents=chosen.max_false_incidents,
        optional=() if model.reading is None else model.reading.optional,
        random_state=chosen.random_state,
    )
    made_here = {delta_name(variable) for variable in model.derived}
    known = model.provenance.columns or model.schema.names
    names = tuple(name for name in known if name not in made_here)
    detector.remember(names, named=names != tuple(f"x{i}" for i in range(len(names))))
    return detector.adopt(model)


def model_of(name: str, given: Any) -> Model:
    """Return the model of a fitted detector, a model file, or the model itself.

    Parameters
    ----------
    name
        The parameter that it was given as.
    given
        A detector, with the threshold that is in force, a model, or the name of a model file.

    """
    match given:
        case InvariantRuleDetector():
            return given._current().model
        case Model():
            return given
        case str() | os.PathLike():
            return load_model(given)
    constraint = "be a detector, a model or the name of a model file"
    raise ParameterError.of(name, constraint, type(given).__name__)
