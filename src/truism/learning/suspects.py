"""Training rows that the others contradict most: a table goes in, suspects come out.

Anomalies among the rows to learn from teach that they are normal. So rows are judged twice.

- First, each row is judged by others that cannot know its kind. In a series, these are the other
  stretches of rows, as for the threshold: an incident is in one of them, and what recurs is known to all.
  Rows that are no series may have many of their own kind anywhere, which teach each other even when some
  are held out; they are judged by small samples, in which a rare kind is a row or two and teaches
  nothing. What is contradicted most is set aside.
- Then a model of all other rows judges those that were set aside. Those that score far above its
  threshold are *suspects*; the others are normal after all.
- Suspects that are no series are *hidden* if a model of all rows finds them ordinary: only without them
  will their kind be found later. The others stay unusual after they were learned. They hide little, and
  many of them are rare normal rows, which teach how far normal rows go.
"""

from collections.abc import Iterator, Sequence
from typing import overload

import msgspec
import numpy as np

from truism.arrays import Floats, Rows
from truism.explaining.explanations import Explanation, explain_rows
from truism.explaining.patterns import Patterns
from truism.incidents.marks import Marker
from truism.learning.holdout import N_BLOCKS, N_STRETCHES, held_out_scores, learn_evidence
from truism.learning.kinds import find_changing, infer_schema, variable_columns
from truism.learning.learn import learn
from truism.learning.memory import held_out_excess, learn_memory
from truism.learning.order import find_series, rows_to_look_back
from truism.learning.predicates import find_predicates
from truism.learning.rules import Search
from truism.learning.support import choose_support
from truism.model.model import Model
from truism.model.schema import Numeric, Schema
from truism.model.series import Series
from truism.model.settings import IncidentRate, Settings, exact
from truism.model.wording import preformatted
from truism.scoring.alignment import time_column
from truism.scoring.scorer import Scorer
from truism.scoring.series import lay_out, rows_by_series
from truism.scoring.thresholds import expect
from truism.table.columns import Table
from truism.table.deltas import Run, delta_name, with_deltas
from truism.table.times import Moment
from truism.work import Progress

SAMPLE_ROWS, N_SAMPLES = 128, 4  # rows of a small sample, and how many samples judge a row
SET_ASIDE = 0.04  # share of the rows; several times as many as the anomalies that one may overlook
FAR = 3.5  # times the threshold that one normal row in a hundred exceeds
ORDINARY = 0.5  # times that threshold: the most that a row scores which was learned and is hidden
FAR_IN_SERIES = 1.0  # times the threshold above which a normal series forms an incident a day
MIN_ROWS = 100  # fewer rows cannot show what one in a hundred does
GAP = 5  # rows between two suspects of one incident
_LEAST = 1e-9


class Group(msgspec.Struct, frozen=True):
    """Suspects that belong together: rows of a series near each other, or rows of one pattern.

    Parameters
    ----------
    rows
        Their positions in the table, ascending.
    score
        The highest score among them, in multiples of the threshold.
    started, ended
        The times of the first and the last row, if the table has times.
    explanation
        Why the row with the highest score is contradicted.
    summary
        What a pattern has in common; empty for rows of a series.

    """

    rows: tuple[int, ...]
    score: float
    started: Moment | None
    ended: Moment | None
    explanation: Explanation
    summary: str = ""

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


