"""What anomalous rows have in common: patterns, with counts and reasons.

Where rows are no series, a thousand anomalies are no story; what a person wants is "55 % of them: service
never seen in training". Rows with the same culprit and the same kind of reason form a pattern. Grouping
needs no explanation; a few rows of a pattern are explained when it is looked at, and what they say is
counted in all rows of it.
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from truism.arrays import Rows
from truism.explain.clues import Clue, Facts, Rarity, facts_of
from truism.explain.investigation import find_clues
from truism.explain.listings import Listing
from truism.explain.words import Reason, Record, When, say
from truism.incidents.marks import KINDS, Marks, Wrong
from truism.model.model import Model
from truism.model.schema import Categorical, Scalar, Variable, id_of
from truism.model.wording import (
    about_percent,
    count,
    same_side,
    say_state,
    shorten,
    visible,
)
from truism.score.alignment import time_column
from truism.score.scorer import Scorer
from truism.score.truths import blocks_of
from truism.table.aside import Aside
from truism.table.columns import Column, numbers

N_WORST = 5  # rows that are shown of a pattern
N_ASKED = 8  # rows that are explained to find out what a pattern is about
N_TOLD = 3  # reasons that are told of a pattern
N_STATES = 3  # states that are named


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of a pattern: its position, its time if there are times, its score, and what was found."""

    row: int
    time: When
    score: float
    found: str


class Pattern(Record, frozen=True, kw_only=True):
    """Anomalous rows with the same culprit and the same kind of reason: a value that is also its JSON.

    Parameters
    ----------
    id
        A short name that follows from the model's rules and evidence, the culprit and the kind: the
        same pattern has the same id in every table.
    variable
        The culprit.
    kind
        What sort of reason there is against it; see `truism.incidents.marks.Wrong`.
    n_rows, share
        How many rows there are, and their share of all anomalous rows.
    n_times
        How often it occurred: in a series, rows no farther apart than the gap count once.
    summary, headline
        What is wrong with the rows, in one sentence, with a condition and without.
    found
        What was found, in words.
    reasons
        The reasons against a few of the rows, and of how many rows each is true, most first.
    worst
        The rows with the highest scores.

    """

    id: str
    variable: str
    kind: Wrong
    n_rows: int
    share: float
    n_times: int
    summary: str
    headline: str
    found: str
    reasons: tuple[Reason, ...]
    worst: tuple[Example, ...]

    @property
    def percent(self) -> str:
        """Its share of the anomalous rows, as it is printed."""
        return about_percent(self.share)

    @property
    def others(self) -> tuple[str, ...]:
        """The reasons in words, unless one applies to all rows: then the summary says it."""
        if len(self.reasons) == 1 and self.reasons[0].n_rows == self.n_rows:
            return ()
        return tuple(
            f"{count(reason.n_rows, 'row')}: expected {reason.expected} {reason.why}"
            for reason in self.reasons
        )

    @property
    def examples(self) -> str:
        """The worst rows in words: when, or which, and what was found."""
        timed = all(row.time is not None for row in self.worst)
        rows = [f"{row.time if timed else row.row} ({row.found})" for row in self.worst]
        noun = "" if timed else "row " if len(rows) == 1 else "rows "
        return noun + ", ".join(rows)

    def __str__(self) -> str:
        lines = (self._head(), self.summary, f"worst: {self.examples}")
        return "\n".join(map(visible, lines))

    def __repr__(self) -> str:
        return f"<Pattern {self.id}, {count(self.n_rows, 'row')}: {visible(self.summary)}>"

    def _head(self) -> str:
        return f"{self.percent} of the anomalies ({count(self.n_rows, 'row')}), {self.id}"


