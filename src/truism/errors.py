"""What can go wrong, as one tree.

::

    TruismError
    ├── SchemaError (ValueError)      a table does not fit the variables that were learned
    ├── ParameterError (ValueError)   a setting is out of range, or names something that does not exist
    ├── TableError (ValueError)       a table cannot be read, or cannot be learned from
    ├── ModelFileError                a model file is damaged, too large, or of another version
    └── StateError                    the state of a job is damaged, in use, or of another model

Every message names the user's own column, file or setting and, where we know a remedy, ends with a
``Hint:`` line. The core does not know which face the user sees: an error carries the setting that is
wrong (`parameter`) and the settings that would help (`see`), and each face uses its own names.
Three of the five are also ``ValueError``, because scikit-learn expects that of an estimator that gets
bad data or bad parameters.
"""

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self


class TruismError(Exception):
    """Any error that truism raises on purpose.

    Parameters
    ----------
    message
        What is wrong, in one sentence that names the culprit.
    hint
        What to do about it, if known.
    see
        Settings that help; each face names them in its own way.

    """

    def __init__(self, message: str, hint: str | None = None, *, see: Sequence[str] = ()) -> None:
        super().__init__(message if hint is None else f"{message}\nHint: {hint}")
        self.message, self.hint, self.see = message, hint, tuple(see)

    def advice(self, name_of: Callable[[str], str]) -> str | None:
        """Return the hint, with the settings that help named as a face names them.

        >>> TruismError("No names.", "say so.", see=["header"]).advice(lambda name: f"--{name}")
        'say so; see --header.'
        """
        if not self.see:
            return self.hint
        named = f"see {' and '.join(map(name_of, self.see))}."
        if self.hint is None:
            return named
        return (
            f"{self.hint} {named.capitalize()}"
            if self.hint.endswith("?")
            else (f"{self.hint.rstrip('.')}; {named}")
        )


class SchemaError(TruismError, ValueError):
    """A table does not fit the variables that were learned."""


class ParameterError(TruismError, ValueError):
    """A setting is out of range, or names something that does not exist.

    Attributes
    ----------
    parameter, constraint, value
        The setting, what it must be or do, and what it was; None if the error is about several.

    """

    parameter: str | None = None
    constraint: str | None = None
    value: Any = None

    @classmethod
    def of(cls, parameter: str, constraint: str, value: Any, hint: str | None = None) -> Self:
        """Return the error about one setting.

        >>> str(ParameterError.of("gap", "be at least 0", -1))
        'gap must be at least 0, got -1.'
        """
        problem = cls(f"{parameter} must {constraint}, got {value!r}.", hint)
        problem.parameter, problem.constraint, problem.value = parameter, constraint, value
        return problem

    def message_about(self, name: str) -> str:
        """Return the message with another name for the setting."""
        if self.constraint is None:
            return self.message
        return f"{name} must {self.constraint}, got {self.value!r}."


class TableError(TruismError, ValueError):
    """A table cannot be read, or cannot be learned from."""


class ModelFileError(TruismError):
    """A model file is damaged, too large, or of a version that this truism cannot read."""


class StateError(TruismError):
    """The state of a job is damaged, in use, or belongs to another model."""


@contextmanager
def readable(what: str, error: type[TruismError] = TruismError) -> Iterator[None]:
    """Say in a sentence that something cannot be read, if that is so."""
    try:
        yield
    except OSError as problem:
        reason = (problem.strerror or str(problem)).rstrip(".")
        raise error(f"{what} cannot be read: {reason}.") from None


def shorten(names: list[str] | tuple[str, ...], most: int = 5) -> str:
    """List names for a message: quoted, and only the first few.

    >>> shorten(["a", "b"])
    "'a', 'b'"
    >>> shorten(list("abcdefg"), most=2)
    "'a', 'b' and 5 more"
    """
    return listed([repr(name) for name in names], most)


def listed(parts: Sequence[str], most: int = 5) -> str:
    """List the first few of some parts, and say how many more there are."""
    shown = ", ".join(parts[:most])
    return shown if len(parts) <= most else f"{shown} and {len(parts) - most:,} more"


def did_you_mean(name: Any, names: Iterable[str]) -> str | None:
    """Return a hint that guesses which name was meant."""
    if not isinstance(name, str):
        return None
    close = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else None
