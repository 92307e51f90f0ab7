"""Which predicate holds wherever another one does."""

from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, Present, Range


def implies(one: Predicate, other: Predicate) -> bool:
    """Return whether a predicate holds wherever another one does.

    >>> implies(Interval("x", low=3.0, high=4.0), Interval("x", low=2.0))
    True
    >>> implies(OneOf("u", ("a", "b")), OneOf("u", ("a",)))
    False
    """
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
