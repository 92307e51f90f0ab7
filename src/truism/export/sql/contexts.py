"""What a variable is usually like, given the others, as levels: `truism.scoring.contexts` in SQL.

The leaf that a row falls into is a column for each context. Its statistics stand in a small table, which
is joined; level by level, one context after the other multiplies what it says of each number into a
product and adds what it says of each state to a sum. Python weighs contexts in single precision, SQL in
double; so scores agree to about six digits.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from truism.export.sql.conditions import Conditions, states
from truism.export.sql.dialects import number
from truism.export.sql.levels import Column, Level, Lines, Listing, column, indented
from truism.model.evidence import CLIP, LEAF, Context, Evidence
from truism.model.schema import Categorical, Numeric, Scalar
from truism.scoring.alignment import MISSING, UNSEEN
from truism.scoring.contexts import (
    OWN_SHARE,
    TAIL,
    cautious_spreads,
    state_evidence,
    statistics_of,
)
from truism.scoring.readings import classes

_FLUSH = 6  # products of so many factors cannot overflow


class Contexts:
    """Writes the contexts of a model.

    Parameters
    ----------
    conditions
        The readings.
    evidence
        What was learned.

    """

    def __init__(self, conditions: Conditions, evidence: Evidence) -> None:
        self._conditions = conditions
        self._evidence = evidence
        times = np.zeros(len(conditions.schema.variables) + 1, np.int64)
        for each in evidence.contexts:
            times[[i + 1 for i in (*each.numbers, *each.states)]] += 1
        self._times: list[int] = times.tolist()
        judged = [i for i, n in enumerate(self._times) if n]
        every = conditions.schema.variables
        self.numbers = [i for i in judged if isinstance(every[i - 1], Numeric)]
        self.states = [i for i in judged if isinstance(every[i - 1], Categorical)]

    def levels(self, source: str, kept: Sequence[str]) -> tuple[list[Level | Listing], list[str]]:
        """Return the levels, the last of which holds ``c1``, …, and the variables that have one."""
        leaves = Level("truism_leaves", tuple(self._leaf_columns()), source, keeps=True)
        found: list[Level | Listing] = [leaves]
        sums = {f"t{i}": number(0.0) for i in (*self.numbers, *self.states)}
        sums |= {f"q{i}": number(1.0) for i in self.numbers}
        n = len(self._evidence.contexts)
        before = leaves.name
        for k, context in enumerate(self._evidence.contexts, 1):
            table = self._table(k, context)
            judged = dict(self._judged(context, sums))
            if k % _FLUSH == 0 or k == n:
                judged |= {
                    f"t{i}": f"{sums[f't{i}']} + LN({judged[f'q{i}']})" for i in self.numbers
                }
                judged |= {f"q{i}": number(1.0) for i in self.numbers}
            ahead = [f"l{j}" for j in range(k + 1, n + 1)]
            carried = [*kept, *self._own_readings(), *ahead] if k < n else [*kept, *self._z()]
            if k == n:
                judged = {name: text for name, text in judged.items() if name[0] == "t"}
            columns = [column(each, each) for each in carried]
            columns += [column(text, name) for name, text in judged.items()]
            source = f"{before} JOIN {table.name} ON l{k} = leaf"
            found += [table, Level(f"truism_judged{k}", tuple(columns), source)]
            before = f"truism_judged{k}"
            sums = {name: name for name in sums}
        found.append(Level("truism_contradicted", tuple(self._against(kept)), before))
        return found, [f"c{i}" for i in (*self.numbers, *self.states)]

    def _z(self) -> list[str]:
        return [f"z{i}" for i in self.numbers]

    def _own_readings(self) -> list[str]:
        return [*self._z(), *(f"h{i}" for i in self.states)]

    def _leaf_columns(self) -> Iterator[Column]:
        """Return standardised numbers, classes of states, and the number of each context's leaf."""
        for i in self.numbers:
            variable = self._conditions.schema.variables[i - 1]
            assert isinstance(variable, Numeric)
            yield Column((_standard(f"v{i}", variable),), f"z{i}", variable.name)
        for i in self.states:
            variable = self._conditions.schema.variables[i - 1]
            assert isinstance(variable, Categorical)
            yield Column(self._class(f"v{i}", variable), f"h{i}", variable.name)
        for k, context in enumerate(self._evidence.contexts, 1):
            yield Column(self._leaf(context.tree), f"l{k}", f"the leaf of context {k}")

    def _class(self, value: str, variable: Categorical) -> Lines:
        ranks = classes(variable).tolist()
        listed: dict[int, list[Scalar]] = {}
        for state, rank in zip(variable.values, ranks, strict=False):
            if rank != ranks[UNSEEN]:
                listed.setdefault(rank, []).append(state)
        arms = [f"WHEN {value} IS NULL THEN {ranks[MISSING]}"]
        arms += [
            f"WHEN {states(self._conditions.dialect, value, those)} THEN {rank}"
            for rank, those in listed.items()
        ]
        return ("CASE", *indented(arms), f"ELSE {ranks[UNSEEN]} END")

    def _leaf(self, tree: Sequence[int]) -> Lines:
        """Write a tree: a value that is missing goes where the split does not hold."""
        nodes = iter(tree)
        n_leaves = 0

        def below() -> Lines:
            nonlocal n_leaves
            split = next(nodes)
            if split == LEAF:
                n_leaves += 1
                return (str(n_leaves - 1),)
            holds = self._conditions.written(self._evidence.splits[split])
            yes, no = below(), below()
            return (f"CASE WHEN {holds} THEN", *indented(yes), "ELSE", *indented(no), "END")

        return below()

    def _table(self, k: int, context: Context) -> Listing:
        """Return the table of a context's leaves: scale and shift of numbers, evidence of states."""
        statistics = statistics_of(context)
        scale = 1 / (np.sqrt(TAIL) * cautious_spreads(statistics))
        shift = statistics.means * scale
        names = ["leaf"]
        columns: list[list[str]] = [[str(leaf) for leaf in range(len(context.counts))]]
        for place, i in enumerate(context.numbers):
            names += [f"a{i + 1}", f"b{i + 1}"]
            columns += [_single(scale[:, place]), _single(shift[:, place])]
        for i, rank, evidence in _state_columns(context):
            names.append(f"e{i + 1}_{rank}")
            columns.append(_single(evidence))
        rows = tuple(zip(*columns, strict=True))
        return Listing(f"truism_context{k}", tuple(names), rows)

    def _judged(self, context: Context, sums: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Return the sums and products so far, with what one context says."""
        ranks_of: dict[int, list[int]] = {}
        for i, rank, _ in _state_columns(context):
            ranks_of.setdefault(i + 1, []).append(rank)
        own = {i + 1 for i in context.numbers}
        for i in self.numbers:
            distance = f"POWER(z{i} * a{i} - b{i}, 2)"
            factor = f"({number(1.0)} + {distance})"
            so_far = sums[f"q{i}"]
            yield f"q{i}", f"{so_far} * {factor}" if i in own else so_far
            yield f"t{i}", sums[f"t{i}"]
        for i in self.states:
            arms = " ".join(f"WHEN {rank} THEN e{i}_{rank}" for rank in ranks_of.get(i, ()))
            case = f"CASE h{i} {arms} ELSE {number(0.0)} END"
            yield f"t{i}", f"{sums[f't{i}']} + {case}" if arms else sums[f"t{i}"]

    def _against(self, kept: Sequence[str]) -> Iterator[Column]:
        """Return the evidence against each variable, beyond what the value is in itself."""
        for each in kept:
            yield column(each, each)
        for i in self.numbers:
            mean = f"t{i} * {number((TAIL + 1) / 2 / self._times[i])}"
            own = f"LN(POWER(z{i}, 2) / {number(TAIL)} + {number(1.0)})"
            beyond = f"{mean} - {number(OWN_SHARE * (TAIL + 1) / 2)} * {own}"
            # A missing number contradicts nothing.
            yield column(f"GREATEST(COALESCE({beyond}, {number(0.0)}), {number(0.0)})", f"c{i}")
        for i in self.states:
            yield column(f"t{i} / {number(self._times[i])}", f"c{i}")


def _standard(value: str, variable: Numeric) -> str:
    """Write a number in standard deviations from its mean, at most `CLIP`."""
    std = variable.std or 1.0
    distance = f"({value} * 0.5e0 - {number(variable.mean * 0.5)}) / {number(std)} * 2e0"
    low, high = variable.mean - CLIP * std, variable.mean + CLIP * std
    far = [
        f"WHEN {value} {sign} {number(bound)} THEN {number(limit)} "
        for sign, bound, limit in (("<", low, -CLIP), (">", high, CLIP))
        if np.isfinite(bound)
    ]
    return f"CASE {''.join(far)}ELSE {distance} END" if far else distance


def _state_columns(context: Context) -> Iterator[tuple[int, int, NDArray[np.float64]]]:
    """Return variable, class and evidence in each leaf, where any leaf has some."""
    if not context.states:
        return
    statistics = statistics_of(context)
    known, unseen = state_evidence(statistics.state_counts.astype(np.float64), statistics.widths)
    start = 0
    for place, (i, width) in enumerate(zip(context.states, statistics.widths, strict=True)):
        for rank in range(width):
            if known[:, start + rank].any():
                yield i, rank, known[:, start + rank]
        yield i, width, unseen[:, place]
        start += width


def _single(values: NDArray[np.float64]) -> list[str]:
    """Write numbers with the digits of single precision, which is how Python holds them."""
    return [number(float(str(each))) for each in values.astype(np.float32)]
