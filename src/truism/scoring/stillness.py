"""Values that stand still: consecutive rows go in, for how long dead variables have been so comes out.

A sensor that died repeats its last value, or none. The rows of a *stretch* have the same value, or all
lack it. A number counts as dead if it stands still for longer than a whole lookback, although no stretch
of training lasted a third of that; numbers that stood still for longer are never judged. A value is dead
if it is missing for more than a lookback, and for more than three times as long as it ever was. If values
came rounded, stretches say nothing: a number is judged once the series has shown as many decimals as
training has.
"""

import copy
import functools
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.arrays import Floats, Rows
from truism.model.schema import Numeric, Schema
from truism.model.series import LOOKBACK, Memory
from truism.scoring.alignment import MISSING
from truism.scoring.readings import Readings
from truism.scoring.weighed import Weighed

MAX_DECIMALS = 9
FINE = MAX_DECIMALS + 1
TIMES = 3  # how many times longer than any stretch of training a dead one is


class Still(msgspec.Struct, frozen=True, eq=False):
    """What a series has shown so far; arrays have one entry for each variable.

    Parameters
    ----------
    value, n_same
        The latest value, and for how many rows it has been that; 0 if there is none.
    n_missing
        For how many rows it has been missing.
    fine
        Whether it has shown as many decimals as training has: 1 or 0.

    """

    value: Floats
    n_same: Rows
    n_missing: Rows
    fine: Rows


class Judged(msgspec.Struct, frozen=True):
    """A variable that may die.

    Parameters
    ----------
    variable, place
        Its position among the variables, and among the numbers or the states.
    longest
        For how many rows it stays alive.
    decimals
        Of numbers that must not repeat: how many decimals training values have.
    rest
        The number at which it may stay for ever; None if there is none.

    """

    variable: int
    place: int
    longest: int
    decimals: int = 0
    rest: float | None = None


class Stillness:
    """Finds dead variables in rows that follow each other.

    Parameters
    ----------
    schema, memory
        The variables, and how long they stood still in training.
    muted
        Positions of variables that are not judged.

    """

    def __init__(self, schema: Schema, memory: Memory, muted: Sequence[int] = ()) -> None:
        span = max(memory.lookback, LOOKBACK)
        self.worth = worth_of_death(memory)
        self.n_variables = len(schema.variables)
        self.same: list[Judged] = []
        self.missing: list[tuple[bool, Judged]] = []
        self.spared: NDArray[np.bool_] | None = None
        n_numbers = n_states = 0
        for i, variable in enumerate(schema.variables):
            is_number = isinstance(variable, Numeric)
            place = n_numbers if is_number else n_states
            n_numbers, n_states = n_numbers + is_number, n_states + (not is_number)
            if i in muted:
                continue
            longest, absent = memory.longest[i], memory.absent[i]
            if isinstance(variable, Numeric) and 0 < TIMES * longest <= span:
                self.same.append(
                    Judged(i, place, span, decimals_of(variable.edges), memory.rest[i])
                )
            if absent:
                self.missing.append((is_number, Judged(i, place, max(span, TIMES * absent))))

    def sparing(self, spared: NDArray[np.bool_]) -> "Stillness":
        """Return the same for a table in which some variables are not judged: rows × variables."""
        other = copy.copy(self)
        other.spared = spared
        return other

    def begin(self) -> Still:
        """Return what a series has shown before its first row."""
        nought = np.zeros(self.n_variables, np.int64)
        return Still(np.zeros(self.n_variables), nought, nought, nought)

    def follow(
        self, readings: Readings, before: Still, anew: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], Still]:
        """Return for how many rows each dead variable has been so, and what to keep.

        Parameters
        ----------
        readings
            Consecutive rows of one series.
        before
            What the rows before them have shown.
        anew
            In which rows the series begins again.

        Returns
        -------
        dead, still
            Rows × variables, 0 where a variable is alive; and what is left of the rows.

        """
        dead = np.zeros((len(readings.numbers), self.n_variables), np.int32)
        value, n_same, n_missing, fine = (each.copy() for each in msgspec.structs.astuple(before))
        rows = np.arange(1, len(dead) + 1)
        begins = np.maximum.accumulate(np.where(anew, rows, 0))
        for each in self.same if len(dead) else ():
            i, values = each.variable, readings.numbers[:, each.place]
            lengths = _lengths(values, float(value[i]), int(n_same[i]), anew)
            precise = np.isfinite(values)
            if each.decimals:
                precise[precise] = decimals_up_to(values[precise], each.decimals - 1) == FINE
            latest = np.maximum.accumulate(np.where(precise, rows, int(fine[i]) - 1))
            died = (latest >= begins) & (lengths > each.longest)
            if each.rest is not None:
                died &= values != each.rest
            dead[:, i] = np.where(died, lengths, 0)
            n_same[i], fine[i] = lengths[-1], latest[-1] >= begins[-1]
            value[i] = values[-1] if lengths[-1] else 0.0
        for is_number, each in self.missing if len(dead) else ():
            i = each.variable
            if is_number:
                gone = np.isnan(readings.numbers[:, each.place])
            else:
                gone = readings.codes[:, each.place] == MISSING
            lengths = stretches(gone, int(n_missing[i]), anew)
            dead[:, i] = np.where(lengths > each.longest, lengths, dead[:, i])
            n_missing[i] = lengths[-1]
        return dead, Still(value, n_same, n_missing, fine)

    def weigh(self, weighed: Weighed, dead: NDArray[np.int32]) -> Weighed:
        """Add to what speaks against rows that some variables are dead."""
        assert weighed.remembered is not None
        remembered = msgspec.structs.replace(weighed.remembered, dead=dead)
        parts = weighed.parts + np.where(dead > 0, self.worth, 0.0) if dead.any() else weighed.parts
        return msgspec.structs.replace(weighed, parts=parts, remembered=remembered)


