"""What can go wrong, as one tree.

::

    TruismError
    ├── SchemaError (ValueError)      a table does not fit the variables that were learned
    ├── ParameterError (ValueError)   a setting is out of range, or names something that is not there
    ├── TableError (ValueError)       a table cannot be read, or cannot be learned from
    └── ModelFileError                a model file is damaged, too large, or of another version

Every message names the user's own thing and, where we know a remedy, ends with a ``Hint:`` line. The
core does not know which face the user sees: an error carries the names of the settings that would
help (`see`) and of the setting that is wrong (`parameter`), and each face prints them in its own way.
Three of the four are also ``ValueError``, because scikit-learn asks that of an estimator that is
given bad data or bad parameters.
"""

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self


class TruismError(Exception):
    """Any error that truism raises on purpose.

    Parameters
    ----------
    message
        What is wrong, in one sentence that names the culprit.
    hint
        What to do about it, where that is known.
    see
        Names of settings that help, whatever a face calls them.

    """

    def __init__(self, message: str, hint: str | None = None, *, see: Sequence[str] = ()) -> None:
        self.message, self.hint, self.see = message, hint, tuple(see)
        advice = self.advice()
        super().__init__(message if advice is None else f"{message}\nHint: {advice}")

    def advice(self, name_of: Callable[[str], str] = str) -> str | None:
        """Return the hint, with the names that a face has for the settings.

        >>> TruismError("No names.", "say so.", see=["header"]).advice(lambda name: f"--{name}")
        'say so; see --header.'
        """
        if not self.see:
            return self.hint
        named = f"see {' and '.join(map(name_of, self.see))}."
        return named if self.hint is None else f"{self.hint.rstrip('.')}; {named}"


class SchemaError(TruismError, ValueError):
    """A table does not fit the variables that were learned."""


class ParameterError(TruismError, ValueError):
    """A setting is out of range, or names something that is not there.

    Attributes
    ----------
    parameter, constraint, value
        Which setting, what it must be, and what it was; None where the message says it otherwise.

    """

    parameter: str | None = None
    constraint: str | None = None
    value: Any = None

    @classmethod
    def of(cls, parameter: str, constraint: str, value: Any, hint: str | None = None) -> Self:
        """Return the error of one setting.

        >>> str(ParameterError.of("gap", "at least 0", -1))
        'gap must be at least 0, got -1.'
        """
        problem = cls(say_constraint(parameter, constraint, value), hint)
        problem.parameter, problem.constraint, problem.value = parameter, constraint, value
        return problem


class TableError(TruismError, ValueError):
    """A table cannot be read, or cannot be learned from."""


class ModelFileError(TruismError):
    """A model file is damaged, too large, or of a version that this truism cannot read."""


def say_constraint(name: str, constraint: str, value: Any) -> str:
    """Return the sentence about a setting that is out of range."""
    return f"{name} must be {constraint}, got {value!r}."


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
