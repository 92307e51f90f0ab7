"""Where a model came from, and what was switched off since."""

import datetime
import time
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from truism.errors import ParameterError
from truism.model.schema import Count, Positive, refuse_more
from truism.model.settings import IncidentRate
from truism.model.wording import percent
from truism.table.notices import Notice

MAX_RATE = 0.01  # share of held-out rows that may break a rule, or score above the threshold
EVIDENCE_ROWS = 12  # every rule holds in so many rows, where broken rules are weighed


class ByHand(msgspec.Struct, frozen=True, tag="by_hand", forbid_unknown_fields=True):
    """The user set it."""

    def __str__(self) -> str:
        return "set by hand"


class AnyBrokenRule(msgspec.Struct, frozen=True, tag="any_broken_rule", forbid_unknown_fields=True):
    """A threshold of 0 with the paper's scoring."""

    def __str__(self) -> str:
        return "any broken rule"


class ShareOfRows(msgspec.Struct, frozen=True, tag="share_of_rows", forbid_unknown_fields=True):
    """At most this share of the training rows score above the threshold when held out."""

    max_rate: Annotated[float, Meta(ge=0, le=1)]
    n_rows: Positive

    def __str__(self) -> str:
        rows = f"{self.n_rows:,} training rows"
        return f"at most {100 * self.max_rate:g} % of {rows} score above it when held out"


class Calibrated(msgspec.Struct, frozen=True, tag="calibrated", forbid_unknown_fields=True):
    """How many of the calibration rows score above the threshold."""

    n_above: Count
    n_rows: Positive

    def __post_init__(self) -> None:
        refuse_more("n_above", self.n_above, self.n_rows)

    def __str__(self) -> str:
        part = f"{100 * self.n_above / self.n_rows:.2g} %"
        return f"{self.n_above:,} of {self.n_rows:,} calibration rows ({part}) exceed it"


class RateOfIncidents(
    msgspec.Struct, frozen=True, tag="rate_of_incidents", forbid_unknown_fields=True
):
    """About so many incidents of normal rows are expected, from what held-out rows show."""

    rate: IncidentRate
    n_incidents: Count
    n_rows: Count
    extrapolated: bool = False

    def __post_init__(self) -> None:
        refuse_more("n_incidents", self.n_incidents, self.n_rows)

    def __str__(self) -> str:
        expected = f"about {self.rate.of('false incident')}"
        shown = f"{self.n_rows:,} held-out rows"
        return (
            f"{expected}, extrapolated from {shown}"
            if self.extrapolated
            else f"{expected}, judging by {shown}"
        )


ThresholdOrigin = ByHand | AnyBrokenRule | ShareOfRows | RateOfIncidents | Calibrated


class Threshold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows that score above `value` are anomalies; `origin` says why it is what it is."""

    value: Annotated[float, Meta(ge=0)]
    origin: ThresholdOrigin


SupportOrigin = Literal[
    "asked",  # the user set it
    "share",  # evidence scoring: 1 % of the rows
    "rows",  # evidence scoring: so that a rule holds in a dozen rows
    "most",  # evidence scoring: the largest value of the grid, because there are few rows
    "smallest",  # paper's scoring: the smallest value with few false alarms on held-out rows
    "fewest",  # paper's scoring: the value with the fewest false alarms on held-out rows
    "untried",  # paper's scoring: the largest value of the grid, because there are few rows
]
"""Why θ is what it is."""


class Trial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One value of θ that was tried, and how many held-out rows broke a mined rule."""

    min_support: float  # the value
    # held-out rows that broke a mined rule, and all held-out rows
    n_broken: Count
    n_held_out: Positive
    # the antecedent length up to which the budget allowed mining; if 0, nothing was mined and the
    # trial says nothing
    complete_to: Count

    def __post_init__(self) -> None:
        refuse_more("n_broken", self.n_broken, self.n_held_out)

    @property
    def rate(self) -> float:
        """The false-positive rate."""
        return self.n_broken / self.n_held_out


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a model came from."""

    version: str  # the version of truism that learned it
    # the training table's size
    n_rows: Count
    n_columns: Count
    fingerprint: str  # a digest of the training values
    # the θ that was used, and why
    min_support: float
    # all rules with up to this many predicates in the antecedent are in the model
    complete_to: Count
    support_origin: SupportOrigin
    trials: tuple[Trial, ...] = ()  # the values of θ that were tried
    # what the user should know, apart from the columns that were left out
    notices: tuple[Notice, ...] = ()
    created: str | None = None  # when, as ISO text; the caller gives it
    # the training table's columns in its order, with those left out and the time axis
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        chosen = self.support_origin in ("fewest", "smallest")
        if chosen and all(trial.min_support != self.min_support for trial in self.trials):
            raise ParameterError.of("min_support", "be one of the values tried", self.min_support)

    @property
    def why_support(self) -> str:
        """Why θ is what it is."""
        rate_of = {trial.min_support: trial.rate for trial in self.trials}
        match self.support_origin:
            case "asked":
                return "set by hand"
            case "share":
                return "the default"
            case "rows":
                return f"so that every rule holds in at least {EVIDENCE_ROWS} rows"
            case "most":
                return "the largest value, because there are few rows"
            case "untried":
                return "too few rows to choose it"
            case "fewest":
                rate = percent(rate_of[self.min_support])
                return f"the value with the fewest false alarms on held-out rows: {rate}"
        why = (
            f"the smallest value with fewer than {percent(MAX_RATE)} false alarms on held-out rows: "
            f"{percent(rate_of[self.min_support])}"
        )
        smaller = max((value for value in rate_of if value < self.min_support), default=None)
        return why if smaller is None else f"{why}, and {percent(rate_of[smaller])} at {smaller:g}"


class Disabled(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule that neither scores nor explains, and why."""

    rule_id: str
    reason: str
    date: str | None = None


# --- dates: nothing else in truism looks at a clock ---


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
