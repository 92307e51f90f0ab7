"""Which statement says at least as much as another: predicates and claims compared by meaning.

Only what follows from one statement alone counts; what several rules imply together is not looked for.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

import msgspec

from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, Present, Range, variables


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
    """Claims that can be asked whether one of them says at least as much as a given one."""

    def __init__(self, claims: Iterable[Claim]) -> None:
        self._claims_at: dict[str, dict[frozenset[str], list[Claim]]] = defaultdict(
            lambda: defaultdict(list)
        )
        for claim in claims:
            # A join follows from any one of its parts, so its variables are not needed.
            needed = frozenset(
                name
                for each in claim.antecedent
                if not isinstance(each, AnyOf)
                for name in variables(each)
            )
            for name in variables(claim.consequent):
                self._claims_at[name][needed].append(claim)

    def covers(self, claim: Claim) -> bool:
        """Return whether some claim says at least as much."""
        names = {name for each in claim.antecedent for name in variables(each)}
        for name in variables(claim.consequent):
            known = self._claims_at.get(name, {})
            for some in _subsets(names, known):
                for each in known[some]:
                    if says_as_much(each, claim):
                        return True
        return False


def _subsets(names: set[str], known: Mapping[frozenset[str], object]) -> Iterator[frozenset[str]]:
    """Yield the known sets that are part of a set of names, by whichever way is shorter."""
    if 2 ** len(names) > len(known):
        yield from (each for each in known if each <= names)
        return
    for n in range(len(names) + 1):
        for some in combinations(sorted(names), n):
            if frozenset(some) in known:
                yield frozenset(some)
