"""Jobs that go on where they stopped, from a state that each call leaves to the next.

A state belongs to a model and to a source. Rows that are not newer than what was seen are skipped, so
that files may overlap. What is open keeps its id from call to call; what ended is reported once.

In a file, nothing is executed; types, sizes and ranges are all checked on reading. A state file is
locked while a program works with it; one that dies leaves no lock behind.
"""

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Literal, get_args, get_origin

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.errors import StateError, TruismError, shorten
from truism.explain.checker import Check, Checker
from truism.explain.findings import Findings
from truism.explain.incidents import Incident
from truism.explain.listings import Incidents
from truism.incidents.delays import Delays, limits_of
from truism.incidents.events import ACTIVE, NEVER, RISING, STANDING, Event, Kind
from truism.incidents.following import Following
from truism.incidents.keeping import Kept, refuse_other_zone
from truism.incidents.outlines import Grouped
from truism.model.model import Model
from truism.model.predicates import format_number
from truism.model.schema import Count
from truism.model.wording import lasting
from truism.score.alignment import time_column
from truism.score.past import NO_TIME, Latest, Still, Time, times_in
from truism.table.columns import Table, far_moment
from truism.table.versioned import VersionedKind

_DAY = 86_400_000_000  # microseconds; clocks, and times without a zone, may be off by as much
_FAR = 100  # usual steps to a time that may be wrong

What = Literal["opened", "updated", "closed"]
_NOTHING = {
    "since": NEVER,
    "telling": NEVER,
    "dead": NEVER,
    "standing": NEVER,
}  # of a variable without rows; else 0


