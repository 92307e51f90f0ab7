"""What does not count because it was accepted: rows or an event go in, notes for readers come out."""

from collections.abc import Sequence

import msgspec
import numpy as np

from truism.explain.statements import listed
from truism.incidents.deviations import silences_of
from truism.incidents.events import Silence
from truism.model.model import Model
from truism.model.wording import count
from truism.score.weighed import Weighed

NAMED = 3  # variables of an acceptance, in a sentence


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
        names, rest = each.variables[:NAMED], len(each.variables) - NAMED
        against = listed([*names, count(rest, "other")] if rest > 0 else names)
        where = f" in {count(each.n_rows, 'row')}" if n_rows > 1 else ""
        said.append(f"evidence against {against} does not count{where} ({each.said})")
    return f"Some {'; some '.join(said)}." if said else ""
