"""From a table to a model at a given θ: the whole method in a few lines."""

import functools
import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np

from truism.errors import ParameterError, TableError, shorten
from truism.learning import kernels
from truism.learning.candidates import Exceeds, categories, simple_intervals, tree_intervals
from truism.learning.evidence import add_evidence
from truism.learning.kinds import infer
from truism.learning.mining import Budget, mine, minimum_counts, variable_numbers
from truism.learning.rules import merge_units, univariate_rules
from truism.learning.trees import bin_columns, propose
from truism.model.model import Model
from truism.model.predicates import Predicate, order
from truism.model.provenance import Provenance
from truism.model.rules import PredicateCount, RuleSet
from truism.model.schema import Categorical, Schema
from truism.model.settings import Settings, exact
from truism.scoring.bits import count, count_runs
from truism.scoring.truths import Truths
from truism.table.columns import Column, Table
from truism.version import __version__
from truism.work import Progress, be_silent


def learn(
    table: Table,
    settings: Settings | None = None,
    *,
    n_jobs: int = 1,
    progress: Progress = be_silent,
    **changes: Any,
) -> Model:
    """Learn at a given ``min_support``.

    Parameters
    ----------
    table
        Normal rows.
    settings
        How to learn; the defaults when absent, but for ``min_support``, which must be a number.
    n_jobs
        Threads to use; the result does not depend on it.
    progress
        Told the stage, and how much of it is done.
    **changes
        Settings that differ from `settings`.

    Returns
    -------
    Model

    Examples
    --------
    >>> from truism.table.frames import as_table
    >>> normal = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> print(learn(normal, min_support=0.1).rules.sorted_by("chance")[0])
    flow = 0 ⇒ pump = off

    """
    settings = msgspec.structs.replace(settings or Settings(), **changes)
    if settings.min_support == "auto":
        raise ParameterError(
            "min_support must be a number above 0 and below 1 here, got 'auto'.",
            "truism.tuning.tune chooses it.",
        )
    schema = infer_schema(table, settings)
    columns = variable_columns(schema, table)
    min_support = exact(settings.min_support)
    predicates = find_predicates(schema, columns, settings, [min_support], n_jobs, progress)[0]
    model = mine_model(table, schema, predicates, settings, min_support, n_jobs, progress)
    if settings.scoring == "paper":
        return model

    return add_evidence(model, columns, n_jobs, progress)


def infer_schema(table: Table, settings: Settings) -> Schema:
    """Check that a table can be learned from, and infer its variables."""
    if table.n_rows < 2:
        raise TableError(
            f"A table to learn from must have at least 2 rows, got {table.n_rows} sample"
            f"{'' if table.n_rows == 1 else 's'}."
        )
    return infer(
        table,
        categorical=settings.categorical,
        continuous=settings.continuous,
        ignore=settings.ignore,
        time=settings.time,
    )


def variable_columns(schema: Schema, table: Table) -> tuple[Column, ...]:
    """Give the columns of the variables, in the schema's order."""
    column_of = table.column_of()
    return tuple(column_of[name] for name in schema.names)


def find_predicates(
    schema: Schema,
    columns: Sequence[Column],
    settings: Settings,
    min_supports: Sequence[Fraction],
    n_jobs: int,
    progress: Progress,
) -> list[list[Predicate]]:
    """Find the predicates worth mining for several values of θ at once (KDD'23, section 4.1)."""
    progress("compiling", 0, 1)
    kernels.load()
    progress("compiling", 1, 1)
    n_rows = len(columns[0].values)
    exceeds = [Exceeds(min_support, n_rows) for min_support in min_supports]
    if settings.cutoffs == "tree":
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
        numeric = [simple_intervals(schema, columns, settings.cutoffs, each) for each in exceeds]
    return [
        sorted([*found, *categories(schema, columns, each)], key=order)
        for found, each in zip(numeric, exceeds, strict=True)
    ]


def mine_model(
    table: Table,
    schema: Schema,
    predicates: Sequence[Predicate],
    settings: Settings,
    min_support: Fraction,
    n_jobs: int,
    progress: Progress,
) -> Model:
    """Mine the rules among predicates, and put the model together (KDD'23, sections 4.2, 4.3)."""
    true, false = Truths(schema, predicates).evaluate_all(variable_columns(schema, table))
    ratio = exact(settings.ratio)
    mined = mine(
        true,
        false,
        variable_numbers(predicates),
        lambda counts: minimum_counts(counts, table.n_rows, min_support, ratio),
        max_predicates=settings.longest,
        budget=Budget(settings.max_nodes, settings.max_rules, settings.max_seconds),
        n_jobs=n_jobs,
        advance=functools.partial(progress, "mining"),
    )
    # Rules without an antecedent come first in the canonical order.
    rules = (*univariate_rules(schema, table.n_rows), *merge_units(mined.rules, predicates))
    counted = tuple(
        PredicateCount(predicate, *numbers)
        for predicate, *numbers in zip(
            predicates,
            count(true).tolist(),
            count(false).tolist(),
            count_runs(false).tolist(),
            strict=True,
        )
    )
    provenance = Provenance(
        version=__version__,
        n_rows=table.n_rows,
        n_columns=len(table.columns),
        fingerprint=fingerprint(table),
        min_support=float(min_support),
        complete_to=mined.complete_to,
        notices=_notices(schema, settings, mined.complete_to),
        columns=table.names,
    )
    return Model(
        schema,
        RuleSet(rules, table.n_rows, counted),
        settings,
        provenance,
        threshold_meaning="any broken rule",
    )


def _notices(schema: Schema, settings: Settings, complete_to: int) -> tuple[str, ...]:
    notices = [f"Column {each.name!r} is left out: {each.reason}." for each in schema.left_out]
    fractions = [
        each.name
        for each in schema.variables
        if isinstance(each, Categorical)
        and any(isinstance(value, float) and not value.is_integer() for value in each.values)
        and each.name not in settings.categorical
    ]
    if fractions:
        notices.append(
            f"Learned as states, having few different numbers: {shorten(fractions)}; name as "
            f"continuous what is a quantity."
        )
    if complete_to < settings.longest - 1:
        notices.append(
            f"The search budget was reached: rules with up to {complete_to} of "
            f"{settings.longest - 1} conditions are complete, longer ones are left out."
        )
    return tuple(notices)


def fingerprint(table: Table) -> str:
    """Digest names, values and missing values, so that a model can be matched with its table."""
    digest = hashlib.blake2b(digest_size=16)
    for column in table.columns:
        digest.update(repr((column.name, column.kind, column.categories)).encode())
        digest.update(np.ascontiguousarray(column.values).tobytes())
        if column.missing is not None:
            digest.update(np.packbits(column.missing).tobytes())
    return digest.hexdigest()
