"""The program and what it answers: code, output, messages."""

import contextlib
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from truism.__main__ import main

# Said or not, as the machine was used before.
_PASSING = re.compile(
    r"(?m)^Note: the first run compiles code; this takes about ten seconds, once\.\n"
)


@dataclass(frozen=True)
class Answer:
    """What a command did: its exit code, standard output, and standard error."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the one JSON document on standard output."""
        return json.loads(self.out)

    def facts(self, *, out: bool = True) -> dict[str, Any]:
        """Return it as it is recorded: line by line."""
        lines = {"out": self.out.splitlines()} if out else {}
        return {"code": self.code, **lines, "err": self.err.splitlines()}


def run(*arguments: object) -> Answer:
    """Run ``truism``, within this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    before, code = sys.argv, 0
    sys.argv = ["truism", *map(str, arguments)]
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
            _environment(COLUMNS="80", NO_COLOR="1"),
        ):
            main()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.argv = before
    texts = [each.buffer.getvalue().decode() for each in (out, err)]  # type: ignore[attr-defined]
    return Answer(code, texts[0], _PASSING.sub("", texts[1]))


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, so that messages name files without it."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
