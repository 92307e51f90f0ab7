"""Columns of times: texts, numbers since an epoch, and two columns that together give the time.

How the times of a column are written is decided from the whole column. Often only one row in a thousand
shows whether the day or the month comes first. If none does, the order of the rows decides, because
times that are read the wrong way round jump by months.

A *style* is a family of notations that one column uses with small differences (with and without
seconds, fractions, AM and PM, a zone). Texts are taken apart by one regular expression for each style,
in Arrow, and put together in NumPy: a million different times take about a second. A text
that is not a time in a style has no instant; that is not an error here.
"""

import datetime
import re

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from truism.table.columns import Column, Texts
from truism.table.layouts import DAYS, EPOCHS
from truism.table.words import is_status, says_time, words_in

NAIVE = np.iinfo(np.int32).min  # the offset of a time without a zone
DAY_US = 86_400_000_000
_CLOCK = (
    r"(?P<H>\d{1,2})(?:[:.hH](?P<M>\d{2})(?:[:.m](?P<S>\d{2})(?:[.,:](?P<f>\d{1,9}))?s?)?)?"
    r"(?: ?(?P<p>[AaPp]\.?[Mm]\.?))?"
)
_ZONE = r"(?: ?(?P<z>[Zz]|[A-Z]{3,4}|(?:UTC|GMT)?[+\-−]\d{2}:?\d{2}|(?:UTC|GMT)?[+\-−]\d{1,2}))?"
_AFTER = rf"(?:(?:[T_]|,? +|[:\-]){_CLOCK}{_ZONE})?"
_YEAR = r"(?P<y>\d{4}|\d{2})"
_WEEKDAY = r"\p{L}{2,9}\.?,? +"
_MONTH = r"(?P<month>\p{L}{3,9})\.?"
_PATTERNS = {
    "year first": (rf"(?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}}){_AFTER}",),
    # Apart, because classes of letters make a pattern slow even where no text has any.
    "day first": tuple(
        rf"{before}(?P<d>\d{{1,2}})[-/.](?P<m>\d{{1,2}})[-/.]{_YEAR}{_AFTER}"
        for before in ("", _WEEKDAY)
    ),
    "month first": tuple(
        rf"{before}(?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})[-/.]{_YEAR}{_AFTER}"
        for before in ("", _WEEKDAY)
    ),
    "month name": (
        rf"(?:{_WEEKDAY})?(?P<d>\d{{1,2}})(?:[-/ ]|\. ?){_MONTH}[-/, ]+{_YEAR}{_AFTER}",
        rf"(?:{_WEEKDAY})?{_MONTH} +(?P<d>\d{{1,2}}),? +(?P<y>\d{{4}}){_AFTER}",
        rf"(?P<y>\d{{4}})[-/ ]{_MONTH}[-/ ](?P<d>\d{{1,2}}){_AFTER}",
    ),
    "digits": (
        r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})"
        r"(?:[T_ \-]?(?P<H>\d{2})(?::?(?P<M>\d{2})(?::?(?P<S>\d{2})(?:[.,](?P<f>\d{1,9}))?)?)?)?"
        + _ZONE,
    ),
    "clock": (rf"{_CLOCK}{_ZONE}",),
}
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar jän jänner janv janvier ene enero",
            "feb february februar feber févr février febrero",
            "mar march mär märz mrz mars marzo",
            "apr april avr avril abr abril",
            "may mai mayo",
            "jun june juni juin junio",
            "jul july juli juil juillet julio",
            "aug august août ago agosto",
            "sep sept september septembre septiembre",
            "oct october okt oktober octobre octubre",
            "nov november novembre noviembre",
            "dec december dez dezember déc décembre dic diciembre",
        ),
        1,
    )
    for name in names.split()
}
_OFFSETS = {
    name: minutes
    for minutes, names in (
        (0, "Z UTC GMT WET"),
        (60, "WEST BST CET MEZ"),
        (120, "CEST MESZ EET"),
        (180, "EEST MSK"),
        (330, "IST"),
        (480, "SGT"),
        (540, "JST"),
        (600, "AEST"),
        (660, "AEDT"),
        (-240, "EDT"),
        (-300, "EST CDT"),
        (-360, "CST MDT"),
        (-420, "MST PDT"),
        (-480, "PST"),
    )
    for name in names.split()
}
_SIGNS = {
    "Y": r"(?P<y>\d{4})",
    "y": r"(?P<y>\d{2})",
    "m": r"(?P<m>\d{1,2})",
    "d": r"(?P<d>\d{1,2})",
    "H": r"(?P<H>\d{1,2})",
    "I": r"(?P<H>\d{1,2})",
    "M": r"(?P<M>\d{1,2})",
    "S": r"(?P<S>\d{1,2})",
    "f": r"(?P<f>\d{1,9})",
    "p": r"(?P<p>[AaPp]\.?[Mm]\.?)",
    "b": r"(?P<month>\p{L}{3,9})\.?",
    "B": r"(?P<month>\p{L}{3,9})",
    "%": "%",
    "z": r"(?P<z>[Zz]|[+\-]\d{2}:?\d{2})",
    "Z": r"(?P<z>[A-Z]{1,4})",
    "a": r"\p{L}{2,9}\.?",
    "A": r"\p{L}{2,9}",
    "j": r"(?P<j>\d{1,3})",
}


