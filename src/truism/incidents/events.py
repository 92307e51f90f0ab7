"""An event as a value: where it is, how high it rises, and what adds up over its rows.

An event begins where the excess of a row over the references of its series rises above the threshold. It
is *active* while it unfolds, and *stands* from then on until its variables are back where they were
before it began. One that lasts longer than it unfolds is a lasting change.
docs/method.md has the rules, `truism.incidents.kernels` the loop.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from truism.arrays import Floats, Rows
from truism.model.series import Memory

NEVER = -1
FREE, RISING, ACTIVE, STANDING, ENDED = range(5)  # phases
UNFOLDING = 4  # lookbacks for which an event is active: what lasts longer is a lasting change
HORIZON = 7  # lookbacks that a reference looks back
NAMED = 0.25  # share of the largest blame: variables with less are not in the sentence of an event
ASIDE = 0.5  # share of what lies off that must lie on one side more than on the other

Kind = Literal["incident", "shift"]


class Limits(msgspec.Struct, frozen=True):
    """What is unusual, and how far apart rows of one event may lie.

    Parameters
    ----------
    threshold
        An excess above it begins an event.
    gap
        How many other rows may lie between two rows of one event.
    lookback
        The span of the past, in rows; None if rows have no past.
    least
        How many rows an event must last to be reported.

    """

    threshold: float
    gap: int
    lookback: int | None = None
    least: int = 0

    @property
    def unfolding(self) -> int:
        """For how many rows an event is active."""
        return UNFOLDING * (self.lookback or 0)

    @property
    def horizon(self) -> int:
        """How many rows references look back."""
        return HORIZON * (self.lookback or 1)


class Silence(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What an acceptance takes from an event: in how many rows, and how much from each variable."""

    n_rows: int
    points: Floats


