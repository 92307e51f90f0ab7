"""The one sentence above everything else: findings go in, what happened in a few words comes out."""

from truism.explain.findings import Findings, gravest, n_found, say_expected, say_found
from truism.explain.incidents import Incident
from truism.model.wording import count
from truism.show.series import Axis


def say_verdict(axis: Axis, findings: Findings) -> str:
    """Say in one sentence what was found."""
    if not findings.ordered:
        return _say_patterns(findings)
    extent_in_words = axis.lasted(0, axis.n_rows - 1) if axis.n_rows else "0 rows"
    n_incidents, n_changes, _ = n_found(findings)
    if not n_incidents + n_changes:
        rows = "" if axis.unit == "row" else f" ({axis.n_rows:,} rows)"
        return f"No incident in {extent_in_words}{rows}."
    (worst,) = gravest(findings, 1)
    when = axis.when(worst.start, worst.end)
    link = "in" if axis.unit == "row" else ("at" if worst.start == worst.end else "from")
    told = f"{_name(worst)} {link} {when}."
    more = f" in {extent_in_words}"
    if n_incidents + n_changes == 1:
        return f"{say_found(*n_found(findings), more)}: {told}"
    found = say_found(*n_found(findings), more + say_expected(findings))
    return f"{found}; the worst began with {told}"


def _say_patterns(findings: Findings) -> str:
    """Say in one sentence what most anomalous rows have in common."""
    rows = count(findings.n_rows, "row")
    if not findings.n_anomalous:
        return f"No anomaly in {rows}."
    first = findings.patterns[0]
    if findings.n_anomalous == 1:
        return f"1 anomaly in {rows}: {first.headline}."
    share = "all" if first.n_rows == findings.n_anomalous else first.percent
    return f"{findings.n_anomalous:,} anomalies in {rows}; {share} of them: {first.headline}."


def _name(incident: Incident) -> str:
    """Return what the variable that is blamed most is called."""
    first = incident.blames[0] if incident.blames else None
    return "no variable" if first is None else first.legend.name(first.variable)