class Reported(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was reported last of something open: which rows of which series, how many, and its kind."""

    series: str
    start: int
    n_rows: int
    kind: Kind


class JobState(msgspec.Struct, frozen=True, eq=False, forbid_unknown_fields=True):
    """What a job keeps from call to call."""

    model: str  # the id of the model, and the name of what is checked
    source: str | None
    # the threshold, and a digest of what else can be changed without learning again
    threshold: float
    tuning: str
    variables: tuple[str, ...]  # the variables, in the order of all that is kept of them
    # how many normal rows may lie within an incident; None if each row stands for itself
    gap: Count | None
    seen: dict[str, Time]  # the time of the latest row in microseconds, by series
    zoned: bool | None  # whether times have a zone; None if there are none
    # the series of which the last call checked no row, because a time lay in the future
    stuck: tuple[str, ...]
    # the time of the latest row of the series that were let go; None if none was
    let_go: Time | None
    reported: dict[str, Reported]  # what was reported of what is open, by id
    following: Following  # what has to be kept of the rows
    noted: tuple[str, ...] = ()  # what was noted, which is not noted again


class Change(msgspec.Struct, frozen=True, eq=False):
    """Something that opened, went on or closed: one of some incidents, explained when looked at."""

    what: What
    events: Incidents
    position: int

    @property
    def id(self) -> str:
        """The incident's id."""
        return self.events.id_of(self.events.outlines[self.position])

    @property
    def incident(self) -> Incident:
        """The incident; one that opens is open, even if it is over by now."""
        incident = self.events[self.position]
        return (
            msgspec.structs.replace(incident, state="open") if self.what == "opened" else incident
        )


class Step(msgspec.Struct, frozen=True, eq=False, dict=True):
    """What one call of a job found."""

    findings: Findings  # what is unusual in the new rows, and what was open before them
    reported: dict[str, Reported]  # what was reported before of what was open
    state: JobState | None = None  # what to hand in with the next call; None if there is none
    n_skipped: int = 0  # how many rows were not newer than those of the calls before
    notes: tuple[str, ...] = ()  # what else there is to say, in sentences
    # why no row of some series was checked, in a sentence; None if that is not so
    stuck: str | None = None
    is_stuck_again: bool = False
    compared: str = ""  # how the findings compare with labels, in a sentence

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What opened, went on or closed, in the order of the rows."""
        return _changes(self.findings, self.reported)

    @property
    def is_alarming(self) -> bool:
        """Whether something opened, or something other than a shift is open."""
        if not self.findings.ordered:
            return bool(self.findings.incidents)
        opened = any(change.what == "opened" for change in self.changes)
        return opened or any(event.is_open for event in self.findings.incidents.outlines)


def tuning(checker: Checker) -> str:
    """Return a digest of what can be changed without learning again, apart from the threshold."""
    changed: list[Any] = [checker.origin.disabled, sorted(checker.scorer.muted)]
    if checker.model.accepted:
        changed.append([acceptance.id for acceptance in checker.model.accepted])
    content = msgspec.json.encode(changed)
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def proceed(
    checker: Checker,
    table: Table,
    state: JobState | None = None,
    *,
    gap: int | None = None,
    min_rows: int = 1,
    delays: Delays | None = None,
    retain: float
    | None = None,  # seconds for which a series is kept that has no rows; None for ever
    now: int
    | None = None,  # in microseconds: rows far beyond it, and beyond all others, are set aside
) -> Step:
    """Check the rows of a table, not prepared, that are new since the call that left a state."""
    names = checker.model.schema.names
    let_go = None if state is None else state.let_go
    notes: tuple[str, ...] = ()
    before = None
    if state is not None:
        notes = _compare(checker, state)
        gap = state.gap if gap is None else gap
        before = at_variables(state.following, state.variables, names)
    times = time_column(checker.model.schema, table)
    zoned = None if state is None else state.zoned
    refuse_other_zone(zoned, times)
    if times is not None and times.values.dtype.kind == "M" and len(times.present):
        zoned = times.zoned
    arrived = _arrive(checker, table, state, now)
    notes += arrived.notes
    fresh = table if arrived.new.all() else table.take(arrived.new)
    prepared = checker.prepare(fresh, before)
    reported = {} if state is None else state.reported
    if checker.model.series is not None:
        gap = limits_of(checker.model, prepared, gap, delays).gap
    keys = {(before.series, before.start) for before in reported.values()}
    seen, stuck = dict(arrived.seen), arrived.stuck
    # By the time of the latest row of all: a series that has had none for so long is let go.
    first = -math.inf if retain is None or not seen else max(seen.values()) - retain * 1e6
    gone = tuple(name for name, time in seen.items() if time < first)
    check = Check(
        checker, prepared.n_rows, before, gap=gap, min_rows=min_rows, delays=delays, reported=keys
    )
    check.take(prepared)
    findings = check.findings(gone)
    if gone:
        assert retain is not None
        let_go = max(seen.pop(name) for name in gone)
        notes += (_say_gone(gone, retain),)
    after = JobState(
        checker.origin.model.version,
        checker.origin.source,
        checker.model.threshold,
        tuning(checker),
        names,
        gap,
        seen,
        zoned,
        (stuck if table.n_rows or state is None else state.stuck),
        let_go,
        _open_in(findings),
        findings.state,
        () if state is None else state.noted,
    )
    again = state is not None and bool({*stuck} & {*state.stuck})
    problem = _say_stuck(stuck, [seen[series] for series in stuck if series in seen], now)
    return Step(findings, reported, after, arrived.n_skipped, notes, problem, again)


# --- a state and its model ---


def _compare(checker: Checker, state: JobState) -> tuple[str, ...]:
    """Refuse a state of something else; say what has changed about its own model."""
    origin, model = checker.origin, checker.model
    if state.model != origin.model.version:
        raise StateError(
            "The state belongs to another model: rules or evidence differ.",
            "use the model that it belongs to, or begin a new state.",
        )
    if state.source != origin.source:
        raise StateError(
            f"The state belongs to {_named(state.source)}, not to {_named(origin.source)}.",
            "use one state for each source.",
        )
    if not _suits(model, state):
        raise StateError("The state is damaged: its past does not fit the model.")
    notes = []
    if state.threshold != model.threshold:
        then, now = format_number(state.threshold), format_number(model.threshold)
        notes.append(f"The threshold is {now}; when the state was written it was {then}.")
    if state.tuning != tuning(checker):
        notes.append(
            "What is switched off, muted or accepted has changed since the state was written."
        )
    return tuple(notes)


def _suits(model: Model, state: JobState) -> bool:
    """Return whether the past of each series, and what is open in it, are the model's."""
    judged = model.memory is not None and bool(model.memory.longest)
    if not judged and any(event.stood.any() for event in state.following.pending):
        return False
    pasts = [series.past for series in state.following.scoring.values()]
    if model.memory is None:
        return all(past is None for past in pasts)
    period = model.memory.period
    return all(past is not None and len(past.averages) == period for past in pasts)


def _named(source: str | None) -> str:
    return "a source without a name" if source is None else f"source {source!r}"


def at_variables(following: Following, old: Sequence[str], new: Sequence[str]) -> Following:
    """Return what was kept of some variables as if others had been checked; new ones have no past."""
    if tuple(old) == tuple(new):
        return following
    place = {name: at for at, name in enumerate(old)}
    placed: Following = _placed(following, [place.get(name) for name in new])
    return placed


def _placed(value: Any, places: Sequence[int | None], name: str = "") -> Any:
    match value:
        case np.ndarray():
            nothing = _NOTHING.get(name, 0)
            return np.array([nothing if at is None else value[at] for at in places], value.dtype)
        case Kept():  # cells by name
            return value
        case msgspec.Struct():
            changed = {
                field: _placed(getattr(value, field), places, field)
                for field in value.__struct_fields__
            }
            return msgspec.structs.replace(value, **changed)
        case dict():
            return {key: _placed(part, places) for key, part in value.items()}
        case tuple():
            return tuple(_placed(part, places) for part in value)
    return value


# --- new rows ---


class _Arrived(msgspec.Struct, frozen=True, eq=False):
    """Which rows of a table are checked, and why the others are not."""

    new: NDArray[
        np.bool_
    ]  # rows newer than those of their series that were seen; all without times
    seen: dict[str, int]  # the latest time of each series, these rows included
    n_skipped: int = 0  # rows that are not newer
    stuck: tuple[str, ...] = ()  # series without a row to check, because a time lies in the future
    notes: tuple[str, ...] = ()


def _arrive(checker: Checker, table: Table, state: JobState | None, now: int | None) -> _Arrived:
    """Find the rows of a table that are new since the call that left a state."""
    seen, let_go = ({}, None) if state is None else (state.seen, state.let_go)
    new = np.ones(table.n_rows, np.bool_)
    times = times_in(checker.model.schema, table) if table.n_rows else None
    if times is None:
        return _Arrived(new, seen)
    series, latest = checker.series_in(table), dict(seen)
    for name, rows in series.items():
        last = seen.get(name, let_go)
        if last is not None:
            new[rows] = (times[rows] > last) | (times[rows] == NO_TIME)
    late = _too_late(checker.model, times, seen, now)
    n_skipped, new = int((~new & ~late).sum()), new & ~late
    stuck = []
    for name, rows in series.items():
        newest = int(times[rows[new[rows]]].max(initial=NO_TIME))
        if newest != NO_TIME:
            latest[name] = newest
        ahead = now is not None and (late[rows].all() or seen.get(name, now) > now + _DAY)
        if ahead and not new[rows].any():
            stuck.append(name)
    return _Arrived(new, latest, n_skipped, tuple(stuck), _say_late(times[late]))


def _too_late(
    model: Model, times: NDArray[np.int64], seen: dict[str, int], now: int | None
) -> NDArray[np.bool_]:
    """Return the rows that lie in the future, and far beyond all rows that do not."""
    late = np.zeros(len(times), np.bool_) if now is None else times > now + _DAY
    if now is None or not late.any():
        return late
    others = [time for time in (*seen.values(), *times[~late].tolist()) if time != NO_TIME]
    usual = [time for time in others if time <= now + _DAY]
    latest = max(usual or others or [int(times[late].min())])
    step = None if model.series is None else model.series.step
    ascending = np.sort(times[late])
    gaps = np.diff(ascending, prepend=latest) > max(_DAY, _FAR * (step or 0.0) * 1e6)
    return times >= ascending[gaps.argmax()] if gaps.any() else np.zeros_like(late)


def _say_late(times: NDArray[np.int64]) -> tuple[str, ...]:
    """Say that rows with some times are set aside, if there are any."""
    if not len(times):
        return ()
    last = _say_time(int(times.max()))
    if len(times) == 1:
        return (
            f"1 row is set aside: its time, {last}, lies in the future, far beyond the others.",
        )
    return (
        f"{len(times):,} rows are set aside: their times, up to {last}, lie in the future, far beyond "
        "the others.",
    )


def _say_stuck(stuck: tuple[str, ...], seen: Sequence[int], now: int | None) -> str | None:
    if not stuck or now is None:
        return None
    which = "" if stuck == ("",) else f" of series {shorten(stuck)}"
    why = "all times lie in the future, far beyond those of earlier calls"
    if seen and max(seen) > now + _DAY:
        why = f"an earlier call saw a row of {_say_time(max(seen))}, which lies in the future"
    return f"No row{which} was checked: {why}."


def _say_time(microseconds: int) -> str:
    return far_moment(np.datetime64(microseconds, "us"))


def _say_gone(gone: tuple[str, ...], retain: float) -> str:
    have, are = ("has", "is") if len(gone) == 1 else ("have", "are")
    return (
        f"{len(gone):,} series {have} had no rows for {lasting(retain)} and {are} dropped: "
        f"{shorten(gone)}."
    )


# --- what changed ---


def _open_in(findings: Findings) -> dict[str, Reported]:
    """Return what is open, by id; rows that stand for themselves never are."""
    return {
        events.id_of(event): _report(event)
        for events in (findings.incidents, findings.shifts)
        if isinstance(events.outlines, Grouped)
        for event in events.outlines
        if event.is_open
    }


def _report(event: Event) -> Reported:
    return Reported(event.series, event.start, event.n_rows, event.kind)


def _changes(findings: Findings, reported: dict[str, Reported]) -> tuple[Change, ...]:
    """Return what changed, in the order of the rows."""
    changes: list[tuple[int, int, Change]] = []
    for events in (findings.incidents, findings.shifts):
        for position, event in enumerate(events.outlines[:]):
            for what in _happened(reported.get(events.id_of(event)), event):
                row = event.first if what == "opened" else event.last
                changes.append((row, _ORDER[what], Change(what, events, position)))
    changes.sort(key=lambda entry: entry[:2])
    return tuple(change for *_, change in changes)


_ORDER: dict[What, int] = {"opened": 0, "updated": 1, "closed": 2}


def _happened(before: Reported | None, event: Event) -> list[What]:
    is_open = event.is_open
    if before is None:
        return ["opened"] if is_open else ["opened", "closed"]
    if not is_open:
        return ["closed"]
    return ["updated"] if _report(event) != before else []


FILES = VersionedKind(
    "state file",
    StateError,
    "wait until that has finished, or use one state for each source.",
    format="truism-state",
    version=5,
    max_bytes=64 << 20,
    other="name another file for the state.",
    older="remove it to begin anew.",
    damaged="restore it, or remove it to begin anew.",
)
MAX_WHOLE = 1 << 53
MOST = 1e50  # far beyond any sum of points, but its square is a number, too
_OPEN = (RISING, ACTIVE, STANDING)


def encode_state(state: JobState) -> bytes:
    """Return a state as one line of JSON."""
    # JSON has no word for a number that is missing or infinite; one that is absent counts as missing.
    finite = {
        series: {name: value for name, value in values.items() if math.isfinite(value)}
        for series, values in state.following.previous.items()
    }
    following = msgspec.structs.replace(state.following, previous=finite)
    state = msgspec.structs.replace(state, following=following)
    read = msgspec.json.decode(msgspec.json.encode(state, enc_hook=_as_list))
    encoded = msgspec.json.encode(FILES.signed(read)) + b"\n"
    if len(encoded) > FILES.max_bytes:
        raise StateError(
            f"A state file must be at most {FILES.max_bytes >> 20} MiB, got "
            f"{len(encoded) / (1 << 20):.1f} MiB for {len(state.seen) or len(following.present):,} "
            "series.",
            "nothing was written; drop series sooner with --retain, or check fewer at a time.",
        )
    return encoded


def decode_state(content: bytes) -> JobState:
    """Read what `encode_state` wrote; refuse anything else."""

    def convert(read: dict[str, Any]) -> JobState:
        header = ("format", "format_version", "digest")
        fields = {name: value for name, value in read.items() if name not in header}
        state = msgspec.convert(fields, JobState, dec_hook=_as_array, str_keys=True)
        _check_numbers(state)
        _check_rows(state.following)
        _check_zones(state)
        return state

    return FILES.decode(content, convert)


def _as_list(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise NotImplementedError


def _as_array(wanted: Any, value: Any) -> NDArray[Any]:
    """Read a list of numbers as an array of the type that its field has."""
    if get_origin(wanted) is not np.ndarray:
        raise NotImplementedError
    if not isinstance(value, list):
        raise ValueError("Expected numbers")
    kind = np.dtype(get_args(get_args(wanted)[1])[0])
    whole = kind.kind == "i"
    for part in value:
        number = isinstance(part, int if whole else (int, float)) and not isinstance(part, bool)
        if not number or not (abs(part) <= MAX_WHOLE if whole else math.isfinite(part)):
            raise ValueError("Expected numbers")
    return np.array(value, kind)


def _check_numbers(state: JobState) -> None:
    """Refuse lists that do not have one number for each variable, and numbers that no sum reaches."""
    if len(set(state.variables)) != len(state.variables):
        raise TruismError("a variable is listed twice")
    shape = (len(state.variables),)
    for place, number in _numbers((state.following.present, state.following.scoring)):
        if np.shape(number) not in (shape, ()):
            raise TruismError("a list does not fit the variables")
        most = MAX_WHOLE if isinstance(number, int) else MOST
        if place is not Still and np.abs(np.asarray(number, float)).max(initial=0.0) > most:
            raise TruismError("a number is too large")


def _numbers(value: Any, place: type | None = None) -> Iterator[tuple[type | None, Any]]:
    """Yield all numbers and lists of them in a value, and what they are a part of."""
    match value:
        case np.ndarray() | int() | float():
            yield place, value
        case msgspec.Struct():
            for name in value.__struct_fields__:
                if not isinstance(value, Latest) or name != "time":
                    yield from _numbers(getattr(value, name), type(value))
        case dict() | tuple():
            for part in value.values() if isinstance(value, dict) else value:
                yield from _numbers(part, place)


def _check_rows(following: Following) -> None:
    """Refuse numbers of rows that cannot be, and parts that do not belong together."""
    if not 0 <= following.n_rows <= MAX_WHOLE:
        raise TruismError("a number of rows is too large, or below 0")
    for name, present in following.present.items():
        if not 0 <= present.n_rows <= following.n_rows:
            raise TruismError("a series does not fit the rows")
        for event in present.events:
            ends = sorted((event.alarm, event.latest))
            rows = (0, event.onset, event.start, *ends, present.n_rows - 1)
            needed = event.telling_rows | event.marked_rows
            if (
                event.series != name
                or list(rows) != sorted(rows)
                or event.phase not in _OPEN
                or not needed <= following.kept.keys()
            ):
                raise TruismError("what is open does not fit its rows")
    if any(not 0 <= row < following.n_rows for row in following.kept):
        raise TruismError("a row that is kept does not fit the rows")


def _check_zones(state: JobState) -> None:
    """Refuse moments with a zone beside others without one."""
    moments = (row.stamp for row in state.following.kept.values() if row.stamp.moment is not None)
    if any(stamp.zoned != state.zoned for stamp in moments):
        raise TruismError("a time has another zone than others")


def read_state(path: str | os.PathLike[str]) -> JobState | None:
    """Read a state file; None if it is absent or empty."""
    if not os.path.exists(path):
        return None
    return FILES.load(path, lambda content: decode_state(content) if content else None)


@contextmanager
def working_on(
    path: str | os.PathLike[str], patience: float | None = None
) -> Iterator[tuple[JobState | None, Callable[[JobState], None]]]:
    """Read a state, keep others from it, and yield it with what replaces it in the end.

    Another job that has it is waited for, for ten seconds when `patience` is absent.
    """
    with FILES.held(path, patience, create=True) as write:
        yield read_state(path), lambda state: write(encode_state(state))
