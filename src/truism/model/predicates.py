"""Statements about one row that are true, false or unknown, as immutable values.

``Interval`` is half-open, ``low <= x < high``, in learning and in scoring alike (KDD'23, section 3);
``Range`` is closed and belongs to univariate rules only (section 4.3). This module holds the values and
their text; `truism.score.truths` finds out in which rows they hold.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import msgspec

from truism.errors import ParameterError
from truism.model.schema import Scalar

_PLAIN_VALUE = re.compile(r"[\w.+\-/:%°]+")
_AMBIGUOUS_NAME = re.compile(r"""[=<>≤≥∈⇒"'`{},\x00-\x1f\x7f]|\b(and|or|is|not)\b|^\s|\s$|^$""")


class Interval(
    msgspec.Struct,
    frozen=True,
    gc=False,
    tag="interval",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """``low <= variable < high``; an open side is infinite, and absent in JSON."""

    variable: str
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        if not self.low < self.high or self.low == math.inf:
            raise ParameterError(
                f"An interval must have low < high, got {self.low!r} and {self.high!r}."
            )
        if self.low == self.high * -1 == -math.inf:
            raise ParameterError(f"An interval must have a bound, got none for {self.variable!r}.")
        # JSON omits defaults by identity, so an equal infinity must be the same object.
        if self.low == -math.inf:
            msgspec.structs.force_setattr(self, "low", Interval.__struct_defaults__[0])
        if self.high == math.inf:
            msgspec.structs.force_setattr(self, "high", Interval.__struct_defaults__[1])

    def __str__(self) -> str:
        name = quote_name(self.variable)
        if self.low == -math.inf:
            return f"{name} < {format_number(self.high)}"
        if self.high == math.inf:
            return f"{name} ≥ {format_number(self.low)}"
        return f"{format_number(self.low)} ≤ {name} < {format_number(self.high)}"


class OneOf(msgspec.Struct, frozen=True, gc=False, tag="one_of", forbid_unknown_fields=True):
    """``variable`` has one of some values, which are the table's own scalars."""

    variable: str
    values: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError(
                f"A set of values must not be empty, got none for {self.variable!r}."
            )

    def __str__(self) -> str:
        name = quote_name(self.variable)
        if len(self.values) == 1:
            return f"{name} = {format_value(self.values[0])}"
        return f"{name} in {{{', '.join(format_value(value) for value in self.values)}}}"


class AnyOf(msgspec.Struct, frozen=True, gc=False, tag="any_of", forbid_unknown_fields=True):
    """At least one of several statements about different variables; counts as a variable of its own."""

    parts: tuple[OneOf, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise ParameterError(f"A join must have at least 2 parts, got {len(self.parts)}.")

    def __str__(self) -> str:
        return " or ".join(str(part) for part in self.parts)


class Range(msgspec.Struct, frozen=True, gc=False, tag="range", forbid_unknown_fields=True):
    """``low <= variable <= high``, closed: what a univariate rule says about a number."""

    variable: str
    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high or math.isinf(self.low) or math.isinf(self.high):
            raise ParameterError(
                f"A range must have finite low <= high, got {self.low!r} and {self.high!r}."
            )

    def __str__(self) -> str:
        name = quote_name(self.variable)
        if self.low == self.high:
            return f"{name} = {format_number(self.low)}"
        low, high = _outward(self.low, self.high)
        return f"{low} ≤ {name} ≤ {high}"

    def exact_text(self) -> str:
        """Print all digits, for a value that lies between a bound and its printed text."""
        return f"{self.low!r} ≤ {quote_name(self.variable)} ≤ {self.high!r}"

    def seems_to_hold(self, value: float) -> bool:
        """Return whether a value lies within the bounds as `str` prints them."""
        if self.low == self.high:
            return False
        low, high = _outward(self.low, self.high)
        return float(low) <= value <= float(high)


class Present(msgspec.Struct, frozen=True, gc=False, tag="present", forbid_unknown_fields=True):
    """``variable`` has a value at all."""

    variable: str

    def __str__(self) -> str:
        return f"{quote_name(self.variable)} is present"


Predicate = Interval | OneOf | AnyOf | Range | Present


def variables(predicate: Predicate) -> tuple[str, ...]:
    """Return the names of the variables that a predicate is about.

    >>> variables(AnyOf((OneOf("U", ("a",)), OneOf("V", ("b",)))))
    ('U', 'V')
    """
    if isinstance(predicate, AnyOf):
        return tuple(part.variable for part in predicate.parts)
    return (predicate.variable,)


def order(predicate: Predicate) -> tuple[Any, ...]:
    """Return a key that sorts predicates the same way, whatever table they came from."""
    match predicate:
        case Interval(variable, low, high):
            return ((variable,), 0, low, high, "")
        case OneOf(variable, values):
            return ((variable,), 1, 0.0, 0.0, " ".join(format_value(value) for value in values))
        case Range(variable, low, high):
            return ((variable,), 2, low, high, "")
        case Present(variable):
            return ((variable,), 3, 0.0, 0.0, "")
        case _:
            return (variables(predicate), 4, 0.0, 0.0, str(predicate))


_EXACT = Context(prec=1100)  # enough for the difference of any two doubles
_ROUNDED = [
    (Context(prec=digits, rounding=ROUND_FLOOR), Context(prec=digits, rounding=ROUND_CEILING))
    for digits in range(1, 18)
]


def cut_between(below: float, above: float) -> float:
    """Choose the cut-off to print and to use between two neighbouring training values.

    It is the number strictly between them with the fewest significant digits; among those, the
    nearest to the midpoint; among those, the smaller. If no double lies between them, it is the upper
    value, since ``x < above`` still separates the two.

    >>> cut_between(2.31, 2.58), cut_between(799.2, 803.9), cut_between(0.0, 1.0)
    (2.4, 800.0, 0.5)
    """
    if math.nextafter(below, math.inf) == above:
        return above
    low, high = Decimal(below), Decimal(above)
    middle = _EXACT.divide(_EXACT.add(low, high), Decimal(2))
    for down, up in _ROUNDED:
        smaller, larger = down.plus(middle), up.plus(middle)
        nearer = _EXACT.subtract(middle, smaller) <= _EXACT.subtract(larger, middle)
        nearest = smaller if nearer else larger
        cut = float(nearest)
        if below < cut < above:
            return cut
    return above


def format_number(value: float) -> str:
    """Print a number exactly: reading the text gives the same number.

    >>> format_number(800.0), format_number(2.4), format_number(3)
    ('800', '2.4', '3')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return repr(value)


def format_value(value: Scalar) -> str:
    """Print a state; text that could be mistaken for something else is quoted.

    >>> format_value("on"), format_value("rock and roll"), format_value(True), format_value(2.0)
    ('on', '"rock and roll"', 'true', '2')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = _PLAIN_VALUE.fullmatch(value) and not _looks_typed(value)
        return value if plain else json.dumps(value, ensure_ascii=False)
    return format_number(value)


def _outward(low: float, high: float) -> tuple[str, str]:
    """Print the bounds of a range to a ten-thousandth of its width, rounded outward.

    Nobody has measured a bound at three standard deviations; seventeen digits of it would only hide
    what it says.
    """
    # Halved, so that the width of the widest range is still a number.
    width = high / 2 - low / 2 or high - low
    decimals = max(0, min(12, 4 - math.floor(math.log10(width) + math.log10(2.0))))
    scale = 10.0**decimals
    bounds = []
    for value, outward in ((low, math.floor), (high, math.ceil)):
        exact = format_number(value)
        scaled = value * scale
        rounded = outward(scaled) / scale if math.isfinite(scaled) else value
        bounds.append(min(exact, format_number(rounded), key=len))
    return bounds[0], bounds[1]


def text_of(value: Scalar) -> str:
    """Return a state's own text, unquoted; values are sorted and looked up by it.

    >>> text_of("rock and roll"), text_of(2.0)
    ('rock and roll', '2')
    """
    return value if isinstance(value, str) else format_value(value)


def _looks_typed(text: str) -> bool:
    if text in ("true", "false", "and", "or", "in", "is", "missing"):
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def quote_name(name: str) -> str:
    """Print a variable's name, quoted only where a reader could mistake it for part of a rule.

    >>> quote_name("FIT201"), quote_name("flow (m3/h)"), quote_name("rock and roll")
    ('FIT201', 'flow (m3/h)', '"rock and roll"')
    """
    return json.dumps(name, ensure_ascii=False) if _AMBIGUOUS_NAME.search(name) else name


def conjunction(
    predicates: Iterable[Predicate], after: Callable[[Predicate], str] = lambda _: ""
) -> str:
    """Join predicates with "and", putting joins in brackets; `after` says what follows each, a unit.

    >>> conjunction([OneOf("P101", ("on",)), Interval("LIT301", low=800.0)])
    'P101 = on and LIT301 ≥ 800'
    """
    parts = list(predicates)
    if len(parts) == 1:
        return f"{parts[0]}{after(parts[0])}"
    return " and ".join(
        f"({part})" if isinstance(part, AnyOf) else f"{part}{after(part)}" for part in parts
    )
