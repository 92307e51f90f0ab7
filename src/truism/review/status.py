"""Whether a model still fits: fresh, drifting or stale, why, and what to do about it.

Every sign is an effect size with two limits: from the first on the model drifts, from the second on it
is stale. There are no p-values: with enough rows, every difference is significant.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from truism.explain.checker import Check, Checker
from truism.explain.findings import Differing, Findings
from truism.incidents.deviations import added
from truism.model.model import Model
from truism.model.provenance import Calibrated, ShareOfRows
from truism.model.schema import Numeric
from truism.model.series import PER
from truism.model.wording import Printed, count, percent
from truism.score.weighed import Weighed
from truism.table.columns import Table

Verdict = Literal["fresh", "drifting", "stale"]
Remedy = Literal["none", "look", "repair", "accept", "calibrate", "learn"]
Kind = Literal["reported", "incidents", "contradicted", "unseen", "outside", "absent", "coarser"]

LIMITS: dict[Kind, tuple[float, float]] = {
    "reported": (0.05, 0.2),  # share of rows above the threshold, beyond what was promised
    "incidents": (4.0, 10.0),  # times as many incidents as were to be expected
    "contradicted": (1.5, 4.0),  # spreads by which a variable is contradicted more than usual
    "unseen": (0.01, 0.1),  # share of rows with a state that training never had
    "outside": (0.02, 0.1),  # share of rows outside the range of training
    "absent": (0.0, 0.0),  # any column
    "coarser": (0.0, np.inf),  # any variable with fewer decimals
}
MIN_INCIDENTS = 5  # fewer say nothing about their rate
FLOOR = 0.25  # share of the median variable's spread: the least spread of any variable
N_SIGNS = 8  # signs that are shown


class Sign(msgspec.Struct, frozen=True):
    """Something that differs from what was learned."""

    kind: Kind  # what differs, and of which variable, if of one
    variable: str | None
    size: float  # the effect size, and what it means by itself
    verdict: Verdict
    since: str | None  # since when, if that is known
    text: str  # the same in words


class Status(Printed, msgspec.Struct, frozen=True):
    """Whether a model still fits rows."""

    verdict: Verdict  # ``"fresh"``, ``"drifting"`` or ``"stale"``
    signs: tuple[Sign, ...]  # why, gravest first
    n_rows: int  # the rows that were looked at
    # what to do: nothing, look at the table, repair a sensor, accept a lasting change, calibrate, or
    # learn again
    remedy: Remedy = "none"
    # when the newest lasting change began that has not returned, and its id
    since: str | None = None
    change: str | None = None
    n_older: int | None = None  # how many training rows are older than that; None without a change
    differing: tuple[Differing, ...] = ()  # the variables that differ from training now

    def __str__(self) -> str:
        return "\n".join([self.verdict, *(f"  {sign.text}" for sign in self.signs)])

    def __repr__(self) -> str:
        signs, rows = count(len(self.signs), "sign"), count(self.n_rows, "row")
        return f"<Status: {self.verdict}, {signs} in {rows}>"


def say_status(status: Status) -> list[tuple[str, str]]:
    """Return lines with a heading each: the verdict, why, since when, and what to do."""
    lines = [("status", f"{status.verdict}, by {count(status.n_rows, 'row')}")]
    heading = "because"
    for sign in status.signs[:N_SIGNS]:
        lines.append((heading, sign.text))
        heading = ""
    if len(status.signs) > N_SIGNS:
        lines.append(("", f"and {len(status.signs) - N_SIGNS:,} more signs"))
    if status.since is not None and status.n_older is not None:
        lines.append(
            (
                "change",
                f"the newest lasting change began at {status.since}; all "
                f"{count(status.n_older, 'training row')} are older",
            )
        )
    heading = "differs"
    for change in status.differing:
        lines.append((heading, f"{change.heading} {change.when}: {change.off}; {change.so}"))
        heading = ""
    lines.append(("remedy", say_remedy(status)))
    return lines


def say_remedy(status: Status) -> str:
    """Say what to do."""
    after = "" if status.since is None else f" after {status.since}"
    learn = f"learn again from rows{after}"
    match status.remedy:
        case "none":
            return "none needed" if status.verdict == "fresh" else "look at the variables above"
        case "look":
            return f"look at how the rows were exported; if that is meant to stay, {learn}"
        case "repair":
            names = _silent(status.differing)
            return (
                f"see why {', '.join(names)} {'is' if len(names) == 1 else 'are'} not read any more"
            )
        case "accept":
            named = "" if status.change is None else f" (--shift {status.change})"
            return f"accept the lasting change if it is meant to stay{named}, or {learn}"
        case "calibrate":
            return "calibrate the threshold on rows known to be normal"
    return learn


def status(checker: Checker, table: Table) -> Status:
    """Find out whether a model still fits rows."""
    survey = Survey(checker, table.n_rows, checker.absent(table))
    if survey.check is not None:
        survey.check.take(survey.check.checker.prepare(table))
    return survey.status()


class Survey:
    """Finds out whether a model still fits rows that come in parts."""

    def __init__(self, checker: Checker, n_rows: int, absent: Sequence[str]) -> None:
        self.n_rows, self._absent = n_rows, absent
        self.check: Check | None = None  # takes the rows; None if all columns are absent
        if len(absent) < len(checker.needed):
            checker = checker.without(absent) if absent else checker
            self.check = Check(checker, n_rows, watch=self._add)
        self._model = checker.model
        self._plain, self._n_weighed = np.zeros(len(self._model.schema.names)), 0

    def _add(self, weighed: Weighed) -> None:
        """Add up what contradicts each variable by itself."""
        if weighed.pieces is not None:
            self._plain = added(self._plain, weighed.pieces.plain)
            self._n_weighed += len(weighed.scores)

    def status(self) -> Status:
        """Return whether the model fits the rows that were taken."""
        signs = [_sign("absent", 1.0, f"column {name!r} is absent", name) for name in self._absent]
        if self.check is None:
            return Status("stale", tuple(signs), self.n_rows, "look")
        model, findings = self._model, self.check.findings()
        contradicted = self._plain / self._n_weighed if self._n_weighed else None
        since, change = _newest(findings)
        since_of = _since(findings)
        signs += [
            *_reported(model, findings),
            *_contradicted(model, contradicted, since_of),
            *_values(model, findings.odd, self.n_rows),
            *(
                _sign("coarser", 1.0, f"{name} has fewer decimals", name)
                for name in findings.coarser
            ),
        ]
        rank = {"stale": 0, "drifting": 1, "fresh": 2}
        unusual = sorted(
            (sign for sign in signs if sign.verdict != "fresh"),
            key=lambda sign: (rank[sign.verdict], -sign.size / max(LIMITS[sign.kind][0], 1e-9)),
        )
        verdict = unusual[0].verdict if unusual else "fresh"
        if verdict == "fresh" and findings.differing:
            verdict = "drifting"
        if verdict == "stale" and findings.is_clean and not self._absent:
            verdict = "drifting"  # what is stale is not clean
        return Status(
            verdict,
            tuple(unusual),
            self.n_rows,
            _remedy(verdict, unusual, since, findings.differing),
            since,
            change,
            None if change is None else model.rules.n_rows,
            findings.differing,
        )


def _sign(
    kind: Kind, size: float, text: str, variable: str | None = None, since: str | None = None
) -> Sign:
    drifting, stale = LIMITS[kind]
    verdict: Verdict = "stale" if size > stale else "drifting" if size > drifting else "fresh"
    return Sign(kind, variable, size, verdict, since, text)


def _remedy(
    verdict: Verdict, signs: list[Sign], since: str | None, differing: Sequence[Differing]
) -> Remedy:
    kinds = {sign.kind for sign in signs if sign.verdict == verdict}
    if verdict == "fresh":
        return "none"
    if _silent(differing):
        return "repair"
    if kinds & {"absent", "coarser", "unseen"}:
        return "look"
    if kinds <= {"reported", "incidents"}:
        return "calibrate" if since is None else "accept"
    return "learn" if verdict == "stale" else "accept" if since is not None else "none"


def _silent(differing: Sequence[Differing]) -> list[str]:
    """Return the variables that are dead or missing, and so are not judged."""
    return [change.heading for change in differing if change.cost is None]


def _newest(findings: Findings) -> tuple[str | None, str | None]:
    """Return when the newest lasting change began that has not returned, and its id."""
    shifts = [shift for shift in findings.shifts if shift.stands]
    if not shifts:
        return None, None
    last = max(shifts, key=lambda shift: shift.start)
    return f"row {last.start}" if last.started is None else str(last.started), last.id


def _since(findings: Findings) -> dict[str, str]:
    """Return since when variables that a lasting change is blamed on have been unusual."""
    since_of: dict[str, str] = {}
    for shift in sorted(findings.shifts, key=lambda shift: shift.start):
        for blame in shift.blames:
            if blame.since is None:
                continue
            began = f"row {blame.since}" if blame.began is None else str(blame.began)
            since_of.setdefault(blame.variable, began)
    return since_of


def _reported(model: Model, findings: Findings) -> Iterator[Sign]:
    """Compare what is reported with what was promised."""
    promised = 0.0
    match model.limit.origin:
        case ShareOfRows(max_rate=rate):
            promised = rate
        case Calibrated(n_above=n_above, n_rows=n_rows):
            promised = n_above / n_rows
    share = findings.rate if findings.n_rows else 0.0
    text = f"{percent(share)} of the rows are reported"
    if promised:
        text += f"; {percent(promised)} were promised"
    yield _sign("reported", share - promised, text)
    n_found = len(findings.incidents) + len(findings.shifts)
    if findings.expected is not None and n_found >= MIN_INCIDENTS:
        expected = max(findings.expected, 1.0)
        rate_said = f"{findings.expected * PER / findings.n_rows:.2g} in {PER:,} rows"
        yield _sign(
            "incidents",
            n_found / expected,
            f"{count(n_found, 'incident')}, {findings.expected:.2g} expected ({rate_said})",
        )


def _contradicted(
    model: Model, mean: NDArray[np.float64] | None, since_of: dict[str, str]
) -> Iterator[Sign]:
    """Compare how much variables are contradicted with what is usual, in spreads."""
    evidence = model.evidence
    if evidence is None or mean is None:
        return
    means = np.array([usual.mean for usual in evidence.usual])
    spreads = np.array([usual.spread for usual in evidence.usual])
    spreads = np.maximum(spreads, FLOOR * np.median(spreads) or 1.0)
    sizes = (mean - means) / spreads
    for name, size in zip(model.schema.names, sizes.tolist(), strict=True):
        since = since_of.get(name)
        text = f"{name} is contradicted by {size:.2g} spreads more than usual"
        text += "" if since is None else f", since {since}"
        yield _sign("contradicted", size, text, name, since)


def _values(model: Model, odd: Sequence[int], n_rows: int) -> Iterator[Sign]:
    """Tell states that training never had, and numbers outside its range."""
    for variable, n_own in zip(model.schema.variables, odd, strict=True):
        name, share = variable.name, n_own / n_rows if n_rows else 0.0
        if isinstance(variable, Numeric):
            text = f"{name} is outside its range of training in {percent(share)} of the rows"
            yield _sign("outside", share, text, name)
        else:
            text = f"{name} has states never seen in {percent(share)} of the rows"
            yield _sign("unseen", share, text, name)
