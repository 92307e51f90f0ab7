"""The dates that faces put on what they make; nothing else in truism looks at a clock."""

import datetime


def now() -> str:
    """Return the present moment in UTC, for a model."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def today() -> str:
    """Return the present day in UTC, for a change of a model."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def now_here() -> str:
    """Return the present minute where the user is, for a report."""
    return datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
