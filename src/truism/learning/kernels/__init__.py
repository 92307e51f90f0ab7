"""The compiled loops of learning; nothing outside `truism.learning` imports them.

- `contexts`: grow the trees of contexts, and sum up their leaves
- `mining`: search for rules
- `trees`: grow the trees that propose cut-offs
- `compiling`, `prefetch`: how loops are compiled, and how they ask memory ahead of time

Importing a kernel imports the compiler, so that happens inside the functions that learn.
"""

import functools
import os
import sys
from importlib import import_module
from pathlib import Path

NAMES = ("contexts", "mining", "trees")


@functools.cache
def load() -> None:
    """Compile the kernels on a machine's first use; later processes load them from the cache."""
    for name in NAMES:
        import_module(f"{__name__}.{name}").exercise()


def are_cached() -> bool:
    """Tell whether compiled kernels lie in a cache, as far as one can see without loading them.

    Compiling takes some seconds, once after installation; whoever waits should be told.
    """
    here = Path(__file__).parent
    elsewhere = os.environ.get("NUMBA_CACHE_DIR")
    # Given a folder for its caches, numba makes one folder in it for each that it compiles.
    caches = Path(elsewhere).glob(f"{here.name}_*") if elsewhere else [here / "__pycache__"]
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    return any(
        {path.name.split(".")[0] for path in cache.glob(f"*.{python}.nbi")} >= set(NAMES)
        for cache in caches
    )
