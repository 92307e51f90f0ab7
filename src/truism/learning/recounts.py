"""What a sample proposes, counted in all rows: histograms, spacings, leaves of contexts, predicates."""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Counts
from truism.learning.context_trees import Tree, find_leaves
from truism.learning.counts import PredicateCounts, count_predicates
from truism.learning.leaf_sums import LeafSums, sum_leaves
from truism.learning.spacings import borders
from truism.model.evidence import Evidence, Spacing, Split
from truism.model.schema import Numeric, Schema
from truism.scoring import kernels
from truism.scoring.bits import Words
from truism.scoring.readings import Reader
from truism.table.columns import Column, numbers


class Proposal(msgspec.Struct, frozen=True, eq=False):
    """What is to be counted: of each number its histogram and its spacing, and trees of contexts."""

    schema: Schema
    spacings: tuple[Spacing, ...]
    splits: tuple[Split, ...]
    trees: tuple[Tree, ...]


class Recount(msgspec.Struct, frozen=True, eq=False):
    """Exact counts of a proposal, in a part of a table."""

    predicates: PredicateCounts
    histograms: tuple[Counts, ...]
    knots: tuple[Counts, ...]
    leaves: tuple[LeafSums, ...]

    def __add__(self, other: "Recount") -> "Recount":
        """Return the counts of these rows followed by others."""

        def both(one: Sequence[Counts], two: Sequence[Counts]) -> tuple[Counts, ...]:
            return tuple(a + b for a, b in zip(one, two, strict=True))

        return Recount(
            self.predicates + other.predicates,
            both(self.histograms, other.histograms),
            both(self.knots, other.knots),
            tuple(a + b for a, b in zip(self.leaves, other.leaves, strict=True)),
        )

    def schema(self, schema: Schema) -> Schema:
        """Return a schema with these histograms."""
        found = iter(self.histograms)
        variables = tuple(
            msgspec.structs.replace(each, counts=tuple(next(found).tolist()))
            if isinstance(each, Numeric)
            else each
            for each in schema.variables
        )
        return msgspec.structs.replace(schema, variables=variables)

    def evidence(self, proposed: Evidence, spacings: Sequence[Spacing]) -> Evidence:
        """Return evidence with these spacings and contexts."""
        return msgspec.structs.replace(
            proposed,
            spacings=tuple(
                msgspec.structs.replace(spacing, counts=tuple(counts.tolist()))
                for spacing, counts in zip(spacings, self.knots, strict=True)
            ),
            contexts=tuple(each.context() for each in self.leaves),
        )


def recount(proposal: Proposal, columns: Sequence[Column], true: Words, false: Words) -> Recount:
    """Count a proposal in a part of a table.

    Parameters
    ----------
    proposal
        What to count.
    columns
        The rows, one column for each variable.
    true, false
        In which of them each predicate holds and fails, packed.

    """
    schema, n_rows = proposal.schema, len(columns[0].values)
    values = [
        np.sort(known[~np.isnan(known)])
        for variable, column in zip(schema.variables, columns, strict=True)
        if isinstance(variable, Numeric)
        for known in [numbers(column)]
    ]
    numeric = [each for each in schema.variables if isinstance(each, Numeric)]
    reader = Reader(schema)
    leaves = find_leaves(schema, proposal.splits, proposal.trees, columns, 1)
    together = (np.zeros(n_rows, np.int64),)
    readings = reader.read(columns, compiled=kernels.pay(n_rows, len(columns) * len(leaves)))
    sums = sum_leaves(proposal.trees, leaves, readings, reader, together, 1, 1)
    return Recount(
        count_predicates(true, false, n_rows),
        tuple(
            count_between(own, np.array(each.edges[1:]), side="left")
            for each, own in zip(numeric, values, strict=True)
        ),
        tuple(
            count_between(own, borders(np.array(each.values)), side="right")
            for each, own in zip(proposal.spacings, values, strict=bool(proposal.spacings))
        ),
        tuple(each for (each,) in sums),
    )


def count_between(
    ascending: NDArray[np.float64], cuts: NDArray[np.float64], side: Literal["left", "right"]
) -> Counts:
    """Count values below the first of some cuts, between them, and above the last.

    Values come sorted: that is faster than to search for the place of each. A value that equals a cut
    counts above it with `side` left, else below.

    >>> count_between(np.array([1.0, 2.0, 2.0, 5.0]), np.array([2.0, 3.0]), side="left").tolist()
    [1, 2, 1]
    """
    below = np.searchsorted(ascending, cuts, side=side)
    return np.diff(below, prepend=0, append=len(ascending))
