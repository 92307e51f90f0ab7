"""Training rows judged by the other training rows: sums from which any block of rows can be left out.

Rows are divided into blocks in two ways. *Mixed* blocks go by the content of the rows, not their order.
Blocks that stand *apart* are stretches of consecutive rows, which resemble each other if the order of
rows is one of time. Trees and cut-offs are made from all rows, or from a sample of them that is the
same for each block.
"""

import itertools
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats
from truism.learning import context_trees
from truism.learning.leaf_sums import sum_leaves, sums_of_others
from truism.learning.spacings import space, stand_in
from truism.model.evidence import Spacing, Split
from truism.model.schema import Categorical, Numeric, Schema
from truism.scoring.contexts import LeafProfiles, contradiction, surprise
from truism.scoring.evidence import Rarities
from truism.scoring.rarity import Emptiness
from truism.scoring.readings import Reader
from truism.table.columns import Column
from truism.table.distinct import distinct
from truism.work import Progress, share_out

N_BLOCKS, N_STRETCHES = 5, 25  # every fifth stretch of rows is a block
MAX_ROWS_WEIGHED = 20_000
WEIGHED_AT_ONCE = 2048  # few enough for little memory and the processor's cache
MIN_SIFTED = 1000  # rows of a block from which it pays to set ordinary values aside


class HeldOut(msgspec.Struct, frozen=True, eq=False):
    """The evidence against rows, judged by the other rows.

    Per row, summed over variables: evidence `in_context`, `contradictions` and `rarities`; and the
    worth of the `strongest` rule that it breaks. Per variable: mean surprise `alone` and in context,
    and mean and spread of contradictions. `values` has, if asked for, contradictions and rarities of
    each value, and how far numbers lie off: 3 × rows × variables.
    """

    in_context: Floats
    contradictions: Floats
    rarities: Floats
    strongest: Floats
    alone: Floats
    surprise: Floats
    mean: Floats
    spread: Floats
    values: Floats | None = None


class Blocks(msgspec.Struct, frozen=True, eq=False):
    """A division of the rows: the block of each row, and an order to sample rows by.

    Counts by both divisions, apart × mixed, have the blocks of this one along `axis`.
    """

    of_row: NDArray[np.int64]
    axis: int
    order: NDArray[np.int64]


class Grown(msgspec.Struct, frozen=True, eq=False):
    """The trees of contexts, grown from all rows, and the order of rows by their content."""

    by_content: NDArray[np.int64]
    splits: tuple[Split, ...]
    trees: Sequence[context_trees.Tree]
    leaves: NDArray[np.uint8]


def grow(
    schema: Schema, columns: Sequence[Column], seed: int, n_jobs: int, progress: Progress
) -> Grown:
    """Grow the trees of contexts."""
    by_content = np.argsort(context_trees.content_hash(schema, columns), kind="stable")
    found = context_trees.grow(
        schema,
        columns,
        by_content,
        seed,
        n_jobs,
        lambda done, of: progress("contexts", done, of),
    )
    return Grown(by_content, *found)


