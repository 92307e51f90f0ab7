"""How unusual rows are: a `Model` and a table go in, scores and violations come out.

Under evidence scoring a row's score is the sum over variables of two parts, see `truism.evidence`.
The paper's score (KDD'23, section 5.1, algorithm 3): a violated unit rule adds its support times the
degree by which its consequent fails. All unit rules with the same consequent share the degree, so
their counts are summed first, in whole numbers: neither the order of the rules nor the size of a
block changes a bit of the result. Everything is vectorised over rules and rows on packed truth
vectors; no compiled code is needed.
"""

import functools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.bits import Words, unpack
from truism.contexts import Readings
from truism.evidence import RARITY_WEIGHT, ROWS_AT_ONCE, Witness, habit_worth, rule_worth
from truism.model import Model
from truism.predicates import (
    MAX_DEGREE,
    MIN_DEGREE,
    AnyOf,
    Interval,
    OneOf,
    Predicate,
    Present,
    Range,
    variables,
)
from truism.rules import Rule
from truism.schema import UNSEEN, Categorical, Numeric, align, codes, numbers
from truism.table import Column, Table
from truism.truths import BLOCK_ROWS, Truths

MAX_WORDS = 1 << 20  # truth words of rules that are held at a time


class Violation(msgspec.Struct, frozen=True):
    """One predicate of one rule that a row fails although the rule's antecedent holds.

    Parameters
    ----------
    rule
        The broken rule.
    failed
        The consequent that does not hold.
    found
        The row's own values of the consequent's variables; None where missing.
    penalty
        What this adds to the row's score; under evidence scoring, what it would add if nothing
        stronger contradicted the variable.

    """

    rule: Rule
    failed: Predicate
    found: tuple[Any, ...]
    penalty: float


class Weighed(msgspec.Struct, frozen=True, eq=False):
    """The evidence against some rows, in units of the score, and where it comes from.

    Parameters
    ----------
    contradictions, rarities
        The two parts of the score: rows × variables.
    in_context
        What the contradictions would be without rules.
    leaves, readings
        What the contexts saw.

    """

    contradictions: NDArray[np.float64]
    rarities: NDArray[np.float64]
    in_context: NDArray[np.float64]
    leaves: NDArray[np.uint8]
    readings: Readings


class _Consequent(msgspec.Struct, frozen=True, eq=False):
    """A predicate, and which of the unit rules (ordered by consequent) claim it."""

    predicate: Predicate
    owners: tuple[int, ...]
    units: slice


