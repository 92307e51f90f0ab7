"""How scores and incidents serve whoever has to react: scores or incidents go in, measures come out.

Threshold in hindsight: scores above it form groups (gap 5), and a group that touches no true segment,
widened by 20 rows on either side, is a false incident. The threshold is lowered from the top until there
are more false incidents than allowed; recall is the share of the segments that hold a row above it.
(Thresholds lower still are not looked at: below all scores there is one group, which touches a segment.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks import metrics
from benchmarks.cases import segments_of
from benchmarks.results import Alarms, Averaged
from benchmarks.timed import Truth

GAP = 5
MARGIN = 20
RATES = (1.0, 0.2)  # false incidents per 1,000 normal rows
SPANS = (1, 5, 20)

Scores = NDArray[np.float64]
Ranges = Sequence[tuple[int, int]]


class Event(Protocol):
    """An incident as the product tells it: rows `start` to `end`, and its kind."""

    start: int
    end: int
    kind: str


def average(scores: Scores, span: int) -> Scores:
    """Average exponentially over rows; a span of one row changes nothing.

    >>> average(np.array([0.0, 3.0, 3.0]), 2).round(2).tolist()
    [0.0, 2.0, 2.67]
    """
    rate, found = 2 / (span + 1), np.empty(len(scores))
    last = scores[0]
    for row, score in enumerate(scores.tolist()):
        last += rate * (score - last)
        found[row] = last
    return found


def excused(segments: Ranges, truth: Truth) -> NDArray[np.bool_]:
    """Return the rows at which an incident is not false: near a segment, or not normal."""
    near = ~truth.normal
    for start, stop in segments:
        near[max(0, start - MARGIN) : stop + MARGIN] = True
    return near


def recall(scores: Scores, segments: Ranges, near: NDArray[np.bool_], n_allowed: float) -> float:
    """Return the share of the segments that are found with at most so many false incidents."""
    groups = _Groups(len(scores), near)
    segment_of = np.full(len(scores), -1)
    for number, (start, stop) in enumerate(segments):
        segment_of[start:stop] = number
    order = np.argsort(-scores, kind="stable")
    levels = np.flatnonzero(np.diff(scores[order])) + 1
    found: set[int] = set()
    for rows in np.split(order, levels):
        for row in rows.tolist():
            groups.add(row)
        if groups.n_false > n_allowed:
            break
        found |= set(segment_of[rows].tolist())
    return len(found - {-1}) / len(segments)


class _Groups:
    """Rows above a threshold that falls: which of them belong together, and how many groups are false."""

    def __init__(self, n_rows: int, near: NDArray[np.bool_]) -> None:
        self.starts: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.parents: dict[int, int] = {}
        self.n_before = np.concatenate([[0], np.cumsum(near)])
        self.owner = np.full(n_rows, -1)
        self.n_false = 0

    def add(self, row: int) -> None:
        """Add a row, and join it with the groups that are near enough."""
        first, last = row, row
        near = self.owner[max(0, row - GAP - 1) : row + GAP + 2]
        joined = {self._root(each) for each in near[near >= 0].tolist()}
        for root in joined:
            self.n_false -= self._is_false(self.starts[root], self.ends[root])
            first, last = min(first, self.starts[root]), max(last, self.ends[root])
        root = min(joined, default=row)
        for other in joined - {root}:
            self.parents[other] = root
        self.owner[row] = root
        self.starts[root], self.ends[root] = first, last
        self.n_false += self._is_false(first, last)

    def _is_false(self, first: int, last: int) -> bool:
        return bool(self.n_before[last + 1] == self.n_before[first])

    def _root(self, group: int) -> int:
        while group in self.parents:
            group = self.parents[group]
        return group


def judge_scores(
    scores: Scores, label: NDArray[np.int8], truth: Truth, spans: Iterable[int]
) -> tuple[Averaged, ...]:
    """Measure scores and their averages, with the threshold in hindsight."""
    segments = segments_of(label)
    near, n_normal = excused(segments, truth), int(truth.normal.sum())
    found = []
    for span in spans:
        own = average(scores, span)
        compared = label[truth.compared], own[truth.compared]
        often, seldom = (recall(own, segments, near, n_normal * rate / 1000) for rate in RATES)
        found.append(
            Averaged(span, metrics.auc(*compared), metrics.partial_auc(*compared), often, seldom)
        )
    return tuple(found)


def judge_incidents(events: Sequence[Event], label: NDArray[np.int8], truth: Truth) -> Alarms:
    """Measure the product's own incidents at its own threshold."""
    segments = segments_of(label)
    near, n_normal = excused(segments, truth), int(truth.normal.sum())
    inside, false = np.zeros(len(label), np.bool_), {"incident": 0, "shift": 0}
    for each in events:
        if each.kind == "incident":
            inside[each.start : each.end + 1] = True
        if not near[each.start : each.end + 1].any():
            false[each.kind] += 1
    delays = [
        max(min(begins) - start, 0)
        for start, stop in segments
        if (begins := [each.start for each in events if each.start < stop and each.end >= start])
    ]
    return Alarms(
        inside=float((inside & truth.normal).sum() / n_normal),
        false_incidents=1000 * false["incident"] / n_normal,
        false_shifts=1000 * false["shift"] / n_normal,
        found=len(delays) / len(segments),
        delay=float(np.median(delays)) if delays else None,
    )
