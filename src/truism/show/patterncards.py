"""Patterns as a report holds them: values only."""

import msgspec

from truism.explain.reasons import Reason
from truism.incidents.marks import Wrong


class ToldLine(msgspec.Struct, frozen=True):
    """What some rows of a pattern say, and of how many rows that is true."""

    n_rows: int
    reason: Reason


class ExampleLine(msgspec.Struct, frozen=True):
    """A row of a pattern: which or when, its score, and what was found.

    `number` is that of its card, if it has one.
    """

    row: int
    when: str
    score: float
    found: str
    number: int | None


class PatternCard(msgspec.Struct, frozen=True):
    """Anomalous rows with the same culprit and kind of reason; see `truism.explain.patterns`."""

    id: str
    variable: str
    kind: Wrong
    summary: str
    n_rows: int
    share: float
    n_times: int
    told: tuple[ToldLine, ...]
    worst: tuple[ExampleLine, ...]
