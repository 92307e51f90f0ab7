"""The options that several commands share, and how they become values of the library."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from truism.errors import TableError, TruismError
from truism.table.files.csvfiles import Layout
from truism.table.files.reading import STDIN
from truism.work import n_cores

Format = Literal["table", "json", "jsonl", "csv"]
FORMATS: tuple[Format, ...] = ("table", "json", "jsonl", "csv")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])
_DELIMITER_NAMES = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "space": " ",
}


class Command(click.Command):
    """A command that also takes ``--debug`` after its name."""

    def __init__(self, *args: Any, **extra: Any) -> None:
        extra.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*args, **extra)
        self.params.append(
            click.Option(
                ["--debug"], is_flag=True, expose_value=False, help="Show tracebacks of failures."
            )
        )


def data_argument(command: Decorated) -> Decorated:
    """Add the argument for one or more table files."""
    return click.argument("data", nargs=-1, required=True, metavar="DATA...")(command)


def model_option(command: Decorated) -> Decorated:
    """Add the option for a model file."""
    return click.option(
        "-m", "--model", "place", required=True, metavar="FILE", help="The model file."
    )(command)


def format_option(command: Decorated) -> Decorated:
    """Add the option for the form of the output."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="Output for people (table) or programs.",
    )(command)


def jobs_option(command: Decorated) -> Decorated:
    """Add the option for the number of threads."""
    return click.option(
        "--jobs",
        type=click.IntRange(min=1),
        metavar="N",
        default=n_cores,
        show_default="all cores",
        help="Number of threads; results do not depend on it.",
    )(command)


def layout_options(command: Decorated) -> Decorated:
    """Add the options for reading CSV files."""
    for option in reversed(
        (
            click.option(
                "--delimiter",
                metavar="CHAR",
                help="Delimiter in CSV files: a character, or tab.  [default: detected]",
            ),
            click.option(
                "--decimal",
                type=click.Choice((".", ",")),
                help="Decimal mark in CSV files.  [default: detected]",
            ),
            click.option(
                "--header/--no-header",
                default=None,
                help="Whether CSV files start with a line of names.  [default: header]",
            ),
            click.option(
                "--encoding",
                metavar="NAME",
                default="utf-8",
                show_default=True,
                help="Encoding of CSV files, for example latin-1.",
            ),
            click.option(
                "--missing",
                multiple=True,
                metavar="TEXT",
                help="Text that stands for a missing value in CSV files; may be repeated.",
            ),
        )
    ):
        command = option(command)
    return command


def layout_of(options: dict[str, Any]) -> Layout:
    """Remove the CSV options from a command's options, and return them as a layout."""
    delimiter = options.pop("delimiter")
    return Layout(
        delimiter=_DELIMITER_NAMES.get(delimiter, delimiter),
        decimal=options.pop("decimal"),
        header=options.pop("header"),
        encoding=options.pop("encoding"),
        missing=tuple(options.pop("missing")),
    )


def check_output(place: str, inputs: Sequence[str] = ()) -> None:
    """Refuse an output that cannot be written, before doing the work."""
    path = Path(place)
    for each in inputs:
        if each != STDIN and path.exists() and os.path.exists(each) and path.samefile(each):
            raise TruismError(
                f"{place!r} is both input and output.",
                "write to another file; inputs are never overwritten.",
            )
    if path.is_dir():
        raise TruismError(f"{place!r} cannot be written: it is a directory.")
    if not path.parent.is_dir():
        raise TruismError(
            f"{place!r} cannot be written: there is no directory {str(path.parent)!r}.",
            f"make it with mkdir -p {str(path.parent)!r}.",
        )
    target = path if path.exists() else path.parent
    if not os.access(target, os.W_OK):
        raise TruismError(f"{place!r} cannot be written: permission denied.")


def check_suffix(place: str) -> None:
    """Refuse to guess the format of a table file with another ending."""
    if not place.endswith((".csv", ".csv.gz", ".parquet", ".feather", ".arrow")):
        raise TableError(
            f"{place!r} must end in .csv, .csv.gz, .parquet, .feather or .arrow.",
            "the ending decides the file format.",
        )
