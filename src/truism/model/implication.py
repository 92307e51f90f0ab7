"""Which statement says at least as much as another: predicates and claims compared by meaning.

Only what follows from one statement alone counts; what several rules imply together is not looked for.
"""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, Present, Range, variables

_NONE = -1  # stands for a condition where a claim has none


class Claim(msgspec.Struct, frozen=True, gc=False):
    """One consequent of a rule: whenever all of the antecedent holds, so does the consequent."""

    antecedent: tuple[Predicate, ...]
    consequent: Predicate


def implies(one: Predicate, other: Predicate) -> bool:
    """Return whether a predicate holds wherever another one does.

    >>> implies(Interval("x", low=3.0, high=4.0), Interval("x", low=2.0))
    True
    >>> implies(OneOf("u", ("a", "b")), OneOf("u", ("a",)))
    False
    """
    # Asked millions of times: the common kinds come first.
    if isinstance(one, Interval) and isinstance(other, Interval):
        return one.variable == other.variable and other.low <= one.low and one.high <= other.high
    if isinstance(one, OneOf) and isinstance(other, OneOf):
        if one.variable != other.variable:
            return False
        return one.values == other.values or {*one.values} <= {*other.values}
    if isinstance(one, AnyOf):
        return all(implies(part, other) for part in one.parts)
    if isinstance(other, AnyOf):
        return any(implies(one, part) for part in other.parts)
    if one.variable != other.variable:
        return False
    match one, other:
        case _, Present():
            return True
        case ((Interval() | Range()), (Interval() | Range())):
            return _within(one, other)
    return False


def _within(one: Interval | Range, other: Interval | Range) -> bool:
    if isinstance(one, Range) and isinstance(other, Interval):
        return other.low <= one.low and one.high < other.high
    return other.low <= one.low and one.high <= other.high


def says_as_much(one: Claim, other: Claim) -> bool:
    """Return whether a claim is broken wherever another one is.

    It then applies wherever the other does, and demands at least as much there.
    """
    if not implies(one.consequent, other.consequent):
        return False
    for needed in one.antecedent:
        for given in other.antecedent:
            if implies(given, needed):
                break
        else:
            return False
    return True


class Book:
    """Claims that can be asked whether one of them says at least as much as a given one.

    Predicates are numbered, and what follows from one is looked up once, so that tens of thousands of
    claims can be asked about.
    """

    def __init__(self, claims: Iterable[Claim]) -> None:
        self._number_of: dict[Predicate, int] = {}
        self._about: dict[str, list[Predicate]] = defaultdict(list)
        # Conditions of the claims, by the consequent and the condition that was met last: a rare one.
        self._conditions_at: dict[tuple[int, int], list[frozenset[int]]] = defaultdict(list)
        for claim in claims:
            conditions = frozenset(self._number(each) for each in claim.antecedent)
            rarest = max(conditions, default=_NONE)
            self._conditions_at[self._number(claim.consequent), rarest].append(conditions)
        self._following: dict[Predicate, list[int]] = {}
        self._leading: dict[Predicate, list[int]] = {}

    def covers(self, claim: Claim) -> bool:
        """Return whether some claim says at least as much."""
        given = {number for each in claim.antecedent for number in self._follow(each)}
        for consequent in self._lead(claim.consequent):
            for rarest in (_NONE, *given):
                for conditions in self._conditions_at.get((consequent, rarest), ()):
                    if conditions <= given:
                        return True
        return False

    def _number(self, predicate: Predicate) -> int:
        if predicate not in self._number_of:
            self._number_of[predicate] = len(self._number_of)
            for name in {*variables(predicate)}:
                self._about[name].append(predicate)
        return self._number_of[predicate]

    def _follow(self, predicate: Predicate) -> list[int]:
        """Return the predicates that a predicate implies."""
        if predicate not in self._following:
            self._following[predicate] = [
                number for each, number in self._related(predicate) if implies(predicate, each)
            ]
        return self._following[predicate]

    def _lead(self, predicate: Predicate) -> list[int]:
        """Return the predicates that imply a predicate."""
        if predicate not in self._leading:
            self._leading[predicate] = [
                number for each, number in self._related(predicate) if implies(each, predicate)
            ]
        return self._leading[predicate]

    def _related(self, predicate: Predicate) -> list[tuple[Predicate, int]]:
        names = variables(predicate)
        found = {
            each: self._number_of[each] for name in names for each in self._about.get(name, ())
        }
        return list(found.items())
