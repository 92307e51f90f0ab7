"""Rules and rows: which rows break a rule, by how much, and what that is worth as evidence.

A univariate rule is checked against its column (KDD'23, section 4.3). Mined rules are checked all at
once: those with several consequents become unit rules, ordered by consequent, so that all unit rules
that claim the same predicate are adjacent, because they share the degree by which a row fails it. An
antecedent that several rules share is evaluated once, on packed truth vectors.

A broken rule is worth ½·ln(1 + E), where E is the number of exceptions to expect by chance among the
rows of its antecedent (`expected_exceptions`).
"""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats, Rows
from truism.model.model import Model
from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, Present, Range, variables
from truism.model.rules import Rule, RuleSet
from truism.model.schema import Categorical, Numeric, Schema, Variable
from truism.score import kernels
from truism.score.alignment import UNSEEN, codes
from truism.score.contexts import PSEUDO_COUNT
from truism.score.truths import BLOCK_ROWS, Truths, Words
from truism.table.columns import Column, numbers
from truism.work import share_out

MIN_DEGREE, MAX_DEGREE = 1e-12, 1e6
_NO_ROWS = np.empty(0, np.int64)
_NO_DEGREES = np.empty(0)
RULE_WEIGHT = 0.5


def breaches(
    predicate: Predicate, variable: Variable, column: Column
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rows of a column that break a univariate rule's consequent, and by how much."""
    match predicate:
        case Present():
            if column.kind == "empty":
                rows = np.arange(len(column.values))
            elif column.missing is None:
                return _NO_ROWS, _NO_DEGREES
            else:
                rows = np.flatnonzero(column.missing)
        case Range(variable=_, low=low, high=high):
            assert isinstance(variable, Numeric)
            values = numbers(column)
            outside = (values < low) | (values > high)
            if not outside.any():
                return _NO_ROWS, _NO_DEGREES
            rows = np.flatnonzero(outside)
            return rows, degrees_outside(values[rows], low, high, variable.std)
        case _:
            assert isinstance(variable, Categorical)
            rows = np.flatnonzero(codes(variable, column) == UNSEEN)
    return rows, np.ones(len(rows))


def is_habit(rule: Rule) -> bool:
    """Return whether a univariate rule says that something is the same in every training row.

    Rarity and contexts judge a number outside its range, or a state never seen.
    """
    predicate = rule.consequents[0]
    match predicate:
        case Range(variable=_, low=low, high=high):
            return low == high
        case OneOf(variable=_, values=values):
            return len(values) == 1
    return isinstance(predicate, Present)


def degrees_failed(
    predicate: Predicate, variable: Variable, column: Column, rows: Rows
) -> NDArray[np.float64]:
    """Return by how much rows fail a mined consequent, given the column that it is about first."""
    if isinstance(predicate, OneOf | AnyOf):
        return np.ones(len(rows))
    assert isinstance(predicate, Interval)
    assert isinstance(variable, Numeric)
    return degrees_outside(numbers(column)[rows], predicate.low, predicate.high, variable.std)


def degrees_outside(
    values: NDArray[np.float64], low: float, high: float, std: float
) -> NDArray[np.float64]:
    """Return the degrees of violation of numbers that lie outside an interval."""
    with np.errstate(over="ignore", invalid="ignore"):
        return degrees(np.where(values < low, low - values, values - high), std)


def degrees(distances: NDArray[np.float64], std: float) -> NDArray[np.float64]:
    """Return the degrees of violation of numbers this far outside (KDD'23, section 5.1).

    Deviation: a degree is at least 1e-12, so that a violation always scores above 0, and at most 1e6.
    A constant has no spread to measure by; any other value violates it with degree 1.
    """
    if std == 0.0:
        return np.ones(len(distances))
    with np.errstate(over="ignore"):
        return np.clip(distances / std, MIN_DEGREE, MAX_DEGREE)


def expected_exceptions(
    count: NDArray[np.int64] | NDArray[np.float64],
    n_known: NDArray[np.int64],
    n_false: NDArray[np.int64],
    n_episodes: NDArray[np.int64] | NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return how many exceptions to expect by chance for a rule.

    Consecutive rows that fail the consequent may have one common reason, or each its own: the number of
    independent failures lies between the number of runs (`n_episodes`) and the number of rows
    (`n_false`), and the geometric mean is taken. Of `n_known` rows it is known whether the consequent
    holds, in `count` of them the antecedent does.
    """
    found: NDArray[np.float64] = count / n_known * np.sqrt(1.0 * n_false * n_episodes)
    return found


def rule_worth(expected: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the worth of a broken rule that had no exception where so many were expected."""
    found: NDArray[np.float64] = RULE_WEIGHT * np.log1p(expected)
    return found


def habit_worth(n_rows: int) -> float:
    """Return the worth of a difference that none of `n_rows` training rows had."""
    return float(np.log1p(n_rows / PSEUDO_COUNT))


def worth_of_habit(model: Model, rule: Rule) -> float:
    """Return what it is worth to break a univariate rule that says what every training row has.

    In a series, a value that is missing where none ever was counts as much as one value can. Its
    threshold is set for rows with their past, and no normal row could show how much this adds: a dead
    sensor would stay below it.
    """
    worth, memory, evidence = habit_worth(rule.count), model.memory, model.evidence
    if memory is None or evidence is None or not isinstance(rule.consequents[0], Present):
        return worth
    return max(worth, memory.cap * evidence.contradiction_unit)


def habits_of(
    model: Model, univariate: Sequence[tuple[Rule, int]]
) -> list[tuple[Predicate, int, float]]:
    """Return what every training row has, about which variable, and what it is worth to break it."""
    return [
        (rule.consequents[0], place, worth_of_habit(model, rule))
        for rule, place in univariate
        if is_habit(rule)
    ]


class Consequent(msgspec.Struct, frozen=True, eq=False):
    """A predicate, the positions of its variables, and the unit rules that claim it."""

    predicate: Predicate
    owners: tuple[int, ...]
    units: slice


class Rulebook:
    """Mined rules, ready to be checked against rows; immutable.

    `rules` are those without univariate ones and without the inactive, `predicates` theirs, in the
    order of the truth vectors that `broken` expects. `rule_of` and `counts` hold, for each unit rule,
    the position of its rule and the rows in which it holds.
    """

    def __init__(
        self, schema: Schema, rules: RuleSet, active: Iterable[Rule] | None = None
    ) -> None:
        self.rules = [rule for rule in (rules if active is None else active) if rule.antecedent]
        self.predicates = list(
            dict.fromkeys(p for rule in self.rules for p in (*rule.antecedent, *rule.consequents))
        )
        self._counted = rules.predicates
        position_of = {predicate: i for i, predicate in enumerate(self.predicates)}
        antecedent_of: dict[tuple[int, ...], int] = {}
        units: dict[Predicate, list[tuple[int, int, int]]] = {}
        for index, rule in enumerate(self.rules):
            key = tuple(position_of[p] for p in rule.antecedent)
            antecedent = antecedent_of.setdefault(key, len(antecedent_of))
            for consequent in rule.consequents:
                units.setdefault(consequent, []).append((index, antecedent, rule.count))
        longest = max((len(key) for key in antecedent_of), default=1)
        # Shorter antecedents are padded with their first predicate, which changes nothing.
        padded = [key + (key[0],) * (longest - len(key)) for key in antecedent_of]
        self._antecedents = np.array(padded, np.int64).reshape(-1, longest)
        place = {name: i for i, name in enumerate(schema.names)}
        self.consequents = []
        flat: list[tuple[int, int, int, int]] = []
        for predicate in sorted(units, key=position_of.__getitem__):
            owners = tuple(place[name] for name in variables(predicate))
            own = slice(len(flat), len(flat) + len(units[predicate]))
            flat += [(*unit, position_of[predicate]) for unit in units[predicate]]
            self.consequents.append(Consequent(predicate, owners, own))
        table = np.array(flat, np.int64).reshape(-1, 4)
        self.rule_of, self.counts = table[:, 0], table[:, 2].astype(np.float64)
        self._units = np.ascontiguousarray(table[:, [1, 3]].T)

    @functools.cached_property
    def worths(self) -> NDArray[np.float64]:
        """What each unit rule is worth as evidence if it is broken."""
        counts_of = {
            each.predicate: (each.n_true + each.n_false, each.n_false, each.n_episodes)
            for each in self._counted
        }
        known = np.empty((len(self.counts), 3), np.int64)
        for consequent in self.consequents:
            known[consequent.units] = counts_of[consequent.predicate]
        return rule_worth(expected_exceptions(self.counts, *known.T))

    @functools.cached_property
    def shares(self) -> Floats:
        """What each unit rule is worth against each of the variables that it is about."""
        return np.asarray(self.worths / np.maximum((self.owners >= 0).sum(axis=0), 1))

    @functools.cached_property
    def _strongest_first(self) -> Rows:
        """The unit rules of each consequent, those first that are worth most."""
        return np.lexsort((-self.worths, self._units[1]))

    @functools.cached_property
    def owners(self) -> NDArray[np.int64]:
        """The variables that each unit rule is about, one below the other, and -1 where there is none."""
        most = max((len(consequent.owners) for consequent in self.consequents), default=1)
        found = np.full((most, len(self.counts)), -1)
        for consequent in self.consequents:
            found[: len(consequent.owners), consequent.units] = np.array(consequent.owners)[:, None]
        return found

    def broken(self, true: Words, false: Words, *, strongest: bool = False) -> tuple[Rows, Rows]:
        """Return unit rules and rows that break them, consequent by consequent.

        Truth vectors are packed, and say where each of `predicates` holds and where it fails. Of each
        consequent only the rule that is worth most counts if `strongest`.
        """
        order = self._strongest_first if strongest else np.arange(len(self.counts))
        rules = self._antecedents, self._units, order, strongest
        room = np.empty((len(self._antecedents) + 1, true.shape[1]), np.uint64)
        found, n_found = np.empty((2, 0), np.int64), 512 * true.shape[1]  # eight for each row
        while n_found > found.shape[1]:
            found = np.empty((2, n_found), np.int64)
            n_found = kernels.rules.list_broken(true, false, *rules, room[1:], room[0], found)
        units, rows = found[:, :n_found]
        return units, rows

    def by_consequent(self, units: Rows, rows: Rows) -> Iterator[tuple[Consequent, Rows, Rows]]:
        """Yield the consequents of broken unit rules, and the unit rules and rows of each."""
        starts = np.flatnonzero(np.diff(self._units[1][units], prepend=-1))
        firsts = [consequent.units.start for consequent in self.consequents]
        places = np.searchsorted(firsts, units[starts], "right") - 1
        ends = itertools.pairwise([*starts, len(units)])
        for place, (start, stop) in zip(places, ends, strict=True):
            yield self.consequents[place], units[start:stop], rows[start:stop]

    def count_broken(self, true: Words, false: Words) -> Iterator[tuple[Rule, int]]:
        """Yield the rules that rows break, and how many do."""
        units, rows = self.broken(true, false)
        # A row that fails several consequents of one rule counts once.
        broken = np.unique(np.stack([self.rule_of[units], rows]), axis=1)[0]
        for index, n_rows in zip(*np.unique(broken, return_counts=True), strict=True):
            yield self.rules[index], int(n_rows)


def breaks_any(
    schema: Schema, rules: RuleSet, columns: Sequence[Column], n_jobs: int
) -> NDArray[np.bool_]:
    """Return for each row whether it breaks a rule other than a univariate one."""
    book = Rulebook(schema, rules)
    truths = Truths(schema, book.predicates)
    n_rows = len(columns[0].values)

    def broken(start: int) -> NDArray[np.bool_]:
        block = [column.take(slice(start, start + BLOCK_ROWS)) for column in columns]
        marks = np.zeros(len(block[0].values), np.bool_)
        marks[book.broken(*truths.evaluate(block))[1]] = True
        return marks

    starts = range(0, n_rows, BLOCK_ROWS)
    return np.concatenate([np.empty(0, np.bool_), *share_out(n_jobs, broken, starts)])
