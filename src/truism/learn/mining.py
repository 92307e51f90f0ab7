"""All rules that say something: truth vectors and minimum counts go in, minimal unit rules come out.

A unit rule ``A ⇒ p`` has one consequent. It is admitted when ``count(A ∪ {p})`` exceeds
``max(θ·n, γ·count(r))`` for the rarest ``r`` of its predicates and no row has ``A`` true and ``p``
false (KDD'23, section 3); it is kept when no admitted ``A' ⇒ p`` with ``A' ⊂ A`` exists. For each
``r`` the threshold is a constant within the rows of ``r``, so ordinary downward closure holds there
and no special tree for multiple minimum supports is needed. `docs/method.md` has the argument.

Antecedents are searched by length, so that stopping at the budget means "complete up to length k".
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Counts
from truism.model.predicates import Predicate, variables
from truism.model.settings import MAX_NODES, MAX_RULES
from truism.score.truths import Words, count, pack, unpack
from truism.work import Advance, share_out, stand_still

Chosen = NDArray[np.int32]  # places of predicates, in the order of the search

_Search = Callable[[int, int, Chosen, int, Counts, Counts], None]

_ROOM = 256  # sixteen times so many rules have room at first
_BATCH, _N_PARTS = 64, 32  # predicates searched before budgets are looked at, in so many parts


class Budget(msgspec.Struct, frozen=True):
    """When to stop before the next antecedent length.

    By the sets of predicates whose rows are counted at one length, or by the unit rules altogether.
    """

    max_nodes: int = MAX_NODES
    max_rules: int = MAX_RULES


class UnitRule(msgspec.Struct, frozen=True, gc=False, order=True):
    """Positions of the antecedent's predicates and of the consequent, and the rows with all of them."""

    antecedent: tuple[int, ...]
    consequent: int
    count: int


class Mined(msgspec.Struct, frozen=True):
    """The kept unit rules, and the antecedent length up to which they are complete."""

    rules: tuple[UnitRule, ...]
    complete_to: int


