"""Whether rows are a series, and how earlier rows of one count.

Rows are a series if their times ascend in nearly equal steps, or if the user says that they are in order.
Otherwise they are exchangeable, even with a column of times.

Every unit of a memory is one that held-out normal rows show: what a row adds and what its past adds are
weighed by the level that either reaches once in 1,000 rows, references begin where those rows are and
may drift as far as theirs did, and incidents of normal rows become rarer with their height by a law whose
scale is the mean height of those that were seen.
"""

import itertools
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats, Rows
from truism.errors import ParameterError
from truism.incidents.events import HORIZON
from truism.incidents.following import calm_excess
from truism.incidents.rates import fit_tail, four_digits
from truism.learn.holdout import (
    N_BLOCKS,
    N_STRETCHES,
    LearnedEvidence,
    Study,
    as_if_learned_from_all,
    broken_worths,
)
from truism.learn.rules import MinedRules
from truism.model.evidence import Evidence
from truism.model.schema import Numeric, Schema
from truism.model.series import LOOKBACK, RARE, Memory, Series, Tail
from truism.model.settings import Settings
from truism.score.alignment import codes
from truism.score.evidence import RARITY_WEIGHT, find_grave, lift
from truism.score.past import TIMES, Timeline, lay_out, no_past, recall, share_of, stretches_of
from truism.score.weighed import sum_of_rows
from truism.table.columns import Column, Table, numbers
from truism.table.deltas import DELTA
from truism.table.layouts import seconds_of
from truism.table.timelines import irregularity

CAP = 1.5  # times the threshold of rows: the most that a value leaves behind
WEIGHT = 2.0  # of the past beside the row, both in units of what is rare among held-out rows
MAX_ROWS = 20_000  # rows to weigh; of more rows, five runs are weighed
N_RUNS = 5
HORIZONS_PER_STRETCH = 4  # references need some rows to settle
MAX_PERIOD, MUCH_NEARER, AS_NEAR, FAR = 8, 0.5, 1.1, 3.0


def find_series(table: Table, schema: Schema, settings: Settings, *, delta: bool) -> Series | None:
    """Decide whether rows are a series, whose memory is still to be learned.

    Changes from row to row as variables say so, too.
    """
    timeline = lay_out(Series(by=settings.by), schema, table)
    steps = _steps(timeline.times, timeline.of_row)
    regular = steps is not None and irregularity(steps) is None
    if not (regular or settings.ordered or delta or settings.by is not None):
        return None
    forward = np.empty(0) if steps is None else steps[steps > 0]
    step = float(np.median(forward)) / 1e6 if len(forward) else None
    return Series(step, settings.by)


def rows_to_look_back(settings: Settings, series: Series) -> int:
    """Return the span of the past in rows; 0 if every row is to be judged by itself."""
    said = settings.lookback
    if said == "auto":
        return LOOKBACK
    if isinstance(said, int):
        return said
    if series.step is None:
        raise ParameterError.of(
            "lookback",
            "be a number of rows, because the table has no times",
            said,
        )
    return max(round(seconds_of(said) / series.step), 1)


