"""What was wrong with one variable, in a few words: a clue goes in, part of a sentence comes out.

`truism.explaining.reasons` says a clue in full; this is for the one sentence of an incident.
"""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from truism.explaining.clues import (
    Clue,
    Contradiction,
    Lasting,
    Outside,
    Rarity,
    SameState,
    UsualNumber,
    UsualStates,
)
from truism.explaining.expectations import Nearest, round_to
from truism.model.predicates import (
    AnyOf,
    Interval,
    OneOf,
    Predicate,
    Present,
    Range,
    format_number,
    format_value,
    quote_name,
    variables,
)
from truism.model.wording import brief, count, name_some, same_side, shorten
from truism.scoring.weighed import Violation
from truism.table.deltas import DELTA

MOST_CONDITIONS = 2  # conditions that one sentence can take; none of them an interval with two ends
MAJORITY = 2 / 3  # share of such training rows from which on a state is what was expected
N_NAMED = 3  # states
_USUAL = " is usual"


class Statement(msgspec.Struct, frozen=True):
    """What was wrong with a variable: a subject, a verb and the rest.

    Parameters
    ----------
    variable
        The subject.
    verb
        ``"read"`` for numbers, ``"changed by"`` for changes, ``"was"`` for everything else.
    rest
        What was found, and instead of what.
    condition
        Under which conditions that was unexpected; empty if there are none, or too many to say.
    about
        The variables of the condition.

    """

    variable: str
    verb: str
    rest: str
    condition: str = ""
    about: tuple[str, ...] = ()


def state(variable: str, clue: Clue, unit: str = "") -> Statement:
    """Say in a few words what speaks against a variable; ``ΔX`` is how ``X`` changed.

    `unit` is put after the last of its numbers.
    """
    match clue:
        case Contradiction():
            said = _contradicted(variable, clue)
        case Outside(_, found, low, high):
            said = _off(variable, found, clue.expected, low, high)
        case Rarity():
            said = _rare(variable, clue)
        case Violation():
            said = _violated(variable, clue)
        case Lasting(_, n_rows):
            said = Statement(variable, "was", f"unusual for {count(n_rows, 'row')}")
    if said.verb == "read" and unit and not said.rest.endswith("others"):
        told = said.rest.removesuffix(_USUAL)
        said = msgspec.structs.replace(said, rest=f"{told}{unit}{said.rest[len(told) :]}")
    if said.verb != "read" or not variable.startswith(DELTA):
        return said
    return msgspec.structs.replace(said, variable=variable.removeprefix(DELTA), verb="changed by")


def say(statements: Sequence[Statement]) -> str:
    """Join statements; variables of which the same is said share a verb.

    >>> say([Statement("a", "was", "1 instead of 2"), Statement("b", "was", "1 instead of 2")])
    'a and b were 1 instead of 2'
    """
    alike: dict[tuple[str, str, str], list[str]] = {}
    for each in statements:
        key = each.verb, each.rest, each.condition
        alike.setdefault(key, []).append(quote_name(each.variable))
    said = []
    for (verb, rest, condition), names in alike.items():
        verb = "were" if verb == "was" and len(names) > 1 else verb
        said.append(f"{listed(names)} {verb} {rest}{condition}")
    return listed(said)


