"""Cut-offs that matter: binned columns go in, decision trees propose ``(variable, cut, gain)``.

For each categorical variable a classifier on all numeric variables, for each numeric variable a
regressor on the others (KDD'23, section 4.1.2, algorithm 2, lines 2 to 9). The table is binned once
and shared by all trees, and one growth serves several minimum leaf sizes, because trees that differ
only there agree on most of their nodes. Sums are whole numbers: targets are standardised and held in
fixed point, x·log2(x) is tabulated in fixed point.

Deviation: a node whose best split gains nothing is a leaf; splitting it further would propose
cut-offs of quality zero.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.schema import Categorical, Numeric, Schema
from truism.score.alignment import codes
from truism.table.columns import Column, numbers
from truism.table.distinct import distinct
from truism.work import Advance, share_out, stand_still

MIN_BINS = 255
MAX_BINS = 65_535  # bin numbers have two bytes at most, and one more stands for missing
FIXED_POINT_BITS = 20  # of a standardised target, behind the point; fewer above a million rows
MAX_TABLE = 1 << 22  # histogram cells per node above which classes are counted by sorting
MAX_CACHED = 1 << 16  # histogram cells, of eight bytes each, that a processor's cache holds
MAX_ABREAST = 1 << 11  # rows of a table whose trees grow side by side if the cache is too small
N_ABREAST = 256  # such trees; several times as many as have their nodes split at once


class Bins(msgspec.Struct, frozen=True, eq=False):
    """How one numeric variable is divided: cut ``i`` lies between ``below[i]`` and ``above[i]``.

    ``rank[i]`` training values are smaller than cut ``i``; ``n_present`` values there are in all.
    """

    variable: str
    below: NDArray[np.float64]
    above: NDArray[np.float64]
    rank: NDArray[np.int64]
    n_present: int


class Proposal(msgspec.Struct, frozen=True, gc=False, order=True):
    """A cut that some tree's node proposes; ascending order is best first.

    The loss is the negated gain q, impurity decrease times the node's part of all rows; the cut is a
    position in the variable's `Bins`.
    """

    loss: float
    variable: str
    cut: int


class BinnedTable(msgspec.Struct, frozen=True, eq=False):
    """All numeric variables as bin numbers, rows × variables in ascending order of their names.

    A bin number is one byte where that suffices, because every tree reads the whole table several
    times, and the less there is to read, the more of it stays in the processor's cache.
    """

    bins: tuple[Bins, ...]
    binned: NDArray[np.uint8] | NDArray[np.uint16]
    n_rows: int


def bin_columns(
    schema: Schema, columns: Sequence[Column], min_support: Fraction, n_jobs: int
) -> BinnedTable:
    """Bin every numeric variable that varies, into at most max(255, ⌈2/θ⌉) bins."""
    numeric = [
        column
        for variable, column in zip(schema.variables, columns, strict=True)
        if isinstance(variable, Numeric) and variable.varies
    ]
    numeric.sort(key=lambda column: column.name)
    n_rows = len(columns[0].values)
    max_bins = min(max(MIN_BINS, -(-2 // min_support)), MAX_BINS)
    bins = tuple(share_out(n_jobs, lambda column: _divide(column, max_bins), numeric))
    missing = max((_n_bins(each) for each in bins), default=0)
    # The kernels take two bytes apart: the low one comes first, on every machine.
    width = np.min_scalar_type(missing).newbyteorder("<")
    binned = np.empty((n_rows, len(bins)), width)
    list(share_out(n_jobs, _number, numeric, bins, binned.T))
    return BinnedTable(bins, binned, n_rows)


def _divide(column: Column, max_bins: int) -> Bins:
    found = distinct(column)
    values, counts = found.values, found.counts
    starts = found.cuts(max_bins)
    rank = np.cumsum(counts)[starts - 1]
    return Bins(column.name, values[starts - 1], values[starts], rank, int(counts.sum()))


def _number(column: Column, bins: Bins, out: NDArray[Any]) -> None:
    out[:] = np.searchsorted(bins.above, numbers(column), side="right")
    if column.missing is not None:
        out[column.missing] = _n_bins(bins)


def _n_bins(bins: Bins) -> int:
    return len(bins.above) + 1


def propose(
    table: BinnedTable,
    schema: Schema,
    columns: Sequence[Column],
    min_leaves: Sequence[int],
    n_jobs: int,
    advance: Advance = stand_still,
) -> list[list[Proposal]]:
    """Grow a tree for each target; collect what nodes propose, per least leaf size, best first."""
    proposals: list[list[Proposal]] = [[] for _ in min_leaves]
    if not table.bins:
        return proposals
    grower = _Grower(table, np.array(min_leaves, np.int64))
    targets = [
        (variable, column)
        for variable, column in zip(schema.variables, columns, strict=True)
        if variable.varies
    ]
    groups = grower.group(targets)
    names = [bins.variable for bins in table.bins]
    n_done = 0
    for group, grown in zip(groups, share_out(n_jobs, grower.grow, groups), strict=True):
        splits, gains = (each.tolist() for each in grown)
        for (f, cut, first, last), gain in zip(splits, gains, strict=True):
            proposal = Proposal(-gain / table.n_rows, names[f], cut)
            for position in range(first, last + 1):
                proposals[position].append(proposal)
        n_done += len(group)
        advance(n_done, len(targets))
    return [sorted(found) for found in proposals]


_Target = tuple[Numeric | Categorical, Column]
_Grown = tuple[NDArray[np.int64], NDArray[np.float64]]


class _Grower:
    """Grows trees: one after the other, or those of numbers side by side where that is faster."""

    def __init__(self, table: BinnedTable, min_leaves: NDArray[np.int64]) -> None:
        from truism.learn.kernels import trees  # only learning loads compiled code

        self.min_leaves = min_leaves
        counts = np.arange(1, table.n_rows + 1, dtype=np.float64)
        self.xlogx = np.zeros(table.n_rows + 1, np.int64)
        self.xlogx[1:] = np.rint(counts * np.log2(counts) * trees.LOG_SCALE)
        n_bins = np.array([_n_bins(bins) for bins in table.bins], np.int64)
        width = int(n_bins.max()) + 1
        self.n_cells = len(n_bins) * width
        self.abreast = table.n_rows <= MAX_ABREAST and self.n_cells > MAX_CACHED
        binned = table.binned.view(np.uint8)
        wide = binned.shape[1] > len(n_bins)
        self.bins = trees.Bins(binned, n_bins, width, wide, *_in_order(table, self.abreast))
        self.place_of = {bins.variable: place for place, bins in enumerate(table.bins)}
        self.count_bits = table.n_rows.bit_length()
        # A histogram cell holds a sum of targets and a count in one word: |sum| ≤ n·2^point_bits.
        self.point_bits = min(FIXED_POINT_BITS, 61 - 2 * self.count_bits)

    def group(self, targets: Sequence[_Target]) -> list[list[_Target]]:
        """Divide targets into groups to be grown at once: states each alone, numbers maybe together."""
        alone = [[each] for each in targets if isinstance(each[0], Categorical)]
        numeric = [each for each in targets if isinstance(each[0], Numeric)]
        size = N_ABREAST if self.abreast else 1
        return alone + [numeric[i : i + size] for i in range(0, len(numeric), size)]

    def grow(self, targets: Sequence[_Target]) -> _Grown:
        """Grow the trees of a group; return their splits and gains, see `grow_tree`."""
        variable, column = targets[0]
        if isinstance(variable, Categorical):
            return self._classify(variable, column)
        return self._regress(targets)

    def _classify(self, variable: Categorical, column: Column) -> _Grown:
        from truism.learn.kernels import trees

        classes = codes(variable, column).astype(np.int64)
        n_classes = len(variable.values)
        tabled = not self.abreast and self.n_cells * max(n_classes, 2) <= MAX_TABLE
        target = trees.Target(classes, n_classes, self.count_bits, self.xlogx, -1)
        rows = np.flatnonzero(classes >= 0).astype(np.int32)
        grown: _Grown = trees.grow_tree(self.bins, target, rows, self.min_leaves, tabled)
        return grown

    def _regress(self, targets: Sequence[_Target]) -> _Grown:
        from truism.learn.kernels import forest, trees

        numeric = [(each, column) for each, column in targets if isinstance(each, Numeric)]
        values = np.array([self._packed(each, column) for each, column in numeric])
        skips = np.array([self.place_of[each.name] for each, _ in numeric])
        if self.abreast:
            found, gains = forest.grow_forest(
                self.bins, values, skips, self.count_bits, self.min_leaves
            )
        else:
            target = trees.Target(values[0], 0, self.count_bits, self.xlogx, int(skips[0]))
            rows = np.flatnonzero(values[0]).astype(np.int32)
            found, gains = trees.grow_tree(self.bins, target, rows, self.min_leaves, True)
        return found, gains / 4.0**self.point_bits

    def _packed(self, variable: Numeric, column: Column) -> NDArray[np.int64]:
        """Return a target's numbers, with a bit that counts the row; 0 where it is missing."""
        fixed, present = _fixed_point(variable, column, self.point_bits)
        return ((fixed << self.count_bits) + 1) * present


def _in_order(table: BinnedTable, asked: bool) -> tuple[NDArray[np.uint16], NDArray[np.bool_]]:
    """Return the rows in the order of each variable's bins, and of which variables that is known.

    Known are the variables that are never missing, if that is asked for.
    """
    if not asked:
        return np.empty((0, 0), np.uint16), np.zeros(len(table.bins), np.bool_)
    order = np.argsort(table.binned, axis=0, kind="stable").astype(np.uint16)
    complete = np.array([each.n_present == table.n_rows for each in table.bins])
    return np.ascontiguousarray(order.T), complete


def _fixed_point(
    variable: Numeric, column: Column, point_bits: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Standardise numbers, in whole units of 2^-point_bits, and tell which are present."""
    exact = numbers(column)
    present = ~np.isnan(exact)
    # Halved, so that the distance between the farthest doubles does not overflow.
    distance = np.where(present, exact, variable.mean) * 0.5 - variable.mean * 0.5
    scaled = distance / variable.std * 2.0
    return np.rint(scaled * 2.0**point_bits).astype(np.int64), present
