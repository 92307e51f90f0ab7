"""How the loops of scoring and of learning are compiled: those that Python calls, and those inside them.

What is compiled is kept for the next process, in the first folder of numba's choice that can be written.
Where there is none, or a disk is full, or a file is damaged, the code is compiled anew each time: that
takes longer, but it is no reason not to learn.
"""

import contextlib
import functools
import hashlib
import inspect
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

# No loop divides by zero, and nobody calls them from C: code for either would only take time.
_LEAN = {"error_model": "numpy", "no_cfunc_wrapper": True}

inner: Any = numba.njit(no_cpython_wrapper=True, **_LEAN)
"""For other loops alone, and kept as a part of them."""

failures: list[str] = []
"""Why compiled code could not be kept, although there is a folder for it."""


class _Cache(FunctionCache):
    """Numba's cache; what cannot be read counts as absent, and what cannot be written is skipped."""

    def load_overload(self, *asked: Any) -> Any:
        try:
            return super().load_overload(*asked)
        except Exception:  # a damaged file may raise anything; an empty index takes its place
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *compiled: Any) -> None:
        try:
            super().save_overload(*compiled)
        except OSError as error:
            failures.append(error.strerror or str(error))

    def _index_key(self, *asked: Any) -> Any:
        # Numba looks at the file of a loop only, which may be the same while loops inside it are not.
        folders = (Path(__file__).parent, Path(inspect.getfile(self._py_func)).parent)
        return (*super()._index_key(*asked), *map(source_digest, folders))


def jit(function: Any) -> Any:
    """Compile for Python: without the GIL, and kept for the next process."""
    compiled = numba.njit(nogil=True, **_LEAN)(function)
    if compiled is not function and cache_folder(function) is not None:
        compiled._cache = _Cache(function)
    return compiled


def cache_folder(function: Any) -> str | None:
    """Return where a function's compiled code is kept; None if numba can write nowhere."""
    try:
        return str(FunctionCache(function).cache_path)
    except RuntimeError:
        return None


@functools.cache
def source_digest(folder: Path) -> str:
    """Digest the sources of a folder; code that was compiled from another source is of no use."""
    sources = sorted(folder.glob("*.py"))
    return hashlib.sha256(b"\0".join(each.read_bytes() for each in sources)).hexdigest()
