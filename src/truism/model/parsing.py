"""Conditions read from text: the inverse of how rules print them.

Signs and keywords stand outside quotation marks: a name or state that holds one is printed in them, and
needs them here. ``<=`` and ``>=`` stand for ``≤`` and ``≥``. A text that cannot be read is refused,
with the place at which reading stopped.
"""

import json
import math
import re
from typing import NoReturn

from truism.errors import ParameterError, did_you_mean
from truism.model.acceptances import Condition
from truism.model.predicates import AnyOf, Interval, OneOf, format_value, quote_name
from truism.model.schema import Categorical, Numeric, Scalar, Schema, Variable
from truism.model.wording import NO_LEGEND, Legend

_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_NAME = rf'(?P<name>(?:{_QUOTED}|[^"=<>≤≥{{}}])+)'
_AND, _OR = (re.compile(rf'{_QUOTED}|(?<=[\s)}}"])({word})(?=[\s("]|$)') for word in ("and", "or"))
_BETWEEN = re.compile(rf"(?P<low>{_NUMBER})\s*(?:≤|<=){_NAME}<(?!=)(?P<high>.*)", re.DOTALL)
_ONE = re.compile(rf"{_NAME}(?P<sign>≥|>=|<(?!=)|=|\{{)(?P<rest>.*)", re.DOTALL)
_LIMIT = re.compile(_NUMBER + r"(?![\w.])\s*")
_STATE = re.compile(rf"(?:{_QUOTED}|[\w.+\-/:%°]+)\s*")


def parse_conditions(
    text: str, schema: Schema, legend: Legend = NO_LEGEND, parameter: str = "when"
) -> tuple[Condition, ...]:
    """Read conditions that are joined with "and"; numbers may be followed by the units of a legend.

    >>> flow = Numeric("FIT101", 0.0, 2.6, 1.2, 0.5, 0, (0.0,), (1,))
    >>> schema = Schema((Categorical("MV101", "text", ("open", "shut"), (5, 5), 0), flow))
    >>> [str(read) for read in parse_conditions("MV101 = open and 1 <= FIT101 < 2", schema)]
    ['MV101 = open', '1 ≤ FIT101 < 2']
    """
    if not isinstance(text, str) or not text.strip():
        raise ParameterError.of(parameter, "hold a condition", text)
    return _Reader(text, schema, legend, parameter).read()


