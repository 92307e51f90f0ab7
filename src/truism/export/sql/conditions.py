"""Readings and predicates as columns: what every form of statement begins with.

A predicate is true, false or unknown, as in Python: SQL's NULL follows the same logic. NaN, and what the
model takes for a missing value, becomes NULL first; an infinite number is unknown to every predicate but
the range of its variable.
"""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence

from truism.export.sql.dialects import LARGEST, Dialect, number
from truism.export.sql.levels import Column, Level, column
from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, Present, Range
from truism.model.schema import Numeric, Scalar, Schema, Variable

MAX_COLUMNS = 1600  # PostgreSQL allows 1,664 columns in a query


def is_finite(expression: str) -> str:
    """Write that a number is known and finite, whatever a database makes of NaN."""
    return f"{expression} >= {number(-LARGEST)} AND {expression} <= {number(LARGEST)}"


def scalar(dialect: Dialect, value: Scalar) -> str:
    """Write a state."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return dialect.text(value) if isinstance(value, str) else number(value)


def states(dialect: Dialect, expression: str, values: Sequence[Scalar]) -> str:
    """Write that an expression has one of some states."""
    written = [scalar(dialect, value) for value in values]
    if len(written) == 1:
        return f"{expression} = {written[0]}"
    return f"{expression} IN ({', '.join(written)})"


def reading(
    dialect: Dialect, variable: Variable, expression: str, missing: Sequence[str] = ()
) -> str:
    """Write the reading of a column as the type that it was learned as.

    Parameters
    ----------
    dialect
        The kind of database.
    variable
        What the column holds.
    expression
        The column.
    missing
        Spellings of a missing value; a column of numbers has the numbers that they stand for.

    """
    if isinstance(variable, Numeric) or variable.holds == "number":
        found = dialect.without_nan(dialect.cast(expression, "DOUBLE"))
        numbers = filter(math.isfinite, map(_as_number, missing))
        return functools.reduce(_without, map(number, numbers), found)
    if variable.holds == "boolean":
        return dialect.cast(expression, "BOOLEAN")
    return functools.reduce(_without, map(dialect.text, missing), dialect.cast(expression, "TEXT"))


def _without(expression: str, value: str) -> str:
    return f"NULLIF({expression}, {value})"


def _as_number(word: str) -> float:
    try:
        return float(word.replace(",", "."))
    except ValueError:
        return math.nan


def breach(dialect: Dialect, predicate: Predicate, expression: str) -> str:
    """Write that a reading breaks a univariate rule's consequent."""
    match predicate:
        case Present():
            return f"{expression} IS NULL"
        case Range(variable=_, low=low, high=high):
            return f"({expression} < {number(low)} OR {expression} > {number(high)})"
        case OneOf(variable=_, values=values):
            return f"NOT {states(dialect, expression, values)}"
    raise TypeError(f"{type(predicate).__name__} is not what a univariate rule says.")


class Conditions:
    """Writes readings and predicates of one model.

    Parameters
    ----------
    dialect
        The kind of database.
    schema
        The variables.
    keys
        Columns of the table that the result keeps.
    missing
        Spellings of a missing value.

    """

    def __init__(
        self, dialect: Dialect, schema: Schema, keys: Sequence[str], missing: Sequence[str]
    ) -> None:
        self.dialect = dialect
        self.missing = missing
        self.schema = schema
        self.keys = tuple(keys)
        self.place_of = {name: i for i, name in enumerate(schema.names, 1)}
        self._named: dict[Predicate, str] = {}

    def value(self, name: str) -> str:
        """Return the column that holds a variable's readings."""
        return f"v{self.place_of[name]}"

    @property
    def kept(self) -> tuple[Column, ...]:
        """The keys, under the names that they have in between."""
        return tuple(column(f"k{i}", f"k{i}") for i in range(1, len(self.keys) + 1))

    @property
    def returned(self) -> tuple[Column, ...]:
        """The keys, under their own names."""
        quoted = (self.dialect.identifier(name) for name in self.keys)
        return tuple(column(f"k{i}", name) for i, name in enumerate(quoted, 1))

    def readings(self) -> tuple[Level, Level]:
        """Return the first two levels: readings of all variables, and which numbers are finite."""
        name = self.dialect.identifier
        keys = [column(name(each), f"k{i}") for i, each in enumerate(self.keys, 1)]
        values = [
            column(
                reading(self.dialect, each, name(each.name), self.missing), self.value(each.name)
            )
            for each in self.schema.variables
        ]
        finite = [
            column(f"CASE WHEN {is_finite(f'v{i}')} THEN v{i} END", f"f{i}")
            for i, each in enumerate(self.schema.variables, 1)
            if isinstance(each, Numeric)
        ]
        first = Level("truism_readings", (*keys, *values), "")
        second = Level("truism_numbers", tuple(finite), first.name, keeps=True)
        return first, second

    def predicates(self, used: Iterable[Predicate]) -> Level:
        """Return the level of predicates, given all uses; those used most get a column."""
        times = Counter(used)
        room = max(0, MAX_COLUMNS - len(self.keys) - 2 * len(self.schema.variables))
        often = sorted(times, key=lambda each: -times[each])[:room]
        chosen = {each for each in often if times[each] > 1}
        self._named = {}
        columns = []
        for predicate in times:
            if predicate in chosen:
                self._named[predicate] = f"p{len(self._named) + 1}"
                columns.append(
                    column(self.written(predicate), self._named[predicate], str(predicate))
                )
        return Level("truism_predicates", tuple(columns), "truism_numbers", keeps=True)

    def holds(self, predicate: Predicate) -> str:
        """Write that a predicate holds: its column, or the comparison itself."""
        return self._named.get(predicate) or f"({self.written(predicate)})"

    def all_hold(self, predicates: Iterable[Predicate]) -> str:
        """Write that all of some predicates hold."""
        return " AND ".join(self.holds(each) for each in predicates)

    def written(self, predicate: Predicate) -> str:
        """Write the comparison that a predicate stands for."""
        match predicate:
            case Interval(variable, low, high):
                finite = f"f{self.place_of[variable]}"
                bounds = [f"{finite} >= {number(low)}"] if low >= -LARGEST else []
                bounds += [f"{finite} < {number(high)}"] if high <= LARGEST else []
                return " AND ".join(bounds)
            case OneOf(variable, values):
                return states(self.dialect, self.value(variable), values)
            case AnyOf(parts):
                return " OR ".join(self.written(part) for part in parts)
        raise TypeError(f"{type(predicate).__name__} is not a condition.")
