"""Reading tables on the command line: its options, and what there is to say about how it went."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from truism.cli.app import option_of
from truism.cli.options import Decorated
from truism.cli.screen import Screen
from truism.errors import ParameterError
from truism.table.files import TableRead, read
from truism.table.layouts import Layout, Reading, read_renames
from truism.table.notices import Notice, refuse_doubts

_DELIMITER_NAMES = {
    "tab": "\t",
    "\\t": "\t",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
    "space": " ",
}
_OPTIONS = (
    click.option(
        "--time",
        metavar="COL",
        help="Column of times, or two that say it together: DATE,TIME.  "
        "[default: the first column of dates]",
    ),
    click.option(
        "--time-format",
        metavar="FORMAT",
        help="How times are written: 'day first', 'month first', seconds, milliseconds, or signs "
        "such as %d.%m.%Y.  [default: detected]",
    ),
    click.option(
        "--zone",
        metavar="NAME",
        help="Zone of times that name none, and in which times are shown, for example Europe/Vienna.",
    ),
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
        help="Encoding of CSV files, for example latin-1.  [default: from the file, or UTF-8]",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="Text that stands for a missing value; may be repeated.",
    ),
    click.option("--sheet", metavar="NAME", help="Sheet of a spreadsheet.  [default: the first]"),
    click.option("--table", metavar="NAME", help="Table of a database, if it has several."),
    click.option("--query", metavar="SQL", help="Query to a database, instead of a table."),
    click.option(
        "--every",
        metavar="DURATION",
        help="Make rows of single values (time, tag, value): one every 10s, 5min, 1h.",
    ),
    click.option(
        "--rename",
        multiple=True,
        metavar="NEW=OLD",
        help="Call the column NEW of the files OLD; may be repeated.",
    ),
    click.option(
        "--rename-file",
        metavar="FILE",
        help="A file of such pairs, one a line.",
    ),
    click.option("--strict", is_flag=True, help="Refuse what can only be read with doubts."),
)


def layout_options(command: Decorated) -> Decorated:
    """Add the options for reading tables."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class FileOptions(msgspec.Struct, frozen=True):
    """How files are to be read, and whether doubts are refused."""

    layout: Layout
    strict: bool = False


def file_options(options: dict[str, Any]) -> FileOptions:
    """Remove the reading options from a command's options, and return them as one value."""
    delimiter, time = options.pop("delimiter"), options.pop("time")
    layout = Layout(
        delimiter=_DELIMITER_NAMES.get(delimiter, delimiter),
        time=() if time is None else (time,),
        renames=_renames(options.pop("rename"), options.pop("rename_file")),
        missing=tuple(options.pop("missing")),
        states=tuple(options.get("categorical", ())),
        by=options.get("by"),
        **{
            name: options.pop(name)
            for name in (
                *("decimal", "header", "encoding", "time_format", "zone"),
                *("sheet", "table", "query", "every"),
            )
        },
    )
    return FileOptions(layout, options.pop("strict"))


def _renames(pairs: Sequence[str], place: str | None) -> tuple[tuple[str, str], ...]:
    found = []
    for pair in pairs:
        new, sign, old = (part.strip() for part in pair.partition("="))
        if not (sign and new and old):
            raise ParameterError.of("rename", "be NEW=OLD", pair)
        found.append((new, old))
    if place is not None:
        try:
            text = Path(place).read_text("utf-8-sig")
        except UnicodeDecodeError:
            raise ParameterError.of("rename_file", "be a text in UTF-8", place) from None
        found += read_renames(text)
    return tuple(found)


def read_data(
    screen: Screen, sources: Sequence[str], how: FileOptions, reading: Reading
) -> TableRead:
    """Read tables as earlier ones were read, and note where a reader may wonder."""
    table = read(sources, how.layout, reading=reading)
    show_notices(screen, table.notices, how)
    return table


def show_notices(screen: Screen, notices: Sequence[Notice], how: FileOptions) -> None:
    """Note how tables were read; loudly where that is in doubt, unless doubts are refused."""
    if how.strict:
        refuse_doubts(notices)
    for notice in notices:
        text = notice.text
        if notice.see:
            text = f"{text.rstrip('.')}; see {' and '.join(map(option_of, notice.see))}."
        (screen.warn if notice.doubtful else screen.note)(text)