class _Reader:
    """Reads one text; places are counted from its beginning."""

    def __init__(self, text: str, schema: Schema, legend: Legend, parameter: str) -> None:
        self.text, self.legend, self.parameter = text, legend, parameter
        self.variable_of = {quote_name(variable.name): variable for variable in schema.variables}

    def read(self) -> tuple[Condition, ...]:
        """Read the whole text."""
        spans = self._split(_AND, 0, len(self.text))
        return tuple(self._condition(*span, alone=len(spans) == 1) for span in spans)

    def _split(self, keyword: re.Pattern[str], start: int, end: int) -> list[tuple[int, int]]:
        """Return the spans between a keyword, without the blanks around them."""
        spans = []
        for match in keyword.finditer(self.text, start, end):
            if match[1]:
                spans.append((start, match.start()))
                start = match.end()
        spans.append((start, end))
        return [self._stripped(*span) for span in spans]

    def _stripped(self, start: int, end: int) -> tuple[int, int]:
        text = self.text[start:end]
        start = end - len(text.lstrip())
        return start, max(start, start + len(text.strip()))

    def _condition(self, start: int, end: int, *, alone: bool) -> Condition:
        """Read a join in brackets, a join by itself, or a comparison."""
        parts = self._split(_OR, start, end) if alone else [(start, end)]
        if self.text.startswith("(", start) and self.text.endswith(")", start, end):
            inner = self._split(_OR, start + 1, end - 1)
            parts = inner if len(inner) > 1 else parts
        if len(parts) == 1:
            return self._comparison(*parts[0])
        states = []
        for part in parts:
            condition = self._comparison(*part)
            if not isinstance(condition, OneOf):
                self._refuse(part[0], 'a state: "or" joins no numbers')
            states.append(condition)
        return AnyOf(tuple(states))

    def _comparison(self, start: int, end: int) -> Interval | OneOf:
        """Read ``name < number`` and the like, or ``number ≤ name < number``."""
        between = _BETWEEN.fullmatch(self.text, start, end)
        if between is not None:
            variable, at = self._variable(*between.span("name")), between.start("name")
            high = self._number(variable, self._stripped(between.start("high"), end)[0], end)
            return self._interval(variable, at, end, float(between["low"]), high)
        one = _ONE.fullmatch(self.text, start, end)
        words = [] if one is None else one["name"].split()
        if one is None or (one["sign"] == "{" and words[-1:] != ["in"]):
            printed = [name for name in self.variable_of if self.text.startswith(name, start, end)]
            if not printed:
                self._refuse_name(start)
            at = self._stripped(start + max(map(len, printed)), end)[0]
            self._refuse(at, "one of the signs <, ≥, = and in, or bounds such as 3 ≤ x < 4")
        several, at = one["sign"] == "{", self._stripped(one.start("rest"), end)[0]
        if several:
            before = one["name"].rstrip().removesuffix("in")
            variable, at = self._variable(start, start + len(before)), one.start("sign")
        else:
            variable = self._variable(start, one.end("name"))
        if one["sign"] in ("=", "{"):
            return self._states(variable, at, end, several=several)
        if not isinstance(variable, Numeric):
            self._refuse(one.start("sign"), f"a state of {variable.name!r}, which is no number")
        limit = self._number(variable, at, end)
        low, high = (-math.inf, limit) if one["sign"] == "<" else (limit, math.inf)
        return self._interval(variable, at, end, low, high)

    def _variable(self, start: int, end: int) -> Variable:
        start, end = self._stripped(start, end)
        if self.text[start:end] not in self.variable_of:
            self._refuse_name(start)
        return self.variable_of[self.text[start:end]]

    def _interval(self, variable: Variable, at: int, end: int, low: float, high: float) -> Interval:
        if not isinstance(variable, Numeric):
            self._refuse(at, f"a state of {variable.name!r}, which is no number")
        if not low < high or low == math.inf:
            self._refuse(end, "a lower bound below the upper one")
        return Interval(variable.name, low, high)

    def _number(self, variable: Variable, at: int, end: int) -> float:
        """Read a number, and its unit if it is there."""
        number = _LIMIT.match(self.text, at, end)
        if number is None or math.isinf(float(number[0])):
            self._refuse(at, "a number")
        unit = self.legend.unit(variable.name)
        after = number.end()
        if unit is not None and self.text.startswith(unit, after):
            after = self._stripped(after + len(unit), end)[0]
        self._finish(after, end)
        return float(number[0])

    def _states(self, variable: Variable, at: int, end: int, *, several: bool) -> OneOf:
        if not isinstance(variable, Categorical):
            self._refuse(at, f"<, ≥ or two bounds: {variable.name!r} is a number")
        state_of = {format_value(state): state for state in variable.values}
        states: list[Scalar] = []
        while not states or several:
            if several:
                at = self._stripped(at + 1, end)[0]  # the brace or the comma
            match = _STATE.match(self.text, at, end)
            if match is None and self.text.startswith('"', at):
                self._refuse(at, "the end of a text in quotation marks")
            token = "" if match is None else match[0].rstrip()
            states.append(self._state(token, state_of, at))
            at = at if match is None else match.end()
            if several and self.text.startswith("}", at):
                at = self._stripped(at + 1, end)[0]
                break
            if several and not self.text.startswith(",", at):
                self._refuse(at, '"," or "}"')
        self._finish(at, end)
        return OneOf(variable.name, tuple(states))

    def _state(self, token: str, state_of: dict[str, Scalar], at: int) -> Scalar:
        """Return the state that rules print so; the same text may be escaped in more than one way."""
        if token.startswith('"') and token not in state_of:
            try:
                plain = json.loads(token)
            except ValueError:
                self._refuse(at, "the end of a text in quotation marks")
            escaped = json.dumps(plain, ensure_ascii=False)
            token = escaped if escaped in state_of else plain
        if not token or token not in state_of:
            guess = did_you_mean(token, state_of) if token else None
            states = ", ".join(list(state_of)[:5]) + (" …" if len(state_of) > 5 else "")
            self._refuse(at, f"one of the states {states}" + (f" ({guess})" if guess else ""))
        return state_of[token]

    def _finish(self, at: int, end: int) -> None:
        if at < end:
            self._refuse(at, '"and", "or" or the end')

    def _refuse_name(self, at: int) -> NoReturn:
        word = re.split(r"[=<>≤≥\s]", self.text[at:], maxsplit=1)[0]
        self._refuse(at, "the name of a variable", did_you_mean(word, self.variable_of))

    def _refuse(self, at: int, wanted: str, hint: str | None = None) -> NoReturn:
        rest = self.text[at:]
        place = f"at character {at + 1}, before {rest[:20]!r}" if rest else "at its end"
        constraint = f"be a condition such as P101 = on and LIT301 ≥ 800; {place} it lacks {wanted}"
        raise ParameterError.of(self.parameter, constraint, self.text, hint)