class Study:
    """Everything learned from all rows, as sums from which any block can be left out."""

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[Column],
        grown: Grown,
        n_jobs: int,
        n_stretches: int = N_STRETCHES,
    ) -> None:
        self.schema, self.grown = schema, grown
        self.n_jobs, self.n_rows = n_jobs, len(columns[0].values)
        rows = np.arange(self.n_rows)
        self.n_stretches = min(n_stretches, self.n_rows)
        stretches = rows * self.n_stretches // self.n_rows
        self.apart = Blocks(stretches % N_BLOCKS, 0, rows)
        dealt = np.empty(self.n_rows, np.int64)
        dealt[grown.by_content] = rows % N_BLOCKS
        self.mixed = Blocks(dealt, 1, grown.by_content)
        self.splits, trees, self.leaves = grown.splits, grown.trees, grown.leaves
        self.reader = Reader(schema)
        self.columns = columns
        # Not kept: reading some of the rows again later costs less than the memory.
        readings = self.reader.read(columns)
        divisions = (self.apart.of_row, self.mixed.of_row)
        self.leaf_sums = sum_leaves(
            trees, self.leaves, readings, self.reader, divisions, N_BLOCKS, n_jobs
        )
        cell_of = self.apart.of_row * N_BLOCKS + self.mixed.of_row
        self.spacings = _space_all(schema, columns, n_jobs)
        self.knots = [np.array(each.values) for each in self.spacings]
        numbers, codes = readings.numbers.T, readings.codes.T
        self.knot_counts = [
            _count_in_cells(cell_of, _owners(knots, values), len(knots))
            for knots, values in zip(self.knots, numbers, strict=True)
        ]
        self.state_counts = [
            _count_in_cells(cell_of, known, len(variable.values))
            for variable, known in zip(_categorical(schema), codes, strict=True)
        ]

    def chosen(self, blocks: Blocks) -> NDArray[np.int64]:
        """Choose the rows to weigh; if there are very many, evenly along their order."""
        n_weighed = min(self.n_rows, MAX_ROWS_WEIGHED)
        return blocks.order[np.linspace(0, self.n_rows - 1, n_weighed).astype(np.int64)]

    def hold_out(
        self,
        blocks: Blocks,
        worths: Floats | None = None,
        rows: NDArray[np.int64] | None = None,
        *,
        each_value: bool = False,
    ) -> HeldOut:
        """Weigh rows by what is known without their block, and by the rules they break.

        Parameters
        ----------
        blocks
            The division of the rows.
        worths
            What the rules are worth that each row breaks: rows × variables.
        rows
            Which rows to weigh; the chosen ones when absent.
        each_value
            Whether to keep the evidence against each value, too.

        """
        chosen = self.chosen(blocks) if rows is None else rows
        of_values = np.empty((3, len(chosen), len(self.schema.variables))) if each_value else None
        leaf_sums = [each[blocks.axis] for each in self.leaf_sums]
        judge = LeafProfiles(self.reader, (each.without_each() for each in leaf_sums))
        n_leaves = np.array([each.rows.shape[1] for each in leaf_sums], np.uint16)
        rarities = self._rarities_without_each(blocks.axis)
        of_rows = np.empty((4, len(chosen)))

        def weigh(some: NDArray[np.int64]) -> Floats:
            """Record the evidence against some rows, and return sums over them."""
            rows = chosen[some]
            block_of = blocks.of_row[rows]
            readings = self.reader.read([column.take(rows) for column in self.columns])
            # The leaves without the second block come after those without the first, and so on.
            leaves = np.multiply.outer(n_leaves, block_of.astype(np.uint16))
            leaves += self.leaves[:, rows]
            average = judge.average(leaves, readings)
            in_context = contradiction(average, readings, self.reader)
            worth = np.zeros_like(in_context) if worths is None else worths[some]
            all_told = np.maximum(in_context, worth)
            rare = np.empty(len(rows))
            for block, own in _runs(block_of):
                sift = own.stop - own.start >= MIN_SIFTED
                rarity = rarities[block].weigh(readings.take(own), sift=sift)
                rare[own] = rarity.sum(axis=1)
                if of_values is not None:
                    of_values[1, some[own]] = rarity
            if of_values is not None:
                of_values[0, some] = all_told
                of_values[2, some] = judge.differences(leaves, readings)
            of_rows[:, some] = in_context.sum(axis=1), all_told.sum(axis=1), rare, worth.max(axis=1)
            alone = np.zeros(len(self.schema.variables))
            own_surprise = np.nan_to_num(surprise(readings.standard))
            alone[self.reader.numbers] = own_surprise.sum(axis=0, dtype=np.float64)
            squares = np.square(all_told)
            return np.stack([alone, *(each.sum(axis=0) for each in (average, all_told, squares))])

        # Block by block: ordinary values are set aside faster when many come at once.
        by_block = np.argsort(blocks.of_row[chosen], kind="stable")
        parts = range(WEIGHED_AT_ONCE, len(chosen), WEIGHED_AT_ONCE)
        sums = np.zeros((4, len(self.schema.variables)))
        for part in share_out(self.n_jobs, weigh, np.split(by_block, parts)):
            sums += part
        alone, average, mean, square = sums / len(chosen)
        spreads = np.sqrt(np.maximum(square - np.square(mean), 0))
        in_context, contradictions, rare, strongest = of_rows
        return HeldOut(
            in_context, contradictions, rare, strongest, alone, average, mean, spreads, of_values
        )

    def _rarities_without_each(self, axis: int) -> list[Rarities]:
        """Return, for each block, rarities that do not know it."""
        found = []
        knot_counts, states = (
            [sums_of_others(each.sum(axis=1 - axis)) for each in tables]
            for tables in (self.knot_counts, self.state_counts)
        )
        for block in range(N_BLOCKS):
            # A number that the other rows do not have is as rare to them as to all rows.
            known = [
                others[block] if others[block].any() else np.array(spacing.counts)
                for spacing, others in zip(self.spacings, knot_counts, strict=True)
            ]
            empty = [
                Emptiness(knots, counts, each.near, each.spread)
                for each, knots, counts in zip(self.spacings, self.knots, known, strict=True)
            ]
            found.append(Rarities(self.reader, empty, [others[block] for others in states]))
        return found


def _runs(blocks: NDArray[np.int64]) -> Iterator[tuple[int, slice]]:
    """Yield each block and its rows; the block numbers of the rows must ascend.

    >>> list(_runs(np.array([0, 0, 2])))
    [(0, slice(0, 2, None)), (2, slice(2, 3, None))]
    """
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    for start, end in itertools.pairwise([*starts.tolist(), len(blocks)]):
        yield int(blocks[start]), slice(start, end)


def _count_in_cells(
    cells: NDArray[np.int64], places: NDArray[np.int64], n_places: int
) -> NDArray[np.int64]:
    """Count the rows of each cell at each place: blocks × blocks × places; -1 is no place."""
    present = places >= 0
    flat = cells[present] * n_places + places[present]
    counts = np.bincount(flat, minlength=N_BLOCKS**2 * n_places)
    return counts.reshape(N_BLOCKS, N_BLOCKS, n_places)


def _owners(knots: Floats, values: Floats) -> NDArray[np.int64]:
    """Return the kept training value that stands for each value; -1 if missing."""
    return np.where(np.isnan(values), -1, stand_in(knots, values))


def _categorical(schema: Schema) -> list[Categorical]:
    return [each for each in schema.variables if isinstance(each, Categorical)]


def _space_all(schema: Schema, columns: Sequence[Column], n_jobs: int) -> tuple[Spacing, ...]:
    def of(pair: tuple[str, Column]) -> Spacing:
        found = distinct(pair[1])
        return space(pair[0], found.values, found.counts)

    pairs = [
        (variable.name, column)
        for variable, column in zip(schema.variables, columns, strict=True)
        if isinstance(variable, Numeric)
    ]
    return tuple(share_out(n_jobs, of, pairs))
