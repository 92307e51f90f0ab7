"""What speaks against a row, piece by piece: a `Scorer` and rows go in, `Clue` values come out.

Under the paper's scoring the clues are the violated rules. Under evidence scoring each variable has at
most one contradiction that counts, a broken rule or a context, and its rarity; other broken rules about
it are listed with a penalty of 0. The penalties of a row's clues sum to its score.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from truism.contexts import LEAF, Context, classes
from truism.predicates import (
    Interval,
    OneOf,
    Predicate,
    format_number,
    format_value,
    quote_name,
    variables,
)
from truism.rarity import Emptiness, rarity
from truism.schema import UNSEEN, Categorical, Numeric, align, codes
from truism.scoring import Scorer, Violation
from truism.table import Column, Table

WHY_FIRST = 4.0
N_NAMED = 4  # states that are listed; of more, the commonest


class Contradiction(msgspec.Struct, frozen=True):
    """A value that is unusual in rows that are otherwise like this one.

    Parameters
    ----------
    variable
        The variable.
    found
        Its value.
    expected
        Where it usually lies, or its commonest other state, in training rows like this one.
    conditions
        What makes those rows be like this one.
    because
        The same in words.
    evidence
        What was seen in those rows, in words.
    penalty
        What this adds to the row's score.

    """

    variable: str
    found: Any
    expected: Interval | OneOf
    conditions: tuple[Predicate, ...]
    because: str
    evidence: str
    penalty: float


class Rarity(msgspec.Struct, frozen=True):
    """A value that is unusual whatever the other variables are.

    See `Contradiction`; `expected` is in words, and `usual` the same where one predicate can say it.
    """

    variable: str
    found: Any
    expected: str
    usual: Interval | OneOf | None
    evidence: str
    penalty: float


Clue = Violation | Contradiction | Rarity


Dossier = Mapping[str, tuple[Clue, ...]]
"""The clues against each variable of one row, strongest first."""


def collect(scorer: Scorer, table: Table) -> list[Dossier]:
    """Gather all that speaks against each row."""
    violations = scorer.violations(table)
    if scorer.model.evidence is None:
        return [_by_variable(of_row) for of_row in violations]
    columns, _ = align(scorer.model.schema, table)
    speaker = _Speaker(scorer, columns)
    return [speaker.dossier(row, _by_variable(of)) for row, of in enumerate(violations)]


def _by_variable(violations: Sequence[Violation]) -> dict[str, tuple[Violation, ...]]:
    """Sort the broken rules of a row by what they speak of, strongest first."""
    of_variable: dict[str, list[Violation]] = {}
    for each in violations:
        for name in variables(each.failed):
            of_variable.setdefault(name, []).append(each)
    return {
        name: tuple(sorted(own, key=lambda each: (-each.penalty, len(each.rule.antecedent))))
        for name, own in of_variable.items()
    }


def _prominence(clue: Clue) -> float:
    """Sort by penalty, but put what can say why before what cannot, unless it is a small part."""
    return -clue.penalty if isinstance(clue, Rarity) else -WHY_FIRST * clue.penalty


class _Speaker:
    """Puts the evidence against some rows into clues."""

    def __init__(self, scorer: Scorer, columns: Sequence[Column]) -> None:
        evidence = scorer.model.evidence
        assert evidence is not None
        witness = scorer.witness
        self.columns, self.contexts, self.splits = columns, evidence.contexts, evidence.splits
        self.variables = scorer.model.schema.variables
        self.n_training = scorer.n_training
        names = [self.variables[i].name for i in witness.reader.numbers]
        self.emptiness = dict(zip(names, witness.rarities.emptiness, strict=True))
        self.weighed = scorer.weigh(columns)
        each = witness.judge.judge_each(self.weighed.leaves, self.weighed.readings)
        self.telling = each.argmax(axis=0) if len(each) else None

    def dossier(self, row: int, broken: Mapping[str, Sequence[Violation]]) -> Dossier:
        """List the clues against each variable of a row."""
        found: dict[str, tuple[Clue, ...]] = {}
        for i, variable in enumerate(self.variables):
            part = float(self.weighed.contradictions[row, i])
            rarity = float(self.weighed.rarities[row, i])
            clues: list[Clue] = []
            rules = [msgspec.structs.replace(v, penalty=0.0) for v in broken.get(variable.name, ())]
            if part > 0 and self.weighed.in_context[row, i] >= part:
                clues.append(self._contradiction(row, i, part))
            elif part > 0:
                rules[0] = msgspec.structs.replace(rules[0], penalty=part)
            if rarity > 0:
                clues.append(self._rarity(row, i, rarity))
            clues += rules
            if clues:
                clues.sort(key=_prominence)
                found[variable.name] = tuple(clues)
        return found

    def _contradiction(self, row: int, i: int, penalty: float) -> Contradiction:
        assert self.telling is not None
        k = int(self.telling[row, i])
        context, leaf = self.contexts[k], int(self.weighed.leaves[k, row])
        variable, value = self.variables[i], self.columns[i].cell(row)
        conditions, because = self._surroundings(context, leaf, row)
        n_like = context.counts[leaf]
        expected: Interval | OneOf
        if isinstance(variable, Numeric):
            at = context.numbers.index(i)
            mean = variable.mean + variable.std * context.means[leaf][at]
            spread = variable.std * context.spreads[leaf][at]
            expected = _usual_interval(variable.name, mean, spread, float(value))
            digits = f"{_rounded(mean, spread)} ± {_rounded(spread, spread)}"
            evidence = f"{digits} in {n_like:,} of {self.n_training:,} training rows like this"
        else:
            at = context.states.index(i)
            counts = context.state_counts[leaf][at]
            class_of = classes(variable)
            code = int(codes(variable, self.columns[i].take(slice(row, row + 1)))[0])
            # A state can be rarer than by chance and still the commonest one: name another.
            others = np.arange(len(counts)) != class_of[code]
            best = int(np.argmax(np.where(others, counts, -1)))
            state = variable.values[int(np.flatnonzero(class_of[:-2] == best)[0])]
            seen = counts[class_of[code]] if code != UNSEEN else 0
            expected = OneOf(variable.name, (state,))
            evidence = (
                f"{format_value(state)} in {counts[best]:,} of {n_like:,} training rows "
                f"like this, {format_value(value)} in {seen:,} of them"
            )
        return Contradiction(variable.name, value, expected, conditions, because, evidence, penalty)

    def _surroundings(
        self, context: Context, leaf: int, row: int
    ) -> tuple[tuple[Predicate, ...], str]:
        """Say what makes the rows of a leaf alike: one condition per variable, in order of the path."""
        bounds: dict[str, tuple[float, float]] = {}
        allowed: dict[str, tuple[Any, ...]] = {}
        excluded: dict[str, list[Any]] = {}
        place_of = {each.name: place for place, each in enumerate(self.variables)}
        for split, holds in path_to(context.tree, leaf):
            asked = self.splits[split]
            if isinstance(asked, Interval):
                low, high = bounds.get(asked.variable, (-math.inf, math.inf))
                bounds[asked.variable] = (
                    (low, min(high, asked.high)) if holds else (max(low, asked.high), high)
                )
            elif holds:
                allowed[asked.variable] = asked.values
            else:
                excluded.setdefault(asked.variable, []).extend(asked.values)
        conditions: list[Predicate] = []
        said = []
        for name in dict.fromkeys([*bounds, *allowed, *excluded]):
            quoted = quote_name(name)
            variable, value = self.variables[place_of[name]], self.columns[place_of[name]].cell(row)
            if name in allowed:
                conditions.append(OneOf(name, allowed[name]))
                said.append(str(conditions[-1]))
            elif value is None:
                said.append(f"{quoted} is missing")
            elif isinstance(variable, Numeric):
                if math.isinf(value):  # no split holds, whichever side it lies on
                    said.append(f"{quoted} = {format_value(value)}")
                else:
                    conditions.append(Interval(name, *bounds[name]))
                    said.append(str(conditions[-1]))
            else:
                rest = tuple(v for v in variable.values if v not in excluded[name])
                if value in rest:
                    conditions.append(OneOf(name, rest))
                unequal = [f"{quoted} ≠ {format_value(v)}" for v in excluded[name]]
                said += [str(conditions[-1])] if rest == (value,) else unequal
        return tuple(conditions), f"because {' and '.join(said)}" if said else "as in all rows"

    def _rarity(self, row: int, i: int, penalty: float) -> Rarity:
        variable, value = self.variables[i], self.columns[i].cell(row)
        if isinstance(variable, Categorical):
            code = int(codes(variable, self.columns[i].take(slice(row, row + 1)))[0])
            by_count = np.argsort(-np.array(variable.counts), kind="stable").tolist()
            states = tuple(variable.values[c] for c in by_count if c != code)[:N_NAMED]
            usual = OneOf(variable.name, states)
            seen = 0 if code == UNSEEN else variable.counts[code]
            evidence = f"{seen:,} of {self.n_training:,} training rows have this value"
            return Rarity(variable.name, value, str(usual), usual, evidence, penalty)
        emptiness = self.emptiness[variable.name]
        expected, usual_place, evidence = _ordinary(
            variable.name, emptiness, float(value), self.n_training
        )
        return Rarity(variable.name, value, expected, usual_place, evidence, penalty)


def path_to(tree: Sequence[int], leaf: int) -> list[tuple[int, bool]]:
    """List the splits on the way to a leaf, and whether each holds there.

    >>> path_to((5, -1, 3, -1, -1), 1)
    [(5, False), (3, True)]
    """
    path: list[tuple[int, bool]] = []
    n_leaves = 0
    for node in tree:
        if node != LEAF:
            path.append((node, True))
            continue
        if n_leaves == leaf:
            break
        n_leaves += 1
        while path and not path[-1][1]:
            path.pop()
        path[-1] = (path[-1][0], False)
    return path


def _usual_interval(name: str, mean: float, spread: float, found: float) -> Interval:
    """Give where a number was expected: two spreads around the mean, and never where it was found."""
    half = min(2 * spread, abs(found - mean) / 2) or spread
    low, high = (_round(bound, half) for bound in (mean - half, mean + half))
    if not low < high:
        low, high = mean - half, mean + half
    # Where the spread is less than the distance between two doubles, the mean is all there is.
    return Interval(name, low, high if low < high else math.nextafter(low, math.inf))


def _round(value: float, to: float) -> float:
    """Round a number to a tenth of another one's size."""
    if not 0.0 < to < math.inf or not math.isfinite(value):
        return value
    return round(value, 1 - math.floor(math.log10(to)))


