"""What is known about the order of rows, as values: a series, its memory, and how often incidents occur.

A model of a series holds one `Series`; a model of exchangeable rows holds none. `truism.learn` makes
it, `truism.score` and `truism.explain` use it.
"""

import math
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from truism.model.schema import Count, Positive, refuse_more

PER = 1000  # rows that rates are told for
RARE = 1.0  # incidents in that many rows
LOOKBACK, MAX_LOOKBACK = 15, 1_000_000  # rows

# Far beyond what is learned, but products of them are finite.
Lookback = Annotated[int, Meta(ge=1, le=MAX_LOOKBACK)]
Points = Annotated[float, Meta(ge=0, le=1e12)]
Rest = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]


class Tail(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """How often incidents of normal rows reach a level: ever more rarely, by an exponential law."""

    level: Annotated[float, Meta(ge=0)]  # the level from which on the law holds
    # by how much a level must rise for incidents to become e times rarer
    scale: Annotated[float, Meta(gt=0)]
    # how many incidents rose above `level` in how many held-out rows
    n_incidents: Count
    n_rows: Positive

    def __post_init__(self) -> None:
        refuse_more("n_incidents", self.n_incidents, self.n_rows)

    def rate(self, threshold: float) -> float:
        """Return how many incidents to expect in 1,000 normal rows.

        >>> Tail(level=2.0, scale=1.0, n_incidents=40, n_rows=2000).rate(2.0)
        20.0
        """
        return self._most * math.exp(-max(threshold - self.level, 0.0) / self.scale)

    def threshold(self, rate: float) -> float:
        """Return the threshold above which so many incidents are to be expected in 1,000 normal rows.

        >>> tail = Tail(level=2.0, scale=1.0, n_incidents=40, n_rows=2000)
        >>> round(tail.rate(tail.threshold(1.0)), 9), round(tail.rate(tail.threshold(0.1)), 9)
        (1.0, 0.1)
        """
        return self.level + self.scale * math.log(max(self._most / rate, 1.0))

    def has_seen(self, rate: float) -> bool:
        """Return whether the held-out rows suffice to show a rate; if not, it is extrapolated."""
        return rate * self.n_rows >= 0.999 * PER  # rates are kept in a few digits

    @property
    def _most(self) -> float:
        return PER * self.n_incidents / self.n_rows


class Memory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How evidence of earlier rows adds to that of a row; docs/method.md gives the formulas."""

    lookback: Lookback  # the span of the past, in rows
    # after how many rows the same kind of row comes again, if kinds of rows take turns; else 1
    period: Lookback
    cap: Points  # the most that one value leaves behind in the past
    weight: Points  # how much the past counts beside the row
    # the root of the points against each variable in normal rows, and the highest that its
    # reference rose in them
    usual: tuple[Points, ...]
    highest: tuple[Points, ...]
    # how far each number usually is from where it has been lately, in standard deviations; 0 for
    # states
    stray: tuple[Points, ...]
    tail: Tail  # how often normal rows form incidents
    # for how many consecutive rows of training each number was the same at most, other than at its
    # rest; 0 for states
    longest: tuple[Count, ...]
    # for how many consecutive rows of training each variable was missing at most
    absent: tuple[Count, ...]
    # the number at which each variable stood still for long, as a flow does at 0; None if it never
    # did
    rest: tuple[Rest | None, ...]

    def at(self, kept: Sequence[int]) -> "Memory":
        """Return what it holds of the variables at some positions."""
        of_kept = {
            name: tuple(values[i] for i in kept) for name, values in self.of_variables().items()
        }
        return msgspec.structs.replace(self, **of_kept)

    def of_variables(self) -> dict[str, tuple[Any, ...]]:
        """Return what it holds of each variable, by name of the field."""
        names = ("usual", "highest", "stray", "longest", "absent", "rest")
        return {name: getattr(self, name) for name in names}


class Series(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows that follow each other."""

    # the usual time from one row to the next, in seconds; None if there are no times
    step: Annotated[float, Meta(ge=1e-9, le=1e12)] | None = None
    # the column that tells several series in one table apart; None if there is one series
    by: str | None = None
    memory: Memory | None = None  # how earlier rows count; None if every row is judged by itself