class Event(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """Rows that belong together, and what adds up over them; arrays have one entry for each variable.

    Parameters
    ----------
    series
        The series that they belong to.
    phase
        Whether it is rising, active, standing, or has ended.
    start, latest, alarm, onset
        Numbers of rows in the series: where it was announced, its latest unusual row, its latest row
        above the threshold, and where it began to rise.
    story
        The start of the first event of its story.
    is_slow
        Whether references drifted away, without an alarm.
    first, last, peak
        Numbers of rows in the table: the first, the latest, and the one that rises highest.
    score
        The excess of that row.
    severity
        The sum of what its rows rise above the threshold, in units of the threshold.
    n_rows
        How many unusual rows it has.
    frozen, highest
        The references before it began, and the highest roots of points while it was active.
    blame
        How much each variable is to blame.
    parts
        What each variable adds to the scores of its rows.
    strength, telling, lasting
        By how much each variable deviates at most, the row in which it does, and for how many rows its
        past had been high by then; the row is -1 if it never deviates.
    above, below, n_known
        How far numbers lie above and below those of such training rows, summed over all rows, in
        standard deviations, and in how many rows there is a number.
    member
        1 for each variable that it stands by, else 0.
    since
        The first row in which each variable deviates; -1 if it never does.
    dead, stood
        The last row in which it was dead, and for how many rows it had stood still by then; -1 and 0
        if it never was.
    led
        How many events each variable had been most to blame for when it began.
    lately
        Where numbers that had stood were when it began, in standard deviations from where training
        rows would be; 0 for others.
    place
        Where numbers of a standing event are now, in standard deviations from where training rows
        would be; 0 for those that stray farther than that.
    silences
        What does not count because it was accepted, by the acceptance's id.

    """

    series: str
    phase: int
    start: int
    latest: int
    alarm: int
    onset: int
    story: int
    is_slow: bool
    first: int
    last: int
    peak: int
    score: float
    severity: float
    n_rows: int
    kind: Kind
    frozen: Floats
    highest: Floats
    blame: Floats
    parts: Floats
    strength: Floats
    above: Floats
    below: Floats
    member: Rows
    since: Rows
    telling: Rows
    lasting: Rows
    n_known: Rows
    dead: Rows
    stood: Rows
    lately: Floats
    led: Rows
    place: Floats | None = None
    silences: dict[str, Silence] = {}

    def is_older(self, row: int) -> bool:
        """Return whether what deviates from `row` on did so in the first row of its series."""
        return self.onset == 0 and row == self.first - self.start

    @property
    def likeness(self) -> tuple[str, int, bool, bool]:
        """What incidents that are alike have in common: main variable, direction, whether it was dead."""
        main = int(self.blame.argmax())
        return self.series, main, bool(self.above[main] > self.below[main]), bool(self.stood[main])

    @property
    def nth(self) -> int:
        """Which of the events led by its main variable it is; a way back is counted with none."""
        main = self.blame.argmax()
        return 1 if self.lately[main] else 1 + int(self.led[main])

    @property
    def is_open(self) -> bool:
        """Whether the next row may belong to it."""
        return self.phase in (ACTIVE, STANDING)

    @property
    def length(self) -> int:
        """How many rows it has lasted."""
        return self.latest - self.start + 1

    @property
    def offsets(self) -> Floats:
        """How far each variable lies off, in standard deviations: now, or on average.

        It is NaN if its numbers lie off on both sides, or are missing in most rows.
        """
        leaning, straying = self.above - self.below, self.above + self.below
        aside = (straying > 0) & (np.abs(leaning) >= ASIDE * straying)
        aside &= 2 * self.n_known >= self.n_rows
        mean = np.where(aside, leaning / np.maximum(self.n_known, 1), np.nan)
        if self.is_open and self.place is not None:
            place = np.where(self.place, self.place, np.nan)
            mean = np.where(self.member > 0, place, mean)
        return mean

    @property
    def telling_rows(self) -> set[int]:
        """The rows in which variables are told: how they began, and how they were at their worst."""
        told = (self.since, self.telling, self.dead)
        return {self.peak, *(row for rows in told for row in rows.tolist())} - {NEVER}

    @property
    def marked_rows(self) -> set[int]:
        """The rows whose times are told."""
        return {self.first, self.last}

    @property
    def shares(self) -> Floats:
        """Each variable's share of the blame; they sum to 1."""
        return shares_of(self.blame, self.parts)


def shares_of(deviations: Floats, parts: Floats) -> Floats:
    """Return shares of the blame: of the deviations, or of the score where nothing deviates."""
    for blame in (deviations, parts):
        total = blame.sum()
        if total > 0:
            return np.asarray(blame / total)
    return parts


def by_story(events: Sequence[Event]) -> list[int]:
    """Return the places of events, the gravest story first, each from its beginning."""
    gravest = dict[tuple[str, int], float]()
    for each in events:
        name = each.series, each.story
        gravest[name] = max(gravest.get(name, 0.0), each.severity)

    def key(at: int) -> tuple[float, str, int, int]:
        name = events[at].series, events[at].story
        return -gravest[name], *name, events[at].start

    return sorted(range(len(events)), key=key)


class SeriesState(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What is kept of a series; arrays have one entry for each variable.

    Parameters
    ----------
    n_rows
        How many rows there were.
    story, storied
        The start of the latest story, and the latest row of its incidents; -1 if there is none.
    reference
        What roots of points have been like lately.
    near, place, stray
        Where values are, where they have been lately, and how far they stray from there.
    standing
        The start of the first standing event of each variable; -1 if none stands.
    led
        How many events each variable was most to blame for.
    events
        What is open, and what may become an event.

    """

    n_rows: int
    story: int
    storied: int
    reference: Floats
    near: Floats
    place: Floats
    stray: Floats
    standing: Rows
    led: Rows
    events: tuple[Event, ...] = ()


def no_rows(n_variables: int, memory: Memory | None) -> SeriesState:
    """Return a series before its first row."""
    none = np.zeros(n_variables)
    usual = none if memory is None else np.array(memory.usual)
    never = np.full(n_variables, NEVER)
    return SeriesState(0, NEVER, NEVER, usual, none, none, none, never, np.zeros_like(never))
