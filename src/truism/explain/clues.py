"""The evidence against a row, piece by piece, as values; `explain.words` puts it into sentences.

None can hold itself, so the garbage collector has nothing to look for in them (``gc=False``): there may
be millions.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from truism.model.evidence import MAX_CLASSES, N_EXACT, Split
from truism.model.predicates import Interval, OneOf, Predicate, Range, variables
from truism.model.schema import Categorical, Numeric, Scalar, Variable
from truism.score.alignment import classes
from truism.score.contexts import FLOOR
from truism.score.rarity import Emptiness
from truism.score.weighed import Violation

Odd = Literal["missing", "infinite", "unseen"]
Answers = Sequence[tuple[Split, bool]]
"""Splits of one variable, and whether each holds."""


class Circumstance(msgspec.Struct, frozen=True, gc=False):
    """What the training rows of a leaf have in common in one variable."""

    variable: str
    allowed: Interval | OneOf | None  # the interval or the states; None if no state is left
    excluded: tuple[Scalar, ...]  # states that the rows do not have, if these are shorter to list
    besides: tuple[Odd, ...]  # what else those rows may have: a missing value, for example
    holds: bool  # whether `allowed` holds in the row being explained


def circumstance(variable: Variable, answers: Answers, odd: Odd | None) -> Circumstance:
    """Return what rows have in common if some splits of a variable hold and others do not.

    In the row being explained, the variable may be odd. If no split holds, the rows may also have
    missing values, infinite ones, or states unseen in training. These are named if training or this row
    has them, so that the result is true of all training rows of the leaf.
    """
    some_hold = any(holds for _, holds in answers)
    besides: list[Odd] = ["missing"] if odd == "missing" or variable.n_missing else []
    excluded: tuple[Scalar, ...] = ()
    allowed: Interval | OneOf | None
    if isinstance(variable, Numeric):
        cuts = [(asked.high, holds) for asked, holds in answers if isinstance(asked, Interval)]
        low = max((cut for cut, holds in cuts if not holds), default=-math.inf)
        high = min((cut for cut, holds in cuts if holds), default=math.inf)
        allowed = Interval(variable.name, low, high)
        besides += ["infinite"] if odd == "infinite" else []
    else:
        sets = [({*asked.values}, holds) for asked, holds in answers if isinstance(asked, OneOf)]
        left = tuple(
            state
            for state in variable.values
            if all((state in values) == holds for values, holds in sets)
        )
        allowed = OneOf(variable.name, left) if left else None
        if allowed is not None and (some_hold or len(left) == 1):
            besides += ["unseen"] if odd == "unseen" else []
        else:
            kept = set(left)
            excluded = tuple(state for state in variable.values if state not in kept)
    return Circumstance(
        variable.name, allowed, excluded, () if some_hold else tuple(besides), odd is None
    )


class States:
    """The states of a variable in the order in which to name them: by class, commonest first."""

    def __init__(self, variable: Categorical) -> None:
        self.variable = variable
        self.class_of = classes(variable)
        self._by_class = np.argsort(self.class_of[:-2], kind="stable")
        self._firsts = np.searchsorted(
            self.class_of[:-2][self._by_class], np.arange(MAX_CLASSES + 1)
        )
        self._of_class: dict[int, tuple[Scalar, ...]] = {}
        self._falling = np.argsort(-np.array(variable.counts), kind="stable")
        self._counts = np.sort(np.array(variable.counts))

    def of_class(self, number: int) -> tuple[Scalar, ...]:
        """Return the states of a class, in ascending order."""
        if number not in self._of_class:
            first, last = self._firsts[number : number + 2]
            places = self._by_class[first:last].tolist()
            self._of_class[number] = tuple(self.variable.values[c] for c in places)
        return self._of_class[number]

    def commoner(self, count: int) -> tuple[Scalar, ...]:
        """Return the states that were seen more often than `count` times, commonest first."""
        n_commoner = len(self._counts) - int(np.searchsorted(self._counts, count, side="right"))
        return tuple(self.variable.values[c] for c in self._falling[:n_commoner].tolist())


_MAX_DIGITS = 17
MOST = 0.8  # share of the rows that states have to cover to be called usual
NEARLY_ALL = 0.9  # share of the rows from which on usual states are called expected
FEW = 0.01  # share of the training rows, up to which the number of rows this far out is given


class Nearest(msgspec.Struct, frozen=True, gc=False):
    """The nearest ordinary values on either side of a rare number; None if there is none."""

    below: float | None
    above: float | None

    @property
    def values(self) -> tuple[float, ...]:
        """The values that exist."""
        return tuple(value for value in (self.below, self.above) if value is not None)

    def interval(self, variable: str) -> Interval | None:
        """Return what is ordinary as a predicate, if it lies on one side only."""
        if self.below is not None and self.above is None:
            return Interval(variable, high=math.nextafter(self.below, math.inf))
        if self.above is not None and self.below is None:
            return Interval(variable, low=self.above)
        return None


class Seen(msgspec.Struct, frozen=True, gc=False):
    """How many training rows have a state, lie as far out as a number, or near it."""

    n_rows: int
    where: Literal["same", "low", "high", "near"]

    @property
    def is_exact(self) -> bool:
        """Whether the number is exact: of those as far out, only a few are counted one by one."""
        return self.where == "same" or (self.where != "near" and self.n_rows <= N_EXACT)


def usual_interval(variable: Numeric, mean: float, spread: float, found: float) -> Interval | None:
    """Return the interval in which a number was expected: two spreads around the mean.

    The interval is at least as wide as the resolution of contexts. Its other side is open if it reaches
    beyond all training values. There is none if what was found lies within: an interval that is made
    narrower until it does not would say more than training shows.
    """
    half = min(max(2 * spread, FLOOR * variable.std), sys.float_info.max)
    if mean - half <= found < mean + half:
        return None
    for digits in range(_MAX_DIGITS):
        size = half / 10**digits
        low, high = round_to(mean - half, size), round_to(mean + half, size)
        if not low < high:
            continue
        if high <= found and high < math.inf:
            return Interval(variable.name, -math.inf if low < variable.low else low, high)
        if found < low and low > -math.inf:
            return Interval(variable.name, low, math.inf if high > variable.high else high)
    return None


def usual_classes(counts: Sequence[int], found: int, rest: int | None = None) -> tuple[int, ...]:
    """Return the classes of states that were expected in place of the one found, commonest first.

    One, if at least half of the rows have it; else as many as it takes for four fifths of the rows that
    do not have the state found. None, if most rows have that one: it is only less common than elsewhere.
    `rest`, the class that the rarest of very many states share, is named only if nothing else is left.

    >>> usual_classes([50, 0, 1], 1), usual_classes([20, 20, 19, 1], 3), usual_classes([60, 40], 0)
    ((0,), (0, 1, 2), ())
    """
    n_rows = sum(counts)
    n_found = counts[found] if found < len(counts) else 0
    others = [k for k, count in enumerate(counts) if k != found and count]
    others.sort(key=lambda k: (k == rest, -counts[k], k))
    if 2 * n_found > n_rows:
        return ()
    chosen: list[int] = []
    covered = 0
    for k in others:
        chosen.append(k)
        covered += counts[k]
        if 2 * counts[chosen[0]] >= n_rows or covered >= MOST * (n_rows - n_found):
            break
    return tuple(chosen)


def nearest(emptiness: Emptiness, found: float) -> Nearest:
    """Return the nearest values, on either side, that are at most half as rare."""
    rare = emptiness.rarities
    limit = emptiness.rarity(np.array([found]))[0] / 2
    usual = emptiness.points[rare <= limit]
    if not len(usual):
        usual = emptiness.points[[rare.argmin()]]
    below, above = usual[usual < found], usual[usual > found]
    return Nearest(
        _shortened(float(below[-1]), emptiness.spread, found) if len(below) else None,
        _shortened(float(above[0]), emptiness.spread, found) if len(above) else None,
    )


def count_others(emptiness: Emptiness, around: Nearest, found: float, n_training: int) -> Seen:
    """Count the training rows that lie where a rare number does."""
    n_below, n_above = emptiness.count_beyond(found)
    fewest = min(n_below, n_above)
    if fewest <= FEW * n_training:
        return Seen(fewest, "low" if n_below <= n_above else "high")
    # A kept training value stands for its neighbours too.
    n_usual = 0
    if around.below is not None:
        n_usual += emptiness.count_beyond(around.below)[0]
    if around.above is not None:
        n_usual += emptiness.count_beyond(around.above)[1]
    return Seen(emptiness.count_beyond(math.inf)[0] - n_usual, "near")


def _shortened(place: float, spread: float, found: float) -> float:
    """Drop digits that mean nothing, unless they separate a value from the found one."""
    short = round_to(place, spread / 1000)
    return short if (short < found) == (place < found) and short != found else place


def round_to(value: float, size: float) -> float:
    """Round a number to a tenth of the size of another.

    >>> round_to(3.14159, 0.5), round_to(1234.5, 80.0)
    (3.14, 1234.0)
    """
    if not 0.0 < size < math.inf or not math.isfinite(value):
        return value
    try:
        return round(value, 1 - math.floor(math.log10(size)))
    except OverflowError:  # among the largest doubles
        return value


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
    """A value that is unusual in rows that are otherwise like this one."""

    variable: str
    found: Any
    # its usual interval, or the states that most training rows like this one have; None if the value
    # is not far from the mean, or its state the most common one, and only less common than elsewhere
    expected: Interval | OneOf | None
    # what those rows have in common; empty if they are all rows
    circumstances: tuple[Circumstance, ...]
    usual: UsualNumber | UsualStates  # what the variable was like in those rows
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
            shared.allowed
            for shared in self.circumstances
            if shared.holds and shared.allowed is not None
        )


class Rarity(msgspec.Struct, frozen=True, gc=False):
    """A value that is unusual whatever the other variables are."""

    variable: str
    found: Any
    usual: OneOf | Nearest  # the more common states, or the nearest ordinary numbers
    seen: Seen  # how many training rows have such a value
    penalty: float
    new: bool  # whether training had no such value


class Outside(msgspec.Struct, frozen=True, gc=False):
    """A number below or above everything that training had."""

    variable: str
    found: Any
    low: float  # the smallest and the largest training value
    high: float
    penalty: float
    # the id of the univariate rule that it breaks; empty if it is within that rule's margin
    rule: str = ""

    @property
    def expected(self) -> Range:
        """What training had."""
        return Range(self.variable, self.low, self.high)


class Lasting(msgspec.Struct, frozen=True, gc=False):
    """What earlier rows leave behind: a variable that has been unusual for some time."""

    variable: str
    n_rows: int  # for how many rows, this one included, it has been clearly so
    penalty: float


class Dead(msgspec.Struct, frozen=True):
    """A variable that died: it stands still, or is missing, for far longer than ever in training."""

    variable: str  # the variable, and the value that it repeats; None if it is missing
    found: Any
    n_rows: int  # for how many rows, this one included
    longest: int  # for how many consecutive rows training had that at most, other than at `rest`
    # the usual time from one row to the next, in seconds; None if there are no times
    step: float | None
    penalty: float
    rest: float | None = None  # the value at which it may stand still; None if there is none


class Moved(msgspec.Struct, frozen=True):
    """A number that had stood elsewhere, and has left that place."""

    variable: str
    found: float
    lately: float  # where it would be had it stayed
    low: float  # the smallest and the largest training value
    high: float
    # what this adds to the row's score: nothing, for that is about what was learned
    penalty: float = 0.0


Clue = Violation | Contradiction | Outside | Rarity | Lasting | Dead | Moved


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A clue as values that are the same for all kinds.

    Parameters
    ----------
    expected
        Predicates of which one was expected to hold; empty if no predicate says it.
    found
        The values that were found, by variable; infinite ones as text.
    because
        Predicates that hold in the row, under which this was expected.
    usual
        Mean and spread of a number in training rows like this one.

    """

    expected: tuple[Predicate, ...] = ()
    found: dict[str, Scalar | None] = {}
    because: tuple[Predicate, ...] = ()
    usual: UsualNumber | None = None


