"""The evidence against a row, piece by piece, as values; `reasons` puts it into words."""

from collections.abc import Mapping
from typing import Any

import msgspec

from truism.explaining.circumstances import Circumstance
from truism.explaining.expectations import Beyond, Nearest, Sparse
from truism.model.predicates import Interval, OneOf, Predicate
from truism.scoring.weighed import Violation


class UsualNumber(msgspec.Struct, frozen=True):
    """Mean and spread of a number in the training rows of a leaf.

    `resolution` is how precisely they are known. `some_missing` says that training rows lack the value;
    how many rows of the leaf do is not known, only how many of all rows.
    """

    mean: float
    spread: float
    resolution: float
    some_missing: bool


class UsualStates(msgspec.Struct, frozen=True):
    """How many training rows of a leaf have the state that was expected, and how many the one found.

    The rarest of very many states are counted together: `usual_is_shared` and `found_is_shared` say
    that a count covers all of them.
    """

    n_usual: int
    n_found: int
    usual_is_shared: bool
    found_is_shared: bool


class Contradiction(msgspec.Struct, frozen=True):
    """A value that is unusual in rows that are otherwise like this one.

    Parameters
    ----------
    variable, found
        The variable and its value.
    expected
        Its usual interval, or its most common other state, in training rows like this one.
    circumstances
        What those rows have in common; empty if they are all rows.
    usual
        What the variable was like in those rows.
    n_like
        The number of those rows.
    penalty
        What this adds to the row's score.

    """

    variable: str
    found: Any
    expected: Interval | OneOf
    circumstances: tuple[Circumstance, ...]
    usual: UsualNumber | UsualStates
    n_like: int
    penalty: float

    @property
    def conditions(self) -> tuple[Predicate, ...]:
        """The circumstances that are predicates and hold in this row."""
        return tuple(
            each.allowed for each in self.circumstances if each.holds and each.allowed is not None
        )


class SameState(msgspec.Struct, frozen=True):
    """How many training rows have a state."""

    n_rows: int


class Rarity(msgspec.Struct, frozen=True):
    """A value that is unusual whatever the other variables are.

    Parameters
    ----------
    variable, found
        The variable and its value.
    usual
        The more common states, or the nearest ordinary numbers.
    seen
        How many training rows have such a value.
    penalty
        What this adds to the row's score.
    new
        Whether training had no such state, or no number as low or as high.

    """

    variable: str
    found: Any
    usual: OneOf | Nearest
    seen: SameState | Beyond | Sparse
    penalty: float
    new: bool

    @property
    def expected(self) -> Interval | OneOf | None:
        """What is usual, if one predicate can say it."""
        return self.usual if isinstance(self.usual, OneOf) else self.usual.interval(self.variable)


class Lasting(msgspec.Struct, frozen=True):
    """What earlier rows leave behind: a variable that has been unusual for some time.

    Parameters
    ----------
    variable
        The variable.
    n_rows
        For how many rows, this one included, it has been clearly so.
    penalty
        What this adds to the row's score.

    """

    variable: str
    n_rows: int
    penalty: float


Clue = Violation | Contradiction | Rarity | Lasting

CluesOfRow = Mapping[str, tuple[Clue, ...]]
"""The clues against each variable of one row, strongest first."""
