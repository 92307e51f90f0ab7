"""Ways to write numbers: distinct texts go in, numbers come out, and what was done to read them.

A text that can be read only one way (``1.234,5``, ``0,5``, ``12,34``) is read by itself. One that is
ambiguous (``1,234``) is read like the others of its column, or else of its file, and is doubtful if
neither settles it.
"""

import re

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from truism.arrays import Mask

MAX_SHAPES = 2_000  # with more of them there is little to gain
_ZERO, _ONE = ord("0"), ord("1")

Bytes = NDArray[np.uint8]


class Shapes(msgspec.Struct, frozen=True, eq=False):
    """The shapes of texts.

    Parameters
    ----------
    texts
        One text for each shape, with 1 in place of every digit; zeros that a run of digits begins
        with stay where they matter.
    codes
        The shape of each text, by position.
    counts
        How many texts have each shape.
    content, starts
        The bytes of all texts, and where each begins.

    """

    texts: pa.Array
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    content: Bytes
    starts: NDArray[np.int64]

    def digits(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return for each shape its texts, by position, and where their digits are: texts × digits."""
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(self.counts)
        found = []
        for shape, end, n in zip(self.texts.to_pylist(), ends, self.counts, strict=True):
            rows = order[end - n : end]
            signs = np.frombuffer(shape.encode(), np.uint8)
            places = np.flatnonzero((signs == _ZERO) | (signs == _ONE))
            found.append((rows, self.starts[rows][:, None] + places))
        return found

    def fill(self, templates: pa.Array) -> pa.Array:
        """Return for each text the template of its shape, with the text's own digits, the first ones.

        >>> shapes = shapes_of(pa.array(["1,234 kW", "5,678 kW", "9 kW"]))
        >>> shapes.fill(pa.array(["1111", "1"])).to_pylist()
        ['1234', '5678', '9']
        """
        written = [each.encode() for each in templates.to_pylist()]
        lengths = np.array([len(each) for each in written], np.int64)[self.codes]
        begins = np.concatenate(([0], np.cumsum(lengths)))
        filled = np.zeros(int(begins[-1]), np.uint8)
        for (rows, places), template in zip(self.digits(), written, strict=True):
            signs = np.tile(np.frombuffer(template, np.uint8), (len(rows), 1))
            slots = np.flatnonzero((signs[0] == _ZERO) | (signs[0] == _ONE))
            signs[:, slots] = self.content[places[:, : len(slots)]]
            filled[begins[rows][:, None] + np.arange(len(template))] = signs
        offsets = pa.py_buffer(begins.astype(np.int32))
        return pa.StringArray.from_buffers(len(self.codes), offsets, pa.py_buffer(filled))


def shapes_of(texts: pa.Array, *, zeros: bool = False) -> Shapes | None:
    """Find the shapes of texts; None where there are too many.

    Parameters
    ----------
    texts
        Strings, none of them missing.
    zeros
        Whether it matters that a number begins with zeros.

    """
    if not len(texts):
        return None
    _, offsets, content = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    first, last = int(bounds[0]), int(bounds[-1])
    signs = np.frombuffer(content, np.uint8)[first:last] if last > first else np.zeros(0, np.uint8)
    starts = (bounds[:-1] - first).astype(np.int64)
    plain = _without_digits(signs, starts, zeros)
    buffers = (pa.py_buffer((bounds - first).astype(np.int32)), pa.py_buffer(plain))
    encoded = pa.StringArray.from_buffers(len(texts), *buffers).dictionary_encode()
    if len(encoded.dictionary) > MAX_SHAPES:
        return None
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    counts = np.bincount(codes, minlength=len(encoded.dictionary))
    return Shapes(encoded.dictionary, codes, counts, signs, starts)


def _without_digits(signs: Bytes, starts: NDArray[np.int64], zeros: bool) -> Bytes:
    digits = (signs >= _ZERO) & (signs <= ord("9"))
    plain = np.where(digits, np.uint8(_ONE), signs)
    if not zeros:
        return plain
    # Later digits may be zeros, too; so a run of digits is followed as long as all are.
    after_digit = np.zeros(len(signs), bool)
    after_digit[1:] = digits[:-1]
    after_digit[starts[starts < len(signs)]] = False
    nought = signs == _ZERO
    leading = nought & ~after_digit
    plain[leading] = _ZERO
    while leading.any():
        follows = np.zeros(len(signs), bool)
        follows[1:] = leading[:-1]
        leading = nought & after_digit & follows
        plain[leading] = _ZERO
    return plain


PLAIN = {
    ".": r"^[+\-−]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?|(?i:inf|infinity))$",
    ",": r"^[+\-−]?(?:(?:\d+,?\d*|,\d+)(?:[eE][+\-]?\d+)?|(?i:inf|infinity))$",
}
_WHOLE = r"^[+\-−]?\d{1,18}$"
_DIGITS = r"(?:\d[\d.,'’ \x{a0}\x{202f}\x{2009}]*|[.,]\d+|(?i:inf|infinity))"
_SHAPE = (
    rf"^(?P<limit>[<>≤≥~]=?)?\s*(?P<open>\()?(?P<sign>[+\-−])?\s*(?P<money>[€$£¥])?\s*"
    rf"(?P<inner>[+\-−])?(?P<body>{_DIGITS})"
    r"(?P<exp>[eE][+\-]?\d+)?(?P<close>\))?(?P<minus>-)?(?P<unit>\s*[%‰€$£¥]|\s*°\s?[CFK]?|\s+[\p{L}µ°/³²%\d^*·\-]{1,12})?$"
)
_BLANKS = "[ \\x{a0}\\x{202f}\\x{2009}]"
_GROUPS = {" ": _BLANKS, "'": "['’]"}
_THREES = r"^\d{1,3}(?:%s\d{3})+(?:[.,]\d*)?$"
_SURE_COMMA = r"^(?:\d{1,3}(?:\.\d{3})+,\d*|\d*,\d{1,2}|\d*,\d{4,}|0+,\d+|\d{4,},\d+|,\d+|\d+,)$"
_SURE_POINT = (
    r"^(?:\d{1,3}(?:,\d{3})+\.\d*|\d*\.\d{1,2}|\d*\.\d{4,}|0+\.\d+|\d{4,}\.\d+|\.\d+|\d+\.)$"
)
_BY_COMMA, _BY_POINT = r"^\d{1,3}(?:,\d{3}){2,}$", r"^\d{1,3}(?:\.\d{3}){2,}$"
_EITHER_COMMA, _EITHER_POINT = r"^[1-9]\d{0,2},\d{3}$", r"^[1-9]\d{0,2}\.\d{3}$"

_HAS_DIGIT = re.compile(r"\d")


class Numbers(msgspec.Struct, frozen=True, eq=False):
    """Distinct texts read as numbers; every mask has one entry for each text.

    Parameters
    ----------
    values
        float64, or int64 where all are whole; where `known` is false the value means nothing.
    known
        True where a text is a number.
    decimal
        The usual decimal sign of the column, None where none was seen.
    strays
        True where the text has the other decimal sign.
    grouped
        The sign that groups thousands, and where, by sign.
    unsure
        True where a sign was taken to group thousands, or to divide decimals, without evidence.
    limits
        True where a limit such as ``<0.01`` is read as the number.
    unit
        A unit that stands in the cells, None where there is none or several.
    with_unit
        True where it stands.

    """

    values: NDArray[np.float64] | NDArray[np.int64]
    known: Mask
    decimal: str | None
    strays: Mask
    grouped: dict[str, Mask]
    unsure: Mask
    limits: Mask
    unit: str | None
    with_unit: Mask


def read_numbers(
    texts: pa.Array, decimal: str | None = None, thousands: str | None = None
) -> Numbers:
    """Read texts as numbers.

    Parameters
    ----------
    texts
        Distinct texts, without missing ones.
    decimal
        The decimal sign of the file, where that is known.
    thousands
        The sign that groups thousands, where that is known.

    Examples
    --------
    >>> read_numbers(pa.array(["1 234,5", "0,25", "Bad"])).values.tolist()
    [1234.5, 0.25, nan]

    """
    texts = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    sign = decimal or "."
    plain = None if thousands == sign else _plain(texts, sign)  # 1.234 may be grouped
    if plain is not None:
        return plain
    shapes = shapes_of(texts, zeros=True)
    if shapes is not None:
        told = _taken_apart(shapes.texts, shapes.counts, decimal, thousands)
        if told.unit is None or not _HAS_DIGIT.search(told.unit):
            return told.numbers(shapes)
    return read_one_by_one(texts, decimal, thousands)


def read_alike(
    texts: pa.Array, decimal: str | None = None, thousands: str | None = None
) -> Numbers | None:
    """Read texts that may be repeated as numbers; None where it matters how often each is.

    That is so where commas and points compete: of distinct texts the majority decides.
    """
    shapes = shapes_of(pc.utf8_trim_whitespace(texts.cast(pa.string())), zeros=True)
    sign = decimal or "."
    if shapes is None:
        return None
    if thousands != sign and _plain_known(shapes.texts, sign) is not None:
        return None
    told = _taken_apart(shapes.texts, shapes.counts, decimal, thousands)
    if told.competing or (told.unit is not None and _HAS_DIGIT.search(told.unit)):
        return None
    return told.numbers(shapes)


def read_one_by_one(
    texts: pa.Array, decimal: str | None = None, thousands: str | None = None
) -> Numbers:
    """Read trimmed texts as numbers, each taken apart by itself."""
    return _taken_apart(texts, np.ones(len(texts), np.int64), decimal, thousands).numbers(None)


class _TakenApart(msgspec.Struct, frozen=True, eq=False):
    """Texts, or shapes of texts, as `Numbers` has them, and how they are written plainly."""

    written: pa.Array
    known: Mask
    decimal: str | None
    strays: Mask
    grouped: dict[str, Mask]
    unsure: Mask
    limits: Mask
    unit: str | None
    with_unit: Mask
    competing: bool

    def numbers(self, shapes: Shapes | None) -> Numbers:
        """Return the numbers that texts, or all texts of the shapes, are."""
        codes = np.arange(len(self.known)) if shapes is None else shapes.codes
        whole = bool(_matches(self.written, _WHOLE).all()) and bool(self.known.all())
        written = self.written if shapes is None else shapes.fill(self.written)
        values = np.array(written.cast(pa.int64() if whole else pa.float64()))
        known = self.known[codes]
        if not whole:
            values[~known] = np.nan
        return Numbers(
            values,
            known,
            self.decimal,
            self.strays[codes],
            {sign: mask[codes] for sign, mask in self.grouped.items()},
            self.unsure[codes],
            self.limits[codes],
            self.unit,
            self.with_unit[codes],
        )


def _taken_apart(
    texts: pa.Array, counts: NDArray[np.int64], decimal: str | None, thousands: str | None
) -> _TakenApart:
    """Find out how texts, each of which stands for so many, are written."""
    shape = pc.extract_regex(texts, _SHAPE)
    known = shape.is_valid().to_numpy(zero_copy_only=False)
    field = {name: pc.fill_null(shape.field(name), "") for name in _FIELDS}
    known &= np.asarray(pc.equal(field["open"], "")) == np.asarray(pc.equal(field["close"], ""))
    known &= _either(field["sign"], field["inner"]) & _either(field["money"], field["unit"])
    units = pc.binary_join_element_wise(field["money"], field["unit"], "")
    unit, with_unit = _common_unit(units, known)
    known &= with_unit | np.asarray(pc.equal(pc.utf8_trim_whitespace(units), ""))
    body, grouped = _ungrouped(field["body"], known)
    signs = _Signs.of(body, known, counts)
    body, usual, strays, unsure = signs.settle(body, decimal, thousands, grouped)
    known &= _matches(body, r"^(?:\d+\.?\d*|\.\d+|(?i:inf|infinity))$")
    limits = known & ~np.asarray(pc.equal(field["limit"], ""))
    return _TakenApart(
        _written(body, field, known),
        known,
        usual,
        strays & known,
        {sign: mask & known for sign, mask in grouped.items() if (mask & known).any()},
        unsure & known,
        limits,
        unit,
        with_unit & known,
        bool(signs.comma.any()) and bool(signs.point.any()),
    )


_FIELDS = ("limit", "open", "sign", "money", "inner", "body", "exp", "close", "minus", "unit")


def _plain(texts: pa.Array, decimal: str) -> Numbers | None:
    """Read texts that are plain numbers or have no digit at all; None where some are neither."""
    known = _plain_known(texts, decimal)
    if known is None:
        return None
    if not known.all():
        texts = pc.if_else(pa.array(known), texts, "0")
    signed = bool(pc.any(pc.match_substring(texts, decimal)).as_py())
    cleaned = pc.replace_substring(texts, "−", "-")
    if bool(pc.any(pc.starts_with(cleaned, "+")).as_py()):
        cleaned = pc.replace_substring_regex(cleaned, r"^\+", "")
    if decimal == ",":
        cleaned = pc.replace_substring(cleaned, ",", ".")
    whole = not signed and bool(_matches(texts, _WHOLE).all()) and bool(known.all())
    values = np.array(cleaned.cast(pa.int64() if whole else pa.float64()))
    if not known.all():
        values[~known] = np.nan
    nothing = np.zeros(len(texts), bool)
    return Numbers(
        values, known, decimal if signed else None, nothing, {}, nothing, nothing, None, nothing
    )


def _plain_known(texts: pa.Array, decimal: str) -> Mask | None:
    """Return which texts are plain numbers, None where the others are not all without a digit."""
    known = _matches(texts, PLAIN[decimal])
    if known.all():
        return known
    others = texts.filter(pa.array(~known))
    if not known.any() or bool(pc.any(pc.match_substring_regex(others, r"\d")).as_py()):
        return None
    return known


def _either(one: pa.Array, other: pa.Array) -> Mask:
    """Return where not both are written, as in ``-$-5`` or ``$5 kW``."""
    return np.asarray(pc.or_(pc.equal(one, ""), pc.equal(other, "")))


def _common_unit(units: pa.Array, known: Mask) -> tuple[str | None, Mask]:
    """Find the one unit that stands in the cells; with several, none of those cells is a number."""
    trimmed = pc.utf8_trim_whitespace(units)
    found = {each for each in pc.unique(trimmed.filter(pa.array(known))).to_pylist() if each}
    if len(found) != 1:
        return None, np.zeros(len(units), bool)
    (unit,) = found
    return unit, known & np.asarray(pc.equal(trimmed, unit))


def _ungrouped(body: pa.Array, known: Mask) -> tuple[pa.Array, dict[str, Mask]]:
    """Take off blanks and apostrophes between groups of three digits."""
    body = pc.utf8_trim_whitespace(body)
    grouped = {}
    for sign, pattern in _GROUPS.items():
        if not bool(pc.any(pc.match_substring_regex(body, pattern)).as_py()):
            continue
        mask = known & _matches(body, _THREES % pattern)
        if mask.any():
            grouped[sign] = mask
            bare = pc.replace_substring_regex(body, pattern, "")
            body = pc.if_else(pa.array(mask), bare, body)
    return body, grouped


class _Signs(msgspec.Struct, frozen=True, eq=False):
    """Which texts leave no doubt about their comma and point, and which might be either."""

    counts: NDArray[np.int64]
    comma: Mask
    point: Mask
    by_comma: Mask
    by_point: Mask
    either_comma: Mask
    either_point: Mask

    @classmethod
    def of(cls, body: pa.Array, known: Mask, counts: NDArray[np.int64]) -> "_Signs":
        """Take the signs of texts."""
        patterns = (_SURE_COMMA, _SURE_POINT, _BY_COMMA, _BY_POINT, _EITHER_COMMA, _EITHER_POINT)
        masks = (known & _matches(body, pattern) for pattern in patterns)
        return cls(counts, *masks)

    def settle(
        self, body: pa.Array, said: str | None, thousands: str | None, grouped: dict[str, Mask]
    ) -> tuple[pa.Array, str | None, Mask, Mask]:
        """Return the texts with decimal points only, the usual sign, the strays, and what is unsure."""
        by_comma = self.by_comma | self._has_both(body, self.point, ",")
        by_point = self.by_point | self._has_both(body, self.comma, ".")
        n_comma, n_point = (int(self.counts[each].sum()) for each in (self.comma, self.point))
        usual = "." if n_point else None
        if n_comma > n_point or (n_comma and n_comma == n_point and said == ","):
            usual = ","
        evidence = usual or ("." if by_comma.any() else "," if by_point.any() else None)
        sign = said if evidence is None else evidence
        comma_divides = (sign or ("," if self.either_comma.any() and grouped else ".")) == ","
        comma_groups = bool(by_comma.any()) or thousands == ","
        point_groups = bool(by_point.any()) or thousands == "."
        comma_divides &= not comma_groups
        point_divides = (sign or ".") == "." and not point_groups
        point_divides |= bool(n_point) and not point_groups  # a stray 1.2 beside 1.234
        unsure = np.zeros(len(body), bool)
        if evidence is None and said is None and not grouped and not comma_groups:
            unsure |= self.either_comma
        if self.either_point.any() and not point_divides and not point_groups:
            unsure |= self.either_point
        divided_by_comma = self.comma | (self.either_comma if comma_divides else False)
        grouped_comma = by_comma | (self.either_comma if not comma_divides else False)
        grouped_point = by_point | (self.either_point if not point_divides else False)
        for mask, each in ((grouped_comma, ","), (grouped_point, ".")):
            if mask.any():
                grouped[each] = mask
                body = pc.if_else(pa.array(mask), pc.replace_substring(body, each, ""), body)
        body = pc.if_else(pa.array(divided_by_comma), pc.replace_substring(body, ",", "."), body)
        divided_by_point = self.point | (self.either_point if point_divides else False)
        if usual is None and divided_by_comma.any() != divided_by_point.any():
            usual = "," if divided_by_comma.any() else "."
        usual = said or usual
        strays = divided_by_point if usual == "," else divided_by_comma
        return body, usual, np.asarray(strays, bool), unsure

    def _has_both(self, body: pa.Array, sure: Mask, sign: str) -> Mask:
        return np.asarray(sure & np.asarray(pc.match_substring(body, sign)))


def _written(body: pa.Array, field: dict[str, pa.Array], known: Mask) -> pa.Array:
    """Return texts as plain numbers, and infinity for what is none."""
    exponents = field["exp"]
    signs = pc.binary_join_element_wise(field["sign"], field["inner"], "")
    negative = np.asarray(pc.is_in(signs, pa.array(["-", "−"])))
    negative = negative | ~np.asarray(pc.equal(field["minus"], ""))
    negative = negative | ~np.asarray(pc.equal(field["open"], ""))
    signs = pc.if_else(pa.array(negative), "-", "")
    joined = pc.binary_join_element_wise(signs, body, exponents, "")
    return pc.if_else(pa.array(known), joined, "inf")


def _matches(texts: pa.Array, pattern: str) -> Mask:
    return np.asarray(pc.match_substring_regex(texts, pattern))
