"""What was wrong with one variable, in a few words: a clue goes in, part of a sentence comes out.

`truism.explain.reasons` says a clue in full; this is for the one sentence of an incident.
"""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from truism.explain.clues import (
    Clue,
    Contradiction,
    Dead,
    Lasting,
    Moved,
    Outside,
    Rarity,
    SameState,
    UsualNumber,
    UsualStates,
)
from truism.explain.expectations import Nearest, round_to
from truism.model.predicates import (
    AnyOf,
    Interval,
    OneOf,
    Predicate,
    Present,
    Range,
    format_number,
    quote_name,
    variables,
)
from truism.model.wording import (
    NO_LEGEND,
    Legend,
    brief,
    count,
    name_some,
    other_than,
    same_side,
    say_length,
    say_state,
    shorten,
)
from truism.score.weighed import Violation
from truism.table.deltas import DELTA

MOST_CONDITIONS = 2  # conditions that one sentence can take; none of them an interval with two ends
N_NAMED = 3  # states
_USUAL = " is usual"


class Statement(msgspec.Struct, frozen=True):
    """What was wrong with a variable: a subject, a verb and the rest.

    Parameters
    ----------
    variable
        The subject.
    verb
        ``"read"`` for numbers, ``"changed by"`` for changes, ``"stood at"`` for numbers that no longer
        change, ``"was"`` for everything else.
    rest
        What was found, and instead of what.
    condition
        Under which conditions that was unexpected; empty if there are none, or too many to say.
    about
        The variables of the condition.
    name
        What the subject is called; empty if by its name.

    """

    variable: str
    verb: str
    rest: str
    condition: str = ""
    about: tuple[str, ...] = ()
    name: str = ""


def state(variable: str, clue: Clue, legend: Legend = NO_LEGEND) -> Statement:
    """Say in a few words what speaks against a variable; ``ΔX`` is how ``X`` changed.

    Its unit is put after the last of its numbers, and titles are used instead of names.
    """
    said = _stated(variable, clue, legend)
    unit = legend.after(variable)
    if said.verb == "read" and unit and not said.rest.endswith("others"):
        told = said.rest.removesuffix(_USUAL)
        said = msgspec.structs.replace(said, rest=f"{told}{unit}{said.rest[len(told) :]}")
    if said.verb == "read" and variable.startswith(DELTA):
        variable = variable.removeprefix(DELTA)
        said = msgspec.structs.replace(said, variable=variable, verb="changed by")
    return msgspec.structs.replace(said, name=legend.name(variable))


def _stated(variable: str, clue: Clue, legend: Legend) -> Statement:
    match clue:
        case Contradiction():
            return _contradicted(variable, clue, legend)
        case Outside(_, found, low, high):
            return _off(variable, found, clue.expected, low, high)
        case Rarity():
            return _rare(variable, clue)
        case Violation():
            return _violated(variable, clue, legend)
        case Lasting(_, n_rows):
            return Statement(variable, "was", f"unusual for {count(n_rows, 'row')}")
        case Dead():
            return _died(variable, clue, legend)
        case Moved():
            found = shorten(clue.found, lambda _: True)
            before = format_number(clue.lately)
            return Statement(variable, "read", f"{found}, having been about {before}")


def say(statements: Sequence[Statement]) -> str:
    """Join statements; variables of which the same is said share a verb.

    >>> say([Statement("a", "was", "1 instead of 2"), Statement("b", "was", "1 instead of 2")])
    'a and b were 1 instead of 2'
    """
    alike: dict[tuple[str, str, str], list[str]] = {}
    for each in statements:
        key = each.verb, each.rest, each.condition
        alike.setdefault(key, []).append(each.name or quote_name(each.variable))
    said = []
    for (verb, rest, condition), names in alike.items():
        verb = "were" if verb == "was" and len(names) > 1 else verb
        said.append(f"{listed(names)} {verb} {rest}{condition}")
    if len(said) > 1 and any(", " in each or " while " in each for each in said):
        return f"{', '.join(said[:-1])}, and {said[-1]}"
    return listed(said)


