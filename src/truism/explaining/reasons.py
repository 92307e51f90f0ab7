"""Clues in words: always the same four parts, expected, found, because and evidence."""

import functools
from typing import Any

import msgspec

from truism.explaining.circumstances import Circumstance
from truism.explaining.clues import (
    Clue,
    Contradiction,
    Lasting,
    Rarity,
    SameState,
    UsualNumber,
    UsualStates,
)
from truism.explaining.expectations import Beyond, Nearest, Sparse, round_to
from truism.model.predicates import (
    Interval,
    Predicate,
    Range,
    format_number,
    format_value,
    quote_name,
    variables,
)
from truism.model.rules import Rule
from truism.model.wording import brief, brief_conjunction, exclude, same_side, shorten
from truism.scoring.weighed import Violation

ANYWAY = "whatever the other variables are"
_ODD = {"missing": "missing", "infinite": "infinite", "unseen": "not seen in training"}


class Reason(msgspec.Struct, frozen=True):
    """One clue in words.

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
    row
        The row it is about, if it is not the row being explained: a variable of an incident may
        be normal at the peak.

    """

    expected: str
    found: str
    because: str | None
    evidence: str
    rule: str
    penalty: float
    row: int | None = None

    @property
    def place(self) -> str:
        """The row in which it was found, as words to put after `found`."""
        return "" if self.row is None else f" in row {self.row}"

    @property
    def why(self) -> str:
        """The condition as it is printed."""
        return ANYWAY if self.because is None else f"because {self.because}"

    def lines(self) -> tuple[str, str, str]:
        """Return the three lines that every screen shows."""
        first = f"expected {self.expected}, found {self.found}{self.place}"
        return first, self.why, f"({self.evidence})"


def say(clue: Clue, n_training: int, row: int | None = None) -> Reason:
    """Put a clue into words."""
    match clue:
        case Contradiction():
            return _say_contradiction(clue, n_training, row)
        case Rarity():
            return _say_rarity(clue, n_training, row)
        case Lasting():
            return _say_lasting(clue, row)
        case Violation():
            return _say_violation(clue, n_training, row)


def _say_violation(violation: Violation, n_training: int, row: int | None) -> Reason:
    rule, failed = violation.rule, violation.failed
    values = [_tell(each, failed) for each in violation.found]
    found = values[0]
    if len(values) > 1:
        named = zip(variables(failed), values, strict=True)
        found = " and ".join(f"{quote_name(name)} = {value}" for name, value in named)
    expected = brief(failed)
    if isinstance(failed, Range) and failed.seems_to_hold(violation.found[0]):
        expected = failed.exact_text()
    because, evidence, rule_id = _say_rule(rule, n_training)
    return Reason(expected, found, because, evidence, rule_id, violation.penalty, row)


@functools.lru_cache(maxsize=1 << 14)
def _say_rule(rule: Rule, n_training: int) -> tuple[str | None, str, str]:
    """Return a rule's condition and its evidence in words, and its id; many rows break one rule."""
    because = brief_conjunction(rule.antecedent) if rule.antecedent else None
    return because, f"{rule.count:,} of {n_training:,} training rows, no exception", rule.id


def _say_contradiction(clue: Contradiction, n_training: int, row: int | None) -> Reason:
    match clue.usual:
        case UsualNumber():
            evidence = (
                f"{_say_average(clue.usual)} in the {clue.n_like:,} of {n_training:,} training rows "
                f"like this"
            )
        case UsualStates():
            evidence = _say_states(clue, clue.usual)
    found = _tell(clue.found, clue.expected)
    because = _say_circumstances(clue.circumstances)
    return Reason(brief(clue.expected), found, because, evidence, "", clue.penalty, row)


def _say_average(usual: UsualNumber) -> str:
    """Print the mean and spread of some training rows, without digits that contexts do not keep."""
    size = max(usual.spread, usual.resolution)
    middle, around = (format_number(round_to(each, size)) for each in (usual.mean, usual.spread))
    known = ", where it is known," if usual.some_missing else ""
    return f"{middle}{known}" if around == "0" else f"{middle} ± {around}{known}"


def _say_states(clue: Contradiction, usual: UsualStates) -> str:
    assert not isinstance(clue.expected, Interval)
    states = clue.expected.values
    expected, found = format_value(states[0]), format_value(clue.found)
    if usual.usual_is_shared:
        expected = f"one of {len(states):,} uncommon values"
    if usual.found_is_shared:
        found = f"values as uncommon as {found}"
    return (
        f"{expected} in {usual.n_usual:,} of the {clue.n_like:,} training rows like this, "
        f"{found} in {usual.n_found:,} of them"
    )


def _say_circumstances(circumstances: tuple[Circumstance, ...]) -> str | None:
    several = len(circumstances) > 1
    return " and ".join(_say_circumstance(each, several) for each in circumstances) or None


@functools.lru_cache(maxsize=1 << 14)
def _say_circumstance(each: Circumstance, several: bool) -> str:
    """Put a circumstance into words; there are few of them, and they are said again and again."""
    if each.allowed is None or each.excluded:
        words = exclude(each.variable, each.excluded)
    else:
        words = brief(each.allowed)
    either = " or ".join([words, *(_ODD[odd] for odd in each.besides)])
    return f"({either})" if each.besides and several else either


def _say_rarity(clue: Rarity, n_training: int, row: int | None) -> Reason:
    expected, bounds = _say_usual(clue)
    match clue.seen:
        case SameState(n):
            evidence = f"{n:,} of {n_training:,} training rows have this value"
        case Beyond(n, side):
            about = "" if clue.seen.is_exact else "about "
            evidence = f"{about}{n:,} of {n_training:,} training rows were this {side}"
        case Sparse(n):
            assert isinstance(clue.usual, Nearest)
            where = _where(clue.usual)
            evidence = f"about {n:,} of {n_training:,} training rows lie {where}"
    return Reason(expected, _tell(clue.found, bounds), None, evidence, "", clue.penalty, row)


def _say_lasting(clue: Lasting, row: int | None) -> Reason:
    expected = f"{quote_name(clue.variable)} as in training"
    found = f"unusual for {clue.n_rows:,} row{'s' if clue.n_rows > 1 else ''}"
    return Reason(expected, found, None, "earlier rows count, too", "", clue.penalty, row)


def _say_usual(clue: Rarity) -> tuple[str, tuple[float, ...]]:
    """Return what is usual in words, and the numbers in them."""
    if not isinstance(clue.usual, Nearest):
        return brief(clue.usual), ()
    name, around = quote_name(clue.variable), clue.usual
    said = []
    if around.below is not None:
        said.append(f"{name} ≤ {format_number(around.below)}")
    if around.above is not None:
        said.append(f"{name} ≥ {format_number(around.above)}")
    return " or ".join(said) or f"{name} near other values", around.values


def _where(around: Nearest) -> str:
    match around:
        case Nearest(None, None):
            return "elsewhere"
        case Nearest(_, None):
            return "above that"
        case Nearest(None, _):
            return "below that"
    return "between these"


def _tell(value: Any, expected: Predicate | tuple[float, ...]) -> str:
    """Print what was found, with enough digits to differ from what was expected."""
    if value is None:
        return "missing"
    match expected:
        case tuple() if expected:
            return shorten(value, same_side(value, expected))
        case Interval(_, low, high):
            return shorten(value, same_side(value, (low, high)))
        case Range(_, low, high):
            seems_to_hold, same = expected.seems_to_hold, same_side(value, (low, high))
            seems = seems_to_hold(value)
            return shorten(value, lambda short: same(short) and seems_to_hold(short) == seems)
    return format_value(value)
