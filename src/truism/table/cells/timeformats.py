"""Ways to write times: distinct texts go in, instants come out, all at once.

A *style* is a family of notations that one column uses with small differences (with and without
seconds, fractions, AM and PM, a zone). Texts are taken apart by one regular expression for each style,
in Arrow, and put together in NumPy: a million different times take about a second. A text
that is not a time in a style has no instant; that is not an error here.
"""

import re
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from truism.table.cells.fixedtimes import FIXED, read_fixed

NAIVE = np.iinfo(np.int32).min  # the offset of a time without a zone
DAY_US = 86_400_000_000

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
    """Return what trimmed texts say in a style, taken apart one by one."""
    times = np.full(len(texts), "NaT", "datetime64[us]")
    offsets = np.full(len(texts), NAIVE, np.int32)
    for pattern in _PATTERNS.get(style) or (_pattern_of(style),):
        parts = pc.extract_regex(texts, f"^(?:{pattern})$")
        rows = np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False) & np.isnat(times))
        if len(rows):
            times[rows], offsets[rows] = _assembled(parts.take(pa.array(rows)), style == "clock")
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


def _assembled(
    parts: pa.StructArray, clock: bool
) -> tuple[NDArray[np.datetime64], NDArray[np.int32]]:
    """Put the parts of times together; what is no date has no time."""
    names = {parts.type.field(i).name for i in range(parts.type.num_fields)}
    n = len(parts)

    def number(name: str, default: int) -> NDArray[np.int64]:
        if name not in names:
            return np.full(n, default, np.int64)
        texts = parts.field(name)
        filled = pc.if_else(pc.equal(texts, ""), str(default), texts)
        return np.asarray(filled.cast(pa.int64()))

    days, fine = (np.zeros(n, np.int64), np.ones(n, bool)) if clock else _days(parts, names, number)
    hours, minutes, seconds = number("H", 0), number("M", 0), number("S", 0)
    if "p" in names:
        half = pc.utf8_lower(pc.utf8_slice_codeunits(parts.field("p"), 0, 1))
        late, early = (np.asarray(pc.equal(half, sign)) for sign in ("p", "a"))
        hours = np.where((late | early) & (hours == 12), 0, hours)
        hours = np.where(late & (hours < 12), hours + 12, hours)
    fine &= (minutes < 60) & (seconds <= 60)
    fine &= (hours < 24) | ((hours == 24) & (minutes == 0) & (seconds == 0) & (not clock))
    micros = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + _fraction(parts, names)
    offsets, known = _offsets(parts, names)
    shift = np.where(offsets == NAIVE, 0, offsets).astype(np.int64) * 60_000_000
    total = days * DAY_US + micros - (0 if clock else shift)
    times = total.astype("datetime64[us]")
    times[~(fine & known)] = "NaT"
    return times, offsets


def _days(
    parts: pa.StructArray, names: set[str], number: Any
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return days since 1970 and where they exist."""
    years = number("y", 1970)
    short = np.asarray(pc.equal(pc.utf8_length(parts.field("y")), 2)) if "y" in names else False
    years = np.where(short, years + np.where(years < 69, 2000, 1900), years)
    months = number("m", 1) if "month" not in names else _named_months(parts.field("month"))
    if "month" in names and "m" in names:
        months = np.where(months == 0, number("m", 1), months)
    inside = number("d", 1)
    fine = (months >= 1) & (months <= 12) & (inside >= 1) & (years >= 1)
    if "j" in names:
        inside = number("j", 1)
    base = (years - 1970).astype("datetime64[Y]").astype("datetime64[M]")
    month = base + np.where(fine, months - 1, 0)
    day = month.astype("datetime64[D]") + (inside - 1)
    if "j" not in names:
        fine &= day.astype("datetime64[M]") == month  # there is no 31 April
    return day.astype(np.int64), fine


def _named_months(texts: pa.Array) -> NDArray[np.int64]:
    coded = texts.dictionary_encode()
    numbers = [_MONTHS.get(text.casefold(), 0) for text in coded.dictionary.to_pylist()]
    return np.asarray(np.array([*numbers, 0], np.int64)[np.asarray(coded.indices)])


def _fraction(parts: pa.StructArray, names: set[str]) -> NDArray[np.int64] | int:
    if "f" not in names:
        return 0
    padded = pc.utf8_rpad(parts.field("f"), 9, "0")
    return np.asarray(np.asarray(padded.cast(pa.int64())) // 1000)


def _offsets(parts: pa.StructArray, names: set[str]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return minutes from UTC, and where the zone is known."""
    if "z" not in names:
        return np.full(len(parts), NAIVE, np.int32), np.ones(len(parts), bool)
    coded = parts.field("z").dictionary_encode()
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