def listed(items: Sequence[str]) -> str:
    """Join words with commas and "and".

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _contradicted(variable: str, clue: Contradiction, legend: Legend) -> Statement:
    conditions = [
        each.allowed for each in clue.circumstances if each.holds and each.allowed is not None
    ]
    condition = _while(conditions if len(conditions) == len(clue.circumstances) else (), legend)
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
        case UsualStates():
            return Statement(variable, "was", _instead_of_states(clue), *condition)


def _died(variable: str, clue: Dead, legend: Legend) -> Statement:
    how_long, longest = (say_length(each, clue.step) for each in (clue.n_rows, clue.longest))
    never = f"for {how_long}, in training for at most {longest}{other_than(clue.rest)}"
    if clue.found is None:
        return Statement(variable, "was", f"missing {never}")
    value = shorten(clue.found, lambda _: True) + legend.after(variable)
    return Statement(variable, "stood at", f"{value} {never}")


def _instead_of_states(clue: Contradiction) -> str:
    """Say which state was found, and which one such training rows have."""
    found = say_state(clue.found)
    if not isinstance(clue.expected, OneOf):
        return f"{found}, which is less common in such rows"
    usual = name_some(clue.expected.values, N_NAMED)
    if clue.is_only_usual:
        return f"{found}, where {usual} {'is' if len(clue.expected.values) == 1 else 'are'} usual"
    return f"{found} instead of {usual}"


def _rare(variable: str, clue: Rarity) -> Statement:
    match clue.seen:
        case SameState(n_rows):
            few = "no training row" if not n_rows else f"only {count(n_rows, 'training row')}"
            return Statement(variable, "was", f"{say_state(clue.found)}, which {few} had")
    assert isinstance(clue.usual, Nearest)
    around = clue.usual
    found = shorten(clue.found, same_side(clue.found, around.values))
    bounds = []
    if around.below is not None:
        bounds.append(f"at most {format_number(around.below)}")
    if around.above is not None:
        bounds.append(f"at least {format_number(around.above)}")
    return Statement(variable, "read", f"{found} instead of {' or '.join(bounds) or 'others'}")


def _violated(variable: str, clue: Violation, legend: Legend) -> Statement:
    names = variables(clue.failed)
    value = clue.found[names.index(variable)] if variable in names else clue.found[0]
    condition = _while(clue.rule.antecedent, legend)
    if value is None:
        return Statement(variable, "was", "missing", *condition)
    match clue.failed:
        case Range(_, low, high) | Interval(_, low, high):
            return _off(variable, value, clue.failed, low, high, condition)
        case OneOf(_, values):
            rest = f"{say_state(value)} instead of {name_some(values, N_NAMED)}"
            return Statement(variable, "was", rest, *condition)
        case Present() | AnyOf():
            rest = f"{say_state(value)}, against {brief(clue.failed)}"
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


def _while(conditions: Sequence[Predicate], legend: Legend) -> tuple[str, tuple[str, ...]]:
    """Say conditions that a reader takes in at once, and the variables they are about."""
    held = [said for each in conditions if (said := _held(each, legend)) is not None]
    if not 0 < len(conditions) <= MOST_CONDITIONS or len(held) < len(conditions):
        return "", ()
    names = tuple(name for each in conditions for name in variables(each))
    return f" while {' and '.join(held)}", names


def _held(condition: Predicate, legend: Legend = NO_LEGEND) -> str | None:
    """Say that a simple condition held, in the past tense.

    >>> _held(OneOf("MV501", (2,))), _held(Interval("LIT301", low=800.0))
    ('MV501 was 2', 'LIT301 was at least 800')
    """
    match condition:
        case OneOf(name, (value,)):
            return f"{legend.name(name)} was {say_state(value)}"
        case Interval(name, low, high) if high == math.inf:
            return f"{legend.name(name)} was at least {format_number(low)}{legend.after(name)}"
        case Interval(name, low, high) if low == -math.inf:
            return f"{legend.name(name)} was less than {format_number(high)}{legend.after(name)}"
    return None
