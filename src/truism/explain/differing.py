"""What differs from training now, and what that costs: a line for each variable of lasting changes."""

from math import sqrt

import msgspec

from truism.explain.incidents import Incidents, in_units
from truism.explain.moments import say_moment, say_when
from truism.incidents.events import NEVER, Event
from truism.incidents.following import Following
from truism.model.predicates import format_number

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
    began: str | None
    offset: float | None
    cost: float | None
    heading: str
    when: str
    off: str
    so: str


def find_differing(shifts: Incidents, state: Following) -> tuple[Differing, ...]:
    """Return the variables of lasting changes that have not returned, those that began first."""
    found = dict[tuple[str, int], Differing]()
    standing = [each for each in shifts.outlines[:] if each.is_open]
    for event in sorted(standing, key=lambda each: each.start):
        for i in event.member.nonzero()[0].tolist():
            if (event.series, i) not in found:
                found[event.series, i] = _differing(shifts, event, i, state)
    return tuple(found.values())


def _differing(shifts: Incidents, event: Event, i: int, state: Following) -> Differing:
    """Say how a variable of a lasting change differs now."""
    model = shifts.scorer.model
    variable, memory, words = model.schema.variables[i], model.memory, model.words
    assert memory is not None
    row = int(event.since[i])
    row = event.first if row == NEVER else row
    time = shifts.stamp(row).time
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
    if event.stood[i] and event.dead[i] >= event.last:
        off, so, cost = "dead", "not judged until it moves", None
    when = f"since {'before the first row' if event.is_older(row) else say_when(row, time)}"
    heading = words.heading(variable.name)
    return Differing(
        variable.name,
        event.series or None,
        shifts.id_of(event),
        row,
        say_moment(time),
        offset,
        cost,
        f"{event.series}: {heading}" if event.series else heading,
        when,
        off,
        so,
    )
