"""What a model finds in a table: all that a screen, a file or a page needs, made once."""

import heapq
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import compress
from math import sqrt
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import shorten
from truism.explain.incidents import Incident
from truism.explain.listings import Incidents, in_units
from truism.explain.patterns import Patterns
from truism.explain.words import When, say_when
from truism.incidents.events import Event, by_story
from truism.incidents.following import Following
from truism.model.model import Model
from truism.model.predicates import format_number, quote_name
from truism.model.schema import Numeric
from truism.model.wording import Printed, count, lasting, percent, visible
from truism.score.alignment import UNSEEN, align, codes, time_column
from truism.score.contexts import FLOOR
from truism.score.evidence import Tolerance
from truism.score.past import NO_TIME, Latest, decimals_of, decimals_up_to, rows_by_series, times_in
from truism.table.columns import Table, numbers
from truism.table.labels import Labels, compare
from truism.table.notices import rows as say_rows

SEEN = 1.05  # times as large: less is as before


class Differing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable that differs from training now, and is judged from where it is.

    Parameters
    ----------
    variable, series
        Which, and of which series, if the table holds several.
    incident
        The id of its lasting change.
    since, began
        The row since which it differs, and its time.
    offset
        How far its numbers are off now; null if that is not known, or they lie off on both sides.
    cost
        How many times as large as before a fault of it must be to begin an incident; null if it is dead.
    heading, when, off, so
        Which, with its title, since when, how far off, and what that costs, in words.

    """

    variable: str
    series: str | None
    incident: str
    since: int
    began: When
    offset: float | None
    cost: float | None
    heading: str
    when: str
    off: str
    so: str


class Interruption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a series that is missing.

    Parameters
    ----------
    series
        Of which series, if the table holds several.
    after, until
        The times of the last row before it, and of the first row after it.

    """

    series: str | None
    after: When
    until: When

    def __str__(self) -> str:
        of = "" if self.series is None else f"of series {self.series} "
        return f"{of}from {say_when(0, self.after)} to {say_when(0, self.until, self.after)}"


def find_interruptions(
    model: Model, table: Table, before: Mapping[str, Latest]
) -> list[tuple[int, Interruption]]:
    """Return the longest interruptions of a table's series, also since the rows before, with lengths."""
    series, column = model.series, time_column(model.schema, table)
    times = times_in(model.schema, table)
    if series is None or series.step is None or times is None or column is None:
        return []
    wide: list[tuple[int, int, str]] = []
    for name, rows in rows_by_series(series.by, table).items():
        known = times[rows][times[rows] != NO_TIME]
        latest = before[name].time if name in before else None
        steps = np.diff(known, prepend=known[:1] if latest in (None, NO_TIME) else latest)
        places = np.flatnonzero(steps > INTERRUPTED * series.step * 1e6).tolist()
        wide += [(int(steps[at]), int(known[at]), name) for at in places]

    def moment(time: int) -> Any:
        values = np.array([time], "datetime64[us]")
        return msgspec.structs.replace(column, values=values, missing=None).cell(0)

    return [
        (length, Interruption(name or None, moment(until - length), moment(until)))
        for length, until, name in heapq.nlargest(MOST_INTERRUPTIONS, wide)
    ]


