"""What happened: anomalous rows that belong together go in, incidents with merged blames come out."""

import datetime
import html
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.clues import Clue, Rarity
from truism.explaining.explanations import Blame, blames_html, describe, say_moment
from truism.explaining.investigation import find_clues
from truism.model.schema import Schema
from truism.model.settings import check_whole
from truism.model.wording import visible
from truism.scoring.alignment import time_column
from truism.scoring.scorer import Scorer
from truism.scoring.weighed import Pieces, Weighed
from truism.table.cells.times import Moment
from truism.table.columns import Column, Table

GAP_ROWS, GAP_SECONDS, MAX_GAP_ROWS = 5, 60, 3600
MIN_SHARE = 0.01  # the smallest share of the blame for an incident that is shown
ROWS_AT_ONCE = 4096  # rows of incidents that are weighed together
_PLAIN = ("start", "end", "n_rows", "peak", "score")
_TIMES = ("started", "ended", "peaked")

Rows = NDArray[np.int64]


class Incident(msgspec.Struct, frozen=True):
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
    started, ended, peaked
        The times of these rows, if the table has times.
    blames
        Merged over the incident; see `incident_shares` for the shares. With evidence scoring,
        variables with less than 1 % are left out, the clues come from the row with the strongest
        evidence against the variable, and a contradiction it is blamed for comes first. With the
        paper's scoring, the clues come from the peak or, if the variable is not wrong there, from
        the row in which it is worst.

    """

    start: int
    end: int
    n_rows: int
    peak: int
    score: float
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


def find_incidents(
    scorer: Scorer,
    table: Table,
    scores: NDArray[np.float64],
    *,
    gap: int | None = None,
    threshold: float | None = None,
) -> list[Incident]:
    """Group anomalous rows into incidents, worst first.

    Parameters
    ----------
    scorer
        The model.
    table
        The rows.
    scores
        Their scores.
    gap
        How many normal rows may lie between two anomalous rows of one incident; `usual_gap` when
        absent.
    threshold
        Rows that score above it are anomalous; the model's own when absent.

    Returns
    -------
    list of Incident

    """
    if gap is None:
        gap = usual_gap(scorer.model.schema, table)
    check_whole("gap", gap, 0)
    if threshold is None:
        threshold = scorer.model.threshold
    groups = group_rows(np.flatnonzero(scores > threshold), gap)
    times = time_column(scorer.model.schema, table)
    incidents = [
        incident
        for some in _portions(groups)
        for incident in _explain_groups(scorer, table, some, times)
    ]
    return sorted(incidents, key=lambda each: (-each.score, each.start))


def group_rows(rows: Rows, gap: int) -> list[Rows]:
    """Divide ascending rows wherever more than `gap` other rows lie between two of them.

    >>> [group.tolist() for group in group_rows(np.array([1, 2, 5, 9]), 2)]
    [[1, 2, 5], [9]]
    """
    if not len(rows):
        return []
    return np.split(rows, np.flatnonzero(np.diff(rows) > gap + 1) + 1)


def _portions(groups: Sequence[Rows]) -> Iterator[list[Rows]]:
    """Divide groups so that a portion's rows can be weighed together."""
    some: list[Rows] = []
    n_rows = 0
    for group in groups:
        some.append(group)
        n_rows += len(group)
        if n_rows >= ROWS_AT_ONCE:
            yield some
            some, n_rows = [], 0
    if some:
        yield some


def usual_gap(schema: Schema, table: Table) -> int:
    """Return how many normal rows are allowed within an incident: one minute's worth, at least five.

    >>> from truism.table.frames import as_table
    >>> usual_gap(Schema(()), as_table({"pump": ["on", "off"]}))
    5
    """
    times = time_column(schema, table)
    if times is None or times.values.dtype.kind != "M" or len(times.values) < 2:
        return GAP_ROWS
    steps = np.diff(times.present).astype("timedelta64[us]").astype(np.int64)
    steps = steps[steps > 0]
    if not len(steps):
        return GAP_ROWS
    rows = int(GAP_SECONDS * 1_000_000 / np.median(steps))
    return min(max(rows, GAP_ROWS), MAX_GAP_ROWS)


class _Outline(msgspec.Struct, frozen=True, eq=False):
    """An incident before it has clues.

    Parameters
    ----------
    rows
        Its rows.
    first
        Where they begin among the rows that were weighed together.
    shares
        Each variable's share of the blame.
    totals
        What each variable adds to the scores of all rows.
    peak
        Which of its rows has the highest score.
    telling
        For each blamed variable, worst first, the row with the strongest evidence against it.

    """

    rows: Rows
    first: int
    shares: NDArray[np.float64]
    totals: NDArray[np.float64]
    peak: int
    telling: dict[int, int]


