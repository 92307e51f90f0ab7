"""Claims of two models matched by meaning: which one became which.

A rule's id changes with every cut-off, so ids cannot tell a moved rule from another one. Two claims
can be the same rule, changed, if they have the same *shape*: the same variables in the same places, with
the same directions (below, at least, between, in some states), and if there can be rows to which both
apply: conditions such as ``P1 = on`` and ``P1 = off``, or intervals that do not overlap, are different
situations. Consequents may differ as they like: a rule that was turned round is worth seeing. Of all
pairs that can match, the closest are matched first, each claim at most once. An assignment with the least
sum of distances would need another library, and would take a claim away from its closest counterpart to
please a third one.

Distance adds up how far each cut-off moved, in standard deviations of its variable, and which part of the
states differs. Ties are decided by what the rules say: the result does not depend on the order of the
rules, nor on which model is called old.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.implication import Claim
from truism.model.predicates import AnyOf, Interval, OneOf, Predicate, Present, Range, order

Shape = tuple[Any, ...]


class Pair(msgspec.Struct, frozen=True, gc=False):
    """Positions of an old and a new claim that match, and how far apart they are."""

    old: int
    new: int
    distance: float


def shape(claim: Claim) -> Shape:
    """Return what two claims must have in common to match: variables and directions.

    >>> shape(Claim((OneOf("P1", ("on",)),), Interval("F1", low=2.0)))
    ((('one_of', ('P1',)),), ('at_least', ('F1',)))
    """
    directions = [_direction(each) for each in claim.antecedent]
    return tuple(sorted(directions)), _direction(claim.consequent)


def _direction(predicate: Predicate) -> tuple[str, tuple[str, ...]]:
    match predicate:
        case Interval(variable, low, high):
            if high == math.inf:
                return "at_least", (variable,)
            return ("below" if low == -math.inf else "between"), (variable,)
        case OneOf(variable):
            return "one_of", (variable,)
        case AnyOf(parts):
            return "any_of", tuple(part.variable for part in parts)
        case Range(variable):
            return "range", (variable,)
        case Present(variable):
            return "present", (variable,)


def match(old: Sequence[Claim], new: Sequence[Claim], spread_of: Mapping[str, float]) -> list[Pair]:
    """Match claims that differ.

    Parameters
    ----------
    old, new
        Claims; none of the old ones is among the new ones.
    spread_of
        The standard deviation of each numeric variable; a variable without one counts in its own
        unit.

    Returns
    -------
    list of Pair
        In the order of the old claims. No claim is in two pairs.

    """
    groups: dict[Shape, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, claims in enumerate((old, new)):
        for position, claim in enumerate(claims):
            groups[shape(claim)][side].append(position)
    pairs: list[Pair] = []
    for olds, news in groups.values():
        if olds and news:
            found = _match_group([old[i] for i in olds], [new[i] for i in news], spread_of)
            pairs += [Pair(olds[i], news[j], distance) for i, j, distance in found]
    return sorted(pairs, key=lambda pair: pair.old)


def _match_group(
    old: Sequence[Claim], new: Sequence[Claim], spread_of: Mapping[str, float]
) -> list[tuple[int, int, float]]:
    """Match claims of one shape, the closest first."""
    olds, news = ([_Place(claim) for claim in claims] for claims in (old, new))
    distances = _distances(olds, news, spread_of)
    rows, columns = np.nonzero(~np.isnan(distances))
    if len(rows) > 1:
        keys = [each.key for each in (*olds, *news)]
        rank_of = {key: rank for rank, key in enumerate(sorted(keys))}
        ranks = np.split(np.array([rank_of[key] for key in keys]), [len(olds)])
        one, other = ranks[0][rows], ranks[1][columns]
        at = distances[rows, columns]
        nearest = np.lexsort((np.maximum(one, other), np.minimum(one, other), at))
        rows, columns = rows[nearest], columns[nearest]
    found: list[tuple[int, int, float]] = []
    free_rows, free_columns = [True] * len(old), [True] * len(new)
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        if free_rows[i] and free_columns[j]:
            free_rows[i] = free_columns[j] = False
            found.append((i, j, float(distances[i, j])))
            if len(found) == min(len(old), len(new)):
                break
    return found


class _Place:
    """The predicates of a claim in an order that its shape decides, and a key that tells claims apart."""

    def __init__(self, claim: Claim) -> None:
        conditions = claim.antecedent
        if len(conditions) > 1:
            conditions = tuple(sorted(conditions, key=_by_direction))
        self.predicates = (*conditions, claim.consequent)

    @property
    def key(self) -> bytes:
        return msgspec.json.encode(self.predicates)


def _by_direction(predicate: Predicate) -> tuple[Any, ...]:
    return _direction(predicate), order(predicate)


def _distances(
    olds: Sequence[_Place], news: Sequence[_Place], spread_of: Mapping[str, float]
) -> NDArray[np.float64]:
    """Return the distances of all pairs; NaN where two rules cannot match."""
    total = np.zeros((len(olds), len(news)))
    consequent = len(olds[0].predicates) - 1
    for at, like in enumerate(olds[0].predicates):
        then, now = ([each.predicates[at] for each in side] for side in (olds, news))
        match like:
            case Interval(variable) | Range(variable):
                apart = _bounds_apart(then, now, spread_of.get(variable, 0.0) or 1.0)
                clash = _bounds_clash(then, now)
            case OneOf() | AnyOf():
                apart = _states_apart(then, now)
                clash = (apart == 1.0) & isinstance(like, OneOf)
            case _:
                continue
        total += apart if at == consequent else np.where(clash, np.nan, apart)
    return total


def _bounds_apart(then: Sequence[Any], now: Sequence[Any], spread: float) -> NDArray[np.float64]:
    """Return how far bounds moved, for all pairs."""
    total = np.zeros((len(then), len(now)))
    for side in ("low", "high"):
        before, after = (np.array([getattr(each, side) for each in some]) for some in (then, now))
        if math.isfinite(before[0]):
            with np.errstate(over="ignore", invalid="ignore"):
                moved = np.abs(before[:, None] - after) / spread
            total += np.nan_to_num(moved, nan=np.inf, posinf=np.inf)
    return total


def _bounds_clash(then: Sequence[Any], now: Sequence[Any]) -> NDArray[np.bool_]:
    """Return for all pairs whether no number lies in both intervals."""
    lows, highs = (
        [np.array([getattr(each, side) for each in some]) for some in (then, now)]
        for side in ("low", "high")
    )
    clash: NDArray[np.bool_] = np.maximum(lows[0][:, None], lows[1]) >= np.minimum(
        highs[0][:, None], highs[1]
    )
    return clash


def _states_apart(then: Sequence[Any], now: Sequence[Any]) -> NDArray[np.float64]:
    """Return which part of the states differs, for all pairs: 1 if they have none in common."""
    before, after = ([_states(each) for each in some] for some in (then, now))
    found = np.empty((len(before), len(after)))
    for i, one in enumerate(before):
        for j, other in enumerate(after):
            found[i, j] = 0.0 if one == other else 1.0 - len(one & other) / len(one | other)
    return found


def _states(predicate: OneOf | AnyOf) -> frozenset[Any]:
    if isinstance(predicate, OneOf):
        return frozenset(predicate.values)
    return frozenset((part.variable, value) for part in predicate.parts for value in part.values)
