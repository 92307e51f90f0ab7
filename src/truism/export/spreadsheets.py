"""Text for CSV files that people open in spreadsheets, which run whatever looks like a formula."""

import re
from typing import Any

_FORMULA = re.compile(r"\s*[=+\-@|%]|[\t\r\n]")
_NUMBER = re.compile(
    r"[+-]?(\d[\d,]*(\.\d*)?(e[+-]?\d+)?|inf|nan)( ≤ .*)?", re.IGNORECASE | re.DOTALL
)


def tame(value: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would run; return other values as they are.

    Numbers stay numbers, and so do ranges, which no spreadsheet takes for a formula.

    >>> tame("=HYPERLINK(1)"), tame("-2.5"), tame("-3 ≤ level ≤ 5"), tame("pump = on"), tame(-1)
    ("'=HYPERLINK(1)", '-2.5', '-3 ≤ level ≤ 5', 'pump = on', -1)
    """
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"
