"""Conditions read from text: the inverse of how rules print them.

The names of the variables are known, so that a name may hold blanks and brackets; one that a rule
prints in quotation marks needs them here. ``<=`` and ``>=`` stand for ``≤`` and ``≥``. A text that can
be read in no way is refused, with the place at which reading stopped.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence

from truism.errors import ParameterError, did_you_mean
from truism.model.acceptances import Condition
from truism.model.predicates import AnyOf, Interval, OneOf, format_value, quote_name
from truism.model.schema import Categorical, Numeric, Scalar, Schema, Variable
from truism.model.wording import NO_LEGEND, Legend

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[\w.+\-/:%°]+")
_BLANK = re.compile(r"\s*")

Found = Iterator[tuple[Condition, int]]


def parse_conditions(
    text: str, schema: Schema, legend: Legend = NO_LEGEND, parameter: str = "when"
) -> tuple[Condition, ...]:
    """Read conditions that are joined with "and".

    Parameters
    ----------
    text
        For example ``P101 = on and LIT301 ≥ 800``.
    schema
        The variables that it may name.
    legend
        Units that may follow a number.
    parameter
        The setting that it was given as.

    Examples
    --------
    >>> flow = Numeric("FIT101", 0.0, 2.6, 1.2, 0.5, 0, (0.0,), (1,))
    >>> schema = Schema((Categorical("MV101", "text", ("open", "shut"), (5, 5), 0), flow))
    >>> [str(each) for each in parse_conditions("MV101 = open and 1 <= FIT101 < 2", schema)]
    ['MV101 = open', '1 ≤ FIT101 < 2']

    """
    return _Reader(text, schema, legend, parameter).read()


class _Reader:
    """Reads one text, by trying; it remembers how far it came, and what was missing there."""

    def __init__(self, text: str, schema: Schema, legend: Legend, parameter: str) -> None:
        self.text, self.legend, self.parameter = text, legend, parameter
        printed = {quote_name(each.name): each for each in schema.variables}
        self.names = sorted(printed.items(), key=lambda entry: -len(entry[0]))
        self.farthest, self.wanted = 0, "a condition"

    def read(self) -> tuple[Condition, ...]:
        """Read the whole text."""
        if not isinstance(self.text, str) or not self.text.strip():
            raise ParameterError.of(self.parameter, "hold a condition", self.text)
        try:
            for found, at in self._all(self._skip(0), ()):
                if self._skip(at) == len(self.text):
                    return found
                self._miss(self._skip(at), '"and", "or" or the end')
        except RecursionError:
            raise ParameterError(f"{self.parameter} has too many conditions.") from None
        raise self._refusal()

    def _all(
        self, at: int, before: tuple[Condition, ...]
    ) -> Iterator[tuple[tuple[Condition, ...], int]]:
        """Read conditions that are joined with "and", the longest list first."""
        for condition, after in self._condition(at, alone=not before):
            found = (*before, condition)
            following = self._keyword("and", after)
            if following is not None:
                yield from self._all(following, found)
            yield found, after

    def _condition(self, at: int, *, alone: bool) -> Found:
        """Read one condition: a join in brackets, a join by itself, or a comparison."""
        if self.text.startswith("(", at):
            for join, after in self._join(self._skip(at + 1), '"or" or ")"'):
                end = self._skip(after)
                if self.text.startswith(")", end):
                    yield join, end + 1
        if alone:
            yield from self._join(at)
        yield from self._comparison(at)

    def _join(self, at: int, wanted: str = '"and", "or" or the end') -> Found:
        for parts, after in self._parts(at, ()):
            self._miss(self._skip(after), wanted)
            if len(parts) > 1:
                yield AnyOf(parts), after

    def _parts(self, at: int, before: tuple[OneOf, ...]) -> Iterator[tuple[tuple[OneOf, ...], int]]:
        for part, after in self._comparison(at):
            if isinstance(part, OneOf):
                found = (*before, part)
                following = self._keyword("or", after)
                if following is not None:
                    yield from self._parts(following, found)
                yield found, after

    def _comparison(self, at: int) -> Found:
        """Read ``name < number`` and the like, or ``number ≤ name < number``."""
        for variable, after in self._name(at):
            yield from self._after_name(variable, self._skip(after))
        low = self._number(at)
        if low is None:
            return
        after_low = self._sign(("≤", "<="), low[1])
        if after_low is None:
            return
        for variable, end in self._name(after_low):
            upto = self._sign(("<",), end)
            high = None if upto is None else self._bound(variable, upto)
            if high is not None:
                yield from self._interval(at, variable, low[0], *high)

    def _after_name(self, variable: Variable, at: int) -> Found:
        for signs, is_low in ((("≥", ">="), True), (("<",), False)):
            after = self._sign(signs, at)
            bound = None if after is None else self._bound(variable, after)
            if bound is not None:
                low, high = (bound[0], math.inf) if is_low else (-math.inf, bound[0])
                yield from self._interval(at, variable, low, high, bound[1])
        equal = self._sign(("=",), at)
        if equal is not None:
            yield from self._states(variable, equal, several=False)
        among = self._keyword("in", at)
        if among is not None and self.text.startswith("{", among):
            yield from self._states(variable, self._skip(among + 1), several=True)

    def _interval(self, at: int, variable: Variable, low: float, high: float, after: int) -> Found:
        if not isinstance(variable, Numeric):
            self._miss(at, f"a state of {variable.name!r}, which is no number")
        elif not low < high:
            self._miss(after, "a lower bound below the upper one")
        else:
            yield Interval(variable.name, low, high), after

    def _states(self, variable: Variable, at: int, *, several: bool) -> Found:
        if not isinstance(variable, Categorical):
            self._miss(at, f"<, ≥ or two bounds: {variable.name!r} is a number")
            return
        known = {format_value(each): each for each in variable.values}
        found: list[Scalar] = []
        while True:
            read = self._value(known, at)
            if read is None:
                return
            found.append(read[0])
            at = read[1]
            if not several:
                break
            at = self._skip(at)
            if self.text.startswith("}", at):
                at += 1
                break
            if not self.text.startswith(",", at):
                self._miss(at, '"," or "}"')
                return
            at = self._skip(at + 1)
        yield OneOf(variable.name, tuple(found)), at

    def _value(self, known: dict[str, Scalar], at: int) -> tuple[Scalar, int] | None:
        """Read a state as rules print it."""
        word = self._quoted(at) or _WORD.match(self.text, at)
        end = word if isinstance(word, int) else at if word is None else word.end()
        token = self.text[at:end]
        if isinstance(word, int) and token not in known:
            # The same text may be escaped in more than one way.
            token = json.dumps(json.loads(token), ensure_ascii=False)
            plain = json.loads(token)
            token = token if token in known else plain
        if token in known and token:
            return known[token], end
        guess = did_you_mean(token, known) if token else None
        some = ", ".join(list(known)[:5]) + (" …" if len(known) > 5 else "")
        self._miss(at, f"one of the states {some}" + (f" ({guess})" if guess else ""))
        return None

    def _name(self, at: int) -> Iterator[tuple[Variable, int]]:
        """Read the name of a variable; where several fit, the longest first."""
        for printed, variable in self.names:
            if self.text.startswith(printed, at):
                yield variable, at + len(printed)
        self._miss(at, "the name of a variable")

    def _bound(self, variable: Variable, at: int) -> tuple[float, int] | None:
        """Read a number, and its unit if it is there."""
        found = self._number(at)
        if found is None:
            self._miss(at, "a number")
            return None
        unit = self.legend.unit(variable.name)
        place = self._skip(found[1])
        if unit is not None and self.text.startswith(unit, place):
            return found[0], place + len(unit)
        return found

    def _number(self, at: int) -> tuple[float, int] | None:
        read = _NUMBER.match(self.text, at)
        if read is None or math.isinf(float(read.group())):
            return None
        return float(read.group()), read.end()

    def _quoted(self, at: int) -> int | None:
        if not self.text.startswith('"', at):
            return None
        try:
            return int(json.JSONDecoder().raw_decode(self.text, at)[1])
        except ValueError:
            self._miss(at, "the end of a text in quotation marks")
            return None

    def _sign(self, signs: Sequence[str], at: int) -> int | None:
        """Return where the text goes on after one of some signs."""
        at = self._skip(at)
        for sign in signs:
            if self.text.startswith(sign, at) and not (
                sign == "<" and self.text.startswith("<=", at)
            ):
                return self._skip(at + len(sign))
        self._miss(at, "one of the signs <, ≥, = and in, or bounds such as 3 ≤ x < 4")
        return None

    def _keyword(self, word: str, at: int) -> int | None:
        """Return where the text goes on after a word that stands by itself."""
        found = re.compile(rf"\s*\b{word}(?=[\s({{\"]|$)\s*").match(self.text, at)
        return None if found is None else found.end()

    def _skip(self, at: int) -> int:
        found = _BLANK.match(self.text, at)
        return at if found is None else found.end()

    def _miss(self, at: int, wanted: str) -> None:
        if at > self.farthest or (at == self.farthest and self.wanted == "a condition"):
            self.farthest, self.wanted = at, wanted

    def _refusal(self) -> ParameterError:
        at = self.farthest
        rest = self.text[at:]
        place = f"at character {at + 1}, before {rest[:20]!r}" if rest else "at its end"
        constraint = (
            f"be a condition such as P101 = on and LIT301 ≥ 800; {place} it lacks {self.wanted}"
        )
        hint = None
        if self.wanted == "the name of a variable":
            word = re.split(r"[=<>≤≥\s]", rest, maxsplit=1)[0]
            hint = did_you_mean(word, [name for name, _ in self.names])
        return ParameterError.of(self.parameter, constraint, self.text, hint)
