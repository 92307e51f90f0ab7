"""In which rows predicates hold: one bit per row, 64 rows to a word, the first row in the lowest bit.

Learning and scoring share this module. Every predicate has two vectors, *true* and *false*; a missing
or infinite value is in neither. Bits beyond the last row are zero in every vector, so counting needs no
mask; "not true" is therefore never written as ``~true`` but as a vector of its own. Each cut-off and each
set of states is an *atom*: compared once, for all predicates that ask for it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats
from truism.model.predicates import AnyOf, Interval, OneOf, Predicate
from truism.model.schema import Categorical, Numeric, Schema, Variable
from truism.score import kernels
from truism.score.alignment import MISSING, Readings, codes
from truism.table.columns import Column, numbers

BLOCK_ROWS = 1 << 15
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


class Truths:
    """Evaluates a fixed list of intervals, sets and joins of one schema."""

    def __init__(self, schema: Schema, predicates: Sequence[Predicate]) -> None:
        self.schema, self.n_predicates = schema, len(predicates)
        parts: dict[str, list[tuple[int, Any]]] = {}
        for position, predicate in enumerate(predicates):
            if not isinstance(predicate, AnyOf | Interval | OneOf):
                raise TypeError(f"{type(predicate).__name__} is not evaluated as a truth vector.")
            for part in predicate.parts if isinstance(predicate, AnyOf) else (predicate,):
                parts.setdefault(part.variable, []).append((position, part))
        numbers = [each for each in schema.variables if isinstance(each, Numeric)]
        states = [each for each in schema.variables if isinstance(each, Categorical)]
        # The places among the numbers, or the states, of the variables that are asked for.
        self._numbers = [i for i, each in enumerate(numbers) if each.name in parts]
        self._states = [i for i, each in enumerate(states) if each.name in parts]
        self._plan([numbers[i] for i in self._numbers], [states[i] for i in self._states], parts)

    def _plan(
        self,
        numbers: Sequence[Numeric],
        states: Sequence[Categorical],
        parts: Mapping[str, Sequence[tuple[int, Any]]],
    ) -> None:
        """Lay out the atoms: for each variable "known", then its cut-offs or its sets of states."""
        self._place_of = {each.name: i for i, each in enumerate(self.schema.variables)}
        self._variables: tuple[Variable, ...] = (*numbers, *states)
        # Of each part: its predicate, and the atoms of "known", of its lower and of its upper bound.
        laid: list[tuple[int, int, int, int]] = []
        cuts, cut_ends, sets, set_ends, atom = list[float](), [], list[list[int]](), [], 1
        for variable in numbers:
            intervals = parts[variable.name]
            bounds = {bound for _, part in intervals for bound in (part.low, part.high)}
            own = sorted(bounds - {-np.inf, np.inf})
            atom_of = {cut: atom + 1 + i for i, cut in enumerate(own)}
            for position, part in intervals:
                lower, upper = atom_of.get(part.low, atom), atom_of.get(part.high, _NEVER)
                laid.append((position, atom, lower, upper))
            cuts += own
            cut_ends.append(len(cuts))
            atom += 1 + len(own)
        for state in states:
            code_of = {value: code for code, value in enumerate(state.values)}
            for i, (position, part) in enumerate(parts[state.name], atom + 1):
                laid.append((position, atom, i, _NEVER))
                sets.append([code_of[value] for value in part.values])
            set_ends.append(len(sets))
            atom += 1 + len(parts[state.name])
        self._parts = np.array(sorted(laid), np.int64).reshape(-1, 4).T.copy()
        self._cuts, self._n_atoms = np.array(cuts, np.float64), atom
        self._ends = np.array(cut_ends, np.int64), np.array(set_ends, np.int64)
        # Two more columns than states: the negative codes of unseen and missing values.
        n_codes = 2 + max((len(each.values) for each in states), default=0)
        self._members = np.zeros((len(sets), n_codes), np.bool_)
        for member, codes_of_set in zip(self._members, sets, strict=True):
            member[codes_of_set] = True

    def evaluate(
        self, columns: Sequence[Column], readings: Readings | None = None
    ) -> tuple[Words, Words]:
        """Return where predicates are true, and where false, in one block: predicates × words.

        Columns are those of the variables, in the schema's order; `readings` are the same, where they
        were read before.
        """
        n_rows = len(columns[0].values)
        if readings is None:
            values, states = self._read(columns, n_rows)
            places = np.arange(len(self._numbers)), np.arange(len(self._states))
        else:
            values, states = readings.numbers.T, readings.codes.T
            places = np.array(self._numbers, np.int64), np.array(self._states, np.int64)
        of_numbers, of_states = (np.stack(each) for each in zip(places, self._ends, strict=True))
        true, false = np.empty((2, self.n_predicates, n_words(n_rows)), np.uint64)
        atoms = np.zeros((self._n_atoms, n_words(n_rows)), np.uint64)
        kernels.truths.evaluate(
            *(values, of_numbers, self._cuts, states, of_states, self._members, MISSING),
            *(self._parts, atoms, true, false),
        )
        return true, false

    def _read(self, columns: Sequence[Column], n_rows: int) -> tuple[Floats, NDArray[np.int32]]:
        """Return the numbers, and the codes of the states, that are asked for: variables × rows."""
        values = np.empty((len(self._numbers), n_rows))
        states = np.empty((len(self._states), n_rows), np.int32)
        for variable, into in zip(self._variables, (*values, *states), strict=True):
            column = columns[self._place_of[variable.name]]
            into[:] = (
                codes(variable, column) if isinstance(variable, Categorical) else numbers(column)
            )
        return values, states

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
