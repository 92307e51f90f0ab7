"""Ways to write times: distinct texts go in, instants come out, all at once.

A *style* is a family of notations that one column uses with small differences (with and without
seconds, fractions, AM and PM, a zone). Texts are taken apart by one regular expression for each style,
in Arrow, and put together in NumPy: a million different times take about a second. A text
that is not a time in a style has no instant; that is not an error here.

Nearly every logger writes all times with the same number of digits. Then no pattern has to be matched:
`read_fixed` reads the texts as a matrix of characters, with digits where they are in the first text. It
says exactly what the patterns say, or nothing.
"""

import re

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from truism.table.cells.shapes import shapes_of

NAIVE = np.iinfo(np.int32).min  # the offset of a time without a zone
DAY_US = 86_400_000_000
MIN_ALIKE = (
    8  # texts of a shape, on average: taking a shape apart costs more than taking a text apart
)

FIXED = {"year first": (0, 5, 8), "day first": (6, 3, 0), "month first": (6, 0, 3)}
"""Where the four digits of the year, and the two of month and day begin."""
_LENGTHS = (10, 16, 19)  # a date, with hours and minutes, with seconds
_CLOCK_AT = {11: 24, 14: 60, 17: 60}
"""Where hours, minutes and seconds begin, and what they stay below."""
_DATE_SIGNS, _BEFORE_CLOCK = b"-/.", b" T"

_CLOCK = (
    r"(?P<H>\d{1,2})(?:[:.hH](?P<M>\d{2})(?:[:.m](?P<S>\d{2})(?:[.,:](?P<f>\d{1,9}))?s?)?)?"
    r"(?: ?(?P<p>[AaPp]\.?[Mm]\.?))?"
)
_ZONE = r"(?: ?(?P<z>[Zz]|[A-Z]{3,4}|(?:UTC|GMT)?[+\-−]\d{2}:?\d{2}|(?:UTC|GMT)?[+\-−]\d{1,2}))?"
_AFTER = rf"(?:(?:[T_]|,? +|[:\-]){_CLOCK}{_ZONE})?"
_YEAR = r"(?P<y>\d{4}|\d{2})"
_WEEKDAY = r"(?:\p{L}{2,9}\.?,? +)?"
_MONTH = r"(?P<month>\p{L}{3,9})\.?"
_PATTERNS = {
    "year first": (rf"(?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}}){_AFTER}",),
    "day first": (rf"{_WEEKDAY}(?P<d>\d{{1,2}})[-/.](?P<m>\d{{1,2}})[-/.]{_YEAR}{_AFTER}",),
    "month first": (rf"{_WEEKDAY}(?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})[-/.]{_YEAR}{_AFTER}",),
    "month name": (
        rf"{_WEEKDAY}(?P<d>\d{{1,2}})(?:[-/ ]|\. ?){_MONTH}[-/, ]+{_YEAR}{_AFTER}",
        rf"{_WEEKDAY}{_MONTH} +(?P<d>\d{{1,2}}),? +(?P<y>\d{{4}}){_AFTER}",
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
    "Z": 0,
    "UTC": 0,
    "GMT": 0,
    "WET": 0,
    "WEST": 60,
    "BST": 60,
    "CET": 60,
    "MEZ": 60,
    "CEST": 120,
    "MESZ": 120,
    "EET": 120,
    "EEST": 180,
    "MSK": 180,
    "IST": 330,
    "JST": 540,
    "EST": -300,
    "EDT": -240,
    "CST": -360,
    "CDT": -300,
    "MST": -420,
    "MDT": -360,
    "PST": -480,
    "PDT": -420,
    "AEST": 600,
    "AEDT": 660,
    "SGT": 480,
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
    """Texts read as times.

    Parameters
    ----------
    times
        datetime64[us], NaT where a text is no time; in UTC where it came with an offset. Times
        of day are times on 1 January 1970.
    offsets
        Minutes from UTC; `NAIVE` where no zone was named.

    """

    times: NDArray[np.datetime64]
    offsets: NDArray[np.int32]

    @property
    def known(self) -> NDArray[np.bool_]:
        """True where a text is a time."""
        return ~np.isnat(self.times)


def read_instants(texts: pa.Array, style: str) -> Instants:
    """Read texts as times written in one style.

    Parameters
    ----------
    texts
        Distinct texts.
    style
        One of `truism.table.layouts.STYLES`, or a format with the directives of strptime.

    Examples
    --------
    >>> read_instants(pa.array(["01.03.2014 07:30", "rubbish"]), "day first").times.astype(str).tolist()
    ['2014-03-01T07:30:00.000000', 'NaT']

    """
    texts = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    if style in FIXED:
        times = read_fixed(texts, style)
        if times is not None:
            return Instants(times, np.full(len(texts), NAIVE, np.int32))
    return read_by_pattern(texts, style)


def read_by_pattern(texts: pa.Array, style: str) -> Instants:
    """Return what trimmed texts say in a style, taken apart by patterns."""
    # The digits of a format of one's own need not all belong to the time: 20%y.
    shapes = shapes_of(texts) if style in _PATTERNS else None
    if shapes is None or len(shapes.texts) * MIN_ALIKE > len(texts):
        return read_one_by_one(texts, style)
    places = shapes.digits()
    times = np.full(len(texts), "NaT", "datetime64[us]")
    offsets = np.full(len(texts), NAIVE, np.int32)
    for pattern in _PATTERNS[style]:
        parts = pc.extract_regex(shapes.texts, f"^(?:{pattern})$")
        for i in np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False)).tolist():
            rows, digits = places[i]
            found = _Parts.of(parts.slice(i, 1)).filled(shapes.content[digits] - ord("0"))
            instants = found.instants(style == "clock")
            new = np.isnat(times[rows])
            times[rows[new]], offsets[rows[new]] = instants.times[new], instants.offsets[new]
    return Instants(times, offsets)


