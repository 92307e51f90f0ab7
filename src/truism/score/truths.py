"""In which rows predicates hold: one bit per row, 64 rows to a word, the first row in the lowest bit.

Learning and scoring share this module. Every predicate has two vectors, *true* and *false*; a missing
or infinite value is in neither. Bits beyond the last row are zero in every vector, so counting needs no
mask; "not true" is therefore never written as ``~true`` but as a vector of its own. Each cut-off and each
set of states is compared once, and the predicates are assembled from the packed results in a few
vectorised steps, so that one row costs little more than a handful of NumPy calls and a block of
thousands runs at memory speed.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.predicates import AnyOf, Interval, OneOf, Predicate
from truism.model.schema import Categorical, Numeric, Schema
from truism.score.alignment import MISSING, Readings, codes
from truism.table.columns import Column, numbers

BLOCK_ROWS = 1 << 15
MAX_UNPACKED = 1 << 22
_NEVER = 0  # the atom that holds in no row

Words = NDArray[np.uint64]


def n_words(n_rows: int) -> int:
    """Return how many words hold one bit for each row.

    >>> n_words(64), n_words(65)
    (1, 2)
    """
    return (n_rows + 63) // 64


def pack(flags: NDArray[np.bool_]) -> Words:
    """Pack truth values along the last axis.

    >>> pack(np.array([True, False, True])).tolist()
    [5]
    """
    packed = np.ascontiguousarray(np.packbits(flags, axis=-1, bitorder="little"))
    shape = (*packed.shape[:-1], 8 * n_words(flags.shape[-1]))
    if shape != packed.shape:
        padded = np.zeros(shape, np.uint8)
        padded[..., : packed.shape[-1]] = packed
        packed = padded
    return packed.view(np.uint64)


def unpack(words: Words, n_rows: int) -> NDArray[np.bool_]:
    """Undo `pack`.

    >>> unpack(np.array([5], np.uint64), 3).tolist()
    [True, False, True]
    """
    flags = np.unpackbits(words.view(np.uint8), axis=-1, count=n_rows, bitorder="little")
    return flags.view(np.bool_)


def count(words: Words) -> NDArray[np.int64]:
    """Count the true rows along the last axis.

    >>> int(count(np.array([5, 1], np.uint64)))
    3
    """
    total: Any = np.bitwise_count(words).sum(axis=-1, dtype=np.int64)
    return total  # type: ignore[no-any-return]


def count_runs(words: Words) -> NDArray[np.int64]:
    """Count the runs of true rows along the last axis.

    >>> int(count_runs(np.array([0b1011, 1], np.uint64)))
    3
    """
    previous = words << np.uint64(1)
    previous[..., 1:] |= words[..., :-1] >> np.uint64(63)
    return count(words & ~previous)


class _Cuts(msgspec.Struct, frozen=True, eq=False):
    """The cut-offs that a number is compared with, as a column."""

    cuts: NDArray[np.float64]


class _States(msgspec.Struct, frozen=True, eq=False):
    """The states that a code is compared with, as a column, and sets of states × codes."""

    equal: NDArray[np.int32]
    member: NDArray[np.bool_]


class Truths:
    """Evaluates a fixed list of intervals, sets and joins of one schema."""

    def __init__(self, schema: Schema, predicates: Sequence[Predicate]) -> None:
        self.schema = schema
        parts: list[Interval | OneOf] = []
        self._joins: list[tuple[int, list[int]]] = []
        simple: list[tuple[int, int]] = []
        for position, predicate in enumerate(predicates):
            if isinstance(predicate, AnyOf):
                members = list(range(len(parts), len(parts) + len(predicate.parts)))
                self._joins.append((position, members))
                parts += predicate.parts
            elif isinstance(predicate, Interval | OneOf):
                simple.append((position, len(parts)))
                parts.append(predicate)
            else:
                raise TypeError(f"{type(predicate).__name__} is not evaluated as a truth vector.")
        self.n_predicates = len(predicates)
        self._simple = np.array(simple, np.int64).reshape(-1, 2)
        self._plan(parts)

    def _plan(self, parts: Sequence[Interval | OneOf]) -> None:
        """Lay out the atoms: for each variable "known", then its comparisons."""
        of_variable: dict[str, list[int]] = {}
        for position, part in enumerate(parts):
            of_variable.setdefault(part.variable, []).append(position)
        self._comparisons: list[tuple[int, _Cuts | _States]] = []
        counted = {Numeric: itertools.count(), Categorical: itertools.count()}
        # Where each variable stands among the numbers, or among the states.
        self._place = [next(counted[type(each)]) for each in self.schema.variables]
        self._known = np.zeros(len(parts), np.int64)
        self._lower = np.zeros(len(parts), np.int64)
        self._upper = np.full(len(parts), _NEVER, np.int64)
        atom = 1
        for index, variable in enumerate(self.schema.variables):
            own = of_variable.get(variable.name, [])
            if not own:
                continue
            self._known[own] = atom
            if isinstance(variable, Numeric):
                bounds = {parts[i].low for i in own} | {parts[i].high for i in own}  # type: ignore[union-attr]
                cuts = np.array(sorted(bounds - {-np.inf, np.inf}))
                place = {cut: atom + 1 + i for i, cut in enumerate(cuts.tolist())}
                for i in own:
                    part = parts[i]
                    assert isinstance(part, Interval)
                    self._lower[i] = place.get(part.low, atom)
                    self._upper[i] = place.get(part.high, _NEVER)
                self._comparisons.append((index, _Cuts(cuts[:, None])))
                atom += 1 + len(cuts)
            else:
                singles = [i for i in own if len(parts[i].values) == 1]  # type: ignore[union-attr]
                several = [i for i in own if len(parts[i].values) > 1]  # type: ignore[union-attr]
                code_of = {value: code for code, value in enumerate(variable.values)}
                equal = np.array([code_of[parts[i].values[0]] for i in singles], np.int32)  # type: ignore[union-attr]
                # Two more columns than states: codes of unseen and missing values index them.
                member = np.zeros((len(several), len(variable.values) + 2), np.bool_)
                for row, i in enumerate(several):
                    member[row, [code_of[value] for value in parts[i].values]] = True  # type: ignore[union-attr]
                self._lower[singles] = atom + 1 + np.arange(len(singles))
                self._lower[several] = atom + 1 + len(singles) + np.arange(len(several))
                self._comparisons.append((index, _States(equal[:, None], member)))
                atom += 1 + len(singles) + len(several)
        self._n_atoms = atom

    def evaluate(
        self, columns: Sequence[Column], readings: Readings | None = None
    ) -> tuple[Words, Words]:
        """Return where predicates are true, and where false, in one block: predicates × words.

        Columns are those of the variables, in the schema's order; `readings` are the same, where they
        were read before.
        """
        n_rows = len(columns[0].values)
        atoms = np.zeros((self._n_atoms, n_words(n_rows)), np.uint64)
        waiting: list[NDArray[np.bool_]] = []
        first = last = 1
        for flags in self._atoms(columns, readings):
            waiting.append(flags)
            last += len(flags)
            # A few rows are packed in one go, many in batches, so that little is unpacked at a time.
            if (last - first) * n_rows > MAX_UNPACKED:
                atoms[first:last] = pack(np.concatenate(waiting))
                waiting, first = [], last
        if waiting:
            atoms[first:last] = pack(np.concatenate(waiting))
        holds = atoms[self._lower] & ~atoms[self._upper]
        return self._join(holds, atoms[self._known] & ~holds)

    def _atoms(
        self, columns: Sequence[Column], readings: Readings | None
    ) -> Iterator[NDArray[np.bool_]]:
        """Compare, variable by variable, in the order of the atoms."""
        for index, compared in self._comparisons:
            place = self._place[index]
            if isinstance(compared, _Cuts):
                values = numbers(columns[index]) if readings is None else readings.numbers[:, place]
                finite = np.isfinite(values)
                reached = values >= compared.cuts
                if not finite.all():
                    reached &= finite
                yield finite[None]
                yield reached
                continue
            variable = self.schema.variables[index]
            assert isinstance(variable, Categorical)
            known = (
                codes(variable, columns[index]) if readings is None else readings.codes[:, place]
            )
            yield (known != MISSING)[None]
            yield known == compared.equal
            if len(compared.member):
                yield np.take(compared.member, known, axis=1)

    def _join(self, holds: Words, fails: Words) -> tuple[Words, Words]:
        """Evaluate joins: true if a part is true, false if all are false."""
        if not self._joins:
            return holds, fails
        true = np.empty((self.n_predicates, holds.shape[1]), np.uint64)
        false = np.empty_like(true)
        true[self._simple[:, 0]] = holds[self._simple[:, 1]]
        false[self._simple[:, 0]] = fails[self._simple[:, 1]]
        for position, members in self._joins:
            true[position] = np.bitwise_or.reduce(holds[members], axis=0)
            false[position] = np.bitwise_and.reduce(fails[members], axis=0)
        return true, false

    def evaluate_all(self, columns: Sequence[Column]) -> tuple[Words, Words]:
        """Evaluate a table of any length, block by block."""
        n_rows = len(columns[0].values)
        true = np.empty((self.n_predicates, n_words(n_rows)), np.uint64)
        false = np.empty_like(true)
        for block in blocks_of(n_rows):
            words = slice(block.start // 64, n_words(block.stop))
            true[:, words], false[:, words] = self.evaluate(
                [column.take(block) for column in columns]
            )
        return true, false


def blocks_of(n_rows: int, size: int = BLOCK_ROWS) -> list[slice]:
    """Divide rows into blocks."""
    return [slice(i, min(i + size, n_rows)) for i in range(0, n_rows, size)]
