"""What a check found as JSON for other programs, and its JSON Schema.

Incidents and patterns are what Python has; of each blame only the first few reasons are written.
"""

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from truism.explain.blames import Blame, Spared
from truism.explain.clues import Facts
from truism.explain.findings import Differing, Findings, Interruption
from truism.explain.incidents import Incident, ModelName, Origin
from truism.explain.patterns import Pattern
from truism.explain.states import Change, What
from truism.explain.words import Reason

N_REASONS = 3  # of each blame: a bad row can break hundreds of rules

Verdict = Literal["anomalies", "clean", "nothing checked"]


class CheckRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that one check found.

    Parameters
    ----------
    verdict
        Whether there is anything to report; "nothing checked" if there were no rows.
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
    interruptions
        The parts of series that are missing: those without a row for more than ten usual steps, the
        longest first.
    incidents, shifts
        What was found, the gravest story first.
    patterns
        What anomalous rows have in common, most rows first; null if nobody asked.

    """

    verdict: Verdict
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
    interruptions: tuple[Interruption, ...]
    incidents: tuple[Incident, ...]
    shifts: tuple[Incident, ...]
    patterns: tuple[Pattern, ...] | None


def check_record(
    findings: Findings,
    origin: Origin,
    shown: Iterable[Incident],
    patterns: tuple[Pattern, ...] | None = None,
    n_skipped: int = 0,
) -> CheckRecord:
    """Return findings as a record, with those incidents and lasting changes that are shown."""
    incidents = [incident.with_reasons(N_REASONS) for incident in shown]
    verdict: Verdict = "anomalies"
    if findings.is_clean:
        verdict = "clean" if findings.n_rows else "nothing checked"
    return CheckRecord(
        verdict=verdict,
        model=origin.model,
        source=origin.source,
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
        interruptions=findings.interruptions,
        incidents=tuple(incident for incident in incidents if incident.kind == "incident"),
        shifts=tuple(incident for incident in incidents if incident.kind == "shift"),
        patterns=patterns,
    )


def event_record(change: Change) -> dict[str, Any]:
    """Return what happened to an incident: the incident, and what happened before everything else."""
    return {"event": change.what, **change.incident.with_reasons(N_REASONS).to_dict()}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of what programs get: a check, an incident, or an event."""
    (check, incident), defs = msgspec.json.schema_components(
        (CheckRecord, Incident), ref_template="#/$defs/{name}"
    )
    for struct in (Incident, Blame, Reason, Facts, Spared):  # whose fields are all written
        written = defs[struct.__name__]
        written["required"] = [*written["properties"]]
    plain = defs["Incident"]
    happened: list[What] = ["opened", "updated", "closed"]
    defs["Event"] = {
        **plain,
        "title": "Event",
        "description": "What happened to an incident, and the incident after it.",
        "properties": {"event": {"enum": happened}, **plain["properties"]},
        "required": ["event", *plain["required"]],
    }
    return {"anyOf": [check, incident, {"$ref": "#/$defs/Event"}], "$defs": defs}