def _steps(times: NDArray[np.int64] | None, of_row: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the steps from row to row within each series, in microseconds."""
    if times is None or len(times) < 2:
        return None
    order = np.argsort(of_row, kind="stable")
    steps = np.diff(times[order])
    return np.asarray(steps[np.diff(of_row[order]) == 0], np.int64)


class _Draft(msgspec.Struct, frozen=True, eq=False):
    """Held-out rows in order.

    Evidence against them, what grave rules add, how far numbers lie off, which values are there, and
    which rows follow each other.
    """

    plain: Floats
    lift: Floats
    apart: Floats
    known: NDArray[np.bool_]
    runs: Sequence[Rows]

    def recall(self, memory: Memory) -> Floats:
        """Return what the past adds to all rows."""
        found = np.zeros(self.plain.shape)
        for rows in self.runs:
            found[rows] = recall(memory, self.plain[rows], no_past(memory))[0].past
        return found

    def excess(self, memory: Memory, points: Floats) -> Floats:
        """Return how far rows are beyond what their series has been like lately."""
        found = np.zeros(len(points))
        for rows in self.runs:
            found[rows] = calm_excess(memory, points[rows], self.known[rows])
        return found


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
    held = _hold_out(learned, mined, settings, timeline, lookback, rows, n_jobs)
    schema, columns = learned.study.schema, learned.study.columns
    if in_order is not None:
        columns = [column.take(in_order) for column in columns]
    every = slice(0, learned.study.n_rows)
    runs = held.runs if in_order is not None else list(timeline.runs(every))
    unit = learned.limit.value
    n_variables = len(schema.variables)
    nothing = (0.0,) * n_variables
    memory = Memory(
        lookback,
        find_period(schema, columns),
        four_digits(CAP * unit),
        1.0,
        *(nothing, nothing, nothing),
        Tail(0.0, 1.0, 0, 1),
        *find_stretches(schema, columns, runs, max(lookback, LOOKBACK) // TIMES),
    )
    past = held.recall(memory)
    of_rows = fit_tail(sum_of_rows(held.plain + held.lift), held.runs).threshold(RARE)
    of_past = fit_tail(sum_of_rows(past), held.runs).threshold(RARE)
    weight = four_digits(WEIGHT * of_rows / of_past) if of_past > 0 else 0.0
    points = held.plain + held.lift + weight * past
    usual = np.sqrt(np.quantile(points, 0.5, axis=0))
    memory = msgspec.structs.replace(
        memory,
        weight=weight,
        usual=_shortened(usual),
        highest=_shortened(_highest(held, lookback, points, usual)),
    )
    stray = _stray(held, memory)
    memory = msgspec.structs.replace(memory, stray=_shortened(stray))
    tail = fit_tail(held.excess(memory, points), held.runs)
    return msgspec.structs.replace(memory, tail=tail)


def _highest(held: _Draft, lookback: int, points: Floats, usual: Floats) -> Floats:
    """Return the highest that references rise in held-out rows."""
    from truism.incidents import kernels

    found = usual.copy()
    for rows in held.runs:
        rate = 1 / (HORIZON * lookback)
        kernels.highest(points[rows], held.known[rows], rate, usual.copy(), found)
    return found


def _stray(held: _Draft, memory: Memory) -> Floats:
    """Return how far numbers usually are from where they have been lately."""
    from truism.incidents import kernels

    found = np.empty((len(held.runs), len(memory.usual)))
    for rows, of_run in zip(held.runs, found, strict=True):
        rate, nearness = 1 / (HORIZON * memory.lookback), share_of(memory.lookback)
        kernels.strays(held.apart[rows], rate, nearness, of_run)
    return np.asarray(np.average(found, axis=0, weights=[len(rows) for rows in held.runs]))


def held_out_excess(
    learned: LearnedEvidence,
    mined: MinedRules,
    settings: Settings,
    timeline: Timeline,
    memory: Memory,
    n_jobs: int,
) -> Floats:
    """Return the excess of every training row, judged by the other stretches of rows."""
    rows = np.arange(learned.study.n_rows)
    if len(learned.judged) < len(rows):
        study = learned.study
        worths = broken_worths(
            study.schema, study.columns, mined, settings, study.apart.of_row, rows, n_jobs
        )
        learned = msgspec.structs.replace(learned, judged=rows, worths=worths)
    held = _hold_out(learned, mined, settings, timeline, memory.lookback, rows, n_jobs)
    return held.excess(memory, held.plain + held.lift + held.recall(memory))


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
    lookback: int,
    rows: Rows,
    n_jobs: int,
) -> _Draft:
    """Weigh stretches of training rows by the others."""
    study = learned.study
    n_rows = HORIZONS_PER_STRETCH * HORIZON * lookback
    n_stretches = int(np.clip(study.n_rows // n_rows, N_BLOCKS, N_STRETCHES))
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
    lifts = _lifts(learned.evidence, plain, as_if_learned_from_all(worths))
    known = np.stack([~_missing(column, rows) for column in study.columns], axis=1)
    return _Draft(plain, lifts, held.values[2], known, _runs(timeline, rows))


def _missing(column: Column, rows: Rows) -> NDArray[np.bool_]:
    """Return which values of some rows are missing."""
    if column.values.dtype.kind == "f":
        return np.isnan(numbers(column)[rows])
    return np.zeros(len(rows), np.bool_) if column.missing is None else column.missing[rows]


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
        found += [run - block.start + start for run in timeline.runs(block)]
    return found


def _lifts(evidence: Evidence, plain: Floats, worths: Floats) -> Floats:
    """Return what grave rules add."""
    lifts = np.zeros(plain.shape)
    rows, about = find_grave(evidence.grave, worths)
    lifts[rows, about] = lift(evidence.grave, sum_of_rows(plain[rows]), worths[rows, about])
    return lifts


def _shortened(values: Floats) -> tuple[float, ...]:
    return tuple(map(four_digits, values.tolist()))


def find_stretches(
    schema: Schema,
    columns: Sequence[Column],
    runs: Sequence[Rows],
    span: int,
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[float | None, ...]]:
    """Return for how many consecutive rows each variable was the same, and was missing, at most.

    States are 0 in the first: they may stand still for ever. So are changes of variables, which are
    the same where the variable itself is. A number that stands still for longer than a span may do so
    at the value at which it did, as a flow does at 0 while its pump is off; that is its rest, and does
    not count.

    Parameters
    ----------
    schema, columns
        The variables and their rows.
    runs
        Which rows follow each other.
    span
        For how many rows a number may stand still anywhere.

    """
    same, absent, rests = list[int](), list[int](), list[float | None]()
    names = {*schema.names}
    for variable, column in zip(schema.variables, columns, strict=True):
        missing = np.zeros(len(column.values), np.bool_)
        if column.missing is not None:
            missing = column.missing
        is_change = variable.name.startswith(DELTA) and variable.name.removeprefix(DELTA) in names
        judged = isinstance(variable, Numeric) and not is_change
        values = numbers(column) if judged else np.zeros(len(missing))
        missing = missing | np.isnan(values)
        lengths = [stretches_of(values[rows], missing[rows]) for rows in runs]
        stood, gone = (np.concatenate(each) for each in zip(*lengths, strict=True))
        rest = None
        if judged and stood.max(initial=0) > span:
            in_order = np.concatenate([values[rows] for rows in runs])
            rest = float(in_order[stood.argmax()])
            stood = np.where(in_order == rest, 0, stood)
        same.append(int(stood.max(initial=0)) if judged else 0)
        rests.append(rest)
        absent.append(int(gone.max(initial=0)))
    return tuple(same), tuple(absent), tuple(rests)