def facts_of(clue: Clue) -> Facts:
    """Return a clue as values.

    >>> facts = facts_of(Rarity("flow", 3.0, Nearest(2.5, 4.0), Seen(0, 'near'), 1.0, False))
    >>> [str(predicate) for predicate in facts.expected]
    ['flow < 2.5000000000000004', 'flow ≥ 4']
    """
    match clue:
        case Violation(rule, failed, values):
            found = dict(zip(variables(failed), map(_plain, values), strict=True))
            return Facts((failed,), found, rule.antecedent)
        case Contradiction(variable, value, expected):
            usual = clue.usual if isinstance(clue.usual, UsualNumber) else None
            wanted = () if expected is None else (expected,)
            return Facts(wanted, {variable: _plain(value)}, clue.conditions, usual)
        case Outside(variable, value):
            return Facts((clue.expected,), {variable: _plain(value)})
        case Rarity(variable, value):
            return Facts(_ordinary(clue), {variable: _plain(value)})
        case Dead(variable, value) | Moved(variable, value):
            return Facts(found={variable: _plain(value)})
        case Lasting():
            return Facts()


def _ordinary(clue: Rarity) -> tuple[Predicate, ...]:
    """Return what is ordinary: states, or the numbers on either side of a rare one."""
    usual = clue.usual
    if not isinstance(usual, Nearest):
        return (usual,)
    sides = (Nearest(usual.below, None), Nearest(None, usual.above))
    intervals = (side.interval(clue.variable) for side in sides)
    return tuple(interval for interval in intervals if interval is not None)


def _plain(value: Any) -> Scalar | None:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    plain: Scalar | None = value
    return plain


def conditional_on(clue: Clue) -> tuple[str, ...]:
    """Return the variables of a clue's condition."""
    match clue:
        case Violation():
            return tuple(
                name for condition in clue.rule.antecedent for name in variables(condition)
            )
        case Contradiction():
            return tuple(shared.variable for shared in clue.circumstances)
    return ()


CluesOfRow = Mapping[str, tuple[Clue, ...]]
"""The clues against each variable of one row, strongest first."""
