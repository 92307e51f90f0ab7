"""How earlier rows count: held-out stretches of training rows go in, a `Memory` comes out.

Every unit of a memory is one that held-out normal rows show: what a row adds and what its past adds are
weighed by the level that either reaches once in 1,000 rows, and incidents of normal rows become rarer
with their height by a law whose scale is the mean height of those that were seen.
"""

import itertools
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.rates import fit_tail
from truism.explaining.tallies import with_floor
from truism.learning.evidence import LearnedEvidence, as_if_learned_from_all
from truism.learning.holdout import broken_worths
from truism.learning.rules import MinedRules
from truism.learning.stretches import find_stretches
from truism.learning.study import N_BLOCKS, N_STRETCHES, Study
from truism.learning.twins import find_circles
from truism.model.evidence import Evidence
from truism.model.schema import Numeric, Schema
from truism.model.series import RARE, Memory, Tail
from truism.model.settings import Settings
from truism.scoring.alignment import codes
from truism.scoring.memory import no_past, recall
from truism.scoring.series import Timeline
from truism.scoring.sums import sum_of_rows
from truism.scoring.weighed import Remembered, join_remembered
from truism.scoring.worth import RARITY_WEIGHT, find_grave, lift
from truism.table.columns import Column, numbers

CAP, HABIT_CAP = 1.5, 5.0  # times the threshold of rows: the most that a value leaves behind
WEIGHT = 2.0  # of the past beside the row, both in units of what is rare among held-out rows
NORMAL = 0.98  # share of the held-out rows below a variable's unit of blame
MAX_ROWS = 20_000  # rows to weigh; of more rows, five runs are weighed
N_RUNS = 5
ROWS_PER_STRETCH = 100  # stretches of fewer rows resemble the rows beside them
MAX_PERIOD, MUCH_NEARER, AS_NEAR, FAR = 8, 0.5, 1.1, 3.0

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class _Draft(msgspec.Struct, frozen=True, eq=False):
    """Evidence against held-out rows in order, what grave rules add, and which rows follow each other."""

    plain: Floats
    lift: Floats
    runs: Sequence[Rows]

    def recall(self, memory: Memory) -> Remembered:
        """Add the past to all rows."""
        found = [
            recall(memory, self.plain[rows], self.lift[rows], no_past(memory), compiled=True)[0]
            for rows in self.runs
        ]
        joined = found[0] if len(found) == 1 else join_remembered(found)
        rows = np.concatenate(self.runs)
        if (np.diff(rows) > 0).all():  # one series: its runs follow each other
            return joined
        return joined.take(np.argsort(rows, kind="stable"))


def learn_memory(
    learned: LearnedEvidence,
    mined: MinedRules,
    settings: Settings,
    timeline: Timeline,
    lookback: int,
    n_jobs: int,
    in_order: Rows | None = None,
) -> Memory:
    """Learn how earlier rows count.

    Parameters
    ----------
    learned
        The evidence, and the study of the training rows.
    mined, settings
        The rules, and how they were learned.
    timeline
        The training rows as series.
    lookback
        The span of the past, in rows.
    n_jobs
        Number of threads; the result does not depend on it.
    in_order
        The rows to weigh, ascending, where others are missing between rows; absent, some of all.

    """
    rows = rows_in_order(learned.study.n_rows) if in_order is None else in_order
    held = _hold_out(learned, mined, settings, timeline, rows, n_jobs)
    schema, columns = learned.study.schema, learned.study.columns
    if in_order is not None:
        columns = [column.take(in_order) for column in columns]
    every = slice(0, learned.study.n_rows)
    runs = held.runs if in_order is not None else [rows for _, rows, _ in timeline.runs(every)]
    unit = learned.limit.value
    n_variables = len(schema.variables)
    memory = Memory(
        lookback,
        find_period(schema, columns),
        _short(CAP * unit),
        _short(HABIT_CAP * unit),
        1.0,
        (0.0,) * n_variables,
        tuple(map(_short, with_floor(np.quantile(held.plain, NORMAL, axis=0)).tolist())),
        Tail(0.0, 1.0, 0, 1),
        find_circles(schema, columns),
        *find_stretches(schema, columns, runs),
    )
    recalled = held.recall(memory)
    of_rows = fit_tail(sum_of_rows(held.plain + held.lift), held.runs).threshold(RARE)
    of_past = fit_tail(sum_of_rows(recalled.past), held.runs).threshold(RARE)
    memory = msgspec.structs.replace(
        memory,
        weight=_short(WEIGHT * of_rows / of_past) if of_past > 0 else 0.0,
        usual=tuple(map(_short, np.quantile(recalled.known, 0.5, axis=0).tolist())),
    )
    tail = fit_tail(held.recall(memory).news, held.runs)
    return msgspec.structs.replace(memory, tail=tail)


