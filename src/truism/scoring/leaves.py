"""The leaf of every context that a row falls into: truths of splits go in, numbers of leaves come out."""

import functools
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from truism.model.evidence import LEAF
from truism.scoring.bits import Words, n_words
from truism.scoring.scratch import FRESH, Fresh


class Leaves:
    """Finds the leaf of every context that a row falls into, for all contexts and rows at once.

    The rows of a node are packed bits: the rows of its parent that satisfy a split, or that do not. The
    number of a leaf is then assembled from its binary digits.

    Parameters
    ----------
    n_splits
        How many splits there are.
    trees
        See `Context.tree`.

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

    def find(
        self, true: Words, n_rows: int, *, compiled: bool = False, memory: Fresh = FRESH
    ) -> NDArray[np.uint8]:
        """Return the leaf of every context and row, given in which rows each split holds."""
        if compiled:
            from truism.scoring.kernels import contexts  # the compiler, only where it pays

            walked = memory.empty("leaves", (self.n_trees, 8 * n_words(n_rows)), np.uint64)
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
