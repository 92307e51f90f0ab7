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

from truism.explaining.clues import Clue, CluesOfRow
from truism.explaining.investigation import find_clues
from truism.explaining.moments import say_when
from truism.explaining.reasons import ANYWAY, Reason, say
from truism.explaining.sparing import Spared, find_spared
from truism.explaining.tallies import Judge, shares_of
from truism.model.legend import NO_LEGEND, Legend
from truism.model.wording import visible
from truism.scoring.alignment import time_column
from truism.scoring.scorer import Scorer
from truism.scoring.weighed import Weighed
from truism.table.cells.times import Moment
from truism.table.columns import Column, Table
from truism.table.notices import rows as say_rows

MIN_SHOWN = 0.005  # the smallest share that is not printed as 0 %
_CHUNK = 1024


class Blame(msgspec.Struct, frozen=True, dict=True):
    """What one variable adds to a score, and why.

    Parameters
    ----------
    variable
        Its name.
    share
        Its share of the blame: its deviation beyond what it is in one of fifty normal rows, as part of
        all variables' deviations.
    penalty
        What it adds to the score; for an incident, to the scores of all its rows.
    clues
        The evidence against it, in the order in which to show it.
    n_training
        Number of training rows.
    row, at
        The row that the clues are about, if it is not the row being explained, and its time.
    since, began
        Of an incident: the first row in which the variable deviates, and its time. It may lie before
        the start, which is where the incident was noticed.
    behind
        The variable that it goes with, if it is wrong only because that one is.
    offset
        Of an incident: how far its numbers lie above those of such training rows on average; None if
        they lie off on both sides.
    legend
        Units and titles.

    """

    variable: str
    share: float
    penalty: float
    clues: tuple[Clue, ...]
    n_training: int
    row: int | None = None
    at: Moment | None = None
    since: int | None = None
    began: Moment | None = None
    offset: float | None = None
    behind: str | None = None
    legend: Legend = NO_LEGEND

    @property
    def heading(self) -> str:
        """The variable's name, with its title if it has one."""
        return self.legend.heading(self.variable)

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """The clues in words, made when they are read."""
        said = (say(clue, self.n_training, self.row, self.legend) for clue in self.clues)
        if self.row is None or self.at is None:
            return tuple(said)
        when = say_when(self.row, self.at)
        return tuple(msgspec.structs.replace(each, when=when) for each in said)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        return {
            "variable": self.variable,
            "title": self.legend.title(self.variable),
            "unit": self.legend.unit(self.variable),
            "share": self.share,
            "penalty": self.penalty,
            "since": self.since,
            "began": say_moment(self.began),
            "offset": self.offset,
            "behind": self.behind,
            "reasons": [msgspec.to_builtins(reason) for reason in self.reasons],
        }

    def __repr__(self) -> str:
        head = f"<Blame of {self.variable}, {100 * self.share:.0f} %"
        if not self.clues:
            return f"{head}>"
        return f"{head}: expected {self.reasons[0].expected}, found {self.reasons[0].found}>"

    def _repr_html_(self) -> str:
        return blames_html((self,))


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
        from truism.table.libraries import to_frame  # pandas may take a second to import

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
        find_spared(scorer, part),
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
    names = scorer.model.schema.names
    shares = shares_of(deviations, parts)
    worst = np.lexsort((-parts, -shares))
    return tuple(
        Blame(
            names[i],
            shares[i].item(),
            parts[i].item(),
            clues_of[names[i]],
            scorer.n_training,
            legend=scorer.model.words,
        )
        for i in worst.tolist()
        if parts[i] > 0 and names[i] in clues_of
    )


def say_moment(moment: Moment | None) -> str | None:
    """Return a time as text."""
    return None if moment is None else str(moment)


def in_short(blames: Sequence[Blame], most: int = 3) -> str:
    """Return the first variables to blame, for a short representation."""
    shown = ", ".join(blame.variable for blame in blames[:most])
    return f"{shown} …" if len(blames) > most else shown or "nothing to blame"


def choose(blames: Sequence[Blame], most: int) -> tuple[Sequence[Blame], Sequence[Blame]]:
    """Return the first blames and the others; those that would print as 0 % are in neither.

    The very first is always shown, however small: a hundred variables may share a score. Variables
    that go with another are among the others.
    """
    named = [each for each in blames if each.share >= MIN_SHOWN] or blames[:1]
    shown = [each for each in named if each.behind is None][:most]
    return shown, [each for each in named if each not in shown]


def say_others(blames: Sequence[Blame], most: int = 5) -> str:
    """Name the variables that are not shown, in one line: those that go with another first."""
    behind: dict[str, list[str]] = {}
    for each in blames:
        if each.behind is not None:
            behind.setdefault(each.behind, []).append(each.variable)
    said = [f"moving with {leader}: {_some(names, most)}" for leader, names in behind.items()]
    rest = [each.variable for each in blames if each.behind is None]
    return "; ".join([*said, f"also unusual: {_some(rest, most)}"] if rest else said)


def _some(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def describe(blames: Sequence[Blame], most: int = 3) -> str:
    """Print the first blames, each with its strongest reason, in aligned lines."""
    shown, others = choose(blames, most)
    names = [visible(blame.heading) for blame in shown]
    width = max(map(len, names), default=0)
    lines = []
    for name, blame in zip(names, shown, strict=True):
        head = f"{name:<{width}}  {100 * blame.share:3.0f} %  "
        first, *further = map(visible, blame.reasons[0].lines())
        lines += [head + first, *(" " * len(head) + each for each in further)]
    if others:
        lines.append(visible(say_others(others)))
    return "\n".join(lines)


def blames_html(blames: Sequence[Blame], most: int = 5) -> str:
    """Return the first blames as an HTML table; everything from the data is escaped."""
    left, number = " style='text-align:left'", " style='text-align:right;white-space:nowrap'"
    shown, _ = choose(blames, most)
    rows = "".join(
        f"<tr><th scope='row'{left}>{html.escape(blame.heading)}</th>"
        f"<td{number}>{100 * blame.share:.0f} %</td>"
        + "".join(
            f"<td{left}>{html.escape(text)}</td>"
            for reason in blame.reasons[:1]
            for text in (reason.expected, reason.found, reason.because or ANYWAY, reason.evidence)
        )
        + "</tr>"
        for blame in shown
    )
    names = ("variable", "share", "expected", "found", "because", "evidence")
    head = "".join(f"<th scope='col'{left}>{name}</th>" for name in names)
    rest = len(blames) - len(shown)
    more = f"<p>… and {rest:,} with a smaller share</p>" if rest else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"
