"""Rules that a few rows break: truth vectors and an allowance go in, minimal unit rules come out.

One wrong row silences a rule for ever. Where the user allows some exceptions, rules that have a few are
learned beside those that have none, and are kept apart from them. A rule ``A ⇒ p`` with ``k > 0``
exceptions is *admitted* when it is as frequent as any other rule must be, has at most as many exceptions
as are allowed, and at most a tenth of those that chance would give it (`FEWER`): a consequent that hardly
ever fails is no news. It is *kept* when no admitted ``A' ⇒ p`` with ``A' ⊂ A`` has exceptions.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.learning.mining import Budget, Mined, Search, UnitRule, units_of
from truism.model.settings import Settings, exact
from truism.scoring.bits import Words, count
from truism.work import Advance, stand_still

FEWER = 10  # a rule has at most one exception for so many that chance would give it

Counts = NDArray[np.int64]


class Allowance(msgspec.Struct, frozen=True):
    """How many rows may break a rule: so many rows, or a part of the rows of its antecedent."""

    rows: int = 0
    part: int = 0
    whole: int = 1

    @classmethod
    def of(cls, settings: Settings) -> "Allowance | None":
        """Return what settings allow; None if nothing."""
        asked = settings.max_exceptions
        if asked is msgspec.UNSET:
            return None
        if isinstance(asked, int):
            return cls(rows=asked)
        part, whole = exact(asked).as_integer_ratio()
        return cls(0, part, whole)

    def admits(self, unit: UnitRule, n_known: int, n_false: int) -> bool:
        """Return whether a rule's exceptions are few, given how often its consequent is known and fails.

        >>> rule = UnitRule((0,), 1, 4310, 2)
        >>> Allowance(rows=2).admits(rule, 9000, 4000), Allowance(rows=2).admits(rule, 9000, 40)
        (True, False)
        """
        n, broken = unit.count + unit.n_exceptions, unit.n_exceptions
        by_user = self.rows + n * self.part // self.whole
        return 0 < broken <= min(by_user, n * n_false // (FEWER * max(n_known, 1)))


def mine_with_exceptions(
    true: Words,
    false: Words,
    group: Sequence[int],
    minimum: Callable[[Sequence[int]], Counts],
    allowance: Allowance,
    *,
    max_predicates: int = 5,
    budget: Budget | None = None,
    n_jobs: int = 1,
    advance: Advance = stand_still,
) -> Mined:
    """Find every kept unit rule with exceptions.

    Parameters
    ----------
    true, false, group, minimum, max_predicates, budget, n_jobs, advance
        As for `mine`.
    allowance
        How many exceptions a rule may have.

    """
    counts = count(true)
    by_count = np.argsort(counts, kind="stable")
    least = minimum(counts[by_count].tolist())
    search = _Search(true, false, group, by_count, least, budget or Budget(), n_jobs)
    n_false = count(false)[by_count]
    search.allow(allowance, np.maximum(counts[by_count] + n_false, 1), n_false)
    levels = search.run(max_predicates - 1, advance)
    rules = [
        UnitRule(each.antecedent, each.consequent, each.count, broken)
        for level in levels
        for each, broken in zip(units_of(level), level[:, 2].tolist(), strict=True)
    ]
    return Mined(
        tuple(sorted(rules)), search.complete_to(levels, max_predicates - 1), search.n_nodes
    )


class _Search(Search):
    """The search for rules, with loops that count exceptions."""

    def allow(self, allowance: Allowance, n_known: Counts, n_false: Counts) -> None:
        """Say how many exceptions there may be, given how often each predicate is known and fails."""
        from truism.learning.kernels import exceptions  # only learning loads compiled code

        allowed = exceptions.Allowed(
            allowance.rows, allowance.part, allowance.whole, FEWER, n_known, n_false
        )
        self.search_inside: Any = functools.partial(
            _last, exceptions.with_rarest_in_antecedent, allowed
        )
        self.search_outside: Any = functools.partial(
            _last, exceptions.with_rarest_as_consequent, allowed
        )


def _last(search: Any, allowed: Any, *asked: Any) -> Any:
    return search(*asked, allowed)


def only_minimal(units: Iterable[UnitRule]) -> tuple[UnitRule, ...]:
    """Leave out rules of which another one has the same consequent and fewer conditions.

    >>> only_minimal([UnitRule((0, 2), 1, 5, 1), UnitRule((0,), 1, 9, 2), UnitRule((0, 2), 3, 5, 1)])
    (UnitRule(antecedent=(0,), consequent=1, count=9, n_exceptions=2), \
UnitRule(antecedent=(0, 2), consequent=3, count=5, n_exceptions=1))
    """
    kept: dict[int, list[frozenset[int]]] = {}
    found = []
    for unit in sorted(units, key=lambda each: len(each.antecedent)):
        own, known = frozenset(unit.antecedent), kept.setdefault(unit.consequent, [])
        if not any(other < own for other in known):
            known.append(own)
            found.append(unit)
    return tuple(sorted(found))
