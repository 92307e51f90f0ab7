"""Times that are all written with the same number of digits, read as a matrix of characters.

Nearly every logger writes them so, and then no pattern has to be matched: digits are where they are in
the first text. What comes out is exactly what `truism.table.cells.timeformats` says, or nothing.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

FIXED = {"year first": (0, 5, 8), "day first": (6, 3, 0), "month first": (6, 0, 3)}
"""Where the four digits of the year, and the two of month and day begin."""
_LENGTHS = (10, 16, 19)  # a date, with hours and minutes, with seconds
_CLOCK = {
    11: 24,
    14: 60,
    17: 60,
}  # where hours, minutes and seconds begin, and what they stay below
_DATE_SIGNS, _BETWEEN = b"-/.", b" T"


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
    clock = {at: below for at, below in _CLOCK.items() if at < length}
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
        first[place] in (_DATE_SIGNS if place < 10 else _BETWEEN if place == 10 else b":")
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
