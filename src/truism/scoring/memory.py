"""What earlier rows leave behind: evidence against rows in order goes in, the past of each row comes out.

The *past* of a variable is an exponential average of the evidence against it over some rows, and adds to
its part of the score. Its *habit* is one over far more rows: what has been so for long is no news. Both
are causal. Rows in one piece, in chunks or one by one give equal bits: averages are summed in blocks
that are counted from the beginning of a series, in the order of the rows. A compiled loop does the same
to the bit, and several times faster; it is worth loading the compiler for large tables.
"""

import functools

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.series import Memory
from truism.scoring.sums import sum_of_rows
from truism.scoring.weighed import Remembered

HABIT = 12  # how many times longer than the past a habit reaches back
MIN_SPAN = 3.0  # rows of one kind, if kinds of rows take turns
LASTING = 0.25  # share of the cap above which a variable's past counts as lasting
BLOCK = 64  # rows whose weighted evidence is summed before it is scaled down again
COMPARISONS = 16  # that take NumPy about as long as recalling one value

Floats = NDArray[np.float64]


class Average(msgspec.Struct, frozen=True, eq=False):
    """A running average: the sum of the block of rows so far, and the average before that block."""

    total: Floats
    base: Floats


class Past(msgspec.Struct, frozen=True, eq=False):
    """What is left of earlier rows: the state of a series.

    Parameters
    ----------
    past, habit
        The two averages of all variables, for each kind of row if kinds take turns.
    n_rows
        Rows since the beginning.
    lasting
        For how many rows each variable's past has been high.

    """

    past: tuple[Average, ...]
    habit: tuple[Average, ...]
    n_rows: int
    lasting: NDArray[np.int32]


def no_past(memory: Memory) -> Past:
    """Return the state at the beginning of a series."""
    nothing = np.zeros(len(memory.usual))
    none = (Average(nothing, nothing),) * memory.period
    return Past(none, none, 0, np.zeros(len(nothing), np.int32))


def rates(memory: Memory) -> tuple[float, float]:
    """Return the share of a new row in the past, and in the habit."""
    span, period = float(memory.lookback), memory.period
    habit = HABIT * span / period
    if period > 1:
        span = max(span / period, MIN_SPAN)
    return 2 / (span + 1), 2 / (habit + 1)


def recall(
    memory: Memory,
    evidence: Floats,
    lift: Floats | None,
    before: Past,
    *,
    compiled: bool = False,
) -> tuple[Remembered, Past]:
    """Add the past to the evidence against consecutive rows of one series.

    Parameters
    ----------
    memory
        How earlier rows count.
    evidence
        Rows × variables, without what grave rules add.
    lift
        What grave rules add, if any.
    before
        The state before the first row.
    compiled
        Whether to use the compiled loop; the result is the same.

    Returns
    -------
    remembered, past
        What the past adds, and the state after the last row.

    """
    if compiled:
        return _recall_compiled(memory, evidence, lift, before)
    n_rows, period = len(evidence), memory.period
    values = np.array(evidence.T, order="C")  # a copy, in which the rows of a variable are together
    averages, known = np.empty(values.shape), np.empty(values.shape)
    past, habit = list(before.past), list(before.habit)
    rate, habit_rate = rates(memory)
    capped, wide = np.minimum(values, memory.cap), np.minimum(values, memory.habit_cap)
    for at in range(min(period, n_rows)):
        phase, first = (before.n_rows + at) % period, (before.n_rows + at) // period
        own = slice(at, None, period)
        averages[:, own], past[phase] = average(capped[:, own], rate, past[phase], first)
        known[:, at] = latest(habit[phase], habit_rate, first)
        habitual, habit[phase] = average(wide[:, own], habit_rate, habit[phase], first)
        known[:, at + period :: period] = habitual[:, :-1]
    known -= np.array(memory.usual)[:, None]
    np.maximum(known, 0.0, out=known)
    lasting = count_lasting(averages > LASTING * memory.cap, before.lasting)
    if lift is not None:
        values += lift.T
    values -= known
    fresh = np.maximum(values, 0.0, out=values)
    lingering = np.minimum(known, memory.cap, out=capped)
    np.maximum(np.subtract(averages, lingering, out=capped), 0.0, out=capped)
    fresh += np.multiply(capped, memory.weight, out=capped)
    averages *= memory.weight
    left = lasting[:, -1].copy() if n_rows else before.lasting
    after = Past(tuple(past), tuple(habit), before.n_rows + n_rows, left)
    return Remembered(averages.T, sum_of_rows(fresh.T), known.T, lasting.T), after


