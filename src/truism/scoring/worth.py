"""What a broken rule is worth as evidence, and when it is grave in itself.

A broken rule is worth ½·ln(1 + E), where E is the number of exceptions to expect by chance among the
rows of its antecedent.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from truism.model.evidence import Evidence, Grave
from truism.model.model import Model
from truism.model.predicates import Predicate, Present
from truism.model.rules import Rule
from truism.scoring.contexts import PSEUDO_COUNT
from truism.scoring.limits import is_habit
from truism.scoring.scratch import FRESH, Fresh
from truism.scoring.weighed import sum_of_rows

RULE_WEIGHT, RARITY_WEIGHT = 0.5, 1.25


def lift(
    grave: Grave | None, scores: NDArray[np.float64], worth: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what to add to the scores of rows, given the worth of their strongest broken rule.

    Beside a hundred other values a broken rule is worth little; but a rule that hardly any held-out
    row would break is not broken by chance. Such a row scores as if it had one more piece of evidence
    at a right angle to the rest, so that it is reported and still ranks by the rest.
    """
    if grave is None:
        return np.zeros_like(scores)
    return np.where(worth > grave.worth, np.hypot(scores, grave.score) - scores, 0.0)


def find_grave(
    grave: Grave | None, worths: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that break a grave rule, and the variable that the strongest one is about."""
    if grave is None:
        none = np.empty(0, np.int64)
        return none, none
    rows = np.flatnonzero((worths > grave.worth).any(axis=1))
    return rows, worths[rows].argmax(axis=1)


def lifted(
    grave: Grave | None,
    worth: NDArray[np.float64],
    plain: NDArray[np.float64],
    rarities: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the contradictions, raised where a grave rule about the variable is broken."""
    rows, about = find_grave(grave, worth)
    if not len(rows):
        return plain
    contradictions = plain.copy()
    rest = sum_of_rows(plain[rows]) + sum_of_rows(rarities[rows])
    contradictions[rows, about] += lift(grave, rest, worth[rows, about])
    return contradictions


def units(evidence: Evidence) -> tuple[float, float]:
    """Return what to divide contradictions by, and what to multiply rarities with, for the score."""
    return evidence.contradiction_unit, RARITY_WEIGHT / evidence.rarity_unit


def put_together(
    evidence: Evidence,
    in_context: NDArray[np.float64],
    rarities: NDArray[np.float64],
    worth: NDArray[np.float64],
    *,
    compiled: bool,
    memory: Fresh = FRESH,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bring evidence to the units of the score, in place, and return the contradictions.

    Parameters
    ----------
    evidence
        The units, and when a rule is grave.
    in_context, rarities, worth
        The evidence of contexts and of rare values, and the worth of broken rules: rows × variables, with
        the values of a variable side by side in memory.
    compiled
        Whether to use a compiled loop.
    memory
        Where it puts what it finds.

    Returns
    -------
    plain, contradictions
        Before and after grave rules raise them.

    """
    unit, weight = units(evidence)
    if not compiled:
        in_context /= unit
        rarities *= weight
        plain = np.maximum(in_context, worth / unit)
        return plain, lifted(evidence.grave, worth, plain, rarities)
    from truism.scoring.kernels import worth as kernel  # the compiler, only where it pays

    plain = memory.empty("plain", worth.shape[::-1]).T
    about = np.empty(len(worth), np.int64)
    sums = np.empty((3, len(worth)))
    kernel.combine(in_context.T, rarities.T, worth.T, unit, weight, plain.T, sums, about)
    of_plain, of_rarities, strongest = sums
    if evidence.grave is None or not (strongest > evidence.grave.worth).any():
        return plain, plain
    contradictions = plain.copy(order="A")
    rows = np.flatnonzero(strongest > evidence.grave.worth)
    rest = of_plain[rows] + of_rarities[rows]
    contradictions[rows, about[rows]] += lift(evidence.grave, rest, strongest[rows])
    return plain, contradictions


def add_parts(
    contradictions: NDArray[np.float64], rarities: NDArray[np.float64], *, compiled: bool
) -> NDArray[np.float64]:
    """Add the two parts of the score, row by row in memory: the order of sums must not vary."""
    if not compiled:
        return np.add(contradictions, rarities, order="C")
    from truism.scoring.kernels import worth as kernel  # the compiler, only where it pays

    parts = np.empty(contradictions.shape)
    kernel.add_parts(contradictions.T, rarities.T, parts)
    return parts


def add_up(
    evidence: Evidence,
    in_context: NDArray[np.float64],
    rarities: NDArray[np.float64],
    worth: NDArray[np.float64] | None = None,
    memory: Fresh = FRESH,
) -> NDArray[np.float64]:
    """Return the scores of rows with compiled loops: the sums of the parts of `put_together`.

    Evidence is as it is there; without `worth`, no rule is broken.
    """
    from truism.scoring.kernels import worth as kernel  # the compiler, only where it pays

    scores = np.empty(len(in_context))
    if worth is None:
        kernel.add_up(in_context.T, rarities.T, *units(evidence), scores)
        return scores
    _, contradictions = put_together(
        evidence, in_context, rarities, worth, compiled=True, memory=memory
    )
    kernel.add_up(contradictions.T, rarities.T, 1.0, 1.0, scores)
    return scores


def expected_exceptions(
    count: NDArray[np.int64] | NDArray[np.float64],
    n_known: NDArray[np.int64],
    n_false: NDArray[np.int64],
    n_episodes: NDArray[np.int64] | NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return how many exceptions to expect by chance for a rule.

    Consecutive rows that fail the consequent may have one common reason, or each its own: the number of
    independent failures lies between the number of runs and the number of rows, and the geometric mean
    is taken.

    Parameters
    ----------
    count
        Rows of the antecedent in which the consequent is known.
    n_known
        Rows in which it is known whether the consequent holds.
    n_false, n_episodes
        Rows that fail the consequent, and how many runs they form.

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
