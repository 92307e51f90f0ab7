"""What a variable is usually like, given the others: rows go in, evidence comes out.

A context is a small tree. It splits the training rows by some of the variables so that the others
vary as little as possible in its leaves, and then judges those others: a number by its distance from
the leaf's mean in units of the leaf's spread, a state by how much rarer it is in the leaf than it
would be by chance. Several contexts judge every variable, and the mean of their evidence counts. One
tree for many variables, instead of one for each, makes this fast enough; docs/experiments.md compares
the two. `truism.learn.contexts` grows the trees, `truism.score.kernels.contexts` has the loops.
"""

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats
from truism.model.evidence import LEAF, Context
from truism.score import kernels
from truism.score.alignment import Reader, Readings
from truism.score.truths import Words, n_words

TAIL = 10.0  # how slowly evidence grows: z²/2 for small distances, logarithmically for large ones
PSEUDO_COUNT = 0.3
OWN_SHARE = 0.6  # share of the surprise without any context that is not counted again
FLOOR, SHRINKAGE = 0.05, 3.0  # a leaf's spread is at least 5 % of the variable's; 3 rows of prior
_WORDS = 128  # of 64 rows each, that go through a tree together
_ROWS = 256  # so many at a time leave their logarithms in the processor's cache


class Leaves:
    """Finds the leaf of every context that a row falls into; trees are those of `Context.tree`."""

    def __init__(self, trees: Sequence[Sequence[int]]) -> None:
        self.n_trees = len(trees)
        self._nodes = np.array([*itertools.chain.from_iterable(trees)], np.int64)
        self._ends = np.cumsum([len(tree) for tree in trees], dtype=np.int64)
        self._leaf_of = np.full(len(self._nodes), -1)  # -1 where a node is no leaf
        for nodes, leaf_of in zip(
            np.split(self._nodes, self._ends[:-1]),
            np.split(self._leaf_of, self._ends[:-1]),
            strict=True,
        ):
            leaf_of[nodes == LEAF] = np.arange((nodes == LEAF).sum())
        self._n_digits = int(self._leaf_of.max(initial=0)).bit_length()

    def find(self, true: Words, n_rows: int) -> NDArray[np.uint8]:
        """Return the leaf of every context and row, given in which rows each split holds."""
        leaves = np.empty((self.n_trees, 8 * n_words(n_rows)), np.uint64)
        room = np.empty((256 + self._n_digits, _WORDS), np.uint64)
        trees = self._nodes, self._ends, self._leaf_of
        kernels.contexts.find_leaves(true, *trees, room[:256], room[256:], leaves)
        return np.ascontiguousarray(leaves.view(np.uint8)[:, :n_rows])


class Statistics(msgspec.Struct, frozen=True, eq=False):
    """Statistics of the variables that a context judges in each of its leaves, as arrays.

    See `Context`; `state_counts` is leaves × classes, with the categorical variables side by side,
    each as wide as `widths` says.
    """

    numbers: tuple[int, ...]
    states: tuple[int, ...]
    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    spreads: NDArray[np.float64]
    widths: tuple[int, ...]
    state_counts: NDArray[np.integer[Any]]


def statistics_of(context: Context) -> Statistics:
    """Return the statistics of a context's leaves as arrays."""
    n_leaves = len(context.counts)
    return Statistics(
        context.numbers,
        context.states,
        np.array(context.counts, np.int64),
        np.array(context.means, np.float64).reshape(n_leaves, -1),
        np.array(context.spreads, np.float64).reshape(n_leaves, -1),
        tuple(len(each) for each in context.state_counts[0]),
        np.array(
            [list(itertools.chain.from_iterable(leaf)) for leaf in context.state_counts], np.int64
        ),
    )


