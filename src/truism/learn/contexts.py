"""The contexts of variables: trees grown on training rows, and what variables are like in their leaves.

Each tree splits by a third of the variables so that all others vary as little as possible. Rows form
blocks, and sums over leaves are kept block by block, so that a block can be left out. Sums are whole
numbers, variables are taken in the order of their names and the sampled rows in an order that their
content gives, so that neither the order of rows or columns nor the number of threads changes what is
learned.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.evidence import LEAF, MAX_CLASSES, Context, Split
from truism.model.predicates import Interval, OneOf, cut_between
from truism.model.schema import Categorical, Numeric, Schema
from truism.score.alignment import Reader, Readings, classes, codes, standardise
from truism.score.contexts import Leaves, Statistics, side_by_side, spreads_to_judge_by
from truism.score.evidence import ROWS_AT_ONCE
from truism.score.truths import Truths
from truism.table.columns import Column, numbers
from truism.table.distinct import distinct
from truism.table.fingerprint import hash_text, mix
from truism.work import Progress, be_silent, share_out

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


class Tree(msgspec.Struct, frozen=True):
    """A grown tree: its nodes as in `Context.tree`, and which variables it is to judge."""

    nodes: tuple[int, ...]
    judged: frozenset[int]


class Grown(msgspec.Struct, frozen=True, eq=False):
    """The trees of contexts, trees × rows the leaf that a row falls into, and rows by their content."""

    splits: tuple[Split, ...]
    trees: tuple[Tree, ...]
    leaves: NDArray[np.uint8]
    by_content: NDArray[np.int64]


def grow(
    schema: Schema,
    columns: Sequence[Column],
    seed: int,
    n_jobs: int,
    progress: Progress = be_silent,
) -> Grown:
    """Grow the trees of all contexts; the seed chooses the variables of each."""
    by_content = np.argsort(content_hash(schema, columns), kind="stable")
    usable = [i for i, each in enumerate(schema.variables) if each.has_spread]
    usable.sort(key=lambda i: schema.variables[i].name)
    groups = _members(usable, seed)
    if not groups:
        return Grown((), (), np.empty((0, len(by_content)), np.uint8), by_content)
    rows = _sampled(by_content)
    n_rows = len(columns[0].values)
    sampled = columns if len(rows) == n_rows else [column.take(rows) for column in columns]
    coded = _Coded(schema, sampled, usable, n_jobs)
    least = max(2, MIN_ROWS * len(rows) // n_rows)
    grown, leaves = [], []
    for done, (nodes, leaf_of) in enumerate(_grow_all(coded, groups, seed, least, n_jobs), 1):
        grown.append(nodes)
        leaves.append(leaf_of)
        progress("contexts", done, len(groups))
    asked = sorted({node for nodes in grown for node in nodes if node is not None})
    number = {node: k for k, node in enumerate(asked)}
    splits = tuple(coded.split(v, c) for v, c in asked)
    trees = tuple(
        Tree(
            tuple(LEAF if node is None else number[node] for node in nodes),
            frozenset(usable) - {usable[v] for v in members.tolist()},
        )
        for nodes, members in zip(grown, groups, strict=True)
    )
    if len(rows) == n_rows:
        return Grown(splits, trees, np.stack(leaves), by_content)
    of_rows = find_leaves(schema, splits, trees, columns, n_jobs)
    return Grown(splits, trees, of_rows, by_content)


def find_leaves(
    schema: Schema,
    splits: Sequence[Split],
    trees: Sequence[Tree],
    columns: Sequence[Column],
    n_jobs: int,
) -> NDArray[np.uint8]:
    """Find the leaf of every tree that each row falls into, as is done for new rows."""
    truths = Truths(schema, splits)
    leaves, n_rows = Leaves([each.nodes for each in trees]), len(columns[0].values)

    def find(start: int) -> NDArray[np.uint8]:
        part = [each.take(slice(start, start + ROWS_AT_ONCE)) for each in columns]
        true, _ = truths.evaluate(part)
        return leaves.find(true, len(part[0].values))

    starts = range(0, n_rows, ROWS_AT_ONCE)
    return np.concatenate(list(share_out(n_jobs, find, starts)), axis=1)


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
        total += mix(bits + hash_text(variable.name))
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
        cuts = list(share_out(n_jobs, lambda i: self._cuts(schema, columns, i), usable))
        self._cuts_of = cuts
        n_targets = [
            1 if isinstance(each, Numeric) else min(len(each.counts), N_TARGET_STATES)
            for each in self.variables
        ]
        self.owner = np.repeat(np.arange(len(usable)), n_targets)
        self.targets = np.empty((len(self.owner), n_rows), np.int32)
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
                self.targets[place] = np.rint(each * TARGET_SCALE)
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
        """Return the values just below and above each cut of a number."""
        if isinstance(schema.variables[i], Categorical):
            return np.empty(0), np.empty(0)
        found = distinct(columns[i])
        starts = found.cuts(N_BINS)
        return found.values[starts - 1], found.values[starts]

    def split(self, v: int, c: int) -> Split:
        """Say what a split by a code means."""
        variable = self.variables[v]
        if isinstance(variable, Numeric):
            below, above = self._cuts_of[v]
            return Interval(variable.name, high=cut_between(float(below[c]), float(above[c])))
        by_count = np.argsort(-np.array(variable.counts), kind="stable")
        return OneOf(variable.name, (variable.values[by_count[c]],))


def _indicators(variable: Categorical, known: NDArray[np.int64]) -> list[NDArray[np.float64]]:
    """Return columns for the commonest states, centred, that vary by one together."""
    n_rows = sum(variable.counts)
    shares = np.sort(np.array(variable.counts))[::-1][:N_TARGET_STATES] / n_rows
    scale = 1 / np.sqrt((shares * (1 - shares)).sum())
    present = known < min(len(variable.counts), MAX_CLASSES)
    return [((known == c) - p) * present * scale for c, p in enumerate(shares.tolist())]


_Grown = tuple[list[tuple[int, int] | None], NDArray[np.uint8]]


def _grow_all(
    coded: _Coded, groups: Sequence[NDArray[np.int64]], seed: int, least: int, n_jobs: int
) -> Iterator[_Grown]:
    """Grow a tree for each group of members; it explains random combinations of all other targets."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (len(coded.targets), N_TARGETS))

    def combine(targets: NDArray[np.bool_]) -> NDArray[np.float64]:
        # Sums of whole numbers, which are exact.
        sums: NDArray[np.float64] = coded.targets[targets].T.astype(np.float64) @ signs[targets]
        return sums

    combined = combine(np.ones(len(signs), np.bool_))

    def grow_one(members: NDArray[np.int64]) -> _Grown:
        explained = combined - combine(np.isin(coded.owner, members))
        return _grow_tree(coded, members, explained.astype(np.int32), least)

    return share_out(n_jobs, grow_one, groups)


