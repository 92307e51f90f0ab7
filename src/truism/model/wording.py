"""Predicates, lists and numbers as people read them: short, and never false.

A rule's own text is exact (`truism.model.predicates`). An explanation may omit the hundredth state of a
list and the tenth digit of a measurement, but a value must never seem to satisfy what it breaks.
"""

import html
import math
import re
import struct
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from truism.errors import ParameterError
from truism.model.predicates import (
    AnyOf,
    Interval,
    OneOf,
    Predicate,
    Range,
    format_number,
    format_value,
    quote_name,
)
from truism.model.schema import Scalar
from truism.table.notices import count as count

N_STATES = 6  # how many states to name where the value is one of them
N_EXCLUDED = 3  # how many states to name where the value is none of them
_WHOLE, _NEARLY_ALL = 0.0995, 0.995  # shares between them are printed as whole percentages
_MIN_DIGITS, _ALL_DIGITS = 4, 17
_MOST_DECIMALS, _MAX_WHOLE = 300, 1e15
_SINGLE = struct.Struct("f")  # a number of half as many digits
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

_FORMULA = re.compile(r"\s*[=+\-@|%]|[\t\r\n]")
_NUMBER = re.compile(
    r"[+-]?(\d[\d,]*(\.\d*)?(e[+-]?\d+)?|inf|nan)( ≤ .*)?", re.IGNORECASE | re.DOTALL
)


CHANGE = "Δ"  # before the name of a column: its change since the previous row


class Legend(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Units and titles of columns, by their names.

    >>> legend = Legend({"LIT301": "mm"}, {"LIT301": "feed tank level"})
    >>> legend.heading("LIT301"), legend.after("LIT301"), legend.after("ΔLIT301"), legend.after("P101")
    ('LIT301 (feed tank level)', ' mm', ' mm', '')
    """

    units: dict[str, Annotated[str, msgspec.Meta(min_length=1)]] = {}
    titles: dict[str, Annotated[str, msgspec.Meta(min_length=1)]] = {}

    def unit(self, variable: str) -> str | None:
        """Return a variable's unit; a change has that of the column."""
        return self.units.get(variable) or self.units.get(variable.removeprefix(CHANGE))

    def title(self, variable: str) -> str | None:
        """Return a variable's title."""
        return self.titles.get(variable)

    def heading(self, variable: str) -> str:
        """Return a variable's name, with its title if it has one."""
        title = self.title(variable)
        return variable if title is None else f"{variable} ({title})"

    def name(self, variable: str) -> str:
        """Return what a sentence calls a variable: its title, if no other variable has the same.

        >>> Legend(titles={"P1": "feed pump"}).name("P1"), NO_LEGEND.name("rock and roll")
        ('feed pump', '"rock and roll"')
        """
        title = self.title(variable)
        if title is None:
            return quote_name(variable)
        alone = sum(other == title for other in self.titles.values()) == 1
        return title if alone else self.heading(variable)

    def after(self, variable: str) -> str:
        """Return what to put after a number of a variable."""
        unit = self.unit(variable)
        return "" if unit is None else f" {unit}"

    def after_predicate(self, predicate: Predicate | None) -> str:
        """Return what to put after a predicate: a unit, if it ends with a number of a quantity."""
        return self.after(predicate.variable) if isinstance(predicate, Interval | Range) else ""


NO_LEGEND = Legend()


def legend_of(units: Any, titles: Any, columns: Collection[str]) -> Legend | None:
    """Return a legend of texts by the names of columns of a table; None if there is nothing in it."""
    read = {"units": _texts("units", units, columns), "titles": _texts("titles", titles, columns)}
    return Legend(**read) if any(read.values()) else None


def _texts(parameter: str, given: Any, columns: Collection[str]) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError.of(parameter, "map names of columns to texts", given)
    for name, text in given.items():
        if name not in columns:
            raise ParameterError.of(parameter, "name columns of the table", name)
        if not isinstance(text, str) or not text.strip():
            raise ParameterError.of(parameter, f"hold a text for {name!r}", text)
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise ParameterError.of(parameter, f"hold valid Unicode for {name!r}", text)
    return {str(name): str(text).strip() for name, text in given.items()}


def html_table(names: Sequence[str], rows: Iterable[Sequence[str]], *numbers: str) -> str:
    """Return a table for a notebook, escaped; only the columns called `numbers` align to the right."""
    sides = ["right;white-space:nowrap" if name in numbers else "left" for name in names]

    def line(tag: str, cells: Sequence[str]) -> str:
        return "".join(
            f"<{tag} style='text-align:{side}'>{html.escape(cell)}</{tag}>"
            for cell, side in zip(cells, sides, strict=True)
        )

    body = "".join(f"<tr>{line('td', cells)}</tr>" for cells in rows)
    return f"<table><thead><tr>{line('th', names)}</tr></thead><tbody>{body}</tbody></table>"


class Printed:
    """A value of which a notebook shows what is printed."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def visible(text: str) -> str:
    r"""Spell out characters that a terminal would obey or hide.

    >>> visible("red\x1b[31m alert"), visible("Δ level")
    ('red\\x1b[31m alert', 'Δ level')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        letter.encode("unicode_escape").decode()
        if unicodedata.category(letter) in _INVISIBLE
        else letter
        for letter in text
    )