def cautious_spreads(spreads: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the spreads to judge numbers by, given those of so many rows.

    They are larger than those of the training rows in a leaf: a few rows may look alike by chance, and
    differences below a twentieth of the variable's own spread do not count.
    """
    found: NDArray[np.float64] = np.sqrt(_shrunk(np.square(spreads), rows) + FLOOR**2)
    return found


def spreads_to_judge_by(
    spreads: NDArray[np.float64], known: NDArray[Any], rows: NDArray[Any]
) -> NDArray[np.float64]:
    """Return spreads that are as cautious for all rows as these are for those that have the number.

    Of rows without it nothing is known but what is usual.
    """
    shrunk = _shrunk(np.square(spreads), known)
    squared = (shrunk * (rows + SHRINKAGE) - SHRINKAGE) / np.maximum(rows, 1)
    return np.where(known < rows, np.sqrt(np.maximum(squared, 0)), spreads)


def spreads_where_known(
    spreads: NDArray[np.float64], known: NDArray[Any], rows: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the spreads of the rows that have the number; undoes `spreads_to_judge_by`."""
    shrunk = _shrunk(np.square(spreads), rows)
    squared = (shrunk * (known + SHRINKAGE) - SHRINKAGE) / np.maximum(known, 1)
    squared = np.where(known > 1, np.maximum(squared, 0), 0)  # a single value has no spread
    return np.where(known < rows, np.sqrt(squared), spreads)


def _shrunk(variance: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = (variance * rows + SHRINKAGE) / (rows + SHRINKAGE)
    return found


def surprise(standard: NDArray[Any]) -> NDArray[Any]:
    """Return how surprising distances are: as in a normal distribution at first, far out much less.

    >>> surprise(np.array([0.0, 1.0, 10.0])).round(2).tolist()
    [0.0, 0.52, 13.19]
    """
    found: NDArray[Any] = np.square(standard)
    found /= TAIL
    found += 1
    np.log(found, out=found)
    found *= (TAIL + 1) / 2
    return found


class LeafProfiles:
    """Compares rows with the statistics of their leaves in each context.

    The leaves of all contexts stand one below the other; `_firsts` says where those of each begin.
    """

    def __init__(self, reader: Reader, statistics: Sequence[Statistics]) -> None:
        self._reader = reader
        n_leaves = np.cumsum([0, *(len(each.counts) for each in statistics)])
        self._firsts = n_leaves.astype(np.int32)
        widths = [reader.n_classes(place) for place in range(len(reader.states))]
        self._offsets = np.cumsum([0, *widths])
        place_of = {
            i: at for places in (reader.numbers, reader.states) for at, i in enumerate(places)
        }
        times = np.zeros(len(reader.schema.variables))
        # The last leaf is one of no spread and no mean, where every number is ordinary.
        self._scales, self._shifts = np.zeros(
            (2, n_leaves[-1] + 1, len(reader.numbers)), np.float32
        )
        evidence = np.zeros((n_leaves[-1], self._offsets[-1]), np.float32)
        judges: list[list[int]] = [[] for _ in reader.states]
        for k, each in enumerate(statistics):
            leaves = slice(n_leaves[k], n_leaves[k + 1])
            own = [place_of[i] for i in each.numbers]
            spreads = cautious_spreads(each.spreads, each.counts[:, None])
            scales = (1 / (np.sqrt(TAIL) * spreads)).astype(np.float32)
            self._scales[leaves, own] = scales
            self._shifts[leaves, own] = each.means * scales
            evidence[leaves] = self._evidence_of_states(each, [place_of[i] for i in each.states])
            times[[*each.numbers, *each.states]] += 1
            for i in each.states:
                judges[place_of[i]].append(k)
        times = np.maximum(times, 1)
        self._times = times[reader.numbers], times[reader.states]
        self._places = np.array(reader.numbers, np.int64), np.array(reader.states, np.int64)
        self._evidence = np.ascontiguousarray(evidence.T)
        self._judges = np.array([*itertools.chain.from_iterable(judges)], np.int64)
        self._ends_of_judges = np.cumsum([len(each) for each in judges], dtype=np.int64)

    def _evidence_of_states(self, statistics: Statistics, places: list[int]) -> NDArray[np.float32]:
        """Return the evidence of every class of states: leaves × classes of all variables."""
        found = np.zeros((len(statistics.counts), self._offsets[-1]), np.float32)
        if places:
            counts = statistics.state_counts.astype(np.float64)
            known, unseen = state_evidence(counts, statistics.widths)
            firsts = self._offsets[places]
            found[:, side_by_side(firsts, statistics.widths)] = known
            found[:, firsts + statistics.widths] = unseen
        return found

    def differences(self, leaves: NDArray[np.uint8], readings: Readings) -> NDArray[np.float64]:
        """Return how far numbers are from their leaves' means, in standard deviations: rows × variables.

        Contexts count by how precisely they know a mean. States and missing values are NaN.
        """
        found = np.full((leaves.shape[1], len(self._reader.schema.variables)), np.nan)
        standard = self._reader.standard(readings.numbers)
        weight, total = np.zeros((2, *standard.shape))
        for leaf, first in zip(leaves, self._firsts[:-1], strict=True):
            at = leaf + np.int64(first)
            weight += self._precisions.take(at, axis=0)
            total += self._weighed_means.take(at, axis=0)
        mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        found[:, self._reader.numbers] = standard - mean
        return found

    @functools.cached_property
    def _precisions(self) -> Floats:
        """How precisely each leaf knows the mean of each number."""
        return np.asarray(np.square(self._scales, dtype=float))

    @functools.cached_property
    def _weighed_means(self) -> Floats:
        """How precisely each leaf knows the mean of each number, times the mean."""
        return np.asarray(np.multiply(self._scales, self._shifts, dtype=float))

    def average(self, leaves: NDArray[np.uint8], readings: Readings) -> Floats:
        """Return the mean evidence of all contexts about each variable: rows × variables."""
        return self._compare(leaves, readings, own_share=0.0, unit=1.0)

    def contradict(
        self, leaves: NDArray[np.uint8], readings: Readings, unit: float = 1.0
    ) -> Floats:
        """Return the evidence that goes beyond the surprise without any context, in a unit."""
        return self._compare(leaves, readings, own_share=OWN_SHARE, unit=unit)

    def _compare(
        self, leaves: NDArray[np.uint8], readings: Readings, *, own_share: float, unit: float
    ) -> Floats:
        """Compare a few rows at a time, so that they stay in the processor's cache."""
        standard, classes = map(np.ascontiguousarray, (readings.standard, readings.classes.T))
        leaves = np.ascontiguousarray(leaves)
        of_numbers, of_states = zip(self._times, self._places, strict=True)
        found = np.empty((len(self._reader.schema.variables), len(standard)))
        tables = self._firsts, self._scales, self._shifts
        n_sixes = max(-(-len(leaves) // 6), 1)
        at = np.full((min(_ROWS, len(standard)), 6 * n_sixes), self._firsts[-1])
        sixes = np.empty((n_sixes, standard.shape[1]), np.float32)
        room = at, sixes, sixes.view(np.int32)
        for first in range(0, len(standard), _ROWS):
            shape = min(_ROWS, len(standard) - first), standard.shape[1]
            products, powers = np.empty((2, *shape), np.float32), np.empty(shape, np.int32)
            rows = leaves, *tables, standard, first, np.float32(TAIL)
            kernels.contexts.multiply_surprise(*rows, *room, products, powers)
            np.log(products, out=products)
            weights = (TAIL + 1) / 2, np.float32(own_share), unit
            kernels.contexts.add_surprise(products, powers, *weights, *of_numbers, first, found)
        judges = self._firsts, self._judges, self._ends_of_judges
        of_rows = np.empty(len(standard), np.int64), np.empty(len(standard), np.float32)
        kernels.contexts.add_evidence(
            *(leaves, *judges, self._evidence.ravel(), self._evidence.shape[1], classes),
            *(self._offsets, unit, *of_states, *of_rows, found),
        )
        return found.T


def side_by_side(firsts: NDArray[np.int64], widths: Sequence[int]) -> NDArray[np.int64]:
    """Return the columns of several parts of a table, given where each starts and how wide it is.

    >>> side_by_side(np.array([0, 10]), [2, 3]).tolist()
    [0, 1, 10, 11, 12]
    """
    ends = np.cumsum(widths)
    return np.arange(ends[-1]) + np.repeat(firsts - (ends - widths), widths)


def state_evidence(
    counts: NDArray[np.float64], widths: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how much rarer states are in leaves than by chance, and the evidence of one never seen.

    Counts, and the first result, are leaves × classes of several variables side by side, each as wide as
    `widths` says; the second result is leaves × variables. Tables may be stacked.
    """
    starts = np.cumsum([0, *widths[:-1]])
    rows = np.add.reduceat(counts, starts, axis=-1)
    of_class = counts.sum(axis=-2, keepdims=True)
    of_variable = np.repeat(np.add.reduceat(of_class, starts, axis=-1), widths, axis=-1)
    unseen = np.log1p(rows / PSEUDO_COUNT)
    # In place: the tables of very many states are large.
    known = np.repeat(rows, widths, axis=-1)
    known *= of_class / np.maximum(of_variable, 1)
    known += PSEUDO_COUNT
    known /= counts + PSEUDO_COUNT
    np.maximum(0, np.log(known, out=known), out=known)
    absent = of_class == 0
    if absent.any():
        # A class without any row, because its rows are held out, counts as unseen.
        known = np.where(absent, np.repeat(unseen, widths, axis=-1), known)
    return known, unseen
