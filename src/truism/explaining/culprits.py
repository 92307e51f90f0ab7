"""Who is new: news of variables go in, and those who have become news by themselves come out.

Variables that have something to do with each other in training form a *circle*. What spreads, spreads
within a circle; if another circle is news by itself for longer than the gap, something else has happened.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explaining.events import Limits, Newcomer
from truism.model.series import Memory
from truism.scoring.memory import fresh
from truism.scoring.sums import sum_of_rows
from truism.scoring.weighed import Weighed

NEVER = -1
RISING = 0.5  # share of the threshold above which news is rising

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Warmth(msgspec.Struct, frozen=True, eq=False):
    """Since when circles are rising; arrays have one entry for each variable, alike in a circle.

    Parameters
    ----------
    since, last
        The first and the last row of the latest stretch in which its circle rises, by their numbers
        in the series; -1 if there was none.
    before
        The last row of the stretch before that.
    n_hot
        In how many rows of the latest stretch the circle is news by itself.

    """

    since: Rows
    last: Rows
    before: Rows
    n_hot: Rows


def never_warm(n_variables: int) -> Warmth:
    """Return the beginning of a series, in which nothing has risen yet."""
    never = np.full(n_variables, NEVER)
    return Warmth(never, never, never, np.zeros(n_variables, np.int64))


class Circles:
    """Finds circles that have become news by themselves.

    Parameters
    ----------
    memory
        How earlier rows count, and who belongs to which circle.

    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        circles = memory.circles or (0,) * len(memory.usual)
        self.first, self.of = np.unique(np.array(circles), return_index=True, return_inverse=True)[
            1:
        ]

    def follow(
        self, weighed: Weighed, at: Rows, news: Floats, first: int, limits: Limits, before: Warmth
    ) -> tuple[dict[int, list[Newcomer]], Warmth]:
        """Follow consecutive rows of one series.

        Parameters
        ----------
        weighed, at
            A block of rows, and where in it they are.
        news
            The news of each of them.
        first
            The number of the first one in the series.
        limits
            What is unusual.
        before
            What was kept of the rows before.

        Returns
        -------
        newcomers, warmth
            The circles that have just been news for longer than the gap, by row, and what to keep.

        """
        rising = np.flatnonzero(news > RISING * limits.threshold)
        if len(self.first) < 2 or not len(rising):
            return {}, before
        levels = self._levels(weighed, at[rising])
        since, last, earlier, n_hot = (
            each[self.first].copy()
            for each in (before.since, before.last, before.before, before.n_hot)
        )
        found: dict[int, list[Newcomer]] = {}
        for row, level in zip((first + rising).tolist(), levels, strict=True):
            warm, hot = level > RISING * limits.threshold, level > limits.threshold
            begins = warm & ((last == NEVER) | (row - last > limits.gap + 1))
            earlier[begins], since[begins], n_hot[begins] = last[begins], row, 0
            n_hot[hot] += 1
            last[warm] = row
            for circle in np.flatnonzero(hot & (n_hot == limits.gap + 1)).tolist():
                members = (self.of == circle).astype(np.int64)
                newcomer = Newcomer(int(since[circle]), int(earlier[circle]), members)
                found.setdefault(row, []).append(newcomer)
        kept = (each[self.of] for each in (since, last, earlier, n_hot))
        return found, Warmth(*kept)

    def fresh(
        self, weighed: Weighed, at: Rows, news: Floats, first: int, limits: Limits
    ) -> dict[int, Floats]:
        """Return what is new of each variable in rows that are news, by the number of the row."""
        own = np.flatnonzero(news > limits.threshold)
        return dict(zip((first + own).tolist(), self._new(weighed, at[own]), strict=True))

    def _levels(self, weighed: Weighed, at: Rows) -> Floats:
        """Return the news of each circle, rows × circles: scores without what has become a habit."""
        new, circles = self._new(weighed, at), range(len(self.first))
        return np.stack([sum_of_rows(new[:, self.of == each]) for each in circles], axis=1)

    def _new(self, weighed: Weighed, at: Rows) -> Floats:
        """Return the news of each variable, rows × variables."""
        remembered = weighed.remembered
        assert remembered is not None
        past = remembered.past[at]
        return fresh(self.memory, weighed.parts[at] - past, past, remembered.known[at])
