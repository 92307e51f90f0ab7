"""Rows set aside: parts of tables go in with their numbers, and come out again by number.

A stream of rows is read once, and some of its rows are needed again when it is over. They wait in
memory if they are few, else in a temporary file that no other program sees and that is gone with the
process.
"""

import weakref
from collections.abc import Collection, Sequence
from tempfile import SpooledTemporaryFile
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.table.columns import Column, Table, join_tables

IN_MEMORY = 1 << 26  # bytes that are not written to a file
AT_ONCE = 1 << 14  # rows that are written, and read, together


class _Part(msgspec.Struct, frozen=True, eq=False):
    """Where a part lies in the file: its numbers, and its columns without their values."""

    numbers: NDArray[np.int64]
    columns: tuple[Column, ...]
    places: tuple[int, ...]


class Aside:
    """Rows that are needed again.

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
        self._waiting: list[tuple[Table, NDArray[np.int64]]] = []

    def add(self, table: Table, numbers: NDArray[np.int64]) -> None:
        """Set rows aside; their numbers ascend, and lie above all that were added before."""
        if not table.n_rows:
            return
        self._waiting.append((table, numbers))
        if sum(len(part) for _, part in self._waiting) >= AT_ONCE:
            self._settle()

    def _settle(self) -> None:
        """Write what waits as one part."""
        if not self._waiting:
            return
        table = join_tables([part for part, _ in self._waiting])
        numbers = np.concatenate([part for _, part in self._waiting])
        self._waiting = []
        columns, places = [], []
        self._file.seek(0, 2)
        for column in map(_compact, table.columns):
            places.append(self._file.tell())
            self._file.write(np.ascontiguousarray(column.values).tobytes())
            if column.missing is not None:
                self._file.write(column.missing.tobytes())
            columns.append(_emptied(column))
        self._parts.append(_Part(numbers, tuple(columns), tuple(places)))
        self._firsts.append(int(numbers[0]))

    def take(
        self,
        numbers: Sequence[int] | NDArray[np.int64],
        names: Collection[str | None] | None = None,
    ) -> Table:
        """Return rows by their numbers, in the order in which these are given."""
        self._settle()
        given = np.asarray(numbers, np.int64)
        wanted, back = np.unique(given, return_inverse=True)
        owners = np.searchsorted(self._firsts, wanted, side="right") - 1
        tables = []
        for owner in np.unique(owners).tolist():
            part = self._parts[owner]
            at = np.searchsorted(part.numbers, wanted[owners == owner])
            tables.append(self._load(part, names).take(at))
        if not tables:
            first = self._load(self._parts[0], names) if self._parts else Table((), 0)
            return first.take(slice(0, 0))
        joined = join_tables(tables)
        return (
            joined if len(wanted) == len(given) and (wanted == given).all() else joined.take(back)
        )

    def __contains__(self, number: int) -> bool:
        self._settle()
        owner = int(np.searchsorted(self._firsts, number, side="right")) - 1
        if owner < 0:
            return False
        held = self._parts[owner].numbers
        at = int(np.searchsorted(held, number))
        return at < len(held) and int(held[at]) == number

    def _load(self, part: _Part, names: Collection[str | None] | None) -> Table:
        columns = []
        for column, place in zip(part.columns, part.places, strict=True):
            if names is not None and column.name not in names:
                continue
            self._file.seek(place)
            values = self._read(column.values.dtype, len(part.numbers))
            missing = None
            if column.missing is not None:
                missing = self._read(column.missing.dtype, len(part.numbers))
            columns.append(msgspec.structs.replace(column, values=values, missing=missing))
        return Table(tuple(columns), len(part.numbers))

    def _read(self, kind: np.dtype[Any], n_values: int) -> NDArray[Any]:
        return np.frombuffer(self._file.read(kind.itemsize * n_values), kind)


def _emptied(column: Column) -> Column:
    """Return a column without its rows; a slice of none would still hold all of them."""
    missing = None if column.missing is None else np.empty(0, column.missing.dtype)
    return msgspec.structs.replace(column, values=np.empty(0, column.values.dtype), missing=missing)


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
