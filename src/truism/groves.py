"""Growing contexts: training columns go in, trees and the sums over their leaves come out.

Each tree splits by a third of the variables so that all others vary as little as possible. Sums are
whole numbers, variables are taken in the order of their names and the sampled rows in an order that
their content gives, so that neither the order of rows or columns nor the number of threads changes
what is learned.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.columns import Column
from truism.contexts import LEAF, SHRINKAGE, Context, Split, Statistics
from truism.predicates import Interval, OneOf, cut_between
from truism.progress import Advance, stand_still
from truism.readings import MAX_CLASSES, Reader, Readings, can_judge, classes, standardise
from truism.schema import Categorical, Numeric, Schema, codes, distinct, numbers, quantile_cuts
from truism.threads import threads

N_CONTEXTS = 24
MEMBER_SHARE = 1 / 3  # of the variables form a context; it judges the others
MAX_LEAVES, MIN_ROWS = 64, 10
N_BINS = MAX_CLASSES  # of a number, between which it may be split
MAX_FIT_ROWS = (
    20_000  # trees are grown on so many rows at most; the statistics are those of all rows
)
N_TARGETS = 8  # random combinations of the judged variables that a tree explains
N_TARGET_STATES = 6  # commonest states of a variable that are targets
MAX_REMEMBERED = 1 << 22  # whole numbers, of the rows of all leaves while a tree grows
TARGET_CLIP, TARGET_SCALE = 5.0, 1 << 12
SCALE = 1 << 10  # standardised numbers in whole units, for sums that are exact


class Tally(msgspec.Struct, frozen=True, eq=False):
    """Whole-number sums of one context: per leaf, block of rows and judged variable.

    `present`, `total` and `squares` are leaves × blocks × numbers, `state_counts` leaves × blocks ×
    classes with the `widths` of the categorical variables side by side, and `rows` leaves × blocks.
    """

    tree: tuple[int, ...]
    numbers: tuple[int, ...]
    states: tuple[int, ...]
    widths: tuple[int, ...]
    rows: NDArray[np.float64]
    present: NDArray[np.float64]
    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    state_counts: NDArray[np.int32]

    def statistics(self, kept: NDArray[np.bool_] | slice = slice(None)) -> Statistics:
        """Give the statistics of the rows of all blocks, or of those that are kept."""
        present = self.present[:, kept].sum(axis=1)
        means = self.total[:, kept].sum(axis=1) / np.maximum(present, 1) / SCALE
        squares = self.squares[:, kept].sum(axis=1) / np.maximum(present, 1) / SCALE**2
        variance = np.maximum(squares - np.square(means), 0)
        # Of rows without the value nothing is known but what is usual.
        rows = self.rows[:, kept].sum(axis=1, keepdims=True)
        shrunk = (variance * present + SHRINKAGE) / (present + SHRINKAGE)
        guessed = (shrunk * (rows + SHRINKAGE) - SHRINKAGE) / np.maximum(rows, 1)
        spreads = np.sqrt(np.where(present < rows, np.maximum(guessed, 0), variance))
        return Statistics(
            self.numbers,
            self.states,
            rows[:, 0].astype(np.int64),
            means.round(4) + 0.0,
            spreads.round(4),
            self.widths,
            self.state_counts[:, kept].sum(axis=1, dtype=np.int64),
        )

    def context(self) -> Context:
        """Give the tree and the statistics of all rows as a value to keep."""
        of = self.statistics()
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
        )


def _tuples(table: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())


def tally(
    trees: Sequence["Tree"],
    leaves: NDArray[np.uint8],
    readings: Readings,
    reader: Reader,
    divisions: Sequence[NDArray[np.int64]],
    n_blocks: int,
    n_jobs: int,
) -> list[tuple[Tally, ...]]:
    """Sum up what the judged variables are like in every leaf and block, for each division of rows.

    All divisions are counted at once, by cells in which a row's blocks are the same in each.
    """
    n_cells = n_blocks ** len(divisions)
    cell_of = np.zeros(leaves.shape[1], np.int64)
    for blocks in divisions:
        cell_of = cell_of * n_blocks + blocks
    axes = range(1, len(divisions) + 1)

    def margins(sums: NDArray[Any]) -> list[NDArray[Any]]:
        cells = sums.reshape(len(sums) // n_cells, *(n_blocks for _ in axes), *sums.shape[1:])
        return [cells.sum(axis=tuple(set(axes) - {own}), dtype=sums.dtype) for own in axes]

    # Whole numbers that single precision holds exactly.
    columns = np.array(readings.standard.T, order="C")
    columns *= np.float32(SCALE)
    np.rint(columns, out=columns)
    present_in = {}
    for k, column in enumerate(columns):
        if np.isnan(column.sum()):
            present_in[k] = ~np.isnan(column)
            column[~present_in[k]] = 0.0

    def sums(tree: "Tree", leaf: NDArray[np.uint8]) -> tuple[Tally, ...]:
        cells = sum(node == LEAF for node in tree.nodes) * n_cells
        cell = leaf.astype(np.int64) * n_cells + cell_of
        rows = np.bincount(cell, minlength=cells).astype(np.float64)
        places = [k for k, i in enumerate(reader.numbers) if i in tree.judged]
        present, total, squares = np.zeros((3, cells, len(places)))
        for at, k in enumerate(places):
            total[:, at] = np.bincount(cell, columns[k], cells)
            squares[:, at] = np.bincount(cell, np.square(columns[k], dtype=np.float64), cells)
            present[:, at] = (
                np.bincount(cell[present_in[k]], minlength=cells) if k in present_in else rows
            )
        states = [k for k, i in enumerate(reader.states) if i in tree.judged]
        # Unseen cannot occur here, and missing says nothing.
        widths = [reader.n_classes(k) - 2 for k in states]
        counted = np.empty((cells, sum(widths)), np.int32)
        for k, width, end in zip(states, widths, np.cumsum(widths).tolist(), strict=True):
            wide = width + 2
            counts = np.bincount(cell * wide + readings.classes[:, k], minlength=cells * wide)
            counted[:, end - width : end] = counts.reshape(cells, wide)[:, :width]
        judged_numbers = tuple(reader.numbers[k] for k in places)
        judged_states = tuple(reader.states[k] for k in states)
        divided = zip(*map(margins, (rows, present, total, squares, counted)), strict=True)
        return tuple(
            Tally(tree.nodes, judged_numbers, judged_states, tuple(widths), *sums_of_blocks)
            for sums_of_blocks in divided
        )

    with threads(n_jobs) as spread:
        return list(spread(sums, trees, leaves))


class Tree(msgspec.Struct, frozen=True):
    """A grown tree: its nodes as in `Context.tree`, and which variables it is to judge."""

    nodes: tuple[int, ...]
    judged: frozenset[int]


def grow(
    schema: Schema,
    columns: Sequence[Column],
    by_content: NDArray[np.int64],
    seed: int,
    n_jobs: int,
    advance: Advance = stand_still,
) -> tuple[tuple[Split, ...], list[Tree]]:
    """Grow the trees of all contexts.

    Parameters
    ----------
    schema, columns
        The variables and their training values.
    by_content
        All rows, in an order that depends on their content only; see `content_hash`.
    seed
        Of the choice of variables for each context.
    n_jobs
        Threads to use; the result does not depend on it.
    advance
        Told how many trees are done, of how many.

    Returns
    -------
    splits, trees

    """
    usable = [i for i, each in enumerate(schema.variables) if can_judge(each)]
    usable.sort(key=lambda i: schema.variables[i].name)
    groups = _members(usable, seed)
    if not groups:
        return (), []
    rows = _sampled(by_content)
    coded = _Coded(schema, [column.take(rows) for column in columns], usable, n_jobs)
    n_rows = len(columns[0].values)
    least = max(2, MIN_ROWS * len(rows) // n_rows)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (coded.targets.shape[1], N_TARGETS))

    # Whole numbers, so that neither the order of summing nor the number of threads matters.
    judged = np.stack([~np.isin(coded.owner, members) for members in groups], axis=1)
    combined = coded.targets @ (judged[:, :, None] * signs[:, None]).reshape(len(judged), -1)
    explained = combined.astype(np.int32).reshape(len(rows), len(groups), N_TARGETS)

    def one(k: int) -> list[tuple[int, int] | None]:
        return _grow_tree(coded, groups[k], np.ascontiguousarray(explained[:, k]), least)

    grown = []
    with threads(n_jobs) as spread:
        for done, nodes in enumerate(spread(one, range(len(groups))), 1):
            grown.append(nodes)
            advance(done, len(groups))
    asked = sorted({node for nodes in grown for node in nodes if node is not None})
    number = {node: k for k, node in enumerate(asked)}
    splits = tuple(coded.split(v, c) for v, c in asked)
    trees = [
        Tree(
            tuple(LEAF if node is None else number[node] for node in nodes),
            frozenset(usable[v] for v in range(len(usable)) if v not in set(members.tolist())),
        )
        for nodes, members in zip(grown, groups, strict=True)
    ]
    return splits, trees


def _members(usable: Sequence[int], seed: int) -> list[NDArray[np.int64]]:
    """Choose the variables of each context: parts of shuffles, so that each takes its turn."""
    if len(usable) < 2:
        return []
    shuffle = np.random.default_rng(seed)
    size = max(1, round(MEMBER_SHARE * len(usable)))
    groups: list[NDArray[np.int64]] = []
    while len(groups) < N_CONTEXTS:
        order = shuffle.permutation(len(usable))
        groups += [np.sort(order[k * size : (k + 1) * size]) for k in range(len(usable) // size)]
    return groups[:N_CONTEXTS]


def _sampled(by_content: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose the rows to grow trees on, evenly from an order."""
    n_rows = len(by_content)
    if n_rows <= MAX_FIT_ROWS:
        return np.arange(n_rows)
    return np.sort(by_content[np.linspace(0, n_rows - 1, MAX_FIT_ROWS).astype(np.int64)])