def first_few(texts: Sequence[str]) -> str:
    """List the first few texts, and count the others.

    >>> first_few(["Mon", "Tue"]), first_few(["Mon", "Tue", "Wed", "Thu"])
    ('Mon, Tue', 'Mon, Tue, Wed and 1 more')
    """
    rest = len(texts) - N_NAMED
    return ", ".join(texts[:N_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def find_differing(shifts: Incidents, state: Following) -> tuple[Differing, ...]:
    """Return the variables of lasting changes that have not returned, those that began first."""
    differing = dict[tuple[str, int], Differing]()
    standing = [event for event in shifts.outlines[:] if event.is_open]
    for event in sorted(standing, key=lambda event: event.start):
        for i in event.member.nonzero()[0].tolist():
            if (event.series, i) not in differing:
                differing[event.series, i] = _differing(shifts, event, i, state)
    return tuple(differing.values())


def _differing(shifts: Incidents, event: Event, i: int, state: Following) -> Differing:
    """Say how a variable of a lasting change differs now."""
    model = shifts.scorer.model
    variable, memory, words = model.schema.variables[i], model.memory, model.words
    assert memory is not None
    is_dead = bool(event.stood[i]) and event.dead[i] >= event.last
    row, time = shifts.onset(event, i, is_dead=is_dead)
    bar, reference = sqrt(model.threshold), float(state.present[event.series].reference[i])
    cost: float | None = max((reference + bar) / (memory.usual[i] + bar), 1.0)
    offset = in_units(variable, float(event.offsets[i]))
    off = "unlike training"
    if offset:
        size = format_number(abs(offset)) + words.after(variable.name)
        off = f"{size} {'higher' if offset > 0 else 'lower'}"
    so = f"a fault must be {cost:.2g} times as large to begin an incident"
    if cost is not None and cost < SEEN:
        so = "faults begin incidents as before"
    if is_dead:
        off, so, cost = "dead", "not judged until it moves", None
    elif isinstance(variable, Numeric) and variable.has_spread and not event.n_known[i]:
        off, so, cost = "missing", "not judged until it is back", None
    when = f"since {'before the first row' if event.is_older(row) else say_when(row, time)}"
    heading = words.heading(variable.name)
    return Differing(
        variable.name,
        event.series or None,
        shifts.id_of(event),
        row,
        time,
        offset,
        cost,
        f"{event.series}: {heading}" if event.series else heading,
        when,
        off,
        so,
    )


INTERRUPTED = 10  # usual steps without a row: more are said
MOST_INTERRUPTIONS = 100  # the longest
FEW = 0.01  # incidents: less is not said more precisely
N_NAMED = 3  # incidents that are like one that is shown
PUNCTUAL = timedelta(minutes=30)  # around the same time of day
REGULAR = 0.2  # how far steps from one to the next may differ if they come at regular intervals
DOUBTFUL_RATE, OFTEN_OUTSIDE, MIN_ROWS_TO_DOUBT = 0.2, 1 / 3, 100
ROWS_TO_TELL, MIN_VALUES = 1000, 3  # to detect rounding


class Findings(Printed, msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What a model finds in a table."""

    # the rows' scores, and what is compared with the threshold; none where rows were not held
    scores: NDArray[np.float64]
    excess: NDArray[np.float64]
    n_rows: int  # how many rows were checked, and how many of them are above the threshold
    n_anomalous: int
    threshold: float
    # how many normal rows may lie between two anomalous rows of one incident; None if each row stands
    # for itself
    gap: int | None
    incidents: Incidents  # what happened, the gravest story first
    shifts: Incidents  # what became unusual and stayed so, the gravest story first
    patterns: Patterns  # what anomalous rows have in common, those with most rows first
    state: Following  # what to hand in with the rows that follow
    # whether rows are taken for a series, because they are one or a gap was asked for; if not, each
    # incident is one row, and patterns tell more
    ordered: bool = True
    # how many incidents normal rows were expected to form; None if that is not known
    expected: float | None = None
    extra: tuple[str, ...] = ()  # columns that the model does not know; they were ignored
    # variables that have fewer decimals than in training; see `find_coarser`
    coarser: tuple[str, ...] = ()
    # in how many rows each variable is outside its range of training, or in a state never seen
    odd: tuple[int, ...]
    interruptions: tuple[Interruption, ...] = ()  # the longest parts of series that are missing
    # the time from the first row to the last; None if that is not known
    seconds: float | None = None

    @property
    def outside(self) -> tuple[tuple[str, float], ...]:
        """The variables that are unlike all training rows in a third of the rows, and in which share.

        Those that are known to differ from training now are left out.
        """
        if self.n_rows < MIN_ROWS_TO_DOUBT:
            return ()
        shares = zip(self.incidents.scorer.model.schema.names, self.odd, strict=True)
        shares_outside = [(name, n_rows / self.n_rows) for name, n_rows in shares]
        listed = {differing.variable for differing in self.differing}
        return tuple(
            pair for pair in shares_outside if pair[1] >= OFTEN_OUTSIDE and pair[0] not in listed
        )

    @property
    def differing(self) -> tuple[Differing, ...]:
        """The variables that differ from training now."""
        return find_differing(self.shifts, self.state)

    @property
    def rate(self) -> float:
        """The share of the rows that are anomalies."""
        return self.n_anomalous / self.n_rows

    @property
    def is_clean(self) -> bool:
        """Whether nothing is reported of these rows, but the end of what began in earlier ones."""
        if self.outside:
            return False
        if not (self.incidents or self.shifts):
            return True
        if self.n_anomalous:
            return False
        first = self.state.n_rows - self.n_rows
        events = [*self.incidents.outlines[:], *self.shifts.outlines[:]]
        return not any(event.is_open or event.last >= first for event in events)

    @property
    def verdict(self) -> tuple[str, str]:
        """Whether the rows are clean in a word or two, and the rest of the sentence."""
        if not self.n_rows and self.is_clean:
            return "nothing checked", "there were no rows to check."
        limit = format_number(self.threshold)
        exceeds, exceed = f"scores above {limit}", f"score above {limit}"
        if self.expected is not None:  # of a series it is the excess that counts
            exceeds, exceed = f"exceeds {limit}", f"exceed {limit}"
        rows = say_rows(self.n_rows)
        share = f"none of {rows} {exceeds}"
        if self.n_anomalous:
            verb = exceeds if self.n_anomalous == 1 else exceed
            share = f"{self.n_anomalous:,} of {rows} ({percent(self.rate)}) {verb}"
        if self.is_clean:
            over = "nothing lasted long enough; " if self.n_anomalous else ""
            return "clean", f"{over}{share}."
        if not (self.incidents or self.shifts):
            names = ", ".join(quote_name(name) for name, _ in self.outside)
            return "unlike training", f"{names}; {share}."
        if not self.ordered:
            return "anomalies", f"{share}, in {count(len(self.patterns), 'pattern')}."
        more = f" in {lasting(self.seconds)}" if self.seconds else ""
        more += "" if self.expected is None else _say_expected(self.expected)
        n_standing = sum(event.is_open for event in self.shifts.outlines[:])
        found = _say_found(len(self.incidents), len(self.shifts), n_standing, more)
        return "anomalies", f"{found}; {share}."

    def __repr__(self) -> str:
        return f"<Findings: {': '.join(self.verdict).rstrip('.')}>"

    def compare(self, labels: Labels) -> str:
        """Say how many labelled segments were found, and what is false by the labels."""
        events = [*self.incidents.outlines[:], *self.shifts.outlines[:]]
        return compare(labels, [event.first for event in events], gap=self.gap)

    def __str__(self) -> str:
        texts = (str(incidents) for incidents in (self.incidents, self.shifts) if incidents)
        return "\n\n".join([visible(": ".join(self.verdict)), *texts])

    @property
    def doubts(self) -> tuple[str, ...]:
        """Sentences that say why the model may not fit the rows."""
        made = self.incidents.scorer.model.provenance.notices
        doubts = [notice.text for notice in made if notice.code == "no_series"][:1]
        if self.interruptions:
            doubts.append(f"No rows {first_few([*map(str, self.interruptions)])}.")
        if self.coarser:
            doubts.append(
                f"Fewer decimals than in training: {shorten(self.coarser)}. Rows may be reported "
                f"because of rounding alone; learn from rows with the same rounding."
            )
        often = self.n_rows >= MIN_ROWS_TO_DOUBT and self.rate >= DOUBTFUL_RATE
        if self.expected is None and often:
            doubts.append(
                f"{100 * self.rate:.0f} % of all rows are reported: either much is wrong, or what is "
                f"normal has changed since the model was learned. If it has changed, learn from newer "
                f"rows or calibrate the threshold on them."
            )
        for name, share in self.outside:
            percentage = percent(share)
            doubts.append(
                f"{quote_name(name)} was unlike all training rows in {percentage} of the rows."
            )
        return tuple(doubts)


def gravest(findings: Findings, n: int) -> list[Incident]:
    """Return incidents and lasting changes by story, the gravest story first; 0 asks for all."""
    if not findings.shifts:
        return list(findings.incidents[: n or None])
    return [incidents[at] for incidents, at, _ in _by_story(findings)[: n or None]]


def _by_story(findings: Findings) -> list[tuple[Incidents, int, Event]]:
    kinds = (findings.incidents, findings.shifts)
    places = [
        (incidents, at, event)
        for incidents in kinds
        for at, event in enumerate(incidents.outlines[:])
    ]
    return [places[at] for at in by_story([event for *_, event in places])]


def to_show(findings: Findings, n: int) -> tuple[list[tuple[Incident, str]], int]:
    """Return what to put on a screen, each with words about others like it, and how many more there are.

    Of incidents that are alike only the gravest is shown, unless all are asked for by 0, and likewise of
    lasting changes that are over. Those that stood before these rows are shown elsewhere, by variable.
    """
    before = findings.state.n_rows - findings.n_rows
    groups = dict[object, list[tuple[Incidents, int, Event]]]()
    for place in _by_story(findings):
        event = place[-1]
        if event.kind == "incident" or not event.is_open:
            alike = event.kind, event.likeness if n else place[1]
            groups.setdefault(alike, []).append(place)
        elif event.first >= before:
            groups[event.series, event.start] = [place]
    shown = []
    for (incidents, at, event), *others in list(groups.values())[: n or None]:
        rows = sorted(event.first for *_, event in others)
        shown.append((incidents[at], _say_alike(incidents, event.first, rows) if rows else ""))
    return shown, len(groups) - len(shown)


def _say_alike(incidents: Incidents, first: int, rows: Sequence[int]) -> str:
    """Say how often there were others like an incident, and when they began."""
    all_rows = sorted((first, *rows))
    times = {row: incidents.stamp(row).time for row in all_rows}
    when = [say_when(row, times[row]) for row in rows]
    steps = np.diff(all_rows)
    every = ""
    if len(rows) >= N_NAMED and np.ptp(steps) <= REGULAR * np.median(steps):
        every = f", about every {np.median(steps):.0f} rows"
        moments = [time for time in times.values() if isinstance(time, datetime)]
        if len(moments) == len(times):
            every = f", {_say_regular(moments)}"
    return f"{len(when):,} more like it{every}: {first_few(when)}"


def _say_regular(times: Sequence[datetime]) -> str:
    """Say how often something comes that does so at regular steps: when, if it is by the clock.

    >>> [_say_regular([datetime(2026, 3, day, 22, 5) for day in days]) for days in ((3, 10), (3, 4))]
    ['every Tuesday at about 22:05', 'every day at about 22:05']
    >>> _say_regular([datetime(2026, 3, 3, hour) for hour in (1, 4, 7)])
    'about every 3 h'
    """
    for days, when in ((7, "%A"), (1, "day")):
        punctual = [times[0] + i * timedelta(days) for i in range(len(times))]
        if all(map(lambda due, time: abs(due - time) <= PUNCTUAL, punctual, times)):
            return times[0].strftime(f"every {when} at about %H:%M")
    return f"about every {lasting((times[-1] - times[0]).total_seconds() / (len(times) - 1))}"


def _say_found(n_incidents: int, n_changes: int, n_standing: int, more: str = "") -> str:
    """Say how much there was; `more` are words about all of it, such as in which time.

    >>> _say_found(2, 0, 0), _say_found(0, 1, 0)
    ('2 incidents', '1 lasting change')
    >>> _say_found(3, 2, 1, " in 11 h")
    '3 incidents and 2 lasting changes in 11 h, 1 change still standing'
    """
    kinds = (count(n_incidents, "incident"), count(n_changes, "lasting change"))
    what = " and ".join(compress(kinds, (n_incidents or not n_changes, n_changes)))
    standing = f", {count(n_standing, 'change')} still standing" if n_standing else ""
    return f"{what}{more}{standing}"


def _say_expected(n: float) -> str:
    """Say how many incidents were to be expected by chance.

    >>> _say_expected(12.4), _say_expected(0.34), _say_expected(1e-5)
    (' (12 expected by chance)', ' (0.3 expected by chance)', ' (fewer than 0.01 expected by chance)')
    """
    small = f"{n:.1g}" if n >= FEW else f"fewer than {FEW}"
    return f" ({f'{n:,.0f}' if n >= 1 else small} expected by chance)"


def most_when_rounded(variable: Numeric) -> int | None:
    """Return the most decimals of values that were rounded to coarse steps; None if none are.

    A step is coarse if it is larger than the least deviation that counts at all.

    >>> narrow = Numeric("P", 2.1, 3.0, 2.5, 0.01, 0, (2.134, 2.957), (5, 5))
    >>> most_when_rounded(narrow)
    2
    """
    for decimals in range(decimals_of(variable.edges) - 1, -1, -1):
        if 10.0**-decimals > FLOOR * variable.std:
            return decimals
    return None


def step_to_tell(n_rows: int) -> int:
    """Return how far apart the rows lie that are asked about their decimals."""
    return max(1, n_rows // ROWS_TO_TELL)


def find_coarser(model: Model, table: Table) -> tuple[str, ...]:
    """Return the variables that have fewer decimals in some rows than in training, where it matters."""
    column_of = table.column_of()
    coarser = []
    for variable in model.schema.variables:
        column = column_of.get(variable.name)
        if not isinstance(variable, Numeric) or column is None or column.kind != "number":
            continue
        values = numbers(column)
        values = np.unique(values[np.isfinite(values)])
        if len(values) < MIN_VALUES:
            continue
        most = most_when_rounded(variable)
        if most is not None and (decimals_up_to(values, most) <= most).all():
            coarser.append(variable.name)
    return tuple(coarser)


def count_odd(model: Model, table: Table, tolerance: Tolerance | None) -> NDArray[np.int64]:
    """Count for each variable the numbers outside its range of training, or the states never seen.

    What was accepted does not count.
    """
    columns, _ = align(model.schema, table)
    odd = np.zeros((table.n_rows, len(columns)), np.bool_)
    for i, (variable, column) in enumerate(zip(model.schema.variables, columns, strict=True)):
        if isinstance(variable, Numeric):
            values = numbers(column)
            odd[:, i] = (values < variable.low) | (values > variable.high)
        else:
            odd[:, i] = codes(variable, column) == UNSEEN
    if tolerance is not None:
        odd &= ~tolerance.muted(tolerance.find(table))
    return np.asarray(odd.sum(axis=0))
