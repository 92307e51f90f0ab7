"""The content of a report, as one frozen value: page and JSON come from a `Summary`.

It holds every number that is shown and, where a person reads it, the words too; so there is nothing
left to compute when drawing or printing.
"""

from typing import Literal

import msgspec

from truism.explain.findings import Differing
from truism.explain.incidents import Incident
from truism.explain.patterns import Pattern
from truism.export.records import RuleRecord
from truism.model.provenance import Trial
from truism.model.wording import Printed, visible

Unit = Literal["time", "row"]
N_PRINTED = 10  # incidents


class Line(msgspec.Struct, frozen=True):
    """A series reduced for drawing: it keeps the smallest and the largest value of every bucket."""

    x: tuple[float, ...]  # milliseconds since 1970 or row numbers, as `Summary.unit` says
    y: tuple[float | None, ...]  # values; None where missing


class Span(msgspec.Struct, frozen=True):
    """A stretch of the x axis, from the start of its first row to the end of its last."""

    start: float
    end: float


class Band(msgspec.Struct, frozen=True):
    """What a variable should be, and where that was expected."""

    low: float | None  # an interval of numbers; None for an open side
    high: float | None
    states: tuple[int, ...]  # positions of states, for a variable with states
    spans: tuple[Span, ...]  # where the condition held


class Panel(msgspec.Struct, frozen=True):
    """One variable over an incident and some time around it."""

    variable: str
    says: str  # what was expected of it, or its part of the condition
    # names of its states, if it has states; `line` then holds positions in this list
    states: tuple[str, ...]
    line: Line  # its values
    band: Band | None  # the expected interval or states; None if no rule names any
    broken: Line  # rows that break the expectation, as a line of points


class Picture(msgspec.Struct, frozen=True):
    """The blamed variable first, then the variables of the condition, aligned in time."""

    incident: Span
    peak: float
    panels: tuple[Panel, ...]


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """One incident as the page shows it: with what a reader takes in of its blames, and pictures."""

    number: int  # 1 is the worst
    title: str  # the variable blamed most
    when: str  # in words
    lasted: str
    at_peak: str
    span: Span  # its stretch of the x axis
    # its first blames, those before others that go with them first, each with its first reasons
    incident: Incident
    n_blamed: int  # how many blames it has in all
    # for each blame, when its first reason was found, as words; empty if at the peak
    places: tuple[str, ...]
    # for each blame the first reason as a picture; None for all but the first of the worst incidents
    pictures: tuple[Picture | None, ...]


class RuleLine(msgspec.Struct, frozen=True):
    """One rule in the list of rules, and what became of it here."""

    rule: RuleRecord
    n_broken: int  # rows of this table that break it
    incidents: tuple[int, ...]  # numbers of the incidents that name it


class Histogram(msgspec.Struct, frozen=True):
    """How values are spread in training and here, as shares of the values that are not missing."""

    labels: tuple[str, ...]  # the state, or the interval, of each bin
    # the share of the values in each bin; values beyond the ends count in the outer bins
    training: tuple[float, ...]
    here: tuple[float, ...]


class VariableLine(msgspec.Struct, frozen=True):
    """One variable in training and here; `share` is its share of the blame for all incidents."""

    name: str
    kind: Literal["numeric", "categorical"]
    seen_in_training: str
    seen_here: str
    n_missing_in_training: int
    n_missing_here: int
    n_rules: int
    share: float
    histogram: Histogram


class Fact(msgspec.Struct, frozen=True):
    """A name and its value."""

    name: str
    value: str


class Summary(Printed, msgspec.Struct, frozen=True):
    """Everything a report says."""

    format: Literal["truism-report"]  # the name and version of the JSON format
    format_version: Literal[5]
    verdict: str  # the findings in one sentence
    source: str | None  # where the rows came from, and when the report was made, as text
    created: str | None
    n_rows: int  # rows, and rows above the threshold
    n_anomalous: int
    threshold: float  # rows that score above it are anomalies
    # whether rows are a series; if not, there is no timeline, and patterns come first
    ordered: bool
    several: bool  # whether they are several series in one table; then no line joins the scores
    unit: Unit  # what x is: milliseconds since 1970, or row numbers
    scores: Line  # the score over time
    # the gravest incidents and lasting changes, those that still stand last, and how many there are
    incidents: tuple[Card, ...]
    n_incidents: int
    differing: tuple[Differing, ...]
    # what most rows have in common, where rows are no series, and how many patterns there are
    patterns: tuple[Pattern, ...]
    n_patterns: int
    # where the other incidents are; neighbours are merged if there are very many
    weaker: tuple[Span, ...]
    in_short: tuple[Fact, ...]  # what is always true, with its rows and the rules behind it
    constants: str  # what never changes
    rules: tuple[RuleLine, ...]  # the rules that are listed, and how many the model has
    n_rules: int
    variables: tuple[VariableLine, ...]  # every variable
    model: tuple[Fact, ...]  # facts about the model and about the table
    data: tuple[Fact, ...]
    trials: tuple[Trial, ...]  # the values of θ that were tried
    labels: str  # how the findings compare with the labels, in a sentence; empty without labels
    notices: tuple[str, ...]  # what puts the result in doubt
    remarks: tuple[str, ...]  # what else there is to know about how the model was learned

    def __repr__(self) -> str:
        return f"<Summary: {self.verdict}>"

    def __str__(self) -> str:
        cards = self.incidents[:N_PRINTED]
        lines = [f"{card.number:>2}  {card.when}  {card.incident.summary}" for card in cards]
        rest = self.n_incidents - len(cards)
        more = [f"… and {rest:,} more"] if rest else []
        return "\n".join(map(visible, [self.verdict, *lines, *more]))
