"""A `Summary` as plain text, for emails and logs."""

from truism.model.wording import about_percent, count, visible
from truism.report.contents import BlameCard, Card, Summary
from truism.report.patterncards import PatternCard

_MOST = 3


def to_text(summary: Summary, most: int = 10) -> str:
    """Return the verdict and the worst incidents as plain text.

    Parameters
    ----------
    summary
        The result of `summarise`.
    most
        How many incidents to show.

    """
    told = [_card(card) for card in summary.incidents[:most]]
    rest = summary.n_incidents - len(told)
    if not summary.ordered:
        told = [_pattern(pattern) for pattern in summary.patterns[:most]]
        rest = summary.n_patterns - len(told)
    blocks = [visible(summary.verdict), *told]
    if rest:
        blocks.append(f"… and {rest:,} more")
    if summary.detection is not None:
        found = summary.detection
        blocks.append(
            f"{found.n_detected} of {len(found.segments)} labelled segments detected, "
            f"AUC {found.auc:.3f}, pAUC {found.partial_auc:.3f}"
        )
    return "\n".join(map(visible, "\n\n".join(blocks).split("\n"))) + "\n"


def _pattern(pattern: PatternCard) -> str:
    rows = count(pattern.n_rows, "row")
    head = f"{about_percent(pattern.share)} of the anomalies ({rows}): {pattern.summary}"
    worst = ", ".join(f"{each.when} ({each.found})" for each in pattern.worst)
    return f"{visible(head)}\n   worst: {visible(worst)}"


def _card(card: Card) -> str:
    head = f"{card.number}. {card.when} ({card.lasted}), peak score {card.incident.score:.4g}"
    told = [f"   {visible(each)}" for each in card.incident.told]
    width = max((len(visible(each.heading)) for each in card.blames[:_MOST]), default=0)
    return "\n".join([head, *told, *(_blame_card(each, width) for each in card.blames[:_MOST])])


def _blame_card(blamed: BlameCard, width: int) -> str:
    head = f"   {visible(blamed.heading):<{width}}  {100 * blamed.share:3.0f} %  "
    first, *others = blamed.reason.lines()
    return "\n".join([head + first, *(" " * len(head) + other for other in others)])
