"""Why a threshold and a support are what they are, as values that print as words."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from truism.model.rates import IncidentRate
from truism.model.schema import Count, Positive, refuse_more


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
        said = f"about {self.rate} to be expected of normal rows"
        shown = f"{self.n_rows:,} held-out rows"
        return (
            f"{said}, extrapolated from {shown}"
            if self.extrapolated
            else f"{said}, judging by {shown}"
        )


ThresholdOrigin = ByHand | AnyBrokenRule | ShareOfRows | RateOfIncidents | Calibrated


class Threshold(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows that score above `value` are anomalies; `origin` says why it is what it is."""

    value: float
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
