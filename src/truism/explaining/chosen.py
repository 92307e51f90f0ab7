"""Rows that are to be accepted: numbers or an id go in, rows and those around them come out.

The table may be held whole or read in parts, several times. Of the rows around, a long table gives a
sample that is chosen by number, so that what is found does not depend on the parts.
"""

from collections.abc import Callable, Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import ParameterError
from truism.explaining.findings import Findings
from truism.scoring.scorer import Scorer
from truism.scoring.series import State
from truism.scoring.tolerance import Tolerance
from truism.table.columns import Table, join_tables

MOST_AROUND = 1 << 16  # other rows by which conditions are sharpened

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Read = Callable[[], Iterator[tuple[Table, Table]]]
"""Reads a table in parts, from the first row on: each as it is, and prepared."""


class Named(msgspec.Struct, frozen=True, eq=False):
    """Which rows.

    Parameters
    ----------
    numbers
        Their numbers, ascending.
    series
        The series that they are of; any if None.
    still
        Variables that stood still for longer than ever in them.

    """

    numbers: Rows
    series: str | None = None
    still: tuple[str, ...] = ()

    def within(self, scorer: Scorer, table: Table, first: int = 0) -> Rows:
        """Return the positions of these rows in a prepared part of the table, from row `first` on."""
        ends = np.searchsorted(self.numbers, [first, first + table.n_rows])
        own = self.numbers[slice(*ends.tolist())] - first
        if self.series is None or not len(own):
            return own
        timeline = scorer.lay_out(table)
        of_series = [timeline.names[i] == self.series for i in timeline.of_row[own]]
        return own[np.array(of_series, np.bool_)]


class Chosen(msgspec.Struct, frozen=True, eq=False):
    """Rows of a table.

    Parameters
    ----------
    own
        The rows, prepared; none if a condition names them.
    around
        Other rows of the table, prepared; of a long table a sample.
    count
        Counts the rows of the whole table in which the newest acceptance applies.
    past
        What the rows before them add to the score of each; nothing if rows are no series.
    still
        Variables that stood still for longer than ever in the rows, which none of them shows by itself.

    """

    own: Table
    around: Table
    count: Callable[[Tolerance], int]
    past: Floats
    still: tuple[str, ...] = ()


def find_named(findings: Findings, wanted: str, kind: str) -> Named:
    """Return the rows that belong to an incident, a lasting change or a pattern.

    Parameters
    ----------
    findings
        What a check of the rows found.
    wanted
        The id that it shows.
    kind
        ``"pattern"``, or anything else for incidents and lasting changes.

    """
    if kind == "pattern":
        for position, pattern in enumerate(findings.patterns):
            if pattern.id == wanted:
                return Named(findings.patterns.rows(position))
    else:
        for events in (findings.incidents, findings.shifts):
            for position, outline in enumerate(events.outlines[:]):
                if events.id_of(outline) == wanted:
                    found = events[position]
                    return Named(np.arange(found.onset, found.end + 1), outline.series, found.still)
    constraint = "be an id that a check of the same rows with the same model shows"
    raise ParameterError.of(kind, constraint, wanted)


def choose(scorer: Scorer, named: Named, read: Read, n_rows: int) -> tuple[Chosen, Table]:
    """Take rows out of a table.

    Parameters
    ----------
    scorer
        The model.
    named
        Which rows.
    read, n_rows
        The table, and how many rows it has.

    Returns
    -------
    chosen, raw
        The rows with those around them, and the rows as they were before they were prepared.

    """
    step, first = -(-n_rows // MOST_AROUND) or 1, 0
    raw, own, around, scores = [], [], [], []
    state: State = {}
    has_past = scorer.model.memory is not None and bool(len(named.numbers))
    for table, prepared in read():
        rows = named.within(scorer, prepared, first)
        if has_past:
            followed, state = _score(scorer, prepared, state)
            scores.append(followed[rows])
        raw.append(table.take(rows))
        own.append(prepared.take(rows))
        others = np.ones(prepared.n_rows, np.bool_)
        others[rows] = False
        at = np.arange(-first % step, prepared.n_rows, step)
        around.append(prepared.take(at[others[at]]))
        first += prepared.n_rows

    def count(tolerance: Tolerance) -> int:
        return sum(int(tolerance.applied_in(prepared)[-1].sum()) for _, prepared in read())

    found = join_tables(own)
    past = np.zeros(found.n_rows)
    if has_past:
        past = np.maximum(np.concatenate(scores) - scorer.score(found), past)
    return Chosen(found, join_tables(around), count, past, named.still), join_tables(raw)


def _score(scorer: Scorer, table: Table, state: State) -> tuple[Floats, State]:
    """Score rows that follow others; return what is left after them, too."""
    scores = np.empty(table.n_rows)
    for block, weighed, after in scorer.follow(table, state):
        scores[block], state = weighed.scores, after
    return scores, state


def choose_from(scorer: Scorer, prepared: Table, rows: Rows, still: tuple[str, ...] = ()) -> Chosen:
    """Take rows out of a prepared table that is held whole; `rows` are positions."""
    named = Named(np.unique(rows), still=still)
    return choose(scorer, named, lambda: iter([(prepared, prepared)]), prepared.n_rows)[0]
