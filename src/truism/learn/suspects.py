"""Training rows that the others contradict most: which rows, and a model of the others to judge them by.

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

from collections.abc import Sequence

import msgspec
import numpy as np

from truism.arrays import Floats, Rows
from truism.learn.holdout import N_BLOCKS, N_STRETCHES, held_out_scores, learn_evidence
from truism.learn.kinds import find_changing, infer_schema
from truism.learn.learn import learn
from truism.learn.rules import Search, choose_support
from truism.learn.series import find_series, held_out_excess, learn_memory, rows_to_look_back
from truism.model.model import Model
from truism.model.schema import Numeric, Schema
from truism.model.series import Series
from truism.model.settings import IncidentRate, Settings, exact
from truism.score.past import lay_out, rows_by_series
from truism.score.scorer import Scorer
from truism.score.thresholds import expect
from truism.table.columns import Table
from truism.table.deltas import Stretch, delta_name, with_deltas
from truism.work import Progress

SAMPLE_ROWS, N_SAMPLES = 128, 4  # rows of a small sample, and how many samples judge a row
SET_ASIDE = 0.04  # share of the rows; several times as many as the anomalies that one may overlook
FAR = 3.5  # times the threshold that one normal row in a hundred exceeds
ORDINARY = 0.5  # times that threshold: the most that a row scores which was learned and is hidden
FAR_IN_SERIES = 1.0  # times the threshold above which a normal series forms an incident a day
MIN_ROWS = 100  # fewer rows cannot show what one in a hundred does
_LEAST = 1e-9


class Suspicion(msgspec.Struct, frozen=True, eq=False):
    """Rows that the others contradict, with scores in multiples of the judge's threshold.

    The table has the changes that are variables. Those rows are `hidden` that are ordinary once they are
    learned, in a series all. The judge is a model of the other rows; None without suspects.
    """

    table: Table
    rows: Rows
    scores: Floats
    hidden: Rows
    time: str | None
    judge: Model | None


def suspect(
    table: Table, settings: Settings, *, delta: bool, n_jobs: int, progress: Progress
) -> Suspicion:
    """Find the training rows that the others contradict far beyond the threshold.

    Rows are weighed by evidence, whatever the scoring will be.
    """
    schema, derived = find_changing(table, settings, delta)
    if table.n_rows < MIN_ROWS:
        return _nothing(table, schema)
    if derived:
        runs = [Stretch(rows) for rows in rows_by_series(settings.by, table).values()]
        table = with_deltas(table, derived, runs, {*derived} - {*schema.names})
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
        return _nothing(table, schema)
    others = np.delete(np.arange(table.n_rows), aside)
    judge = learn(table.take(others), as_found, n_jobs=n_jobs)
    scores = _ratios(judge, table, n_jobs)[aside]
    progress("suspects", 2, 3)
    far = scores > (FAR if series is None else FAR_IN_SERIES)
    rows = hidden = aside[far]
    if series is None and len(rows):
        learned = learn(table, as_found, n_jobs=n_jobs)
        hidden = rows[_ratios(learned, table.take(rows), n_jobs) <= ORDINARY]
    progress("suspects", 3, 3)
    return Suspicion(table, rows, scores[far], hidden, judge.schema.time, judge)


def _nothing(table: Table, schema: Schema) -> Suspicion:
    nothing = np.empty(0, np.int64)
    return Suspicion(table, nothing, np.empty(0), nothing, schema.time, None)


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
    min_support = exact(choose_support(table, schema, settings, n_jobs, progress).value)
    search = Search.in_table(table, schema, settings, min_support, n_jobs, progress)
    mined, rows = search.in_sample(search.propose()), np.arange(table.n_rows)
    learned = learn_evidence(schema, search.columns, mined, settings, n_jobs, progress, rows=rows)
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
        sample = learn(table.take(np.sort(drawn)), settings, n_jobs=n_jobs)
        found[own] += _ratios(sample, table.take(rows[own]), n_jobs)
    progress("samples", N_SAMPLES * N_BLOCKS, N_SAMPLES * N_BLOCKS)
    return found / N_SAMPLES


def _ratios(model: Model, table: Table, n_jobs: int) -> Floats:
    """Return scores in multiples of the threshold."""
    return Scorer(model).score(table, n_jobs) / max(model.threshold, _LEAST)
