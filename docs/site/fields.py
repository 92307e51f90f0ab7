"""The fields of values: their comments in the source are what the reference says about them."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

_FIELD = re.compile(r"    (\w+): .*?(?:  # (.*))?$")
_COMMENT = re.compile(r"    # (.*)$")


def fields_of(value: type) -> Iterator[tuple[str, str]]:
    """Yield each field of a class with its comment, which stands behind it or above it."""
    above: list[str] = []
    for line in inspect.getsource(value).splitlines():
        if comment := _COMMENT.match(line):
            above.append(comment[1])
        elif field := _FIELD.match(line):
            yield field[1], field[2] or " ".join(above)
            above = []
        elif re.match(r"    (def|@)", line):
            return


def describe(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """List the fields of a value whose docstring does not."""
    if not hasattr(thing, "__struct_fields__") or any(line.startswith(":param") for line in lines):
        return
    fields = list(fields_of(thing))
    if any(comment for _, comment in fields):
        lines += ["", *(f":param {field}: {comment}" for field, comment in fields), ""]


def setup(app: Any) -> dict[str, bool]:
    """Let autodoc ask `describe` after Napoleon has read the docstring."""
    app.connect("autodoc-process-docstring", describe, priority=600)
    return {"parallel_read_safe": True}