def tame(value: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would run as a formula, and nothing else.

    Numbers stay numbers, and so do ranges, which no spreadsheet takes for a formula.

    >>> tame("=HYPERLINK(1)"), tame("-2.5"), tame("-3 ≤ level ≤ 5"), tame("pump = on"), tame(-1)
    ("'=HYPERLINK(1)", '-2.5', '-3 ≤ level ≤ 5', 'pump = on', -1)
    """
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def first_few(texts: Sequence[str], most: int) -> str:
    """List the first few texts, and count the others.

    >>> first_few(["a", "b", "c"], 2), first_few(["a", "b"], 2)
    ('a, b and 1 more', 'a, b')
    """
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")


def name_some(values: Sequence[Scalar], most: int) -> str:
    """Name the first few states, and count the others.

    >>> name_some(("a", "b", "c", "d", "e"), 3), name_some(("a", "b", "c"), 2), name_some(("a",), 2)
    ('a, b, c and 2 others', 'a, b and 1 other', 'a')
    """
    named = ", ".join(format_value(value) for value in values[:most])
    n_others = len(values) - most
    if n_others <= 0:
        return named
    return f"{named} and {n_others:,} {'other' if n_others == 1 else 'others'}"


def brief(predicate: Predicate, legend: Legend = NO_LEGEND) -> str:
    """Print a predicate, with only the first few of very many states, and with units if they are known.

    >>> brief(OneOf("U", tuple("abcdefgh"))), brief(OneOf("U", ("a", "b")))
    ('U in {a, b, c, d, e, f and 2 others}', 'U in {a, b}')
    """
    match predicate:
        case OneOf(variable, values) if len(values) > N_STATES:
            return f"{quote_name(variable)} in {{{name_some(values, N_STATES)}}}"
        case AnyOf(parts):
            return " or ".join(brief(part) for part in parts)
    return f"{predicate}{legend.after_predicate(predicate)}"


def brief_conditions(
    predicates: Sequence[Predicate], legend: Legend = NO_LEGEND
) -> tuple[str, ...]:
    """Return predicates as `brief` prints them, joins in brackets where there are several."""
    several = len(predicates) > 1
    return tuple(
        f"({brief(predicate)})"
        if several and isinstance(predicate, AnyOf)
        else brief(predicate, legend)
        for predicate in predicates
    )


def round_states(values: Sequence[Scalar], value_found: Scalar) -> tuple[Scalar, ...]:
    """Round states that are measured numbers, if they stay apart from each other and from another one.

    >>> round_states((0, 20.37336349, 24.02596664), 25.1), round_states((1.00001, 1.00002), 3)
    ((0, 20.37, 24.03), (1.00001, 1.00002))
    """
    short = tuple(
        float(f"{value:.{_MIN_DIGITS}g}")
        if isinstance(value, float) and not value.is_integer()
        else value
        for value in values
    )
    apart = len({*short}) == len(values) and value_found not in short
    return short if apart else tuple(values)


def exclude(variable: str, values: Sequence[Scalar]) -> str:
    """Say that a variable has none of some states.

    >>> exclude("U", ("a",)), exclude("U", ("a", "b")), exclude("U", tuple("abcdef"))
    ('U ≠ a', 'U not in {a, b}', 'U not in {a, b, c and 3 others}')
    """
    name = quote_name(variable)
    if len(values) == 1:
        return f"{name} ≠ {format_value(values[0])}"
    return f"{name} not in {{{name_some(values, N_EXCLUDED)}}}"


def shorten(value: float, says_the_same: Callable[[float], bool]) -> str:
    """Print a measured number with four digits, or with as many as it takes to remain true.

    Whole numbers are printed as they are.

    >>> shorten(2.835569264043213, lambda short: True), shorten(159.21, lambda short: True)
    ('2.836', '159.2')
    >>> shorten(2.835569264043213, lambda short: short < 2.8356)
    '2.83557'
    """
    exact = format_number(value)
    if not isinstance(value, float) or not math.isfinite(value) or value.is_integer():
        return exact
    for digits in range(_MIN_DIGITS, _ALL_DIGITS):
        short = float(f"{value:.{digits}g}")
        if says_the_same(short):
            return format_number(short)
    return exact


def round_outward(low: float, high: float, outside: float) -> tuple[str, str]:
    """Print bounds as a person would, rounded outward, but so that a number stays outside.

    >>> round_outward(-79.96, 119.987, 150.0), round_outward(0.0, 119.987, 119.9871)
    (('-80', '120'), ('0', '119.987'))
    """
    width = high / 2 - low / 2 or high - low
    for digits in range(_ALL_DIGITS):
        decimals = digits + 2 - math.floor(math.log10(width))
        bounds = _rounded(low, decimals, math.floor), _rounded(high, decimals, math.ceil)
        if not bounds[0] <= outside <= bounds[1]:
            return format_number(bounds[0]), format_number(bounds[1])
    return format_number(low), format_number(high)


def _rounded(value: float, decimals: int, towards: Callable[[float], int]) -> float:
    """Round to some decimals in one direction; a number that is short already stays as it is."""
    if not -_MOST_DECIMALS < decimals <= _ALL_DIGITS:
        return value
    scaled = value * 10.0**decimals
    vanishes = value != 0 and scaled == 0
    if vanishes or not math.isfinite(scaled) or abs(scaled) >= _MAX_WHOLE:
        return value
    near = round(scaled)
    whole = near if math.isclose(scaled, near, rel_tol=1e-12) else towards(scaled)
    return round(whole / 10.0**decimals, decimals)


def same_side(value: float, bounds: Iterable[float]) -> Callable[[float], bool]:
    """Return a test for `shorten`: whether a number lies on the same side of every bound as a value.

    >>> [same_side(2.5, (2.0, 3.0))(short) for short in (2.4, 2.0, 3.1)]
    [True, False, False]
    """
    limits = tuple(bounds)
    return lambda short: all(
        (short < limit) == (value < limit) and (short > limit) == (value > limit)
        for limit in limits
    )


def percent(part: float) -> str:
    """Print a share; a few in a million must not become zero.

    >>> percent(0.0533), percent(0.00004), percent(0.0), percent(1.0), percent(1e-9)
    ('5.3 %', '0.004 %', '0 %', '100 %', '< 0.001 %')
    """
    if 0 < part < 1e-5:
        return "< 0.001 %"
    return f"{100 * part:.3g} %" if part >= 0.1 else f"{100 * part:.2g} %"


def about_percent(part: float) -> str:
    """Print a share without decimals, unless it is small.

    >>> about_percent(0.1234), about_percent(0.0533), about_percent(0.9999), about_percent(1.0)
    ('12 %', '5.3 %', '99.9 %', '100 %')
    """
    if part < _WHOLE:
        return percent(part)
    return "99.9 %" if _NEARLY_ALL < part < 1 else f"{100 * part:.0f} %"


def ordinal(n: int) -> str:
    """Return a number that says which of several.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n:,}{ending}"


