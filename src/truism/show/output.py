"""Reports as files: the ending of the name decides the form; a file is written whole or not at all."""

import os
from pathlib import Path

import msgspec

from truism.errors import ParameterError
from truism.show.contents import Summary
from truism.table.atomic import write_atomically


def to_json(summary: Summary) -> bytes:
    """Return a summary as JSON."""
    return msgspec.json.encode(summary) + b"\n"


def write_report(path: str | os.PathLike[str], summary: Summary) -> None:
    """Write a report; the ending of the name (.html, .json) decides the form.

    Parameters
    ----------
    path
        The file to write. An existing file is replaced, or kept if anything goes wrong.
    summary
        The result of `summarise`.

    """
    write_atomically(path, render(path, summary))


def render(path: str | os.PathLike[str], summary: Summary) -> bytes:
    """Return the content that `write_report` writes."""
    check_ending(path)
    if Path(path).suffix.lower() == ".json":
        return to_json(summary)
    from truism.show.html import to_html  # only the page needs Jinja

    return to_html(summary).encode()


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuse a name whose ending names no form, before any work is done."""
    if Path(path).suffix.lower() not in (".html", ".htm", ".json"):
        raise ParameterError(
            f"The report's name must end in .html or .json, got {os.fspath(path)!r}."
        )