class Scorer:
    """A model made ready for scoring; it holds no state that scoring changes.

    Parameters
    ----------
    model
        What was learned. Disabled rules are left out.

    Examples
    --------
    >>> from truism.learning import learn
    >>> from truism.table import as_table
    >>> normal = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> scorer = Scorer(learn(normal, min_support=0.1, scoring="paper"))
    >>> scorer.score(as_table({"pump": ["on", "on"], "flow": [2.5, 0.0]})).tolist()
    [0.0, 1.0]

    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.n_training = model.rules.n_rows
        self._place = {name: i for i, name in enumerate(model.schema.names)}
        self._variable_of = model.schema.variable_of()
        mined = [rule for rule in model.active_rules if rule.antecedent]
        predicates = list(
            dict.fromkeys(p for rule in mined for p in (*rule.antecedent, *rule.consequents))
        )
        asked = () if model.evidence is None else model.evidence.splits
        self._n_predicates, self._block_rows = len(predicates), BLOCK_ROWS
        self._truths = Truths(model.schema, [*predicates, *asked])
        self._compile(mined, {predicate: i for i, predicate in enumerate(predicates)})
        self._univariate = [
            (rule, self._place[variables(rule.consequents[0])[0]])
            for rule in model.active_rules
            if not rule.antecedent
        ]
        if model.evidence is not None:
            self.witness = Witness(model.schema, model.evidence)
            self._block_rows = ROWS_AT_ONCE

    def _compile(self, mined: Sequence[Rule], position_of: dict[Predicate, int]) -> None:
        """Give each antecedent a number, and gather the unit rules of each consequent."""
        antecedent_of: dict[tuple[int, ...], int] = {}
        units: dict[Predicate, list[tuple[int, int, int]]] = {}
        for index, rule in enumerate(mined):
            key = tuple(position_of[p] for p in rule.antecedent)
            antecedent = antecedent_of.setdefault(key, len(antecedent_of))
            for consequent in rule.consequents:
                units.setdefault(consequent, []).append((index, antecedent, rule.count))
        longest = max((len(key) for key in antecedent_of), default=1)
        # Shorter antecedents repeat their first predicate, which changes nothing.
        padded = [key + (key[0],) * (longest - len(key)) for key in antecedent_of]
        self._antecedents = np.array(padded, np.int64).reshape(-1, longest)
        self._mined = mined
        self._consequents = []
        flat: list[tuple[int, int, int, int]] = []
        for predicate in sorted(units, key=position_of.__getitem__):
            owners = tuple(self._place[name] for name in variables(predicate))
            own = slice(len(flat), len(flat) + len(units[predicate]))
            flat += [(*unit, position_of[predicate]) for unit in units[predicate]]
            self._consequents.append(_Consequent(predicate, owners, own))
        table = np.array(flat, np.int64).reshape(-1, 4)
        self._unit_rule, self._unit_antecedent = table[:, 0], table[:, 1]
        self._unit_count, self._unit_consequent = table[:, 2].astype(np.float64), table[:, 3]

    @functools.cached_property
    def _unit_worth(self) -> NDArray[np.float64]:
        """Say what each unit rule is worth as evidence when it is broken."""
        certainty_of = {
            each.predicate: 1 - each.n_false / self.n_training
            for each in self.model.rules.predicates
        }
        certainty = np.empty(len(self._unit_count))
        for consequent in self._consequents:
            certainty[consequent.units] = certainty_of[consequent.predicate]
        return rule_worth(self._unit_count, certainty)

    def score(self, table: Table, n_jobs: int = 1) -> NDArray[np.float64]:
        """Score every row; higher is worse, and 0 in the paper's score means no broken rule."""
        total = np.empty(table.n_rows)
        for block, parts in self._blocks(table, n_jobs):
            # Summed variable by variable, so that a row scores the same alone and in a table.
            total[block] = 0.0
            for part in parts.T:
                total[block] += part
        return total

    def attribute(self, table: Table, n_jobs: int = 1) -> NDArray[np.float64]:
        """Attribute each row's score to variables: rows × variables, in the schema's order."""
        parts_of = np.empty((table.n_rows, len(self._place)))
        for block, parts in self._blocks(table, n_jobs):
            parts_of[block] = parts
        return parts_of

    def contradict(self, table: Table) -> NDArray[np.float64]:
        """Give the part of each score that contradictions have: rows × variables."""
        columns, _ = align(self.model.schema, table)
        parts = [np.empty((0, len(columns)))]
        for block in _blocks_of(table.n_rows, self._block_rows):
            weighed = self.weigh([column.take(block) for column in columns])
            parts.append(weighed.contradictions)
        return np.concatenate(parts)

    def breaks_mined_rule(self, table: Table, n_jobs: int = 1) -> NDArray[np.bool_]:
        """Tell for each row whether it breaks a rule other than a univariate one."""
        columns, _ = align(self.model.schema, table)

        def broken(block: slice) -> NDArray[np.bool_]:
            marks = np.zeros(block.stop - block.start, np.bool_)
            for _, rows, _ in self._violated([column.take(block) for column in columns]):
                marks[rows] = True
            return marks

        blocks = _blocks_of(table.n_rows)
        with ThreadPoolExecutor(n_jobs) as pool:
            return np.concatenate([np.empty(0, np.bool_), *pool.map(broken, blocks)])

    def violations(self, table: Table) -> list[tuple[Violation, ...]]:
        """List what each row breaks, univariate rules first, then by consequent."""
        columns, _ = align(self.model.schema, table)
        found: list[list[Violation]] = [[] for _ in range(table.n_rows)]
        for rule, place in self._univariate:
            failed = rule.consequents[0]
            rows, degrees = self._univariate_degrees(failed, columns[place])
            if self.model.evidence is not None:
                worth = habit_worth(rule.count) if _is_habit(rule) else 0.0
                degrees = np.full(len(rows), worth / self.model.evidence.contradiction_unit)
            for row, degree in zip(rows.tolist(), degrees.tolist(), strict=True):
                value = columns[place].cell(row)
                found[row].append(Violation(rule, failed, (value,), degree))
        for block in _blocks_of(table.n_rows):
            part = [column.take(block) for column in columns]
            for consequent, rows, broken in self._violated(part):
                penalties = self._unit_penalties(consequent, part, rows)
                for unit, at in zip(*np.nonzero(broken), strict=True):
                    row = int(rows[at]) + block.start
                    cells = tuple(columns[owner].cell(row) for owner in consequent.owners)
                    rule = self._mined[self._unit_rule[consequent.units][unit]]
                    penalty = float(penalties[unit, at])
                    found[row].append(Violation(rule, consequent.predicate, cells, penalty))
        return [tuple(each) for each in found]

    def _unit_penalties(
        self, consequent: _Consequent, columns: Sequence[Column], rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Give what each unit rule of a consequent adds by itself: unit rules × rows."""
        evidence = self.model.evidence
        if evidence is None:
            counts = self._unit_count[consequent.units]
            return counts[:, None] / self.n_training * self._degrees(consequent, columns, rows)
        worth = self._unit_worth[consequent.units] / len(consequent.owners)
        return np.repeat(worth[:, None] / evidence.contradiction_unit, len(rows), axis=1)

    def apply(self, rule: Rule, table: Table) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell for each row whether a rule's condition holds, and whether the row breaks the rule.

        Parameters
        ----------
        rule
            Any rule about variables of the model, a disabled one too.
        table
            The rows.

        Returns
        -------
        holds, broken
            A univariate rule's condition always holds.

        """
        columns, _ = align(self.model.schema, table)
        if not rule.antecedent:
            broken = np.zeros(table.n_rows, np.bool_)
            for each in rule.consequents:
                column = columns[self._place[variables(each)[0]]]
                broken[self._univariate_degrees(each, column)[0]] = True
            return np.ones(table.n_rows, np.bool_), broken
        return self.compare(rule.antecedent, rule.consequents, table)

    def compare(
        self, conditions: Sequence[Predicate], expected: Sequence[Predicate], table: Table
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell for each row whether conditions hold, and whether something expected then fails."""
        columns, _ = align(self.model.schema, table)
        true, false = Truths(self.model.schema, (*conditions, *expected)).evaluate_all(columns)
        met = np.bitwise_and.reduce(true[: len(conditions)], axis=0)
        failed = met & np.bitwise_or.reduce(false[len(conditions) :], axis=0)
        return unpack(met, table.n_rows), unpack(failed, table.n_rows)

    def count_broken(self, table: Table) -> dict[Rule, int]:
        """Count for each rule the rows that break it; rules that no row breaks are absent."""
        columns, _ = align(self.model.schema, table)
        counts: dict[Rule, int] = {}
        for rule, place in self._univariate:
            rows, _ = self._univariate_degrees(rule.consequents[0], columns[place])
            if len(rows):
                counts[rule] = len(rows)
        for block in _blocks_of(table.n_rows):
            marks: dict[int, NDArray[np.bool_]] = {}
            for consequent, rows, broken in self._violated([c.take(block) for c in columns]):
                for unit in np.flatnonzero(broken.any(axis=1)).tolist():
                    index = int(self._unit_rule[consequent.units][unit])
                    # A row may fail several consequents of one rule, and counts once.
                    mark = marks.setdefault(index, np.zeros(block.stop - block.start, np.bool_))
                    mark[rows[broken[unit] > 0]] = True
            for index, mark in marks.items():
                rule = self._mined[index]
                counts[rule] = counts.get(rule, 0) + int(mark.sum())
        return counts

    def _blocks(self, table: Table, n_jobs: int) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Attribute block by block, so that memory stays bounded."""
        columns, _ = align(self.model.schema, table)
        blocks = _blocks_of(table.n_rows, self._block_rows)

        def parts(block: slice) -> NDArray[np.float64]:
            return self._attribute_block([column.take(block) for column in columns])

        if len(blocks) == 1:
            yield blocks[0], parts(blocks[0])
            return
        with ThreadPoolExecutor(n_jobs) as pool:
            # A few blocks at a time: a finished one waits for its reader, not for all others.
            for start in range(0, len(blocks), 2 * n_jobs):
                some = blocks[start : start + 2 * n_jobs]
                yield from zip(some, pool.map(parts, some), strict=True)

    def _attribute_block(self, columns: Sequence[Column]) -> NDArray[np.float64]:
        if self.model.evidence is None:
            return self._penalties(columns)
        weighed = self.weigh(columns)
        return weighed.contradictions + weighed.rarities

    def weigh(self, columns: Sequence[Column]) -> Weighed:
        """Weigh the evidence against each variable of one block of rows."""
        evidence, witness = self.model.evidence, self.witness
        assert evidence is not None
        true, false = self._truths.evaluate(columns)
        readings = witness.reader.read(columns)
        leaves = witness.leaves.find(true[self._n_predicates :], len(columns[0].values))
        in_context = witness.judge.judge(leaves, readings)
        contradictions = np.maximum(in_context, self._broken_worth(columns, true, false))
        contradictions /= evidence.contradiction_unit
        in_context /= evidence.contradiction_unit
        rarities = witness.rarities.weigh(readings)
        rarities *= RARITY_WEIGHT / evidence.rarity_unit
        return Weighed(contradictions, rarities, in_context, leaves, readings)

    def broken_worth(self, columns: Sequence[Column]) -> NDArray[np.float64]:
        """Give the worth of the strongest broken rule about each variable: rows × variables."""
        return self._broken_worth(columns, *self._truths.evaluate(columns))

    def _broken_worth(
        self, columns: Sequence[Column], true: Words, false: Words
    ) -> NDArray[np.float64]:
        worth = np.zeros((len(columns[0].values), len(columns)))
        for rule, place in self._univariate:
            if _is_habit(rule):
                rows, _ = self._univariate_degrees(rule.consequents[0], columns[place])
                if len(rows):
                    worth[rows, place] = habit_worth(rule.count)
        for consequent, rows, broken in self._violated_where(true, false, len(worth)):
            strongest = (broken * self._unit_worth[consequent.units][:, None]).max(axis=0)
            strongest /= len(consequent.owners)
            for owner in consequent.owners:
                worth[rows, owner] = np.maximum(worth[rows, owner], strongest)
        return worth

    def _penalties(self, columns: Sequence[Column]) -> NDArray[np.float64]:
        """Attribute the paper's score (KDD'23, section 5.1)."""
        parts = np.zeros((len(columns[0].values), len(columns)))
        for rule, place in self._univariate:
            rows, degrees = self._univariate_degrees(rule.consequents[0], columns[place])
            if len(rows):
                parts[rows, place] += degrees
        for consequent, rows, broken in self._violated(columns):
            weight = self._unit_count[consequent.units] @ broken / self.n_training
            penalty = weight * self._degrees(consequent, columns, rows) / len(consequent.owners)
            for owner in consequent.owners:
                parts[rows, owner] += penalty
        return parts

    def _violated(
        self, columns: Sequence[Column]
    ) -> Iterator[tuple[_Consequent, NDArray[np.int64], NDArray[np.float64]]]:
        """Give for each violated consequent the rows concerned, and unit rules × rows broken."""
        if self._consequents:
            true, false = self._truths.evaluate(columns)
            yield from self._violated_where(true, false, len(columns[0].values))

    def _violated_where(
        self, true: Words, false: Words, n_rows: int
    ) -> Iterator[tuple[_Consequent, NDArray[np.int64], NDArray[np.float64]]]:
        """Do the same for rows of which it is known where predicates hold and fail."""
        if not self._consequents:
            return
        holds = self._antecedents_hold(true)
        for some in self._portions(holds.shape[1]):
            units = slice(some[0].units.start, some[-1].units.stop)
            broken = holds[self._unit_antecedent[units]]
            broken &= false[self._unit_consequent[units]]
            hit = np.flatnonzero(broken.any(axis=1)) + units.start
            starts = [consequent.units.start for consequent in some]
            for index in np.unique(np.searchsorted(starts, hit, side="right") - 1):
                consequent = some[index]
                own = slice(
                    consequent.units.start - units.start, consequent.units.stop - units.start
                )
                rows = _rows_of(np.bitwise_or.reduce(broken[own], axis=0), n_rows)
                bits = broken[own][:, rows >> 6] >> (rows & 63).astype(np.uint64)
                yield consequent, rows, (bits & np.uint64(1)).astype(np.float64)

    def _portions(self, width: int) -> Iterator[list[_Consequent]]:
        """Divide the consequents so that no portion's truth words need much memory."""
        some: list[_Consequent] = []
        for consequent in self._consequents:
            some.append(consequent)
            if (consequent.units.stop - some[0].units.start) * width > MAX_WORDS:
                yield some
                some = []
        if some:
            yield some

    def _antecedents_hold(self, true: Words) -> Words:
        holds = true[self._antecedents[:, 0]]
        for more in self._antecedents.T[1:]:
            holds &= true[more]
        return holds

    def _degrees(
        self, consequent: _Consequent, columns: Sequence[Column], rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """By how much rows fail a mined consequent."""
        predicate = consequent.predicate
        if isinstance(predicate, OneOf | AnyOf):
            return np.ones(len(rows))
        assert isinstance(predicate, Interval)
        values = numbers(columns[consequent.owners[0]])[rows]
        return _distance_degrees(values, predicate.low, predicate.high, self._std(predicate))

    def _std(self, predicate: Interval | Range) -> float:
        variable = self._variable_of[predicate.variable]
        assert isinstance(variable, Numeric)
        return variable.std

    def _univariate_degrees(
        self, predicate: Predicate, column: Column
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Give the rows that break a univariate rule, and by how much."""
        match predicate:
            case Present():
                if column.kind == "empty":
                    rows = np.arange(len(column.values))
                elif column.missing is None:
                    return _NO_ROWS, _NO_DEGREES
                else:
                    rows = np.flatnonzero(column.missing)
            case Range(variable=_, low=low, high=high):
                values = numbers(column)
                outside = (values < low) | (values > high)
                if not outside.any():
                    return _NO_ROWS, _NO_DEGREES
                rows = np.flatnonzero(outside)
                return rows, _distance_degrees(values[rows], low, high, self._std(predicate))
            case _:
                variable = self._variable_of[column.name]
                assert isinstance(variable, Categorical)
                rows = np.flatnonzero(codes(variable, column) == UNSEEN)
        return rows, np.ones(len(rows))


def _is_habit(rule: Rule) -> bool:
    """Tell whether a univariate rule says that something is the same in every training row.

    A number outside its range or a state never met is judged by rarity and in its contexts.
    """
    predicate = rule.consequents[0]
    match predicate:
        case Range(variable=_, low=low, high=high):
            return low == high
        case OneOf(variable=_, values=values):
            return len(values) == 1
    return isinstance(predicate, Present)


_NO_ROWS = np.empty(0, np.int64)
_NO_DEGREES = np.empty(0)


def _blocks_of(n_rows: int, size: int = BLOCK_ROWS) -> list[slice]:
    return [slice(i, min(i + size, n_rows)) for i in range(0, n_rows, size)]


def _rows_of(words: Words, n_rows: int) -> NDArray[np.int64]:
    """List the rows whose bit is set."""
    return np.flatnonzero(unpack(words, n_rows))


def _distance_degrees(
    values: NDArray[np.float64], low: float, high: float, std: float
) -> NDArray[np.float64]:
    """Vectorised `truism.predicates.distance_degree` for values that lie outside."""
    if std == 0.0:
        return np.ones(len(values))
    with np.errstate(over="ignore", invalid="ignore"):
        distance = np.where(values < low, low - values, values - high)
        return np.clip(distance / std, MIN_DEGREE, MAX_DEGREE)
