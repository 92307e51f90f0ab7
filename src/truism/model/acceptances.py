"""What a user accepted as normal: variables that are not judged while a condition holds, why, until when.

The condition is made of predicates as rules are, and is never empty: nothing is switched off everywhere
and for ever. It may name states that training never had.
"""

import datetime
from collections.abc import Collection
from typing import Annotated

import msgspec
from msgspec import Meta

from truism.errors import ParameterError
from truism.model.predicates import AnyOf, Interval, OneOf, variables
from truism.model.schema import Count, Name, Schema, id_of
from truism.model.wording import Legend, brief_conditions

Condition = Interval | OneOf | AnyOf
N_NAMED = 5  # variables that are named


class Acceptance(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Rows that a user called normal."""

    # names of the variables against which no evidence counts in them
    variables: Annotated[tuple[str, ...], Meta(min_length=1)]
    # what all of these rows satisfy
    conditions: Annotated[tuple[Condition, ...], Meta(min_length=1)]
    reason: Name  # why they are normal, for those who read the model later
    # who said so, and when, as ISO text
    who: str | None = None
    date: str | None = None
    until: str | None = None  # the last day on which it holds; None if it does not end
    n_rows: Count = 0  # how many rows were accepted; 0 if only the condition was given

    def __post_init__(self) -> None:
        check_until(self.until)

    @property
    def id(self) -> str:
        """A short name that follows from what is accepted, where, why and until when."""
        return id_of((self.variables, self.conditions, self.reason, self.until))

    @property
    def said(self) -> str:
        """When and why it was accepted, in a few words.

        >>> Acceptance((), (), "valve test", date="2025-08-03").said
        'accepted on 3 Aug 2025: valve test'
        """
        when = "" if self.date is None else f" on {_say_date(self.date)}"
        by = "" if self.who is None else f" by {self.who}"
        end = "" if self.until is None else f" (until {_say_date(self.until)})"
        return f"accepted{when}{by}: {self.reason}{end}"

    def __repr__(self) -> str:
        return f"<Acceptance {self.id}, {self.said!r}>"

    def mutes_all(self, schema: Schema) -> bool:
        """Return whether it says not to judge such rows at all."""
        return {*self.variables} == {*schema.names}

    def name_variables(self, schema: Schema) -> str:
        """Return the names of its variables, the first few of many."""
        if self.mutes_all(schema):
            return "all variables"
        more = len(self.variables) - N_NAMED
        return ", ".join(self.variables[:N_NAMED]) + (f" and {more} more" if more > 0 else "")

    def say_condition(self, legend: Legend) -> str:
        """Return its condition in words."""
        return " and ".join(brief_conditions(self.conditions, legend))

    def say(self, schema: Schema, legend: Legend) -> str:
        """Return it in one line: about what, where, when and why."""
        return f"{self.name_variables(schema)} where {self.say_condition(legend)}; {self.said}"

    def without(self, absent: Collection[str]) -> "Acceptance | None":
        """Return what is left of it where some variables are absent; None if that is nothing."""
        left = tuple(name for name in self.variables if name not in absent)
        conditional = {name for one in self.conditions for name in variables(one)}
        if not left or conditional & {*absent}:
            return None
        return msgspec.structs.replace(self, variables=left)


def _say_date(text: str) -> str:
    try:
        date = datetime.date.fromisoformat(text)
    except ValueError:
        return text
    return f"{date.day} {date:%b} {date.year}"


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
