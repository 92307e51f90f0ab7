"""Pages, self-contained HTML files: of a `Summary`, and of a table at first sight.

Their charts are SVG (`charts`), so that they need no library and no network. A content security policy
forbids them to use one, and allows only the style and the script whose digests it names: even text that
slipped through our escaping could not run.
"""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from truism.explain.words import Reason
from truism.model.wording import about_percent, count, percent
from truism.show import charts
from truism.show.contents import (
    BlameCard,
    Card,
    PatternCard,
    RuleLine,
    Summary,
    ToldLine,
    VariableLine,
)
from truism.show.looks import Sight
from truism.show.pictures import short

MAX_BYTES = 890_000
_FRAME_BYTES = 500  # of HTML around a chart
_LARGER, _MOST_LINKS = 3, 5


def to_html(summary: Summary) -> str:
    """Return the page of a summary.

    Parameters
    ----------
    summary
        The result of `summarise`.

    Returns
    -------
    str
        A whole HTML document that refers to nothing outside itself.

    """
    page = template("page.html")
    content = _content(summary)
    # Words come first; charts of incidents, the worst first, fill the room that is left.
    room = MAX_BYTES - len(page.render(content, **_cards(summary, 0)).encode())
    return page.render(content, **_cards(summary, room))


def look_page(sight: Sight, source: str, created: str) -> str:
    """Return the page of a table at first sight, which has no script."""
    bars = [charts.bars(column.bars, label=f"Spread of {column.name}") for column in sight.columns]
    return template("look.html").render(
        sight=sight, source=source, created=created, policy=policy(), bars=bars
    )


def _content(summary: Summary) -> dict[str, Any]:
    script = asset("page.js")
    place = {variable.name: i for i, variable in enumerate(summary.variables)}
    return {
        "summary": summary,
        "policy": policy(script),
        "script": Markup(script),
        "timeline": charts.timeline(summary) if summary.n_rows and summary.ordered else None,
        "patterns": [_pattern(each) for each in summary.patterns],
        "roc": charts.roc(summary.detection) if summary.detection else None,
        "rules": [_rule(rule, place) for rule in summary.rules],
        "variables": [_variable(each) for each in summary.variables],
        "n": lambda value: f"{value:,}",
        "short": short,
        "percent": percent,
    }


def _cards(summary: Summary, room: int) -> dict[str, list[dict[str, Any]]]:
    """Prepare the cards of what happened and of what stands, with charts while there is room."""
    listed = {rule.id for rule in summary.rules}
    cards: dict[str, list[dict[str, Any]]] = {"cards": [], "standing": []}
    first_of = dict[str, int]()
    for card in summary.incidents:
        blames = []
        for blamed in card.blames:
            chart = None
            if blamed.picture is not None and room > 0:
                chart = charts.picture(blamed.picture, summary.unit, _label(blamed, card))
                room -= len(chart.encode()) + _FRAME_BYTES
            blames.append(_blame(blamed, chart if room > 0 else None, listed))
        stands = card.incident.kind == "shift" and card.incident.ongoing
        first = first_of.setdefault(card.incident.story, card.number)
        story = f"same story as {first}" if first != card.number else ""
        among = [each for each in (card.incident.counted, story) if each]
        cards["standing" if stands else "cards"].append(_card(card, blames) | {"among": among})
    return cards


def _card(card: Card, blames: list[dict[str, Any]]) -> dict[str, Any]:
    incident = card.incident
    n_hidden = card.n_blamed - len(blames)
    return {
        "number": card.number,
        "title": card.title,
        "summary": incident.summary,
        "notes": incident.told[1:],
        "when": card.when,
        "lasted": card.lasted,
        "lasting": incident.kind == "shift",
        "blamed": [
            f"{each.variable} {about_percent(each.share)}" for each in card.blames[:_LARGER]
        ],
        "more": f"and {card.n_blamed - _LARGER:,} more" if card.n_blamed > _LARGER else "",
        "rows": count(incident.n_rows, "anomalous row"),
        "score": f"{incident.score:,.2f}",
        "peaked": card.peaked,
        "larger": blames[:_LARGER],
        "smaller": blames[_LARGER:],
        "others": f"{count(len(blames) - _LARGER, 'more variable')} with a smaller share",
        "accept": f"truism accept DATA --incident {incident.id} -m MODEL -o MODEL --reason WHY",
        "hidden": f"{count(n_hidden, 'variable')} with a smaller share not shown."
        if n_hidden
        else "",
    }


