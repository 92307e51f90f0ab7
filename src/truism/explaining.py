"""Why a row is an anomaly: violations go in; blames, explanations and incidents come out.

Every explanation answers the three questions of KDD'23, section 5.2 (which variable, what should it
have been, why) and is said in the same four parts everywhere: expected, found, because, evidence.
"""

import html
import numbers
from collections.abc import Iterator, Sequence
from typing import Any, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.clues import Clue, Contradiction, Rarity, collect
from truism.errors import ParameterError
from truism.predicates import Range, conjunction, format_value, quote_name, variables
from truism.schema import align
from truism.scoring import Scorer, Violation
from truism.table import Column, Table, to_frame

MIN_SHARE = 0.01  # of the blame for an incident, to be named
_CHUNK = 256


class Reason(msgspec.Struct, frozen=True):
    """One violation in words.

    Parameters
    ----------
    expected
        What the variable should have been.
    found
        What it was.
    because
        The condition under which this was expected.
    evidence
        How often that was seen in training.
    rule
        The id of the rule that was broken; empty when the reason is no rule.
    penalty
        What it adds to the score.
    row
        The row it is about, where that is not the row that is being explained: a variable of an
        incident that is not wrong in its peak.

    """

    expected: str
    found: str
    because: str
    evidence: str
    rule: str
    penalty: float
    row: int | None = None

    @property
    def place(self) -> str:
        """Where it was found, to be read after what was found."""
        return "" if self.row is None else f" in row {self.row}"

    def lines(self) -> tuple[str, str, str]:
        """Give the three lines that every screen shows."""
        first = f"expected {self.expected}, found {self.found}{self.place}"
        return first, self.because, f"({self.evidence})"


class Blame(msgspec.Struct, frozen=True):
    """What one variable adds to a score, and what it breaks, worst first."""

    variable: str
    share: float
    penalty: float
    reasons: tuple[Reason, ...]


class Explanation(msgspec.Struct, frozen=True):
    """One row's score, divided among variables, largest share first.

    Parameters
    ----------
    row
        The row's position in the table.
    time
        Its time, where the table has one.
    score
        Its anomaly score.
    blames
        The variables that are wrong.

    """

    row: int
    time: str | None
    score: float
    blames: tuple[Blame, ...]

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain dicts and lists."""
        return msgspec.to_builtins(self)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        when = "" if self.time is None else f" ({self.time})"
        return f"row {self.row}{when}, score {self.score:.4g}\n{describe(self.blames)}"

    def _repr_html_(self) -> str:
        when = "" if self.time is None else f" ({html.escape(self.time)})"
        head = f"<p><b>row {self.row:,}</b>{when}, score {self.score:.4g}</p>"
        return head + blames_html(self.blames)


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
        the row that tells most against the variable; under the paper's scoring those of the peak, or,
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
        when = "" if self.started is None else f" ({self.started} to {self.ended})"
        return f"{where}{when}, peak score {self.score:.4g}"

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(self._head())}</b></p>{blames_html(self.blames)}"


class Explanations:
    """The explanations of some rows of a table, made when they are asked for.

    It is a sequence; printing shows the first few, `to_frame` and `to_dict` give all.
    """

    def __init__(self, scorer: Scorer, table: Table, rows: NDArray[np.int64]) -> None:
        self._scorer, self._table, self.rows = scorer, table, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Explanation]:
        for start in range(0, len(self.rows), _CHUNK):
            yield from explain_rows(self._scorer, self._table, self.rows[start : start + _CHUNK])

    @overload
    def __getitem__(self, position: int) -> Explanation: ...
    @overload
    def __getitem__(self, position: slice) -> "Explanations": ...
    def __getitem__(self, position: int | slice) -> "Explanation | Explanations":
        if isinstance(position, slice):
            return Explanations(self._scorer, self._table, self.rows[position])
        return explain_rows(self._scorer, self._table, self.rows[[position]])[0]

    def to_dict(self) -> list[dict[str, Any]]:
        """Give all as plain lists and dicts."""
        return [each.to_dict() for each in self]

    def to_frame(self) -> Any:
        """Give a dataframe with one line per row, variable and reason."""
        lines = [
            (each.row, each.time, each.score, blame.variable, blame.share, reason)
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
            }
        )

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


def say(clue: Clue, n_training: int) -> Reason:
    """Put a clue into words."""
    match clue:
        case Contradiction():
            found = "missing" if clue.found is None else format_value(clue.found)
            return Reason(str(clue.expected), found, clue.because, clue.evidence, "", clue.penalty)
        case Rarity():
            found = "missing" if clue.found is None else format_value(clue.found)
            return Reason(
                clue.expected, found, "as usual in training", clue.evidence, "", clue.penalty
            )
    return _say_violation(clue, n_training)


def _say_violation(violation: Violation, n_training: int) -> Reason:
    rule = violation.rule
    names = variables(violation.failed)
    values = ["missing" if each is None else format_value(each) for each in violation.found]
    found = (
        values[0]
        if len(values) == 1
        else " and ".join(f"{quote_name(n)} = {v}" for n, v in zip(names, values, strict=True))
    )
    because = (
        f"because {conjunction(rule.antecedent)}" if rule.antecedent else "as always in training"
    )
    evidence = f"{rule.count:,} of {n_training:,} training rows, no exception"
    expected = str(violation.failed)
    if isinstance(violation.failed, Range) and violation.failed.seems_to_hold(violation.found[0]):
        expected = violation.failed.exact_text()
    return Reason(expected, found, because, evidence, rule.id, violation.penalty)


def explain_rows(
    scorer: Scorer, table: Table, rows: Sequence[int] | NDArray[np.int64]
) -> list[Explanation]:
    """Explain rows of a table, whatever they score."""
    chosen = np.asarray(rows, np.int64)
    part = table.take(chosen)
    scores = scorer.score(part)
    names = scorer.model.schema.names
    explanations = []
    time_of = _clock(scorer, table)
    for row, score, parts, dossier in zip(
        chosen.tolist(),
        scores.tolist(),
        scorer.attribute(part),
        collect(scorer, part),
        strict=True,
    ):
        worst = np.argsort(-parts, kind="stable")
        blames = tuple(
            Blame(
                names[i],
                float(parts[i]) / score,
                float(parts[i]),
                tuple(say(clue, scorer.n_training) for clue in dossier[names[i]]),
            )
            for i in worst[: np.count_nonzero(parts)]
        )
        explanations.append(Explanation(row, time_of(row), score, blames))
    return explanations


def find_incidents(
    scorer: Scorer,
    table: Table,
    scores: NDArray[np.float64],
    *,
    gap: int = 0,
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
        How many normal rows may lie between two anomalous rows of one incident.
    threshold
        Rows above it are anomalous; the model's own when absent.

    Returns
    -------
    list of Incident

    """
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


