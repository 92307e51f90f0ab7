"""What a variable adds to a score, and why: a value that is also its JSON."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from truism.explain.clues import Clue
from truism.explain.words import Reason, Record, When, listed, say
from truism.incidents.deviations import silences_of
from truism.incidents.events import NAMED, Silence
from truism.model.model import Model
from truism.model.wording import count, first_few, visible
from truism.score.scorer import Scorer
from truism.score.weighed import Weighed
from truism.table.deltas import delta_name

MIN_SHOWN = 0.005  # the smallest share that is not printed as 0 %


class Blame(Record, frozen=True):
    """What one variable adds to a score, and why.

    Parameters
    ----------
    variable, title, unit
        Its name, and its title and unit if they are known.
    share
        Its share of the blame, of all that is blamed on variables.
    penalty
        What it adds to the score; for an incident, to the scores of all its rows.
    reasons
        Why, strongest first; of an incident by the row in which it is to blame most.
    n_left_out
        How many weaker reasons are left out.
    since, began
        Of an incident: the first row in which the variable deviates, and its time. It may lie before
        the start, which is where the incident was noticed.
    offset
        Of an incident: how far its numbers lie above those of such training rows on average; null if
        they lie off on both sides.
    behind
        The variable that it goes with, if it is wrong only because that one is.

    """

    variable: str
    share: float
    penalty: float
    reasons: tuple[Reason, ...] = ()
    n_left_out: int = 0
    since: int | None = None
    began: When = None
    offset: float | None = None
    behind: str | None = None
    title: str | None = None
    unit: str | None = None

    @property
    def heading(self) -> str:
        """The variable's name, with its title if it has one."""
        return self.variable if self.title is None else f"{self.variable} ({self.title})"

    def with_reasons(self, most: int) -> "Blame":
        """Return it with at most so many reasons."""
        n_left_out = self.n_left_out + max(len(self.reasons) - most, 0)
        return msgspec.structs.replace(self, reasons=self.reasons[:most], n_left_out=n_left_out)

    def __repr__(self) -> str:
        head = f"<Blame of {self.variable}, {100 * self.share:.0f} %"
        if not self.reasons:
            return f"{head}>"
        return f"{head}: expected {self.reasons[0].expected}, found {self.reasons[0].found}>"


def blame(
    scorer: Scorer,
    name: str,
    share: float,
    part: float,
    clues: Iterable[Clue],
    suspects: Iterable[str],
    *,
    row: int | None = None,
    when: str | None = None,
    **course: Any,
) -> Blame:
    """Blame a variable for clues against it, which are put into words; see `say` and `Blame`."""
    words, others = scorer.model.words, {*suspects} - {name}
    reasons = (
        say(clue, scorer.n_training, words, row=row, when=when, suspects=others) for clue in clues
    )
    title, unit = words.title(name), words.unit(name)
    return Blame(name, share, part, tuple(reasons), title=title, unit=unit, **course)


def suspects_among(shares: Mapping[str, float]) -> tuple[str, ...]:
    """Return the variables that are most to blame: a condition on one of them is in doubt."""
    least = NAMED * max(shares.values(), default=0.0)
    return tuple(name for name, share in shares.items() if share >= least)


def in_short(blames: Sequence[Blame], most: int = 3) -> str:
    """Return the first variables to blame, for a short representation."""
    shown = ", ".join(blame.variable for blame in blames[:most])
    return f"{shown} …" if len(blames) > most else shown or "nothing to blame"


def choose(blames: Sequence[Blame], most: int) -> tuple[Sequence[Blame], Sequence[Blame]]:
    """Return the first blames and the others; those that would print as 0 % are in neither.

    The very first is always shown, however small: a hundred variables may share a score. Variables
    that go with another are among the others.
    """
    named = [blame for blame in blames if blame.share >= MIN_SHOWN] or blames[:1]
    shown = [blame for blame in named if blame.behind is None][:most]
    return shown, [blame for blame in named if blame not in shown]


