"""Pages, self-contained HTML files: of a `Summary`, and of a table at first sight.

Their charts are SVG (`charts`), so that they need no library and no network. A content security policy
forbids them to use one, and allows only the style and the script whose digests it names: even text that
slipped through our escaping could not run.
"""

import base64
import hashlib
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from truism.model.wording import about_percent, count, percent
from truism.show import charts
from truism.show.contents import Card, Summary
from truism.show.looks import Sight

MAX_BYTES = 890_000
_FRAME_BYTES = 500  # of HTML around a chart


def to_html(summary: Summary) -> str:
    """Return the page of a summary: a whole document that refers to nothing outside itself.

    Parameters
    ----------
    summary
        The result of `summarise`.

    Returns
    -------
    str
        The document.

    """
    script = asset("page.js")
    content = {
        "summary": summary,
        "policy": policy(script),
        "script": Markup(script),
        "timeline": charts.timeline(summary) if summary.n_rows and summary.ordered else None,
        "number_of": {card.incident.start: card.number for card in summary.incidents},
        "listed": {line.rule.id for line in summary.rules},
        "place": {variable.name: i for i, variable in enumerate(summary.variables)},
        "bars": charts.bars,
    }
    page = template("page.html")
    # Words come first; charts of incidents, the worst first, fill the room that is left.
    room = MAX_BYTES - len(page.render(content, shown=_cards(summary, 0)).encode())
    return page.render(content, shown=_cards(summary, room))


def look_page(sight: Sight, source: str, created: str) -> str:
    """Return the page of a table at first sight, which has no script."""
    bars = [charts.bars(column.bars, label=f"Spread of {column.name}") for column in sight.columns]
    return template("look.html").render(
        sight=sight, source=source, created=created, policy=policy(), bars=bars
    )


def _cards(summary: Summary, room: int) -> list[tuple[Card, list[str], list[Markup | None]]]:
    """Return the cards, each with words about others like it, and with charts while there is room."""
    shown = []
    first_of = dict[str, int]()
    for card in summary.incidents:
        drawn: list[Markup | None] = []
        for blame, picture in zip(card.incident.blames, card.pictures, strict=True):
            chart = None
            if picture is not None and room > 0:
                label = f"{blame.variable} over incident {card.number}; its numbers are in the list"
                chart = charts.picture(picture, summary.unit, f"{label} beside it")
                room -= len(chart.encode()) + _FRAME_BYTES
            drawn.append(chart if room > 0 else None)
        first = first_of.setdefault(card.incident.story, card.number)
        story = f"same story as {first}" if first != card.number else ""
        shown.append((card, [*filter(None, (card.incident.counted, story))], drawn))
    return shown


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
    environment.globals |= {"n": "{:,}".format, "count": count}
    environment.globals |= {"percent": percent, "about_percent": about_percent}
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
