"""Suspects: training rows that the others contradict most, in groups, with reasons."""

from collections.abc import Iterator, Sequence
from typing import overload

import msgspec
import numpy as np

from truism.arrays import Floats, Rows
from truism.explain.explanations import Explanation, explain_rows
from truism.explain.patterns import Patterns
from truism.incidents.marks import Marker
from truism.learn.suspects import FAR, suspect
from truism.model.model import Model
from truism.model.settings import Settings
from truism.model.wording import Printed
from truism.score.alignment import time_column
from truism.score.scorer import Scorer
from truism.table.aside import Aside
from truism.table.columns import Table
from truism.table.times import Moment
from truism.work import Progress

GAP = 5  # rows between two suspects of one incident


class Group(msgspec.Struct, frozen=True):
    """Suspects that belong together: rows of a series near each other, or rows of one pattern."""

    rows: tuple[int, ...]  # their positions in the table, ascending
    score: float  # the highest score among them, in multiples of the threshold
    started: Moment | None  # the times of the first and the last row, if the table has times
    ended: Moment | None
    explanation: Explanation  # why the row with the highest score is contradicted
    summary: str = ""  # what a pattern has in common; empty for rows of a series

    def __str__(self) -> str:
        first, last = self.rows[0], self.rows[-1]
        many = f"{len(self.rows):,} rows" if len(self.rows) > 1 else "1 row"
        where = f"row {first}" if first == last else f"{many}, {first} to {last}"
        when = "" if self.started is None else f" ({self.started})"
        if self.ended is not None and self.ended != self.started:
            when = f" ({self.started} to {self.ended})"
        return f"{where}{when}, {self.score:.3g} times the threshold"

    def __repr__(self) -> str:
        return f"<Group of suspects: {self}>"


class Suspects(Printed, Sequence[Group]):
    """Training rows that the others contradict, in groups, those that are contradicted most first.

    `hidden` are those of the rows that are ordinary once they are learned, which should not be; all of
    them in a series.
    """

    def __init__(
        self,
        rows: Rows,
        n_rows: int,
        groups: Sequence[Group],
        time: str | None,
        hidden: Rows | None = None,
    ) -> None:
        self.rows, self.n_rows, self.time = rows, n_rows, time
        self.hidden = rows if hidden is None else hidden
        self._groups = tuple(groups)

    def __len__(self) -> int:
        return len(self._groups)

    @overload
    def __getitem__(self, position: int) -> Group: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Group, ...]: ...
    def __getitem__(self, position: int | slice) -> Group | tuple[Group, ...]:
        return self._groups[position]

    def __repr__(self) -> str:
        return f"<Suspects: {len(self.rows):,} of {self.n_rows:,} rows>"

    def __str__(self) -> str:
        return "\n\n".join(f"{group}\n{group.explanation}" for group in self._groups) or "none"


def find_suspects(
    table: Table, settings: Settings, *, delta: bool, n_jobs: int, progress: Progress
) -> Suspects:
    """Find the training rows that the others contradict far beyond the threshold, and group them."""
    suspects = suspect(table, settings, delta=delta, n_jobs=n_jobs, progress=progress)
    groups: list[Group] = []
    if suspects.judge is not None:
        groups = _grouped(suspects.judge, suspects.table, suspects.rows, suspects.scores)
    return Suspects(suspects.rows, table.n_rows, groups, suspects.time, suspects.hidden)


def _grouped(judge: Model, table: Table, rows: Rows, scores: Floats) -> list[Group]:
    """Put suspects together, and say what speaks against them."""
    scorer, groups = Scorer(judge), []
    times = time_column(judge.schema, table)
    for members, summary in _groups(scorer, table, rows):
        of_rows = scores[np.searchsorted(rows, members)]
        worst = members[[int(of_rows.argmax())]]
        started, ended = (
            None if times is None else times.cell(int(row)) for row in (members[0], members[-1])
        )
        groups.append(
            Group(
                tuple(members.tolist()),
                float(of_rows.max()),
                started,
                ended,
                explain_rows(scorer, table, worst, times)[0],
                summary,
            )
        )
    return sorted(groups, key=lambda group: (-group.score, group.rows))


def _groups(scorer: Scorer, table: Table, rows: Rows) -> Iterator[tuple[Rows, str]]:
    """Yield rows that belong together, and what they have in common if they are no series."""
    if not len(rows):
        return
    model = scorer.model
    if model.series is not None:
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > GAP + 1) + 1):
            yield run, ""
        return
    part = table.take(rows)
    marker = Marker(model, part, FAR * model.threshold)
    weighed = scorer.weigh(part)
    marker.take(np.arange(len(rows)), weighed, weighed.scores)
    aside = Aside()
    aside.add(part, np.arange(len(rows)))
    patterns = Patterns(scorer, aside, marker.result(), None)
    for position in range(len(patterns)):
        yield rows[patterns.rows(position)], patterns[position].summary
