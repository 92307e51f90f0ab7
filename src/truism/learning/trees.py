"""Cut-offs that matter: binned columns go in, decision trees propose ``(variable, cut, gain)``.

For each categorical variable a classifier on all numeric variables, for each numeric variable a
regressor on the others (KDD'23, section 4.1.2, algorithm 2, lines 2 to 9). The table is binned once
and shared by all trees, and one growth serves several minimum leaf sizes, because trees that differ
only there agree on most of their nodes. Sums are whole numbers: targets are standardised and held in
fixed point, x·log2(x) is tabulated in fixed point.

Deviation: a node whose best split gains nothing is a leaf; splitting it further would propose
cut-offs of quality zero.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.schema import Categorical, Numeric, Schema
from truism.scoring.alignment import codes
from truism.table.columns import Column, numbers
from truism.table.distinct import distinct
from truism.work import Advance, share_out, stand_still

MIN_BINS = 255
MAX_BINS = 65_535  # bin numbers have two bytes at most, and one more stands for missing
FIXED_POINT_BITS = 20  # of a standardised target, behind the point; fewer above a million rows
MAX_TABLE = 1 << 22  # histogram cells per node above which classes are counted by sorting
MAX_CACHED = 1 << 16  # histogram cells, of eight bytes each, that a processor's cache holds
MAX_IN_TURN = (
    1 << 11
)  # rows of a table whose variables are looked at in turn if the cache is too small


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

    Parameters
    ----------
    loss
        The negated gain q: impurity decrease times the node's part of all rows.
    variable, cut
        Which variable, and the position of the cut in its `Bins`.

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
    """Grow all trees and collect what their nodes propose.

    Parameters
    ----------
    table
        The binned numeric variables.
    schema, columns
        The variables, each of which is a target.
    min_leaves
        Minimum leaf sizes, ascending and distinct.
    n_jobs
        Threads to use; the result does not depend on it.
    advance
        Told how many trees are done, of how many.

    Returns
    -------
    list of list of Proposal
        For each of `min_leaves`, best first.

    """
    proposals: list[list[Proposal]] = [[] for _ in min_leaves]
    if not table.bins:
        return proposals
    grow = _grower(table, np.array(min_leaves, np.int64))
    targets = [
        (variable, column)
        for variable, column in zip(schema.variables, columns, strict=True)
        if variable.varies
    ]
    names = [bins.variable for bins in table.bins]
    grown = share_out(n_jobs, lambda pair: grow(*pair), targets)
    for done, (splits, gains) in enumerate(grown, 1):
        for (f, cut, first, last), gain in zip(splits.tolist(), gains.tolist(), strict=True):
            proposal = Proposal(-gain / table.n_rows, names[f], cut)
            for position in range(first, last + 1):
                proposals[position].append(proposal)
        advance(done, len(targets))
    return [sorted(found) for found in proposals]


def _grower(
    table: BinnedTable, min_leaves: NDArray[np.int64]
) -> Callable[[Numeric | Categorical, Column], tuple[NDArray[Any], NDArray[Any]]]:
    from truism.learning.kernels import splits, trees  # only learning loads compiled code

    counts = np.arange(1, table.n_rows + 1, dtype=np.float64)
    xlogx = np.zeros(table.n_rows + 1, np.int64)
    xlogx[1:] = np.rint(counts * np.log2(counts) * splits.LOG_SCALE)
    n_bins = np.array([_n_bins(bins) for bins in table.bins], np.int64)
    width = int(n_bins.max()) + 1
    binned = table.binned.view(np.uint8)
    wide = binned.shape[1] > len(n_bins)
    few_rows = table.n_rows <= MAX_IN_TURN and len(n_bins) * width > MAX_CACHED
    bins = splits.Bins(binned, n_bins, width, wide, *_in_order(table, few_rows))
    row_of = {bins.variable: row for row, bins in enumerate(table.bins)}
    count_bits = table.n_rows.bit_length()
    # A histogram cell holds a sum of targets and a count in one word: |sum| ≤ n·2^point_bits.
    point_bits = min(FIXED_POINT_BITS, 61 - 2 * count_bits)

    def grow(variable: Numeric | Categorical, column: Column) -> tuple[NDArray[Any], NDArray[Any]]:
        if isinstance(variable, Numeric):
            fixed, present = _fixed_point(variable, column, point_bits)
            values = (fixed << count_bits) + 1
            n_classes, skip = 0, row_of[variable.name]
        else:
            values = codes(variable, column).astype(np.int64)
            present = values >= 0
            n_classes, skip = len(variable.values), -1
        target = splits.Target(values, n_classes, count_bits, xlogx, skip)
        rows = np.flatnonzero(present).astype(np.int32)
        cells = len(n_bins) * width * max(n_classes, 2)
        if n_classes > 0 and cells > MAX_TABLE:
            n_tabled = 0
        else:
            n_tabled = 1 if few_rows else len(n_bins)
        found: tuple[NDArray[Any], NDArray[Any]] = trees.grow_tree(
            bins, target, rows, min_leaves, n_tabled
        )
        proposed, gains = found
        return proposed, gains / 4.0**point_bits if n_classes == 0 else gains

    return grow


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
