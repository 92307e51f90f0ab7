"""The incidents of a table before anyone looks for clues, by story: grouped rows, or single ones.

Rows that are no series stand for themselves, and there may be very many of them: what adds up over a row
is found when it is asked for.
"""

from collections.abc import Iterator, Sequence
from typing import overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats
from truism.incidents.deviations import Judge, differences, silences_of
from truism.incidents.events import ENDED, NEVER, Event, Limits, Silence, by_story
from truism.incidents.following import Following, Found
from truism.incidents.marks import Marker, Marks
from truism.score.scorer import Scorer
from truism.table.aside import Aside
from truism.table.columns import Table


class Extent(msgspec.Struct, frozen=True):
    """Where an incident is: its first and last row, how many there are, its peak and its score."""

    first: int
    last: int
    n_rows: int
    peak: int
    score: float


class Grouped(Sequence[Event]):
    """Events of incidents that consist of several rows.

    Parameters
    ----------
    outlines
        The outlines.
    n_known
        How many there are, if only the gravest were kept.

    """

    def __init__(self, outlines: Sequence[Event], n_known: int | None = None) -> None:
        self._outlines = [outlines[at] for at in by_story(outlines)]
        self._n_known = len(outlines) if n_known is None else n_known

    def __len__(self) -> int:
        return self._n_known

    @overload
    def __getitem__(self, position: int) -> Event: ...
    @overload
    def __getitem__(self, position: slice) -> list[Event]: ...
    def __getitem__(self, position: int | slice) -> Event | list[Event]:
        return self._outlines[position]

    def take(self, positions: Sequence[int]) -> list[Event]:
        """Return some of them."""
        return [self._outlines[at] for at in positions]

    def extents(self) -> Iterator[Extent]:
        """Yield where each incident is."""
        for each in self._outlines:
            yield Extent(each.first, each.last, each.n_rows, each.peak, each.score)

    def totals(self, n_variables: int) -> tuple[Floats, Floats]:
        """Return each variable's blame for all incidents, and what it adds to the scores of all rows."""
        blame, parts = np.zeros((2, n_variables))
        for each in self._outlines:
            blame += each.blame
            parts += each.parts
        return blame, parts


class Singles(Sequence[Event]):
    """Events of incidents that are one row each: those that are marked, which were set aside."""

    def __init__(self, scorer: Scorer, aside: Aside, marks: Marks, threshold: float) -> None:
        self._scorer, self._aside, self._threshold = scorer, aside, threshold
        self._parts, self._blame = marks.parts, marks.blame
        order = np.argsort(-marks.scores, kind="stable")
        self._rows, self._scores = marks.rows[order], marks.scores[order]

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, position: int) -> Event: ...
    @overload
    def __getitem__(self, position: slice) -> list[Event]: ...
    def __getitem__(self, position: int | slice) -> Event | list[Event]:
        if isinstance(position, slice):
            return self.take(range(len(self))[position])
        return self.take([range(len(self))[position]])[0]

    def take(self, positions: Sequence[int]) -> list[Event]:
        """Return some of them, which are weighed together."""
        rows, scores = self._rows[[*positions]], self._scores[[*positions]]
        return self._outline(rows, scores)

    def extents(self) -> Iterator[Extent]:
        """Yield where each incident is."""
        for row, score in zip(self._rows.tolist(), self._scores.tolist(), strict=True):
            yield Extent(row, row, 1, row, score)

    def totals(self, n_variables: int) -> tuple[Floats, Floats]:
        """Return each variable's blame for all incidents, and what it adds to the scores of all rows."""
        assert len(self._parts) == n_variables
        return self._blame, self._parts

    def _outline(self, rows: NDArray[np.int64], scores: Floats) -> list[Event]:
        if not len(rows):
            return []
        weighed = self._scorer.weigh_alone(self._aside.take(rows))
        far = Judge(self._scorer.model).deviations(weighed)
        apart = differences(self._scorer, weighed)
        silenced = silences_of(self._scorer.model, weighed)
        return [
            self._event(row, score, far[at], weighed.parts[at], apart[at], silenced[at])
            for at, (row, score) in enumerate(zip(rows.tolist(), scores.tolist(), strict=True))
        ]

    def _event(
        self,
        row: int,
        score: float,
        far: Floats,
        parts: Floats,
        apart: Floats,
        silences: dict[str, Silence],
    ) -> Event:
        """Return a row that stands for itself."""
        limit, nought = self._threshold, np.zeros(len(far), np.int64)
        since = np.where(far > 0, row, NEVER)
        return Event(
            *("", ENDED, row, row, row, row, row, False, row, row, row),
            score=score,
            severity=score / limit - 1 if limit > 0 else score,
            n_rows=1,
            kind="incident",
            frozen=0.0 * far,
            highest=far,
            blame=far,
            parts=parts,
            strength=far,
            above=np.fmax(apart, 0.0),
            below=np.fmax(-apart, 0.0),
            member=nought,
            since=since,
            telling=since,
            lasting=nought,
            n_known=np.isfinite(apart).astype(np.int64),
            dead=nought + NEVER,
            stood=nought,
            lately=0.0 * far,
            led=nought,
            silences=silences,
        )


Outlines = Grouped | Singles


def find_rows(
    scorer: Scorer,
    table: Table,
    limits: Limits,
    before: Following | None = None,
    n_jobs: int = 1,
) -> Found:
    """Score rows that are no series, and mark those above the threshold: incidents by themselves.

    Of those before them, `before` says how many there were.
    """
    first, threshold = 0 if before is None else before.n_rows, limits.threshold
    scores, marker = scorer.score(table, n_jobs), Marker(scorer.model, table, threshold)
    for rows, weighed in scorer.weigh_some(table, np.flatnonzero(scores > threshold), n_jobs):
        marker.take(rows, weighed, scores[rows])
    return Found(scores, scores, (), Following(n_rows=first + table.n_rows), marker.result())
