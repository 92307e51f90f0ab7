"""Why a row is an anomaly: rows go in, explanations with blames come out.

Every explanation answers the three questions of KDD'23, section 5.2: which variable, what it should
have been, and why. A blame holds clues, and puts them into words when they are read.
"""

import html
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explain.blames import Blame, blames_html, confront, describe, in_short
from truism.explain.clues import CluesOfRow
from truism.explain.investigation import find_clues
from truism.explain.moments import say_moment
from truism.explain.sparing import Spared, find_spared
from truism.incidents.deviations import Judge
from truism.incidents.events import shares_of
from truism.model.wording import visible
from truism.score.alignment import time_column
from truism.score.scorer import Scorer
from truism.score.weighed import Weighed
from truism.table.columns import Column, Table
from truism.table.notices import rows as say_rows
from truism.table.times import Moment

_CHUNK = 1024


class Explanation(msgspec.Struct, frozen=True):
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
    time: Moment | None
    score: float
    blames: tuple[Blame, ...]
    accepted: tuple[Spared, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        return {
            "row": self.row,
            "time": say_moment(self.time),
            "score": self.score,
            "blames": [blame.to_dict() for blame in self.blames],
            "accepted": [msgspec.to_builtins(each) for each in self.accepted],
        }

    def __repr__(self) -> str:
        return f"<Explanation of row {self.row}, score {self.score:.4g}: {in_short(self.blames)}>"

    def __str__(self) -> str:
        when = "" if self.time is None else f" ({visible(str(self.time))})"
        told = [describe(self.blames), *(visible(str(each)) for each in self.accepted)]
        return "\n".join([f"row {self.row}{when}, score {self.score:.4g}", *told])

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
        return [each.to_dict() for each in self]

    def to_frame(self) -> Any:
        """Return a dataframe with one line per row, variable and reason, of the table's library."""
        from truism.table.frames import to_frame  # pandas may take a second to import

        lines = [
            (each.row, say_moment(each.time), each.score, blame.variable, blame.share, reason)
            for each in self
            for blame in each.blames
            for reason in blame.reasons
        ]
        return to_frame(
            {
                "row": [line[0] for line in lines],
                "time": [line[1] for line in lines],
                "score": [line[2] for line in lines],
                "variable": [line[3] for line in lines],
                "share": [line[4] for line in lines],
                "expected": [line[5].expected for line in lines],
                "found": [line[5].found for line in lines],
                "because": [line[5].because for line in lines],
                "evidence": [line[5].evidence for line in lines],
                "rule": [line[5].rule for line in lines],
                "penalty": [line[5].penalty for line in lines],
            },
            self._library,
        )

    def __repr__(self) -> str:
        return f"<Explanations of {say_rows(len(self))}>"

    def __str__(self) -> str:
        shown = [str(each) for each in self[:5]]
        rest = len(self) - len(shown)
        more = [f"… and {rest:,} more"] if rest else []
        return "\n\n".join([*shown, *more]) if shown else "no anomalies"

    def _repr_html_(self) -> str:
        shown = "".join(each._repr_html_() for each in self[:3])
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
    found = zip(
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
        for row, score, parts, far_off, clues_of, accepted in found
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
    worst = np.lexsort((-parts, -shares))
    blames = [
        Blame(names[i], share, part, clues_of[names[i]], scorer.n_training, legend=legend)
        for i, share, part in zip(
            *(each.tolist() for each in (worst, shares[worst], parts[worst])), strict=True
        )
        if part > 0 and names[i] in clues_of
    ]
    return confront(blames)
