"""What a variable is usually like, given the others: rows go in, evidence comes out.

A context is a small tree. It splits the training rows by some of the variables so that the others
vary as little as possible in its leaves, and then judges those others: a number by its distance from
the leaf's mean in units of the leaf's spread, a state by how much rarer it is in the leaf than it
would be by chance. Several contexts judge every variable, and the mean of their evidence counts. One
tree for many variables, instead of one for each, makes this fast enough; docs/experiments.md compares
the two. `truism.learn.contexts` grows the trees. Everything here is vectorised NumPy; where
there is enough to do, compiled loops find the same, to the bit.
"""

import functools
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.evidence import LEAF, Context
from truism.score.alignment import Reader, Readings
from truism.score.truths import Words, n_words

TAIL = 10.0  # how slowly evidence grows: z²/2 for small distances, logarithmically for large ones
PSEUDO_COUNT = 0.3
OWN_SHARE = 0.6  # share of the surprise without any context that is not counted again
FLOOR, SHRINKAGE = 0.05, 3.0  # a leaf's spread is at least 5 % of the variable's; 3 rows of prior
_ROWS = 256  # so many at a time leave their logarithms in the processor's cache
_FLUSH = 6  # with spreads no smaller than the floor, products of so many factors cannot overflow


class Leaves:
    """Finds the leaf of every context that a row falls into, for all contexts and rows at once.

    The rows of a node are packed bits: the rows of its parent that satisfy a split, or that do not. The
    number of a leaf is then assembled from its binary digits. Trees are those of `Context.tree`.
    """

    def __init__(self, n_splits: int, trees: Sequence[Sequence[int]]) -> None:
        self.n_trees = len(trees)
        self._trees = trees
        levels: dict[int, list[tuple[int, int, int]]] = {}
        leaf_nodes: list[tuple[int, int, int]] = []
        n_nodes = self.n_trees
        for t, tree in enumerate(trees):
            # Roots come first; every other node is numbered when it is reached.
            waiting = [(t, 0)]
            n_leaves = 0
            for split in tree:
                node, depth = waiting.pop()
                if split == LEAF:
                    leaf_nodes.append((node, t, n_leaves))
                    n_leaves += 1
                    continue
                for node_below, atom in ((n_nodes, split), (n_nodes + 1, split + n_splits)):
                    levels.setdefault(depth, []).append((node_below, node, atom))
                waiting += [(n_nodes + 1, depth + 1), (n_nodes, depth + 1)]
                n_nodes += 2
        self._n_nodes = n_nodes
        self._levels = [tuple(np.array(levels[depth], np.int64).T) for depth in sorted(levels)]
        self._digits = list(self._plan_digits(leaf_nodes))

    def _plan_digits(
        self, leaf_nodes: Sequence[tuple[int, int, int]]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each binary digit, list the nodes of leaves that have it, tree by tree."""
        most = max((number for _, _, number in leaf_nodes), default=0)
        empty = self._n_nodes
        of_tree: list[list[tuple[int, int]]] = [[] for _ in range(self.n_trees)]
        for node, t, number in leaf_nodes:
            of_tree[t].append((node, number))
        for digit in range(most.bit_length()):
            nodes: list[int] = []
            starts = []
            for leaves in of_tree:
                starts.append(len(nodes))
                nodes.append(empty)
                nodes += [node for node, number in leaves if number >> digit & 1]
            yield np.array(nodes, np.int64), np.array(starts, np.int64)

    def find(self, true: Words, n_rows: int, *, compiled: bool = False) -> NDArray[np.uint8]:
        """Return the leaf of every context and row, given in which rows each split holds."""
        if compiled:
            from truism.score.kernels import contexts  # the compiler, only where it pays

            walked = np.empty((self.n_trees, 8 * n_words(n_rows)), np.uint64)
            contexts.find_leaves(true, *self._paths, len(self._digits), walked)
            return np.ascontiguousarray(walked.view(np.uint8)[:, :n_rows])
        atoms = np.concatenate([true, ~true])
        rows = np.empty((self._n_nodes + 1, n_words(n_rows)), np.uint64)
        rows[: self.n_trees] = ~np.uint64(0)
        rows[-1] = 0
        for node, parent, atom in self._levels:
            rows[node] = rows[parent] & atoms[atom]
        found = np.zeros((self.n_trees, n_rows), np.uint8)
        for digit, (nodes, starts) in enumerate(self._digits):
            packed = np.bitwise_or.reduceat(rows[nodes], starts, axis=0)
            bits = np.unpackbits(packed.view(np.uint8), axis=1, count=n_rows, bitorder="little")
            found |= bits << np.uint8(digit)
        return found

    @functools.cached_property
    def _paths(self) -> tuple[NDArray[np.int64], ...]:
        """The splits of all trees, one after the other; where each ends; and the numbers of leaves."""
        splits, leaf_of = [
            np.array(list(itertools.chain(*self._trees)), np.int64) for _ in range(2)
        ]
        ends = np.cumsum([len(tree) for tree in self._trees], dtype=np.int64)
        for start, end in itertools.pairwise([0, *ends.tolist()]):
            leaf = splits[start:end] == LEAF
            leaf_of[start:end] = np.where(leaf, np.cumsum(leaf) - 1, -1)
        return splits, ends, leaf_of


class Statistics(msgspec.Struct, frozen=True, eq=False):
    """Statistics of the variables that a context judges in each of its leaves, as arrays.

    See `Context`; `state_counts` is leaves × classes, with the categorical variables side by side,
    each as wide as `widths` says. Statistics of several sets of rows may be stacked along a first
    dimension of all arrays.
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


_Judged = tuple[NDArray[np.float64], NDArray[np.int64]]
"""How many contexts judge each variable of a kind, and the places of those variables."""


class _Numbers(msgspec.Struct, frozen=True, eq=False):
    """What compiled loops need to judge numbers, with the leaves of all contexts one below the other."""

    scales: NDArray[np.float32]
    shifts: NDArray[np.float32]
    judged: _Judged


class _States(msgspec.Struct, frozen=True, eq=False):
    """What compiled loops need to judge states; see `add_evidence` of the kernels."""

    judges: NDArray[np.int64]
    ends: NDArray[np.int64]
    evidence: NDArray[np.float32]
    judged: _Judged


LeafNumbers = NDArray[np.unsignedinteger[Any]]


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

    Leaves are numbered as in `Leaves`; if statistics are stacked, the numbers of the second set of rows
    continue where those of the first end, and so on.
    """

    def __init__(self, reader: Reader, statistics: Iterable[Statistics]) -> None:
        self._reader = reader
        place_of = {i: place for place, i in enumerate(reader.numbers)}
        self._place_of_state = {i: place for place, i in enumerate(reader.states)}
        widths = [reader.n_classes(place) for place in range(len(reader.states))]
        self._offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        self._times = np.zeros(len(reader.schema.variables))
        scales: list[NDArray[np.float32]] = [np.empty((0, len(reader.numbers)), np.float32)]
        shifts = scales.copy()
        judges: list[list[int]] = [[] for _ in reader.states]
        tables: list[NDArray[np.float32]] = [np.empty((0, int(self._offsets[-1])), np.float32)]
        for k, each in enumerate(statistics):
            own = [place_of[i] for i in each.numbers]
            scale, shift = np.zeros((2, *each.counts.shape, len(reader.numbers)), np.float32)
            scale[..., own] = 1 / (
                np.sqrt(TAIL) * cautious_spreads(each.spreads, each.counts[..., None])
            )
            shift[..., own] = each.means * scale[..., own]
            scales.append(_flat(scale))
            shifts.append(_flat(shift))
            tables.append(self._table(each))
            self._times[[*each.numbers, *each.states]] += 1
            for i in each.states:
                judges[self._place_of_state[i]].append(k)
        self._judges = [np.array(each, np.int64) for each in judges]
        ends = np.cumsum([len(each) for each in tables])
        self._firsts = ends.astype(np.int32)
        self._scaled = list(zip(scales[1:], shifts[1:], strict=True))
        self._tables = tables[1:]

    def _table(self, statistics: Statistics) -> NDArray[np.float32]:
        """Lay out the evidence of every class of states, leaf by leaf."""
        table = np.zeros((*statistics.counts.shape, int(self._offsets[-1])), np.float32)
        if statistics.states:
            counts = statistics.state_counts.astype(np.float64)
            known, unseen = state_evidence(counts, statistics.widths)
            firsts = self._offsets[[self._place_of_state[i] for i in statistics.states]]
            table[..., side_by_side(firsts, statistics.widths)] = known
            table[..., firsts + statistics.widths] = unseen
        return _flat(table)

    def differences(self, leaves: LeafNumbers, readings: Readings) -> NDArray[np.float64]:
        """Return how far numbers are from their leaves' means, in standard deviations: rows × variables.

        Contexts count by how precisely they know a mean. States and missing values are NaN.
        """
        found = np.full((leaves.shape[1], len(self._times)), np.nan)
        standard = self._reader.standard(readings.numbers)
        n_numbers = standard.shape[1]
        sums = np.zeros((len(standard), 2 * n_numbers))
        for leaf, table in zip(leaves, self._weighed, strict=True):
            sums += table.take(leaf, axis=0)
        weight, total = sums[:, :n_numbers], sums[:, n_numbers:]
        mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        found[:, self._reader.numbers] = standard - mean
        return found

    def average(self, leaves: LeafNumbers, readings: Readings) -> NDArray[np.float64]:
        """Return the mean evidence of all contexts about each variable: rows × variables."""
        found = np.zeros((len(self._times), leaves.shape[1]))
        found[self._reader.numbers] = self._judge_numbers(leaves, readings.standard).T
        found[self._reader.states] = self._judge_states(leaves, readings.classes.T)
        return found.T

    def contradict(
        self,
        leaves: LeafNumbers,
        readings: Readings,
        *,
        compiled: bool = False,
    ) -> NDArray[np.float64]:
        """Return the evidence against each variable: rows × variables."""
        if compiled:
            return self._contradict_compiled(leaves, readings)
        return contradiction(self.average(leaves, readings), readings, self._reader)

    def _contradict_compiled(self, leaves: LeafNumbers, readings: Readings) -> NDArray[np.float64]:
        """Do as `contradict`, a few rows at a time, so that they stay in the processor's cache."""
        from truism.score.kernels import contexts  # the compiler, only where it pays

        numbers, states = self._stacked
        n_rows, n_numbers = readings.standard.shape
        found = np.empty((len(self._times), n_rows))
        tables = self._firsts, numbers.scales, numbers.shifts
        tail, steepness, share = np.float32(TAIL), (TAIL + 1) / 2, np.float32(OWN_SHARE)
        for start in range(0, n_rows, _ROWS):
            n_some = min(_ROWS, n_rows - start)
            products = np.empty((2, n_some, n_numbers), np.float32)
            powers = np.empty((n_some, n_numbers), np.int32)
            contexts.multiply_surprise(
                leaves, *tables, readings.standard, tail, start, products, powers
            )
            np.log(products, out=products)
            contexts.add_surprise(products, powers, steepness, share, *numbers.judged, start, found)
        judges = self._firsts, states.judges, states.ends, states.evidence
        contexts.add_evidence(
            leaves, *judges, readings.classes.T, self._offsets, *states.judged, found
        )
        return found.T

    @functools.cached_property
    def _weighed(self) -> list[NDArray[np.float64]]:
        """How precisely each leaf knows the mean of each number, and that times the mean."""
        return [
            np.concatenate(
                [np.square(scale, dtype=float), np.multiply(scale, shift, dtype=float)], 1
            )
            for scale, shift in self._scaled
        ]

    @functools.cached_property
    def _stacked(self) -> tuple["_Numbers", "_States"]:
        """What compiled loops need; the last leaf is one of no spread and no mean."""
        none = np.zeros((1, len(self._reader.numbers)), np.float32)
        scales, shifts = (
            np.concatenate([*(each[side] for each in self._scaled), none]) for side in (0, 1)
        )
        empty = np.empty((0, int(self._offsets[-1])), np.float32)
        evidence = np.ascontiguousarray(np.concatenate([empty, *self._tables]).T)
        judges = np.concatenate([np.empty(0, np.int64), *self._judges])
        ends = np.cumsum([len(each) for each in self._judges], dtype=np.int64)
        numbers, states = (
            (np.maximum(self._times[places], 1), np.array(places, np.int64))
            for places in (self._reader.numbers, self._reader.states)
        )
        return _Numbers(scales, shifts, numbers), _States(judges, ends, evidence, states)

    def _judge_numbers(
        self, leaves: LeafNumbers, standard: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Average the surprise over contexts; one logarithm of a product costs less than many.

        Powers of two are counted apart, so that the product of all contexts is finite.
        """
        together, powers = np.ones_like(standard), np.zeros(standard.shape, np.int32)
        for product in self._products(leaves, standard):
            fraction, power = np.frexp(product)  # from one half to one
            together *= fraction * np.float32(2)
            powers += power - 1
        total: NDArray[np.float64] = np.log(together) + powers * math.log(2)
        total *= (TAIL + 1) / 2
        _forget_missing(total)
        total /= np.maximum(self._times[self._reader.numbers], 1)
        return total

    def _products(
        self, leaves: LeafNumbers, standard: NDArray[np.float32]
    ) -> Iterator[NDArray[np.float32]]:
        """Yield, for every few contexts, the product of one plus the squared distances."""
        product = np.ones_like(standard)
        one, scaled, shift = np.float32(1), np.empty_like(standard), np.empty_like(standard)
        for k, (leaf, (scale, mean)) in enumerate(zip(leaves, self._scaled, strict=True), 1):
            np.take(scale, leaf, axis=0, out=scaled, mode="clip")
            np.take(mean, leaf, axis=0, out=shift, mode="clip")
            scaled *= standard
            scaled -= shift
            scaled *= scaled
            scaled += one
            product *= scaled
            if k % _FLUSH == 0 or k == len(self._scaled):
                yield product
                product[:] = one

    def _judge_states(self, leaves: LeafNumbers, classes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Average the evidence over contexts, looked up in their tables: variables × rows."""
        times = np.maximum(self._times[self._reader.states], 1)[:, None]
        where = classes + self._offsets[:-1, None]
        index = np.empty_like(where)
        total = np.zeros(where.shape, np.float32)
        evidence = np.empty_like(total)
        for leaf, table in zip(leaves, self._tables, strict=True):
            np.add(where, leaf * np.int64(table.shape[1]), out=index)
            np.take(table, index, out=evidence, mode="clip")
            total += evidence
        return total / times


def _flat(tables: NDArray[Any]) -> NDArray[Any]:
    return tables.reshape(math.prod(tables.shape[:-1]), tables.shape[-1])


def _forget_missing(evidence: NDArray[Any]) -> None:
    """Count missing values as no evidence; most blocks have none, which their sum shows."""
    if np.isnan(evidence.sum()):
        evidence[np.isnan(evidence)] = 0


def contradiction(
    average: NDArray[np.float64], readings: Readings, reader: Reader
) -> NDArray[np.float64]:
    """Return the evidence in contexts that goes beyond the surprise without any."""
    found = average.copy(order="A")
    found[:, reader.numbers] = beyond_own(average[:, reader.numbers], readings.standard)
    return found


def beyond_own(
    in_context: NDArray[np.float64], standard: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Subtract, in place, the share of the surprise that numbers cause in themselves."""
    own = surprise(standard)
    own *= np.float32(OWN_SHARE)
    _forget_missing(own)
    in_context -= own
    return np.maximum(in_context, 0.0, out=in_context)


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
