"""The predicates worth mining (KDD'23, section 4.1).

For continuous variables: the cut-offs that algorithm 2 selects, or five uniform or k-means bins
(sections 4.1.2 and 6.1). For categorical variables: algorithm 1, which joins rare values. Only
predicates whose support exceeds the minimum are made; constants get none, because their univariate rule
says it all. All decisions use whole counts.
"""

import functools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.learn import kernels
from truism.learn.trees import Bins, Proposal, bin_columns, propose
from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, cut_between, order, text_of
from truism.model.schema import Categorical, Numeric, Schema
from truism.model.settings import Cutoffs
from truism.score.alignment import codes
from truism.table.columns import Column
from truism.table.distinct import distinct
from truism.work import Progress

N_SIMPLE_BINS = 5
MAX_LLOYD_STEPS = 300


class Exceeds(msgspec.Struct, frozen=True):
    """Whether a count is above θ·n, in exact arithmetic."""

    min_support: Fraction
    n_rows: int

    def __call__(self, count: int) -> bool:
        """Compare a count."""
        return count > self.min_support * self.n_rows

    @property
    def least(self) -> int:
        """The smallest count above θ·n."""
        return int(self.min_support * self.n_rows) + 1


def choose_cuts(bins: Bins, proposals: Iterable[Proposal], exceeds: Exceeds) -> list[int]:
    """Select cuts of one variable, best first (KDD'23, algorithm 2, lines 11 to 31).

    A cut is kept if both intervals it creates have a support above θ; so do the outer intervals.

    Deviation: as printed, the algorithm compares in the wrong direction and takes the first cut-off
    unchecked; its text describes ascending order and a check.
    """
    kept: list[int] = []
    for proposal in proposals:
        if proposal.cut in kept:
            continue
        lower = max((cut for cut in kept if cut < proposal.cut), default=None)
        upper = min((cut for cut in kept if cut > proposal.cut), default=None)
        rank = int(bins.rank[proposal.cut])
        below = rank - (0 if lower is None else int(bins.rank[lower]))
        above = (bins.n_present if upper is None else int(bins.rank[upper])) - rank
        if exceeds(below) and exceeds(above):
            kept.append(proposal.cut)
    return sorted(kept)


def intervals(variable: str, cuts: Sequence[float]) -> list[Interval]:
    """Return the half-open intervals between cut-offs.

    >>> [str(part) for part in intervals("X", [1.0, 2.5])]
    ['X < 1', '1 ≤ X < 2.5', 'X ≥ 2.5']
    """
    if not cuts:
        return []
    inner = [Interval(variable, low, high) for low, high in pairwise(cuts)]
    return [Interval(variable, high=cuts[0]), *inner, Interval(variable, low=cuts[-1])]


def tree_intervals(
    bins: Sequence[Bins], proposals: Iterable[Proposal], exceeds: Exceeds
) -> list[Interval]:
    """Return the intervals of all variables, from the cuts that trees propose."""
    of_variable: dict[str, list[Proposal]] = {each.variable: [] for each in bins}
    for proposal in proposals:
        of_variable[proposal.variable].append(proposal)
    found: list[Interval] = []
    for each in bins:
        cuts = choose_cuts(each, of_variable[each.variable], exceeds)
        found += intervals(
            each.variable,
            [cut_between(float(each.below[cut]), float(each.above[cut])) for cut in cuts],
        )
    return found


def simple_intervals(
    schema: Schema, columns: Sequence[Column], cutoffs: Cutoffs, exceeds: Exceeds
) -> list[Interval]:
    """Divide each variable into five uniform or k-means bins, and keep those with support."""
    found: list[Interval] = []
    for variable, column in zip(schema.variables, columns, strict=True):
        if not isinstance(variable, Numeric) or not variable.varies:
            continue
        known = distinct(column)
        values, counts = known.values, known.counts
        if not len(values):
            continue
        # Sums of the largest doubles overflow; scaled by a power of two they divide the same way.
        scale = 2.0**-64 if max(-variable.low, variable.high) > 1e280 else 1.0
        scaled = values * scale
        edges = (
            np.linspace(variable.low * scale, variable.high * scale, N_SIMPLE_BINS + 1)[1:-1]
            if cutoffs == "uniform"
            else kmeans_edges(scaled, counts)
        )
        starts = np.unique(np.searchsorted(scaled, edges, side="left"))
        starts = starts[(starts > 0) & (starts < len(values))]
        parts = intervals(
            variable.name,
            [cut_between(float(values[i - 1]), float(values[i])) for i in starts.tolist()],
        )
        supports = np.add.reduceat(counts, np.concatenate([[0], starts]))
        found += [part for part, count in zip(parts, supports, strict=False) if exceeds(int(count))]
    return found


