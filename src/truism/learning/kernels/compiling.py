"""How the loops are compiled: those that Python calls, and those that only other loops call.

What is compiled is kept for the next process, in the first folder of numba's choice that can be written.
Where there is none, or a disk is full, or a file is damaged, the code is compiled anew each time: that
takes longer, but it is no reason not to learn.
"""

import contextlib
from typing import Any

import numba
from numba.core.caching import FunctionCache

from truism.learning import kernels

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
            failures.append(str(error))

    def _index_key(self, *asked: Any) -> Any:
        # Numba looks at the file of a loop only, which may be the same while loops inside it are not.
        return (*super()._index_key(*asked), kernels.source_digest())


def jit(function: Any) -> Any:
    """Compile for Python: without the GIL, and kept for the next process."""
    compiled = numba.njit(nogil=True, **_LEAN)(function)
    if compiled is not function and cache_folder() is not None:
        compiled._cache = _Cache(function)
    return compiled


def cache_folder() -> str | None:
    """Return where compiled code is kept; None if numba can write nowhere."""
    try:
        return str(FunctionCache(cache_folder).cache_path)
    except RuntimeError:
        return None
