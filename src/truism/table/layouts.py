"""How tables are read: what is asked for (`Layout`) and what came of it (`Reading`).

A reading is a value that can be stored: with it, a later file is read as the files that were learned from
were, so that a column does not turn from text into numbers because today all its texts happen to look
like numbers.
"""

import codecs
import datetime
import functools
import re
import zoneinfo
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import msgspec

from truism.errors import ParameterError, TableError, did_you_mean, shorten


@functools.lru_cache(maxsize=64)
def zone_named(name: str) -> datetime.tzinfo | None:
    """Return a time zone by its name or by its offset, None where there is no such zone.

    >>> str(zone_named("+02:00")), zone_named("Nowhere")
    ('UTC+02:00', None)
    """
    if name == "UTC":
        return datetime.UTC
    offset = re.fullmatch(r"([+-])(\d{2}):?(\d{2})", name)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3])
        if minutes >= 24 * 60:
            return None
        return datetime.timezone(datetime.timedelta(minutes=int(f"{offset[1]}{minutes}")))
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


STYLES = ("year first", "day first", "month first", "month name", "digits", "clock")
EPOCHS = {"seconds": 10**6, "milliseconds": 10**3, "microseconds": 1, "nanoseconds": 0}
DAYS = "excel days"
SIGNS = frozenset("YymdHIMSfpbB%zZaAj")
"""What may stand after a % in a format of times."""

Kind = Literal["number", "boolean", "text", "time", "clock", "empty", "other"]
MAX_MISSING = 10_000  # bytes; pyarrow takes a few more before it crashes
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zµ]*)", re.IGNORECASE)
_SECONDS = {
    unit: seconds
    for seconds, units in (
        (1e-3, ("ms",)),
        (1.0, ("", "s", "sec", "second", "seconds")),
        (60.0, ("m", "min", "minute", "minutes")),
        (3600.0, ("h", "hour", "hours")),
        (86400.0, ("d", "day", "days")),
    )
    for unit in units
}


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How files are to be read; what is not given is detected from the files."""

    # between the fields of a CSV file; None tells comma, semicolon, tab and ``|`` apart
    delimiter: str | None = None
    decimal: str | None = None  # the decimal sign, ``"."`` or ``","``
    # whether the first line holds the names; None expects so, and refuses a line of numbers.
    # Without a header the columns are called ``x0``, ``x1``, …
    header: bool | None = None
    # any name that Python knows; UTF-8 when absent. A byte order mark overrides it
    encoding: str | None = None
    missing: tuple[str, ...] = ()  # spellings of a missing value, besides the usual ones
    time: tuple[str, ...] = ()  # the time column, or the columns that together give the time
    # how times are written: one of `STYLES`, or a format with the directives of strptime
    time_format: str | None = None
    # the zone of times that name none, such as ``Europe/Vienna``; times are shown in it as well
    zone: str | None = None
    transpose: bool | None = None  # whether lines are columns
    # which part of a spreadsheet or database
    sheet: str | None = None
    table: str | None = None
    query: str | None = None
    # for tables with one value per row (time, tag, value): the time between the rows to make, such
    # as ``10s``
    every: str | None = None
    stale: str | None = None  # for how long a value holds there; five such times when absent
    # pairs of the name in the files and the name that the column is to have
    renames: tuple[tuple[str, str], ...] = ()
    states: tuple[str, ...] = ()  # columns whose texts stay texts, whatever they look like
    # the column that tells several series apart, in each of which times run on
    by: str | None = None

    def __post_init__(self) -> None:
        _check_delimiter(self.delimiter)
        if self.decimal not in (None, ".", ","):
            raise ParameterError.of("decimal", "be '.' or ','", self.decimal)
        if self.decimal is not None and self.decimal == self.delimiter:
            raise ParameterError(
                f"decimal and delimiter must differ, got {self.decimal!r} for both."
            )
        _check_encoding(self.encoding)
        for word in self.missing:
            if any("\ud800" <= letter <= "\udfff" for letter in word):
                raise ParameterError.of("missing", "be valid Unicode", word)
        n_bytes = sum(len(word.encode()) for word in self.missing)
        if n_bytes > MAX_MISSING:
            raise ParameterError.of("missing", f"be at most {MAX_MISSING:,} bytes in all", n_bytes)
        _check_zone(self.zone)
        _check_format(self.time_format)
        for name in ("every", "stale"):
            if getattr(self, name) is not None:
                seconds_of(getattr(self, name), name)

    def over(self, other: "Layout") -> "Layout":
        """Return this layout, with what it leaves open taken from another."""
        given = {
            name: value
            for name in self.__struct_fields__
            if (value := getattr(self, name)) not in (None, ())
        }
        both = {**msgspec.structs.asdict(other), **given}
        if both["decimal"] is not None and both["decimal"] == both["delimiter"]:
            both["delimiter" if self.decimal is not None else "decimal"] = None
        both["missing"] = tuple(dict.fromkeys((*other.missing, *self.missing)))
        both["renames"] = tuple(dict((*other.renames, *self.renames)).items())
        return Layout(**both)


class ColumnReading(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How one column was read."""

    # its name and what its values are; `clock` is a time of day
    name: str
    kind: Kind
    unit: str | None = None  # from a row of units below the names, or from the cells
    words: tuple[str, ...] = ()  # texts that were taken as missing in this column
    style: str | None = None  # how times are written
    decimal: str | None = None  # the decimal sign, where signs had to be interpreted
    thousands: str | None = None  # the sign that groups thousands, where one does
    # how false and true are spelled among the texts of a column that holds other states, too
    truths: tuple[str, str] | None = None


class Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a table was read, so that later tables are read alike.

    >>> reading = Reading(Layout(delimiter=";"), (ColumnReading("code", "text"),))
    >>> msgspec.json.decode(msgspec.json.encode(reading), type=Reading) == reading
    True
    """

    # what was asked for and what was seen
    layout: Layout = msgspec.field(default_factory=lambda: Layout())
    columns: tuple[ColumnReading, ...] = ()  # the columns of the table, in its order
    unit_row: bool = False  # whether the row below the names held units
    optional: tuple[str, ...] = ()  # columns that later tables may lack

    def column_of(self) -> dict[str, ColumnReading]:
        """Return the columns by name."""
        return {column.name: column for column in self.columns}

    def with_optional(self, names: Iterable[str]) -> "Reading":
        """Return the reading with columns that later tables may lack."""
        chosen = tuple(names)
        columns = [column.name for column in self.columns]
        for name in chosen:
            if name not in columns:
                hint = did_you_mean(name, columns)
                raise ParameterError.of("optional", "name columns of the table", name, hint)
        return msgspec.structs.replace(self, optional=chosen)

    def ignoring(self, names: Collection[str]) -> "Reading":
        """Return the reading with columns of which it does not matter what later tables hold there."""
        columns = (
            ColumnReading(column.name, "other") if column.name in names else column
            for column in self.columns
        )
        return msgspec.structs.replace(self, columns=tuple(columns))

    @property
    def axis(self) -> str | None:
        """The time column that was named; two that together give the time became one."""
        return " ".join(self.layout.time) or None


def seconds_of(duration: str, name: str = "every") -> float:
    """Return the seconds of a duration, the value of a setting.

    >>> seconds_of("10s"), seconds_of("1.5 min"), seconds_of("1h")
    (10.0, 90.0, 3600.0)
    """
    match = _DURATION.fullmatch(duration.strip())
    unit = None if match is None else _SECONDS.get(match[2].lower())
    if match is None or unit is None or float(match[1]) * unit < 1e-6:
        raise ParameterError.of(name, "be a duration such as '10s', '5min' or '1h'", duration)
    return float(match[1]) * unit


def _check_delimiter(delimiter: str | None) -> None:
    if delimiter is None:
        return
    if len(delimiter) != 1 or delimiter in '"\r\n\x00':
        raise ParameterError.of("delimiter", "be one character", delimiter)
    if not delimiter.isascii():
        hint = "replace it in the file, for instance by a tab."
        raise ParameterError.of("delimiter", "be an ASCII character", delimiter, hint)


def _check_encoding(encoding: str | None) -> None:
    if encoding is None:
        return
    try:
        codecs.getincrementaldecoder(encoding)
        "".encode(encoding)
        if codecs.lookup(encoding).name in ("idna", "punycode"):
            raise ValueError("it is for names of computers")
    except (LookupError, ValueError):
        hint = "for instance utf-8, latin-1, cp1252 or utf-16."
        raise ParameterError.of("encoding", "be one that Python knows", encoding, hint) from None


def _check_zone(zone: str | None) -> None:
    if zone is not None and zone_named(zone) is None:
        raise ParameterError.of(
            "zone", "be the name of a time zone", zone, "for instance UTC, Europe/Vienna or +02:00."
        )


def _check_format(style: str | None) -> None:
    if style is None or style in (*STYLES, *EPOCHS, DAYS):
        return
    signs = re.findall(r"%(.?)", style)
    day = {"d", "j"} & {*signs} and {"y", "Y"} & {*signs}
    unknown = [sign for sign in signs if sign not in SIGNS]
    if unknown or not (day or {"H", "I"} & {*signs}):
        hint = f"or one of {', '.join(map(repr, (*STYLES[:-1], *EPOCHS, DAYS)))}."
        constraint = "be a format such as '%d.%m.%Y %H:%M'"
        raise ParameterError.of("time_format", constraint, style, hint)


def check_names(names: Sequence[str], hint: str | None = None) -> None:
    """Refuse names that are empty or occur twice."""
    for position, name in enumerate(names):
        if not name.strip():
            raise TableError(
                f"Column names must not be empty, got none for column {position + 1} of {len(names)}.",
                hint
                or "give it a name or remove it; pandas writes its index unless to_csv has index=False.",
            )
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        places = [str(i) for i, name in enumerate(names, 1) if name == twice[0]]
        if len(places) > 5:
            places[5:] = [f"{len(places) - 5:,} more"]
        also = f", and more than one {shorten(twice[1:])}" if twice[1:] else ""
        raise TableError(
            f"Column names must be distinct, got {twice[0]!r} for columns "
            f"{', '.join(places[:-1])} and {places[-1]}{also}.",
            hint or "rename or drop one of them.",
            see=("header",),
        )


def renamed(names: Sequence[str], layout: Layout) -> list[str]:
    """Return the names that columns are to have.

    >>> renamed(["FIT-201", "P101"], Layout(renames=(("FIT-201", "FIT201"),)))
    ['FIT201', 'P101']
    """
    wanted = dict(layout.renames)
    return [name if name not in wanted or wanted[name] in names else wanted[name] for name in names]


def check_renames(names: Sequence[str], layout: Layout, already: Collection[str]) -> None:
    """Refuse to rename what is not there, but for columns that may have the new name already."""
    for old, new in layout.renames:
        if old in names:
            continue
        if new not in names:
            hint = did_you_mean(old, names)
            raise ParameterError.of("rename", "name columns of the table", old, hint)
        if new not in already:
            hint = f"the table has {new!r}: write {new}={old}."
            raise ParameterError.of("rename", "be OLD=NEW", f"{old}={new}", hint)