def read_one_by_one(texts: pa.Array, style: str) -> Instants:
    """Return what trimmed texts say in a style, each taken apart by itself."""
    times = np.full(len(texts), "NaT", "datetime64[us]")
    offsets = np.full(len(texts), NAIVE, np.int32)
    for pattern in _PATTERNS.get(style) or (_pattern_of(style),):
        parts = pc.extract_regex(texts, f"^(?:{pattern})$")
        rows = np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False) & np.isnat(times))
        if len(rows):
            found = _Parts.of(parts.take(pa.array(rows))).instants(style == "clock")
            times[rows], offsets[rows] = found.times, found.offsets
    return Instants(times, offsets)


def may_read(texts: pa.Array, style: str, part: float = 0.5) -> bool:
    """Return whether a good part of some texts are times in a style."""
    return bool(len(texts)) and float(read_instants(texts, style).known.mean()) >= part


def _pattern_of(style: str) -> str:
    """Translate a strptime format."""
    pieces = re.split(r"(%.)", style)
    return "".join(
        _SIGNS[piece[1]] if piece.startswith("%") and len(piece) == 2 else _escaped(piece)
        for piece in pieces
    )


def _escaped(text: str) -> str:
    return re.sub(r"\\? +", " +", re.escape(text))


Whole = NDArray[np.int64]
_DEFAULTS = {"y": 1970, "m": 1, "d": 1, "j": -1, "H": 0, "M": 0, "S": 0, "f": 0}


class _Parts(msgspec.Struct, frozen=True, eq=False):
    """The parts of times, one of each for every time.

    Parameters
    ----------
    numbers
        Year, month, day, day of the year, hour, minute, second and nanosecond, by their directives;
        what is not written is what `_DEFAULTS` says.
    written
        Of how many digits each group of the pattern consists, by name, in the order of the text.
    late, early
        Where PM and AM are written.
    offsets
        Minutes from UTC, `NAIVE` where no zone is named.
    zone_known
        Where the zone is one that is known, or none is named.

    """

    numbers: dict[str, Whole]
    written: dict[str, Whole]
    late: NDArray[np.bool_]
    early: NDArray[np.bool_]
    offsets: NDArray[np.int32]
    zone_known: NDArray[np.bool_]

    @classmethod
    def of(cls, parts: pa.StructArray) -> "_Parts":
        """Take the groups of a pattern."""
        field = {each.name: parts.field(each.name) for each in parts.type}
        nothing = pa.array([""] * len(parts), pa.string())
        numbers = {
            name: _numbers(field.get(name, nothing), default) for name, default in _DEFAULTS.items()
        }
        short = np.asarray(pc.equal(pc.utf8_length(field.get("y", nothing)), 2))
        numbers["y"] = _centuries(numbers["y"], short)
        numbers["f"] = _numbers(pc.utf8_rpad(field.get("f", nothing), 9, "0"), 0)
        if "month" in field:
            named = _named_months(field["month"])
            numbers["m"] = np.where(named == 0, numbers["m"], named) if "m" in field else named
        half = pc.utf8_lower(pc.utf8_slice_codeunits(field.get("p", nothing), 0, 1))
        late, early = (np.asarray(pc.equal(half, sign)) for sign in ("p", "a"))
        offsets, known = _offsets(field.get("z", nothing))
        written = {name: _count_digits(texts) for name, texts in field.items()}
        return cls(numbers, written, late, early, offsets, known)

    def filled(self, digits: NDArray[np.uint8]) -> "_Parts":
        """Return the parts of many times that are written as the only one here: times × digits."""
        n = len(digits)
        numbers = {name: np.repeat(values, n) for name, values in self.numbers.items()}
        offsets, at = np.repeat(self.offsets, n), 0
        for name, lengths in self.written.items():
            length = int(lengths[0])
            if not length:
                continue
            tens = 10 ** np.arange(length - 1, -1, -1, dtype=np.int64)
            found = digits[:, at : at + length].astype(np.int64) @ tens
            at += length
            if name == "z":
                minutes = found * 60 if length <= 2 else found // 100 * 60 + found % 100
                offsets = np.where(self.offsets[0] < 0, -minutes, minutes).astype(np.int32)
            elif name == "y" and length == 2:
                numbers[name] = _centuries(found, np.ones(n, bool))
            else:
                numbers[name] = found * 10 ** (9 - length) if name == "f" else found
        flags = (np.repeat(each, n) for each in (self.late, self.early))
        late, early = flags
        return _Parts(numbers, {}, late, early, offsets, np.repeat(self.zone_known, n))

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


