"""Checks of evidence, memory and acceptances of a model file: what is wrong with them, and where."""

import datetime
import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from truism.model.acceptances import Acceptance, Condition
from truism.model.evidence import CLIP, LEAF, MAX_CLASSES, MIN_UNIT, Context, Evidence
from truism.model.predicates import AnyOf, Interval, OneOf
from truism.model.schema import MAX_COUNT, Categorical, Numeric, Schema, Variable
from truism.model.series import Memory


def find_unacceptable(schema: Schema, accepted: Sequence[Acceptance]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with acceptances that were read from a file: each problem and its place."""
    if not accepted or len({each.id for each in accepted}) < len(accepted):
        yield "an acceptance is missing or listed twice", "$.accepted"
    variable_of = schema.variable_of()
    for i, acceptance in enumerate(accepted):
        where = f"$.accepted[{i}]"
        if not acceptance.reason or not acceptance.conditions:
            yield "an acceptance has no reason or no condition", where
        if not 0 <= acceptance.n_rows <= MAX_COUNT or not _is_date(acceptance.until):
            yield "out of range", where
        names = acceptance.variables
        if not names or len({*names}) < len(names) or not {*names} <= {*schema.names}:
            yield "a variable is missing, unknown or listed twice", where
        for part in _parts_of(acceptance.conditions):
            if not _fits(part, variable_of.get(part.variable)):
                yield f"a condition does not fit {part.variable!r}", where


def _is_date(text: str | None) -> bool:
    try:
        return text is None or bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False


def _parts_of(conditions: Sequence[Condition]) -> Iterator[Interval | OneOf]:
    for each in conditions:
        yield from each.parts if isinstance(each, AnyOf) else (each,)


def _fits(part: Interval | OneOf, variable: Variable | None) -> bool:
    """Return whether a condition can be about a variable."""
    if isinstance(part, Interval):
        return isinstance(variable, Numeric)
    held = {str: "text", bool: "boolean", int: "number", float: "number"}
    return isinstance(variable, Categorical) and all(
        held[type(each)] == variable.holds for each in part.values
    )


def find_faults(schema: Schema, evidence: Evidence, n_rows: int) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with evidence that was read from a file: each problem and its place."""
    numeric = [each for each in schema.variables if isinstance(each, Numeric)]
    if [each.name for each in numeric] != [each.variable for each in evidence.spacings]:
        yield "spacings and numeric variables differ", "$.spacings"
        return
    for i, (variable, spacing) in enumerate(zip(numeric, evidence.spacings, strict=True)):
        ascending = all(a < b for a, b in itertools.pairwise(spacing.values))
        right = (
            len(spacing.values) == len(spacing.counts)
            and min(spacing.counts, default=0) > 0
            and sum(spacing.counts) == n_rows - variable.n_missing
        )
        if not (ascending and right and np.isfinite(spacing.values).all()):
            yield "values and counts do not fit", f"$.spacings[{i}]"
        if not 1 <= spacing.near <= MAX_COUNT or not 0 < spacing.spread < np.inf:
            yield "out of range", f"$.spacings[{i}]"
    variable_of = schema.variable_of()
    states_of = {each.name: set(each.values) for each in _categorical(schema)}
    for i, split in enumerate(evidence.splits):
        of = variable_of.get(split.variable)
        if isinstance(split, Interval):
            right = isinstance(of, Numeric) and split.low == -np.inf
        else:
            right = isinstance(of, Categorical) and set(split.values) <= states_of[of.name]
        if not right:
            yield "it does not fit its variable", f"$.splits[{i}]"
    judged = {kind: _judged(schema, kind) for kind in (Numeric, Categorical)}
    for i, context in enumerate(evidence.contexts):
        if not _is_sound(context, schema, judged, len(evidence.splits), n_rows):
            yield "tree and statistics do not fit", f"$.contexts[{i}]"
    sound = all(each.mean >= 0 and 0 < each.spread < np.inf for each in evidence.usual)
    if len(evidence.usual) != len(schema.variables) or not sound:
        yield "it does not fit the variables", "$.usual"
    for unit in (evidence.contradiction_unit, evidence.rarity_unit):
        if not MIN_UNIT <= unit < np.inf:
            yield "out of range", "$.units"
    if evidence.grave is not None:
        for number in (evidence.grave.worth, evidence.grave.score):
            if not 0 <= number < np.inf:
                yield "out of range", "$.grave"


def find_memory_faults(schema: Schema, memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a memory that was read from a file: each problem and its place."""
    of_variables = (
        *(memory.usual, memory.highest, memory.stray),
        *(memory.longest, memory.absent, memory.rest),
    )
    if any(len(values) != len(schema.variables) for values in of_variables):
        yield "it does not fit the variables", "$.series.memory"
    tail = memory.tail
    sound = 0 < tail.scale < np.inf and 0 <= tail.level < np.inf
    if not (sound and 0 <= tail.n_incidents <= tail.n_rows and tail.n_rows >= 1):
        yield "out of range", "$.series.memory.tail"


def _categorical(schema: Schema) -> list[Categorical]:
    return [each for each in schema.variables if isinstance(each, Categorical)]


def _judged(schema: Schema, kind: type[Variable]) -> frozenset[int]:
    """Return the positions of the variables of a kind that contexts say something about."""
    return frozenset(
        i for i, each in enumerate(schema.variables) if isinstance(each, kind) and each.has_spread
    )


def _is_sound(
    context: Context,
    schema: Schema,
    judged: Mapping[type[Variable], frozenset[int]],
    n_splits: int,
    n_rows: int,
) -> bool:
    """Return whether a context has a complete tree, and statistics of the right shape."""
    n_open = 1
    for node in context.tree:
        if not (LEAF <= node < n_splits and n_open > 0):
            return False
        n_open += -1 if node == LEAF else 1
    n_leaves = context.tree.count(LEAF)
    shape = (n_leaves, len(context.numbers))
    if n_open or n_leaves > 256 or len(context.counts) != n_leaves:
        return False
    for positions, kind in ((context.numbers, Numeric), (context.states, Categorical)):
        if not set(positions) <= judged[kind] or len(set(positions)) != len(positions):
            return False
    for table in (context.means, context.spreads, context.state_counts):
        if len(table) != n_leaves:
            return False
    if any(len(row) != shape[1] for row in (*context.means, *context.spreads)):
        return False
    means, spreads = np.array(context.means), np.array(context.spreads)
    if not (abs(means) <= CLIP).all():
        return False
    if not ((spreads >= 0) & (spreads <= 2 * CLIP)).all():
        return False
    if context.known and [len(leaf) for leaf in context.known] != [shape[1]] * n_leaves:
        return False
    for leaf, n_like in zip(context.known, context.counts, strict=False):
        if not all(0 <= n <= n_like for n in leaf):
            return False
    judged_states = [schema.variables[i] for i in context.states]
    widths = [min(len(each.counts), MAX_CLASSES) for each in judged_states]
    states = all([len(each) for each in leaf] == widths for leaf in context.state_counts)
    counted = [n for leaf in context.state_counts for each in leaf for n in each]
    possible = all(0 <= n <= n_rows for n in (*counted, *context.counts))
    return states and possible and sum(context.counts) == n_rows
