"""Dataframes that go out: columns come in, and a frame of the caller's library goes out."""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw

LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf")


def library_of(data: Any) -> str | None:
    """Return the library of a dataframe or Series, None for anything else.

    >>> import pyarrow
    >>> library_of(pyarrow.table({"a": [1]})), library_of({"a": [1]})
    ('pyarrow', None)
    """
    frame = nw.from_native(data, allow_series=True, pass_through=True)
    found = None if frame is data else str(frame.implementation)
    return found if found in LIBRARIES else None


def to_frame(columns: Mapping[str, Any], library: str | None = None, like: Any = None) -> Any:
    """Return columns as a dataframe.

    Parameters
    ----------
    columns
        Its columns, by name.
    library
        Its library, one of `LIBRARIES`. By default, the first that is installed of pandas, Polars and
        PyArrow.
    like
        A frame with the same rows; if it has an index, the new one has it, too.

    """
    for backend in LIBRARIES if library is None else (library,):
        try:
            frame = nw.from_dict(dict(columns), backend=backend).to_native()  # type: ignore[arg-type]
        except ModuleNotFoundError:
            continue
        index = None if like is None else nw.maybe_get_index(nw.from_native(like))
        return frame if index is None else frame.set_axis(index)
    raise AssertionError("PyArrow is a dependency of truism.")