def content_hash(schema: Schema, columns: Sequence[Column]) -> NDArray[np.uint64]:
    """Hash every row; neither the order of rows nor that of columns changes a row's hash."""
    total = np.zeros(len(columns[0].values), np.uint64)
    for variable, column in zip(schema.variables, columns, strict=True):
        if isinstance(variable, Numeric):
            bits = (numbers(column) + 0.0).view(np.uint64)
        else:
            bits = codes(variable, column).astype(np.int64).view(np.uint64)
        salt = hashlib.blake2b(variable.name.encode(), digest_size=8).digest()
        mixed = bits + np.frombuffer(salt, np.uint64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        total += mixed ^ (mixed >> np.uint64(31))
    return total


class _Coded:
    """The rows that trees are grown on: codes to split by, and targets to explain.

    `usable` variables, in this order, have columns of `codes`. Code ``c`` of a number means that it
    lies below cut ``c`` and no earlier one; missing values have the last code.
    """

    def __init__(
        self,
        schema: Schema,
        columns: Sequence[Column],
        usable: Sequence[int],
        n_jobs: int,
    ) -> None:
        self.variables = [schema.variables[i] for i in usable]
        n_rows = len(columns[0].values)
        self.codes = np.empty((n_rows, len(usable)), np.uint8)
        self.is_state = np.array([isinstance(each, Categorical) for each in self.variables])
        with threads(n_jobs) as spread:
            cuts = list(spread(lambda i: self._cuts(schema, columns, i), usable))
        self._cuts_of = cuts
        n_targets = [
            1 if isinstance(each, Numeric) else min(len(each.counts), N_TARGET_STATES)
            for each in self.variables
        ]
        self.owner = np.repeat(np.arange(len(usable)), n_targets)
        self.targets = np.empty((n_rows, len(self.owner)))
        for v, i in enumerate(usable):
            variable, column = self.variables[v], columns[i]
            if isinstance(variable, Numeric):
                values = numbers(column)
                self.codes[:, v] = np.searchsorted(cuts[v][1], values, side="right")
                self.codes[np.isnan(values), v] = N_BINS
                standard = np.nan_to_num(standardise(values, variable.mean, variable.std))
                found = [np.clip(standard, -TARGET_CLIP, TARGET_CLIP)]
            else:
                known = classes(variable)[codes(variable, column)]
                self.codes[:, v] = np.where(
                    known > min(len(variable.values), N_BINS), N_BINS, known
                )
                found = _indicators(variable, known)
            for place, each in zip(np.flatnonzero(self.owner == v), found, strict=True):
                self.targets[:, place] = np.rint(each * TARGET_SCALE)
        # Codes to split at; where there are very many states, the last one stands for several.
        self.n_splits = np.array(
            [
                len(cuts[v][1])
                if isinstance(each, Numeric)
                else min(len(each.values), N_BINS) - (len(each.values) > N_BINS)
                for v, each in enumerate(self.variables)
            ]
        )

    @staticmethod
    def _cuts(
        schema: Schema, columns: Sequence[Column], i: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the values just below and above each cut of a number."""
        if isinstance(schema.variables[i], Categorical):
            return np.empty(0), np.empty(0)
        values, counts = distinct(columns[i])
        starts = quantile_cuts(counts, N_BINS)
        values = values.astype(np.float64)
        return values[starts - 1], values[starts]

    def split(self, v: int, c: int) -> Split:
        """Say what a split by a code means."""
        variable = self.variables[v]
        if isinstance(variable, Numeric):
            below, above = self._cuts_of[v]
            return Interval(variable.name, high=cut_between(float(below[c]), float(above[c])))
        by_count = np.argsort(-np.array(variable.counts), kind="stable")
        return OneOf(variable.name, (variable.values[by_count[c]],))


def _indicators(variable: Categorical, known: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Give columns for the commonest states, centred, that vary by one together."""
    n_rows = sum(variable.counts)
    shares = np.sort(np.array(variable.counts))[::-1][:N_TARGET_STATES] / n_rows
    scale = 1 / np.sqrt((shares * (1 - shares)).sum())
    present = known < min(len(variable.counts), MAX_CLASSES)
    return [((known == c) - p) * present * scale for c, p in enumerate(shares.tolist())]


def _grow_tree(
    coded: _Coded, members: NDArray[np.int64], targets: NDArray[np.int32], least: int
) -> list[tuple[int, int] | None]:
    """Grow a tree; give its nodes, each before its children, as (variable, code)."""
    from truism import _context_kernels  # compiled code is loaded only for learning

    shape = (len(members), int(coded.codes.max()) + 1, targets.shape[1] + 1)
    remembers = MAX_LEAVES * math.prod(shape) <= MAX_REMEMBERED
    nodes = np.full((2 * MAX_LEAVES - 1, 6), -1)
    _context_kernels.grow(
        coded.codes,
        members,
        coded.is_state,
        coded.n_splits,
        targets,
        least,
        np.arange(len(targets)),
        np.empty((MAX_LEAVES if remembers else 1, *shape), np.int64),
        nodes,
        np.zeros(len(nodes)),
    )
    member, code, child = nodes[:, 3:].T.tolist()
    ordered: list[tuple[int, int] | None] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if child[node] < 0:
            ordered.append(None)
        else:
            ordered.append((int(members[member[node]]), code[node]))
            waiting += [child[node] + 1, child[node]]
    return ordered
