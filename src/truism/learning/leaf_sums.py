"""Sums over the leaves of contexts: trees and rows go in, what variables are like in leaves comes out.

Rows form blocks, and sums are kept block by block, so that a block can be left out. Sums are whole
numbers: neither their order nor the number of threads changes what is learned.
"""

import itertools
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.learning.context_trees import Tree
from truism.model.evidence import LEAF, Context
from truism.scoring.contexts import Statistics, side_by_side, spreads_to_judge_by
from truism.scoring.readings import Reader, Readings
from truism.work import share_out

MIN_JOINT = 5_000  # rows from which on it pays to count by both divisions of rows at once
SCALE = 1 << 10  # standardised numbers in whole units, for sums that are exact


class LeafSums(msgspec.Struct, frozen=True, eq=False):
    """Whole-number sums of one context: per block of rows, leaf and judged variable.

    `rows` are blocks × leaves × 1, `present`, `total` and `squares` blocks × leaves × numbers, and
    `state_counts` blocks × leaves × classes, with the `widths` of the categorical variables side by
    side.
    """

    tree: tuple[int, ...]
    numbers: tuple[int, ...]
    states: tuple[int, ...]
    widths: tuple[int, ...]
    rows: NDArray[np.float64]
    present: NDArray[np.float64]
    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    state_counts: NDArray[np.integer[Any]]

    def __add__(self, other: "LeafSums") -> "LeafSums":
        """Return the sums over the rows of both, which are parts of one table and share one context."""
        if self._about() != other._about():
            raise ValueError("Only sums of the same context and blocks can be added.")
        return msgspec.structs.replace(
            self,
            rows=self.rows + other.rows,
            present=self.present + other.present,
            total=self.total + other.total,
            squares=self.squares + other.squares,
            # Parts may have more rows together than 32 bits can count.
            state_counts=self.state_counts.astype(np.int64) + other.state_counts,
        )

    def statistics(self) -> Statistics:
        """Return the statistics of the rows of all blocks."""
        return self._describe([each.sum(axis=0) for each in self._sums()])

    def without_each(self) -> Statistics:
        """Return the statistics of all rows but those of a block, stacked for each block in turn."""
        return self._describe([sums_of_others(each) for each in self._sums()])

    def _about(self) -> tuple[tuple[int, ...], ...]:
        return self.tree, self.numbers, self.states, self.widths, self.rows.shape

    def _sums(self) -> tuple[NDArray[Any], ...]:
        return self.rows, self.present, self.total, self.squares, self.state_counts

    def _describe(self, sums: Sequence[NDArray[Any]]) -> Statistics:
        rows, present, total, squares, state_counts = sums
        known = np.maximum(present, 1)
        means = total / known / SCALE
        spreads = np.sqrt(np.maximum(squares / known / SCALE**2 - np.square(means), 0))
        if (present < rows).any():
            spreads = spreads_to_judge_by(spreads, present, rows)
        return Statistics(
            self.numbers,
            self.states,
            rows[..., 0].astype(np.int64),
            means.round(4) + 0.0,
            spreads.round(4),
            self.widths,
            state_counts,
        )

    def context(self) -> Context:
        """Return the tree and the statistics of all rows as a value to keep."""
        of, present = self.statistics(), self.present.sum(axis=0)
        ends = np.cumsum(self.widths).tolist()
        parts = [slice(end - width, end) for end, width in zip(ends, self.widths, strict=True)]
        return Context(
            self.tree,
            self.numbers,
            self.states,
            tuple(of.counts.tolist()),
            _tuples(of.means),
            _tuples(of.spreads),
            tuple(tuple(tuple(leaf[part]) for part in parts) for leaf in of.state_counts.tolist()),
            _tuples(present.astype(np.int64)) if (present < of.counts[:, None]).any() else (),
        )


def sums_of_others(blocks: NDArray[Any]) -> NDArray[Any]:
    """Sum over all blocks but one, for each; blocks come first.

    >>> sums_of_others(np.array([1, 2, 4])).tolist()
    [6, 5, 3]
    """
    found: NDArray[Any] = blocks.sum(axis=0, dtype=blocks.dtype) - blocks
    return found


def _tuples(table: NDArray[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, table.tolist()))


