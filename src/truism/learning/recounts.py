"""What a sample proposes, counted in all rows: histograms, spacings, leaves of contexts, predicates."""

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.learning.context_trees import Tree, find_leaves
from truism.learning.counts import PredicateCounts, count_predicates
from truism.learning.leaf_sums import LeafSums, sum_leaves
from truism.learning.spacings import stand_in
from truism.model.evidence import Evidence, Spacing, Split
from truism.model.schema import Numeric, Schema
from truism.scoring.bits import Words
from truism.scoring.readings import Reader
from truism.table.columns import Column, numbers

Counts = NDArray[np.int64]


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
        known[~np.isnan(known)]
        for variable, column in zip(schema.variables, columns, strict=True)
        if isinstance(variable, Numeric)
        for known in [numbers(column)]
    ]
    numeric = [each for each in schema.variables if isinstance(each, Numeric)]
    reader = Reader(schema)
    leaves = find_leaves(schema, proposal.splits, proposal.trees, columns, 1)
    together = (np.zeros(n_rows, np.int64),)
    sums = sum_leaves(proposal.trees, leaves, reader.read(columns), reader, together, 1, 1)
    return Recount(
        count_predicates(true, false, n_rows),
        tuple(
            np.bincount(
                np.searchsorted(each.edges[1:], own, side="right"), minlength=len(each.edges)
            )
            for each, own in zip(numeric, values, strict=True)
        ),
        tuple(
            np.bincount(stand_in(np.array(each.values), own), minlength=len(each.values))
            for each, own in zip(proposal.spacings, values, strict=bool(proposal.spacings))
        ),
        tuple(each for (each,) in sums),
    )
