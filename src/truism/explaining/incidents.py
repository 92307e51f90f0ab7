"""What happened: events and what adds up over their rows go in, incidents with blames come out.

Clues are looked for when an incident is looked at, so that a thousand incidents that nobody sees cost
nothing.
"""

import datetime
import html
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.clues import Lasting
from truism.explaining.events import Kind
from truism.explaining.explanations import Blame, blames_html, describe, say_moment
from truism.explaining.following import Outline
from truism.explaining.investigation import find_clues
from truism.explaining.tallies import NEVER, Tally
from truism.model.wording import visible
from truism.scoring.alignment import time_column
from truism.scoring.scorer import Scorer
from truism.table.cells.times import Moment
from truism.table.columns import Column, Table

GAP_SECONDS, MAX_GAP_ROWS = 60, 3600
MIN_SHARE = 0.01  # the smallest share of the blame for an incident that is shown
EXPLAINED_AT_ONCE = 16  # incidents
_PLAIN = ("start", "end", "n_rows", "peak", "score", "severity", "kind", "ongoing")
_TIMES = ("started", "ended", "peaked")

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """Anomalous rows that belong together.

    Parameters
    ----------
    start, end
        The first and the last anomalous row.
    n_rows
        Anomalous rows from start to end.
    peak
        The row with the highest score.
    score
        That score.
    severity
        The sum of what the rows score above the threshold, in units of the threshold: it grows with
        strength and duration.
    kind
        ``"incident"``, or ``"shift"`` for what stays unusual.
    ongoing
        Whether the next row may still belong to it.
    started, ended, peaked
        The times of these rows, if the table has times.
    series
        The series it belongs to, if the table holds several.
    blames
        Merged over the incident; `truism.explaining.tallies` says how. Variables with less than 1 %
        are left out, and the clues come from the row in which a variable is to blame most.

    """

    start: int
    end: int
    n_rows: int
    peak: int
    score: float
    severity: float
    kind: Kind = "incident"
    ongoing: bool = False
    series: str | None = None
    started: Moment | None
    ended: Moment | None
    peaked: Moment | None
    blames: tuple[Blame, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        times = {name: say_moment(getattr(self, name)) for name in _TIMES}
        return {**plain, **times, "blames": [blame.to_dict() for blame in self.blames]}

    @property
    def duration(self) -> datetime.timedelta | None:
        """How long it lasted; None if there are no times to tell."""
        started, ended = self.started, self.ended
        if not isinstance(started, datetime.datetime) or not isinstance(ended, datetime.datetime):
            return None
        return ended - started

    def __str__(self) -> str:
        return f"{self._head()}\n{describe(self.blames)}"

    def _head(self) -> str:
        where = f"rows {self.start} to {self.end}" if self.end > self.start else f"row {self.start}"
        return f"{where}{self._when()}, peak score {self.score:.4g}"

    def _when(self) -> str:
        started, ended = (
            None if time is None else visible(str(time)) for time in (self.started, self.ended)
        )
        if self.end == self.start or started == ended:
            return "" if started is None else f" ({started})"
        if started is None:
            return f" (until {ended})"
        return f" (from {started})" if ended is None else f" ({started} to {ended})"

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(self._head())}</b></p>{blames_html(self.blames)}"


class Incidents(Sequence["Incident"]):
    """The incidents of a table, gravest first; each is explained when it is looked at."""

    def __init__(self, scorer: Scorer, table: Table, outlines: Sequence[Outline], first: int = 0):
        self.scorer, self.table = scorer, table
        self.outlines = sorted(outlines, key=_gravest_first)
        self._first = first
        self._explained: dict[int, Incident] = {}

    @cached_property
    def _times(self) -> Column | None:
        return time_column(self.scorer.model.schema, self.table)

    def __len__(self) -> int:
        return len(self.outlines)

    @overload
    def __getitem__(self, position: int) -> Incident: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Incident, ...]: ...
    def __getitem__(self, position: int | slice) -> Incident | tuple[Incident, ...]:
        if isinstance(position, slice):
            return tuple(self[each] for each in range(*position.indices(len(self))))
        position = range(len(self))[position]
        if position not in self._explained:
            start = position - position % EXPLAINED_AT_ONCE
            some = self.outlines[start : start + EXPLAINED_AT_ONCE]
            told = explain_outlines(self.scorer, self.table, some, self._times, self._first)
            self._explained |= dict(enumerate(told, start))
        return self._explained[position]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)


def _gravest_first(outline: Outline) -> tuple[float, int]:
    return -outline.event.severity, outline.tally.first


def blamed(tally: Tally) -> list[int]:
    """Return the variables to blame, worst first; those with hardly any share are left out."""
    shares = tally.shares
    least = min(MIN_SHARE, shares.max(initial=0.0) / 2)
    return [i for i in np.argsort(-shares, kind="stable").tolist() if shares[i] > least]


def _told_at(tally: Tally, i: int) -> int:
    """Return the row in which a variable is told: where it deviates most, else the peak."""
    row = int(tally.telling[i])
    return tally.peak if row == NEVER else row


def explain_outlines(
    scorer: Scorer,
    table: Table,
    outlines: Sequence[Outline],
    times: Column | None,
    first: int = 0,
) -> Iterator[Incident]:
    """Look for clues in the telling rows of some incidents.

    Parameters
    ----------
    scorer, table
        The model and the rows.
    outlines
        The incidents.
    times
        The table's times.
    first
        The number of the table's first row.

    """
    telling = {_told_at(each.tally, i) for each in outlines for i in blamed(each.tally)}
    rows = np.array(sorted(row for row in telling if row >= first), np.int64)
    part = table.take(rows - first)
    clues_at = dict(zip(rows.tolist(), find_clues(scorer, part), strict=True))
    for each in outlines:
        yield _incident(scorer, each, clues_at, times, first)


def _incident(
    scorer: Scorer,
    outline: Outline,
    clues_at: dict[int, Any],
    times: Column | None,
    first: int,
) -> Incident:
    names = scorer.model.schema.names
    tally, event = outline.tally, outline.event
    shares, blames = tally.shares, []
    for i in blamed(tally):
        row = _told_at(tally, i)
        clues = clues_at.get(row, {}).get(names[i], ())
        if not clues:
            n_rows = max(int(tally.lasting[i]), 1)
            clues = (Lasting(names[i], n_rows, float(tally.parts[i])),)
        blames.append(
            Blame(
                names[i],
                float(shares[i]),
                float(tally.parts[i]),
                clues,
                scorer.n_training,
                None if row == tally.peak else row,
            )
        )
    started, ended, peaked = (
        None if times is None or row < first else times.cell(row - first)
        for row in (tally.first, tally.last, tally.peak)
    )
    return Incident(
        start=tally.first,
        end=tally.last,
        n_rows=tally.n_rows,
        peak=tally.peak,
        score=tally.score,
        severity=event.severity,
        kind=event.kind,
        ongoing=event.is_open,
        series=outline.series or None,
        started=started,
        ended=ended,
        peaked=peaked,
        blames=tuple(blames),
    )
