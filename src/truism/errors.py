"""What can go wrong, as one tree.

::

    TruismError
    ├── SchemaError (ValueError)      a table does not fit the variables that were learned
    ├── ParameterError (ValueError)   a setting is out of its range, or names what is not there
    ├── TableError (ValueError)       a table cannot be read, or holds what cannot be learned from
    └── ModelFileError                a model file is damaged, too large, or of another version

Every message names the user's own thing and, where we know a remedy, ends with a ``Hint:`` line.
Three of the four are also ``ValueError``, because that is what scikit-learn's contract asks of an
estimator that is handed bad data or bad parameters.
"""

import difflib
from collections.abc import Iterable
from typing import Any


class TruismError(Exception):
    """Any error that truism raises on purpose.

    Parameters
    ----------
    message
        What is wrong, in one sentence that names the culprit.
    hint
        What to do about it, where that is known.

    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\nHint: {hint}")
        self.message = message
        self.hint = hint


class SchemaError(TruismError, ValueError):
    """A table does not fit the variables that were learned."""


class ParameterError(TruismError, ValueError):
    """A setting is out of its range, or names something that is not there."""


class TableError(TruismError, ValueError):
    """A table cannot be read, or holds what cannot be learned from."""


class ModelFileError(TruismError):
    """A model file is damaged, too large, or of a version this truism cannot read."""


def shorten(names: list[str] | tuple[str, ...], most: int = 5) -> str:
    """List names for a message: quoted, and never more than a handful.

    >>> shorten(["a", "b"])
    "'a', 'b'"
    >>> shorten(list("abcdefg"), most=2)
    "'a', 'b' and 5 more"
    """
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def did_you_mean(name: Any, names: Iterable[str]) -> str | None:
    """Guess which name was meant, as a hint."""
    if not isinstance(name, str):
        return None
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else None
