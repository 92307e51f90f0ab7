"""The price of accepting rows, in words: an offer goes in, lines for a screen come out."""

from collections.abc import Iterator, Sequence

from truism.explaining.accepting import Offer
from truism.explaining.comparison import Sighting
from truism.explaining.prices import Moved, Price
from truism.model.acceptances import Acceptance, Case
from truism.model.model import Model
from truism.model.predicates import format_number
from truism.model.wording import brief_conditions, count, percent

N_LISTED = 5


def say_offer(offer: Offer, model: Model) -> list[tuple[str, str]]:
    """Return lines with a heading each: where, what is allowed, rules, scores, history."""
    return [
        *_where(offer, model),
        *_what(offer.price, offer.acceptance, model),
        *_cost(offer.price),
        *_left(offer.price),
    ]


def _left(price: Price) -> Iterator[tuple[str, str]]:
    """Say what is reported all the same."""
    if price.still:
        verb = "stands" if len(price.still) == 1 else "stand"
        yield (
            "still",
            f"{', '.join(price.still)} {verb} still for longer than ever in these rows, which is "
            "reported all the same; it can be muted by a condition",
        )


def say_case(case: Case, model: Model) -> str:
    """Return the situation of a case in words."""
    return " and ".join(brief_conditions(case.conditions, model.words)) or "always, in every row"


def say_acceptance(acceptance: Acceptance, model: Model) -> str:
    """Return an acceptance in one line: about what, where, when and why."""
    where = "; or ".join(say_case(case, model) for case in acceptance.cases)
    return f"{say_variables(acceptance, model)} where {where}; {acceptance.said}"


def say_variables(acceptance: Acceptance, model: Model) -> str:
    """Name the variables of an acceptance."""
    if acceptance.mutes_all(model.schema):
        return "all variables"
    names = acceptance.variables
    more = len(names) - N_LISTED
    return ", ".join(names[:N_LISTED]) + (f" and {more} more" if more > 0 else "")


def say_warning(price: Price) -> str | None:
    """Warn if what is accepted looks like most earlier incidents."""
    if not price.hides_most:
        return None
    return (
        f"What is accepted looks like most earlier incidents: {len(price.vanished)} of "
        f"{count(price.n_incidents or 0, 'incident')} would vanish."
    )


def _where(offer: Offer, model: Model) -> Iterator[tuple[str, str]]:
    heading = "where"
    for case, share in zip(offer.acceptance.cases, offer.price.shares, strict=True):
        known = "" if share is None else f" (at most {percent(share)} of the training rows)"
        yield heading, f"{say_case(case, model)}{known}"
        heading = "or"
    also = []
    if offer.price.n_elsewhere:
        also.append(f"{count(offer.price.n_elsewhere, 'other row')} of the table")
    if offer.price.n_normal is not None:
        also.append(f"{count(offer.price.n_normal, 'row')} of those known to be normal")
    if also:
        yield "", f"also in {' and '.join(also)}"


def _what(price: Price, acceptance: Acceptance, model: Model) -> Iterator[tuple[str, str]]:
    if not price.n_rows:
        yield "muted", say_variables(acceptance, model)
        return
    heading = "allowed"
    for each in price.moved[:N_LISTED]:
        yield heading, _say_moved(each, price, model)
        heading = ""
    if len(price.moved) > N_LISTED:
        yield "", f"and {count(len(price.moved) - N_LISTED, 'more variable')}"


def _say_moved(moved: Moved, price: Price, model: Model) -> str:
    unit = model.words.after(moved.variable)
    said = f"{moved.variable}: evidence of up to {moved.points or 0.0:.3g} points"
    if price.threshold:
        part = (moved.points or 0.0) / price.threshold
        said += f", {percent(part)} of" if part < 1 else f", {part:.2g} times"
        said += " the threshold"
    if moved.low is None:
        return said
    low, high, usual_low, usual_high = (
        format_number(float(f"{each or 0.0:.4g}"))
        for each in (moved.low, moved.high, moved.usual_low, moved.usual_high)
    )
    return f"{said}; {low} to {high}{unit}, in training {usual_low} to {usual_high}{unit}"


def _cost(price: Price) -> Iterator[tuple[str, str]]:
    if price.n_rows:
        heading = "rules"
        yield (
            heading,
            f"{count(len(price.rules), 'rule')} that these rows break no longer count there",
        )
        for each in price.rules[:N_LISTED]:
            yield "", f"{each.rule_id}  {each.text} ({count(each.n_rows, 'row')})"
        if len(price.rules) > N_LISTED:
            yield "", f"and {len(price.rules) - N_LISTED:,} more"
        yield (
            "score",
            f"by itself, no accepted row scores above {price.peak_after:.3g}; it was "
            f"{price.peak_before:.3g}, and the threshold is {format_number(price.threshold)}",
        )
    if price.n_incidents is not None:
        yield "history", _say_vanished(price.vanished, price.n_incidents)
        for sighting in price.vanished[:N_LISTED]:
            yield "", _say_sighting(sighting)


def _say_vanished(vanished: Sequence[Sighting], n_incidents: int) -> str:
    n = len(vanished)
    return f"{n or 'none'} of {count(n_incidents, 'incident')} would no longer be reported"


def _say_sighting(sighting: Sighting) -> str:
    when = "" if sighting.started is None else f", {sighting.started}"
    names = ", ".join(each.variable for each in (sighting.blamed or ())[:3])
    return f"rows {sighting.start} to {sighting.end}{when}{f': {names}' if names else ''}"