class _Node:
    """Rows of a tree that grows, what was counted of them, and their best split."""

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self.rows = rows
        self.table: NDArray[np.int64] | None = None
        self.gain, self.member, self.code = 0.0, -1, -1
        self.children: tuple[_Node, _Node] | None = None


def _grow_tree(
    coded: _Coded, members: NDArray[np.int64], targets: NDArray[np.int32], least: int
) -> _Grown:
    """Grow a tree; return its nodes, each before its children, as (variable, code), and rows' leaves."""
    root = _grow_nodes(coded, members, targets, least, MAX_LEAVES)
    ordered: list[tuple[int, int] | None] = []
    leaf_of, n_leaves = np.empty(len(targets), np.uint8), 0
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.children is None:
            ordered.append(None)
            leaf_of[node.rows] = n_leaves
            n_leaves += 1
        else:
            ordered.append((int(members[node.member]), node.code))
            waiting += node.children[::-1]
    return ordered, leaf_of


def _grow_nodes(
    coded: _Coded,
    members: NDArray[np.int64],
    targets: NDArray[np.int32],
    least: int,
    max_leaves: int,
) -> _Node:
    """Grow a tree best first, as far as there may be leaves; return its root.

    The table of a larger child is that of its parent less its sibling's, if there is room to keep them.
    """
    from truism.learn.kernels import contexts as kernels  # only learning loads compiled code

    shape = (len(members), (int(coded.codes.max()) + 1) * (targets.shape[1] + 1))
    remembers = max_leaves * math.prod(shape) <= MAX_REMEMBERED
    is_state, n_splits = coded.is_state[members], coded.n_splits[members]
    room = np.empty(targets.shape[1]), np.empty(targets.shape[1] + 1)

    def study(node: _Node, table: NDArray[np.int64] | None = None) -> None:
        if table is None:
            table = np.zeros(shape, np.int64)
            kernels.tabulate(coded.codes, members, targets, node.rows, table)
        node.table, n_rows = table if remembers else None, len(node.rows)
        if n_rows >= 2 * least:
            node.gain, node.member, node.code = kernels.best_split(
                table, is_state, n_splits, n_rows, least, *room
            )

    root = _Node(np.arange(len(targets)))
    study(root)
    leaves = [root]
    while len(leaves) < max_leaves:
        node = max(leaves, key=lambda leaf: leaf.gain)  # the first of equals
        if node.gain <= 0.0:
            break
        codes = coded.codes[node.rows, members[node.member]]
        held = codes == node.code if is_state[node.member] else codes <= node.code
        node.children = _Node(node.rows[held]), _Node(node.rows[~held])
        smaller, larger = sorted(node.children, key=lambda child: len(child.rows))
        study(smaller)
        others = None
        if node.table is not None and smaller.table is not None:
            others, node.table = node.table - smaller.table, None
        study(larger, others)
        leaves.remove(node)
        leaves += node.children
    return root