def _explain_groups(
    scorer: Scorer, table: Table, groups: Sequence[Rows], times: Column | None
) -> Iterator[Incident]:
    """Weigh the rows of some incidents once, and find the variables to blame for each."""
    rows = np.concatenate(groups)
    part = table.take(rows)
    weighed = scorer.weigh(part)
    ends = np.cumsum([len(group) for group in groups])
    outlines = [
        _outline(
            scorer, group, int(end) - len(group), weighed.take(np.arange(end - len(group), end))
        )
        for group, end in zip(groups, ends, strict=True)
    ]
    at = sorted({each.first + row for each in outlines for row in each.telling.values()})
    chosen = np.array(at, np.int64)
    told = find_clues(scorer, part.take(chosen), weighed.take(chosen))
    clues_at = dict(zip(at, told, strict=True))
    scores = weighed.scores
    for each in outlines:
        yield _incident(scorer, each, clues_at, weighed, scores, times)


def incident_shares(scorer: Scorer, weighed: Weighed) -> NDArray[np.float64]:
    """Divide the blame for an incident among its rows and variables; the shares sum to 1.

    With the paper's scoring, a share is the mean of the shares in the anomalous rows: one row far out
    of range must not hide what broke in others. With evidence scoring, a variable is blamed for being
    contradicted more than usual, in units of what is usual for it, and early rows count most, because
    a fault spreads to other variables. A value that is merely rare is blamed only if nothing is
    contradicted: rare values are often consequences. docs/experiments.md compares ways to blame. An
    incident of one row has the shares of that row, so that both are explained alike.

    Parameters
    ----------
    scorer
        The model.
    weighed
        The anomalous rows of the incident.

    Returns
    -------
    Rows × variables.

    """
    parts = weighed.parts
    shares: NDArray[np.float64] = parts / parts.sum(axis=1, keepdims=True)
    if weighed.pieces is None or len(parts) == 1:
        return shares / len(parts)
    unusual = _beyond_usual(scorer, weighed.pieces)
    told = unusual.sum(axis=1) > 0
    shares[told] = unusual[told] / unusual[told].sum(axis=1, keepdims=True)
    weights: NDArray[np.float64] = 1.0 / np.arange(1, len(parts) + 1)
    shares *= (weights / weights.sum())[:, None]
    return shares


def _beyond_usual(scorer: Scorer, pieces: Pieces) -> NDArray[np.float64]:
    """Return how much more than usual each variable is contradicted, in units of what is usual."""
    assert scorer.model.evidence is not None
    level, spread = np.array([(each.mean, each.spread) for each in scorer.model.evidence.usual]).T
    beyond: NDArray[np.float64] = np.maximum(pieces.plain - level, 0) / spread
    return beyond


def _outline(scorer: Scorer, rows: Rows, first: int, weighed: Weighed) -> _Outline:
    shared = incident_shares(scorer, weighed)
    shares, parts = shared.sum(axis=0), weighed.parts
    # With evidence scoring every variable has a little blame; those with hardly any are left out.
    least = 0.0 if weighed.pieces is None else min(MIN_SHARE, shares.max() / 2)
    worst = [i for i in np.argsort(-shares, kind="stable").tolist() if shares[i] > least]
    peak = int(weighed.scores.argmax())
    if weighed.pieces is not None:
        telling = {i: int(shared[:, i].argmax()) for i in worst}
    else:
        telling = {i: peak if parts[peak, i] > 0 else int(parts[:, i].argmax()) for i in worst}
    return _Outline(rows, first, shares, parts.sum(axis=0), peak, telling)


def _incident(
    scorer: Scorer,
    outline: _Outline,
    clues_at: dict[int, Any],
    weighed: Weighed,
    scores: NDArray[np.float64],
    times: Column | None,
) -> Incident:
    names = scorer.model.schema.names
    blames = []
    for i, row in outline.telling.items():
        clues = clues_at[outline.first + row][names[i]]
        if weighed.pieces is not None and len(outline.rows) > 1:
            at = np.array([outline.first + row])
            if _beyond_usual(scorer, weighed.pieces.take(at))[0, i] > 0:
                clues = _contradictions_first(clues)
        blames.append(
            Blame(
                names[i],
                float(outline.shares[i]),
                float(outline.totals[i]),
                clues,
                scorer.n_training,
                None if row == outline.peak else int(outline.rows[row]),
            )
        )
    start, end, peak = (int(outline.rows[at]) for at in (0, -1, outline.peak))
    started, ended, peaked = (
        None if times is None else times.cell(row) for row in (start, end, peak)
    )
    score = float(scores[outline.first + outline.peak])
    n_rows = len(outline.rows)
    return Incident(start, end, n_rows, peak, score, started, ended, peaked, tuple(blames))


def _contradictions_first(clues: Sequence[Clue]) -> tuple[Clue, ...]:
    """Put contradictions first, which the variable is blamed for, however rare the value is."""
    return tuple(sorted(clues, key=lambda each: isinstance(each, Rarity) or each.penalty == 0))
