"""Options for files that say what columns are measured in and what readers call them."""

import csv
from pathlib import Path
from typing import Any

import click
import msgspec

from truism.cli.options import Decorated
from truism.errors import ParameterError
from truism.model.legend import Legend, legend_of
from truism.table.layouts import Reading

MAX_BYTES = 1 << 24
_FORMS = 'be a JSON object such as {"LIT301": "mm"}, or lines such as LIT301,mm'


def legend_options(command: Decorated) -> Decorated:
    """Add the options for units and titles."""
    for name, example in (("titles", "LIT301,feed tank level"), ("units", "LIT301,mm")):
        command = click.option(
            f"--{name}",
            metavar="FILE",
            help=f"File of {name} that the model keeps: JSON, or lines such as {example}.",
        )(command)
    return command


def read_legend(options: dict[str, Any], reading: Reading) -> Legend | None:
    """Read the files of both options, if they are given; else units are those that the table has."""
    own = {each.name: each.unit for each in reading.columns if each.unit and each.kind == "number"}
    units, titles = _read("units", options["units"]), _read("titles", options["titles"])
    return legend_of({**own, **(units or {})}, titles, reading.column_of())


def _read(name: str, file: str | None) -> dict[str, str] | None:
    """Read texts by the names of columns."""
    if file is None:
        return None
    try:
        content = Path(file).read_bytes()[:MAX_BYTES].decode("utf-8-sig")
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ParameterError(f"The file of {name} {file!r} cannot be read: {reason}.") from None
    except UnicodeDecodeError:
        raise ParameterError.of(name, "be UTF-8 text", file) from None
    if content.lstrip().startswith("{"):
        try:
            return msgspec.json.decode(content, type=dict[str, str])
        except msgspec.MsgspecError:
            raise ParameterError.of(name, _FORMS, file) from None
    lines = [line for line in csv.reader(content.splitlines()) if any(map(str.strip, line))]
    if any(len(line) != 2 for line in lines):
        raise ParameterError.of(name, _FORMS, file)
    return {column.strip(): text.strip() for column, text in lines}
