"""What a user accepted as normal: in which rows, which evidence no longer counts, why and until when.

An `Acceptance` never switches anything off everywhere. Each of its cases has a condition, made of
predicates as rules are, and says how much evidence against which variables is allowed in rows that
satisfy it. Conditions may also ask for the time of a row: ``hour``, from 0 up to 24, and ``weekday``.
"""

import datetime
import math
from collections.abc import Sequence

import msgspec

from truism.errors import ParameterError
from truism.model.predicates import AnyOf, Interval, OneOf, conjunction
from truism.model.schema import Categorical, Numeric, Schema, id_of

Condition = Interval | OneOf | AnyOf

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOUR = Numeric("hour", 0.0, 24.0, 12.0, 1.0, 0, (0.0,), (1,))
WEEKDAY = Categorical("weekday", "text", WEEKDAYS, (1,) * 7, 0)


class Allowance(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How much evidence against a variable is allowed, in points of the score; None for any amount.

    Parameters
    ----------
    variable
        Its name.
    rules
        What its strongest broken rule may add; with the paper's scoring, all broken rules together.
    contexts
        How surprising it may be given the other variables.
    rarity
        How rare its value may be.

    """

    variable: str
    rules: float | None = None
    contexts: float | None = None
    rarity: float | None = None

    @property
    def limits(self) -> tuple[float, float, float]:
        """The three amounts, infinite if any is allowed."""
        rules, contexts, rarity = (
            math.inf if each is None else each for each in (self.rules, self.contexts, self.rarity)
        )
        return rules, contexts, rarity

    @property
    def points(self) -> float | None:
        """The most that is allowed in all; None for any amount."""
        rules, contexts, rarity = self.limits
        total = max(rules, contexts) + rarity
        return None if math.isinf(total) else total


class Case(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One situation, and what is allowed in it.

    Parameters
    ----------
    conditions
        What all rows of the situation satisfy; none means every row.
    allowed
        What no longer counts in them.
    n_training
        The most training rows that can satisfy the conditions; None if that is not known.

    """

    conditions: tuple[Condition, ...]
    allowed: tuple[Allowance, ...]
    n_training: int | None = None

    def __str__(self) -> str:
        return conjunction(self.conditions) or "always"


class Acceptance(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Rows that a user called normal.

    Parameters
    ----------
    cases
        The situations of these rows.
    reason
        Why they are normal, for those who read the model later.
    who, date
        Who said so, and when, as ISO text.
    until
        The last day on which it holds; None if it does not end.
    n_rows
        How many rows were accepted; 0 if the condition was written by hand.

    """

    cases: tuple[Case, ...]
    reason: str
    who: str | None = None
    date: str | None = None
    until: str | None = None
    n_rows: int = 0

    @property
    def id(self) -> str:
        """A short name that follows from what is accepted, where, why and until when."""
        said = [(each.conditions, each.allowed) for each in self.cases]
        return id_of((said, self.reason, self.until))

    @property
    def said(self) -> str:
        """When and why it was accepted, in a few words.

        >>> Acceptance((), "valve test", date="2025-08-03").said
        'accepted on 3 Aug 2025: valve test'
        """
        when = "" if self.date is None else f" on {_say_date(self.date)}"
        by = "" if self.who is None else f" by {self.who}"
        end = "" if self.until is None else f" (until {_say_date(self.until)})"
        return f"accepted{when}{by}: {self.reason}{end}"

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables about which something is accepted, in the order of the cases."""
        return tuple(dict.fromkeys(each.variable for case in self.cases for each in case.allowed))

    def __repr__(self) -> str:
        return f"<Acceptance {self.id}, {self.said!r}>"

    def mutes_all(self, schema: Schema) -> bool:
        """Return whether it says not to judge such rows at all."""
        return len(self.variables) == len(schema.names) and all(
            each.points is None for case in self.cases for each in case.allowed
        )


def _say_date(text: str) -> str:
    try:
        date = datetime.date.fromisoformat(text)
    except ValueError:
        return text
    return f"{date.day} {date:%b} {date.year}"


def with_clock(schema: Schema) -> Schema:
    """Return a schema with the hour and the day of the week, unless variables have these names."""
    clock = (each for each in (HOUR, WEEKDAY) if each.name not in schema.names)
    return msgspec.structs.replace(schema, variables=(*schema.variables, *clock))


def mute(conditions: Sequence[Condition], variables: Sequence[str]) -> Case:
    """Return a case in which no evidence against some variables counts."""
    return Case(tuple(conditions), tuple(map(Allowance, variables)))


def check_text(name: str, text: str, constraint: str = "say why these rows are normal") -> str:
    """Return a text that must say something; refuse another."""
    if not isinstance(text, str) or not text.strip():
        raise ParameterError.of(name, constraint, text)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ParameterError.of(name, "be valid Unicode", text)
    return text.strip()


def check_until(text: str | None) -> str | None:
    """Return a date as ISO text; refuse what is none."""
    if text is None:
        return None
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except (TypeError, ValueError):
        raise ParameterError.of("until", "be a date such as 2025-08-31", text) from None