def sum_leaves(
    trees: Sequence[Tree],
    leaves: NDArray[np.uint8],
    readings: Readings,
    reader: Reader,
    divisions: Sequence[NDArray[np.int64]],
    n_blocks: int,
    n_jobs: int,
) -> list[tuple[LeafSums, ...]]:
    """Sum up what the judged variables are like in every leaf and block.

    Parameters
    ----------
    trees, leaves
        Contexts, and the number of the leaf of each that every row falls into.
    readings, reader
        The rows.
    divisions
        Divisions of the rows: the number of each row's block.
    n_blocks
        How many blocks each division has.
    n_jobs
        Threads to use; the result does not depend on it.

    Returns
    -------
    list
        For each tree a tally for each division.

    """
    if len(divisions) > 1 and leaves.shape[1] < MIN_JOINT:
        apart = [
            sum_leaves(trees, leaves, readings, reader, (blocks,), n_blocks, n_jobs)
            for blocks in divisions
        ]
        return [tuple(itertools.chain.from_iterable(each)) for each in zip(*apart, strict=True)]
    adder = _Adder(readings, reader, _Cells.of(divisions, n_blocks))
    return list(share_out(n_jobs, adder.sum_up, trees, leaves))


class _Cells(msgspec.Struct, frozen=True, eq=False):
    """All divisions of the rows at once: a cell holds the rows that have the same block in each."""

    of_row: NDArray[np.int64]
    n_blocks: int
    n_divisions: int

    @classmethod
    def of(cls, divisions: Sequence[NDArray[np.int64]], n_blocks: int) -> "_Cells":
        """Find the cell of each row; its block in the last division counts fastest."""
        of_row = np.zeros(len(divisions[0]), np.int64)
        for blocks in divisions:
            of_row = of_row * n_blocks + blocks
        return cls(of_row, n_blocks, len(divisions))

    def __len__(self) -> int:
        return int(self.n_blocks**self.n_divisions)

    def margins(self, sums: NDArray[Any]) -> list[NDArray[Any]]:
        """Sum over all divisions but one, for each; cells come third to last."""
        axes = range(-2 - self.n_divisions, -2)
        divided = sums.reshape(*sums.shape[:-3], *(self.n_blocks for _ in axes), *sums.shape[-2:])
        return [divided.sum(axis=tuple(set(axes) - {own}), dtype=sums.dtype) for own in axes]


class _Adder:
    """Adds rows up, in the cells of their blocks and the leaves of a tree."""

    def __init__(self, readings: Readings, reader: Reader, cells: _Cells) -> None:
        self.reader, self.cells = reader, cells
        self.numbers, self.classes = readings.standard, readings.classes.T

    def sum_up(self, tree: Tree, leaf_of: NDArray[np.uint8]) -> tuple[LeafSums, ...]:
        """Sum up what a tree judges, for each division of the rows."""
        from truism.learning.kernels import contexts as kernels  # only learning loads compiled code

        reader, cells = self.reader, self.cells
        numbers = [k for k, i in enumerate(reader.numbers) if i in tree.judged]
        states = [k for k, i in enumerate(reader.states) if i in tree.judged]
        wide = np.array([reader.n_classes(k) for k in states], np.int64)
        starts = np.cumsum(wide) - wide
        n_leaves = tree.nodes.count(LEAF)
        n_places = len(cells) * n_leaves
        sums = kernels.Sums(
            np.zeros(n_places),
            np.zeros((3, n_places, len(reader.numbers))),
            np.zeros((n_places, int(wide.sum())), np.int32),
        )
        # All numbers are summed side by side, which is faster than picking those that are judged.
        judged = kernels.Judged(
            self.numbers, np.float32(SCALE), self.classes, np.array(states, np.int64), starts
        )
        kernels.sum_up(cells.of_row * n_leaves + leaf_of, judged, sums)
        # Unseen cannot occur here, and missing says nothing.
        widths = (wide - 2).tolist()
        seen = side_by_side(starts, widths) if states else np.empty(0, np.int64)
        of_rows, of_numbers, of_classes = (
            cells.margins(each.reshape(*each.shape[:-2], len(cells), n_leaves, each.shape[-1]))
            for each in (sums.rows[:, None], sums.numbers, sums.classes)
        )
        return tuple(
            LeafSums(
                tree.nodes,
                tuple(reader.numbers[k] for k in numbers),
                tuple(reader.states[k] for k in states),
                tuple(widths),
                rows,
                found[0][..., numbers],
                found[1][..., numbers],
                found[2][..., numbers],
                classes[..., seen],
            )
            for rows, found, classes in zip(of_rows, of_numbers, of_classes, strict=True)
        )
