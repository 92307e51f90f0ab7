"""Columns of times: texts, numbers since an epoch, and two columns that together give the time.

How the times of a column are written is decided from the whole column. Often only one row in a thousand
shows whether the day or the month comes first. If none does, the order of the rows decides, because
times that are read the wrong way round jump by months.
"""

import datetime
import re
from collections.abc import Sequence

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from truism.table.cells.timeformats import (
    DAY_US,
    NAIVE,
    Instants,
    may_read,
    read_instants,
)
from truism.table.cells.words import is_status, says_time, words_in
from truism.table.columns import Column
from truism.table.layouts import DAYS, EPOCHS

_SAMPLE, _MANY = 64, 2_000
_EARLIEST, _LATEST = 315_532_800, 4_102_444_800  # 1980 and 2100, in seconds
_EXCEL_EPOCH = 25_569  # days from Excel's 30 December 1899 to 1970
_DATE_WORDS = (
    "date",
    "datetime",
    "timestamp",
    "datum",
    "fecha",
    "dato",
    "zeitstempel",
    "zeitpunkt",
)
_NUMERAL = re.compile(r"[<>(+\-−]?\s*\d+(?:[.,]\d*)?(?:[eE][+\-]?\d+)?\s*[%)]?")
_RISING = 0.99  # part of the steps that do not go back


class Timing(msgspec.Struct, frozen=True, eq=False):
    """A column's distinct texts as times.

    Parameters
    ----------
    instants
        One for each distinct text that occurs, in the order of `used`.
    used
        Positions of these texts in the column's categories.
    style
        How they are written.
    undecided
        Whether day and month could as well be the other way round.

    """

    instants: Instants
    used: NDArray[np.int64]
    style: str
    undecided: bool = False


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
    timing = find_times(column)
    if timing is None or timing.style == "clock" or not timing.instants.known.all():
        return column
    return column_of_times(column, timing)


def find_times(column: Column, style: str | None = None) -> Timing | None:
    """Read the distinct texts of a text column as times.

    Parameters
    ----------
    column
        A text column.
    style
        How the times are written; found from the texts when absent.

    Returns
    -------
    Timing, or None when most texts are no times in any style.

    """
    used = np.flatnonzero(np.bincount(column.present, minlength=len(column.categories)))
    if not len(used):
        return None
    if style is not None:
        return Timing(read_instants(pa.array(texts_of(column, used)), style), used, style)
    some = texts_of(column, used[: 2 * _SAMPLE])
    first = [text for text in some if not is_status(text)][:_SAMPLE]
    if not any(any(letter.isdigit() for letter in text) for text in first[:8]):
        return None
    if not says_time(column.name) and all(_NUMERAL.fullmatch(text) for text in first):
        return None
    sample = pa.array(first)
    for each in ("year first", "month name", "digits", "clock"):
        if each == "digits" and not says_time(column.name) and all(map(str.isdigit, first)):
            continue
        if each == "clock" and not any(":" in text for text in first):
            continue
        if may_read(sample, each):
            return Timing(read_instants(pa.array(texts_of(column, used)), each), used, each)
    if may_read(sample, "day first") or may_read(sample, "month first"):
        return _day_or_month(column, used, texts_of(column, used))
    return None


def texts_of(column: Column, used: NDArray[np.int64]) -> list[str]:
    """Return some of the texts of a text column."""
    if len(used) == len(column.categories):
        return list(column.categories)
    return [column.categories[code] for code in used.tolist()]


def _day_or_month(column: Column, used: NDArray[np.int64], texts: Sequence[str]) -> Timing:
    """Decide which comes first, from all texts and then from the order of the rows."""
    array = pa.array(texts)
    sure = _sure_from_sample(array, used)
    if sure is not None:
        return sure
    days = read_instants(array, "day first")
    if days.known.all() and "." in texts[0][:3]:
        return Timing(days, used, "day first")
    months = read_instants(array, "month first")
    n_days, n_months = int(days.known.sum()), int(months.known.sum())
    if n_days != n_months:
        style = "day first" if n_days > n_months else "month first"
        return Timing(days if n_days > n_months else months, used, style)
    if "." in texts[int(days.known.argmax())][:3]:
        return Timing(days, used, "day first")
    jump_of_days, jump_of_months = (
        _jumpiness(column_of_times(column, Timing(each, used, ""))) for each in (days, months)
    )
    if min(jump_of_days, jump_of_months) * 2 < max(jump_of_days, jump_of_months):
        first = jump_of_days < jump_of_months
        return Timing(days if first else months, used, "day first" if first else "month first")
    american = bool(pc.any(pc.match_substring_regex(array, "(?i)[ap]m$")).as_py())
    if (days.times == months.times).all():  # 05/05/2014 is the same either way
        return Timing(days, used, "month first" if american else "day first")
    if american:
        return Timing(months, used, "month first", undecided=True)
    return Timing(days, used, "day first", undecided=True)


def _sure_from_sample(texts: pa.Array, used: NDArray[np.int64]) -> Timing | None:
    """Return all texts in the one way that a sample allows, None where some text is no time in it."""
    step = max(1, len(texts) // _MANY)
    if step == 1:
        return None
    some = texts.take(pa.array(np.arange(0, len(texts), step)))
    fits = {style: read_instants(some, style).known for style in ("day first", "month first")}
    for style, other in (("day first", "month first"), ("month first", "day first")):
        if fits[style].all() and not fits[other].all():
            every = read_instants(texts, style)
            return Timing(every, used, style) if every.known.all() else None
    return None


def _jumpiness(column: Column) -> float:
    """Return how much larger the largest step is than the usual one; going back is worst."""
    steps = np.diff(column.present.astype(np.int64))
    ahead = steps[steps > 0]
    if not len(ahead):
        return 1.0
    worst = float(ahead.max() / np.median(ahead))
    return worst * (1.0 if np.mean(steps >= 0) >= _RISING else 1000.0)


def column_of_times(column: Column, timing: Timing) -> Column:
    """Return a text column as times; other texts become missing values."""
    instants = timing.instants
    times = np.full(max(len(column.categories), 1), "NaT", "datetime64[us]")
    times[timing.used] = instants.times
    values = times[column.values]
    missing = np.isnat(values)
    if column.missing is not None:
        missing |= column.missing
    hole = missing if missing.any() else None
    if timing.style == "clock":
        clocks = np.where(missing, 0, values.astype(np.int64))
        return Column(column.name, "time", clocks, hole)
    values[missing] = "NaT"
    named = instants.offsets[instants.known & (instants.offsets != NAIVE)]
    if not len(named):
        return Column(column.name, "time", values, hole)
    zone = offset_name(int(named[0])) if (named == named[0]).all() else "UTC"
    return Column(column.name, "time", values, hole, zoned=True, zone=zone)


def zones_of(timing: Timing) -> tuple[str, ...]:
    """Return the zones that the times of a column name, ascending; ``no zone`` if some name none."""
    offsets = np.unique(timing.instants.offsets[timing.instants.known])
    return tuple("no zone" if each == NAIVE else offset_name(int(each)) for each in offsets)


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
    dates = any(word in _DATE_WORDS for word in words_in(column.name))
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
    return bool(read_instants(texts, "digits").known.all())


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
        timing = find_times(clock, "clock")
        if timing is None or not timing.instants.known.all():
            return None
        return np.asarray(column_of_times(clock, timing).values)
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
