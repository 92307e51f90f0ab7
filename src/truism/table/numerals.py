"""Ways to write numbers: distinct texts go in, numbers come out, and what was done to read them.

A text that can be read only one way (``1.234,5``, ``0,5``, ``12,34``) is read by itself. One that is
ambiguous (``1,234``) is read like the others of its column, or else of its file, and is doubtful if
neither settles it.
"""

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from truism.arrays import Mask

PLAIN = {
    ".": r"^[+\-−]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?|(?i:inf|infinity))$",
    ",": r"^[+\-−]?(?:(?:\d+,?\d*|,\d+)(?:[eE][+\-]?\d+)?|(?i:inf|infinity))$",
}
_WHOLE = r"^[+\-−]?\d{1,18}$"
_DIGITS = r"(?:\d[\d.,'’ \x{a0}\x{202f}\x{2009}]*|[.,]\d+|(?i:inf|infinity))"
_SHAPE = (
    rf"^(?P<limit>[<>≤≥~]=?)?\s*(?P<open>\()?(?P<sign>[+\-−])?\s*(?P<money>[€$£¥])?\s*"
    rf"(?P<inner>[+\-−])?(?P<body>{_DIGITS})"
    r"(?P<exp>[eE][+\-]?\d+)?(?P<close>\))?(?P<minus>-)?(?P<unit>\s*[%‰€$£¥]|\s*°\s?[CFK]?|\s+\S{1,12})?$"
)
_UNIT = r"^(?:|[%‰€$£¥]|°\s?[CFK]?|[\p{L}µ°/³²%\d^*·\-]{1,12})$"  # apart: such classes are slow
_BLANKS = "[ \\x{a0}\\x{202f}\\x{2009}]"
_GROUPS = {" ": _BLANKS, "'": "['’]"}
_THREES = r"^\d{1,3}(?:%s\d{3})+(?:[.,]\d*)?$"
SURE = {
    ",": r"\d{1,3}(?:\.\d{3})+,\d*|\d*,\d{1,2}|\d*,\d{4,}|0+,\d+|\d{4,},\d+|,\d+|\d+,",
    ".": r"\d{1,3}(?:,\d{3})+\.\d*|\d*\.\d{1,2}|\d*\.\d{4,}|0+\.\d+|\d{4,}\.\d+|\.\d+|\d+\.",
}
"""Numbers that can be read with one decimal sign only, by that sign."""
_BY = {",": r"\d{1,3}(?:,\d{3}){2,}", ".": r"\d{1,3}(?:\.\d{3}){2,}"}
_EITHER = {",": r"[1-9]\d{0,2},\d{3}", ".": r"[1-9]\d{0,2}\.\d{3}"}


class Numbers(msgspec.Struct, frozen=True, eq=False):
    """Distinct texts read as numbers; every mask has one entry for each text."""

    # float64, or int64 where all are whole; where `valid` is false the value means nothing
    values: NDArray[np.float64] | NDArray[np.int64]
    valid: Mask  # true where a text is a number
    decimal: str | None  # the usual decimal sign of the column, None where none was seen
    strays: Mask  # true where the text has the other decimal sign
    grouped: dict[str, Mask]  # the sign that groups thousands, and where, by sign
    # true where a sign was taken to group thousands, or to divide decimals, without evidence
    unsure: Mask
    limits: Mask  # true where a limit such as `<0.01` is read as the number
    unit: str | None  # a unit that stands in the cells, None where there is none or several
    with_unit: Mask  # true where it stands


def read_numbers(
    texts: pa.Array, decimal: str | None = None, thousands: str | None = None
) -> Numbers:
    """Read texts as numbers.

    >>> read_numbers(pa.array(["1 234,5", "0,25", "Bad"])).values.tolist()
    [1234.5, 0.25, nan]
    """
    texts = pc.utf8_trim_whitespace(texts.cast(pa.string()))
    sign = decimal or "."
    plain = None if thousands == sign else _plain(texts, sign)  # 1.234 may be grouped
    if plain is not None:
        return plain
    return _taken_apart(texts, decimal, thousands)


def _taken_apart(texts: pa.Array, decimal: str | None, thousands: str | None) -> Numbers:
    """Read trimmed texts as numbers, each taken apart by a pattern."""
    shape = pc.extract_regex(texts, _SHAPE)
    valid = shape.is_valid().to_numpy(zero_copy_only=False)
    field = {name: pc.fill_null(shape.field(name), "") for name in _FIELDS}
    valid &= np.asarray(pc.equal(field["open"], "")) == np.asarray(pc.equal(field["close"], ""))
    valid &= _either(field["sign"], field["inner"]) & _either(field["money"], field["unit"])
    distinct = field["unit"].dictionary_encode()
    are_units = _matches(pc.utf8_trim_whitespace(distinct.dictionary), _UNIT)
    valid &= are_units[np.asarray(distinct.indices)]
    units = pc.binary_join_element_wise(field["money"], field["unit"], "")
    unit, with_unit = _common_unit(units, valid)
    valid &= with_unit | np.asarray(pc.equal(pc.utf8_trim_whitespace(units), ""))
    body, grouped = _ungrouped(field["body"], valid)
    body, usual, strays, unsure = _settle(body, valid, decimal, thousands, grouped)
    valid &= _matches(body, r"^(?:\d+\.?\d*|\.\d+|(?i:inf|infinity))$")
    limits = valid & ~np.asarray(pc.equal(field["limit"], ""))
    written = _written(body, field, valid)
    whole = bool(valid.all()) and bool(_matches(written, _WHOLE).all())
    values = np.array(written.cast(pa.int64() if whole else pa.float64()))
    if not whole:
        values[~valid] = np.nan
    return Numbers(
        values,
        valid,
        usual,
        strays & valid,
        {sign: mask & valid for sign, mask in grouped.items() if (mask & valid).any()},
        unsure & valid,
        limits,
        unit,
        with_unit & valid,
    )


