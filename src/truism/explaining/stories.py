"""What happened, as one sentence and as an order of events: blames of an incident go in, words come out.

The most blamed variable begins the sentence. Who was first is said by onsets, because the first to
deviate is not always the one to blame.
"""

import itertools
from collections.abc import Sequence

import msgspec

from truism.explaining.blames import Blame, choose
from truism.explaining.clues import Dead, Outside
from truism.explaining.moments import say_at, say_between, say_when
from truism.explaining.statements import Statement, listed, say, state
from truism.incidents.events import NAMED, Kind
from truism.model.predicates import format_number
from truism.model.wording import count
from truism.table.times import Moment

FIRST = 3  # variables on the first screen


def say_onsets(blames: Sequence[Blame], start: int, started: Moment | None) -> str:
    """Say who was first, and how long after that others followed; empty if there is nobody to tell apart.

    Parameters
    ----------
    blames
        The blamed variables, largest share first.
    start, started
        The incident's first row and its time, which are said elsewhere.

    """
    known = [each for each in choose(blames, FIRST)[0] if each.since is not None]
    if len(known) < 2:
        return ""
    together = _together(known)
    first = together[0]
    since = first[0].since or 0
    when = say_at(since, first[0].began, started) + (", before the alarm" if since < start else "")
    if len(together) == 1:
        return f"{listed(_names(first))} together {when}"
    said = [f"first {listed(_names(first))} {when}"]
    said += [f"{_apart(first[0], each[0])} later {listed(_names(each))}" for each in together[1:]]
    return "; ".join(said)


def _together(blames: Sequence[Blame]) -> list[list[Blame]]:
    """Group variables that began to deviate in the same row, earliest first."""
    ordered = sorted(blames, key=lambda each: each.since or 0)
    return [list(some) for _, some in itertools.groupby(ordered, key=lambda each: each.since)]


def _names(blames: Sequence[Blame]) -> list[str]:
    return [each.legend.name(each.variable) for each in blames]


def _apart(earlier: Blame, later: Blame) -> str:
    rows = (later.since or 0) - (earlier.since or 0)
    return say_between(rows, earlier.began, later.began)


def tell(
    kind: Kind,
    blames: Sequence[Blame],
    *,
    start: int,
    started: Moment | None,
    end: int,
    ended: Moment | None,
    n_rows: int,
    ongoing: bool,
) -> str:
    """Tell an incident or a shift in one sentence."""
    named, _ = choose(blames, FIRST)
    told = [each for each in named if each.share >= NAMED * named[0].share and each.clues]
    if not told:
        return f"{count(n_rows, 'row')} in a row unusual." if n_rows > 1 else "One unusual row."
    if kind == "incident":
        first = _state(told[0])
        others = [each for each in told if each.variable not in first.about]
        return f"{'; '.join([say([first]), *_followers(others)])}."
    rows = f"; {count(n_rows, 'row')}"
    since = say_when(start, started)
    if ongoing:
        return f"Since {since} {_lies(told, 'lies')}{rows} so far."
    return f"From {since} to {say_when(end, ended)} {_lies(told, 'lay')}{rows}."


def _state(blame: Blame) -> Statement:
    return state(blame.variable, blame.clues[0], blame.legend)


def _say(blames: Sequence[Blame]) -> str:
    """Say what was wrong with variables, without conditions."""
    said = [_state(each) for each in blames]
    return say([msgspec.structs.replace(each, condition="") for each in said])


def _followers(told: Sequence[Blame]) -> list[str]:
    """Say what else went wrong, and how long before or after the first."""
    first = told[0]
    said = []
    for some in _together(told[1:]):
        words, other = _say(some), some[0]
        if first.since is None or other.since is None:
            said.append(words)
        elif other.since == first.since:
            said.append(f"at the same time {words}")
        elif other.since > first.since:
            said.append(f"{_apart(first, other)} later {words}")
        else:
            said.append(f"{_apart(other, first)} earlier {words}")
    return said


def _lies(told: Sequence[Blame], verb: str) -> str:
    """Say how far the first variable of a shift lies off, and who else does."""
    first, *others = told
    if first.offset is None or not _leans(first, first.offset):
        words = _say([first])
    else:
        side = "higher" if first.offset > 0 else "lower"
        size = format_number(abs(first.offset)) + first.legend.after(first.variable)
        name = first.legend.name(first.variable)
        words = f"{name} {verb} {size} {side} than in such rows of training"
    return words + (f", and {listed(_names(others))} with it" if others else "")


def _leans(blame: Blame, offset: float) -> bool:
    """Return whether a mean tells what is wrong: not if it died, or was worst on the other side."""
    clue = blame.clues[0]
    if isinstance(clue, Outside):
        return bool(clue.found > clue.high) == (offset > 0)
    return not isinstance(clue, Dead)