def fresh(memory: Memory, evidence: Floats, past: Floats, known: Floats) -> Floats:
    """Return what is new of the evidence against variables and of their past, beyond what is known.

    Summed over all variables, this is the news of a row.
    """
    lingering = memory.weight * np.minimum(known, memory.cap)
    return np.maximum(evidence - known, 0.0) + np.maximum(past - lingering, 0.0)


def _recall_compiled(
    memory: Memory, evidence: Floats, lift: Floats | None, before: Past
) -> tuple[Remembered, Past]:
    from truism.scoring.kernels import memory as kernels  # only large tables load the compiler

    def scales(rate: float) -> tuple[Floats, Floats]:
        if rate >= 1:  # blocks of one row, of which nothing remains
            return np.ones(1), np.array([1.0, 0.0])
        grow, shrink = _scales(rate)
        return rate * grow, shrink

    rate, habit_rate = rates(memory)
    past, habit = (
        np.array([(each.total, each.base) for each in averages])
        for averages in (before.past, before.habit)
    )
    lasting = before.lasting.copy()
    found, news = np.empty((2, *evidence.shape)), np.empty(len(evidence))
    since = np.empty(evidence.shape, np.int32)
    kernels.recall(
        np.ascontiguousarray(evidence),
        evidence[:0] if lift is None else np.ascontiguousarray(lift),
        before.n_rows,
        (*scales(rate), *scales(habit_rate)),
        (memory.cap, memory.habit_cap, memory.weight, LASTING * memory.cap),
        np.array(memory.usual),
        past,
        habit,
        lasting,
        found,
        news,
        since,
    )
    if rate >= 1:
        past[:, 1] = 0.0
    after = Past(
        tuple(Average(*each) for each in past),
        tuple(Average(*each) for each in habit),
        before.n_rows + len(evidence),
        lasting,
    )
    return Remembered(found[0], news, found[1], since), after


def average(values: Floats, rate: float, before: Average, first: int) -> tuple[Floats, Average]:
    """Average exponentially along rows: ``y = (1 - rate) * y_before + rate * value``.

    Within a block of rows, evidence is scaled up by its place and summed; the sums are scaled down
    again, and what the blocks before have left is added.

    Parameters
    ----------
    values
        Variables × rows.
    rate
        The share of a new row.
    before
        The average before the first row.
    first
        How many rows came before it.

    """
    n_variables, n_rows = values.shape
    if rate >= 1 or not n_rows:
        return values.copy(), Average(values[:, -1].copy(), before.base) if n_rows else before
    grow, shrink = _scales(rate)
    place = first % BLOCK
    n_blocks = -(-(place + n_rows) // BLOCK)
    sums = np.zeros((n_variables, n_blocks, BLOCK))
    flat = sums.reshape(n_variables, -1)
    flat[:, place : place + n_rows] = values
    sums *= rate * grow
    base = before.base
    if place:
        flat[:, place - 1] = before.total
    elif first:
        base = latest(before, rate, first)
    np.add.accumulate(sums, axis=2, out=sums)
    last = (place + n_rows - 1) % BLOCK
    total = sums[:, -1, last].copy()
    sums *= shrink[:BLOCK]
    ends = sums[:, :, -1].T.copy()
    bases = np.empty((n_blocks, n_variables))
    for number in range(n_blocks):
        bases[number] = base
        base = ends[number] + base * shrink[BLOCK]
    sums += bases.T[:, :, None] * shrink[1:]
    return flat[:, place : place + n_rows], Average(total, bases[-1].copy())


def latest(before: Average, rate: float, first: int) -> Floats:
    """Return the average after some rows."""
    if rate >= 1 or not first:
        return before.total
    _, shrink = _scales(rate)
    place = (first - 1) % BLOCK
    value: Floats = before.total * shrink[place] + before.base * shrink[place + 1]
    return value


@functools.lru_cache(maxsize=16)
def _scales(rate: float) -> tuple[Floats, Floats]:
    """Return by how much a row is scaled up in the sum of its block, and down again."""
    shrink = np.array([(1 - rate) ** place for place in range(BLOCK + 1)])
    return 1 / shrink[:BLOCK], shrink


def count_lasting(high: NDArray[np.bool_], before: NDArray[np.int32]) -> NDArray[np.int32]:
    """Count for each row since how many rows, itself included, each variable has been high.

    >>> count_lasting(np.array([[True, True, False, True]]), np.array([5], np.int32)).tolist()
    [[6, 7, 0, 1]]
    """
    rows = np.arange(1, high.shape[1] + 1, dtype=np.int32)
    lows = np.where(high, -before[:, None], rows)
    np.maximum.accumulate(lows, axis=1, out=lows)
    return np.subtract(rows, lows, out=lows)
