"""How many false incidents people can live with, as they say it: one a day, two a week."""

import re
from typing import Annotated, Literal

import msgspec

from truism.errors import ParameterError

ROWS = 1000
_SECONDS = {"hour": 3600.0, "day": 86_400.0, "week": 604_800.0}
_FORM = re.compile(r"\s*(\d+(?:\.\d+)?)\s*/\s*(hour|day|week|1000\s*rows)\s*")

Per = Literal["hour", "day", "week", "1000rows"]
_IN_WORDS: dict[Per, str] = {
    "hour": "an hour",
    "day": "a day",
    "week": "a week",
    "1000rows": "per 1,000 rows",
}


class IncidentRate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """So many incidents in so much time, or in 1,000 rows."""

    count: Annotated[float, msgspec.Meta(gt=0)]
    per: Per

    @classmethod
    def parse(cls, text: str) -> "IncidentRate":
        """Read a rate.

        >>> IncidentRate.parse("1/day"), str(IncidentRate.parse("0.5 / 1000 rows"))
        (IncidentRate(count=1.0, per='day'), '0.5 per 1,000 rows')
        """
        found = _FORM.fullmatch(text) if isinstance(text, str) else None
        if found is None or float(found[1]) <= 0:
            raise ParameterError.of(
                "max_false_incidents",
                "be a rate such as '1/day', '2/week' or '1/1000rows'",
                text,
            )
        per: Per = "1000rows" if found[2].startswith("1000") else found[2]  # type: ignore[assignment]
        return cls(float(found[1]), per)

    @classmethod
    def usual(cls, step: float | None) -> "IncidentRate":
        """Return the rate that suits most: one a day of 1,000 rows or more, else one in 1,000 rows.

        >>> str(IncidentRate.usual(60.0)), str(IncidentRate.usual(3600.0))
        ('1 a day', '1 per 1,000 rows')
        """
        often = step is not None and ROWS * step <= _SECONDS["day"]
        return cls(1.0, "day" if often else "1000rows")

    @classmethod
    def asked(cls, text: str | None, step: float | None) -> "IncidentRate":
        """Return the rate that the user asks for, or the usual one."""
        return cls.usual(step) if text is None else cls.parse(text)

    def at_least_once(self, n_rows: int, step: float | None) -> "IncidentRate":
        """Return the rate, or once in so many rows if it is rarer: nothing shows what is rarer.

        >>> str(IncidentRate(1.0, "day").at_least_once(400, 1.0))
        '2.5 per 1,000 rows'
        """
        return (
            self if self.in_rows(step) * n_rows >= ROWS else IncidentRate(ROWS / n_rows, "1000rows")
        )

    def in_rows(self, step: float | None) -> float:
        """Return the rate in 1,000 rows, which are `step` seconds apart.

        >>> IncidentRate(1.0, "day").in_rows(60.0)
        0.6944444444444444
        """
        if self.per == "1000rows":
            return self.count
        if step is None:
            raise ParameterError.of(
                "max_false_incidents",
                "be told in rows, such as '1/1000rows', because the model knows no times",
                f"{self.count:g}/{self.per}",
            )
        return self.count * ROWS * step / _SECONDS[self.per]

    def __str__(self) -> str:
        return f"{self.count:.3g} {_IN_WORDS[self.per]}"
