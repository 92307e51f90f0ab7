"""What readers call variables and measure them in: units and titles, kept beside what was learned.

They change no rule, no score and no id; explanations put them beside names and numbers.
"""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from truism.errors import ParameterError
from truism.model.predicates import Interval, Predicate, Range, quote_name

CHANGE = "Δ"  # before the name of a column: its change since the previous row


class Legend(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Units and titles of columns, by their names.

    >>> legend = Legend({"LIT301": "mm"}, {"LIT301": "feed tank level"})
    >>> legend.heading("LIT301"), legend.after("LIT301"), legend.after("ΔLIT301"), legend.after("P101")
    ('LIT301 (feed tank level)', ' mm', ' mm', '')
    """

    units: dict[str, str] = {}
    titles: dict[str, str] = {}

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
        alone = sum(each == title for each in self.titles.values()) == 1
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
    """Return a legend for the columns of a table; None if there is nothing in it.

    Parameters
    ----------
    units, titles
        Texts by the names of columns; None for none.
    columns
        The table's columns.

    """
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
