"""When something happened, in words: a time where there is one, and else the number of a row."""

import datetime

from truism.table.times import Moment

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def say_when(row: int, moment: Moment | None, beside: Moment | None = None) -> str:
    """Say when a row was, by its time if it has one; without the day if that of another moment says it.

    >>> morning = datetime.datetime(2016, 8, 3, 4)
    >>> say_when(7, morning), say_when(7, morning, morning), say_when(1207, None)
    ('3 Aug 04:00', '04:00', 'row 1,207')
    """
    if moment is None:
        return f"row {row:,}"
    if not isinstance(moment, datetime.datetime):
        return str(moment)
    if isinstance(beside, datetime.datetime) and moment.date() == beside.date():
        return _clock(moment)
    return f"{_day(moment)} {_clock(moment)}"


def say_at(row: int, moment: Moment | None, beside: Moment | None) -> str:
    """Say when a row was, after a verb; without the day if that of another moment says it.

    >>> morning = datetime.datetime(2016, 8, 3, 4, 0, 10)
    >>> say_at(7, morning, morning), say_at(7, None, None)
    ('at 04:00:10', 'in row 7')
    >>> say_at(7, morning, None)
    'on 3 Aug at 04:00:10'
    """
    if moment is None:
        return f"in {say_when(row, moment)}"
    match moment, beside:
        case datetime.datetime(), datetime.datetime() if moment.date() == beside.date():
            return f"at {_clock(moment)}"
    if not isinstance(moment, datetime.datetime):
        return f"at {moment}"
    return f"on {_day(moment)} at {_clock(moment)}"


def _day(moment: datetime.datetime) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]}"


def _clock(moment: datetime.datetime) -> str:
    """Return the time of day, no more precisely than needed."""
    if moment.microsecond:
        return moment.strftime("%H:%M:%S.%f").rstrip("0")
    return moment.strftime("%H:%M:%S" if moment.second else "%H:%M")


def say_moment(moment: Moment | None) -> str | None:
    """Return a time as text."""
    return None if moment is None else str(moment)
