"""Rows above the threshold that raise no alarm: scores and events go in, how many and why comes out.

Of each row one bit is kept, so that tables that are read in parts are counted as one.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.following import Following, Outline
from truism.explaining.roundings import any_rounded
from truism.model.model import Model

Rows = NDArray[np.int64]
Why = Literal["rounded", "usual", "short"]
"""Why a row above the threshold may raise no alarm: rounding explains it, the series has got used to
it, or what it belongs to is too short to be told."""

_SAID: dict[Why, tuple[str, str]] = {
    "rounded": ("rounding explains it", "rounding explains them"),
    "usual": ("nothing about it is new", "nothing about them is new"),
    "short": ("it is over too soon", "they are over too soon"),
}


class Quiet(msgspec.Struct, frozen=True):
    """How many rows above the threshold lie in no incident, and why that may be."""

    n_rows: int = 0
    why: tuple[Why, ...] = ()

    def __str__(self) -> str:
        """Say it of rows that were just counted; nothing if there are none.

        >>> str(Quiet(2, ("rounded", "usual")))
        '2 of them raise no alarm: rounding explains them, or nothing about them is new'
        """
        if not self.n_rows or not self.why:
            return ""
        several = self.n_rows > 1
        why = ", or ".join(_SAID[each][several] for each in self.why)
        return f"{self.n_rows:,} of them {'raise' if several else 'raises'} no alarm: {why}"


def reasons(model: Model, following: Following, *, short: bool) -> tuple[Why, ...]:
    """Return why rows may raise no alarm; `short` says whether incidents that are short are left out."""
    found: list[Why] = []
    if any_rounded(following.roundings):
        found.append("rounded")
    if model.memory is not None:
        found.append("usual")
    if short:
        found.append("short")
    return tuple(found)


class Unusual:
    """The rows above the threshold, by series.

    Parameters
    ----------
    first
        The number of the first row of each series; 0 if it is not there.

    """

    def __init__(self, first: Mapping[str, int]) -> None:
        self._n_rows = dict(first)
        self._parts: dict[str, list[tuple[int, int, NDArray[np.uint8]]]] = {}

    def take(self, above: NDArray[np.bool_], rows_of: Mapping[str, Rows]) -> None:
        """Take the next rows: which of them are above the threshold, and the positions of each series."""
        for name, rows in rows_of.items():
            first = self._n_rows.get(name, 0)
            self._parts.setdefault(name, []).append((first, len(rows), np.packbits(above[rows])))
            self._n_rows[name] = first + len(rows)

    def outside(self, spans: Mapping[str, Iterable[tuple[int, int]]]) -> int:
        """Count the rows that lie in none of the spans, given as first and last number in a series."""
        found = 0
        for name, parts in self._parts.items():
            begins, ends = _apart(spans.get(name, ()))
            for first, n_rows, bits in parts:
                sums = np.concatenate([[0], np.cumsum(np.unpackbits(bits, count=n_rows))])
                begin, end = (np.clip(each - first, 0, n_rows) for each in (begins, ends))
                found += int(sums[-1] - (sums[end] - sums[begin]).sum())
        return found


def _apart(spans: Iterable[tuple[int, int]]) -> tuple[Rows, Rows]:
    """Return spans as what they add to those before them: first numbers, and first ones after them."""
    listed = np.array(sorted(spans), np.int64).reshape(-1, 2)
    ends = np.maximum.accumulate(listed[:, 1] + 1)
    begins = np.maximum(listed[:, 0], np.concatenate([ends[:0], [0], ends])[: len(ends)])
    return np.minimum(begins, ends), ends


def spans_of(outlines: Iterable[Outline]) -> dict[str, list[tuple[int, int]]]:
    """Return where events are, by series."""
    found: dict[str, list[tuple[int, int]]] = {}
    for each in outlines:
        found.setdefault(each.series, []).append((each.event.start, each.event.last))
    return found


def first_rows(before: Following | None) -> dict[str, int]:
    """Return the number of the next row of each series."""
    return {} if before is None else {name: each.n_rows for name, each in before.watches.items()}
