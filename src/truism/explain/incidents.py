"""Incidents: what happened in rows that belong together, who is to blame, and a sentence about it.

An `Incident` is its JSON: Python, the command line, the page and the comparison of models use the same
value. `truism.explain.listings` makes incidents of events.
"""

import datetime
import itertools
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from truism.explain.blames import Blame, Spared, choose, describe, in_short
from truism.explain.clues import Clue, Dead, Outside
from truism.explain.words import Record, Statement, When, join, listed, say_at, say_when, state
from truism.incidents.events import NAMED, Kind
from truism.model.predicates import format_number
from truism.model.schema import id_of
from truism.model.wording import Legend, count, ordinal, visible
from truism.table.times import Moment

FIRST = 3  # variables on the first screen
TOGETHER = 2  # rows within which it is open what was first


class ModelName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which model: its name, and a version that follows from its rules and its evidence."""

    name: str | None
    version: str


class Origin(msgspec.Struct, frozen=True):
    """Where incidents come from: the model, the name of what is checked, rules switched off."""

    model: ModelName
    source: str | None = None
    disabled: tuple[str, ...] = ()

    def name(self, series: str, start: str) -> str:
        """Return an id that follows from model, source, series and start.

        >>> Origin(ModelName(None, "a"), "pump 1").name("", "2024-01-01 10:00:00")
        'll2fbhwt3effvmgi'
        """
        return id_of((self.model.version, self.source, series, start), 10)


class Incident(Record, frozen=True, kw_only=True):
    """Anomalous rows that belong together.

    Parameters
    ----------
    id
        A short name, which follows from the model, the source, the series, and when it started. It is
        the same in every call and for as long as the incident lasts.
    story
        A name that it shares with the incidents that began while it was active, or soon after.
    model, source, series
        What found it, and where.
    kind
        ``"incident"``, or ``"shift"`` for what stays unusual.
    state
        Whether the next row may still belong to it.
    severity
        The sum of what the rows score above the threshold, in units of the threshold: it grows with
        strength and duration.
    score, threshold
        The highest score, and the threshold.
    start, end, peak
        The first and the last anomalous row, and the one with the highest score; since the beginning
        of the state, where there is one.
    started, ended, peaked
        The times of these rows; null if there are none.
    seconds
        How long it lasted; null if there are no times.
    n_rows
        How many rows are anomalous.
    is_older
        Whether it was there in the first row of its series, and may be older.
    nth
        How many incidents its main variable has led in the series so far, this one included.
    again
        Variables that joined it later, by themselves as unusual as an incident, and that no other
        variable is known to move: it was announced again.
    summary, announced, spared
        What happened in one sentence, what was announced again after it began, and what does not count
        because it was accepted; the last two may be empty.
    accepted
        What does not count because it was accepted, as values.
    blames
        The variables to blame, merged over the incident; `truism.incidents.kernels` says how. Those
        with less than 1 % are left out.

    """

    id: str = ""
    story: str = ""
    model: ModelName = ModelName(None, "")
    source: str | None = None
    series: str | None = None
    kind: Kind = "incident"
    state: Literal["open", "closed"] = "closed"
    severity: float
    score: float
    threshold: float = 0.0
    start: int
    end: int
    peak: int
    started: When
    ended: When
    peaked: When
    seconds: float | None = None
    n_rows: int
    is_older: bool = False
    nth: int = 1
    again: tuple[str, ...] = ()
    summary: str = ""
    announced: str = ""
    spared: str = ""
    accepted: tuple[Spared, ...] = ()
    blames: tuple[Blame, ...]

    def with_reasons(self, most: int) -> "Incident":
        """Return it with at most so many reasons of each blame."""
        blames = tuple(blame.with_reasons(most) for blame in self.blames)
        return msgspec.structs.replace(self, blames=blames)

    @property
    def further(self) -> tuple[str, ...]:
        """What is said after the summary: what was announced again, and what is spared."""
        return tuple(filter(None, (self.announced, self.spared)))

    @property
    def counted(self) -> str:
        """Which of several incidents led by its main variable it is; empty of the first."""
        if self.nth == 1 or not self.blames:
            return ""
        main = max(self.blames, key=lambda blame: blame.share)
        return f"{ordinal(self.nth)} incident led by {main.variable}"

    @property
    def onset(self) -> int:
        """The row in which it began: what rises before the alarm is a part of it."""
        return min([self.start, *(blame.since for blame in self.blames if blame.since is not None)])

    @property
    def ongoing(self) -> bool:
        """Whether the next row may still belong to it."""
        return self.state == "open"

    @property
    def stands(self) -> bool:
        """Whether it is a lasting change that has not returned: the rows differ from training now."""
        return self.kind == "shift" and self.ongoing

    @property
    def duration(self) -> datetime.timedelta | None:
        """How long it lasted; None if there are no times."""
        return None if self.seconds is None else datetime.timedelta(seconds=self.seconds)

    def __repr__(self) -> str:
        name = "Shift" if self.kind == "shift" else "Incident"
        return f"<{name} in {self._head()}: {in_short(self.blames)}>"

    def __str__(self) -> str:
        further = map(visible, self.further)
        return "\n".join([self._head(), visible(self.summary), describe(self.blames), *further])

    def _head(self) -> str:
        where = f"rows {self.start} to {self.end}" if self.end > self.start else f"row {self.start}"
        where += "" if self.series is None else f" of series {visible(self.series)}"
        return f"{where}{self._when()}, peak {self.score:.4g}"

    def _when(self) -> str:
        started, ended = (
            None if time is None else visible(str(time)) for time in (self.started, self.ended)
        )
        if self.end == self.start or started == ended:
            return "" if started is None else f" ({started})"
        if started is None:
            return f" (until {ended})"
        return f" (from {started})" if ended is None else f" ({started} to {ended})"


def seconds_between(started: Moment | None, ended: Moment | None) -> float | None:
    """Return how long it is from one time to another; None if they are no times of days."""
    if not isinstance(started, datetime.datetime) or not isinstance(ended, datetime.datetime):
        return None
    return (ended - started).total_seconds()


class Course(msgspec.Struct, frozen=True):
    """How a variable of an incident behaved: what spoke against it, and when."""

    blame: Blame
    worst: Clue  # against it in the row in which it is to blame most
    # what its sentence tells: in which row, at what time, and what spoke against it there
    row: int
    time: Moment | None
    clue: Clue


def course_of(
    blame: Blame,
    worst: Clue,
    row: int,  # the one in which it is to blame most, and its time
    time: Moment | None,
    first: Clue | None,  # the first clue against it in the row in which it began to deviate
    kind: Kind,
) -> Course:
    """Choose what to tell of a variable: how it began, or what was worst where nothing tells that."""
    first = worst if isinstance(worst, Dead) else first
    if blame.since is not None and (kind == "shift" or first is not None):
        return Course(blame, worst, blame.since, blame.began, first or worst)
    return Course(blame, worst, row, time, worst)


def summarise(incident: Incident, courses: Sequence[Course], legend: Legend) -> str:
    """Say in one sentence what happened in an incident or a lasting change, oldest first."""
    named, _ = choose(incident.blames, FIRST)
    least = NAMED * max((blame.share for blame in named), default=0.0)
    main = {blame.variable for blame in named if blame.share >= least}
    is_change = incident.kind == "shift"
    courses = [course for course in courses if course.blame.variable in main]
    rows = count(incident.n_rows, "row")
    if not courses:
        return f"{rows} in a row unusual." if incident.n_rows > 1 else "One unusual row."
    if is_change:
        changes = _changes(courses, incident, legend)
        text = "; ".join([*changes, f"{rows}{' so far' if incident.ongoing else ''}."])
    elif courses[0].row == courses[-1].row == incident.start:
        return f"{_together(courses, courses[0], legend)}."
    else:
        text = f"{'; '.join(_timeline(courses, legend))}."
    return text[0].upper() + text[1:]


def announce_again(incident: Incident, courses: Sequence[Course], legend: Legend) -> str:
    """Say what joined an incident later, by itself as unusual as one; empty if nothing did."""
    courses = [course for course in courses if course.blame.variable in incident.again]
    if not courses:
        return ""
    rest = len(courses) - FIRST
    more = f"; and {rest:,} more" if rest > 0 else ""
    return f"Announced again: {'; '.join(_timeline(courses[:FIRST], legend))}{more}."


def _timeline(courses: Sequence[Course], legend: Legend) -> Iterator[str]:
    """Say what went wrong when, oldest first."""
    leader, n_named, before = courses[0], 0, None
    for row, group in itertools.groupby(courses, key=lambda course: course.row):
        alike = list(group)
        if n_named and row - leader.row <= TOGETHER:
            lead = f"together with {'it' if n_named == 1 else 'them'}"
        else:
            leader, n_named = alike[0], 0
            lead = say_at(row, leader.time, before)
        yield f"{lead} {_together(alike, courses[0], legend)}"
        n_named += len(alike)
        before = leader.time


def _together(courses: Sequence[Course], oldest: Course, legend: Legend) -> str:
    """Say what went wrong in one row; only the oldest course says its condition."""
    statements = [_state(course, legend) for course in courses]
    if courses[0] is oldest:
        about = statements[0].about
        apart = [course.blame.variable not in about for course in courses]
        first, *others = itertools.compress(statements, [True, *apart[1:]])
    else:
        first, others = None, statements
    others = [msgspec.structs.replace(other, condition="") for other in others]
    return join(others if first is None else [first, *others])


def _state(course: Course, legend: Legend) -> Statement:
    return state(course.blame.variable, course.clue, legend)


def _changes(courses: Sequence[Course], incident: Incident, legend: Legend) -> Iterator[str]:
    """Say since when, and how far each variable of a lasting change lies off."""
    since, until, verb = "since", "", "lies"
    if not incident.ongoing:
        until = f" to {say_when(incident.end, incident.ended, courses[0].time)}"
        since, verb = "from", "lay"
    before, than = None, " than in such rows of training"
    for row, group in itertools.groupby(courses, key=lambda course: course.row):
        parts = []
        for course in group:
            parts.append(_lies(course, verb, than, incident.ongoing, legend))
            than = "" if _leans(course) else than
        when = say_when(row, course.time, before)
        if incident.is_older and row == courses[0].row:
            when = "before the first row"
        yield f"{since} {when}{until} {listed(parts)}"
        until, before = "", course.time


def _lies(course: Course, verb: str, than: str, is_now: bool, legend: Legend) -> str:
    """Say how far a variable of a lasting change lies off, or how it began to be off."""
    blame = course.blame
    if isinstance(course.worst, Dead):
        return join([_state(course, legend)])
    off = ""
    if blame.offset is not None:
        side = "higher" if blame.offset > 0 else "lower"
        off = f"{format_number(abs(blame.offset))}{legend.after(blame.variable)} {side}{than}"
    if off and _leans(course):
        return f"{legend.name(blame.variable)} {verb} {off}"
    statement = _state(course, legend)
    change = "changed by " if statement.verb == "changed by" else ""
    then = f"first {change}{statement.rest}{statement.condition}"
    then += f", {'now' if is_now else 'on average'} {off}" if off else ""
    return f"{statement.name} {'is' if is_now else 'was'} unlike training ({then})"


def _leans(course: Course) -> bool:
    """Return whether a mean tells what is wrong: not if it died, or was worst on the other side."""
    clue, offset = course.worst, course.blame.offset
    if offset is None or isinstance(clue, Dead):
        return False
    return not isinstance(clue, Outside) or bool(clue.found > clue.high) == (offset > 0)
