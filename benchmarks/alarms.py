"""What somebody who lives with the alarms of a series gets, counted from outside.

A segment is a run of anomalous rows in one series. Its *window* goes from `BEFORE` rows before it to
`DEADLINE` rows after its beginning, its *reach* to `AFTER` rows past its end; neither goes into another
series or the next segment's window. An event belongs to the segment in whose reach it begins, and
reports the segment if it begins in the window: one that began earlier and is still open reports nothing
new. An event that belongs to no segment is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from statistics import fmean, median
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks import metrics
from benchmarks.cases import segments_of
from benchmarks.results import Alarms, Averaged, Labelled
from benchmarks.timed import Truth
from truism.table.deltas import DELTA

BEFORE, DEADLINE, AFTER = 5, 60, 20
N_REPEATED = 3  # events of a table that are looked for again without the rows after their start
GAP = 5  # rows below a threshold that may lie between two rows of one group
RATE = 1.2  # false groups per 1,000 normal rows
SPANS = (1, 5, 20)

Scores = NDArray[np.float64]
Rows = NDArray[np.int64]


class Event(Protocol):
    """An incident as the program reports it: rows `start` to `end`, its kind, and what it blames."""

    start: int
    end: int
    kind: str
    blames: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Window:
    """A segment, rows `start` to `stop` (not included), and where events count for it.

    Its window goes from `first` to `deadline`, its reach from `first` to `reach`.
    """

    start: int
    stop: int
    first: int
    deadline: int
    reach: int


def windows(
    segments: Sequence[tuple[int, int]], firsts: Sequence[int], n_rows: int
) -> list[Window]:
    """Return the windows of segments in order; series begin at the rows `firsts`."""
    edges = np.array([*firsts, n_rows])
    following = [*(start - BEFORE for start, _ in segments), n_rows][1:]
    placed = []
    for (start, stop), other in zip(segments, following, strict=True):
        series = np.searchsorted(edges, start, "right")
        low, high = int(edges[series - 1]), int(edges[series])
        reach = min(high, stop + AFTER, max(stop, other))
        placed.append(
            Window(start, stop, max(low, start - BEFORE), min(reach, start + DEADLINE), reach)
        )
    return placed


def windows_of(label: NDArray[np.int8], firsts: Sequence[int]) -> list[Window]:
    """Return the windows of all runs of anomalous rows, each within one series."""
    segments = [
        (low + start, low + stop)
        for low, high in pairwise((*firsts, len(label)))
        for start, stop in segments_of(label[low:high])
    ]
    return windows(segments, firsts, len(label))


def owners(placed: Sequence[Window], n_rows: int) -> Rows:
    """Return for each row the place of the segment to which an event belongs that begins there, or -1."""
    owner = np.full(n_rows, -1)
    for place in reversed(range(len(placed))):  # of two that meet, the earlier one owns the row
        owner[placed[place].first : placed[place].reach] = place
    return owner


def named(event: Event) -> list[str]:
    """Return the variables that an event blames, first to last; ΔX counts as X."""
    return list(dict.fromkeys(blame.variable.removeprefix(DELTA) for blame in event.blames))


def rank_among(names: Sequence[str], targets: Iterable[str]) -> int | None:
    """Return the place of the first target among names, or None.

    >>> rank_among(["a", "b", "c"], {"c", "b"}), rank_among(["a"], {"b"})
    (2, None)
    """
    wanted = set(targets)
    return next((place for place, name in enumerate(names, 1) if name in wanted), None)


def judge(
    incidents: Callable[[pa.Table], Sequence[Event]],
    test: pa.Table,
    label: NDArray[np.int8],
    truth: Truth,
) -> Alarms:
    """Count the events that `incidents` finds in a table; it is asked again for its first rows alone."""
    events = sorted(incidents(test), key=lambda event: event.start)
    placed, normal = windows_of(label, truth.firsts), label == 0
    of_segment, false = assign(events, placed, len(label))
    inside = _covered([event for event in events if str(event.kind) == "incident"], len(label))
    repeated = events[:: max(1, len(events) // N_REPEATED)][:N_REPEATED]
    absent = [
        all(again.start != event.start for again in incidents(test.slice(0, event.start + 1)))
        for event in repeated
    ]
    return Alarms(
        segments=judge_segments(placed, of_segment, truth.causes, _covered(events, len(label))),
        n_normal=int(normal.sum()),
        n_false=sum(str(event.kind) == "incident" for event in false),
        n_lasting=sum(str(event.kind) != "incident" for event in false),
        n_open=int((inside & normal).sum()),
        n_repeated=len(absent),
        n_absent=sum(absent),
    )


def assign(
    events: Iterable[Any], placed: Sequence[Window], n_rows: int
) -> tuple[list[list[Any]], list[Any]]:
    """Return the events of each segment, and those that belong to none; `start` is all they need."""
    owner, false = owners(placed, n_rows), []
    of_segment: list[list[Any]] = [[] for _ in placed]
    for event in events:
        place = int(owner[event.start])
        (of_segment[place] if place >= 0 else false).append(event)
    return of_segment, false


def telling(events: Iterable[Any], segments: Sequence[tuple[int, int]], n_rows: int) -> list[Any]:
    """Return for each segment of one series the first event if it begins in the window, else None."""
    placed = windows(segments, (0,), n_rows)
    of_segment, _ = assign(sorted(events, key=lambda event: event.start), placed, n_rows)
    return [
        own[0] if own and own[0].start < window.deadline else None
        for own, window in zip(of_segment, placed, strict=True)
    ]


def judge_segments(
    placed: Sequence[Window],
    of_segment: Sequence[Sequence[Event]],
    causes: Mapping[tuple[int, int], frozenset[str]],
    standing: NDArray[np.bool_],
) -> tuple[Labelled, ...]:
    """Return what became of each segment; `standing` are the rows in which an event is open."""
    judged = []
    for window, events in zip(placed, of_segment, strict=True):
        n_rows = window.deadline - window.first
        targets = causes.get((window.start, window.stop))
        is_judged = targets is not None
        if not events or events[0].start >= window.deadline:
            judged.append(Labelled(window.start, n_rows, is_late=bool(events), is_judged=is_judged))
            continue
        first = events[0]
        rows = slice(max(window.start, first.start), max(window.stop, first.start + 1))
        judged.append(
            Labelled(
                window.start,
                n_rows,
                delay=first.start - window.start,
                n_repeats=len(events) - 1,
                stays=float(standing[rows].mean()),
                is_judged=is_judged,
                rank=rank_among(named(first), targets or ()),
            )
        )
    return tuple(judged)


def _covered(events: Iterable[Event], n_rows: int) -> NDArray[np.bool_]:
    covered = np.zeros(n_rows, np.bool_)
    for event in events:
        covered[event.start : event.end + 1] = True
    return covered


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a family, over its tables' segments and rows taken together.

    `told`, `late` and `chance` are shares of the segments, `repeats`, `stays` and `delay` are about those
    that are told, `false` and `lasting` are per 1,000 normal rows.
    """

    segments: float
    told: float | None
    late: float | None
    chance: float | None
    repeats: float | None
    false: float
    lasting: float
    open: float
    stays: float | None
    delay: float | None
    acausal: float | None
    first: float | None
    three: float | None
    first_all: float | None
    three_all: float | None