def _label(blamed: BlameCard, card: Card) -> str:
    return f"{blamed.variable} over incident {card.number}; its numbers are in the list beside it"


def _blame(blamed: BlameCard, chart: Markup | None, listed: set[str]) -> dict[str, Any]:
    hidden = blamed.n_related - len(blamed.related)
    return {
        "variable": blamed.variable,
        "heading": blamed.heading,
        "share": percent(blamed.share),
        "width": f"{100 * blamed.share:.2f}",
        "reason": {**_reason(blamed.reason, listed), "place": blamed.place},
        "related": [_reason(each, listed) for each in blamed.related],
        "n_related": count(blamed.n_related, "related reason"),
        "hidden": f"{count(hidden, 'weaker reason')} not shown." if hidden else "",
        "chart": chart,
        "left_out": blamed.picture is not None and chart is None,
    }


def _pattern(pattern: PatternCard) -> dict[str, Any]:
    whole = len(pattern.told) == 1 and pattern.told[0].n_rows == pattern.n_rows
    return {
        "id": pattern.id,
        "summary": pattern.summary,
        "share": about_percent(pattern.share),
        "width": f"{100 * pattern.share:.2f}",
        "rows": count(pattern.n_rows, "row"),
        "told": [] if whole else [_told(each) for each in pattern.told],
        "worst": [
            {
                "when": each.when,
                "score": f"{each.score:,.2f}",
                "found": each.found,
                "number": each.number,
            }
            for each in pattern.worst
        ],
    }


def _told(told: ToldLine) -> dict[str, str]:
    why = f"expected {told.reason.expected} {told.reason.why}"
    return {"rows": count(told.n_rows, "row"), "why": why}


def _reason(reason: Reason, listed: set[str]) -> dict[str, Any]:
    return {
        "expected": reason.expected,
        "found": reason.found,
        "place": reason.place,
        "because": reason.condition,
        "evidence": reason.evidence,
        "rule": reason.rule if reason.rule in listed else None,
    }


def _rule(rule: RuleLine, place: dict[str, int]) -> dict[str, Any]:
    return {
        "id": rule.id,
        "text": rule.text,
        "variables": ", ".join(rule.variables),
        "places": " ".join(str(place[name]) for name in rule.variables),
        "count": rule.rows,
        "support": percent(rule.support),
        "n_broken": f"{rule.n_broken:,}",
        "incidents": rule.incidents[:_MOST_LINKS],
        "more": "…" if len(rule.incidents) > _MOST_LINKS else "",
        "disabled": rule.disabled,
    }


def _variable(line: VariableLine) -> dict[str, Any]:
    return {
        "line": line,
        "missing": f"{line.n_missing_in_training:,} / {line.n_missing_here:,}",
        "share": percent(line.share),
        "width": f"{100 * line.share:.2f}",
        "bars": charts.bars(line.histogram.training, line.histogram.here),
    }


def template(name: str) -> Template:
    """Return a template of a page that refers to nothing outside itself; it knows the style."""
    environment = Environment(
        loader=PackageLoader("truism.show"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["style"] = Markup(asset("page.css"))
    return environment.get_template(name)


def asset(name: str) -> str:
    """Return the text of a file that pages are made of."""
    return (files("truism.show") / "templates" / name).read_text(encoding="utf-8")


def policy(script: str | None = None) -> str:
    """Return a content security policy: a page may use our style and this script, and nothing else."""
    scripts = "" if script is None else f"script-src {_digest(script)}; "
    return (
        f"default-src 'none'; {scripts}style-src {_digest(asset('page.css'))}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
