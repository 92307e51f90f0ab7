"""How to learn, as one checked value."""

import math
import numbers
import re
from fractions import Fraction
from typing import Annotated, Any, Literal

import msgspec

from truism.errors import ParameterError
from truism.table.layouts import seconds_of

Scoring = Literal["evidence", "paper"]
Cutoffs = Literal["tree", "uniform", "kmeans"]
SCORINGS: tuple[Scoring, ...] = ("evidence", "paper")
CUTOFFS: tuple[Cutoffs, ...] = ("tree", "uniform", "kmeans")
LONGEST: dict[Scoring, int] = {"evidence": 3, "paper": 5}
SUPPORT_RATIOS: dict[Scoring, float] = {"evidence": 0.1, "paper": 0.7}
MAX_NODES = 100_000_000
MAX_RULES = 1_000_000
MAX_LENGTH = 16


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
        match = _FORM.fullmatch(text) if isinstance(text, str) else None
        if match is None or float(match[1]) <= 0:
            raise ParameterError.of(
                "max_false_incidents",
                "be a rate such as '1/day', '2/week' or '1/1000rows'",
                text,
            )
        per: Per = "1000rows" if match[2].startswith("1000") else match[2]  # type: ignore[assignment]
        return cls(float(match[1]), per)

    @classmethod
    def asked(cls, text: str | None, step: float | None) -> "IncidentRate":
        """Return the rate that the user asks for; else one a day of 1,000 rows or more, or in 1,000 rows.

        >>> str(IncidentRate.asked(None, 60.0)), str(IncidentRate.asked(None, 3600.0))
        ('1 a day', '1 per 1,000 rows')
        """
        if text is not None:
            return cls.parse(text)
        often = step is not None and ROWS * step <= _SECONDS["day"]
        return cls(1.0, "day" if often else "1000rows")

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
                "be given in rows, such as '1/1000rows', because the model has no times",
                f"{self.count:g}/{self.per}",
            )
        return self.count * ROWS * step / _SECONDS[self.per]

    def of(self, noun: str) -> str:
        """Return the rate with what it counts.

        >>> IncidentRate(1.0, "day").of("incident"), IncidentRate(2.0, "week").of("incident")
        ('1 incident a day', '2 incidents a week')
        """
        ending = "" if self.count == 1 else "s"
        return f"{self.count:.3g} {noun}{ending} {_IN_WORDS[self.per]}"

    def __str__(self) -> str:
        return f"{self.count:.3g} {_IN_WORDS[self.per]}"


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to learn."""

    # θ: a rule must hold in more than this share of the rows; ``"auto"`` chooses it (see
    # `truism.learn.rules`)
    min_support: float | Literal["auto"] = "auto"
    # γ: a rule must hold in more than this share of the rows of its rarest predicate; ``"auto"`` is
    # 0.7 for the paper's scoring, as in the paper, and 0.1 for evidence, which weighs a rule by its
    # support
    support_ratio: float | Literal["auto"] = "auto"
    # the longest unit rule; ``"auto"`` is 5 for the paper's scoring, and 3 for evidence, whose
    # contexts cover what takes more conditions
    max_predicates: int | Literal["auto"] = "auto"
    # where cut-offs of continuous variables come from: ``"tree"``, ``"uniform"``, ``"kmeans"``
    cutoffs: Cutoffs = "tree"
    # how to score a row: ``"evidence"`` weighs broken rules, values that are unusual given the
    # other variables, and rare values; ``"paper"`` adds up broken rules as in the paper
    scoring: Scoring = "evidence"
    # columns whose kind the user sets
    categorical: tuple[str, ...] = ()
    continuous: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    time: str | None = None
    # random seed, for the split that chooses θ and for the choice of variables for each context
    random_state: int = 0
    ordered: bool = False  # whether the user says that rows are in order
    by: str | None = None  # the column that tells several series in one table apart
    # the column that says which rows are anomalous: no variable, and such rows are not learned
    label: str | None = None
    # the span of the past in rows, or as a duration; ``"auto"`` is 15 rows of a series, and 0
    # judges every row by itself
    lookback: int | str = "auto"
    # how many incidents of normal rows the user can live with, such as ``"1/day"``
    max_false_incidents: str | None = None
    # the search budget; see `truism.learn.mining.Budget`
    max_nodes: int = MAX_NODES
    max_rules: int = MAX_RULES

    def __post_init__(self) -> None:
        auto = "be 'auto' or "
        if self.min_support != "auto":
            check_number("min_support", self.min_support, auto + "above 0 and below 1", above=0.0)
        if self.support_ratio != "auto":
            check_number("support_ratio", self.support_ratio, auto + "at least 0 and below 1")
        if self.max_predicates != "auto":
            check_whole("max_predicates", self.max_predicates, 2)
            if self.max_predicates > MAX_LENGTH:
                raise ParameterError.of(
                    "max_predicates", f"be at most {MAX_LENGTH}", self.max_predicates
                )
        check_whole("random_state", self.random_state, 0)
        self._check_lookback()
        if self.max_false_incidents is not None:
            IncidentRate.parse(self.max_false_incidents)
        check_whole("max_nodes", self.max_nodes, 1)
        check_whole("max_rules", self.max_rules, 1)
        for name, allowed in (("cutoffs", CUTOFFS), ("scoring", SCORINGS)):
            value = getattr(self, name)
            if value not in allowed:
                choices = " or ".join(repr(value) for value in allowed)
                raise ParameterError.of(name, f"be {choices}", value)

    def _check_lookback(self) -> None:
        if not isinstance(self.lookback, str):
            check_whole("lookback", self.lookback, 0)
        elif self.lookback != "auto":
            try:
                seconds_of(self.lookback)
            except ParameterError:
                constraint = "be 'auto', a number of rows, or a duration such as '10min'"
                raise ParameterError.of("lookback", constraint, self.lookback) from None

    @property
    def longest(self) -> int:
        """The longest unit rule: as set, or what suits the scoring."""
        return LONGEST[self.scoring] if self.max_predicates == "auto" else self.max_predicates

    @property
    def ratio(self) -> float:
        """γ: as set, or what suits the scoring."""
        return SUPPORT_RATIOS[self.scoring] if self.support_ratio == "auto" else self.support_ratio


def exact(value: float) -> Fraction:
    """Return a float as the decimal that it prints as: 0.29 of 100 rows are 29, not 28.999….

    >>> exact(0.29) * 100
    Fraction(29, 1)
    """
    return Fraction(repr(float(value)))


def check_number(
    name: str,
    value: Any,
    constraint: str,
    *,
    above: float | None = None,
    at_least: float = 0.0,
    below: float = 1.0,
) -> None:
    """Refuse a setting that is not a number, or is out of range.

    >>> check_number("rate", 0.5, "be at least 0 and below 1")
    """
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not at_least <= value < below or (above is not None and value <= above):
        raise ParameterError.of(name, constraint, value)


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse a setting that is not a whole number, or is too small."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or value < least:
        raise ParameterError.of(name, f"be a whole number of at least {least}", value)


def check_threshold(threshold: Any) -> None:
    """Refuse a threshold that scores cannot be compared with."""
    check_number("threshold", threshold, "be a finite number of at least 0", below=math.inf)
