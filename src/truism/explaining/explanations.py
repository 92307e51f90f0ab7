"""Why a row is an anomaly: clues go in; blames and explanations come out.

Every explanation answers the three questions of KDD'23, section 5.2 (which variable, what should it
have been, why) and is said in the same four parts everywhere: expected, found, because, evidence.
"""

import html
from collections.abc import Iterator, Sequence
from typing import Any, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.clues import ANYWAY, Clue, Contradiction, Rarity, collect
from truism.model.predicates import Interval, Predicate, Range, format_value, quote_name, variables
from truism.model.wording import brief, brief_conjunction, same_side, shorten, visible
from truism.scoring.alignment import align, time_column
from truism.scoring.scorer import Scorer, Violation
from truism.table.columns import Table
from truism.table.frames import to_frame

MIN_SHOWN = 0.005  # a share that is not printed as 0 %
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
        The condition under which this was expected; where there is none, words that say so.
    evidence
        How often that was seen in training.
    rule
        The id of the rule that was broken; empty when the reason is no rule.
    penalty
        What it adds to the score; 0 for a rule that is broken too where something else counts.
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
        why = self.because if self.because == ANYWAY else f"because {self.because}"
        return first, why, f"({self.evidence})"


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
        when = "" if self.time is None else f" ({visible(self.time)})"
        return f"row {self.row}{when}, score {self.score:.4g}\n{describe(self.blames)}"

    def _repr_html_(self) -> str:
        when = "" if self.time is None else f" ({html.escape(self.time)})"
        head = f"<p><b>row {self.row:,}</b>{when}, score {self.score:.4g}</p>"
        return head + blames_html(self.blames)


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

    def __repr__(self) -> str:
        return f"<Explanations of {len(self):,} rows>"

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
        case Contradiction(expected=expected, because=because, evidence=evidence):
            found = _tell(clue.found, expected)
            return Reason(brief(expected), found, because, evidence, "", clue.penalty)
        case Rarity(expected=said, evidence=evidence):
            found = _tell(clue.found, clue.nearest)
            return Reason(said, found, ANYWAY, evidence, "", clue.penalty)
    return _say_violation(clue, n_training)


def _say_violation(violation: Violation, n_training: int) -> Reason:
    rule, failed = violation.rule, violation.failed
    names = variables(failed)
    values = [_tell(each, failed) for each in violation.found]
    found = (
        values[0]
        if len(values) == 1
        else " and ".join(f"{quote_name(n)} = {v}" for n, v in zip(names, values, strict=True))
    )
    because = brief_conjunction(rule.antecedent) if rule.antecedent else ANYWAY
    evidence = f"{rule.count:,} of {n_training:,} training rows, no exception"
    expected = brief(failed)
    if isinstance(failed, Range) and failed.seems_to_hold(violation.found[0]):
        expected = failed.exact_text()
    return Reason(expected, found, because, evidence, rule.id, violation.penalty)


def _tell(value: Any, expected: Predicate | tuple[float, ...]) -> str:
    """Print what was found so that it still is not what was expected."""
    if value is None:
        return "missing"
    match expected:
        case tuple() if expected:
            return shorten(value, same_side(value, expected))
        case Interval(_, low, high):
            return shorten(value, same_side(value, (low, high)))
        case Range(_, low, high):
            seems_to_hold, same = expected.seems_to_hold, same_side(value, (low, high))
            seems = seems_to_hold(value)
            return shorten(value, lambda short: same(short) and seems_to_hold(short) == seems)
    return format_value(value)


def explain_rows(
    scorer: Scorer, table: Table, rows: Sequence[int] | NDArray[np.int64]
) -> list[Explanation]:
    """Explain rows of a table, whatever they score."""
    chosen = np.asarray(rows, np.int64)
    part = table.take(chosen)
    scores = scorer.score(part)
    names = scorer.model.schema.names
    explanations = []
    time_of = Clock(scorer, table)
    for row, score, parts, clues_of in zip(
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
                tuple(say(clue, scorer.n_training) for clue in clues_of[names[i]]),
            )
            for i in worst[: np.count_nonzero(parts)]
        )
        explanations.append(Explanation(row, time_of(row), score, blames))
    return explanations


class Clock:
    """Says when a row was, or nothing."""

    def __init__(self, scorer: Scorer, table: Table) -> None:
        self.column = time_column(scorer.model.schema, table)

    def __call__(self, row: int) -> str | None:
        """Give the time of a row as text, where there is one."""
        if self.column is None:
            return None
        value = self.column.cell(row)
        return None if value is None else str(value)


def choose(blames: Sequence[Blame], most: int) -> tuple[Sequence[Blame], Sequence[Blame]]:
    """Part the first blames from the others; what would be shown as 0 % is in neither.

    The first of all is always shown, however little it is: a hundred variables may share a score.
    """
    named = [each for each in blames if each.share >= MIN_SHOWN] or blames[:1]
    return named[:most], named[most:]


def describe(blames: Sequence[Blame], most: int = 3) -> str:
    """Print the first blames, each with its strongest reason, in aligned lines."""
    shown, others = choose(blames, most)
    names = [visible(blame.variable) for blame in shown]
    width = max(map(len, names), default=0)
    lines = []
    for name, blame in zip(names, shown, strict=True):
        head = f"{name:<{width}}  {100 * blame.share:3.0f} %  "
        first, *further = map(visible, blame.reasons[0].lines())
        lines += [head + first, *(" " * len(head) + each for each in further)]
    if others:
        listed = ", ".join(visible(blame.variable) for blame in others[:5])
        lines.append(f"also {listed}" + (" …" if len(others) > 5 else ""))
    return "\n".join(lines)


def blames_html(blames: Sequence[Blame], most: int = 5) -> str:
    """Give the first blames as an HTML table; everything from the data is escaped."""
    left, number = " style='text-align:left'", " style='text-align:right;white-space:nowrap'"
    shown, _ = choose(blames, most)
    rows = "".join(
        f"<tr><th scope='row'{left}>{html.escape(blame.variable)}</th>"
        f"<td{number}>{100 * blame.share:.0f} %</td>"
        + "".join(
            f"<td{left}>{html.escape(text)}</td>"
            for reason in blame.reasons[:1]
            for text in (reason.expected, reason.found, reason.because, reason.evidence)
        )
        + "</tr>"
        for blame in shown
    )
    names = ("variable", "share", "expected", "found", "because", "evidence")
    head = "".join(f"<th scope='col'{left}>{name}</th>" for name in names)
    rest = len(blames) - len(shown)
    more = f"<p>… and {rest:,} with a smaller share</p>" if rest else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def extra_columns(scorer: Scorer, table: Table) -> tuple[str, ...]:
    """Name the columns that the model does not know and that scoring ignores."""
    return align(scorer.model.schema, table)[1]