def lasting(seconds: float) -> str:
    """Print a duration in its two largest units.

    >>> lasting(14 * 60), lasting(30 * 3600 + 20), lasting(0.25), lasting(12 * 86400)
    ('14 min', '1 day 6 h', '0.25 s', '12 days')
    """
    parts = []
    for unit, size in (("day", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        n, seconds = divmod(seconds, size) if size > 1 else (seconds, 0)
        parts.append((n, "days" if unit == "day" and n != 1 else unit))
    while len(parts) > 1 and parts[0][0] == 0:
        parts.pop(0)
    return " ".join(f"{n:.4g} {unit}" for n, unit in parts[:2] if n) or "no time"


def other_than(rest: float | None) -> str:
    """Return words that name the value to which a statement does not apply.

    >>> other_than(0.0), other_than(None)
    (' other than at 0', '')
    """
    return "" if rest is None else f" other than at {format_number(rest)}"


def say_length(n_rows: int, step: float | None) -> str:
    """Print how long some rows last, by the seconds from one row to the next if there are times.

    >>> say_length(30, 10.0), say_length(30, None)
    ('5 min', '30 rows')
    """
    return count(n_rows, "row") if step is None else lasting(n_rows * step)


def say_state(value: Scalar) -> str:
    """Print a state for readers; a number that was measured with fewer digits shows no more of them.

    >>> say_state("on"), say_state(2.5), say_state(0.9200000166893005), say_state(1 / 3)
    ('on', '2.5', '0.92', '0.3333333333333333')
    """
    if isinstance(value, float) and abs(value) < _MAX_WHOLE:
        for digits in range(6, 9):
            short = float(f"{value:.{digits}g}")
            if _SINGLE.unpack(_SINGLE.pack(short))[0] == value:
                return format_number(short)
    return format_value(value)
