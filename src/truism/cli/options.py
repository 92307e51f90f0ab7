"""The options that several commands share, and how they become values of the library."""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import click
import msgspec

from truism.cli.app import option_of
from truism.cli.screen import Screen
from truism.errors import ParameterError, TableError, TruismError
from truism.model.settings import IncidentRate, check_threshold
from truism.table.files import STDIN
from truism.table.layouts import Layout
from truism.table.notices import Notice, refuse_doubts
from truism.work import n_cores

Format = Literal["table", "json", "jsonl", "csv"]
FORMATS: tuple[Format, ...] = ("table", "json", "jsonl", "csv")
Form = Literal["table", "json"]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])
LEAST_ROWS = 1 << 12  # of a batch, however little memory may be used
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


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
    """Add the option for the form of a list."""
    return _format_option(FORMATS)(command)


def form_option(command: Decorated) -> Decorated:
    """Add the option for the form of what is no list."""
    return _format_option(get_args(Form))(command)


def _format_option(formats: Sequence[str]) -> Callable[[Decorated], Decorated]:
    return click.option(
        "--format",
        "form",
        type=click.Choice(formats),
        default="table",
        show_default=True,
        help="Output for people (table) or programs.",
    )


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


def allow_missing_option(command: Decorated) -> Decorated:
    """Add the option for tables that lack columns."""
    return click.option(
        "--allow-missing",
        is_flag=True,
        help="Continue if columns are absent; what needs them is not evaluated.",
    )(command)


def incidents_option(command: Decorated) -> Decorated:
    """Add the option for how many incidents of normal rows may be reported."""
    return click.option(
        "--max-false-incidents",
        metavar="RATE",
        help="For a series: acceptable rate of false incidents, such as 1/day, 2/week or 1/1000rows.  "
        "[default: the model's]",
    )(command)


def threshold_options(command: Decorated) -> Decorated:
    """Add the options for the threshold, and for the rate that it follows from."""
    return click.option(
        "--threshold",
        metavar="φ",
        type=float,
        help="Report rows that score above φ.  [default: what was learned]",
    )(incidents_option(command))


def check_threshold_options(threshold: float | None, max_incidents: str | None) -> None:
    """Refuse thresholds that contradict each other, or that are none, before reading anything."""
    if threshold is not None and max_incidents is not None:
        raise ParameterError("--threshold and --max-false-incidents must not both be given.")
    if threshold is not None:
        check_threshold(threshold)
    if max_incidents is not None:
        IncidentRate.parse(max_incidents)


def memory_option(command: Decorated) -> Decorated:
    """Add the option that limits memory."""
    return click.option(
        "--memory-limit",
        metavar="SIZE",
        help="How much memory to use for batches of large Parquet, Arrow and CSV files, such as 3GiB; "
        "results do not depend on it.  [default: half of the machine's]",
    )(command)


def size_of(text: str | None) -> int:
    """Return a number of bytes; by default half of the machine's memory.

    >>> size_of("3GiB"), size_of("500 MB")
    (3221225472, 524288000)
    """
    if text is None:
        if not hasattr(os, "sysconf"):  # Windows does not tell
            return _UNITS["g"]
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)i?b?", text.strip().lower())
    size = 0 if match is None else int(float(match[1]) * _UNITS[match[2]])
    if size < 1 << 20:
        raise ParameterError.of("memory_limit", "be a size of at least 1 MiB, such as 3GiB", text)
    return size


def check_output(place: str, inputs: Sequence[str] = ()) -> None:
    """Refuse an output that cannot be written, before doing the work."""
    path = Path(place)
    for given in inputs:
        if given != STDIN and path.exists() and os.path.exists(given) and path.samefile(given):
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
    real = Path(os.path.realpath(path))
    target = real if real.exists() else real.parent
    if not os.access(target, os.W_OK):
        raise TruismError(f"{place!r} cannot be written: permission denied.")
    if real.is_file() and not os.access(real.parent, os.W_OK):
        raise TruismError(
            f"{place!r} cannot be replaced: no file can be made in {str(real.parent)!r}.",
            "files are written whole or not at all, which needs a new file beside the old one.",
        )


def check_suffix(place: str) -> None:
    """Refuse to guess the format of a table file with another ending."""
    if not place.endswith((".csv", ".csv.gz", ".parquet", ".feather", ".arrow")):
        raise TableError(
            f"{place!r} must end in .csv, .csv.gz, .parquet, .feather or .arrow.",
            "the ending decides the file format.",
        )


