"""Variables, with statistics of their training values.

A variable is numeric or categorical; `truism.learn.kinds` decides which.
"""

import base64
import hashlib
import itertools
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from truism.errors import ParameterError

Scalar = bool | int | float | str

MAX_COUNT = (1 << 53) - 1  # the largest whole number that JSON and floats hold exactly
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Positive = Annotated[int, Meta(ge=1, le=MAX_COUNT)]
Counts = Annotated[tuple[Positive, ...], Meta(min_length=1)]
Name = Annotated[str, Meta(min_length=1)]


def require(right: bool, problem: str) -> None:
    """Refuse a value that contradicts itself.

    >>> require(1 < 2, "values do not ascend")
    """
    if not right:
        raise ParameterError(problem)


def ascend(values: Sequence[Any]) -> bool:
    """Return whether each value is less than the next one."""
    return all(a < b for a, b in itertools.pairwise(values))


def refuse_more(name: str, part: int, whole: int) -> None:
    """Refuse a number of rows that exceeds that of the rows among which they are.

    >>> refuse_more("n_broken", 3, 3)
    """
    if part > whole:
        raise ParameterError.of(name, f"be at most {whole:,}", part)


class Numeric(msgspec.Struct, frozen=True, tag="numeric", forbid_unknown_fields=True):
    """A continuous variable, with statistics of its training values."""

    name: Name  # the column's name
    # smallest and largest training value
    low: float
    high: float
    # mean and standard deviation (divided by the count, not the count less one)
    mean: float
    std: Annotated[float, Meta(ge=0)]
    n_missing: Count  # training rows without a value
    # histogram of at most 255 bins: bin `i` holds `counts[i]` training values from `edges[i]`
    # (included) to `edges[i + 1]` (excluded); the last one ends at `high`
    edges: tuple[float, ...]
    counts: Counts

    def __post_init__(self) -> None:
        require(len(self.edges) == len(self.counts), "edges and counts differ")
        require(self.low <= self.mean <= self.high, "out of range")
        require(ascend(self.edges), "edges do not ascend")

    @property
    def varies(self) -> bool:
        """Whether training had more than one value."""
        return self.low < self.high

    @property
    def has_spread(self) -> bool:
        """Whether distances can be measured in standard deviations; a tiny one may round to 0."""
        return self.std > 0.0


class Categorical(msgspec.Struct, frozen=True, tag="categorical", forbid_unknown_fields=True):
    """A variable with states, and how often each was seen."""

    name: Name  # the column's name
    holds: Literal["text", "boolean", "number"]  # what the states are: text, booleans or numbers
    values: tuple[Scalar, ...]  # the states seen in training, ascending
    counts: Counts  # training rows in each state
    n_missing: Count  # training rows without a value

    def __post_init__(self) -> None:
        require(len(self.values) == len(self.counts), "values and counts differ")
        require(all(map(self.can_be, self.values)), f"a value is not {self.holds}")
        require(ascend(self.values), "values do not ascend")

    def can_be(self, value: Scalar) -> bool:
        """Return whether a value is of the type of its states."""
        is_boolean = isinstance(value, bool)
        return is_boolean == (self.holds == "boolean") and isinstance(value, _HELD[self.holds])

    @property
    def varies(self) -> bool:
        """Whether training had more than one state."""
        return len(self.values) > 1

    @property
    def has_spread(self) -> bool:
        """The same as `varies`; see `Numeric.has_spread`."""
        return self.varies


Variable = Numeric | Categorical

_HELD: dict[str, Any] = {"text": str, "boolean": bool, "number": int | float}


class LeftOut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A column that is not a variable, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"Column {self.name!r} is left out: {self.reason}."


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The variables in the table's order, the columns left out, and the time axis, if any."""

    variables: tuple[Variable, ...]
    left_out: tuple[LeftOut, ...] = ()
    time: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names, in the table's order."""
        return tuple(variable.name for variable in self.variables)

    def variable_of(self) -> dict[str, Variable]:
        """Map names to variables."""
        return {variable.name: variable for variable in self.variables}


def id_of(content: Any, n_bytes: int = 5) -> str:
    """Return a name for a value: equal content has the same one, in small letters and digits.

    >>> id_of(("flow", 1)), len(id_of("flow", 10))
    ('6ccovjux', 16)
    """
    digest = hashlib.blake2b(msgspec.json.encode(content), digest_size=n_bytes).digest()
    return base64.b32encode(digest).decode().lower()
