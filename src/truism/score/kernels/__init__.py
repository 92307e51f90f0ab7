"""The compiled loops of scoring: what NumPy does, too, to the same bit, but in one pass over the rows.

- `contexts`: which leaf a row falls into, and how unusual it is there
- `rarity`: which values may be rare
- `memory`: what earlier rows of a series leave behind
- `compiling`: how loops are compiled

Logarithms stay NumPy's, so that a row scores the same either way. Importing a loop imports the compiler,
which takes longer than scoring a small table: that happens only where there is enough to do.
"""

import functools
import inspect
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

NAMES = ("contexts", "rarity")
ENOUGH = 1 << 27  # comparisons that take NumPy about as long as loading the compiler
ENOUGH_ROWS = 512  # of a block, from which loops that are loaded are faster


def pay(n_rows: int, n_comparisons: int) -> bool:
    """Return whether loops are faster for so many rows, with so many comparisons of each."""
    if n_rows < ENOUGH_ROWS or os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}:
        return False
    return are_loaded() or n_rows * n_comparisons >= ENOUGH


def are_loaded() -> bool:
    """Return whether the compiler, and with it the loops, were loaded in this process."""
    return all(f"{__name__}.{name}" in sys.modules for name in NAMES)


def can_cache(package: str = __name__) -> bool:
    """Return whether the loops of a package can be kept for later processes.

    Where they cannot, every process compiles them; whoever waits should know. A full disk shows only
    after `load`.
    """
    return _folder(package) is not None and why_unkept() is None


def why_unkept() -> str | None:
    """Return why compiled loops could not be kept although there was a folder for them."""
    return next(iter(_compiling().failures), None)


def are_cached(package: str = __name__) -> bool:
    """Return whether compiled loops lie in a cache, as far as one can see without loading them."""
    folder = _folder(package)
    if folder is None:
        return False
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    kept = {path.name.split(".")[0] for path in Path(folder).glob(f"*.{python}.nbi")}
    return kept >= {*import_module(package).NAMES}


@functools.cache
def load(package: str = __name__) -> None:
    """Compile the loops on a machine's first use; later processes load them from the cache."""
    for name in import_module(package).NAMES:
        import_module(f"{package}.{name}").exercise()


def _folder(package: str) -> Any:
    return _compiling().cache_folder(inspect.unwrap(import_module(package).load))


def _compiling() -> Any:
    return import_module(f"{__name__}.compiling")