def minimum_counts(
    counts: Sequence[int], n_rows: int, min_support: Fraction, support_ratio: Fraction
) -> NDArray[np.int64]:
    """Return for each predicate the smallest admitted count of a rule in which it is the rarest.

    >>> minimum_counts([30, 80], 100, Fraction("0.29"), Fraction("0.7")).tolist()
    [30, 57]
    """
    least = int(min_support * n_rows)
    part, whole = support_ratio.as_integer_ratio()
    return np.array([max(least, part * each // whole) + 1 for each in counts], np.int64)


def variable_numbers(predicates: Sequence[Predicate]) -> list[int]:
    """Return a number for each predicate's variable or join; equal numbers never share a rule."""
    names = [variables(predicate) for predicate in predicates]
    number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return [number_of[name] for name in names]


def mine(
    true: Words,
    false: Words,
    group: Sequence[int],
    minimum: Callable[[Sequence[int]], NDArray[np.int64]],
    *,
    max_predicates: int = 5,
    budget: Budget | None = None,
    n_jobs: int = 1,
    advance: Advance = stand_still,
    counted: int | None = None,
) -> Mined:
    """Find every kept unit rule of at most `max_predicates` predicates, the consequent included.

    Truth vectors are packed, predicates × words; only rows of the words before `counted` support rules,
    those after them refute some. `group` has the variable of each predicate, see `variable_numbers`;
    `minimum` gives minimum counts of rules for predicate counts, see `minimum_counts`.
    """
    counts = count(true[:, :counted])
    by_count = np.argsort(counts, kind="stable")
    least = minimum(counts[by_count].tolist())
    miner = Miner(true, false, group, by_count, least, budget or Budget(), n_jobs, counted=counted)
    levels = miner.run(max_predicates - 1, advance)
    rules = [unit for level in levels for unit in units_of(level)]
    return Mined(tuple(sorted(rules)), miner.complete_to(levels, max_predicates - 1))


def units_of(level: NDArray[np.int64]) -> Iterator[UnitRule]:
    """Yield the rules of one length, given as rows of (consequent, count, …, antecedent…)."""
    antecedents = np.sort(level[:, 3:], axis=1).tolist()
    return map(UnitRule, map(tuple, antecedents), level[:, 0].tolist(), level[:, 1].tolist())


def mine_broken(
    true: Words,
    false: Words,
    ends: NDArray[np.int64],
    group: Sequence[int],
    least: NDArray[np.int64],
    *,
    max_predicates: int = 5,
    budget: Budget | None = None,
    n_jobs: int = 1,
) -> list[NDArray[np.int64]]:
    """Find the rules that hold without one of several blocks of rows, and that rows in it break.

    Mining without each block in turn would find them too, among all those that nothing breaks. Only
    minimal ones are given: a row that breaks a longer rule breaks a shorter one too, which more rows
    support. What holds in all other rows whatever the antecedent is no rule. A block ends before a word
    of `ends`; `least` has for each predicate the least rows outside the block that support a rule.

    Return for each length rows of (consequent, count outside the block, block, antecedent…).
    """
    in_order = np.argsort(least, kind="stable")
    miner = Miner(true, false, group, in_order, least[in_order], budget or Budget(), n_jobs, ends)
    return miner.run(max_predicates - 1, stand_still)


class _Searched(msgspec.Struct, frozen=True, eq=False):
    """What a search for the rules with rarest predicate `r` found, and on which sides to go on."""

    r: int
    found: tuple[NDArray[np.int64], ...]
    n_nodes: int
    more_inside: bool
    more_outside: bool


class Miner:
    """Predicates from rare to frequent, and what is remembered between lengths."""

    def __init__(
        self,
        true: Words,
        false: Words,
        group: Sequence[int],
        in_order: NDArray[np.int64],
        least: NDArray[np.int64],
        budget: Budget,
        n_jobs: int,
        ends: NDArray[np.int64] | None = None,
        counted: int | None = None,
    ) -> None:
        from truism.learn.kernels import mining as kernels  # only learning loads compiled code

        self.kernels: Any = kernels
        self.true, self.false = (np.ascontiguousarray(each[in_order]) for each in (true, false))
        self.least, self.in_order = least, in_order
        self.budget, self.n_jobs = budget, n_jobs
        self.n_rules = 0
        self.implied = np.zeros((len(true), len(true)), np.bool_)
        # Whether every predicate is true or false in every row that has any.
        either = true | false
        self.known = bool((either == np.bitwise_or.reduce(either, axis=0)).all())
        self.group = np.asarray(group, np.int64)[in_order]
        self.counted = true.shape[1] if counted is None else counted
        self.ends = np.array([true.shape[1]], np.int64) if ends is None else ends
        self.blocks = list(itertools.pairwise([0, *self.ends.tolist()]))
        # Whether a predicate fails in more than one block, if there is more than one.
        fails = [self.false[:, first:last].any(axis=1) for first, last in self.blocks]
        self.varied = np.sum(fails, axis=0) >= min(2, len(self.blocks))
        if len(self.blocks) == 1:
            self.varied[:] = True
        self._partners: dict[int, NDArray[np.int32]] = {}
        # Predicates for which longer antecedents may exist, on either side of the arrow.
        self.open_inside = list(range(len(true)))
        self.open_outside = list(range(len(true)))

    def longest(self, wanted: int) -> int:
        """How many predicates an antecedent can have: no two of one variable, nor the consequent's."""
        n_groups = len(np.unique(self.group))
        return max(1, min(wanted, n_groups - 1))

    def complete_to(self, levels: Sequence[NDArray[np.int64]], wanted: int) -> int:
        """Return the antecedent length up to which what was found is complete."""
        if len(levels) == self.longest(wanted) or not len(self.implied):
            return wanted
        return len(levels)

    def run(self, wanted: int, advance: Advance) -> list[NDArray[np.int64]]:
        """Search length by length; return what was found, with the caller's numbers of predicates."""
        levels: list[NDArray[np.int64]] = []
        for length in range(1, self.longest(wanted) + 1 if len(self.implied) else 1):
            found = self.level(length, levels, advance)
            if found is None:
                break
            levels.append(found)
        for level in levels:
            level[:, 0] = self.in_order[level[:, 0]]
            level[:, 3:] = self.in_order[level[:, 3:]]
        return levels

    def level(
        self,
        length: int,
        shorter: list[NDArray[np.int64]],
        advance: Advance,
    ) -> NDArray[np.int64] | None:
        """Find the kept rules with `length` predicates in the antecedent; None when over budget."""
        rarest = sorted({*self.open_inside, *self.open_outside})
        inside, outside = set(self.open_inside), set(self.open_outside)
        rows: list[NDArray[np.int64]] = []
        nodes, n_found = 0, 0
        self.open_inside, self.open_outside = [], []
        for start in range(0, len(rarest), _BATCH):
            # What is over the budget is given up as a whole, so no search goes far beyond it.
            self.max_nodes = self.budget.max_nodes - nodes
            self.max_found = self.budget.max_rules - self.n_rules - n_found
            batch = rarest[start : start + _BATCH]
            jobs = [(r, length, r in inside, r in outside) for r in batch]
            share = -(-len(jobs) // _N_PARTS)
            parts = [jobs[i : i + share] for i in range(0, len(jobs), share)]
            searched = share_out(self.n_jobs, self._several, parts)
            for each in itertools.chain.from_iterable(searched):
                rows += each.found
                nodes += each.n_nodes
                n_found += sum(map(len, each.found))
                self.open_inside += [each.r] if each.more_inside else []
                self.open_outside += [each.r] if each.more_outside else []
            advance(min(start + _BATCH, len(rarest)), len(rarest))
            if nodes > self.budget.max_nodes or self.n_rules + n_found > self.budget.max_rules:
                return None
        kept = self._minimal(
            np.concatenate(rows) if rows else np.empty((0, length + 3), np.int64), shorter
        )
        self.n_rules += len(kept)
        if length == 1:
            self.implied[kept[:, 3], kept[:, 0]] = True
        return kept

    def _several(self, jobs: Sequence[tuple[int, int, bool, bool]]) -> list[_Searched]:
        return [self._one(*job) for job in jobs]

    def _one(self, r: int, length: int, inside: bool, outside: bool) -> _Searched:
        """Search the rules in which `r` is the rarest predicate, on both sides of the arrow."""
        if r not in self._partners:
            kept, where = (np.empty(size, np.int64) for size in self.true.shape)
            of_r = self.group, self.counted, self.least[r], where, kept
            n_kept = self.kernels.partners(r, self.true, *of_r)
            self._partners[r] = kept[:n_kept].astype(np.int32)
        chosen, kernels = self._partners[r], self.kernels
        tally = np.zeros(4, np.int64)
        tally[kernels.NODES] = len(self.implied) - r if length == 1 else 0
        parts = []
        for search in self._searches(length, inside, outside) if len(chosen) else ():
            most, given_up = _ROOM, True
            while given_up:
                most = min(16 * most, self.max_found)
                found = np.empty((most + 2 * len(chosen) + 2, length + 3), np.int64)
                counted = tally.copy()
                counted[kernels.FOUND] = 0
                search(r, length, chosen, most, found, counted)
                n_found = int(counted[kernels.FOUND])
                given_up = most < n_found and most < self.max_found  # for want of room alone
            tally = counted
            parts.append(found[:n_found].copy())
        _, n_nodes, *more = tally.tolist()
        return _Searched(r, tuple(parts), n_nodes, *map(bool, more))

    def _searches(self, length: int, inside: bool, outside: bool) -> Sequence[_Search]:
        if length == 1:
            return [self._pairs]
        return [self._inside] * inside + [self._outside] * outside

    def _pairs(self, r: int, _: int, chosen: Chosen, __: int, found: Counts, tally: Counts) -> None:
        sets = self.true, self.false, self.ends, self.varied, self.counted
        path = np.zeros(2, np.int64)
        self.kernels.pair_up(r, chosen, *sets, self.least[r], path, found, tally)

    def _inside(
        self, r: int, length: int, chosen: Chosen, most: int, found: Counts, tally: Counts
    ) -> None:
        """Search the rules with `r` in the antecedent, in its rows alone.

        They get bits one after the other, those of each block, and those that do not count, in words of
        their own.
        """
        rows = np.flatnonzero(unpack(self.true[r], 64 * self.true.shape[1]))
        until = np.array([(min(last, self.counted), last) for _, last in self.blocks]).ravel()
        sizes = np.diff(np.searchsorted(rows, 64 * until), prepend=0)
        words = np.cumsum((sizes + 63) // 64)
        starts = np.concatenate([[0], words[:-1]])
        bits = np.arange(len(rows)) + np.repeat(64 * starts - (np.cumsum(sizes) - sizes), sizes)
        own = np.zeros((2, len(chosen), int(words[-1])), np.uint64)
        self.kernels.project(chosen, self.true, rows, bits, own[0])
        if self.known:
            own[1] = ~own[0]
        else:
            self.kernels.project(chosen, self.false, rows, bits, own[1])
        counted = int(words[until <= self.counted].max(initial=0))
        path, size, n_items, at = np.zeros((4, length + 1), np.int64)
        items = np.zeros((length + 1, len(chosen)), np.int64)
        extends, opens = np.zeros((2, length + 1, len(chosen)), np.bool_)
        left = np.zeros((length + 1, own.shape[2]), np.uint64)
        path[1], size[1], n_items[1] = r, len(rows), len(chosen)
        flags = np.zeros(64 * own.shape[2], np.bool_)
        flags[bits] = True
        left[1], items[1], extends[1] = pack(flags), np.arange(len(chosen)), True
        opens[1] = ~self.implied[r, chosen] & self.varied[chosen]
        self.kernels.search_inside(
            *(
                length,
                chosen,
                own[0],
                own[1],
                words[1::2].copy(),
                counted,
                self.group,
                self.implied,
            ),
            *(self.least[r], self.max_nodes, most),
            *(path, left, size, items, extends, opens, n_items, at, found, tally),
        )

    def _outside(
        self, r: int, length: int, chosen: Chosen, most: int, found: Counts, tally: Counts
    ) -> None:
        """Search the rules with `r` as the consequent, of several blocks without each in turn."""
        if not self.varied[r]:
            return
        kernels, width = self.kernels, self.true.shape[1]
        planes = np.zeros((len(chosen).bit_length(), width), np.uint64)
        kernels.count_planes(chosen, self.true, self.false[r], planes)
        path, n_branches, at = np.zeros((3, length + 1), np.int64)
        inside, outside = np.zeros((2, length + 1, width), np.uint64)
        branches = np.zeros((length + 1, len(chosen)), np.int64)
        forbidden, left = np.zeros(len(chosen), np.bool_), np.zeros(width, np.uint64)
        several = len(self.blocks) > 1
        for block, span in enumerate(self.blocks):
            if several and not self.false[r, slice(*span)].any():
                continue
            left_out = (block, *span) if several else (kernels.NOWHERE, 0, 0)
            kernels.search_outside(
                *(r, *left_out, length, chosen, planes, self.true, self.false, self.group),
                *(self.counted, self.least[r], self.max_nodes, most),
                *(path, inside, outside, branches, n_branches, at, forbidden, left, found, tally),
            )
            if tally[kernels.NODES] > self.max_nodes or tally[kernels.FOUND] > most:
                break

    def _minimal(
        self, found: NDArray[np.int64], shorter: list[NDArray[np.int64]]
    ) -> NDArray[np.int64]:
        """Sort the found rules and drop those that a shorter kept rule makes redundant."""
        found[:, 3:].sort(axis=1)
        width = found.shape[1]
        found = found[np.lexsort((*found.T[width - 1 : 2 : -1], found[:, 0]))]
        keep = np.ones(len(found), np.bool_)
        for known in shorter if len(found) else ():
            for columns in itertools.combinations(range(3, width), known.shape[1] - 3):
                both = np.concatenate(
                    [known[:, (0, *range(3, known.shape[1]))], found[:, (0, *columns)]]
                )
                numbers = _number(both)
                keep &= ~np.isin(numbers[len(known) :], numbers[: len(known)])
        return found[keep]


def _number(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each row of a table, the same for equal rows.

    >>> _number(np.array([[2, 1], [0, 3], [2, 1]])).tolist()
    [1, 0, 1]
    """
    order = np.lexsort(rows.T[::-1])
    numbers = np.zeros(len(rows), np.int64)
    numbers[order[1:]] = np.cumsum((np.diff(rows[order], axis=0) != 0).any(axis=1))
    return numbers