def worth_of_death(memory: Memory) -> float:
    """Return what a dead variable adds to the score: as much as the worst value does in a lookback."""
    return memory.cap * (1 + memory.weight)


def stillness_of(schema: Schema, memory: Memory | None, muted: Sequence[int]) -> Stillness | None:
    """Return what finds dead variables; None if rows are judged by themselves."""
    return None if memory is None else Stillness(schema, memory, muted)


def _lengths(
    values: Floats, latest: float = 0.0, n_same: int = 0, anew: NDArray[np.bool_] | None = None
) -> Rows:
    """Return for how many rows, each one included, a number has been the same; 0 if there is none."""
    known = np.isfinite(values)
    same = np.empty(len(values), np.bool_)
    same[0] = n_same > 0 and values[0] == latest
    same[1:] = values[1:] == values[:-1]
    if anew is not None:
        same &= ~anew
    return np.where(known, stretches(same & known, n_same - 1) + 1, 0)


def stretches(
    goes_on: NDArray[np.bool_], before: int = 0, anew: NDArray[np.bool_] | None = None
) -> Rows:
    """Count for each row since how many rows, itself included, something has gone on.

    >>> stretches(np.array([True, True, False, True]), 5).tolist()
    [6, 7, 0, 1]
    >>> stretches(np.array([True, True, False]), 5, np.array([False, True, True])).tolist()
    [6, 1, 0]
    """
    rows = np.arange(1, len(goes_on) + 1)
    stops = np.where(goes_on, -before, rows)
    if anew is not None:
        stops[anew & goes_on] = rows[anew & goes_on] - 1
    return np.asarray(rows - np.maximum.accumulate(stops))


def stretches_of(values: Floats, missing: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Return for how many rows, each one included, numbers have been the same, and have been missing."""
    if not len(values):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return _lengths(np.where(missing, np.nan, values)), stretches(missing)


def decimals_of(values: Sequence[float]) -> int:
    """Return how many decimals values have, up to `MAX_DECIMALS`."""
    found = decimals_up_to(np.array(values, np.float64), MAX_DECIMALS - 1)
    return min(int(found.max(initial=0)), MAX_DECIMALS)


def decimals_up_to(values: Floats, most: int) -> Rows:
    """Return how many decimals each value has; `FINE` if it has more than `most`.

    >>> decimals_up_to(np.array([3.0, 0.25, 0.125]), 2).tolist() == [0, 2, FINE]
    True
    """
    return functools.reduce(
        lambda found, decimals: np.where(np.round(values, decimals) == values, decimals, found),
        range(most, -1, -1),
        np.full(len(values), FINE),
    )