def incident_shares(
    scorer: Scorer, table: Table, rows: NDArray[np.int64], parts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide the blame for an incident among its rows and variables, one in all.

    Under the paper's scoring a share is the mean of the shares in the anomalous rows: one row far out
    of range must not hide what broke in others. Under evidence scoring a variable is blamed for what
    contradicts it more than usual, in units of what is usual for it, and early rows count most,
    because what is wrong spreads to other variables. A value that is merely rare is blamed where
    nothing is contradicted: it is where consequences show. docs/experiments.md compares ways to blame.

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
    if scorer.model.evidence is None:
        return shares / len(rows)
    usual = scorer.model.evidence.usual
    level, spread = np.array([(each.mean, each.spread) for each in usual]).T
    unusual = np.maximum(scorer.contradict(table.take(rows)) - level, 0) / spread
    told = unusual.sum(axis=1) > 0
    shares[told] = unusual[told] / unusual[told].sum(axis=1, keepdims=True)
    weights: NDArray[np.float64] = 1.0 / (rows - rows[0] + 1)
    shares *= (weights / weights.sum())[:, None]
    return shares


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
    distinct_rows = np.array(sorted(set(telling.values())), np.int64)
    dossiers = collect(scorer, table.take(distinct_rows))
    dossier_at = dict(zip(distinct_rows.tolist(), dossiers, strict=True))
    names = scorer.model.schema.names
    blames = []
    for i in worst:
        row = telling[i]
        reasons = tuple(say(clue, scorer.n_training) for clue in dossier_at[row][names[i]])
        if row != peak:
            reasons = tuple(msgspec.structs.replace(each, row=row) for each in reasons)
        blames.append(Blame(names[i], float(shares[i]), float(totals[i]), reasons))
    time_of = _clock(scorer, table)
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


class _clock:  # noqa: N801  (reads as the function it is)
    """Says when a row was, or nothing."""

    def __init__(self, scorer: Scorer, table: Table) -> None:
        name = scorer.model.schema.time
        self.column: Column | None = table.column_of().get(name) if name is not None else None

    def __call__(self, row: int) -> str | None:
        if self.column is None:
            return None
        value = self.column.cell(row)
        if value is None:
            return None
        return value.isoformat(sep=" ") if hasattr(value, "isoformat") else str(value)


def describe(blames: Sequence[Blame], most: int = 3) -> str:
    """Print the first blames, each with its strongest reason, in aligned lines."""
    shown = blames[:most]
    width = max((len(blame.variable) for blame in shown), default=0)
    lines = []
    for blame in shown:
        head = f"{blame.variable:<{width}}  {100 * blame.share:3.0f} %  "
        first, *others = blame.reasons[0].lines()
        lines += [head + first, *(" " * len(head) + other for other in others)]
    if len(blames) > most:
        names = ", ".join(blame.variable for blame in blames[most : most + 5])
        lines.append(f"also {names}" + (" …" if len(blames) > most + 5 else ""))
    return "\n".join(lines)


def blames_html(blames: Sequence[Blame], most: int = 5) -> str:
    """Give the first blames as an HTML table; everything from the data is escaped."""
    left, number = " style='text-align:left'", " style='text-align:right;white-space:nowrap'"
    rows = "".join(
        f"<tr><th scope='row'{left}>{html.escape(blame.variable)}</th>"
        f"<td{number}>{100 * blame.share:.0f} %</td>"
        + "".join(
            f"<td{left}>{html.escape(text)}</td>"
            for reason in blame.reasons[:1]
            for text in (
                reason.expected,
                reason.found,
                reason.because.removeprefix("because "),
                reason.evidence,
            )
        )
        + "</tr>"
        for blame in blames[:most]
    )
    names = ("variable", "share", "expected", "found", "because", "evidence")
    head = "".join(f"<th scope='col'{left}>{name}</th>" for name in names)
    rest = len(blames) - len(blames[:most])
    more = f"<p>… and {rest:,} with a smaller share</p>" if rest else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def extra_columns(scorer: Scorer, table: Table) -> tuple[str, ...]:
    """Name the columns that the model does not know and that scoring ignores."""
    return align(scorer.model.schema, table)[1]