_FIELDS = ("limit", "open", "sign", "money", "inner", "body", "exp", "close", "minus", "unit")


def _plain(texts: pa.Array, decimal: str) -> Numbers | None:
    """Read texts that are plain numbers or have no digit at all; None where some are neither."""
    valid = _matches(texts, PLAIN[decimal])
    words = texts.filter(pa.array(~valid))
    if not valid.any() or _matches(words, r"\d").any():
        return None
    whole = len(words) == 0 and bool(_matches(texts, _WHOLE).all())
    cleaned = pc.if_else(pa.array(valid), pc.replace_substring(texts, "−", "-"), "nan")
    cleaned = pc.replace_substring(pc.utf8_ltrim(cleaned, "+"), decimal, ".")
    values = np.array(cleaned.cast(pa.int64() if whole else pa.float64()))
    signed = pc.any(pc.match_substring(cleaned, ".")).as_py()
    nothing = np.zeros(len(texts), bool)
    return Numbers(
        values, valid, decimal if signed else None, nothing, {}, nothing, nothing, None, nothing
    )


def _either(one: pa.Array, other: pa.Array) -> Mask:
    """Return where not both are written, as in ``-$-5`` or ``$5 kW``."""
    return np.asarray(pc.or_(pc.equal(one, ""), pc.equal(other, "")))


def _common_unit(units: pa.Array, valid: Mask) -> tuple[str | None, Mask]:
    """Find the one unit that stands in the cells; with several, none of those cells is a number."""
    trimmed = pc.utf8_trim_whitespace(units)
    units_seen = {unit for unit in pc.unique(trimmed.filter(pa.array(valid))).to_pylist() if unit}
    if len(units_seen) != 1:
        return None, np.zeros(len(units), bool)
    (unit,) = units_seen
    return unit, valid & np.asarray(pc.equal(trimmed, unit))


def _ungrouped(body: pa.Array, valid: Mask) -> tuple[pa.Array, dict[str, Mask]]:
    """Take off blanks and apostrophes between groups of three digits."""
    body = pc.utf8_trim_whitespace(body)
    grouped = {}
    for sign, pattern in _GROUPS.items():
        if not bool(pc.any(pc.match_substring_regex(body, pattern)).as_py()):
            continue
        mask = valid & _matches(body, _THREES % pattern)
        if mask.any():
            grouped[sign] = mask
            bare = pc.replace_substring_regex(body, pattern, "")
            body = pc.if_else(pa.array(mask), bare, body)
    return body, grouped


def _settle(
    body: pa.Array, valid: Mask, given: str | None, thousands: str | None, grouped: dict[str, Mask]
) -> tuple[pa.Array, str | None, Mask, Mask]:
    """Return the texts with decimal points only, the usual sign, the strays, and what is unsure."""
    other = {",": ".", ".": ","}
    sure, either, by = (
        {sign: valid & _matches(body, f"^(?:{pattern})$") for sign, pattern in patterns.items()}
        for patterns in (SURE, _EITHER, _BY)
    )
    groups = {
        sign: mask | (sure[other[sign]] & np.asarray(pc.match_substring(body, sign)))
        for sign, mask in by.items()
    }
    n_sure = {sign: int(mask.sum()) for sign, mask in sure.items()}
    usual = "." if n_sure["."] else None
    if n_sure[","] > n_sure["."] or (n_sure[","] and n_sure[","] == n_sure["."] and given == ","):
        usual = ","
    evidence = usual or ("." if groups[","].any() else "," if groups["."].any() else None)
    sign = given if evidence is None else evidence
    by_groups = {mark: bool(groups[mark].any()) or thousands == mark for mark in ",."}
    comma = (sign or ("," if either[","].any() and grouped else ".")) == ","
    point = (sign or ".") == "." or n_sure["."] > 0  # a stray 1.2 beside 1.234
    divides = {",": comma and not by_groups[","], ".": point and not by_groups["."]}
    unsure = np.zeros(len(body), bool)
    if evidence is None and given is None and not grouped and not by_groups[","]:
        unsure |= either[","]
    if not divides["."] and not by_groups["."]:
        unsure |= either["."]
    decimal = {mark: sure[mark] | (either[mark] & divides[mark]) for mark in ",."}
    for mark in ",.":
        mask = groups[mark] | (either[mark] & (not divides[mark]))
        if mask.any():
            grouped[mark] = mask
            body = pc.if_else(pa.array(mask), pc.replace_substring(body, mark, ""), body)
    body = pc.if_else(pa.array(decimal[","]), pc.replace_substring(body, ",", "."), body)
    if usual is None and decimal[","].any() != decimal["."].any():
        usual = "," if decimal[","].any() else "."
    usual = given or usual
    return body, usual, decimal["." if usual == "," else ","], unsure


def _written(body: pa.Array, field: dict[str, pa.Array], valid: Mask) -> pa.Array:
    """Return texts as plain numbers, and infinity for what is none."""
    exponents = field["exp"]
    signs = pc.binary_join_element_wise(field["sign"], field["inner"], "")
    negative = np.asarray(pc.is_in(signs, pa.array(["-", "−"])))
    negative = negative | ~np.asarray(pc.equal(field["minus"], ""))
    negative = negative | ~np.asarray(pc.equal(field["open"], ""))
    signs = pc.if_else(pa.array(negative), "-", "")
    joined = pc.binary_join_element_wise(signs, body, exponents, "")
    return pc.if_else(pa.array(valid), joined, "inf")


def _matches(texts: pa.Array, pattern: str) -> Mask:
    return np.asarray(pc.match_substring_regex(texts, pattern))
