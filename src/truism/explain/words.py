"""Clues in words: in full, in the same four parts everywhere, or in a few, for an incident's sentence.

The four parts are expected, found, because and evidence.
"""

import datetime
import functools
import math
from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal

import msgspec

from truism.explain.clues import (
    Circumstance,
    Clue,
    Contradiction,
    Dead,
    Facts,
    Lasting,
    Moved,
    Nearest,
    Outside,
    Rarity,
    UsualNumber,
    UsualStates,
    conditional_on,
    facts_of,
    round_to,
)
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
from truism.model.rules import Rule
from truism.model.wording import (
    N_STATES,
    NO_LEGEND,
    Legend,
    Printed,
    brief,
    brief_conditions,
    count,
    exclude,
    name_some,
    other_than,
    round_outward,
    round_states,
    same_side,
    say_length,
    say_state,
    shorten,
)
from truism.score.weighed import Violation
from truism.table.deltas import DELTA
from truism.table.times import Moment

ANYWAY = "whatever the other variables are"
_ODD = {"missing": "missing", "infinite": "infinite", "unseen": "not seen in training"}


_TYPES = [{"type": name} for name in ("string", "number", "boolean", "null")]
When = Annotated[Any, msgspec.Meta(extra_json_schema={"anyOf": _TYPES})]
"""A `Moment` or None; JSON has no times, so that they become text there."""

Kind = Literal["outside", "missing", "rule", "context", "rare", "lasting", "dead", "moved"]
"""What a reason is about: a value that training never had, none, a broken rule, what is usual in such
rows, a rare value, what earlier rows leave behind, a variable that stands still, or one that has left the
place where it stood."""


