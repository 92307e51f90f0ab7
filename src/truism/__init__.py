"""Learns what is always true of your data, and shows which variable broke it and why."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from truism.version import __version__

if TYPE_CHECKING:
    from truism.errors import (
        ModelFileError,
        ParameterError,
        SchemaError,
        TableError,
        TruismError,
    )
    from truism.estimator import InvariantRuleDetector, arrow_scorer, compare, load, status

__all__ = [
    "InvariantRuleDetector",
    "ModelFileError",
    "ParameterError",
    "SchemaError",
    "TableError",
    "TruismError",
    "__version__",
    "arrow_scorer",
    "compare",
    "load",
    "status",
]

_home = dict.fromkeys(
    ("InvariantRuleDetector", "arrow_scorer", "compare", "load", "status"), "truism.estimator"
)


def __getattr__(name: str) -> Any:
    # Importing scikit-learn takes half a second; asking for the version should not.
    if name not in __all__:
        raise AttributeError(f"module 'truism' has no attribute {name!r}")
    return getattr(import_module(_home.get(name, "truism.errors")), name)


def __dir__() -> list[str]:
    return __all__