class Instants(msgspec.Struct, frozen=True, eq=False):
    """Texts read as times."""

    # datetime64[us], NaT where a text is no time; in UTC where it came with an offset. Times of day
    # are times on 1 January 1970.
    times: NDArray[np.datetime64]
    offsets: NDArray[np.int32]  # minutes from UTC; `NAIVE` where no zone was named

    @property
    def valid(self) -> NDArray[np.bool_]:
        """True where a text is a time."""
        return ~np.isnat(self.times)


def read_instants(texts: pa.Array, style: str) -> Instants:
    """Read texts as times written in one of `STYLES`, or a format with the directives of strptime.

    >>> read_instants(pa.array(["01.03.2014 07:30", "rubbish"]), "day first").times.astype(str).tolist()
    ['2014-03-01T07:30:00.000000', 'NaT']
    """
    texts = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    times = np.full(len(texts), "NaT", "datetime64[us]")
    offsets = np.full(len(texts), NAIVE, np.int32)
    for pattern in _PATTERNS.get(style) or (_pattern_of(style),):
        rows = np.flatnonzero(np.isnat(times))
        parts = pc.extract_regex(texts.take(pa.array(rows)), f"^(?:{pattern})$")
        rows = rows[parts.is_valid().to_numpy(zero_copy_only=False)]
        if len(rows):
            instants = _Parts.of(parts.drop_null()).instants(style == "clock")
            times[rows], offsets[rows] = instants.times, instants.offsets
    return Instants(times, offsets)


def may_read(texts: pa.Array, style: str, part: float = 0.5) -> bool:
    """Return whether a good part of some texts are times in a style."""
    return bool(len(texts)) and float(read_instants(texts, style).valid.mean()) >= part


def _pattern_of(style: str) -> str:
    """Translate a strptime format."""
    return "".join(
        _SIGNS[piece[1]]
        if piece.startswith("%") and len(piece) == 2
        else re.sub(r"\\? +", " +", re.escape(piece))
        for piece in re.split(r"(%.)", style)
    )


Whole = NDArray[np.int64]
_DEFAULTS = {"y": 1970, "m": 1, "d": 1, "j": -1, "H": 0, "M": 0, "S": 0, "f": 0}