def figures(parts: Sequence[Alarms]) -> Figures:
    """Return the figures of tables that belong together."""
    segments = [segment for part in parts for segment in part.segments]
    told = [segment for segment in segments if segment.delay is not None]
    judged = [segment for segment in segments if segment.is_judged]
    judged_told = [segment for segment in judged if segment.delay is not None]
    n_normal = sum(part.n_normal for part in parts)
    n_false, n_lasting = (sum(getattr(part, n) for part in parts) for n in ("n_false", "n_lasting"))
    rate = (n_false + n_lasting) / n_normal
    n_repeated = sum(part.n_repeated for part in parts)

    def ranked(those: Sequence[Labelled], most: int) -> float | None:
        return _mean(segment.rank is not None and segment.rank <= most for segment in those)

    return Figures(
        segments=len(segments),
        told=_mean(segment.delay is not None for segment in segments),
        late=_mean(segment.is_late for segment in segments),
        chance=_mean(1 - float(np.exp(-rate * segment.n_rows)) for segment in segments),
        repeats=_mean(segment.n_repeats for segment in told) if told else 0.0,
        false=1000 * n_false / n_normal,
        lasting=1000 * n_lasting / n_normal,
        open=sum(part.n_open for part in parts) / n_normal,
        stays=_mean(segment.stays for segment in told),
        delay=median(segment.delay or 0 for segment in told) if told else None,
        acausal=sum(part.n_absent for part in parts) / n_repeated if n_repeated else None,
        first=ranked(judged_told, 1),
        three=ranked(judged_told, 3),
        first_all=ranked(judged, 1),
        three_all=ranked(judged, 3),
    )


