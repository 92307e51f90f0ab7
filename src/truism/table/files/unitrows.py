"""Rows of units below the names: the first rows of a table go in, its units come out."""

import re
from collections.abc import Mapping, Sequence

from truism.table.cells.words import MISSING, is_status
from truism.table.layouts import Reading

_MAX_UNIT = 15
_NUMBER = re.compile(r"[<>]?[+\-−]?[€$£¥]?[+\-−]?(?:\d[\d.,'’]*|[.,]\d+)(?:[eE][+-]?\d+)?%?")
_SIGNS = frozenset("°%‰/³²µΩ")
_UNIT = re.compile(
    r"[\[(]?(?:deg ?[CFK]?"
    r"|[kMmGuµ]?(?:W|Wh|V|A|Hz|Pa|bar|bara|barg|g|m|s|l|L|N|J|t|VA|var|S|Ohm)"
    r"|psi[ag]?|rpm|ppm|ppb|pH|NTU|C|F|K|h|hr|min|sec|d|cm|in|ft|gal|gpm|cfm|lbs?|m3|Nm3?|pcs|counts?"
    r"|mm2|cm2|m2|mmHg|inHg|dB|lx|lux|cd|mol|UTC|date|time|text|RN|TS)[\])]?"
)


def find_units(
    rows: Sequence[Sequence[str]], names: Sequence[str], learned: Reading | None = None
) -> tuple[tuple[str, ...], int]:
    """Return the units that stand below the names, and how many rows there are above the values.

    Parameters
    ----------
    rows
        The first rows, that of the names included.
    names
        Of the columns.
    learned
        How earlier files were read; their units are known again even above no values.

    Examples
    --------
    >>> find_units([["t", "T"], ["", "[°C]"], ["1", "20.5"]], ["t", "T"])
    (('', '°C'), 1)

    """
    if len(rows) < 2:
        return (), 0
    cells = [cell.strip() for cell in rows[1]]
    for n_above in (2, 1):
        if len(rows) > n_above and _are_units(rows, names, n_above):
            return _bare_units(cells, len(names)), n_above
    if learned is not None and learned.unit_row:
        known = {column.name: column.unit for column in learned.columns if column.unit is not None}
        if _are_again(names, cells, known):
            return _bare_units(cells, len(names)), 1
    return (), 0


def _are_again(names: Sequence[str], cells: Sequence[str], known: Mapping[str, str]) -> bool:
    pairs = [
        (bare(cell), known[name]) for name, cell in zip(names, cells, strict=False) if name in known
    ]
    return bool(pairs) and all(cell == unit for cell, unit in pairs)


def _are_units(rows: Sequence[Sequence[str]], names: Sequence[str], n_above: int) -> bool:
    """Return whether above all columns of numbers stand words, and most in the first row are units."""
    above, below = rows[1 : 1 + n_above], rows[1 + n_above :]
    width = min(len(names), *(len(row) for row in above))
    numeric = [i for i in range(width) if _holds_numbers(below, i)]
    if not numeric:
        return False
    for row in above:
        cells = [row[i].strip() for i in numeric]
        if any(is_number(cell) or len(cell) > _MAX_UNIT for cell in cells):
            return False
        if any(is_status(cell) and cell not in ("-", "--") for cell in cells):
            return False
        if all(not cell or is_status(cell) for cell in cells):
            return False
    units = [cell for cell in (rows[1][i].strip() for i in numeric) if cell and not is_status(cell)]
    return 0 < len(units) <= 2 * sum(map(_is_unit, units))


def _is_unit(text: str) -> bool:
    return not _SIGNS.isdisjoint(text) or _UNIT.fullmatch(text) is not None


def _bare_units(cells: Sequence[str], n: int) -> tuple[str, ...]:
    units = [("" if is_status(cell) else bare(cell)) for cell in cells]
    return tuple([*units, *[""] * n][:n])


def bare(unit: str) -> str:
    """Return a unit without brackets.

    >>> bare("[m³/h]")
    'm³/h'
    """
    return unit[1:-1].strip() if unit[:1] + unit[-1:] in ("[]", "()") else unit


def is_number(text: str) -> bool:
    """Return whether a field reads as a number, however it is written."""
    if _NUMBER.fullmatch("".join(text.split())) is not None:  # blanks may stand anywhere
        return True
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _holds_numbers(rows: Sequence[Sequence[str]], column: int) -> bool:
    fields = [row[column].strip() for row in rows if len(row) > column]
    there = [field for field in fields if field not in MISSING and not is_status(field)]
    return bool(there) and sum(map(is_number, there)) * 2 > len(there)