class _Parts(msgspec.Struct, frozen=True, eq=False):
    """The parts of times, one of each for every time."""

    # year, month, day, day of the year, hour, minute, second and nanosecond, by their directives;
    # what is not written is what `_DEFAULTS` says
    numbers: dict[str, Whole]
    # where PM and AM are written
    late: NDArray[np.bool_]
    early: NDArray[np.bool_]
    offsets: NDArray[np.int32]  # minutes from UTC, `NAIVE` where no zone is named
    zone_known: NDArray[np.bool_]  # where the zone is one that is known, or none is named

    @classmethod
    def of(cls, parts: pa.StructArray) -> "_Parts":
        """Take the groups of a pattern."""
        field = {group.name: parts.field(group.name) for group in parts.type}
        nothing = pa.array([""] * len(parts), pa.string())
        numbers = {
            name: _numbers(field.get(name, nothing), default) for name, default in _DEFAULTS.items()
        }
        short, years = (
            np.asarray(pc.equal(pc.utf8_length(field.get("y", nothing)), 2)),
            numbers["y"],
        )
        numbers["y"] = np.where(short, years + np.where(years < 69, 2000, 1900), years)
        numbers["f"] = _numbers(pc.utf8_rpad(field.get("f", nothing), 9, "0"), 0)
        if "month" in field:
            coded = field["month"].dictionary_encode()
            months = [_MONTHS.get(text.casefold(), 0) for text in coded.dictionary.to_pylist()]
            named = np.array([*months, 0], np.int64)[np.asarray(coded.indices)]
            numbers["m"] = np.where(named == 0, numbers["m"], named) if "m" in field else named
        half = pc.utf8_lower(pc.utf8_slice_codeunits(field.get("p", nothing), 0, 1))
        late, early = (np.asarray(pc.equal(half, sign)) for sign in ("p", "a"))
        offsets, valid = _offsets(field.get("z", nothing))
        return cls(numbers, late, early, offsets, valid)

    def instants(self, clock: bool) -> Instants:
        """Put the parts together; what is no date has no time."""
        n = len(self.offsets)
        days, fine = (np.zeros(n, np.int64), np.ones(n, bool)) if clock else self._days()
        hours, minutes, seconds = (self.numbers[name] for name in "HMS")
        hours = np.where((self.late | self.early) & (hours == 12), 0, hours)
        hours = np.where(self.late & (hours < 12), hours + 12, hours)
        fine &= (minutes < 60) & (seconds <= 60)
        fine &= (hours < 24) | ((hours == 24) & (minutes == 0) & (seconds == 0) & (not clock))
        micros = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + self.numbers["f"] // 1000
        shift = np.where(self.offsets == NAIVE, 0, self.offsets).astype(np.int64) * 60_000_000
        total = days * DAY_US + micros - (0 if clock else shift)
        times = total.astype("datetime64[us]")
        times[~(fine & self.zone_known)] = "NaT"
        return Instants(times, self.offsets)

    def _days(self) -> tuple[Whole, NDArray[np.bool_]]:
        """Return days since 1970 and where they exist."""
        years, months, inside = (self.numbers[name] for name in "ymd")
        by_year = self.numbers["j"] >= 0
        fine = (months >= 1) & (months <= 12) & (inside >= 1) & (years >= 1)
        base = (years - 1970).astype("datetime64[Y]").astype("datetime64[M]")
        month = base + np.where(fine, months - 1, 0)
        inside = np.where(by_year, self.numbers["j"], inside)
        fine &= inside >= 1
        day = month.astype("datetime64[D]") + (inside - 1)
        fine &= by_year | (day.astype("datetime64[M]") == month)  # there is no 31 April
        return day.astype(np.int64), fine


def _numbers(texts: pa.Array, default: int) -> Whole:
    filled = pc.if_else(pc.equal(texts, ""), str(default), texts)
    return np.asarray(filled.cast(pa.int64()))


