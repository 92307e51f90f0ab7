"""Why a row is an anomaly: explanations of rows, with the variables to blame.

Every explanation answers the three questions of KDD'23, section 5.2: which variable, what it should
have been, and why.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from truism.arrays import Rows
from truism.explain.blames import (
    Blame,
    Spared,
    blame,
    describe,
    find_spared,
    in_short,
    suspects_among,
)
from truism.explain.clues import CluesOfRow
from truism.explain.investigation import find_clues
from truism.explain.listings import Listing
from truism.explain.words import Record, When
from truism.incidents.deviations import Judge
from truism.incidents.events import shares_of
from truism.incidents.following import Following
from truism.model.wording import visible
from truism.score.alignment import time_column
from truism.score.past import State
from truism.score.scorer import Scorer
from truism.score.weighed import Weighed
from truism.table.columns import Column, Table
from truism.table.notices import rows as say_rows
from truism.work import Advance, stand_still

_CHUNK = 1024
_OF_REASON = ("expected", "found", "because", "evidence", "rule", "penalty")
LINE = ("row", "time", "score", "variable", "share", *_OF_REASON)  # names of what a line holds


class Explanation(Record, frozen=True):
    """One row's score, divided among variables, largest share first.

    Parameters
    ----------
    row
        The row's position in the table.
    time
        Its time, if the table has times.
    score
        Its anomaly score.
    blames
        The variables to blame.
    accepted
        What does not count because it was accepted.

    """

    row: int
    time: When
    score: float
    blames: tuple[Blame, ...]
    accepted: tuple[Spared, ...] = ()

    def lines(self) -> list[dict[str, Any]]:
        """Return one line for each variable and reason."""
        time = None if self.time is None else str(self.time)
        head = {"row": self.row, "time": time, "score": self.score}
        return [
            {**head, "variable": blame.variable, "share": blame.share}
            | {name: getattr(reason, name) for name in _OF_REASON}
            for blame in self.blames
            for reason in blame.reasons
        ]

    def __repr__(self) -> str:
        return f"<Explanation of row {self.row}, score {self.score:.4g}: {in_short(self.blames)}>"

    def __str__(self) -> str:
        when = "" if self.time is None else f" ({visible(str(self.time))})"
        accepted = (visible(str(spared)) for spared in self.accepted)
        head = f"row {self.row}{when}, score {self.score:.4g}"
        return "\n".join([head, describe(self.blames), *accepted])


class Explanations(Listing[Explanation]):
    """The explanations of some rows of a table, made on demand.

    It is a sequence; printing shows the first few, `to_frame` and `to_dict` return all.
    """

    n_shown, if_none = 5, "no anomalies"

    def __init__(
        self, scorer: Scorer, table: Table, rows: Rows, library: str | None = None
    ) -> None:
        super().__init__()
        self._scorer, self._table, self.rows = scorer, table, rows
        self._library = library  # that of the frame that `to_frame` returns

    @cached_property
    def _times(self) -> Column | None:
        return time_column(self._scorer.model.schema, self._table)

    def _make(self, positions: Sequence[int]) -> list[Explanation]:
        return explain_rows(self._scorer, self._table, self.rows[[*positions]], self._times)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Explanation]:
        """Explain all rows in one pass, of which nothing is kept."""
        if (np.diff(self.rows) < 0).any():
            yield from self._make(range(len(self)))
            return
        for rows, weighed in chunks_of(self._scorer, self._table, self.rows):
            yield from explain_weighed(self._scorer, self._table, rows, weighed, self._times)

    @overload
    def __getitem__(self, position: int) -> Explanation: ...
    @overload
    def __getitem__(self, position: slice) -> "Explanations": ...
    def __getitem__(self, position: int | slice) -> "Explanation | Explanations":
        if isinstance(position, slice):
            return Explanations(self._scorer, self._table, self.rows[position], self._library)
        return super().__getitem__(position)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return all as plain lists and dicts."""
        return [explanation.to_dict() for explanation in self]

    def to_frame(self) -> Any:
        """Return a dataframe with one line per row, variable and reason, of the table's library."""
        from truism.table.frames import to_frame  # pandas may take a second to import

        lines = [line for explanation in self for line in explanation.lines()]
        columns = {name: [line[name] for line in lines] for name in LINE}
        return to_frame(columns, self._library)

    def __repr__(self) -> str:
        return f"<Explanations of {say_rows(len(self))}>"


def chunks_of(
    scorer: Scorer, table: Table, rows: Rows, n_jobs: int = 1, state: State | None = None
) -> Iterator[tuple[Rows, Weighed]]:
    """Weigh ascending rows in chunks that are small enough to explain all of their rows."""
    for portion, weighed in scorer.weigh_some(table, rows, n_jobs, state):
        for start in range(0, len(portion), _CHUNK):
            chunk = np.arange(start, min(start + _CHUNK, len(portion)))
            yield portion[chunk], weighed.take(chunk)


def explain_rows(
    scorer: Scorer,
    table: Table,
    rows: Sequence[int] | NDArray[np.int64],
    times: Column | None = None,
) -> list[Explanation]:
    """Explain rows of a table, whatever they score; `times` is its time column, if already read."""
    chosen = np.asarray(rows, np.int64)
    if times is None:
        times = time_column(scorer.model.schema, table)
    return explain_weighed(scorer, table, chosen, scorer.weigh(table, chosen), times)