def kmeans_edges(values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the midpoints between the five centres of Lloyd's algorithm in one dimension.

    It starts from the centres of uniform bins, so nothing is random. On sorted values a cluster is a
    run, and its mean comes from a difference of running sums.
    """
    edges = np.linspace(values[0], values[-1], N_SIMPLE_BINS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    total = np.concatenate([[0.0], np.cumsum(values * counts)])
    number = np.concatenate([[0], np.cumsum(counts)])
    for _ in range(MAX_LLOYD_STEPS):
        ends = np.searchsorted(values, (centres[1:] + centres[:-1]) / 2, side="left")
        ends = np.concatenate([[0], ends, [len(values)]])
        sizes = np.diff(number[ends])
        moved = np.where(sizes > 0, np.diff(total[ends]) / np.maximum(sizes, 1), centres)
        if np.array_equal(moved, centres):
            break
        centres = np.sort(moved)
    middles: NDArray[np.float64] = (centres[1:] + centres[:-1]) / 2
    return middles


def categories(schema: Schema, columns: Sequence[Column], exceeds: Exceeds) -> list[OneOf | AnyOf]:
    """Make a predicate of each frequent value, and join the rare ones (KDD'23, algorithm 1)."""
    found: list[OneOf | AnyOf] = []
    rare: list[tuple[Categorical, int, Column]] = []
    pairs = [
        (variable, column)
        for variable, column in zip(schema.variables, columns, strict=True)
        if isinstance(variable, Categorical) and variable.varies
    ]
    for variable, column in sorted(pairs, key=lambda pair: pair[0].name):
        # Counted again: while θ is being chosen, the schema has seen more rows than these.
        known = codes(variable, column)
        counts = np.bincount(known[known >= 0], minlength=len(variable.values)).tolist()
        in_text_order = sorted(
            range(len(variable.values)), key=lambda code: text_of(variable.values[code])
        )
        for code in in_text_order:
            if exceeds(counts[code]):
                found.append(OneOf(variable.name, (variable.values[code],)))
            else:
                rare.append((variable, code, column))
    return found + join_rare(rare, exceeds)


def join_rare(
    rare: Sequence[tuple[Categorical, int, Column]], exceeds: Exceeds
) -> list[OneOf | AnyOf]:
    """Go through the rare values and join neighbours until their support exceeds θ.

    A remainder that could not exceed θ by itself joins too (algorithm 1, line 16). A row counts once,
    however many of the joined values it has.
    """
    rows_of = _RareRows(rare, exceeds.n_rows)
    # Whether the tail from each position can stand alone is worked out once, from the back.
    alone = rows_of.exceeding_tails(exceeds)
    found: list[OneOf | AnyOf] = []
    first = 0
    covered = np.zeros(exceeds.n_rows, np.bool_)
    count = 0
    for position in range(len(rare)):
        count += rows_of.cover(position, covered)
        if not exceeds(count):
            continue
        last = position + 1 if alone[position + 1] else len(rare)
        found.append(_join(rare[first:last]))
        if last == len(rare):
            break
        first, count = last, 0
        covered[:] = False
    return found


class _RareRows:
    """The rows of each rare value, found once per variable."""

    def __init__(self, rare: Sequence[tuple[Categorical, int, Column]], n_rows: int) -> None:
        self.rows: list[NDArray[np.int64]] = []
        self.n_rows = n_rows
        current, order, bounds = None, np.empty(0, np.int64), np.empty(0, np.int64)
        for variable, code, column in rare:
            if current is not variable:
                current = variable
                encoded = codes(variable, column)
                order = np.argsort(encoded, kind="stable")
                bounds = np.searchsorted(encoded[order], np.arange(len(variable.values) + 1))
            self.rows.append(order[bounds[code] : bounds[code + 1]])

    def cover(self, position: int, covered: NDArray[np.bool_]) -> int:
        rows = self.rows[position]
        fresh = int((~covered[rows]).sum())
        covered[rows] = True
        return fresh

    def exceeding_tails(self, exceeds: Exceeds) -> list[bool]:
        covered = np.zeros(self.n_rows, np.bool_)
        count = 0
        alone = [False] * (len(self.rows) + 1)
        for position in reversed(range(len(self.rows))):
            count += self.cover(position, covered)
            alone[position] = exceeds(count)
        return alone


def _join(rare: Sequence[tuple[Categorical, int, Column]]) -> OneOf | AnyOf:
    values_of: dict[str, list[bool | int | float | str]] = {}
    for variable, code, _ in rare:
        values_of.setdefault(variable.name, []).append(variable.values[code])
    parts = tuple(OneOf(name, tuple(values)) for name, values in values_of.items())
    return parts[0] if len(parts) == 1 else AnyOf(parts)


def find_predicates(
    schema: Schema,
    columns: Sequence[Column],
    cutoffs: Cutoffs,
    min_supports: Sequence[Fraction],
    n_jobs: int,
    progress: Progress,
) -> list[list[Predicate]]:
    """Find the predicates worth mining for several values of θ at once, in canonical order."""
    progress("compiling", 0, 1)
    kernels.load()
    progress("compiling", 1, 1)
    n_rows = len(columns[0].values)
    exceeds = [Exceeds(min_support, n_rows) for min_support in min_supports]
    if cutoffs == "tree":
        binned = bin_columns(schema, columns, min(min_supports), n_jobs)
        leaves = sorted({each.least for each in exceeds})
        progress("trees", 0, len(schema.variables))
        proposals = propose(
            binned, schema, columns, leaves, n_jobs, functools.partial(progress, "trees")
        )
        numeric = [
            tree_intervals(binned.bins, proposals[leaves.index(each.least)], each)
            for each in exceeds
        ]
    else:
        numeric = [simple_intervals(schema, columns, cutoffs, each) for each in exceeds]
    return [
        sorted([*found, *categories(schema, columns, each)], key=order)
        for found, each in zip(numeric, exceeds, strict=True)
    ]
