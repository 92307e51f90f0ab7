"""How the loops are compiled: those that Python calls, and those that only other loops call."""

from typing import Any

import numba

# No loop divides by zero, and nobody calls them from C: code for either would only take time.
_LEAN = {"error_model": "numpy", "no_cfunc_wrapper": True}

jit: Any = numba.njit(nogil=True, cache=True, **_LEAN)
"""For Python: without the GIL, and kept for the next process."""

inner: Any = numba.njit(no_cpython_wrapper=True, **_LEAN)
"""For other loops alone, and kept as a part of them."""
