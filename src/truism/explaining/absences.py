"""Columns that a table lacks: which checker suits it then, and what readers must know about that."""

import msgspec

from truism.errors import shorten
from truism.explaining.checker import Checker
from truism.table.columns import Table


class Suited(msgspec.Struct, frozen=True, eq=False):
    """The checker that suits a table, and in words what it lacks; None if it lacks nothing."""

    checker: Checker
    doubt: str | None = None


def suited(checker: Checker, table: Table, *, allow_missing: bool = False) -> Suited:
    """Do without the columns that a table lacks, where it may lack them; what needs them is unknown.

    Parameters
    ----------
    checker
        The checker of all columns.
    table
        A table, not yet prepared.
    allow_missing
        Whether it may lack any columns; otherwise only those that were said to be optional.

    """
    absent, reading = checker.absent(table), checker.model.reading
    optional = () if reading is None else reading.optional
    allowed = allow_missing or {*absent} <= {*optional}
    if not absent or not allowed or len(absent) == checker.n_columns:
        return Suited(checker)
    reduced = checker.without(absent)
    return Suited(reduced, _say(absent, checker, reduced))


def _say(absent: tuple[str, ...], before: Checker, after: Checker) -> str:
    n_rules, n_left = len(before.model.active_rules), len(after.model.active_rules)
    one = len(absent) == 1
    which = f"Column {absent[0]!r} is" if one else f"Columns {shorten(absent)} are"
    return (
        f"{which} absent; everything that needs {'it' if one else 'them'} is unknown: {n_left:,} of "
        f"{n_rules:,} rules are left."
    )
