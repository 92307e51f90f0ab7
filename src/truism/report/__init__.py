"""What was found, told to people: one frozen `Summary` feeds a page, JSON and plain text."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from truism.report.contents import Summary
    from truism.report.html import to_html
    from truism.report.output import to_json, write_report
    from truism.report.plain import to_text
    from truism.report.summarising import summarise

__all__ = ["Summary", "summarise", "to_html", "to_json", "to_text", "write_report"]

_home = {
    "Summary": "contents",
    "summarise": "summarising",
    "to_html": "html",
    "to_json": "output",
    "to_text": "plain",
    "write_report": "output",
}


def __getattr__(name: str) -> Any:
    # Bokeh and Jinja take a second to import; whoever asks for JSON need not wait for them.
    if name not in __all__:
        raise AttributeError(f"module 'truism.report' has no attribute {name!r}")
    return getattr(import_module(f"truism.report.{_home[name]}"), name)
