"""Rows set aside: parts of tables go in with their numbers, and come out again by number.

A stream of rows is read once, and some of its rows are needed again when it is over. They wait in
memory if they are few, else in a temporary file that no other program sees and that is gone with the
process.
"""

import weakref
from collections.abc import Sequence
from tempfile import SpooledTemporaryFile
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.table.columns import Column, Table
from truism.table.joining import join_tables

IN_MEMORY = 1 << 26  # bytes that are not written to a file


class _Part(msgspec.Struct, frozen=True, eq=False):
    """Where a part lies in the file: its numbers, and its columns without their values."""

    numbers: NDArray[np.int64]
    columns: tuple[Column, ...]
    places: tuple[int, ...]


class Aside:
    """Rows that are needed again.

    Examples
    --------
    >>> from truism.table.frames import as_table
    >>> aside = Aside()
    >>> aside.add(as_table({"pump": ["on", "off"]}), np.array([7, 40]))
    >>> aside.take([40, 7, 40]).columns[0].cell(0), 40 in aside, 41 in aside
    ('off', True, False)

    """

    def __init__(self) -> None:
        self._file: Any = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115, closed with the object
        weakref.finalize(self, self._file.close)
        self._parts: list[_Part] = []
        self._firsts: list[int] = []

    def add(self, table: Table, numbers: NDArray[np.int64]) -> None:
        """Set rows aside; their numbers ascend, and lie above all that were added before."""
        if not table.n_rows:
            return
        columns, places = [], []
        for column in map(_compact, table.columns):
            self._file.seek(0, 2)
            places.append(self._file.tell())
            self._write(column.values)
            if column.missing is not None:
                self._write(column.missing)
            absent = None if column.missing is None else column.missing[:0]
            columns.append(
                msgspec.structs.replace(column, values=column.values[:0], missing=absent)
            )
        self._parts.append(_Part(numbers, tuple(columns), tuple(places)))
        self._firsts.append(int(numbers[0]))

    def take(self, numbers: Sequence[int] | NDArray[np.int64]) -> Table:
        """Return rows by their numbers, in the order in which these are given."""
        asked = np.asarray(numbers, np.int64)
        wanted, back = np.unique(asked, return_inverse=True)
        owners = np.searchsorted(self._firsts, wanted, side="right") - 1
        tables = []
        for owner in np.unique(owners).tolist():
            part = self._parts[owner]
            at = np.searchsorted(part.numbers, wanted[owners == owner])
            tables.append(self._load(part).take(at))
        if not tables:
            return self._load(self._parts[0]).take(slice(0, 0)) if self._parts else Table((), 0)
        return join_tables(tables).take(back)

    def __contains__(self, number: int) -> bool:
        owner = int(np.searchsorted(self._firsts, number, side="right")) - 1
        if owner < 0:
            return False
        own = self._parts[owner].numbers
        at = int(np.searchsorted(own, number))
        return at < len(own) and int(own[at]) == number

    def _write(self, values: NDArray[Any]) -> None:
        np.lib.format.write_array(self._file, np.ascontiguousarray(values), allow_pickle=False)

    def _load(self, part: _Part) -> Table:
        columns = []
        for column, place in zip(part.columns, part.places, strict=True):
            self._file.seek(place)
            values = np.lib.format.read_array(self._file, allow_pickle=False)
            missing = None
            if column.missing is not None:
                missing = np.lib.format.read_array(self._file, allow_pickle=False)
            columns.append(msgspec.structs.replace(column, values=values, missing=missing))
        return Table(tuple(columns), len(part.numbers))


def _compact(column: Column) -> Column:
    """Return a column without the texts that none of its rows holds."""
    if column.kind != "text":
        return column
    used, codes = np.unique(column.values, return_inverse=True)
    texts = tuple(
        column.categories[code] for code in used.tolist() if code < len(column.categories)
    )
    return msgspec.structs.replace(
        column, values=codes.astype(np.int32).reshape(-1), categories=texts
    )