class Suspects(Sequence[Group]):
    """Training rows that the others contradict, in groups, those that are contradicted most first.

    Parameters
    ----------
    rows
        All of them: positions in the table, ascending.
    n_rows
        How many rows the table has.
    groups
        The groups.
    time
        The table's column of times, if there is one.
    hidden
        Those of the rows that are ordinary once they are learned, which should not be; all of them in a
        series, and when absent.

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
        return "\n\n".join(f"{each}\n{each.explanation}" for each in self._groups) or "none"

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def find_suspects(
    table: Table, settings: Settings, *, delta: bool, n_jobs: int, progress: Progress
) -> Suspects:
    """Find the training rows that the others contradict far beyond the threshold.

    Parameters
    ----------
    table
        Rows to learn from.
    settings, delta
        How they will be learned from; rows are weighed by evidence, whatever the scoring will be.
    n_jobs
        Number of threads; the result does not depend on it.
    progress
        Called with the stage, the amount done, and the total amount.

    """
    schema, derived = find_changing(table, settings, delta)
    if table.n_rows < MIN_ROWS:
        return Suspects(np.empty(0, np.int64), table.n_rows, (), schema.time)
    if derived:
        runs = [Run(rows) for rows in rows_by_series(settings.by, table).values()]
        table = with_deltas(table, derived, runs)
    as_found = _as_found(schema, derived, settings)
    series = find_series(table, schema, settings, delta=delta)
    doubts = (
        _sampled_doubts(table, as_found, n_jobs, progress)
        if series is None
        else _stretched_doubts(table, series, as_found, n_jobs, progress)
    )
    aside = np.argsort(-doubts, kind="stable")[: max(1, int(SET_ASIDE * table.n_rows))]
    aside = np.sort(aside if series is None else aside[doubts[aside] > FAR_IN_SERIES])
    progress("suspects", 1, 3)
    if not len(aside):
        return Suspects(aside, table.n_rows, (), schema.time)
    others = np.delete(np.arange(table.n_rows), aside)
    judge = _learn(table.take(others), as_found, n_jobs)
    scores = _ratios(judge, table, n_jobs)[aside]
    progress("suspects", 2, 3)
    far = scores > (FAR if series is None else FAR_IN_SERIES)
    rows = hidden = aside[far]
    if series is None and len(rows):
        learned = _learn(table, as_found, n_jobs)
        hidden = rows[_ratios(learned, table.take(rows), n_jobs) <= ORDINARY]
    progress("suspects", 3, 3)
    groups = _grouped(judge, table, rows, scores[far])
    return Suspects(rows, table.n_rows, groups, judge.schema.time, hidden)


def _as_found(schema: Schema, derived: Sequence[str], settings: Settings) -> Settings:
    """Return settings by which samples have the variables of the whole table."""
    numeric = [each.name for each in schema.variables if isinstance(each, Numeric)]
    categorical = [each.name for each in schema.variables if not isinstance(each, Numeric)]
    changes = [delta_name(name) for name in derived]
    unused = (each.name for each in schema.left_out if each.name != settings.by)
    return Settings(
        categorical=tuple(categorical),
        continuous=(*numeric, *changes),
        ignore=tuple(unused),
        time=schema.time,
        by=settings.by,
        ordered=settings.ordered,
        lookback=settings.lookback,
        random_state=settings.random_state,
    )


def _stretched_doubts(
    table: Table, series: Series, settings: Settings, n_jobs: int, progress: Progress
) -> Floats:
    """Return how far above the threshold each row scores, judged by other stretches of the series."""
    schema = infer_schema(table, settings)
    columns = variable_columns(schema, table)
    min_support = exact(choose_support(table, schema, settings, n_jobs, progress).value)
    (predicates,) = find_predicates(
        schema, columns, settings.cutoffs, [min_support], n_jobs, progress
    )
    search = Search(schema, columns, predicates, settings, min_support, n_jobs, progress)
    mined = search.in_sample(search.propose())
    rows = np.arange(table.n_rows)
    learned = learn_evidence(
        schema,
        columns,
        mined,
        settings,
        n_jobs,
        progress,
        rows=rows,
    )
    lookback = rows_to_look_back(settings, series)
    timeline = lay_out(series, schema, table)
    if not lookback:
        blocks = learned.study.apart
        held = learned.study.hold_out(blocks, learned.worths, rows)
        scores, limit = held_out_scores(learned.evidence, held), learned.limit
    else:
        memory = learn_memory(learned, mined, settings, timeline, lookback, n_jobs)
        scores = held_out_excess(learned, mined, settings, timeline, memory, n_jobs)
        limit = expect(memory, IncidentRate.asked(None, series.step), series.step)
    return scores / max(limit.value, _LEAST)


def _sampled_doubts(table: Table, settings: Settings, n_jobs: int, progress: Progress) -> Floats:
    """Return how far above the threshold of small samples each row scores, on average."""
    numbers = np.random.default_rng(settings.random_state)
    rows = np.arange(table.n_rows)
    blocks = rows * min(N_STRETCHES, table.n_rows) // table.n_rows % N_BLOCKS
    found = np.zeros(table.n_rows)
    for done in range(N_SAMPLES * N_BLOCKS):
        progress("samples", done, N_SAMPLES * N_BLOCKS)
        own = blocks == done % N_BLOCKS
        others = rows[~own]
        drawn = numbers.choice(others, min(SAMPLE_ROWS, len(others)), replace=False)
        sample = _learn(table.take(np.sort(drawn)), settings, n_jobs)
        found[own] += _ratios(sample, table.take(rows[own]), n_jobs)
    progress("samples", N_SAMPLES * N_BLOCKS, N_SAMPLES * N_BLOCKS)
    return found / N_SAMPLES


def _learn(table: Table, settings: Settings, n_jobs: int) -> Model:
    """Learn from some of the rows; columns that hold nothing in them are left out."""
    empty = tuple(each.name for each in table.columns if not len(each.present))
    if empty:
        settings = msgspec.structs.replace(
            settings,
            categorical=tuple(name for name in settings.categorical if name not in empty),
            continuous=tuple(name for name in settings.continuous if name not in empty),
            ignore=tuple({**dict.fromkeys(settings.ignore), **dict.fromkeys(empty)}),
        )
    return learn(table, settings, n_jobs=n_jobs)


def _ratios(model: Model, table: Table, n_jobs: int) -> Floats:
    """Return scores in multiples of the threshold."""
    return Scorer(model).score(table, n_jobs) / max(model.threshold, _LEAST)


def _grouped(judge: Model, table: Table, rows: Rows, scores: Floats) -> list[Group]:
    """Put suspects together, and say what speaks against them."""
    scorer, found = Scorer(judge), []
    times = time_column(judge.schema, table)
    for own, summary in _groups(scorer, table, rows):
        of_rows = scores[np.searchsorted(rows, own)]
        worst = own[[int(of_rows.argmax())]]
        started, ended = (
            None if times is None else times.cell(int(row)) for row in (own[0], own[-1])
        )
        found.append(
            Group(
                tuple(own.tolist()),
                float(of_rows.max()),
                started,
                ended,
                explain_rows(scorer, table, worst, times)[0],
                summary,
            )
        )
    return sorted(found, key=lambda group: (-group.score, group.rows))


def _groups(scorer: Scorer, table: Table, rows: Rows) -> Iterator[tuple[Rows, str]]:
    """Yield rows that belong together, and what they have in common if they are no series."""
    if not len(rows):
        return
    model = scorer.model
    if model.series is not None:
        for own in np.split(rows, np.flatnonzero(np.diff(rows) > GAP + 1) + 1):
            yield own, ""
        return
    part = table.take(rows)
    marker = Marker(model, part, FAR * model.threshold)
    weighed = scorer.weigh(part)
    marker.take(np.arange(len(rows)), weighed, weighed.scores)
    patterns = Patterns(scorer, part, marker.result(), None)
    for position in range(len(patterns)):
        yield rows[patterns.rows(position)], patterns[position].summary
