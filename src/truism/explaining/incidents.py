"""What happened: anomalous rows that belong together go in, incidents with merged blames come out."""

import html
import numbers
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError
from truism.explaining.clues import Rarity, collect
from truism.explaining.explanations import Blame, Clock, Reason, blames_html, describe, say
from truism.model.schema import Schema
from truism.model.wording import visible
from truism.scoring.alignment import time_column
from truism.scoring.scorer import Scorer
from truism.table.columns import Table
from truism.table.times import dated

GAP_ROWS, GAP_SECONDS, MAX_GAP_ROWS = 5, 60, 3600
MIN_SHARE = 0.01  # of the blame for an incident, to be named


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
        The times of these rows, where the table has them.
    blames
        Merged over the incident; see `incident_shares` for the shares; under evidence scoring a
        variable with less than 1 % is not named. The reasons are those of
        the row that tells most against the variable, and where it is blamed for a contradiction,
        that comes first; under the paper's scoring those of the peak, or,
        where the variable is not wrong there, of the row in which it is worst.

    """

    start: int
    end: int
    n_rows: int
    peak: int
    score: float
    started: str | None
    ended: str | None
    peaked: str | None
    blames: tuple[Blame, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain dicts and lists."""
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return f"{self._head()}\n{describe(self.blames)}"

    def _head(self) -> str:
        where = f"rows {self.start} to {self.end}" if self.end > self.start else f"row {self.start}"
        return f"{where}{self._when()}, peak score {self.score:.4g}"

    def _when(self) -> str:
        started, ended = (
            None if time is None else visible(time) for time in (self.started, self.ended)
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
        Rows above it are anomalous; the model's own when absent.

    Returns
    -------
    list of Incident

    """
    if gap is None:
        gap = usual_gap(scorer.model.schema, table)
    if not isinstance(gap, numbers.Integral) or isinstance(gap, bool) or gap < 0:
        raise ParameterError(f"gap must be a whole number of at least 0, got {gap!r}.")
    if threshold is None:
        threshold = scorer.model.threshold
    rows = np.flatnonzero(scores > threshold)
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) > gap + 1) + 1
    incidents = [_incident(scorer, table, scores, part) for part in np.split(rows, breaks)]
    return sorted(incidents, key=lambda each: (-each.score, each.start))


def usual_gap(schema: Schema, table: Table) -> int:
    """Choose how many normal rows may lie within an incident: a minute of them, or five if more.

    >>> from truism.table.frames import as_table
    >>> usual_gap(Schema(()), as_table({"pump": ["on", "off"]}))
    5
    """
    time = time_column(schema, table)
    times = None if time is None else dated(time)
    if times is None or times.values.dtype.kind != "M" or len(times.values) < 2:
        return GAP_ROWS
    steps = np.diff(times.present).astype("timedelta64[us]").astype(np.int64)
    steps = steps[steps > 0]
    if not len(steps):
        return GAP_ROWS
    rows = int(GAP_SECONDS * 1_000_000 / np.median(steps))
    return min(max(rows, GAP_ROWS), MAX_GAP_ROWS)


def incident_shares(
    scorer: Scorer, table: Table, rows: NDArray[np.int64], parts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide the blame for an incident among its rows and variables, one in all.

    Under the paper's scoring a share is the mean of the shares in the anomalous rows: one row far out
    of range must not hide what broke in others. Under evidence scoring a variable is blamed for what
    contradicts it more than usual, in units of what is usual for it, and early rows count most,
    because what is wrong spreads to other variables. A value that is merely rare is blamed where
    nothing is contradicted: it is where consequences show. docs/experiments.md compares ways to blame.
    An incident of one row has the shares of that row, so that both are explained alike.

    Parameters
    ----------
    scorer, table
        The model and the rows.
    rows
        The anomalous rows of the incident.
    parts
        What each variable adds to their scores.

    Returns
    -------
    Rows × variables.

    """
    shares: NDArray[np.float64] = parts / parts.sum(axis=1, keepdims=True)
    if scorer.model.evidence is None or len(rows) == 1:
        return shares / len(rows)
    unusual = _contradictions_beyond_usual(scorer, table.take(rows))
    told = unusual.sum(axis=1) > 0
    shares[told] = unusual[told] / unusual[told].sum(axis=1, keepdims=True)
    weights: NDArray[np.float64] = 1.0 / np.arange(1, len(rows) + 1)
    shares *= (weights / weights.sum())[:, None]
    return shares


def _contradictions_beyond_usual(scorer: Scorer, table: Table) -> NDArray[np.float64]:
    """Give how much more than usual contradicts each variable, in units of what is usual for it."""
    assert scorer.model.evidence is not None
    level, spread = np.array([(each.mean, each.spread) for each in scorer.model.evidence.usual]).T
    beyond: NDArray[np.float64] = np.maximum(scorer.contradict(table) - level, 0) / spread
    return beyond


def _incident(
    scorer: Scorer, table: Table, scores: NDArray[np.float64], rows: NDArray[np.int64]
) -> Incident:
    parts = scorer.attribute(table.take(rows))
    shared = incident_shares(scorer, table, rows, parts)
    shares = shared.sum(axis=0)
    totals = parts.sum(axis=0)
    # Under evidence scoring everything bears a little; who bears nearly nothing is not named.
    least = 0.0 if scorer.model.evidence is None else min(MIN_SHARE, shares.max() / 2)
    worst = [i for i in np.argsort(-shares, kind="stable").tolist() if shares[i] > least]
    start, end = int(rows[0]), int(rows[-1])
    at_peak = int(scores[rows].argmax())
    peak = int(rows[at_peak])
    if scorer.model.evidence is not None:
        telling = {i: int(rows[shared[:, i].argmax()]) for i in worst}
    else:
        telling = {
            i: peak if parts[at_peak, i] > 0 else int(rows[parts[:, i].argmax()]) for i in worst
        }
    blames = []
    for i, reasons in _reasons(scorer, table, telling, is_single=len(rows) == 1).items():
        if telling[i] != peak:
            reasons = tuple(msgspec.structs.replace(each, row=telling[i]) for each in reasons)
        name = scorer.model.schema.names[i]
        blames.append(Blame(name, float(shares[i]), float(totals[i]), reasons))
    time_of = Clock(scorer, table)
    return Incident(
        start,
        end,
        len(rows),
        peak,
        float(scores[peak]),
        time_of(start),
        time_of(end),
        time_of(peak),
        tuple(blames),
    )


def _reasons(
    scorer: Scorer, table: Table, telling: Mapping[int, int], *, is_single: bool
) -> dict[int, tuple[Reason, ...]]:
    """Say what speaks against some variables, each in the row that tells most against it.

    Where a contradiction is why a variable is blamed, it comes first, however rare the value is.
    """
    rows = sorted(set(telling.values()))
    chosen = table.take(np.array(rows, np.int64))
    clues_of_rows = collect(scorer, chosen)
    blamed = np.zeros((len(rows), len(scorer.model.schema.names)))
    if scorer.model.evidence is not None and not is_single:
        blamed = _contradictions_beyond_usual(scorer, chosen)
    found = {}
    for i, row in telling.items():
        at = rows.index(row)
        clues = list(clues_of_rows[at][scorer.model.schema.names[i]])
        if blamed[at, i] > 0:
            clues.sort(key=lambda each: isinstance(each, Rarity) or each.penalty == 0)
        found[i] = tuple(say(clue, scorer.n_training) for clue in clues)
    return found
