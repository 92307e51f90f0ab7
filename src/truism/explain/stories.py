"""What happened in an incident, in one sentence: a timeline of its variables."""

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from truism.explain.blames import Blame, choose
from truism.explain.clues import Clue, Dead, Outside
from truism.explain.words import Statement, join, listed, say_at, say_when, state
from truism.incidents.events import NAMED, Kind
from truism.model.predicates import format_number
from truism.model.wording import count
from truism.table.times import Moment

FIRST = 3  # variables on the first screen
TOGETHER = 2  # rows within which it is open what was first


class Moments(msgspec.Struct, frozen=True):
    """The first, the last and the worst row of an incident, and their times.

    `is_older` says that it was there in the first row of its series, and may be older.
    """

    start: int
    started: Moment | None
    end: int
    ended: Moment | None
    peak: int
    peaked: Moment | None
    is_older: bool = False


class _Entry(msgspec.Struct, frozen=True):
    """What a timeline says of a variable: in which row, at what time, and what spoke against it."""

    row: int
    time: Moment | None
    clue: Clue
    blame: Blame


def tell(
    kind: Kind, blames: Sequence[Blame], moments: Moments, n_rows: int, *, ongoing: bool
) -> str:
    """Tell an incident or a lasting change in one sentence, oldest first."""
    named, _ = choose(blames, FIRST)
    least = NAMED * max((each.share for each in named), default=0.0)
    main = [each for each in named if each.share >= least and each.clues]
    make = _entry if kind == "incident" else _change
    entries = sorted((make(each, moments) for each in main), key=lambda each: each.row)
    if not entries:
        return f"{count(n_rows, 'row')} in a row unusual." if n_rows > 1 else "One unusual row."
    if kind == "shift":
        rows = f"{count(n_rows, 'row')}{' so far' if ongoing else ''}."
        told = "; ".join([*_changes(entries, moments, ongoing=ongoing), rows])
    elif entries[0].row == entries[-1].row == moments.start:
        return f"{_together(entries, entries[0])}."
    else:
        told = f"{'; '.join(_timeline(entries))}."
    return told[0].upper() + told[1:]


def say_again(blames: Sequence[Blame], moments: Moments) -> str:
    """Say what joined an incident later, by itself as unusual as one; empty if nothing did."""
    entries = sorted((_entry(each, moments) for each in blames), key=lambda each: each.row)
    if not entries:
        return ""
    rest = len(entries) - FIRST
    more = f"; and {rest:,} more" if rest > 0 else ""
    return f"Announced again: {'; '.join(_timeline(entries[:FIRST]))}{more}."


def _entry(blame: Blame, moments: Moments) -> _Entry:
    """Say of a variable how it began; if nothing in its first row tells that, how it was at its worst."""
    worst = blame.clues[0]
    if blame.first is not None and blame.since is not None and not isinstance(worst, Dead):
        return _Entry(blame.since, blame.began, blame.first, blame)
    if blame.row is None:
        return _Entry(moments.peak, moments.peaked, worst, blame)
    return _Entry(blame.row, blame.at, worst, blame)


def _change(blame: Blame, moments: Moments) -> _Entry:
    """Say since when a variable of a lasting change lies off."""
    if blame.since is None:
        return _Entry(moments.start, moments.started, blame.clues[0], blame)
    first = blame.clues[0] if isinstance(blame.clues[0], Dead) else blame.first
    return _Entry(blame.since, blame.began, first or blame.clues[0], blame)


def _timeline(entries: Sequence[_Entry]) -> Iterator[str]:
    """Say what went wrong when, oldest first."""
    leader, n_told, before = entries[0], 0, None
    for row, group in itertools.groupby(entries, key=lambda each: each.row):
        alike = list(group)
        if n_told and row - leader.row <= TOGETHER:
            lead = f"together with {'it' if n_told == 1 else 'them'}"
        else:
            leader, n_told = alike[0], 0
            lead = say_at(row, leader.time, before)
        yield f"{lead} {_together(alike, entries[0])}"
        n_told += len(alike)
        before = leader.time


def _together(entries: Sequence[_Entry], oldest: _Entry) -> str:
    """Say what went wrong in one row; only the oldest entry says its condition."""
    said = [_state(each) for each in entries]
    if entries[0] is oldest:
        told = [each.blame.variable not in said[0].about for each in entries]
        first, *others = itertools.compress(said, [True, *told[1:]])
    else:
        first, others = None, said
    others = [msgspec.structs.replace(each, condition="") for each in others]
    return join(others if first is None else [first, *others])


def _state(entry: _Entry) -> Statement:
    return state(entry.blame.variable, entry.clue, entry.blame.legend)


def _changes(entries: Sequence[_Entry], moments: Moments, *, ongoing: bool) -> Iterator[str]:
    """Say since when, and how far each variable of a lasting change lies off."""
    since, until, verb = "since", "", "lies"
    if not ongoing:
        until = f" to {say_when(moments.end, moments.ended, entries[0].time)}"
        since, verb = "from", "lay"
    before, than = None, " than in such rows of training"
    for row, group in itertools.groupby(entries, key=lambda each: each.row):
        said = []
        for each in group:
            said.append(_lies(each, verb, than))
            than = "" if _leans(each.blame) else than
        when = say_when(row, each.time, before)
        if moments.is_older and row == entries[0].row:
            when = "before the first row"
        yield f"{since} {when}{until} {listed(said)}"
        until, before = "", each.time


def _lies(entry: _Entry, verb: str, than: str) -> str:
    """Say how far a variable of a lasting change lies off."""
    blame, legend = entry.blame, entry.blame.legend
    if not _leans(blame) or blame.offset is None:
        return join([_state(entry)])
    side = "higher" if blame.offset > 0 else "lower"
    size = format_number(abs(blame.offset)) + legend.after(blame.variable)
    return f"{legend.name(blame.variable)} {verb} {size} {side}{than}"


def _leans(blame: Blame) -> bool:
    """Return whether a mean tells what is wrong: not if it died, or was worst on the other side."""
    clue, offset = blame.clues[0], blame.offset
    if offset is None or isinstance(clue, Dead):
        return False
    return not isinstance(clue, Outside) or bool(clue.found > clue.high) == (offset > 0)
