"""Reasons as values for other programs: clues go in, predicates and numbers come out."""

import math
from typing import Any

import msgspec

from truism.explain.clues import (
    Clue,
    Contradiction,
    Dead,
    Lasting,
    Moved,
    Nearest,
    Outside,
    Rarity,
    UsualNumber,
)
from truism.model.predicates import Interval, Predicate, variables
from truism.model.schema import Scalar
from truism.score.weighed import Violation


class Usual(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Mean and spread of a number in training rows like the one that was found."""

    mean: float
    spread: float


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason as values.

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

    expected: tuple[Predicate, ...]
    found: dict[str, Scalar | None]
    because: tuple[Predicate, ...] = ()
    usual: Usual | None = None


def facts_of(clue: Clue) -> Facts:
    """Return a clue as values.

    >>> from truism.explain.clues import Sparse
    >>> facts = facts_of(Rarity("flow", 3.0, Nearest(2.5, 4.0), Sparse(0), 1.0, False))
    >>> [str(each) for each in facts.expected]
    ['flow < 2.5000000000000004', 'flow ≥ 4']
    """
    match clue:
        case Violation(rule, failed, values):
            found = dict(zip(variables(failed), map(_value, values), strict=True))
            return Facts((failed,), found, rule.antecedent)
        case Contradiction():
            usual = clue.usual
            number = Usual(usual.mean, usual.spread) if isinstance(usual, UsualNumber) else None
            found = {clue.variable: _value(clue.found)}
            expected = () if clue.expected is None else (clue.expected,)
            return Facts(expected, found, clue.conditions, number)
        case Outside():
            return Facts((clue.expected,), {clue.variable: _value(clue.found)})
        case Rarity():
            return Facts(_ordinary(clue), {clue.variable: _value(clue.found)})
        case Dead() | Moved():
            return Facts((), {clue.variable: _value(clue.found)})
        case Lasting():
            return Facts((), {})


def _ordinary(clue: Rarity) -> tuple[Predicate, ...]:
    """Return what is ordinary: states, or the numbers on either side of a rare one."""
    around = clue.usual
    if not isinstance(around, Nearest):
        return (around,)
    sides = (Nearest(around.below, None), Nearest(None, around.above))
    found = (each.interval(clue.variable) for each in sides)
    return tuple(each for each in found if isinstance(each, Interval))


def _value(value: Any) -> Scalar | None:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    found: Scalar | None = value
    return found