def explain_weighed(
    scorer: Scorer, table: Table, rows: Rows, weighed: Weighed, times: Column | None
) -> list[Explanation]:
    """Explain rows of a table that were weighed."""
    clues = find_clues(scorer, table.take(rows), weighed)
    explained = zip(
        rows.tolist(),
        weighed.scores.tolist(),
        blame_rows(scorer, weighed, clues),
        find_spared(scorer.model, weighed),
        strict=True,
    )
    return [
        Explanation(row, None if times is None else times.cell(row), score, blames, accepted)
        for row, score, blames, accepted in explained
    ]


def blame_rows(
    scorer: Scorer,
    weighed: Weighed,
    clues: Iterable[CluesOfRow | None],  # of each row; None where no reasons are asked for
    most: int | None = None,
    n_reasons: int | None = None,
) -> Iterator[tuple[Blame, ...]]:
    """Divide the blame for rows among the variables, largest share first."""
    names, far = scorer.model.schema.names, Judge(scorer.model).deviations(weighed)
    for parts, deviations, clues_of in zip(weighed.parts, far, clues, strict=True):
        shares = shares_of(deviations, parts)
        order = [i for i in np.lexsort((-parts, -shares)).tolist() if parts[i] > 0]
        if clues_of is None:
            yield tuple(Blame(names[i], float(shares[i]), float(parts[i])) for i in order[:most])
            continue
        order = [i for i in order if names[i] in clues_of]
        suspects = suspects_among({names[i]: float(shares[i]) for i in order})
        yield tuple(
            blame(
                *(scorer, names[i], float(shares[i]), float(parts[i])),
                clues_of[names[i]][:n_reasons],
                suspects,
            )
            for i in order[:most]
        )


N_BLAMES = 3  # blames written beside the score of a row


def blame_kinds(most: int = N_BLAMES) -> dict[str, Literal["number", "text"]]:
    """Return the names of the columns that hold blames, and what they hold.

    >>> list(blame_kinds(1))
    ['variable_1', 'share_1', 'expected_1', 'found_1']
    """
    kinds: dict[str, Literal["number", "text"]] = {}
    for k in range(1, most + 1):
        kinds |= {f"variable_{k}": "text", f"share_{k}": "number"}
        kinds |= {f"expected_{k}": "text", f"found_{k}": "text"}
    return kinds


def no_blames(n_rows: int, most: int = N_BLAMES) -> dict[str, list[Any]]:
    """Return columns for the blames of some rows."""
    return {name: [None] * n_rows for name in blame_kinds(most)}


def write_blames(
    columns: dict[str, list[Any]],
    scorer: Scorer,
    table: Table,
    rows: Rows,
    weighed: Weighed,  # the rows
    anomalies: NDArray[np.bool_],  # which of them have their main reasons
    most: int = N_BLAMES,
) -> None:
    """Write the variables most to blame for rows into columns, worst first."""
    above = np.flatnonzero(anomalies)
    explained = find_clues(scorer, table.take(rows[above]), weighed.take(above))
    clues = dict(zip(above.tolist(), explained, strict=True))
    blames_of = blame_rows(scorer, weighed, map(clues.get, range(len(rows))), most, 1)
    for row, blames in zip(rows.tolist(), blames_of, strict=True):
        for k, one in enumerate(blames, 1):
            columns[f"variable_{k}"][row], columns[f"share_{k}"][row] = one.variable, one.share
            for reason in one.reasons:
                columns[f"expected_{k}"][row] = reason.expected
                columns[f"found_{k}"][row] = reason.found


def alike(moments: list[Any]) -> list[Any]:
    """Return times of one type: all as text, if the years of some are beyond Python's calendar."""
    if not any(isinstance(moment, str) for moment in moments):
        return moments
    return [None if moment is None else str(moment) for moment in moments]


def tabulate(
    scorer: Scorer,
    table: Table,
    scores: NDArray[np.float64],
    excess: NDArray[np.float64],
    advance: Advance = stand_still,
    before: Following | None = None,
    n_jobs: int = 1,
) -> dict[str, Any]:
    """Return the score and blames of every row as columns.

    Rows that score above 0 have their first three variables and shares; anomalies also have what was
    expected and found. Rows of a series have their excess, too.

    `before` is what was kept of the tables before, if it goes on where they ended.
    """
    model, taken = scorer.model, {"row", "score", "excess", "anomaly", *blame_kinds()}
    first, state = (0, None) if before is None else (before.n_rows, before.scoring)
    # As in the table: joining the scores with their rows needs the same values.
    time = table.column_of().get(model.schema.time or "")
    columns: dict[str, Any] = {"row": np.arange(first, first + table.n_rows)}
    if time is not None:
        name = time.name if time.name not in taken else "time"
        columns[name] = alike([time.cell(row) for row in range(table.n_rows)])
    by = None if model.series is None else model.series.by
    if by is not None and by not in columns and by not in taken:
        column = table.column_of()[by]
        columns[by] = alike([column.cell(row) for row in range(table.n_rows)])
    anomalies = excess > model.threshold
    beyond = {} if model.memory is None else {"excess": excess}
    columns |= {"score": scores, **beyond, "anomaly": anomalies}
    blamed = no_blames(table.n_rows)
    rows, done = np.flatnonzero(scores > 0), 0
    for chunk, weighed in chunks_of(scorer, table, rows, n_jobs, state):
        advance(done, len(rows))
        write_blames(blamed, scorer, table, chunk, weighed, anomalies[chunk])
        done += len(chunk)
    return columns | blamed
