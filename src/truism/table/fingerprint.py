"""A fingerprint of a table: rows are hashed one by one and the hashes added up.

So it can be taken part by part. It does not depend on the order of the columns or on the dataframe
library, and on the order of the rows only where that means something.
"""

import hashlib

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.table.columns import Column, Table, numbers

ODD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio: spreads row numbers
_MISSING = np.uint64(0xD6E8FEB86659FD93)


class Hashes(msgspec.Struct, frozen=True):
    """The hashes of a table's rows added up: in any order, and in theirs."""

    n_rows: int  # how many rows there are
    columns: tuple[tuple[str, str], ...]  # names and kinds of the columns, in alphabetical order
    # two sums each, modulo 2**64
    of_set: tuple[int, int]
    of_sequence: tuple[int, int]

    def __add__(self, other: "Hashes") -> "Hashes":
        """Return the hashes of these rows followed by others."""
        return Hashes(
            self.n_rows + other.n_rows,
            self.columns,
            _add(self.of_set, other.of_set),
            _add(self.of_sequence, other.of_sequence),
        )

    def digest(self, *, ordered: bool) -> str:
        """Return the fingerprint."""
        sums = self.of_sequence if ordered else self.of_set
        content = repr((self.n_rows, list(self.columns), list(sums)))
        return hashlib.blake2b(content.encode(), digest_size=16).hexdigest()


def fingerprint(table: Table, *, ordered: bool) -> str:
    """Digest names, values and missing values, so that a model can be matched with its table.

    >>> from truism.table.frames import as_table
    >>> one, other = as_table({"u": ["a", "b"]}), as_table({"u": ["b", "a"]})
    >>> fingerprint(one, ordered=False) == fingerprint(other, ordered=False)
    True
    >>> fingerprint(one, ordered=True) == fingerprint(other, ordered=True)
    False
    """
    return hash_table(table).digest(ordered=ordered)


def hash_table(table: Table, first: int = 0) -> Hashes:
    """Hash the rows of a part of a table, whose first row has this number."""
    rows = np.zeros(table.n_rows, np.uint64)
    for column in table.columns:
        rows += mix(_hash_values(column) ^ hash_text(f"{column.kind} {column.name}"))
    numbers_of_rows = np.arange(first + 1, first + table.n_rows + 1, dtype=np.uint64)
    columns = tuple(sorted((column.name, str(column.kind)) for column in table.columns))
    return Hashes(table.n_rows, columns, _sums(rows), _sums(mix(rows + numbers_of_rows * ODD)))


def _sums(rows: NDArray[np.uint64]) -> tuple[int, int]:
    return int(rows.sum(dtype=np.uint64)), int(mix(rows).sum(dtype=np.uint64))


def _add(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return (one[0] + other[0]) % (1 << 64), (one[1] + other[1]) % (1 << 64)


def _hash_values(column: Column) -> NDArray[np.uint64]:
    if column.kind == "text":
        texts = np.array([int(hash_text(text)) for text in column.categories] or [0], np.uint64)
        hashed: NDArray[np.uint64] = texts[column.values]
    elif column.values.dtype.kind == "f":
        floats = numbers(column) + 0.0
        # Whole numbers are the same whether a file or a library keeps them as integers or not.
        whole = (np.abs(floats) < 2**53) & (floats == np.rint(floats))
        integers = np.where(whole, floats, 0).astype(np.int64)
        hashed = np.where(whole, integers.view(np.uint64), floats.view(np.uint64))
    else:
        hashed = column.values.astype(np.int64).view(np.uint64)
    if column.missing is not None:
        hashed = np.where(column.missing, _MISSING, hashed)
    return hashed


def hash_text(text: str) -> np.uint64:
    """Hash a text."""
    digest = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


def mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Let every bit of a number change about half of the bits."""
    mixed = bits.copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed ^= mixed >> np.uint64(shift)
        mixed *= np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))