def _centuries(years: Whole, short: NDArray[np.bool_]) -> Whole:
    return np.where(short, years + np.where(years < 69, 2000, 1900), years)


def _count_digits(texts: pa.Array) -> Whole:
    return np.asarray(pc.count_substring_regex(texts, r"\d")).astype(np.int64)


def _named_months(texts: pa.Array) -> Whole:
    coded = texts.dictionary_encode()
    numbers = [_MONTHS.get(text.casefold(), 0) for text in coded.dictionary.to_pylist()]
    return np.asarray(np.array([*numbers, 0], np.int64)[np.asarray(coded.indices)])


def _offsets(texts: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return minutes from UTC, and where the zone is known."""
    coded = texts.dictionary_encode()
    found = [_offset(text) for text in coded.dictionary.to_pylist()]
    codes = np.asarray(coded.indices)
    offsets = np.array([NAIVE if each is None else each for each in found], np.int32)
    known = np.array([each is not None for each in found])
    return offsets[codes], known[codes]


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


def read_fixed(texts: pa.Array, style: str) -> NDArray[np.datetime64] | None:
    """Return texts as times, NaT for days that do not exist; None where texts differ in their form.

    >>> read_fixed(pa.array(["01.03.2014 07:30", "31.02.2014 07:30"]), "day first").astype(str).tolist()
    ['2014-03-01T07:30:00.000000', 'NaT']
    """
    signs = _matrix(texts)
    if signs is None:
        return None
    length = signs.shape[1]
    year, month, day = FIXED[style]
    clock = {at: below for at, below in _CLOCK_AT.items() if at < length}
    where = [*range(year, year + 4), month, month + 1, day, day + 1]
    where += [place for at in clock for place in (at, at + 1)]
    others = [place for place in range(length) if place not in where]
    if not (signs[:, others] == signs[0, others]).all() or not _divides(signs[0], others):
        return None
    digits = signs[:, where].astype(np.int64) - ord("0")
    if ((digits < 0) | (digits > 9)).any():
        return None
    pairs = digits[:, ::2] * 10 + digits[:, 1::2]
    if any((pairs[:, 4 + i] >= below).any() for i, below in enumerate(clock.values())):
        return None
    return _assembled(pairs)


def _matrix(texts: pa.Array) -> NDArray[np.uint8] | None:
    """Return texts of equal length as rows of bytes."""
    if not len(texts) or texts.null_count:
        return None
    _, offsets, content = texts.buffers()
    starts = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    length = int(starts[1] - starts[0])
    if length not in _LENGTHS or (np.diff(starts) != length).any():
        return None
    found = np.frombuffer(content, np.uint8)[starts[0] : starts[-1]].reshape(len(texts), length)
    return found if found.max() < 128 else None


def _divides(first: NDArray[np.uint8], others: list[int]) -> bool:
    """Return whether signs stand where they divide a date and a time."""
    return all(
        first[place] in (_DATE_SIGNS if place < 10 else _BEFORE_CLOCK if place == 10 else b":")
        for place in others
    )


def _assembled(pairs: NDArray[np.int64]) -> NDArray[np.datetime64]:
    years, months, days = pairs[:, 0] * 100 + pairs[:, 1], pairs[:, 2], pairs[:, 3]
    first = ((years - 1970) * 12 + months - 1).astype("datetime64[M]")
    dates = first.astype("datetime64[D]") + (days - 1)
    times = dates.astype("datetime64[us]")
    for i, seconds in enumerate((3600, 60, 1)[: pairs.shape[1] - 4]):
        times += pairs[:, 4 + i] * np.timedelta64(seconds, "s")
    exists = (months >= 1) & (months <= 12) & (days >= 1) & (dates.astype("datetime64[M]") == first)
    times[~(exists & (years >= 1))] = "NaT"
    return times
