"""Incidents and events as records for other programs: the source of JSON, and of its JSON Schema.

Every reason is given twice: in words, and as values and predicates that a program can use.
"""

import math
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from truism.explain.blames import Blame, Spared
from truism.explain.clues import (
    Clue,
    Contradiction,
    Dead,
    Lasting,
    Moved,
    Nearest,
    Outside,
    Rarity,
    UsualNumber,
)
from truism.explain.findings import Differing, Findings
from truism.explain.incidents import Incident, Origin
from truism.explain.states import Change, What
from truism.explain.words import say_moment
from truism.incidents.events import Kind
from truism.model.predicates import Interval, Predicate, variables
from truism.model.schema import Scalar
from truism.score.weighed import Violation

N_REASONS = 3  # of each blame: a bad row can break hundreds of rules


class ModelName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which model: its name, and a version that follows from its rules and its evidence."""

    name: str | None
    version: str


class UsualRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Mean and spread of a number in training rows like the one that was found."""

    mean: float
    spread: float


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason as values.

    Parameters
    ----------
    expected
        Predicates of which one was expected to hold; empty if no predicate says it.
    found
        The values that were found, by variable; infinite ones as text.
    because
        Predicates that hold in the row, under which this was expected.
    usual
        Mean and spread of a number in training rows like this one.

    """

    expected: tuple[Predicate, ...]
    found: dict[str, Scalar | None]
    because: tuple[Predicate, ...] = ()
    usual: UsualRecord | None = None


class ReasonRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reason in words, and as values.

    Parameters
    ----------
    expected, found, because, evidence
        In words; `because` is null if there is no condition.
    rule
        The id of the broken rule; empty if the reason is not a rule.
    penalty
        What it adds to the score.
    row
        The row it is about; null if that is the peak.
    facts
        The same as values.

    """

    expected: str
    found: str
    because: str | None
    evidence: str
    rule: str
    penalty: float
    row: int | None
    facts: Facts


class BlameRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable that is to blame, its share of the blame, and the strongest reasons first.

    Parameters
    ----------
    variable, share, penalty
        The variable, its share of the blame, and what it adds to the scores of all rows.
    since, began
        The first row in which it deviates, and its time.
    offset
        How far its numbers lie above those of such training rows on average; null if on both sides.
    behind
        The variable that it goes with, if it is wrong only because that one is.
    reasons
        Why, strongest first.

    """

    variable: str
    share: float
    penalty: float
    since: int | None
    began: str | None
    offset: float | None
    behind: str | None
    reasons: tuple[ReasonRecord, ...]


class IncidentRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One incident or shift.

    Parameters
    ----------
    id
        The same in every call and for as long as it lasts.
    story
        What it shares with the incidents that began while it was active, or soon after.
    model, source, series
        What found it, and where.
    state
        Whether the next row may still belong to it.
    kind
        An incident, or a shift: what stays unusual.
    severity, score, threshold
        How grave it is, its highest score, and the threshold.
    start, end, peak
        Its first, its last and its worst row; since the beginning of the state, where there is one.
    started, ended, peaked
        The times of these rows; null if there are none.
    seconds
        How long it lasted.
    n_rows
        How many rows are unusual.
    ongoing
        The same as `state`, as true or false.
    nth
        How many incidents its main variable has led in the series so far, this one included.
    summary, announced, spared
        What happened in one sentence, what was announced again after it began, and what does not count
        because it was accepted; the last two may be empty.
    accepted
        What does not count because it was accepted, as values.
    blames
        The variables to blame, worst first.

    """

    id: str
    story: str
    model: ModelName
    source: str | None
    series: str | None
    state: Literal["open", "closed"]
    kind: Kind
    severity: float
    score: float
    threshold: float
    start: int
    end: int
    peak: int
    started: str | None
    ended: str | None
    peaked: str | None
    seconds: float | None
    n_rows: int
    ongoing: bool
    nth: int
    summary: str
    announced: str
    spared: str
    accepted: tuple[Spared, ...]
    blames: tuple[BlameRecord, ...]


class CheckRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that one check found.

    Parameters
    ----------
    verdict
        Whether there is anything to report.
    model, source
        What was checked with what.
    n_rows, n_anomalous, n_skipped
        The rows that were checked, those that score above the threshold, and those that were not
        newer than the rows of earlier calls.
    threshold, gap
        The threshold, and how many normal rows may lie within an incident.
    expected
        How many incidents normal rows were expected to form; null if that is not known.
    extra, coarser
        Columns that the model does not know, and variables with fewer decimals than in training.
    ordered
        Whether rows are a series; if not, each incident is one row.
    differing
        The variables that differ from training now.
    incidents, shifts
        What was found, the gravest story first.
    patterns
        What anomalous rows have in common, most rows first; null if nobody asked.

    """

    verdict: Literal["anomalies", "clean"]
    model: ModelName
    source: str | None
    n_rows: int
    n_anomalous: int
    n_skipped: int
    threshold: float
    gap: int | None
    ordered: bool
    expected: float | None
    extra: tuple[str, ...]
    coarser: tuple[str, ...]
    differing: tuple[Differing, ...]
    incidents: tuple[IncidentRecord, ...]
    shifts: tuple[IncidentRecord, ...]
    patterns: tuple[dict[str, Any], ...] | None


class Records:
    """Makes records of what one model finds in one source; a model may have no name."""

    def __init__(self, origin: Origin, name: str | None, threshold: float) -> None:
        self._model = ModelName(name, origin.model)
        self._source, self._threshold = origin.source, threshold

    def incident(self, incident: Incident) -> IncidentRecord:
        """Return an incident as a record."""
        lasted = incident.duration
        return IncidentRecord(
            id=incident.id,
            story=incident.story,
            model=self._model,
            source=self._source,
            series=incident.series,
            state="open" if incident.ongoing else "closed",
            kind=incident.kind,
            severity=incident.severity,
            score=incident.score,
            threshold=self._threshold,
            start=incident.start,
            end=incident.end,
            peak=incident.peak,
            started=say_moment(incident.started),
            ended=say_moment(incident.ended),
            peaked=say_moment(incident.peaked),
            seconds=None if lasted is None else lasted.total_seconds(),
            n_rows=incident.n_rows,
            ongoing=incident.ongoing,
            nth=incident.nth,
            summary=incident.summary,
            announced=incident.announced,
            spared=incident.spared,
            accepted=incident.accepted,
            blames=tuple(map(_blame, incident.blames)),
        )

    def event(self, change: Change) -> dict[str, Any]:
        """Return what happened to an incident: its record, and what happened before everything else."""
        return {"event": change.what, **msgspec.to_builtins(self.incident(change.incident))}

    def check(
        self,
        findings: Findings,
        shown: Iterable[Incident],
        patterns: tuple[dict[str, Any], ...] | None = None,
        n_skipped: int = 0,
    ) -> CheckRecord:
        """Return findings as a record, with those incidents and lasting changes that are shown."""
        records = [self.incident(each) for each in shown]
        return CheckRecord(
            verdict="clean" if findings.is_clean else "anomalies",
            model=self._model,
            source=self._source,
            n_rows=findings.n_rows,
            n_anomalous=findings.n_anomalous,
            n_skipped=n_skipped,
            threshold=findings.threshold,
            gap=findings.gap,
            ordered=findings.ordered,
            expected=findings.expected,
            extra=findings.extra,
            coarser=findings.coarser,
            differing=findings.differing,
            incidents=tuple(each for each in records if each.kind == "incident"),
            shifts=tuple(each for each in records if each.kind == "shift"),
            patterns=patterns,
        )


def _blame(blame: Blame) -> BlameRecord:
    clues = blame.clues[:N_REASONS]
    reasons = tuple(
        ReasonRecord(
            reason.expected,
            reason.found,
            reason.because,
            reason.evidence,
            reason.rule,
            reason.penalty,
            reason.row,
            facts_of(clue),
        )
        for reason, clue in zip(blame.reasons, clues, strict=False)
    )
    return BlameRecord(
        variable=blame.variable,
        share=blame.share,
        penalty=blame.penalty,
        since=blame.since,
        began=say_moment(blame.began),
        offset=blame.offset,
        behind=blame.behind,
        reasons=reasons,
    )


def facts_of(clue: Clue) -> Facts:
    """Return a clue as values.

    >>> from truism.explain.clues import Sparse
    >>> facts = facts_of(Rarity("flow", 3.0, Nearest(2.5, 4.0), Sparse(0), 1.0, False))
    >>> [str(each) for each in facts.expected]
    ['flow < 2.5000000000000004', 'flow ≥ 4']
    """
    match clue:
        case Violation(rule, failed, values):
            found = dict(zip(variables(failed), map(_value, values), strict=True))
            return Facts((failed,), found, rule.antecedent)
        case Contradiction():
            usual = clue.usual
            number = (
                UsualRecord(usual.mean, usual.spread) if isinstance(usual, UsualNumber) else None
            )
            found = {clue.variable: _value(clue.found)}
            expected = () if clue.expected is None else (clue.expected,)
            return Facts(expected, found, clue.conditions, number)
        case Outside():
            return Facts((clue.expected,), {clue.variable: _value(clue.found)})
        case Rarity():
            return Facts(_ordinary(clue), {clue.variable: _value(clue.found)})
        case Dead() | Moved():
            return Facts((), {clue.variable: _value(clue.found)})
        case Lasting():
            return Facts((), {})


def _ordinary(clue: Rarity) -> tuple[Predicate, ...]:
    """Return what is ordinary: states, or the numbers on either side of a rare one."""
    around = clue.usual
    if not isinstance(around, Nearest):
        return (around,)
    sides = (Nearest(around.below, None), Nearest(None, around.above))
    found = (each.interval(clue.variable) for each in sides)
    return tuple(each for each in found if isinstance(each, Interval))


def _value(value: Any) -> Scalar | None:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    found: Scalar | None = value
    return found


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of what programs get: a check, an incident, or an event."""
    parts = {"check": CheckRecord, "incident": IncidentRecord}
    (check, incident), defs = msgspec.json.schema_components(
        parts.values(), ref_template="#/$defs/{name}"
    )
    for side in ("low", "high"):  # an open side is absent; JSON has no infinity to default to
        del defs["Interval"]["properties"][side]["default"]
    plain = defs["IncidentRecord"]
    happened: list[What] = ["opened", "updated", "closed"]
    defs["Event"] = {
        **plain,
        "title": "Event",
        "description": "What happened to an incident, and the incident after it.",
        "properties": {"event": {"enum": happened}, **plain["properties"]},
        "required": ["event", *plain["required"]],
    }
    return {"anyOf": [check, incident, {"$ref": "#/$defs/Event"}], "$defs": defs}
