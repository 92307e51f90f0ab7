"""The dates that faces put on what they make, and by which acceptances end where rows have no time.

Nothing else in truism looks at a clock.
"""

import datetime
import time


def now() -> str:
    """Return the current time in UTC, for a model."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def clock() -> int:
    """Return the current time in microseconds since 1970, by which a job tells times in the future."""
    return time.time_ns() // 1000


def today() -> str:
    """Return the current date in UTC, for a change to a model."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def now_here() -> str:
    """Return the current local time to the minute, for a report."""
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
