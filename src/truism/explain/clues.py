"""The evidence against a row, piece by piece, as values; `reasons` puts it into words.

None can hold itself, so the garbage collector has nothing to look for in them (``gc=False``): there may
be millions.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from truism.explain.circumstances import Circumstance
from truism.explain.expectations import NEARLY_ALL, Beyond, Nearest, Sparse
from truism.model.predicates import Interval, OneOf, Predicate, Range, variables
from truism.score.weighed import Violation


class UsualNumber(msgspec.Struct, frozen=True, gc=False):
    """Mean and spread of a number in those training rows of a node that have it.

    `resolution` is how precisely they are known. `some_missing` says that other rows of the node lack it.
    """

    mean: float
    spread: float
    resolution: float
    some_missing: bool


class UsualStates(msgspec.Struct, frozen=True, gc=False):
    """How many training rows of a node have the states that were expected, and how many the one found.

    The rarest of very many states are counted together: `usual_is_shared` and `found_is_shared` say
    that a count covers all of them.
    """

    n_usual: int
    n_found: int
    usual_is_shared: bool
    found_is_shared: bool


class Contradiction(msgspec.Struct, frozen=True, gc=False):
    """A value that is unusual in rows that are otherwise like this one.

    Parameters
    ----------
    variable, found
        The variable and its value.
    expected
        Its usual interval, or the states that most training rows like this one have; None if the value
        is not far from the mean, or its state the most common one, and only less common than elsewhere.
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
    expected: Interval | OneOf | None
    circumstances: tuple[Circumstance, ...]
    usual: UsualNumber | UsualStates
    n_like: int
    penalty: float

    @property
    def is_only_usual(self) -> bool:
        """Whether the expected states are what such rows usually have, but not nearly always."""
        return isinstance(self.usual, UsualStates) and (
            self.usual.n_usual < NEARLY_ALL * self.n_like
        )

    @property
    def conditions(self) -> tuple[Predicate, ...]:
        """The circumstances that are predicates and hold in this row."""
        return tuple(
            each.allowed for each in self.circumstances if each.holds and each.allowed is not None
        )


class SameState(msgspec.Struct, frozen=True, gc=False):
    """How many training rows have a state."""

    n_rows: int


class Rarity(msgspec.Struct, frozen=True, gc=False):
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
        Whether training had no such value.

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


class Outside(msgspec.Struct, frozen=True, gc=False):
    """A number below or above everything that training had.

    Parameters
    ----------
    variable, found
        The variable and its value.
    low, high
        The smallest and the largest training value.
    penalty
        What this adds to the row's score.
    rule
        The id of the univariate rule that it breaks; empty if it is within that rule's margin.

    """

    variable: str
    found: Any
    low: float
    high: float
    penalty: float
    rule: str = ""

    @property
    def expected(self) -> Range:
        """What training had."""
        return Range(self.variable, self.low, self.high)


class Lasting(msgspec.Struct, frozen=True, gc=False):
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


class Dead(msgspec.Struct, frozen=True):
    """A variable that died: it stands still, or is missing, for far longer than ever in training.

    Parameters
    ----------
    variable, found
        The variable, and the value that it repeats; None if it is missing.
    n_rows
        For how many rows, this one included.
    longest
        For how many consecutive rows training had that at most, other than at `rest`.
    step
        The usual time from one row to the next, in seconds; None if there are no times.
    penalty
        What this adds to the row's score.
    rest
        The value at which it may stand still; None if there is none.

    """

    variable: str
    found: Any
    n_rows: int
    longest: int
    step: float | None
    penalty: float
    rest: float | None = None


class Moved(msgspec.Struct, frozen=True):
    """A number that had stood elsewhere, and has left that place.

    Parameters
    ----------
    variable, found
        The variable and its value.
    lately
        Where it would be had it stayed.
    low, high
        The smallest and the largest training value.
    penalty
        What this adds to the row's score: nothing, for that is about what was learned.

    """

    variable: str
    found: float
    lately: float
    low: float
    high: float
    penalty: float = 0.0


Clue = Violation | Contradiction | Outside | Rarity | Lasting | Dead | Moved


def conditional_on(clue: Clue) -> tuple[str, ...]:
    """Return the variables of a clue's condition."""
    match clue:
        case Violation():
            return tuple(name for each in clue.rule.antecedent for name in variables(each))
        case Contradiction():
            return tuple(each.variable for each in clue.circumstances)
    return ()


CluesOfRow = Mapping[str, tuple[Clue, ...]]
"""The clues against each variable of one row, strongest first."""
