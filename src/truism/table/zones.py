"""Time zones by name or by offset."""

import datetime
import functools
import re
import zoneinfo


@functools.lru_cache(maxsize=64)
def zone_named(name: str) -> datetime.tzinfo | None:
    """Return a time zone by its name or by its offset, None where there is no such zone.

    >>> str(zone_named("+02:00")), zone_named("Nowhere")
    ('UTC+02:00', None)
    """
    if name == "UTC":
        return datetime.UTC
    offset = re.fullmatch(r"([+-])(\d{2}):?(\d{2})", name)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3])
        if minutes >= 24 * 60:
            return None
        return datetime.timezone(datetime.timedelta(minutes=int(f"{offset[1]}{minutes}")))
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None