def say_others(blames: Sequence[Blame], most: int = 5) -> str:
    """Name the variables that are not shown, in one line: those that go with another first."""
    behind: dict[str, list[str]] = {}
    for blame in blames:
        if blame.behind is not None:
            behind.setdefault(blame.behind, []).append(blame.variable)
    parts = [f"moving with {leader}: {first_few(names, most)}" for leader, names in behind.items()]
    rest = [blame.variable for blame in blames if blame.behind is None]
    return "; ".join([*parts, f"also unusual: {first_few(rest, most)}"] if rest else parts)


def describe(blames: Sequence[Blame], most: int = 3) -> str:
    """Print the first blames, each with its strongest reason, in aligned lines."""
    shown, others = choose(blames, most)
    names = [visible(blame.heading) for blame in shown]
    width = max(map(len, names), default=0)
    lines = []
    for name, blame in zip(names, shown, strict=True):
        head = f"{name:<{width}}  {100 * blame.share:3.0f} %  "
        first, *further = map(visible, blame.reasons[0].lines())
        lines += [head + first, *(" " * len(head) + line for line in further)]
    if others:
        lines.append(visible(say_others(others)))
    return "\n".join(lines)


def fold(
    blamed: Sequence[str], model: Model, witnesses: Mapping[str, Collection[str]] | None = None
) -> dict[str, str]:
    """Return the variables that go with one that is blamed more, and with which.

    A number goes with one that it moves together with in training, unless one speaks against the other:
    then they do not move together now. ``ΔX`` goes with ``X``, or the other way round. A state goes with
    none: a pump that is off is often the cause of a flow that is not. `witnesses` are the variables by
    which each one, most blamed first, is judged to be wrong.
    """
    judged_by = {} if witnesses is None else witnesses
    twins = {frozenset(pair) for pair in model.twins or ()}
    same = {frozenset((name, delta_name(name))) for name in model.derived}

    def at_odds(one: str, other: str) -> bool:
        return one in judged_by.get(other, ()) or other in judged_by.get(one, ())

    leaders: list[str] = []
    behind: dict[str, str] = {}
    for name in blamed:
        alike = [leader for leader in leaders if frozenset((leader, name)) in twins]
        if any(at_odds(leader, name) for leader in alike):
            alike = []
        followed = [
            leader for leader in leaders if leader in alike or frozenset((leader, name)) in same
        ]
        if followed:
            behind[name] = followed[0]
        else:
            leaders.append(name)
    return behind


N_SPARED = 3  # variables of an acceptance, in a sentence


class Spared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    return [note(model, silences) for silences in silences_of(model, weighed)]


def note(model: Model, silences: dict[str, Silence]) -> tuple[Spared, ...]:
    """Return what does not count for readers; what was withdrawn since is left out."""
    names, notes = model.schema.names, []
    for acceptance in model.accepted or ():
        silence = silences.get(acceptance.id)
        if silence is not None:
            order = np.argsort(-silence.points, kind="stable")
            most_first = tuple(names[i] for i in order.tolist() if silence.points[i] > 0)
            total = float(silence.points[order[: len(most_first)]].sum())
            notes.append(Spared(acceptance.id, acceptance.said, most_first, total, silence.n_rows))
    return tuple(notes)


def say_spared(spared: Sequence[Spared], n_rows: int) -> str:
    """Say in one sentence what does not count against an event of so many rows; empty if all does.

    >>> spared = Spared("scg5bzoq", "accepted on 3 Aug 2025: valve test", ("flow",), 3.2, 4)
    >>> say_spared([spared], 12)
    'Some evidence against flow does not count in 4 rows (accepted on 3 Aug 2025: valve test).'
    """
    parts = []
    for one in spared:
        names, rest = one.variables[:N_SPARED], len(one.variables) - N_SPARED
        against = listed([*names, count(rest, "other")] if rest > 0 else names)
        where = f" in {count(one.n_rows, 'row')}" if n_rows > 1 else ""
        parts.append(f"evidence against {against} does not count{where} ({one.said})")
    return f"Some {'; some '.join(parts)}." if parts else ""
