"""Rows at the ends of a table that sum it up: learned as normal rows, they would widen every range."""

import itertools
from collections.abc import Collection

import msgspec
import numpy as np

from truism.errors import shorten
from truism.table.columns import Table, numbers
from truism.table.words import says_total

MIN_ROWS = 5  # beside a row of sums
_CLOSE = 1e-4  # how far a sum may be off, because the numbers that it adds up were rounded


class Ends(msgspec.Struct, frozen=True):
    """How many rows to leave out at the beginning and at the end of a table, and why."""

    first: int = 0
    last: int = 0
    why: str = ""

    def __bool__(self) -> bool:
        return self.first + self.last > 0

    def __str__(self) -> str:
        places = zip(("first", "last"), (self.first, self.last), strict=True)
        which = [f"the {place} {'row' if n == 1 else f'{n} rows'}" for place, n in places if n]
        are = "is" if self.first + self.last == 1 else "are"
        return f"{' and '.join(which)} {are} left out, because {self.why}."


def totals_by_word(table: Table, states: Collection[str]) -> Ends:
    """Return the rows whose first text is a word such as total, which no other row has.

    Empty rows between them and the others are left out, too. Columns of states have none.
    """
    words: dict[str, None] = {}

    def is_row(row: int) -> bool | None:
        """Return whether a row is one of the table; None if it is empty."""
        first = next((c for c in table.columns if c.cell(row) is not None), None)
        if first is None:
            return None
        word, n_same = first.cell(row), int((first.present == first.values[row]).sum())
        if first.name in states or not says_total(word) or n_same > 1:
            return True
        words[word] = None
        return False

    above, below = (
        [*itertools.takewhile(lambda kind: not kind, map(is_row, rows))]
        for rows in (range(table.n_rows), reversed(range(table.n_rows)))
    )
    first, last = (len(end) if False in end else 0 for end in (above, below))
    it = "it" if first + last == 1 else "them"
    whole = first + last >= table.n_rows
    return Ends() if whole else Ends(first, last, f"of {shorten([*words])} in {it}")


def totals_by_sum(table: Table) -> Ends:
    """Return the first or the last row if its numbers are the sums of those in all other rows.

    >>> from truism.table.frames import as_table
    >>> table = as_table({"kWh": [1, 2, 3, 4, 5, 15], "m³": [0.5, 0.5, 0.25, 0.25, 0.5, 2]})
    >>> totals_by_sum(table).last
    1
    """
    columns = [numbers(column) for column in table.columns if column.kind == "number"]
    for row in (0, table.n_rows - 1) if table.n_rows > MIN_ROWS else ():
        larger = 0
        for values in columns:
            total = values[row]
            if np.isnan(total):
                continue
            with np.errstate(over="ignore", invalid="ignore"):  # the largest numbers there are
                rest = np.nansum(values) - total
                close = abs(total - rest) <= _CLOSE * (np.nansum(np.abs(values)) - abs(total))
            if not close:
                break
            larger += bool(abs(total) > np.nanmax(np.abs(np.delete(values, row)), initial=0.0))
        else:
            lacks = any(c.missing is not None and c.missing[row] for c in table.columns)
            if larger > 1 or (larger and lacks):
                return Ends(int(row == 0), int(row > 0), "its numbers are the sums of the others")
    return Ends()
