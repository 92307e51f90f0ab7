"""Suspects for a terminal: the training rows that the others contradict, and why."""

from rich.console import Group as Lines
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from truism.model.wording import count, visible
from truism.review.suspects import Group, Suspects
from truism.show.models import STRONG, say

N_SHOWN = 3


def show_suspects(suspects: Suspects, place: str | None, *, excluded: bool) -> RenderableType:
    """Show suspects, the worst first.

    Parameters
    ----------
    suspects
        The suspects.
    place
        The file in which all are listed, if there is one.
    excluded
        Whether those that learning would hide were left out.

    """
    of = count(suspects.n_rows, "row")
    if not len(suspects.rows):
        said = f"No suspects: none of {of} scores far above the threshold of the others."
        return Lines("", say(said))
    rows, hidden = len(suspects.rows), len(suspects.hidden)
    what = "and were learned as normal"
    if excluded and hidden == rows:
        what = "and were left out"
    elif excluded:
        left = f"{hidden or 'none'} was" if hidden < 2 else f"{hidden:,} were"
        what = f"of which {left} left out, because the others stay unusual when they are learned"
    head = f"{rows:,} of {of} {'is a suspect' if rows == 1 else 'are suspects'}, {what}:"
    parts: list[RenderableType] = ["", Text(head, STRONG)]
    for group in suspects[:N_SHOWN]:
        told = group.summary or _reason(group)
        parts += [say(str(group)), Padding(say(told), (0, 0, 0, 2))]
    more = len(suspects) - N_SHOWN
    if more > 0:
        parts.append(say(f"and {count(more, 'other group')} of rows"))
    if place is not None:
        parts.append(Text.assemble("All of them are in ", (visible(place), STRONG), "."))
    return Lines(*parts)


def _reason(group: Group) -> str:
    """Say what speaks most against the worst row of a group."""
    reason = group.explanation.blames[0].reasons[0]
    because = "" if reason.because is None else f" because {reason.because}"
    return f"expected {reason.expected}, found {reason.found}{because}"
