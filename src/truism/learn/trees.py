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
    missing = max((_n_bins(column_bins) for column_bins in bins), default=0)
    # The kernels take two bytes apart: the low one comes first, on every machine.
    width = np.min_scalar_type(missing).newbyteorder("<")
    binned = np.empty((n_rows, len(bins)), width)
    list(share_out(n_jobs, _number, numeric, bins, binned.T))
    return BinnedTable(bins, binned, n_rows)


def _divide(column: Column, max_bins: int) -> Bins:
    distinct_values = distinct(column)
    values, counts = distinct_values.values, distinct_values.counts
    starts = distinct_values.cuts(max_bins)
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
    grower = _Grower(table, min_leaves)
    targets = [
        (variable, column)
        for variable, column in zip(schema.variables, columns, strict=True)
        if variable.varies
    ]
    names = [bins.variable for bins in table.bins]
    grown = share_out(n_jobs, grower.grow, *zip(*targets, strict=True))
    for n_done, (splits, gains) in enumerate(grown, 1):
        for (f, cut, first, last), gain in zip(splits.tolist(), gains.tolist(), strict=True):
            proposal = Proposal(-gain / table.n_rows, names[f], cut)
            for position in range(first, last + 1):
                proposals[position].append(proposal)
        advance(n_done, len(targets))
    return [sorted(of_leaf_size) for of_leaf_size in proposals]


_Rows = NDArray[np.int32]
_Split = tuple[float, int, int]
"""The gain, the variable, or -1 for no split, and the bin."""
_Grown = tuple[NDArray[np.int64], NDArray[np.float64]]


class _Node(msgspec.Struct, eq=False, gc=False):
    """Rows, their histogram if known, and the leaf sizes, from first to before last, to split for."""

    rows: _Rows
    h: NDArray[np.int64] | None
    first: int
    last: int


class _Target(msgspec.Struct, frozen=True, eq=False):
    """What a tree predicts: class numbers; or, without classes, packed numbers of a variable, `skip`."""

    values: NDArray[np.int64]
    n_classes: int
    skip: int