def _rounded(value: float, to: float) -> str:
    return format_number(_round(value, to))


def _ordinary(
    name: str, emptiness: Emptiness, found: float, n_training: int
) -> tuple[str, Interval | None, str]:
    """Name the nearest ordinary places of a number, also as a predicate, and how few rows differ."""
    quoted = quote_name(name)
    n_below, n_above = emptiness.count_beyond(found)
    fewest = min(n_below, n_above)
    below, above = _nearest(emptiness, found)
    said = []
    if below is not None:
        said.append(f"{quoted} ≤ {format_number(below)}")
    if above is not None:
        said.append(f"{quoted} ≥ {format_number(above)}")
    usual = None
    if below is not None and above is None:
        usual = Interval(name, high=math.nextafter(below, math.inf))
    elif above is not None and below is None:
        usual = Interval(name, low=above)
    if fewest <= 0.01 * n_training:
        side = "low" if n_below <= n_above else "high"
        seen = f"{fewest:,} of {n_training:,} training rows were this {side}"
    else:
        n_usual = 0 if below is None else emptiness.count_beyond(below)[0]
        n_usual += 0 if above is None else emptiness.count_beyond(above)[1]
        # A training value that is kept stands for its neighbours too.
        n_others = emptiness.count_beyond(math.inf)[0] - n_usual
        seen = f"about {n_others:,} of {n_training:,} training rows were not so"
    return " or ".join(said) or f"{quoted} = {format_number(found)}", usual, seen


def _nearest(emptiness: Emptiness, found: float) -> tuple[float | None, float | None]:
    """Find the nearest places, on either side, where values are at most half as rare."""
    rare = rarity(emptiness.distances, emptiness.spread)
    limit = rarity(emptiness.distance(np.array([found])), emptiness.spread)[0] / 2
    usual = emptiness.points[rare <= limit]
    if not len(usual):
        usual = emptiness.points[[rare.argmin()]]
    below, above = usual[usual < found], usual[usual > found]
    return (
        _shortened(float(below[-1]), emptiness.spread, found) if len(below) else None,
        _shortened(float(above[0]), emptiness.spread, found) if len(above) else None,
    )


def _shortened(place: float, spread: float, found: float) -> float:
    """Leave out digits that say nothing, unless they tell a place from what was found."""
    short = _round(place, spread / 1000)
    return short if (short < found) == (place < found) and short != found else place
