"""Numbers that came rounded: values of rows go in, and which of them rounding may explain comes out.

If a historian rounds, or an export for people does, rows differ from what was learned by rounding
alone. A model cannot know that, but a few values of a series show it. From then on evidence against such
a variable is no news, and keeps no event open, while its value, give or take half a step, lies where
training values lay. Scores do not change.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.model.model import Model
from truism.model.schema import Numeric, Schema
from truism.model.series import Memory
from truism.scoring.contexts import FLOOR
from truism.scoring.decimals import FINE, decimals_of, decimals_up_to
from truism.scoring.memory import fresh
from truism.scoring.sums import sum_of_rows
from truism.scoring.weighed import Weighed

MIN_CHANGES = 3  # until rounding is taken for certain
SPOILED = 0.5  # standard deviations: a step that is larger leaves hardly anything of a variable

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Rounding(msgspec.Struct, frozen=True, eq=False):
    """What the values of a series have shown so far; arrays have one entry for each variable.

    Parameters
    ----------
    decimals
        The most decimals that a value had; `FINE` if they are no fewer than in training.
    changes
        How often the value changed; -1 before the first one.
    latest
        The latest value.

    """

    decimals: Rows
    changes: Rows
    latest: Floats


class Rounder:
    """Leaves out what rounding explains, in blocks of rows that follow each other.

    Parameters
    ----------
    model
        The model.
    before
        What each series has shown so far.

    Attributes
    ----------
    roundings
        What each series has shown by now.

    """

    def __init__(self, model: Model, before: Mapping[str, Rounding]) -> None:
        self.roundings = dict(before)
        self._memory, self._n = model.memory, len(model.schema.variables)
        self._limits = limits_of(model.schema)

    def excuse(
        self,
        weighed: Weighed,
        scores: Floats,
        runs: Sequence[tuple[str, Rows, bool]],
        first: int,
    ) -> tuple[Weighed, Floats]:
        """Return a block in which what rounding explains is neither news nor to blame, and its scores.

        Parameters
        ----------
        weighed
            The block; its own scores stay.
        scores
            The scores of its rows; those that come back lack what rounding explains.
        runs
            Rows of one series that follow each other: its name, the rows, and whether they begin anew.
        first
            The number of the block's first row.

        """
        if self._memory is None or weighed.pieces is None:
            return weighed, scores
        excused = np.zeros(weighed.parts.shape, np.bool_)
        for name, rows, anew in runs:
            before = None if anew else self.roundings.get(name)
            own = weighed.pieces.readings.numbers[rows - first]
            found = find_rounded(self._limits, own, before or nothing_shown(self._n))
            excused[rows - first], self.roundings[name] = found
        if not excused.any():
            return weighed, scores
        without = excuse(weighed, self._memory, excused)
        explained = sum_of_rows(np.where(excused, weighed.parts, 0.0))
        return without, np.maximum(scores - explained, without.news)


class Limit(msgspec.Struct, frozen=True):
    """A variable that rounding may spoil.

    Parameters
    ----------
    variable, number
        Its position among the variables, and among the numbers.
    most
        The most decimals of a rounded value.
    low, high
        Its smallest and largest training value.

    """

    variable: int
    number: int
    most: int
    low: float
    high: float


def limits_of(schema: Schema) -> tuple[Limit, ...]:
    """Return the variables that rounding may spoil."""
    numeric = [(i, each) for i, each in enumerate(schema.variables) if isinstance(each, Numeric)]
    return tuple(
        Limit(i, place, most, variable.low, variable.high)
        for place, (i, variable) in enumerate(numeric)
        if (most := most_when_rounded(variable, SPOILED)) is not None
    )


def nothing_shown(n_variables: int) -> Rounding:
    """Return what a series has shown before its first row."""
    nought = np.zeros(n_variables, np.int64)
    return Rounding(nought, nought - 1, np.zeros(n_variables))


def find_rounded(
    limits: Sequence[Limit], numbers: Floats, before: Rounding
) -> tuple[NDArray[np.bool_], Rounding]:
    """Return which values of consecutive rows rounding may explain, and what they have shown.

    Parameters
    ----------
    limits
        The variables that rounding may spoil.
    numbers
        Rows × numeric variables.
    before
        What the rows before them have shown.

    """
    rounded = np.zeros((len(numbers), len(before.decimals)), np.bool_)
    decimals, changes, latest = (each.copy() for each in msgspec.structs.astuple(before))
    for limit in limits:
        i, values = limit.variable, numbers[:, limit.number]
        known = np.flatnonzero(np.isfinite(values))
        if decimals[i] == FINE or not len(known):
            continue
        own = values[known]
        had = np.maximum.accumulate(np.maximum(decimals_up_to(own, limit.most), decimals[i]))
        first = own[0] if changes[i] < 0 else latest[i]
        changed = max(int(changes[i]), 0) + np.cumsum(np.diff(own, prepend=first) != 0)
        half = 0.5 * 10.0**-had
        inside = (own >= limit.low - half) & (own <= limit.high + half)
        rounded[known, i] = (had < FINE) & (changed >= MIN_CHANGES) & inside
        last = (had[-1], changed[-1], own[-1]) if had[-1] < FINE else (FINE, 0, 0.0)
        decimals[i], changes[i], latest[i] = last
    return rounded, Rounding(decimals, changes, latest)


def any_rounded(roundings: Mapping[str, Rounding]) -> bool:
    """Return whether numbers of some series are taken for rounded."""
    return any(
        bool(((each.decimals < FINE) & (each.changes >= MIN_CHANGES)).any())
        for each in roundings.values()
    )


def excuse(weighed: Weighed, memory: Memory, excused: NDArray[np.bool_]) -> Weighed:
    """Return rows in which what rounding explains is neither news nor to blame; scores stay."""
    pieces, remembered = weighed.pieces, weighed.remembered
    assert pieces is not None
    assert remembered is not None
    rows, variables = np.nonzero(excused)
    evidence = pieces.contradictions[rows, variables] + pieces.rarities[rows, variables]
    past, known = remembered.past[rows, variables], remembered.known[rows, variables]
    explained = np.zeros(excused.shape)
    explained[rows, variables] = fresh(memory, evidence, past, known)
    plain, rarities = (np.where(excused, 0.0, each) for each in (pieces.plain, pieces.rarities))
    news = np.maximum(remembered.news - sum_of_rows(explained), 0.0)
    habits = np.where(excused, np.maximum(remembered.known, weighed.parts), remembered.known)
    return msgspec.structs.replace(
        weighed,
        pieces=msgspec.structs.replace(pieces, plain=plain, rarities=rarities),
        remembered=msgspec.structs.replace(remembered, news=news, known=habits),
    )


def most_when_rounded(variable: Numeric, share: float = FLOOR) -> int | None:
    """Return the most decimals of values that were rounded to coarse steps; None if none are.

    A step is coarse if it is larger than a share of the standard deviation, by default the least
    deviation that counts at all.

    >>> narrow = Numeric("P", 2.1, 3.0, 2.5, 0.01, 0, (2.134, 2.957), (5, 5))
    >>> most_when_rounded(narrow), most_when_rounded(narrow, 5.0)
    (2, 1)
    """
    for decimals in range(decimals_of(variable.edges) - 1, -1, -1):
        if 10.0**-decimals > share * variable.std:
            return decimals
    return None