class _Grower:
    """Grows trees on a binned table."""

    def __init__(self, table: BinnedTable, min_leaves: Sequence[int]) -> None:
        from truism.learn.kernels import trees  # only learning loads compiled code

        self.kernels, self.table, self.min_leaves = trees, table, list(min_leaves)
        counts = np.arange(1, table.n_rows + 1, dtype=np.float64)
        self.xlogx = np.zeros(table.n_rows + 1, np.int64)
        self.xlogx[1:] = np.rint(counts * np.log2(counts) * trees.LOG_SCALE)
        self.n_bins = np.array([_n_bins(bins) for bins in table.bins], np.int64)
        self.width = int(self.n_bins.max()) + 1
        self.n_cells = len(self.n_bins) * self.width
        self.binned = table.binned.view(np.uint8)
        self.wide = self.binned.shape[1] > len(self.n_bins)
        self.place_of = {bins.variable: place for place, bins in enumerate(table.bins)}
        self.count_bits = table.n_rows.bit_length()
        # A histogram cell holds a sum of targets and a count in one word: |sum| ≤ n·2^point_bits.
        self.point_bits = min(FIXED_POINT_BITS, 61 - 2 * self.count_bits)

    def grow(self, variable: Numeric | Categorical, column: Column) -> _Grown:
        """Grow the tree of a target; return its splits and gains, not yet divided by the rows.

        A split is a variable, a bin, and the first and the last position of the leaf sizes it is for.
        """
        if isinstance(variable, Categorical):
            classes = codes(variable, column).astype(np.int64)
            rows = np.flatnonzero(classes >= 0).astype(np.int32)
            return self._grow_tree(_Target(classes, len(variable.values), -1), rows)
        values = self._packed(variable, column)
        rows = np.flatnonzero(values).astype(np.int32)
        splits, gains = self._grow_tree(_Target(values, 0, self.place_of[variable.name]), rows)
        return splits, gains / 4.0**self.point_bits

    def _grow_tree(self, target: _Target, rows: _Rows) -> _Grown:
        """Grow one tree for several minimum leaf sizes, ascending, at once.

        Trees share their nodes for as long as they choose the same splits.
        """
        least, splits, gains = self.min_leaves, list[tuple[int, ...]](), list[float]()
        shape = self.width, len(self.n_bins), max(1, target.n_classes)
        # Where a histogram would be too large, classes are counted by sorting.
        tabled = self.n_cells * max(target.n_classes, 2) <= MAX_TABLE or not target.n_classes
        room = np.empty(shape if tabled else (0, 0, 0), np.int64)
        waiting = [_Node(rows, None, 0, len(least))]
        while waiting:
            node = waiting.pop()
            while node.first < node.last and len(node.rows) >= 2 * least[node.first]:
                if node.h is None:
                    node.h = self._describe(node.rows, target, room)
                while len(node.rows) < 2 * least[node.last - 1]:
                    node.last -= 1
                gain, f, b = self._split(node, target)
                if f < 0:
                    break
                left, right, neither = self._part(node.rows, f, b)
                shared = node.first
                while shared < node.last and least[shared] <= min(len(left), len(right)):
                    shared += 1
                splits.append((f, b, node.first, shared - 1))
                gains.append(gain)
                waiting += self._divide(node, target, left, right, neither, shared)
                node.first = shared
        return np.array(splits, np.int64).reshape(-1, 4), np.array(gains)

    def _describe(self, rows: _Rows, target: _Target, room: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the histogram of rows; that of many has memory of its own, which a child may inherit."""
        h = room
        if room.size:
            h = np.zeros(room.shape, np.int64) if len(rows) >= self.width else room
            h.fill(0)
            self._add(h, rows, target, 1)
        return h

    def _add(self, h: NDArray[np.int64], rows: _Rows, target: _Target, sign: int) -> None:
        of_rows = self.binned, self.wide, rows, target.values
        self.kernels.add_rows(h, *of_rows, target.n_classes > 0, sign)

    def _split(self, node: _Node, target: _Target) -> _Split:
        """Return the first of the best splits."""
        assert node.h is not None
        least = self.min_leaves[node.first]
        if target.n_classes:
            return self._split_classes(node.h, node.rows, target, least)
        h = node.h[:, :, 0]
        room = [np.empty(h.shape[1], kind) for kind in (np.int64, np.int64, np.int64, np.float64)]
        asked = self.n_bins, target.skip, self.count_bits, least
        split: _Split = self.kernels.split_numbers(h, *asked, *room)
        return split

    def _split_classes(
        self, h: NDArray[np.int64], rows: _Rows, target: _Target, least: int
    ) -> _Split:
        """Do as `_split`, with classes counted in a histogram, or else by sorting."""
        # What half a unit too much in each tabulated number could add up to is no gain.
        best, f, b = float(target.n_classes * 3 // 2 + 2), -1, -1
        dealt, bounds = np.empty(len(rows), np.int64), np.empty((2, self.width + 1), np.int64)
        room = dealt, bounds[0], np.empty((2, target.n_classes), np.int64)
        split, asked = self.kernels.split_classes, (least, self.xlogx, *room)
        if h.size:
            best, f, b = split(h, self.n_bins, best, *asked)
        for place in range(0 if h.size else len(self.n_bins)):
            n_bins = self.n_bins[place : place + 1]
            of_rows = self.binned, self.wide, rows, target.values
            self.kernels.deal(*of_rows, place, n_bins[0], dealt, *bounds)
            gain, better, cut = split(h, n_bins, best, *asked)
            if better >= 0:
                best, f, b = gain, place, cut
        return best / self.kernels.LOG_SCALE, f, b

    def _part(self, rows: _Rows, f: int, b: int) -> tuple[_Rows, _Rows, _Rows]:
        """Return the rows left of a cut, right of it, and those whose value is missing."""
        left, right, neither = (np.empty(len(rows), np.int32) for _ in range(3))
        bins = self.binned, self.wide, int(self.n_bins[f])
        sizes = self.kernels.part(*bins, rows, f, b, left, right, neither)
        return left[: sizes[0]], right[: sizes[1]], neither[: sizes[2]]

    def _divide(
        self, node: _Node, target: _Target, left: _Rows, right: _Rows, neither: _Rows, shared: int
    ) -> list[_Node]:
        """Return the children of a node that may be split, the larger one first.

        A large child inherits the histogram, less those of all other rows.
        """
        least = 2 * self.min_leaves[node.first]
        smaller, larger = (left, right) if len(left) <= len(right) else (right, left)
        of_larger = of_smaller = None
        assert node.h is not None
        if node.h.size and len(larger) >= max(self.width, least):
            # Other leaf sizes may still need the node's histogram.
            of_larger = node.h.copy() if shared < node.last else node.h
            self._add(of_larger, neither, target, -1)
            if len(smaller) >= max(self.width, least):
                of_smaller = np.zeros(of_larger.shape, np.int64)
                self._add(of_smaller, smaller, target, 1)
                of_larger -= of_smaller
            else:
                self._add(of_larger, smaller, target, -1)
        children = (larger, of_larger), (smaller, of_smaller)
        return [_Node(rows, h, node.first, shared) for rows, h in children if len(rows) >= least]

    def _packed(self, variable: Numeric, column: Column) -> NDArray[np.int64]:
        """Return a target's numbers, with a bit that counts the row; 0 where it is missing."""
        fixed, present = _fixed_point(variable, column, self.point_bits)
        return ((fixed << self.count_bits) + 1) * present


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