def held_out_news(
    learned: LearnedEvidence,
    mined: MinedRules,
    settings: Settings,
    timeline: Timeline,
    memory: Memory,
    n_jobs: int,
) -> Floats:
    """Score every training row with its past, judged by the other stretches of rows.

    What has become a habit does not count; incidents of normal rows are expected in the same measure.
    """
    rows = np.arange(learned.study.n_rows)
    if len(learned.judged) < len(rows):
        study = learned.study
        worths = broken_worths(
            study.schema, study.columns, mined, settings, study.apart.of_row, rows, n_jobs
        )
        learned = msgspec.structs.replace(learned, judged=rows, worths=worths)
    return _hold_out(learned, mined, settings, timeline, rows, n_jobs).recall(memory).news


def find_period(schema: Schema, columns: Sequence[Column]) -> int:
    """Find after how many rows the same kind of row comes again, as with commands and answers; else 1.

    Rows of different kinds that take turns are far nearer to the row some places before than to their
    neighbour.
    """
    n_rows = min(len(columns[0].values), MAX_ROWS)
    far = np.zeros(min(MAX_PERIOD, n_rows - 1))
    for variable, column in zip(schema.variables, columns, strict=True):
        part = column.take(slice(0, n_rows))
        if isinstance(variable, Numeric):
            values = numbers(part) / (variable.std or 1.0)
            values[~np.isfinite(values)] = np.nan
        else:
            values = codes(variable, part).astype(np.float64)
        for lag in range(1, len(far) + 1):
            apart = np.abs(values[lag:] - values[:-lag])
            most = FAR if isinstance(variable, Numeric) else 1.0
            known = apart[~np.isnan(apart)]
            far[lag - 1] += np.minimum(known, most).mean() if len(known) else 0.0
    if not len(far) or not far[0]:
        return 1
    nearest = int(np.flatnonzero(far <= AS_NEAR * far.min())[0])
    return nearest + 1 if far[nearest] <= MUCH_NEARER * far[0] else 1


def _hold_out(
    learned: LearnedEvidence,
    mined: MinedRules,
    settings: Settings,
    timeline: Timeline,
    rows: Rows,
    n_jobs: int,
) -> _Draft:
    """Weigh stretches of training rows by the others."""
    study = learned.study
    n_stretches = int(np.clip(study.n_rows // ROWS_PER_STRETCH, N_BLOCKS, N_STRETCHES))
    if n_stretches != study.n_stretches:
        study = Study(study.schema, study.columns, study.grown, n_jobs, n_stretches)
    held, worths = learned.apart, learned.worths[np.searchsorted(learned.judged, rows)]
    if study is not learned.study:
        worths = broken_worths(
            study.schema, study.columns, mined, settings, study.apart.of_row, rows, n_jobs
        )
    if study is not learned.study or len(rows) < study.n_rows or held.values is None:
        held = study.hold_out(study.apart, worths, rows, each_value=True)
    assert held.values is not None
    plain = held.values[0] / learned.evidence.contradiction_unit
    plain += RARITY_WEIGHT / learned.evidence.rarity_unit * held.values[1]
    runs = _runs(timeline, rows)
    return _Draft(plain, _lifts(learned.evidence, plain, as_if_learned_from_all(worths)), runs)


def rows_in_order(n_rows: int) -> Rows:
    """Return the rows to weigh: all, or of very many a run in the middle of each fifth."""
    if n_rows <= MAX_ROWS:
        return np.arange(n_rows)
    middles = [(2 * k + 1) * n_rows // (2 * N_RUNS) for k in range(N_RUNS)]
    half = MAX_ROWS // (2 * N_RUNS)
    return np.concatenate([np.arange(middle - half, middle + half) for middle in middles])


def _runs(timeline: Timeline, rows: Rows) -> list[Rows]:
    """Return which of the chosen rows follow each other, by their positions among the chosen."""
    ends = [0, *(np.flatnonzero(np.diff(rows) > 1) + 1).tolist(), len(rows)]
    found = []
    for start, end in itertools.pairwise(ends):
        block = slice(int(rows[start]), int(rows[end - 1]) + 1)
        for _, run, _ in timeline.runs(block):
            found.append(run - block.start + start)
    return found


def _lifts(evidence: Evidence, plain: Floats, worths: Floats) -> Floats:
    """Return what grave rules add."""
    lifts = np.zeros(plain.shape)
    rows, about = find_grave(evidence.grave, worths)
    lifts[rows, about] = lift(evidence.grave, sum_of_rows(plain[rows]), worths[rows, about])
    return lifts


def _short(value: float) -> float:
    return float(f"{value:.4g}")
