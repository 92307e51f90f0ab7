"""What training rows of a leaf have in common with a row, variable by variable: a context's condition."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from truism.model.evidence import LEAF, MAX_CLASSES, Split
from truism.model.predicates import Interval, OneOf
from truism.model.schema import Categorical, Numeric, Scalar, Variable
from truism.score.alignment import classes

Odd = Literal["missing", "infinite", "unseen"]
Answers = Sequence[tuple[Split, bool]]
"""Splits of one variable, and whether each holds."""
REGULAR = object()
"""Stands for any value that a leaf's splits hold for."""


class Circumstance(msgspec.Struct, frozen=True, gc=False):
    """What the training rows of a leaf have in common in one variable.

    Parameters
    ----------
    variable
        The variable.
    allowed
        The interval or the states; None if no state is left.
    excluded
        States that the rows do not have, if these are shorter to list.
    besides
        What else those rows may have: a missing value, for example.
    holds
        Whether `allowed` holds in the row being explained.

    """

    variable: str
    allowed: Interval | OneOf | None
    excluded: tuple[Scalar, ...]
    besides: tuple[Odd, ...]
    holds: bool


def circumstance(variable: Variable, answers: Answers, value: Any) -> Circumstance:
    """Return what rows have in common if some splits of a variable hold and others do not.

    If no split holds, the rows may also have missing values, infinite ones, or states unseen in
    training. These are named if training or this row has them, so that the result is true of all
    training rows of the leaf.
    """
    some_hold = any(holds for _, holds in answers)
    besides: list[Odd] = ["missing"] if value is None or variable.n_missing else []
    excluded: tuple[Scalar, ...] = ()
    allowed: Interval | OneOf | None
    if isinstance(variable, Numeric):
        allowed = _interval_left(variable, answers)
        holds = value is REGULAR or (value is not None and math.isfinite(value))
        if value is not None and not holds:
            besides.append("infinite")
    else:
        left = _states_left(variable, answers)
        allowed = OneOf(variable.name, left) if left else None
        holds = value is REGULAR or value in left
        if allowed is not None and (some_hold or len(left) == 1):
            if value is not None and not holds:
                besides.append("unseen")
        else:
            kept = set(left)
            excluded = tuple(each for each in variable.values if each not in kept)
    return Circumstance(
        variable.name, allowed, excluded, () if some_hold else tuple(besides), bool(holds)
    )


def _interval_left(variable: Numeric, answers: Answers) -> Interval:
    cuts = [(asked.high, holds) for asked, holds in answers if isinstance(asked, Interval)]
    low = max((cut for cut, holds in cuts if not holds), default=-math.inf)
    return Interval(
        variable.name, low, min((cut for cut, holds in cuts if holds), default=math.inf)
    )


def _states_left(variable: Categorical, answers: Answers) -> tuple[Scalar, ...]:
    sets = [(set(asked.values), holds) for asked, holds in answers if isinstance(asked, OneOf)]
    return tuple(
        each for each in variable.values if all((each in values) == holds for values, holds in sets)
    )


def path_to(tree: Sequence[int], leaf: int) -> list[tuple[int, bool]]:
    """Return the splits on the way to a leaf, and whether each holds there.

    >>> path_to((5, -1, 3, -1, -1), 1)
    [(5, False), (3, True)]
    """
    path: list[tuple[int, bool]] = []
    n_leaves = 0
    for node in tree:
        if node != LEAF:
            path.append((node, True))
            continue
        if n_leaves == leaf:
            break
        n_leaves += 1
        while path and not path[-1][1]:
            path.pop()
        path[-1] = (path[-1][0], False)
    return path


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
            own = self._by_class[first:last].tolist()
            self._of_class[number] = tuple(self.variable.values[c] for c in own)
        return self._of_class[number]

    def commoner(self, count: int) -> tuple[Scalar, ...]:
        """Return the states that were seen more often than `count` times, commonest first."""
        n_commoner = len(self._counts) - int(np.searchsorted(self._counts, count, side="right"))
        return tuple(self.variable.values[c] for c in self._falling[:n_commoner].tolist())