class Record(Printed, msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that is also its JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One clue in words, and as values.

    Parameters
    ----------
    expected
        What the variable should have been.
    found
        What it was.
    because
        The condition under which this was expected; None if there is no condition.
    evidence
        How often that was seen in training.
    rule
        The id of the broken rule; empty if the reason is not a rule.
    penalty
        What it adds to the score; 0 for a broken rule where a stronger reason already counts.
    row, when
        The row it is about, and its time in words, if that is not the row being explained: a variable
        of an incident may be normal at the peak.
    kind
        What it is about.
    blamed
        Variables of the condition that are to blame as well: perhaps one of them is the wrong one.
    n_rows
        Of how many rows it is true; of a pattern, those that no reason before it is true of.
    facts
        The same as values.

    """

    expected: str
    found: str
    because: str | None
    evidence: str
    rule: str
    penalty: float
    row: int | None = None
    when: str | None = None
    kind: Kind = "rule"
    blamed: tuple[str, ...] = ()
    n_rows: int = 1
    facts: Facts = Facts()

    @property
    def place(self) -> str:
        """When it was found, as words to put after `found`: a time, or else a row."""
        if self.when is not None:
            return f" at {self.when}"
        return "" if self.row is None else f" in row {self.row}"

    @property
    def why(self) -> str:
        """The condition as it is printed, after a word that leads to it."""
        return ANYWAY if self.because is None else f"because {self.condition}"

    @property
    def condition(self) -> str:
        """The condition as it is printed, with a doubt if its own variables are to blame as well."""
        if self.because is None:
            return ANYWAY
        names = " or ".join(map(quote_name, self.blamed))
        return f"{self.because} (or {names} is wrong)" if names else self.because

    def lines(self) -> tuple[str, str, str]:
        """Return the three lines that every screen shows."""
        first = f"expected {self.expected}, found {self.found}{self.place}"
        return first, self.why, f"({self.evidence})"


def say(
    clue: Clue,
    n_training: int,
    legend: Legend = NO_LEGEND,
    *,
    row: int | None = None,
    when: str | None = None,
    suspects: Collection[str] = (),
) -> Reason:
    """Put a clue into words; a condition on one of the suspects is in doubt."""
    reason = _say(clue, n_training, legend)
    blamed = tuple(name for name in dict.fromkeys(conditional_on(clue)) if name in suspects)
    return msgspec.structs.replace(reason, row=row, when=when, blamed=blamed, facts=facts_of(clue))


def _say(clue: Clue, n_training: int, legend: Legend) -> Reason:
    match clue:
        case Contradiction():
            return _say_contradiction(clue, n_training, legend)
        case Outside():
            return _say_outside(clue, n_training, legend)
        case Rarity():
            return _say_rarity(clue, n_training, legend)
        case Lasting():
            return _say_lasting(clue)
        case Dead():
            return _say_dead(clue, legend)
        case Moved():
            return _say_moved(clue, legend)
        case Violation():
            return _say_violation(clue, n_training, legend)


def _say_violation(violation: Violation, n_training: int, legend: Legend) -> Reason:
    rule, failed = violation.rule, violation.failed
    unit = legend.after_predicate(failed)
    values = [_tell(value, failed, unit) for value in violation.found]
    found = values[0]
    if len(values) > 1:
        named = zip(variables(failed), values, strict=True)
        found = " and ".join(f"{quote_name(name)} = {value}" for name, value in named)
    expected = brief(failed, legend)
    if isinstance(failed, Range) and failed.seems_to_hold(violation.found[0]):
        expected = failed.exact_text() + unit
    conditions, evidence, rule_id = _say_rule(rule, n_training)
    if legend.units:
        conditions = brief_conditions(rule.antecedent, legend)
    because = " and ".join(conditions) or None
    kind: Kind = "rule"
    if not rule.antecedent:
        kind = "missing" if isinstance(failed, Present) else "outside"
    return Reason(expected, found, because, evidence, rule_id, violation.penalty, kind=kind)


@functools.lru_cache(maxsize=1 << 14)
def _say_rule(rule: Rule, n_training: int) -> tuple[tuple[str, ...], str, str]:
    """Return a rule's conditions and its evidence in words, and its id; many rows break one rule."""
    evidence = f"{rule.count:,} of {n_training:,} training rows, no exception"
    return brief_conditions(rule.antecedent), evidence, rule.id


def _say_contradiction(clue: Contradiction, n_training: int, legend: Legend) -> Reason:
    unit = ""
    match clue.usual:
        case UsualNumber():
            unit = legend.after(clue.variable)
            expected = _say_number(clue, clue.usual) + unit
            evidence = f"{_say_average(clue.usual, unit)} in {_say_like(clue.n_like, n_training)}"
        case UsualStates():
            expected = _say_expected_states(clue)
            evidence = _say_states(clue, clue.usual, n_training)
    found = _tell(clue.found, () if clue.expected is None else clue.expected, unit)
    several = len(clue.circumstances) > 1
    conditions = (
        _say_circumstance(shared, several, legend.after_predicate(shared.allowed))
        for shared in clue.circumstances
    )
    because = " and ".join(conditions) or None
    return Reason(expected, found, because, evidence, "", clue.penalty, kind="context")


def _say_like(n_like: int, n_training: int) -> str:
    if n_like == n_training:
        return f"all {n_training:,} training rows"
    return f"the {n_like:,} of {n_training:,} training rows like this"


def _say_number(clue: Contradiction, usual: UsualNumber) -> str:
    if clue.expected is not None:
        return brief(clue.expected)
    size = max(usual.spread, usual.resolution)
    return f"{quote_name(clue.variable)} about {format_number(round_to(usual.mean, size))}"


def _say_average(usual: UsualNumber, unit: str) -> str:
    """Print the mean and spread of some training rows, without digits that contexts do not keep."""
    size = max(usual.spread, usual.resolution)
    middle, around = (
        format_number(round_to(number, size)) for number in (usual.mean, usual.spread)
    )
    where = ", where it is known," if usual.some_missing else ""
    spread = "" if around == "0" else f" ± {around}"
    return f"on average {middle}{spread}{unit}{where}"


def _say_expected_states(clue: Contradiction) -> str:
    name = quote_name(clue.variable)
    if clue.expected is None:
        return f"{name} less often {say_state(clue.found)}"
    assert isinstance(clue.expected, OneOf)
    states = clue.expected.values
    if not clue.is_only_usual:
        return brief(clue.expected)
    if len(states) == 1:
        return f"{name} usually {say_state(states[0])}"
    return f"{name} usually one of {name_some(states, N_STATES)}"


def _say_states(clue: Contradiction, usual: UsualStates, n_training: int) -> str:
    found = say_state(clue.found)
    if usual.found_is_shared:
        found = f"values as uncommon as {found}"
    like = _say_like(clue.n_like, n_training)
    if clue.expected is None:
        return f"{found} in {usual.n_found:,} of {like}"
    assert isinstance(clue.expected, OneOf)
    states = clue.expected.values
    expected = say_state(states[0]) if len(states) == 1 else f"one of these {len(states):,}"
    return f"{expected} in {usual.n_usual:,} of {like}, {found} in {usual.n_found:,} of them"


@functools.lru_cache(maxsize=1 << 14)
def _say_circumstance(shared: Circumstance, several: bool, unit: str) -> str:
    """Put a circumstance into words; there are few of them, and they are said again and again."""
    if shared.allowed is None or shared.excluded:
        words = exclude(shared.variable, shared.excluded)
    else:
        words = brief(shared.allowed) + unit
    either = " or ".join([words, *(_ODD[odd] for odd in shared.besides)])
    return f"({either})" if shared.besides and several else either


def _say_rarity(clue: Rarity, n_training: int, legend: Legend) -> Reason:
    expected, bounds = _say_usual(clue)
    unit = legend.after(clue.variable) if bounds else ""
    expected += unit
    n_rows, where = f"{clue.seen.n_rows:,} of {n_training:,} training rows", clue.seen.where
    evidence = f"{'' if clue.seen.is_exact else 'about '}{n_rows} were this {where}"
    if where == "same":
        evidence = f"{n_rows} have this value"
    elif isinstance(clue.usual, Nearest) and where == "near":
        evidence = f"about {n_rows} lie {_where(clue.usual)}"
    kind: Kind = "outside" if clue.new else "rare"
    found = _tell(clue.found, bounds, unit)
    return Reason(expected, found, None, evidence, "", clue.penalty, kind=kind)


def _say_outside(clue: Outside, n_training: int, legend: Legend) -> Reason:
    """Say what training had, with as many digits as it takes for the value to lie outside."""
    side = "low" if clue.found < clue.low else "high"
    evidence = f"0 of {n_training:,} training rows were this {side}"
    low, high = round_outward(clue.low, clue.high, clue.found)
    unit = legend.after(clue.variable)
    expected = f"{low} ≤ {quote_name(clue.variable)} ≤ {high}{unit}"
    found = shorten(clue.found, lambda short: not float(low) <= short <= float(high)) + unit
    return Reason(expected, found, None, evidence, clue.rule, clue.penalty, kind="outside")


def _say_lasting(clue: Lasting) -> Reason:
    expected = f"{quote_name(clue.variable)} as in training"
    found = f"unusual for {clue.n_rows:,} row{'s' if clue.n_rows > 1 else ''}"
    evidence = "earlier rows count, too"
    return Reason(expected, found, None, evidence, "", clue.penalty, kind="lasting")


def _say_dead(clue: Dead, legend: Legend) -> Reason:
    name, how_long = quote_name(clue.variable), say_length(clue.n_rows, clue.step)
    evidence = f"at most {say_length(clue.longest, clue.step)} in training{other_than(clue.rest)}"
    if clue.found is None:
        expected, found = f"{name} to come back", f"missing for {how_long}"
    else:
        value = shorten(clue.found, lambda _: True) + legend.after(clue.variable)
        expected, found = f"{name} to change", f"{value} for {how_long}"
    return Reason(expected, found, None, evidence, "", clue.penalty, kind="dead")


def _say_moved(clue: Moved, legend: Legend) -> Reason:
    unit = legend.after(clue.variable)
    expected = f"{quote_name(clue.variable)} about {format_number(clue.lately)}{unit}"
    found = shorten(clue.found, same_side(clue.found, (clue.low, clue.high))) + unit
    low, high = (shorten(bound, same_side(bound, (clue.found,))) for bound in (clue.low, clue.high))
    is_normal = clue.low <= clue.found <= clue.high
    evidence = f"training had {low} to {high}{unit}{', so it is normal' if is_normal else ''}"
    because = "its recent offset from such rows puts it there"
    return Reason(expected, found, because, evidence, "", 0.0, kind="moved")


def _say_usual(clue: Rarity) -> tuple[str, tuple[float, ...]]:
    """Return what is usual in words, and the numbers in them."""
    if not isinstance(clue.usual, Nearest):
        states = round_states(clue.usual.values, clue.found)
        return brief(OneOf(clue.variable, states)), ()
    name, around = quote_name(clue.variable), clue.usual
    parts = []
    if around.below is not None:
        parts.append(f"{name} ≤ {format_number(around.below)}")
    if around.above is not None:
        parts.append(f"{name} ≥ {format_number(around.above)}")
    return " or ".join(parts) or f"{name} near other values", around.values


def _where(around: Nearest) -> str:
    match around:
        case Nearest(None, None):
            return "elsewhere"
        case Nearest(_, None):
            return "above that"
        case Nearest(None, _):
            return "below that"
    return "between these"


def _tell(value: Any, expected: Predicate | tuple[float, ...], unit: str = "") -> str:
    """Print what was found, with enough digits to differ from what was expected."""
    return "missing" if value is None else _digits(value, expected) + unit


def _digits(value: Any, expected: Predicate | tuple[float, ...]) -> str:
    match expected:
        case tuple() if expected:
            return shorten(value, same_side(value, expected))
        case Interval(_, low, high):
            return shorten(value, same_side(value, (low, high)))
        case Range(_, low, high):
            seems_to_hold, same = expected.seems_to_hold, same_side(value, (low, high))
            seems = seems_to_hold(value)
            return shorten(value, lambda short: same(short) and seems_to_hold(short) == seems)
    return say_state(value)


MOST_CONDITIONS = 2  # conditions that one sentence can take; none of them an interval with two ends
N_NAMED = 3  # states


class Statement(msgspec.Struct, frozen=True):
    """What was wrong with a variable: a subject, a verb and the rest."""

    variable: str  # the subject
    # ``"read"`` for numbers, ``"changed by"`` for changes, ``"stood at"`` for numbers that no longer
    # change, ``"was"`` for everything else
    verb: str
    rest: str  # what was found, and instead of what
    # under which conditions that was unexpected; empty if there are none, or too many to say
    condition: str = ""
    about: tuple[str, ...] = ()  # the variables of the condition
    name: str = ""  # what the subject is called; empty if by its name


def state(variable: str, clue: Clue, legend: Legend = NO_LEGEND) -> Statement:
    """Say in a few words what speaks against a variable; ``ΔX`` is how ``X`` changed.

    Its unit is put after the last of its numbers, and titles are used instead of names.
    """
    statement = _stated(variable, clue, legend)
    if statement.verb == "read" and variable.startswith(DELTA):
        variable = variable.removeprefix(DELTA)
        statement = msgspec.structs.replace(statement, variable=variable, verb="changed by")
    return msgspec.structs.replace(statement, name=legend.name(variable))


def _stated(variable: str, clue: Clue, legend: Legend) -> Statement:
    match clue:
        case Contradiction():
            return _contradicted(variable, clue, legend)
        case Outside(_, found, low, high):
            return _off(variable, found, clue.expected, low, high, legend)
        case Rarity():
            return _rare(variable, clue, legend.after(variable))
        case Violation():
            return _violated(variable, clue, legend)
        case Lasting(_, n_rows):
            return Statement(variable, "was", f"unusual for {count(n_rows, 'row')}")
        case Dead():
            return _died(variable, clue, legend)
        case Moved():
            found = shorten(clue.found, lambda _: True)
            before = format_number(clue.lately)
            before += legend.after(variable)
            return Statement(variable, "read", f"{found} instead of about {before} as lately")


def join(statements: Sequence[Statement]) -> str:
    """Join statements; variables of which the same is said share a verb.

    >>> join([Statement("a", "was", "1 instead of 2"), Statement("b", "was", "1 instead of 2")])
    'a and b were 1 instead of 2'
    """
    alike: dict[tuple[str, str, str], list[str]] = {}
    for statement in statements:
        key = statement.verb, statement.rest, statement.condition
        alike.setdefault(key, []).append(statement.name or quote_name(statement.variable))
    parts = []
    for (verb, rest, condition), names in alike.items():
        verb = "were" if verb == "was" and len(names) > 1 else verb
        parts.append(f"{listed(names)} {verb} {rest}{condition}")
    if len(parts) > 1 and any(", " in text or " while " in text for text in parts):
        return f"{', '.join(parts[:-1])}, and {parts[-1]}"
    return listed(parts)


def listed(items: Sequence[str]) -> str:
    """Join words with commas and "and".

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _contradicted(variable: str, clue: Contradiction, legend: Legend) -> Statement:
    all_hold = len(clue.conditions) == len(clue.circumstances)
    condition = _while(clue.conditions if all_hold else (), legend)
    if clue.found is None:
        return Statement(variable, "was", "missing", *condition)
    match clue.usual:
        case UsualNumber(mean, spread, resolution):
            usual = format_number(round_to(mean, max(spread, resolution))) + legend.after(variable)
            instead = f"instead of about {usual}"
            if clue.expected is None:
                instead = f"where about {usual} is usual"
            found = _digits(clue.found, clue.expected or (math.inf,))
            return Statement(variable, "read", f"{found} {instead}", *condition)
        case UsualStates():
            return Statement(variable, "was", _instead_of_states(clue), *condition)


def _died(variable: str, clue: Dead, legend: Legend) -> Statement:
    how_long, longest = (say_length(n_rows, clue.step) for n_rows in (clue.n_rows, clue.longest))
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


def _rare(variable: str, clue: Rarity, unit: str) -> Statement:
    n_rows, around = clue.seen.n_rows, clue.usual
    if not isinstance(around, Nearest):
        few = "no training row" if not n_rows else f"only {count(n_rows, 'training row')}"
        return Statement(variable, "was", f"{say_state(clue.found)}, which {few} had")
    found = shorten(clue.found, same_side(clue.found, around.values))
    bounds = []
    if around.below is not None:
        bounds.append(f"at most {format_number(around.below)}")
    if around.above is not None:
        bounds.append(f"at least {format_number(around.above)}")
    instead = f"{' or '.join(bounds)}{unit}" if bounds else "others"
    return Statement(variable, "read", f"{found} instead of {instead}")


def _violated(variable: str, clue: Violation, legend: Legend) -> Statement:
    names = variables(clue.failed)
    value = clue.found[names.index(variable)] if variable in names else clue.found[0]
    condition = _while(clue.rule.antecedent, legend)
    if value is None:
        return Statement(variable, "was", "missing", *condition)
    match clue.failed:
        case Range(_, low, high) | Interval(_, low, high):
            return _off(variable, value, clue.failed, low, high, legend, condition)
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
    legend: Legend,
    condition: tuple[str, tuple[str, ...]] = ("", ()),
) -> Statement:
    """Say on which side of an interval a number lies."""
    bound, side = (low, "at least") if value < low else (high, "at most")
    if isinstance(expected, Interval) and side == "at most":
        side = "less than"
    short = shorten(bound, same_side(bound, (value,)))
    wanted = short if low == high else f"{side} {short}"
    found = shorten(value, same_side(value, (low, high, float(short))))
    wanted += legend.after(variable)
    return Statement(variable, "read", f"{found} instead of {wanted}", *condition)


def _while(conditions: Sequence[Predicate], legend: Legend) -> tuple[str, tuple[str, ...]]:
    """Say conditions that a reader takes in at once, and the variables they are about."""
    held = [text for condition in conditions if (text := _held(condition, legend)) is not None]
    if not 0 < len(conditions) <= MOST_CONDITIONS or len(held) < len(conditions):
        return "", ()
    names = tuple(name for condition in conditions for name in variables(condition))
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


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def say_when(row: int, moment: Moment | None, beside: Moment | None = None) -> str:
    """Say when a row was, by its time if it has one; without the day if that of another moment says it.

    >>> morning = datetime.datetime(2016, 8, 3, 4)
    >>> say_when(7, morning), say_when(7, morning, morning), say_when(1207, None)
    ('3 Aug 04:00', '04:00', 'row 1,207')
    """
    if moment is None:
        return f"row {row:,}"
    if not isinstance(moment, datetime.datetime):
        return str(moment)
    if isinstance(beside, datetime.datetime) and moment.date() == beside.date():
        return _clock(moment)
    return f"{_day(moment)} {_clock(moment)}"


def say_at(row: int, moment: Moment | None, beside: Moment | None) -> str:
    """Say when a row was, after a verb; without the day if that of another moment says it.

    >>> morning = datetime.datetime(2016, 8, 3, 4, 0, 10)
    >>> say_at(7, morning, morning), say_at(7, None, None)
    ('at 04:00:10', 'in row 7')
    >>> say_at(7, morning, None)
    'on 3 Aug at 04:00:10'
    """
    if not isinstance(moment, datetime.datetime):
        return f"{'in' if moment is None else 'at'} {say_when(row, moment)}"
    if isinstance(beside, datetime.datetime) and moment.date() == beside.date():
        return f"at {_clock(moment)}"
    return f"on {_day(moment)} at {_clock(moment)}"


def _day(moment: datetime.datetime) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]}"


def _clock(moment: datetime.datetime) -> str:
    """Return the time of day, no more precisely than needed."""
    if moment.microsecond:
        return moment.strftime("%H:%M:%S.%f").rstrip("0")
    return moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
