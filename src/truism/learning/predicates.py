"""The predicates of all variables at given values of θ (KDD'23, section 4.1)."""

import functools
from collections.abc import Sequence
from fractions import Fraction

from truism.learning import kernels
from truism.learning.candidates import Exceeds, categories, simple_intervals, tree_intervals
from truism.learning.trees import bin_columns, propose
from truism.model.predicates import Predicate, order
from truism.model.schema import Schema
from truism.model.settings import Cutoffs
from truism.table.columns import Column
from truism.work import Progress


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
