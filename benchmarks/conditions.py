"""How much a reader has to take in: the number of conditions of the reasons that are shown.

In go incidents; out come how many of their first reasons, those of the first three variables, have how
many conditions, and how many tell a value that training never had without any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

N_VARIABLES = 3  # named on the first screen
FEW = 3  # conditions; a reader gives up after that


@dataclass(frozen=True, slots=True)
class Conditions:
    """How many reasons have 0, 1, 2, … conditions, and how many there are of each kind."""

    counts: tuple[int, ...]
    kinds: tuple[tuple[str, int], ...]

    @property
    def n_reasons(self) -> int:
        """Reasons that are shown."""
        return sum(self.counts)

    @property
    def mean(self) -> float:
        """Conditions of a reason on average."""
        total = sum(n * count for n, count in enumerate(self.counts))
        return total / max(self.n_reasons, 1)

    @property
    def share_of_few(self) -> float:
        """The share of the reasons with at most three conditions."""
        return sum(self.counts[: FEW + 1]) / max(self.n_reasons, 1)


def count_conditions(incidents: Iterable[Any], most: int = N_VARIABLES) -> Conditions:
    """Count the conditions of the first reason of the first variables of each incident.

    >>> count_conditions([])
    Conditions(counts=(), kinds=())
    """
    reasons = [
        blame.reasons[0] for each in incidents for blame in each.blames[:most] if blame.reasons
    ]
    lengths = Counter(len(each.conditions) for each in reasons)
    kinds = Counter(each.kind for each in reasons)
    counts = tuple(lengths[n] for n in range(max(lengths, default=-1) + 1))
    return Conditions(counts, tuple(sorted(kinds.items())))
