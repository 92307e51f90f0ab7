"""What a variable adds to a score, and why, in words that are made when they are read."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from truism.explain.clues import Clue, conditional_on
from truism.explain.words import Reason, listed, say, say_moment, say_when
from truism.incidents.deviations import silences_of
from truism.incidents.events import NAMED, Silence
from truism.model.model import Model
from truism.model.wording import NO_LEGEND, Legend, count, html_table, visible
from truism.score.weighed import Weighed
from truism.table.deltas import delta_name
from truism.table.times import Moment

MIN_SHOWN = 0.005  # the smallest share that is not printed as 0 %


class Blame(msgspec.Struct, frozen=True, dict=True):
    """What one variable adds to a score, and why.

    Parameters
    ----------
    variable
        Its name.
    share
        Its share of the blame, of all that is blamed on variables.
    penalty
        What it adds to the score; for an incident, to the scores of all its rows.
    clues
        The evidence against it, in the order in which to show it.
    n_training
        Number of training rows.
    row, at
        The row that the clues are about, if it is not the row being explained, and its time.
    since, began
        Of an incident: the first row in which the variable deviates, and its time. It may lie before
        the start, which is where the incident was noticed.
    first
        Of an incident: what spoke against it in that row.
    behind
        The variable that it goes with, if it is wrong only because that one is.
    offset
        Of an incident: how far its numbers lie above those of such training rows on average; None if
        they lie off on both sides.
    legend
        Units and titles.
    named
        The variables that are most to blame, this one among them.

    """

    variable: str
    share: float
    penalty: float
    clues: tuple[Clue, ...]
    n_training: int
    row: int | None = None
    at: Moment | None = None
    since: int | None = None
    began: Moment | None = None
    first: Clue | None = None
    offset: float | None = None
    behind: str | None = None
    legend: Legend = NO_LEGEND
    named: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The variable's name, with its title if it has one."""
        return self.legend.heading(self.variable)

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """The clues in words, made when they are read."""
        when = None if self.row is None or self.at is None else say_when(self.row, self.at)
        return tuple(self._say(clue, when) for clue in self.clues)

    def _say(self, clue: Clue, when: str | None) -> Reason:
        said = say(clue, self.n_training, self.row, self.legend)
        others = set(self.named) - {self.variable}
        blamed = tuple(name for name in dict.fromkeys(conditional_on(clue)) if name in others)
        return msgspec.structs.replace(said, when=when, blamed=blamed) if when or blamed else said

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts and lists."""
        return {
            "variable": self.variable,
            "title": self.legend.title(self.variable),
            "unit": self.legend.unit(self.variable),
            "share": self.share,
            "penalty": self.penalty,
            "since": self.since,
            "began": say_moment(self.began),
            "offset": self.offset,
            "behind": self.behind,
            "reasons": [msgspec.to_builtins(reason) for reason in self.reasons],
        }

    def __repr__(self) -> str:
        head = f"<Blame of {self.variable}, {100 * self.share:.0f} %"
        if not self.clues:
            return f"{head}>"
        return f"{head}: expected {self.reasons[0].expected}, found {self.reasons[0].found}>"


def confront(blames: Sequence[Blame]) -> tuple[Blame, ...]:
    """Mark reasons whose condition uses another of the variables most to blame: it is in doubt."""
    least = NAMED * max((each.share for each in blames), default=0.0)
    named = tuple(each.variable for each in blames if each.share >= least)
    return tuple(msgspec.structs.replace(each, named=named) for each in blames)


def in_short(blames: Sequence[Blame], most: int = 3) -> str:
    """Return the first variables to blame, for a short representation."""
    shown = ", ".join(blame.variable for blame in blames[:most])
    return f"{shown} …" if len(blames) > most else shown or "nothing to blame"


def choose(blames: Sequence[Blame], most: int) -> tuple[Sequence[Blame], Sequence[Blame]]:
    """Return the first blames and the others; those that would print as 0 % are in neither.

    The very first is always shown, however small: a hundred variables may share a score. Variables
    that go with another are among the others.
    """
    named = [each for each in blames if each.share >= MIN_SHOWN] or blames[:1]
    shown = [each for each in named if each.behind is None][:most]
    return shown, [each for each in named if each not in shown]


def say_others(blames: Sequence[Blame], most: int = 5) -> str:
    """Name the variables that are not shown, in one line: those that go with another first."""
    behind: dict[str, list[str]] = {}
    for each in blames:
        if each.behind is not None:
            behind.setdefault(each.behind, []).append(each.variable)
    said = [f"moving with {leader}: {_some(names, most)}" for leader, names in behind.items()]
    rest = [each.variable for each in blames if each.behind is None]
    return "; ".join([*said, f"also unusual: {_some(rest, most)}"] if rest else said)


def _some(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def describe(blames: Sequence[Blame], most: int = 3) -> str:
    """Print the first blames, each with its strongest reason, in aligned lines."""
    shown, others = choose(blames, most)
    names = [visible(blame.heading) for blame in shown]
    width = max(map(len, names), default=0)
    lines = []
    for name, blame in zip(names, shown, strict=True):
        head = f"{name:<{width}}  {100 * blame.share:3.0f} %  "
        first, *further = map(visible, blame.reasons[0].lines())
        lines += [head + first, *(" " * len(head) + each for each in further)]
    if others:
        lines.append(visible(say_others(others)))
    return "\n".join(lines)


def blames_html(blames: Sequence[Blame], most: int = 5) -> str:
    """Return the first blames as an HTML table; everything from the data is escaped."""
    shown, _ = choose(blames, most)
    rows = []
    for blame in shown:
        reason = blame.reasons[0] if blame.reasons else None
        said = ("",) * 4
        if reason is not None:
            said = (reason.expected, reason.found, reason.condition, reason.evidence)
        rows.append((blame.heading, f"{100 * blame.share:.0f} %", *said))
    names = ("variable", "share", "expected", "found", "because", "evidence")
    rest = len(blames) - len(shown)
    more = f"<p>… and {rest:,} with a smaller share</p>" if rest else ""
    return html_table(names, rows, "share") + more


def fold(
    blamed: Sequence[str], model: Model, witnesses: Mapping[str, Collection[str]] | None = None
) -> dict[str, str]:
    """Return the variables that go with one that is blamed more, and with which.

    A number goes with one that it moves together with in training, unless one speaks against the other:
    then they do not move together now. ``ΔX`` goes with ``X``, or the other way round. A state goes with
    none: a pump that is off is often the cause of a flow that is not. `witnesses` says by whose values
    each variable, most blamed first, is told to be wrong.
    """
    told_by = {} if witnesses is None else witnesses
    twins = {frozenset(pair) for pair in model.twins or ()}
    same = {frozenset((name, delta_name(name))) for name in model.derived}

    def at_odds(one: str, other: str) -> bool:
        return one in told_by.get(other, ()) or other in told_by.get(one, ())

    leaders: list[str] = []
    behind: dict[str, str] = {}
    for name in blamed:
        alike = [each for each in leaders if frozenset((each, name)) in twins]
        if any(at_odds(each, name) for each in alike):
            alike = []
        own = [each for each in leaders if each in alike or frozenset((each, name)) in same]
        if own:
            behind[name] = own[0]
        else:
            leaders.append(name)
    return behind


N_SPARED = 3  # variables of an acceptance, in a sentence


class Spared(msgspec.Struct, frozen=True):
    """Evidence against a row or an event that was accepted.

    Parameters
    ----------
    id, said
        The acceptance's id; when and why it was accepted.
    variables
        The variables against which evidence does not count, most first.
    points
        How much that is, in points of the score.
    n_rows
        In how many rows.

    """

    id: str
    said: str
    variables: tuple[str, ...]
    points: float
    n_rows: int = 1

    def __str__(self) -> str:
        return f"{self.said} ({', '.join(self.variables)}: {self.points:.3g} points)"


def find_spared(model: Model, weighed: Weighed) -> list[tuple[Spared, ...]]:
    """Return for each row what was accepted of it."""
    return [note(model, each) for each in silences_of(model, weighed)]


def note(model: Model, silences: dict[str, Silence]) -> tuple[Spared, ...]:
    """Return what does not count for readers; what was withdrawn since is left out."""
    names, notes = model.schema.names, []
    for each in model.accepted or ():
        own = silences.get(each.id)
        if own is not None:
            order = np.argsort(-own.points, kind="stable")
            most_first = tuple(names[i] for i in order.tolist() if own.points[i] > 0)
            total = float(own.points[order[: len(most_first)]].sum())
            notes.append(Spared(each.id, each.said, most_first, total, own.n_rows))
    return tuple(notes)


def say_spared(spared: Sequence[Spared], n_rows: int) -> str:
    """Say in one sentence what does not count against an event of so many rows; empty if all does.

    >>> spared = Spared("scg5bzoq", "accepted on 3 Aug 2025: valve test", ("flow",), 3.2, 4)
    >>> say_spared([spared], 12)
    'Some evidence against flow does not count in 4 rows (accepted on 3 Aug 2025: valve test).'
    """
    said = []
    for each in spared:
        names, rest = each.variables[:N_SPARED], len(each.variables) - N_SPARED
        against = listed([*names, count(rest, "other")] if rest > 0 else names)
        where = f" in {count(each.n_rows, 'row')}" if n_rows > 1 else ""
        said.append(f"evidence against {against} does not count{where} ({each.said})")
    return f"Some {'; some '.join(said)}." if said else ""
