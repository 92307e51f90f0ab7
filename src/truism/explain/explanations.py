"""Why a row is an anomaly: explanations of rows, with the variables to blame.

Every explanation answers the three questions of KDD'23, section 5.2: which variable, what it should
have been, and why. A blame holds clues, and puts them into words when they are read.
"""

import html
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explain.blames import (
    Blame,
    Spared,
    blames_html,
    describe,
    find_spared,
    in_short,
    suspects_among,
)
from truism.explain.clues import CluesOfRow
from truism.explain.investigation import find_clues
from truism.explain.words import Reason, When, say
from truism.incidents.deviations import Judge
from truism.incidents.events import shares_of
from truism.incidents.following import Following
from truism.model.wording import visible
from truism.score.alignment import time_column
from truism.score.scorer import Scorer
from truism.score.weighed import Weighed
from truism.table.columns import Column, Table
from truism.table.notices import rows as say_rows
from truism.work import Advance, stand_still

_CHUNK = 1024
_OF_REASON = ("expected", "found", "because", "evidence", "rule", "penalty")
LINE = ("row", "time", "score", "variable", "share", *_OF_REASON)  # names of what a line holds


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

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

    def _repr_html_(self) -> str:
        when = "" if self.time is None else f" ({html.escape(str(self.time))})"
        head = f"<p><b>row {self.row:,}</b>{when}, score {self.score:.4g}</p>"
        return head + blames_html(self.blames)


class Explanations:
    """The explanations of some rows of a table, made on demand.

    It is a sequence; printing shows the first few, `to_frame` and `to_dict` return all.
    """

    def __init__(self, scorer: Scorer, table: Table, rows: NDArray[np.int64]) -> None:
        self._scorer, self._table, self.rows = scorer, table, rows
        self._library: str | None = None

    def in_frames_of(self, library: str | None) -> "Explanations":
        """Return the same with another library for the frame that `to_frame` returns."""
        same = Explanations(self._scorer, self._table, self.rows)
        same._library = library
        return same

    @cached_property
    def _times(self) -> Column | None:
        return time_column(self._scorer.model.schema, self._table)

    def _explain(self, rows: NDArray[np.int64]) -> list[Explanation]:
        return explain_rows(self._scorer, self._table, rows, self._times)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Explanation]:
        if (np.diff(self.rows) < 0).any():
            yield from self._explain(self.rows)
            return
        for portion, weighed in self._scorer.weigh_some(self._table, self.rows):
            for start in range(0, len(portion), _CHUNK):
                some = np.arange(start, min(start + _CHUNK, len(portion)))
                part = weighed.take(some)
                yield from explain_weighed(
                    self._scorer, self._table, portion[some], part, self._times
                )

    @overload
    def __getitem__(self, position: int) -> Explanation: ...
    @overload
    def __getitem__(self, position: slice) -> "Explanations": ...
    def __getitem__(self, position: int | slice) -> "Explanation | Explanations":
        if isinstance(position, slice):
            some = Explanations(self._scorer, self._table, self.rows[position])
            return some.in_frames_of(self._library)
        return self._explain(self.rows[[position]])[0]

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

    def __str__(self) -> str:
        shown = [str(explanation) for explanation in self[:5]]
        rest = len(self) - len(shown)
        more = [f"… and {rest:,} more"] if rest else []
        return "\n\n".join([*shown, *more]) if shown else "no anomalies"

    def _repr_html_(self) -> str:
        shown = "".join(explanation._repr_html_() for explanation in self[:3])
        rest = len(self) - min(3, len(self))
        more = f"<p>… and {rest:,} more rows; <code>to_frame()</code> gives all</p>" if rest else ""
        return (shown + more) or "<p>no anomalies</p>"


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
    scorer: Scorer,
    table: Table,
    rows: NDArray[np.int64],
    weighed: Weighed,
    times: Column | None,
) -> list[Explanation]:
    """Explain rows of a table that were weighed."""
    far, part = Judge(scorer.model).deviations(weighed, np.arange(len(rows))), table.take(rows)
    rows_with_clues = zip(
        rows.tolist(),
        weighed.scores.tolist(),
        weighed.parts,
        far,
        find_clues(scorer, part, weighed),
        find_spared(scorer.model, weighed),
        strict=True,
    )
    return [
        Explanation(
            row,
            None if times is None else times.cell(row),
            score,
            _blames(scorer, parts, far_off, clues_of),
            accepted,
        )
        for row, score, parts, far_off, clues_of, accepted in rows_with_clues
    ]