def _offsets(texts: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return minutes from UTC, and where the zone is known."""
    coded = texts.dictionary_encode()
    minutes = [_offset(text) for text in coded.dictionary.to_pylist()]
    codes = np.asarray(coded.indices)
    offsets = np.array([NAIVE if offset is None else offset for offset in minutes], np.int32)
    valid = np.array([offset is not None for offset in minutes])
    return offsets[codes], valid[codes]


def _offset(text: str) -> int | None:
    if not text:
        return int(NAIVE)
    if text.upper() in _OFFSETS:
        return _OFFSETS[text.upper()]
    match = re.fullmatch(r"(?:UTC|GMT)?([+\-−])(\d{1,2}):?(\d{2})?", text)
    if match is None:
        return None
    minutes = int(match[2]) * 60 + int(match[3] or 0)
    return minutes if match[1] == "+" else -minutes


_SAMPLE = 64
_EARLIEST, _LATEST = 315_532_800, 4_102_444_800  # 1980 and 2100, in seconds
_EXCEL_EPOCH = 25_569  # days from Excel's 30 December 1899 to 1970
_DATE_WORDS = {
    *("date", "datetime", "timestamp", "datum", "fecha", "dato"),
    "zeitstempel",
    "zeitpunkt",
}
_NUMERAL = re.compile(r"[<>(+\-−]?\s*\d+(?:[.,]\d*)?(?:[eE][+\-]?\d+)?\s*[%)]?")
_RISING = 0.99  # part of the steps that do not go back


class Timing(msgspec.Struct, frozen=True, eq=False):
    """A column's distinct texts as times."""

    instants: Instants  # one for each distinct text
    style: str  # how they are written
    undecided: bool = False  # whether day and month could as well be the other way round


Moment = datetime.datetime | datetime.time | bool | int | float | str
"""What a time column says of a row: a time, or whatever else stands there."""


def dated(column: Column) -> Column:
    """Read a column of texts that are all times as times; any other column stays as it is.

    >>> from truism.table.frames import as_table
    >>> dated(as_table({"when": ["31.01.2026 07:00", "31.01.2026 07:01"]}).columns[0]).kind
    'time'
    """
    if column.kind != "text":
        return column
    texts = Texts.of(column)
    timing = find_times(texts)
    if timing is None or timing.style == "clock" or not timing.instants.valid.all():
        return column
    return column_of_times(texts, timing)


def find_times(texts: Texts, style: str | None = None) -> Timing | None:
    """Read texts as times; None when most are no times in any style."""
    if not len(texts.distinct):
        return None
    if style is not None:
        return Timing(read_instants(texts.distinct, style), style)
    opening = texts.distinct[: 2 * _SAMPLE].to_pylist()
    first = [text for text in opening if not is_status(text)][:_SAMPLE]
    if not any(any(letter.isdigit() for letter in text) for text in first[:8]):
        return None
    named = says_time(texts.name)
    if not named and all(_NUMERAL.fullmatch(text) for text in first):
        return None
    sample = pa.array(first)
    for candidate in ("year first", "month name", "digits", "clock"):
        if candidate == "digits" and not named and all(map(str.isdigit, first)):
            continue
        if candidate == "clock" and not any(":" in text for text in first):
            continue
        if may_read(sample, candidate):
            return Timing(read_instants(texts.distinct, candidate), candidate)
    if may_read(sample, "day first") or may_read(sample, "month first"):
        return _day_or_month(texts)
    return None


def _day_or_month(texts: Texts) -> Timing:
    """Decide which comes first, from all texts and then from the order of the rows."""
    days = read_instants(texts.distinct, "day first")
    if days.valid.all() and "." in str(texts.distinct[0])[:3]:
        return Timing(days, "day first")
    months = read_instants(texts.distinct, "month first")
    n_days, n_months = int(days.valid.sum()), int(months.valid.sum())
    if n_days != n_months:
        style = "day first" if n_days > n_months else "month first"
        return Timing(days if n_days > n_months else months, style)
    if "." in texts.example(days.valid)[:3]:
        return Timing(days, "day first")
    jump_of_days, jump_of_months = (
        _jumpiness(column_of_times(texts, Timing(instants, ""))) for instants in (days, months)
    )
    if min(jump_of_days, jump_of_months) * 2 < max(jump_of_days, jump_of_months):
        first = jump_of_days < jump_of_months
        return Timing(days if first else months, "day first" if first else "month first")
    american = bool(pc.any(pc.match_substring_regex(texts.distinct, "(?i)[ap]m$")).as_py())
    if (days.times == months.times).all():  # 05/05/2014 is the same either way
        return Timing(days, "month first" if american else "day first")
    if american:
        return Timing(months, "month first", undecided=True)
    return Timing(days, "day first", undecided=True)


def _jumpiness(column: Column) -> float:
    """Return how much larger the largest step is than the usual one; going back is worst."""
    steps = np.diff(column.present.astype(np.int64))
    ahead = steps[steps > 0]
    if not len(ahead):
        return 1.0
    worst = float(ahead.max() / np.median(ahead))
    return worst * (1.0 if np.mean(steps >= 0) >= _RISING else 1000.0)


def column_of_times(texts: Texts, timing: Timing) -> Column:
    """Return texts as times; other texts become missing values."""
    instants, name = timing.instants, texts.name
    values = texts.spread(instants.times, np.datetime64("NaT", "us"))
    if texts.column.missing is not None:
        values[texts.column.missing] = "NaT"
    missing = np.isnat(values)
    hole = missing if missing.any() else None
    if timing.style == "clock":
        return Column(name, "time", np.where(missing, 0, values.astype(np.int64)), hole)
    named = instants.offsets[instants.valid & (instants.offsets != NAIVE)]
    if not len(named):
        return Column(name, "time", values, hole)
    zone = offset_name(int(named[0])) if (named == named[0]).all() else "UTC"
    return Column(name, "time", values, hole, zoned=True, zone=zone)


def zones_of(timing: Timing) -> tuple[str, ...]:
    """Return the zones that the times of a column name, ascending; ``no zone`` if some name none."""
    offsets = np.unique(timing.instants.offsets[timing.instants.valid])
    return tuple("no zone" if offset == NAIVE else offset_name(int(offset)) for offset in offsets)


def offset_name(minutes: int) -> str:
    """Return an offset from UTC as it is written.

    >>> offset_name(-210), offset_name(0)
    ('-03:30', 'UTC')
    """
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def find_epoch(column: Column) -> str | None:
    """Return how a column of numbers counts time: only where its name says time and its values fit.

    >>> from truism.table.frames import as_table
    >>> find_epoch(as_table({"timestamp": [1393632000, 1393632060]}).columns[0])
    'seconds'
    >>> find_epoch(as_table({"pressure": [1393632000, 1393632060]}).columns[0])
    """
    if column.kind != "number" or column.categorical or not says_time(column.name):
        return None
    values = column.present
    if not len(values) or not np.isfinite(values).all():
        return None
    low, high = float(values.min()), float(values.max())
    for style, micros in EPOCHS.items():
        scale = 1e6 / micros if micros else 1e9
        if _EARLIEST * scale <= low and high <= _LATEST * scale:
            return style
    if bool((values % 1 == 0).all()) and _are_digits(values):
        return "digits"
    day = 86_400
    if not (_EXCEL_EPOCH + _EARLIEST / day <= low and high <= _EXCEL_EPOCH + _LATEST / day):
        return None
    rising = len(values) < 2 or float(np.mean(np.diff(values) >= 0)) >= _RISING
    dates = not _DATE_WORDS.isdisjoint(words_in(column.name))
    return DAYS if rising and (dates or bool((values % 1 != 0).any())) else None


def _are_digits(values: NDArray[np.generic]) -> bool:
    """Return whether all whole numbers are dates such as 20140301 or 20140301073000."""
    low, high = int(values.min()), int(values.max())
    n_digits = len(str(high))
    if low < 0 or len(str(low)) != n_digits or n_digits not in (8, 10, 12, 14):
        return False
    year = 10 ** (n_digits - 4)
    if not (low // year >= 1980 and high // year < 2100):
        return False
    texts = pa.array(np.unique(values.astype(np.int64))).cast(pa.string())
    return bool(read_instants(texts, "digits").valid.all())


def column_of_epochs(column: Column, style: str) -> Column:
    """Return a column of numbers as times; those since an epoch are in UTC, a spreadsheet's are not."""
    missing = column.missing
    kept = column.values if missing is None else np.where(missing, 0, column.values)
    if style == "digits":
        distinct, places = np.unique(kept.astype(np.int64), return_inverse=True)
        times = read_instants(pa.array(distinct).cast(pa.string()), style).times[places]
    elif style == DAYS:
        micros = (kept.astype(np.float64) - _EXCEL_EPOCH) * DAY_US
        steps = np.diff(np.unique(micros))
        # Few digits of a day are written: a whole second is meant unless rows come faster.
        grain = 1e6 if not len(steps) or np.median(steps) >= 0.5e6 else 1e3
        times = (np.rint(micros / grain) * grain).astype(np.int64).astype("datetime64[us]")
    elif style == "nanoseconds":
        times = (kept.astype(np.int64) // 1000).astype("datetime64[us]")
    elif kept.dtype.kind in "iu":
        times = (kept.astype(np.int64) * EPOCHS[style]).astype("datetime64[us]")
    else:
        times = np.rint(kept * EPOCHS[style]).astype(np.int64).astype("datetime64[us]")
    if missing is not None:
        times = np.where(missing, np.datetime64("NaT", "us"), times)
    zoned = style in EPOCHS
    return Column(column.name, "time", times, missing, zoned=zoned, zone="UTC" if zoned else None)


def join_times(name: str, date: Column, clock: Column) -> Column | None:
    """Join a column of dates and one of times of day; None if the columns are not these two."""
    date = date if date.kind != "text" else dated(date)
    if not len(date.present) or not len(clock.present):
        never = np.full(len(date.values), "NaT", "datetime64[us]")
        return Column(name, "time", never, np.ones(len(never), np.bool_) if len(never) else None)
    micros = _clock_micros(clock)
    if date.kind != "time" or date.values.dtype.kind != "M" or micros is None:
        return None
    days = date.values.astype("datetime64[D]").astype("datetime64[us]")
    times = days + micros.astype("timedelta64[us]")
    missing = np.isnat(times)
    for part in (date, clock):
        if part.missing is not None:
            missing = missing | part.missing
    times[missing] = "NaT"
    hole = missing if missing.any() else None
    return Column(name, "time", times, hole, zoned=date.zoned, zone=date.zone)


def _clock_micros(clock: Column) -> NDArray[np.int64] | None:
    """Return microseconds since midnight: of a time of day, 07:30, 730, 73000 or 0.3125."""
    if clock.kind == "time" and clock.values.dtype.kind != "M":
        return clock.values.astype(np.int64)
    if clock.kind == "time":  # a spreadsheet keeps a time of day on the first day it knows
        whole = clock.values.astype("datetime64[us]")
        return np.asarray((whole - whole.astype("datetime64[D]")).astype(np.int64))
    if clock.kind == "text":
        texts = Texts.of(clock)
        timing = find_times(texts, "clock")
        if timing is None or not timing.instants.valid.all():
            return None
        return np.asarray(column_of_times(texts, timing).values)
    if clock.kind != "number" or not len(clock.present):
        return None
    values = clock.values if clock.missing is None else np.where(clock.missing, 0, clock.values)
    if float(values.min()) < 0:
        return None
    if float(values.max()) <= 1 and values.dtype.kind == "f":
        return np.asarray(np.rint(values * 86_400).astype(np.int64) * 1_000_000)
    if bool((values % 1 != 0).any()) or float(values.max()) > 240_000:
        return None
    digits = values.astype(np.int64)
    if int(digits.max()) <= 2400:
        digits = digits * 100
    hours, minutes, seconds = digits // 10_000, digits // 100 % 100, digits % 100
    if int(minutes.max()) > 59 or int(seconds.max()) > 59:
        return None
    return np.asarray(((hours * 60 + minutes) * 60 + seconds) * 1_000_000)