class Patterns(Listing[Pattern]):
    """The patterns of a table, those with most rows first; each is looked into when it is looked at.

    `marks` are the anomalous rows, which were set aside; `gap` is how far apart rows may lie that occur
    together, None if rows are no series.
    """

    n_shown = 5

    def __init__(self, scorer: Scorer, aside: Aside, marks: Marks, gap: int | None) -> None:
        super().__init__()
        self.scorer, self.marks = scorer, marks
        self._aside, self._gap = aside, gap
        self._groups = _grouped(marks)

    def __len__(self) -> int:
        return len(self._groups)

    def _make(self, positions: Sequence[int]) -> Iterator[Pattern]:
        return (self._look_into(self._groups[position]) for position in positions)

    def rows(self, position: int) -> Rows:
        """Return the rows of a pattern, ascending."""
        return self.marks.rows[self._groups[position]]

    def _look_into(self, group: Rows) -> Pattern:
        model, marks = self.scorer.model, self.marks
        i, kind = int(marks.culprits[group[0]]), KINDS[int(marks.kinds[group[0]])]
        variable, rows = model.schema.variables[i], marks.rows[group]
        part = self._aside.take(rows, {variable.name, model.schema.time})
        column, times = part.column_of()[variable.name], time_column(model.schema, part)
        worst = np.argsort(-marks.scores[group], kind="stable")[:N_WORST]
        reasons = self._explain(variable.name, rows, worst) if kind == "conflict" else ()
        apart = np.diff(rows) > (0 if self._gap is None else self._gap + 1)
        unit = "" if isinstance(variable, Categorical) else model.words.after(variable.name)
        present = np.ones(len(rows), np.bool_) if column.missing is None else ~column.missing
        found = "missing" if kind == "missing" else _say_found(variable, column) + unit
        name, mostly = model.words.name(variable.name), _mostly(reasons, len(rows))
        headline = summary = _summarise(name, kind, found, _say_usual(variable, kind, unit), mostly)
        if kind == "conflict" and mostly is not None and mostly.because is not None:
            summary = f"{headline} {mostly.why}"
        return Pattern(
            id=pattern_id(model, variable.name, kind),
            variable=variable.name,
            kind=kind,
            n_rows=len(rows),
            share=len(rows) / len(marks.rows),
            n_times=1 + int(apart.sum()),
            summary=summary,
            headline=headline,
            found=found,
            reasons=reasons,
            worst=tuple(
                Example(
                    int(rows[at]),
                    None if times is None else times.cell(at),
                    float(marks.scores[group[at]]),
                    _say_value(column.cell(at)) + (unit if present[at] else ""),
                )
                for at in worst.tolist()
            ),
        )

    def _explain(self, name: str, rows: Rows, worst: Rows) -> tuple[Reason, ...]:
        """Return reasons against some rows, each counted where none before it applies."""
        spread = np.linspace(0, len(rows) - 1, N_ASKED).astype(np.int64)
        asked = np.array(list(dict.fromkeys([*worst.tolist(), *spread.tolist()]))[:N_ASKED])
        facts_about: dict[Clue, Facts] = {}
        for clues in find_clues(self.scorer, self._aside.take(rows[asked])):
            for clue in clues.get(name, ())[:1]:
                facts = facts_of(clue)
                if len(facts.expected) == 1 and not isinstance(clue, Rarity):
                    facts_about[clue] = facts
        applies = {clue: np.zeros(len(rows), np.bool_) for clue in facts_about}
        for block in blocks_of(len(rows)) if facts_about else ():
            part = self._aside.take(rows[block])
            for clue, facts in facts_about.items():
                applies[clue][block] = self.scorer.compare(facts.because, facts.expected, part)[1]
        reasons: list[Reason] = []
        left = np.ones(len(rows), np.bool_)
        while applies and len(reasons) < N_TOLD:
            best = max(applies, key=lambda clue: int((applies[clue] & left).sum()))
            n_rows = int((applies[best] & left).sum())
            if not n_rows:
                break
            reason = say(best, self.scorer.n_training, self.scorer.model.words)
            reasons.append(msgspec.structs.replace(reason, n_rows=n_rows))
            left &= ~applies.pop(best)
        return tuple(reasons)


def pattern_id(model: Model, variable: str, kind: Wrong) -> str:
    """Return the id of a pattern; it follows from what the model knows, the culprit and the kind."""
    return id_of((model.id, variable, kind))


def _grouped(marks: Marks) -> list[Rows]:
    """Group marked rows by culprit and kind: positions in `marks`, most rows first, then worst."""
    keys = marks.culprits * len(KINDS) + marks.kinds
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    groups = np.split(order, starts[1:]) if len(order) else []
    return sorted(groups, key=lambda group: (-len(group), -float(marks.scores[group].max())))


def _mostly(reasons: Sequence[Reason], n_rows: int) -> Reason | None:
    """Return the reason that is true of at least half of the rows, if there is one."""
    return reasons[0] if reasons and 2 * reasons[0].n_rows >= n_rows else None


def _summarise(name: str, kind: Wrong, found: str, usual: str, mostly: Reason | None) -> str:
    """Say what is wrong with the rows in one sentence, without a condition."""
    match kind:
        case "missing":
            return f"{name} is missing{usual}"
        case "unseen":
            return f"{name} never seen in training ({found})"
        case "above":
            return f"{name} above everything in training: {found}{usual}"
        case "below":
            return f"{name} below everything in training: {found}{usual}"
        case "rare":
            return f"{name} rarely so in training: {found}"
        case "dead":
            return f"{name} stands still for longer than ever in training ({found})"
        case "lasting":
            return f"{name} unusual because of the rows before"
    if mostly is None:
        return f"{name} at odds with other variables: {found}"
    return f"{name} {found}, expected {mostly.expected}"


def _say_usual(variable: Variable, kind: Wrong, unit: str) -> str:
    """Say what training had, as words to put after what was found."""
    if kind == "missing":
        return "" if variable.n_missing else ", as it never was in training"
    if isinstance(variable, Categorical):
        return ""
    if kind == "above":
        return f" (at most {_say_value(variable.high)}{unit} in training)"
    return f" (at least {_say_value(variable.low)}{unit} in training)" if kind == "below" else ""


def _say_found(variable: Variable, column: Column) -> str:
    """Say which values were found: the commonest states, or the extent of the numbers."""
    if not isinstance(variable, Categorical):
        values, bounds = numbers(column), (variable.low, variable.high)
        low, high = (_say_value(float(value), *bounds) for value in (values.min(), values.max()))
        return low if low == high else f"{low} to {high}"
    _, firsts, counts = np.unique(column.values, return_index=True, return_counts=True)
    states = [
        (-n, _say_value(column.cell(at)))
        for n, at in zip(counts.tolist(), firsts.tolist(), strict=True)
    ]
    names = [name for _, name in sorted(states)]
    return ", ".join([*names[:N_STATES], *["…"][: len(names) - N_STATES]])


def _say_value(value: Scalar | None, *bounds: float) -> str:
    """Print what was found, without needless digits."""
    if value is None:
        return "missing"
    return (
        shorten(value, same_side(value, bounds)) if isinstance(value, float) else say_state(value)
    )
