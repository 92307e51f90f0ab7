"""Training rows like one that is explained, described by few conditions: nodes of contexts.

The condition of a context is the path to a leaf. Its beginning leads to an inner node, whose statistics
are sums over the leaves below, and often tells nearly as much; so does a shorter path in another context.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats
from truism.model.evidence import LEAF, Context, Evidence
from truism.model.predicates import Interval
from truism.model.schema import Schema
from truism.score.contexts import (
    FLOOR,
    PSEUDO_COUNT,
    Statistics,
    cautious_spreads,
    spreads_where_known,
    statistics_of,
    surprise,
)

KEPT = (
    0.8  # share of the evidence that counts, the mean of all contexts, that a condition has to keep
)
SPREADS = 2.0  # from the mean: what lies within that is usual

Integers = NDArray[np.int64]


class Nodes(msgspec.Struct, frozen=True, eq=False):
    """The nodes of a context's tree, the root first."""

    # the splits on the way to each node, and whether each holds there
    answers: tuple[tuple[tuple[int, bool], ...], ...]
    # for each leaf the nodes on the way to it, its own repeated to fill the row: leaves × steps
    paths: Integers
    # how many bounds the path to each node sets to each variable, two at most: nodes × variables
    asks: Integers
    # those of the leaves below each node, added up; means and spreads are of the rows that have the
    # number
    statistics: Statistics
    known: Integers  # how many these are: nodes × numbers


def nodes_of_all(schema: Schema, evidence: Evidence) -> list[Nodes]:
    """Return the nodes of every context."""
    place_of = {name: place for place, name in enumerate(schema.names)}
    asked = [(place_of[split.variable], isinstance(split, Interval)) for split in evidence.splits]
    return [_nodes_of(context, asked, len(place_of)) for context in evidence.contexts]


def _nodes_of(context: Context, asked: Sequence[tuple[int, bool]], n_variables: int) -> Nodes:
    """Return the nodes of a context, given each split's variable, and whether that is a number."""
    answers: list[tuple[tuple[int, bool], ...]] = []
    spans: list[tuple[int, int]] = []
    paths: list[tuple[int, ...]] = []
    nodes = iter(context.tree)

    def visit(before: tuple[tuple[int, bool], ...], above: tuple[int, ...]) -> None:
        split, node, first = next(nodes), len(answers), len(paths)
        answers.append(before)
        spans.append((first, first))
        if split == LEAF:
            paths.append((*above, node))
        else:
            visit((*before, (split, True)), (*above, node))
            visit((*before, (split, False)), (*above, node))
        spans[node] = (first, len(paths))

    visit((), ())
    deepest = max(map(len, paths))
    asks = np.zeros((len(answers), n_variables), np.int64)
    for node, path in enumerate(answers):
        bounds = {
            (i, is_number and holds) for split, holds in path for i, is_number in [asked[split]]
        }
        np.add.at(asks[node], [i for i, _ in bounds], 1)
    return Nodes(
        tuple(answers),
        np.array([(*path, *path[-1:] * (deepest - len(path))) for path in paths], np.int64),
        asks,
        *_added(context, np.array(spans, np.int64)),
    )


def _added(context: Context, spans: Integers) -> tuple[Statistics, Integers]:
    """Add up the statistics of the leaves from `spans[:, 0]` to before `spans[:, 1]`."""
    leaves = statistics_of(context)
    rows = np.broadcast_to(leaves.counts[:, None], leaves.means.shape)
    weights = np.array(context.known, np.float64) if context.known else rows.astype(np.float64)
    spreads_there = spreads_where_known(leaves.spreads, weights, rows)

    def total(of_leaves: NDArray[np.generic]) -> Floats:
        padded = np.concatenate([of_leaves, np.zeros_like(of_leaves[:1])]).astype(np.float64)
        sums: Floats = np.add.reduceat(padded, spans.ravel(), axis=0)[::2]
        return sums

    known = total(weights)
    divisors = np.maximum(known, 1.0)
    means = total(weights * leaves.means) / divisors
    squares = total(weights * (spreads_there**2 + leaves.means**2)) / divisors
    # A leaf's own spread is exact; the difference of two squares is not.
    alone = spans[:, 1] - spans[:, 0] == 1
    spreads = np.sqrt(np.maximum(squares - means**2, 0.0))
    means[alone], spreads[alone] = leaves.means, spreads_there
    statistics = Statistics(
        leaves.numbers,
        leaves.states,
        total(leaves.counts).astype(np.int64),
        means,
        spreads,
        leaves.widths,
        total(leaves.state_counts).astype(np.int64),
    )
    return statistics, known.astype(np.int64)


Node = tuple[int, int]
"""A context and a node of it, by their places."""


