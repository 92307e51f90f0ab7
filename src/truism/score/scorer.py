"""How unusual rows are: a `Model` and a table go in, scores and violations come out.

With evidence scoring, a row's score is the sum of two parts per variable (`truism.score.evidence`).
With the paper's scoring (KDD'23, section 5.1, algorithm 3), a violated unit rule adds its support times
the degree by which its consequent fails. All unit rules with the same consequent share the degree, so
their counts are summed first, in whole numbers: neither the order of the rules nor the size of a block
changes a bit of the result.

What is recorded of connections, orders or machines at rest is often the same again, and need not be
judged again. Where few rows repeat, a few variables show it soon (`find_repeats`).
"""

import copy
import functools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats, Mask, Rows
from truism.model.acceptances import Acceptance
from truism.model.model import Model
from truism.model.predicates import Predicate, Present, Range, variables
from truism.model.rules import Rule
from truism.model.schema import Categorical, Schema, Variable
from truism.model.series import Series
from truism.score.alignment import align, codes
from truism.score.evidence import ROWS_AT_ONCE, Tolerance, Weigher, sparing
from truism.score.past import State, Timeline, lay_out, remember, stillness_of
from truism.score.rules import (
    Consequent,
    Rulebook,
    breaches,
    degrees_failed,
    habits_of,
    is_habit,
    worth_of_habit,
)
from truism.score.truths import Truths, blocks_of, unpack
from truism.score.weighed import Silenced, Violation, Weighed, joined
from truism.table.columns import Column, Table, numbers
from truism.work import work_ahead

_FEW_ROWS = 512  # of a block, in which no copies are looked for
_FEW = 4  # variables that are looked at first
_FIRST, _MOST_FIRST = 8, 0.96  # of an eighth of the rows, where half of all are copies of others
_MOST = 0.75  # share of distinct rows up to which it pays to judge only those
_MIXING = np.uint64(0x9E3779B97F4A7C15)
_BLOCKS_TAKEN = 4  # for each thread, from rows that lie scattered