def mean_of(parts: Sequence[Figures]) -> Figures:
    """Return the means over families; a family without a figure does not count for it."""
    means = {
        each.name: _mean(getattr(part, each.name) for part in parts) for each in fields(Figures)
    }
    return Figures(**means)  # type: ignore[arg-type]  # what every family has, the mean has


def _mean(values: Iterable[float | None]) -> float | None:
    present = [float(value) for value in values if value is not None]
    return fmean(present) if present else None


def average(scores: Scores, span: int, firsts: Sequence[int] = (0,)) -> Scores:
    """Average exponentially over the rows of each series; a span of one row changes nothing.

    >>> average(np.array([0.0, 3.0, 3.0]), 2).round(2).tolist()
    [0.0, 2.0, 2.67]
    """
    rate, averaged, beginnings = 2 / (span + 1), np.empty(len(scores)), set(firsts)
    last = 0.0
    for row, score in enumerate(scores.tolist()):
        last = score if row in beginnings else last + rate * (score - last)
        averaged[row] = last
    return averaged


def judge_scores(
    scores: Scores, label: NDArray[np.int8], truth: Truth, spans: Iterable[int]
) -> tuple[Averaged, ...]:
    """Measure scores and their averages, with the threshold in hindsight."""
    placed = windows_of(label, truth.firsts)
    n_allowed = RATE * int((label == 0).sum()) / 1000
    judged = []
    for span in spans:
        averaged = average(scores, span, truth.firsts)
        auc, pauc = metrics.auc(label, averaged), metrics.partial_auc(label, averaged)
        n_told = in_hindsight(averaged, placed, truth.firsts, n_allowed)
        judged.append(Averaged(span, auc, pauc, n_told, len(placed)))
    return tuple(judged)


def in_hindsight(
    scores: Scores, placed: Sequence[Window], firsts: Sequence[int], n_allowed: float
) -> int:
    """Return how many segments the best threshold reports that has no more false groups than allowed.

    Rows above a threshold form groups (gap `GAP`, within a series), and a group is an event that begins
    with its first row. The threshold falls from the top until there are more false groups than allowed.
    (Lower ones are not looked at: below all scores there is one group.)
    """
    n_rows = len(scores)
    owner = owners(placed, n_rows)
    in_window = np.zeros(n_rows, np.bool_)
    for place, window in enumerate(placed):
        in_window[window.first : window.deadline] = owner[window.first : window.deadline] == place
    low = np.repeat(firsts, np.diff([*firsts, n_rows]))
    above, begins = np.zeros(n_rows, np.bool_), np.zeros(n_rows, np.bool_)
    n_begin = np.zeros(len(placed), np.int64)  # groups that begin in each window
    n_false, most = 0, 0

    def mark(row: int, now: bool) -> int:
        """Let a group begin with a row, or no longer; return by how much there are more false ones."""
        change = int(now) - int(begins[row])
        begins[row] = now
        if in_window[row]:
            n_begin[owner[row]] += change
        return change if owner[row] < 0 else 0

    order = np.argsort(-scores, kind="stable")
    levels = np.flatnonzero(np.diff(scores[order])) + 1
    for rows in np.split(order, levels):
        for row in rows.tolist():
            n_false += mark(row, not above[max(low[row], row - GAP - 1) : row].any())
            above[row] = True
            for later in range(row + 1, min(n_rows, row + GAP + 2)):
                if begins[later] and low[later] == low[row]:
                    n_false += mark(later, now=False)
        if n_false > n_allowed:
            break
        most = max(most, int((n_begin > 0).sum()))
    return most
