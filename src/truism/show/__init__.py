"""Reports for people: what a `Checker` finds in a table, as a page or JSON.

One frozen `Summary` holds all that a report says; every form is made from it.

- `contents`: the `Summary` and what it is made of
- `summarising`: makes the `Summary` of a table, and writes it
- `pictures`: its time axis, and its pictures of broken rules
- `html`, `charts`: the pages and their charts
- `models`: models and their rules on a terminal, and the words and colours that all of it shares
- `looks`: a table at first sight, in words and on a terminal
- `terminal`: findings, explanations and the progress of jobs on a terminal
- `comparison`: what differs between two models, on a terminal, as text and as a page
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truism.show.contents import Summary
    from truism.show.html import to_html
    from truism.show.summarising import summarise, to_json, write_report

__all__ = ["Summary", "summarise", "to_html", "to_json", "write_report"]

_home = {
    "Summary": "contents",
    "summarise": "summarising",
    "to_html": "html",
    "to_json": "summarising",
    "write_report": "summarising",
}


def __getattr__(name: str) -> Any:
    # Jinja takes a while to import; JSON does not need it.
    if name not in __all__:
        raise AttributeError(f"module 'truism.show' has no attribute {name!r}")
    return getattr(import_module(f"truism.show.{_home[name]}"), name)