def _blames(
    scorer: Scorer,
    parts: NDArray[np.float64],
    deviations: NDArray[np.float64],
    clues_of: CluesOfRow,
) -> tuple[Blame, ...]:
    """Divide the blame for a row among the variables, largest share first."""
    names, legend = scorer.model.schema.names, scorer.model.words
    shares = shares_of(deviations, parts)
    order = [
        i for i in np.lexsort((-parts, -shares)).tolist() if parts[i] > 0 and names[i] in clues_of
    ]
    suspects = suspects_among({names[i]: float(shares[i]) for i in order})
    return tuple(
        Blame(
            names[i],
            float(shares[i]),
            float(parts[i]),
            tuple(
                say(clue, scorer.n_training, legend, suspects={*suspects} - {names[i]})
                for clue in clues_of[names[i]]
            ),
            title=legend.title(names[i]),
            unit=legend.unit(names[i]),
        )
        for i in order
    )


N_BLAMES = 3  # blames written beside the score of a row
_KINDS: dict[str, Literal["number", "text"]] = {
    "variable": "text",
    "share": "number",
    "expected": "text",
    "found": "text",
}
Blames = tuple[Blame, ...]


def blame_rows(
    scorer: Scorer,
    table: Table,
    weighed: Weighed,
    anomalies: NDArray[np.bool_],
    most: int = N_BLAMES,
) -> list[Blames]:
    """Return for each row the variables most to blame, worst first; of anomalies with the main reason."""
    above, legend = np.flatnonzero(anomalies), scorer.model.words
    clues = find_clues(scorer, table.take(above), weighed.take(above))
    clues_at = dict(zip(above.tolist(), clues, strict=True))
    names = scorer.model.schema.names
    deviations = Judge(scorer.model).deviations(weighed)
    blames_of: list[Blames] = []
    for row in range(table.n_rows):
        parts, clues_of = weighed.parts[row], clues_at.get(row)
        shares = shares_of(deviations[row], parts)
        blames: list[Blame] = []
        for i in np.lexsort((-parts, -shares))[:most].tolist():
            if shares[i] <= 0 or (clues_of is not None and names[i] not in clues_of):
                break
            reasons: tuple[Reason, ...] = ()
            if clues_of is not None:
                reasons = (say(clues_of[names[i]][0], scorer.n_training, legend),)
            blames.append(Blame(names[i], float(shares[i]), float(parts[i]), reasons))
        blames_of.append(tuple(blames))
    return blames_of


def blame_kinds(most: int = N_BLAMES) -> dict[str, Literal["number", "text"]]:
    """Return the names of the columns that hold blames, and what they hold.

    >>> list(blame_kinds(1))
    ['variable_1', 'share_1', 'expected_1', 'found_1']
    """
    return {f"{name}_{k}": kind for k in range(1, most + 1) for name, kind in _KINDS.items()}


def as_columns(blames: Sequence[Blames], most: int = N_BLAMES) -> dict[str, list[Any]]:
    """Return blames as columns, None where a row has fewer, or no reasons."""
    columns: dict[str, list[Any]] = {}
    for k in range(most):
        ranked = [of_row[k] if len(of_row) > k else None for of_row in blames]
        main = [blame.reasons[0] if blame and blame.reasons else None for blame in ranked]
        columns |= {
            f"{name}_{k + 1}": [None if value is None else getattr(value, name) for value in values]
            for values, names in ((ranked, ("variable", "share")), (main, ("expected", "found")))
            for name in names
        }
    return columns


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
    rows = np.flatnonzero(scores > 0)
    blames_of: list[Blames] = [()] * table.n_rows
    done = 0
    for portion, weighed in scorer.weigh_some(table, rows, n_jobs, state):
        for start in range(0, len(portion), _CHUNK):
            advance(done, len(rows))
            some = np.arange(start, min(start + _CHUNK, len(portion)))
            numbers = portion[some]
            part = table.take(numbers)
            blames_there = blame_rows(scorer, part, weighed.take(some), anomalies[numbers])
            for row, blames in zip(numbers.tolist(), blames_there, strict=True):
                blames_of[row] = blames
            done += len(some)
    return columns | as_columns(blames_of)