_MAX_BYTES = 1 << 24
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
        help="Column of times, or two that hold date and time: DATE,TIME.  "
        "[default: the first column of dates]",
    ),
    click.option(
        "--time-format",
        metavar="FORMAT",
        help="How times are written: 'day first', 'month first', seconds, milliseconds, or a format "
        "such as %d.%m.%Y.  [default: detected]",
    ),
    click.option(
        "--zone",
        metavar="NAME",
        help="Zone of times without one, and in which times are shown, for example Europe/Vienna.",
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
        help="Whether CSV files begin with column names.  [default: header]",
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
    click.option(
        "--transpose",
        is_flag=True,
        default=None,
        help="Lines of CSV files and spreadsheets are columns.",
    ),
    click.option(
        "--sheet",
        metavar="NAME",
        help="Sheet of a spreadsheet.  [default: the first that holds a table]",
    ),
    click.option("--table", metavar="NAME", help="Table of a database, if it has several."),
    click.option("--query", metavar="SQL", help="Query to a database, instead of a table."),
    click.option(
        "--every",
        metavar="DURATION",
        help="Turn single values (time, tag, value) into rows, one every 10s, 5min or 1h.",
    ),
    click.option(
        "--stale",
        metavar="DURATION",
        help="With --every, how long a value holds until the next one.  [default: five steps]",
    ),
    click.option(
        "--rename",
        multiple=True,
        metavar="OLD=NEW",
        help="Rename column OLD of the files to NEW, as the model knows it; may be repeated.",
    ),
    click.option(
        "--rename-file",
        metavar="FILE",
        help="File with one such pair per line.",
    ),
    click.option("--strict", is_flag=True, help="Refuse doubtful readings."),
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
                *("transpose", "sheet", "table", "query", "every", "stale"),
            )
        },
    )
    return FileOptions(layout, options.pop("strict"))


def _renames(pairs: Sequence[str], place: str | None) -> tuple[tuple[str, str], ...]:
    renames = []
    for pair in pairs:
        old, sign, new = (part.strip() for part in pair.partition("="))
        if not (sign and old and new):
            raise ParameterError.of("rename", "be OLD=NEW", pair)
        renames.append((old, new))
    return (*renames, *(() if place is None else read_pairs("rename_file", place)))


def read_pairs(option: str, place: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of texts in a file: a JSON object, or lines such as LIT301,mm or LIT301=mm."""
    hint = "it must hold a JSON object of texts, or lines such as LIT301,mm or LIT301=mm."
    with open(place, "rb") as file:
        content = file.read(_MAX_BYTES)
    try:
        text = content.decode("utf-8-sig")
        if text.lstrip().startswith("{"):
            return tuple(msgspec.json.decode(text, type=dict[str, str]).items())
        lines = [line for line in text.splitlines() if line.strip() and line.lstrip()[0] != "#"]
        pairs = [_pair(line) for line in lines]
        if not all(map(all, pairs)):
            wrong = next(line for line, pair in zip(lines, pairs, strict=True) if not all(pair))
            hint = f"{wrong.strip()!r} is no pair; {hint}"
            raise ValueError
    except (msgspec.MsgspecError, ValueError):
        raise ParameterError.of(option, "name a file of pairs", place, hint) from None
    return tuple(pairs)


def _pair(line: str) -> tuple[str, str]:
    """Divide a line at its first separator outside quotes; a part that is not there is empty."""
    quoted = False
    for at, letter in enumerate(line):
        quoted ^= letter == '"'
        if letter in "=;\t," and not quoted:
            return _unquoted(line[:at]), _unquoted(line[at + 1 :])
    return "", ""


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1].replace('""', '"') if text[:1] == '"' == text[-1:] and text[1:] else text


def show_notices(screen: Screen, notices: Sequence[Notice], how: FileOptions) -> None:
    """Note how tables were read; loudly where that is in doubt, unless doubts are refused."""
    if how.strict:
        refuse_doubts(notices)
    for notice in notices:
        text = notice.text
        if notice.see:
            text = f"{text.rstrip('.')}; see {' and '.join(map(option_of, notice.see))}."
        (screen.warn if notice.doubtful else screen.note)(text)
