"""The compiled loops of scoring; `tests/oracle.py` has what they do in plain Python.

- `contexts`: which leaf a row falls into, and how unusual it is there
- `rarity`: how rare values are in themselves
- `truths`: in which rows predicates hold
- `rules`: which rules rows break
- `memory`: what earlier rows of a series leave behind
- `compiling`: how loops are compiled

A loop imports the compiler, and is therefore imported when the first row is weighed:
``kernels.contexts.find_leaves``.
"""

import functools
import inspect
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

NAMES = ("contexts", "memory", "rarity", "rules", "truths")


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def can_cache(package: str = __name__) -> bool:
    """Return whether the loops of a package can be kept for later processes.

    Where they cannot, every process compiles them; whoever waits should know. A full disk shows only
    once something was compiled.
    """
    return _folder(package) is not None and why_unkept() is None


def why_unkept() -> str | None:
    """Return why compiled loops could not be kept although there was a folder for them."""
    return next(iter(_compiling().failures), None)


def are_cached(package: str = __name__, names: Iterable[str] | None = None) -> bool:
    """Return whether compiled loops lie in a cache, as far as one can see without loading them."""
    folder = _folder(package)
    if folder is None:
        return False
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    kept = {path.name.split(".")[0] for path in Path(folder).glob(f"*.{python}.nbi")}
    return kept.issuperset(import_module(package).NAMES if names is None else names)


@functools.cache
def load(package: str) -> None:
    """Compile the loops of a package on a machine's first use, or load them from the cache."""
    for name in import_module(package).NAMES:
        import_module(f"{package}.{name}").exercise()


def _folder(package: str) -> Any:
    return _compiling().cache_folder(inspect.unwrap(import_module(package).load))


def _compiling() -> Any:
    return import_module(f"{__name__}.compiling")