def listed(items: Sequence[str]) -> str:
    """Join words with commas and "and".

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _contradicted(variable: str, clue: Contradiction) -> Statement:
    conditions = [
        each.allowed for each in clue.circumstances if each.holds and each.allowed is not None
    ]
    condition = _while(conditions if len(conditions) == len(clue.circumstances) else ())
    if clue.found is None:
        return Statement(variable, "was", "missing", *condition)
    match clue.usual:
        case UsualNumber(mean, spread, resolution):
            usual = format_number(round_to(mean, max(spread, resolution)))
            instead = f"instead of about {usual}"
            if clue.expected is None:
                instead = f"where about {usual}{_USUAL}"
            found = _number(clue.found, clue.expected)
            return Statement(variable, "read", f"{found} {instead}", *condition)
        case UsualStates(n_usual):
            rest = f"{format_value(clue.found)}, which is rare in such rows"
            if isinstance(clue.expected, OneOf) and n_usual >= MAJORITY * clue.n_like:
                usual = name_some(clue.expected.values, N_NAMED)
                rest = f"{format_value(clue.found)} instead of {usual}"
            return Statement(variable, "was", rest, *condition)


def _rare(variable: str, clue: Rarity) -> Statement:
    match clue.seen:
        case SameState(n_rows):
            few = "no training row" if not n_rows else f"only {count(n_rows, 'training row')}"
            return Statement(variable, "was", f"{format_value(clue.found)}, which {few} had")
    assert isinstance(clue.usual, Nearest)
    around = clue.usual
    found = shorten(clue.found, same_side(clue.found, around.values))
    bounds = []
    if around.below is not None:
        bounds.append(f"at most {format_number(around.below)}")
    if around.above is not None:
        bounds.append(f"at least {format_number(around.above)}")
    return Statement(variable, "read", f"{found} instead of {' or '.join(bounds) or 'others'}")


def _violated(variable: str, clue: Violation) -> Statement:
    names = variables(clue.failed)
    value = clue.found[names.index(variable)] if variable in names else clue.found[0]
    condition = _while(clue.rule.antecedent)
    if value is None:
        return Statement(variable, "was", "missing", *condition)
    match clue.failed:
        case Range(_, low, high) | Interval(_, low, high):
            return _off(variable, value, clue.failed, low, high, condition)
        case OneOf(_, values):
            rest = f"{format_value(value)} instead of {name_some(values, N_NAMED)}"
            return Statement(variable, "was", rest, *condition)
        case Present() | AnyOf():
            rest = f"{format_value(value)}, against {brief(clue.failed)}"
            return Statement(variable, "was", rest, *condition)


def _off(
    variable: str,
    value: Any,
    expected: Range | Interval,
    low: float,
    high: float,
    condition: tuple[str, tuple[str, ...]] = ("", ()),
) -> Statement:
    """Say on which side of an interval a number lies."""
    bound, side = (low, "at least") if value < low else (high, "at most")
    if isinstance(expected, Interval) and side == "at most":
        side = "less than"
    short = shorten(bound, same_side(bound, (value,)))
    wanted = short if low == high else f"{side} {short}"
    found = shorten(value, same_side(value, (low, high, float(short))))
    return Statement(variable, "read", f"{found} instead of {wanted}", *condition)


def _number(value: Any, expected: Predicate | None) -> str:
    """Print a number that was found, with enough digits to differ from what was expected."""
    match expected:
        case Interval(_, low, high) | Range(_, low, high):
            return shorten(value, same_side(value, (low, high)))
    return shorten(value, lambda _: True)


def _while(conditions: Sequence[Predicate]) -> tuple[str, tuple[str, ...]]:
    """Say conditions that a reader takes in at once, and the variables they are about."""
    held = [said for each in conditions if (said := _held(each)) is not None]
    if not 0 < len(conditions) <= MOST_CONDITIONS or len(held) < len(conditions):
        return "", ()
    names = tuple(name for each in conditions for name in variables(each))
    return f" while {' and '.join(held)}", names


def _held(condition: Predicate) -> str | None:
    """Say that a simple condition held, in the past tense.

    >>> _held(OneOf("MV501", (2,))), _held(Interval("LIT301", low=800.0))
    ('MV501 was 2', 'LIT301 was at least 800')
    """
    match condition:
        case OneOf(name, (value,)):
            return f"{quote_name(name)} was {format_value(value)}"
        case Interval(name, low, high) if high == math.inf:
            return f"{quote_name(name)} was at least {format_number(low)}"
        case Interval(name, low, high) if low == -math.inf:
            return f"{quote_name(name)} was less than {format_number(high)}"
    return None
