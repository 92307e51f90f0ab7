"""The compiled loops of learning; nothing outside `truism.learning` imports them.

- `contexts`: grow the trees of contexts, and sum up their leaves
- `antecedents`, `consequents`, `mining`: search for rules
- `verification`: check rules against rows
- `trees`, `splits`: grow the trees that propose cut-offs
- `forest`: grow many of them side by side; compiled only where a wide table needs it
- `surroundings`: measure how empty they are around training values; compiled only there, too
- `bits`, `predicates`: what the searches share
- `prefetch`: how loops ask memory ahead of time

Importing a kernel imports the compiler, so that happens inside the functions that learn.
"""

import functools
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

NAMES = ("antecedents", "consequents", "contexts", "mining", "trees", "verification")


@functools.cache
def load() -> None:
    """Compile the kernels on a machine's first use; later processes load them from the cache."""
    for name in NAMES:
        _module(name).exercise()


def can_cache() -> bool:
    """Tell whether compiled kernels can be kept for later processes.

    Where they cannot, every process that learns compiles them; whoever waits should be told. A full
    disk shows only after `load`.
    """
    compiling = _compiling()
    return compiling.cache_folder(_module) is not None and not compiling.failures


def why_unkept() -> str | None:
    """Return why compiled kernels could not be kept although there was a folder for them."""
    failures: list[str] = _compiling().failures
    return failures[0] if failures else None


def are_cached() -> bool:
    """Tell whether compiled kernels lie in a cache, as far as one can see without loading them.

    Compiling takes some seconds, once after installation; whoever waits should be told.
    """
    folder = _compiling().cache_folder(_module)
    if folder is None:
        return False
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    kept = {path.name.split(".")[0] for path in Path(folder).glob(f"*.{python}.nbi")}
    return kept >= set(NAMES)


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{name}")


def _compiling() -> Any:
    return import_module("truism.scoring.kernels.compiling")