class Chooser:
    """Chooses the shortest condition under which a value is unusual, for some rows.

    A condition on one of the suspects themselves, `blamed`, counts twice; so does one with two bounds,
    which is narrow.
    """

    def __init__(
        self,
        nodes: Sequence[Nodes],
        leaves: NDArray[np.uint8],
        blamed: NDArray[np.bool_],
    ) -> None:
        self.nodes = nodes
        self._paths = [nodes.paths[leaf] for nodes, leaf in zip(self.nodes, leaves, strict=True)]
        self._lengths = [
            np.take_along_axis(
                nodes.asks.sum(axis=1) + blamed.astype(np.int64) @ nodes.asks.T, path, 1
            )
            for nodes, path in zip(self.nodes, self._paths, strict=True)
        ]
        self._cautious = [
            cautious_spreads(nodes.statistics.spreads, nodes.known) for nodes in self.nodes
        ]

    def choose_for_number(self, i: int, standard: Floats) -> list[Node]:
        """Choose for a number, given its standardised values, a node with rows that have it."""
        against_of, clear, asked = [], [], []
        for k, nodes in enumerate(self.nodes):
            statistics, path = nodes.statistics, self._paths[k]
            if i not in statistics.numbers:
                continue
            at = statistics.numbers.index(i)
            distance = standard[:, None] - statistics.means[path, at]
            asked.append(k)
            against = np.nan_to_num(surprise(distance / self._cautious[k][path, at]))
            against_of.append(np.where(nodes.known[path, at] > 0, against, 0.0))
            reach = np.maximum(SPREADS * statistics.spreads[path, at], FLOOR)
            clear.append(np.abs(distance) > reach)
        return self._shortest(asked, against_of, clear)

    def choose_for_state(self, i: int, classes: Integers) -> list[Node]:
        """Choose for a state, given its classes; those beyond the counted ones were never seen."""
        against_of, clear, asked = [], [], []
        for k, nodes in enumerate(self.nodes):
            statistics, path = nodes.statistics, self._paths[k]
            if i not in statistics.states:
                continue
            counts = counts_of(statistics, i)
            padded = np.concatenate([counts, np.zeros((len(counts), 2), np.int64)], axis=1)
            rows, n_own = counts.sum(axis=1)[path], padded[path, classes[:, None]]
            share = padded[0, classes] / max(int(counts[0].sum()), 1)
            by_chance = np.where(padded[0, classes] > 0, share, 1.0)[:, None] * rows
            surprising = np.log((by_chance + PSEUDO_COUNT) / (n_own + PSEUDO_COUNT))
            asked.append(k)
            against_of.append(np.maximum(surprising, 0.0))
            clear.append(2 * n_own < rows)
        return self._shortest(asked, against_of, clear)

    def _shortest(
        self,
        asked: Sequence[int],
        against_of: Sequence[Floats],
        clear: Sequence[NDArray[np.bool_]],
    ) -> list[Node]:
        """Choose among the paths of some contexts, by length and then by evidence."""
        steps = max(values.shape[1] for values in against_of)
        evidence = np.stack([_padded(values, steps) for values in against_of])
        is_clear = np.stack([_padded(values, steps) for values in clear])
        lengths = np.stack([_padded(self._lengths[k], steps) for k in asked])
        strongest = evidence[:, :, -1].argmax(axis=0)
        every = np.arange(evidence.shape[1])
        may = evidence >= KEPT * evidence[:, :, -1].mean(axis=0)[None, :, None]
        may &= is_clear | ~is_clear[strongest, every, -1][None, :, None]
        # Shorter first, then stronger; the strongest leaf is always among those that may be chosen.
        cost = np.where(may, lengths - evidence / (1.0 + evidence.max(initial=0.0)), np.inf)
        flat = cost.transpose(1, 0, 2).reshape(len(every), -1).argmin(axis=1)
        which, step = np.divmod(flat, steps)
        nodes = np.empty(len(every), np.int64)
        for place, k in enumerate(asked):
            rows = np.flatnonzero(which == place)
            path = self._paths[k]
            nodes[rows] = path[rows, np.minimum(step[rows], path.shape[1] - 1)]
        contexts = np.array(asked, np.int64)[which]
        return list(zip(contexts.tolist(), nodes.tolist(), strict=True))


def counts_of(statistics: Statistics, i: int, node: int | slice = slice(None)) -> Integers:
    """Return how many rows of each node, or of one, have each class of states of a variable."""
    at = statistics.states.index(i)
    first = sum(statistics.widths[:at])
    return statistics.state_counts[node, first : first + statistics.widths[at]].astype(np.int64)


def _padded(values: NDArray[Any], steps: int) -> NDArray[Any]:
    """Repeat the last column, so that there are so many."""
    more = steps - values.shape[1]
    return np.concatenate([values, np.repeat(values[:, -1:], more, axis=1)], axis=1)