class LeafSums(msgspec.Struct, frozen=True, eq=False):
    """Whole-number sums of one context, by leaf; axes of blocks of rows may stand in front.

    The `sums` are the rows (leaves × 1), of numbers how many are present, their total and their squares
    (leaves × numbers), and how many rows are in each class of states (leaves × classes, with the
    `widths` of the categorical variables side by side).
    """

    tree: tuple[int, ...]
    numbers: tuple[int, ...]
    states: tuple[int, ...]
    widths: tuple[int, ...]
    sums: tuple[NDArray[Any], ...]

    def __add__(self, other: "LeafSums") -> "LeafSums":
        """Return the sums over the rows of both, which are parts of one table and share one context."""
        return msgspec.structs.replace(self, sums=add_all(self.sums, other.sums))

    def without(self, block: int, axis: int) -> "LeafSums":
        """Return the sums over all rows but those of a block, in one of two divisions of the rows."""
        others = tuple(without(of_blocks, block, axis) for of_blocks in self.sums)
        return msgspec.structs.replace(self, sums=others)

    def whole(self) -> "LeafSums":
        """Return the sums over all blocks of two divisions."""
        return msgspec.structs.replace(
            self, sums=tuple(each.sum(axis=(0, 1)) for each in self.sums)
        )

    def statistics(self) -> Statistics:
        """Return the statistics of rows that are not divided into blocks."""
        rows, present, total, squares, state_counts = self.sums
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
        """Return the tree and the statistics of such rows as a value to keep."""
        of, present = self.statistics(), self.sums[1]
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


def add_all(one: Iterable[Any], other: Iterable[Any]) -> tuple[Any, ...]:
    """Add up the results of two parts of a table, one by one."""
    return tuple(a + b for a, b in zip(one, other, strict=True))


def without(counts: NDArray[Any], block: int, axis: int) -> NDArray[Any]:
    """Sum counts by blocks of two divisions of the rows, leaving out one block of one division.

    >>> without(np.array([[[1], [2]], [[4], [5]]]), block=1, axis=0).tolist()
    [3]
    """
    of_blocks: NDArray[Any] = counts.sum(axis=1 - axis)
    return of_blocks.sum(axis=0) - of_blocks[block]  # type: ignore[no-any-return]


def _tuples(table: NDArray[Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(map(tuple, table.tolist()))


def sum_leaves(
    trees: Sequence[Tree],
    leaves: NDArray[np.uint8],
    readings: Readings,
    reader: Reader,
    n_jobs: int,
    blocks: Sequence[NDArray[np.int64]] = (),
    n_blocks: int = 1,
) -> list[LeafSums]:
    """Sum up what the judged variables are like in every leaf of every tree.

    Rows may be divided into so many blocks, in one way or more: `blocks` has the block of each row.
    """
    from truism.learn.kernels import contexts as kernels  # only learning loads compiled code

    shape = (n_blocks,) * len(blocks)
    n_cells = n_blocks ** len(blocks)
    cell_of = np.zeros(leaves.shape[1], np.int64)
    for of_row in blocks:
        cell_of = cell_of * n_blocks + of_row

    def sum_up(tree: Tree, leaf_of: NDArray[np.uint8]) -> LeafSums:
        numbers = [k for k, i in enumerate(reader.numbers) if i in tree.judged]
        states = [k for k, i in enumerate(reader.states) if i in tree.judged]
        wide = np.array([reader.n_classes(k) for k in states], np.int64)
        starts = np.cumsum(wide) - wide
        n_leaves = tree.nodes.count(LEAF)
        n_places = n_cells * n_leaves
        n_rows, sums = np.zeros(n_places), np.zeros((3, n_places, len(reader.numbers)))
        counts = np.zeros((n_places, int(wide.sum())), np.int32)
        judged = readings.classes.T, np.array(states, np.int64), starts
        # All numbers are summed side by side, which is faster than picking those that are judged.
        rows = cell_of * n_leaves + leaf_of, readings.standard, np.float32(SCALE)
        kernels.sum_up(*rows, *judged, n_rows, sums, counts)
        # Unseen cannot occur here, and missing says nothing.
        widths = (wide - 2).tolist()
        seen = side_by_side(starts, widths) if states else np.empty(0, np.int64)
        return LeafSums(
            tree.nodes,
            tuple(reader.numbers[k] for k in numbers),
            tuple(reader.states[k] for k in states),
            tuple(widths),
            tuple(
                each.reshape(*shape, n_leaves, each.shape[-1])
                for each in (
                    n_rows[:, None],
                    *sums[..., numbers],
                    counts[:, seen].astype(np.int64),
                )
            ),
        )

    return list(share_out(n_jobs, sum_up, trees, leaves))