def find_repeats(schema: Schema, columns: Sequence[Column]) -> tuple[Rows, Rows] | None:
    """Return the first of the rows that are equal for a model, and which of those each row equals.

    None if few rows are equal.
    """
    n_rows, firsts, same = len(columns[0].values), *np.empty((2, 0), np.int64)
    values: list[NDArray[np.uint64]] = []
    # Numbers tell rows apart sooner than states do.
    known = sorted(
        zip(schema.variables, columns, strict=True),
        key=lambda each: isinstance(each[0], Categorical),
    )
    for n_variables, n_looked, most in (
        (_FEW, n_rows // _FIRST, _MOST_FIRST),
        (_FEW, n_rows, _MOST),
        (len(known), n_rows, _MOST),
    ):
        values = [_whole(*each)[:n_looked] for each in known[:n_variables]]
        hashes = np.zeros(n_looked, np.uint64)
        for each in values:
            hashes = (hashes ^ each) * _MIXING
            hashes ^= hashes >> np.uint64(32)
        _, firsts, same = np.unique(hashes, return_index=True, return_inverse=True)
        if len(firsts) > most * n_looked:
            return None
    alike = all((each[firsts][same] == each).all() for each in values)
    return (firsts, same) if alike else None  # unequal rows hardly ever have equal hashes


def _whole(variable: Variable, column: Column) -> NDArray[np.uint64]:
    """Return the values of a column as whole numbers, equal where scoring sees no difference."""
    if isinstance(variable, Categorical):
        return codes(variable, column).astype(np.uint64)
    return np.ascontiguousarray(numbers(column)).view(np.uint64)


_Result = TypeVar("_Result")
_Work = Callable[[Sequence[Column], Mask | None], _Result]
"""Works on one block of rows, given where acceptances apply."""


class Scorer:
    """A model, ready for scoring.

    Parameters
    ----------
    model
        The model. Disabled rules are left out.
    muted
        Variables against which no evidence counts.

    Examples
    --------
    >>> from truism.learn.learn import learn
    >>> from truism.model.settings import Settings
    >>> from truism.table.frames import as_table
    >>> normal = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> scorer = Scorer(learn(normal, Settings(min_support=0.1, scoring="paper")))
    >>> scorer.score(as_table({"pump": ["on", "on"], "flow": [2.5, 0.0]})).tolist()
    [0.0, 1.0]

    """

    def __init__(self, model: Model, muted: Collection[str] = ()) -> None:
        self.model, self.muted, self.n_training = model, frozenset(muted), model.rules.n_rows
        self._place = {name: i for i, name in enumerate(model.schema.names)}
        self._silent = [i for name, i in self._place.items() if name in self.muted]
        self._rulebook = Rulebook(model.schema, model.rules, model.active_rules)
        asked = () if model.evidence is None else model.evidence.splits
        self._truths = Truths(model.schema, [*self._rulebook.predicates, *asked])
        self._univariate = [
            (rule, self._place[variables(rule.consequents[0])[0]])
            for rule in model.active_rules
            if not rule.antecedent
        ]
        self.tolerance = Tolerance(model) if model.accepted else None
        self._stillness = stillness_of(model.schema, model.memory, self._silent)

    @functools.cached_property
    def weigher(self) -> Weigher:
        """What weighs by evidence; made when the first row is weighed."""
        habits = habits_of(self.model, self._univariate)
        return Weigher(self.model, self._rulebook, habits, self._truths, self._silent)

    @property
    def loops(self) -> list[str]:
        """The modules of compiled loops that are needed."""
        of_series = [] if self.model.memory is None else ["memory"]
        of_evidence = [] if self.model.evidence is None else ["contexts", "rarity"]
        return ["truths", "rules", *of_evidence, *of_series]

    def accepting(self, accepted: tuple[Acceptance, ...] | None) -> "Scorer":
        """Return the same scorer for a model that accepts something else."""
        other = copy.copy(self)
        other.model = msgspec.structs.replace(self.model, accepted=accepted)
        other.tolerance = Tolerance(other.model) if accepted else None
        return other

    def score(self, table: Table, n_jobs: int = 1) -> Floats:
        """Score every row; higher is worse. With the paper's scoring, 0 means no broken rule."""
        total = np.empty(table.n_rows)
        if self.model.memory is None:
            for block, scores in self._blocks(table, n_jobs, self._score_block):
                total[block] = scores
            return total
        for block, weighed, _ in self.follow(table, n_jobs=n_jobs):
            total[block] = weighed.scores
        return total

    def attribute(self, table: Table, n_jobs: int = 1) -> Floats:
        """Attribute each row's score to variables: rows × variables, in the schema's order."""
        parts_of = np.empty((table.n_rows, len(self._place)))
        for block, weighed, _ in self.follow(table, n_jobs=n_jobs):
            parts_of[block] = weighed.parts
        return parts_of

    def weigh(self, table: Table, rows: Rows | None = None) -> Weighed:
        """Weigh some thousand rows, those at `rows` or all; of a series, with their past."""
        if self.model.memory is None:
            return self.weigh_alone(table if rows is None else table.take(rows))
        rows = np.arange(table.n_rows) if rows is None else rows
        order = np.argsort(rows, kind="stable")
        found = [weighed for _, weighed in self.weigh_some(table, rows[order])]
        if not found:
            return self.weigh_alone(table.take(rows))
        return joined(found).take(np.argsort(order, kind="stable"))

    def weigh_some(
        self, table: Table, rows: Rows, n_jobs: int = 1, state: State | None = None
    ) -> Iterator[tuple[Rows, Weighed]]:
        """Weigh some rows in ascending order, portion by portion; of a series, with their past."""
        if self.model.memory is None:
            for some in blocks_of(len(rows), _BLOCKS_TAKEN * n_jobs * ROWS_AT_ONCE):
                taken = table.take(rows[some])
                for block, weighed in self._blocks(taken, n_jobs, self._weigh_block):
                    yield rows[some][block], weighed
            return
        until = table.take(slice(0, int(rows.max(initial=0)) + 1))
        for block, weighed, _ in self.follow(until, state, n_jobs):
            own = rows[slice(*np.searchsorted(rows, [block.start, block.stop]).tolist())]
            if len(own):
                yield own, weighed.take(own - block.start)

    def weigh_alone(self, table: Table) -> Weighed:
        """Weigh rows, each by itself."""
        found = [weighed for _, weighed in self._blocks(table, 1, self._weigh_block)]
        return found[0] if len(found) == 1 else joined(found)

    def violations(self, table: Table) -> list[list[Violation]]:
        """List what each row breaks, univariate rules first, then by consequent."""
        columns, _ = align(self.model.schema, table)
        found: list[list[Violation]] = [[] for _ in range(table.n_rows)]
        for rule, place in self._univariate:
            failed = rule.consequents[0]
            rows, degrees = self._breaches(failed, place, columns)
            if self.model.evidence is not None:
                worth = worth_of_habit(self.model, rule) if is_habit(rule) else 0.0
                degrees = np.full(len(rows), worth / self.model.evidence.contradiction_unit)
            for row, degree in zip(rows.tolist(), degrees.tolist(), strict=True):
                value = columns[place].cell(row)
                found[row].append(Violation(rule, failed, (value,), degree))
        for block in blocks_of(table.n_rows):
            part = [column.take(block) for column in columns]
            broken = self._rulebook.broken(*self._truths.evaluate(part))
            for consequent, units, rows in self._rulebook.by_consequent(*broken):
                penalties = self._unit_penalties(consequent, part, units, rows)
                rules = self._rulebook.rule_of[units]
                for rule, row, penalty in zip(*(rules, rows, penalties), strict=True):
                    cells = tuple(part[owner].cell(row) for owner in consequent.owners)
                    broken_rule = self._rulebook.rules[rule]
                    violation = Violation(broken_rule, consequent.predicate, cells, float(penalty))
                    found[block.start + row].append(violation)
        return found

    def _unit_penalties(
        self, consequent: Consequent, columns: Sequence[Column], units: Rows, rows: Rows
    ) -> Floats:
        """Return what unit rules of a consequent that rows break add by themselves."""
        evidence = self.model.evidence
        if evidence is not None:
            return np.asarray(self._rulebook.shares[units] / evidence.contradiction_unit)
        weights = self._rulebook.counts[units] / self.n_training / len(consequent.owners)
        return np.asarray(weights * self._degrees(consequent, columns, rows))

    def apply(self, rule: Rule, table: Table) -> tuple[Mask, Mask]:
        """Return for each row whether a rule, even a disabled one, applies, and whether it is broken."""
        return self.compare(rule.antecedent, rule.consequents, table)

    def compare(
        self, conditions: Sequence[Predicate], expected: Sequence[Predicate], table: Table
    ) -> tuple[Mask, Mask]:
        """Return for each row whether all conditions hold, and whether an expectation then fails.

        Without conditions, the expectations apply to every row.
        """
        columns, _ = align(self.model.schema, table)
        alone = [each for each in expected if isinstance(each, Range | Present)]
        others = [each for each in expected if not isinstance(each, Range | Present)]
        true, false = Truths(self.model.schema, (*conditions, *others)).evaluate_all(columns)
        met = np.ones(table.n_rows, np.bool_)
        for each in true[: len(conditions)]:
            met &= unpack(each, table.n_rows)
        fails = np.zeros(table.n_rows, np.bool_)
        for each in false[len(conditions) :]:
            fails |= unpack(each, table.n_rows)
        for predicate in alone:
            place = self._place[predicate.variable]
            fails[self._breaches(predicate, place, columns)[0]] = True
        return met, met & fails

    def count_broken(self, table: Table) -> dict[Rule, int]:
        """Count for each rule the rows that break it; rules that no row breaks are absent."""
        columns, counts = align(self.model.schema, table)[0], dict[Rule, int]()
        for rule, place in self._univariate:
            rows, _ = self._breaches(rule.consequents[0], place, columns)
            if len(rows):
                counts[rule] = len(rows)
        for block in blocks_of(table.n_rows):
            truths = self._truths.evaluate([column.take(block) for column in columns])
            for rule, n_rows in self._rulebook.count_broken(*truths):
                counts[rule] = counts.get(rule, 0) + n_rows
        return counts

    def lay_out(self, table: Table, state: State | None = None) -> Timeline:
        """Return the rows of a table as series; exchangeable rows are one."""
        return lay_out(self.model.series or Series(), self.model.schema, table, state)

    def follow(
        self, table: Table, state: State | None = None, n_jobs: int = 1
    ) -> Iterator[tuple[slice, Weighed, State]]:
        """Weigh rows block by block, with their past if they are a series.

        `state` is what is left of the rows before them; None if there are none. Yields which rows, what
        speaks against them, and what is left after them. The number of threads changes nothing.
        """
        state, memory = {} if state is None else state, self.model.memory
        if not table.n_rows:
            return
        if memory is None:
            for block, weighed in self._blocks(table, n_jobs, self._weigh_block):
                yield block, weighed, state
            return
        timeline = self.lay_out(table, state)
        still = sparing(self._stillness, self.tolerance, table)
        for block, alone in self._blocks(table, n_jobs, self._weigh_block):
            weighed, state = remember(memory, timeline, block, alone, state, still)
            yield block, weighed, state

    def _blocks(
        self, table: Table, n_jobs: int, work: _Work[_Result]
    ) -> Iterator[tuple[slice, _Result]]:
        """Work on rows, each by itself, block by block, so that memory stays bounded."""
        blocks = blocks_of(table.n_rows, ROWS_AT_ONCE) or [slice(0, 0)]
        columns, _ = align(self.model.schema, table)
        applies = None if self.tolerance is None else self.tolerance.find(table)

        def work_on(block: slice) -> _Result:
            own = None if applies is None else applies[:, block]
            return work([each.take(block) for each in columns], own)

        if len(blocks) == 1:
            yield blocks[0], work_on(blocks[0])
            return
        if self.model.evidence is not None:
            _ = self.weigher  # made once, not by each thread
        yield from zip(blocks, work_ahead(n_jobs, work_on, blocks), strict=True)

    def _score_block(self, columns: Sequence[Column], applies: Mask | None) -> Floats:
        """Score one block of rows; rows that are equal are weighed once."""
        if self.model.evidence is None:
            return self._weigh_block(columns, applies).scores
        repeats = None
        if applies is None and len(columns[0].values) >= _FEW_ROWS:
            repeats = find_repeats(self.model.schema, columns)
        if repeats is not None:
            columns = [each.take(repeats[0]) for each in columns]
        pieces, _ = self.weigher.weigh(columns, self.tolerance, applies)
        scores = np.zeros(len(columns[0].values))
        for contradictions, rarities in zip(
            pieces.contradictions.T, pieces.rarities.T, strict=True
        ):
            scores += contradictions + rarities
        return scores if repeats is None else scores[repeats[1]]

    def _weigh_block(self, columns: Sequence[Column], applies: Mask | None) -> Weighed:
        if self.model.evidence is None:
            penalties = self._penalties(columns)
            if self.tolerance is None or applies is None:
                return Weighed(penalties, None)
            points = np.where(self.tolerance.muted(applies), penalties, 0.0)
            silenced = Silenced(applies, points) if applies.any() else None
            return Weighed(penalties - points, None, silenced=silenced)
        pieces, silenced = self.weigher.weigh(columns, self.tolerance, applies)
        # Row by row in memory: the order of sums must not vary.
        parts = np.add(pieces.contradictions, pieces.rarities, order="C")
        return Weighed(parts, pieces, silenced=silenced)

    def _penalties(self, columns: Sequence[Column]) -> Floats:
        """Attribute the paper's score (KDD'23, section 5.1)."""
        parts = np.zeros((len(columns[0].values), len(columns)))
        for rule, place in self._univariate:
            rows, degrees = self._breaches(rule.consequents[0], place, columns)
            if len(rows):
                parts[rows, place] += degrees
        truths = self._truths.evaluate(columns)
        broken = self._rulebook.broken(*truths)
        for consequent, units, of_units in self._rulebook.by_consequent(*broken):
            weights = np.bincount(of_units, self._rulebook.counts[units], len(parts))
            rows = np.flatnonzero(weights)
            penalty = weights[rows] / self.n_training * self._degrees(consequent, columns, rows)
            penalty /= len(consequent.owners)
            for owner in consequent.owners:
                parts[rows, owner] += penalty
        parts[:, self._silent] = 0.0
        return parts

    def _degrees(self, consequent: Consequent, columns: Sequence[Column], rows: Rows) -> Floats:
        """Return by how much rows fail a mined consequent."""
        owner = consequent.owners[0]
        variable = self.model.schema.variables[owner]
        return degrees_failed(consequent.predicate, variable, columns[owner], rows)

    def _breaches(
        self, predicate: Predicate, place: int, columns: Sequence[Column]
    ) -> tuple[Rows, Floats]:
        """Check a univariate rule against its column."""
        return breaches(predicate, self.model.schema.variables[place], columns[place])
