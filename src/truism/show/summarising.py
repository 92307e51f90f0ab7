"""The `Summary` of a table; the ending of a file's name decides whether page or JSON is made from it."""

import itertools
import os
import platform
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from truism.errors import ParameterError
from truism.explain.blames import choose
from truism.explain.checker import Checker
from truism.explain.findings import Findings, gravest
from truism.explain.incidents import Incident
from truism.explain.words import Reason
from truism.export.records import rule_records
from truism.incidents.events import shares_of
from truism.model.model import Model
from truism.model.predicates import conjunction
from truism.model.schema import Numeric
from truism.model.summary import N_STATEMENTS
from truism.score.alignment import align
from truism.score.scorer import Scorer
from truism.show.contents import (
    Card,
    Fact,
    RuleLine,
    Span,
    Summary,
    VariableLine,
)
from truism.show.pictures import Axis, Painter, extent, histogram, reduce, runs
from truism.table.atomic import write_atomically
from truism.table.columns import Table
from truism.table.labels import read_labels
from truism.version import __version__

MAX_CARDS = 60  # incidents that are numbered
MAX_PICTURED = 20
MAX_PATTERNS = 30
MAX_WEAKER = 500
PICTURES_PER_CARD = 3
MAX_BLAMED, FEW_BLAMED = 8, 4
MAX_RELATED, FEW_RELATED = 8, 3
MAX_RULES, MAX_RULE_TEXT = 1000, 100_000
N_BUCKETS = 1500


def summarise(
    checker: Checker,
    table: Table,
    findings: Findings | None = None,
    *,
    source: str | None = None,
    label: str | None = None,
    created: str | None = None,
    notices: Sequence[str] = (),
) -> Summary:
    """Return what a model finds in a table.

    Parameters
    ----------
    checker
        The model at work.
    table
        The rows in order of time, as `Checker.prepare` returns them.
    findings
        What was found in them, if that is already known.
    source
        Where the rows came from, in words.
    label
        The column of labels: 0 and false mean normal, everything else anomalous.
    created
        When the report is made, as text.
    notices
        What else readers must know, such as doubts about how the rows were read.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from truism.learn.learn import learn
    >>> from truism.model.settings import Settings
    >>> from truism.table.frames import as_table
    >>> normal = as_table({"pump": ["on", "off"] * 50, "flow": [2.5, 0.0] * 50})
    >>> checker = Checker(learn(normal, Settings(min_support=0.1)))
    >>> summarise(checker, as_table({"pump": ["on", "on"], "flow": [2.5, 0.0]})).verdict
    'anomalies: 1 of 2 rows (50 %) scores above 0, in 1 pattern.'

    """
    model, scorer = checker.model, checker.scorer
    if label in model.schema.names:
        raise ParameterError.of(
            "label",
            "not be a variable of the model",
            label,
            "learn again without that column.",
        )
    findings = checker.find(table) if findings is None else findings
    scores = findings.excess
    axis = Axis(table, model.schema)
    # Rows that are no series are never joined by a line.
    painter = Painter(scorer, table, axis) if findings.ordered else None
    shown = sorted(gravest(findings, MAX_CARDS), key=lambda incident: incident.stands)
    cards = _cards(painter, axis, shown)
    return Summary(
        "truism-report",
        5,
        ": ".join(findings.verdict),
        source,
        created,
        table.n_rows,
        findings.n_anomalous,
        findings.threshold,
        findings.ordered,
        model.series is not None and model.series.by is not None,
        axis.unit,
        reduce(*axis.apart(axis.x, scores), N_BUCKETS),
        cards,
        len(findings.incidents) + len(findings.shifts),
        findings.differing,
        () if findings.ordered else tuple(findings.patterns[:MAX_PATTERNS]),
        len(findings.patterns),
        _weaker(axis, findings, shown) if findings.ordered else (),
        *_in_short(model),
        _rules(scorer, table, cards),
        len(model.rules),
        _variables(scorer, table, findings),
        _model_facts(model),
        _data_facts(axis, model, findings, source, label),
        model.provenance.trials,
        "" if label is None else findings.compare(read_labels(table, label)),
        (*notices, *findings.doubts, *model.doubts),
        model.notices,
    )


def _cards(painter: Painter | None, axis: Axis, incidents: Sequence[Incident]) -> tuple[Card, ...]:
    return tuple(
        _card(painter, axis, incident, number) for number, incident in enumerate(incidents, 1)
    )


def _card(painter: Painter | None, axis: Axis, incident: Incident, number: int) -> Card:
    n_pictures = PICTURES_PER_CARD if number <= MAX_PICTURED else 0
    first, _ = choose(incident.blames, PICTURES_PER_CARD)
    ordered = [*first, *(blame for blame in incident.blames if blame not in first)]
    blames = [blame for blame in ordered if blame.reasons][
        : MAX_BLAMED if n_pictures else FEW_BLAMED
    ]
    shown = (
        blame.with_reasons(1 + (MAX_RELATED if rank < n_pictures else FEW_RELATED))
        for rank, blame in enumerate(blames)
    )
    pictures = (
        painter.paint(incident, blame) if painter is not None and rank < n_pictures else None
        for rank, blame in enumerate(blames)
    )
    when = axis.when(incident.start, incident.end)
    return Card(
        number=number,
        title=incident.blames[0].variable if incident.blames else "no variable",
        when=when if incident.series is None else f"{incident.series}: {when}",
        lasted=axis.lasted(incident.start, incident.end),
        at_peak=axis.when(incident.peak, incident.peak),
        span=axis.span(incident.start, incident.end),
        incident=msgspec.structs.replace(incident, blames=tuple(shown)),
        n_blamed=len(incident.blames),
        places=tuple(_place(axis, blame.reasons[0]) for blame in blames),
        pictures=tuple(pictures),
    )


def _place(axis: Axis, reason: Reason) -> str:
    """Say when a reason was found, as the page says times."""
    if reason.row is not None and axis.unit == "time" and reason.row < axis.n_rows:
        return f" at {axis.when(reason.row, reason.row)}"
    return reason.place


def _weaker(axis: Axis, findings: Findings, shown: Sequence[Incident]) -> tuple[Span, ...]:
    """Return the rows of what has no card."""
    inside = np.zeros(axis.n_rows, np.bool_)
    for kind, events in (("incident", findings.incidents), ("shift", findings.shifts)):
        n_shown = sum(incident.kind == kind for incident in shown)
        for weaker in itertools.islice(events.outlines.extents(), n_shown, None):
            inside[weaker.first : weaker.last + 1] = True
    return tuple(axis.span(start, end) for start, end in runs(inside, MAX_WEAKER))


def _rules(scorer: Scorer, table: Table, cards: Sequence[Card]) -> tuple[RuleLine, ...]:
    """List the rules that are broken or disabled, then those least likely by chance."""
    model = scorer.model
    broken = scorer.count_broken(table)
    named: dict[str, list[int]] = {}
    for card in cards:
        for blame in card.incident.blames:
            for reason in blame.reasons:
                numbers = named.setdefault(reason.rule or "", [])
                if card.number not in numbers:
                    numbers.append(card.number)
    by_interest = sorted(model.rules.sorted_by("chance"), key=lambda rule: -broken.get(rule, 0))
    lines, room = [], MAX_RULE_TEXT
    pairs = zip(by_interest, rule_records(model, by_interest), strict=True)
    for rank, (rule, record) in enumerate(pairs):
        room -= len(record.text) + sum(map(len, record.variables))
        is_needed = record.id in named or record.disabled is not None
        if is_needed or (rank < MAX_RULES and room >= 0):
            lines.append(RuleLine(record, broken.get(rule, 0), tuple(named.get(record.id, ()))))
    return tuple(lines)


def _in_short(model: Model) -> tuple[tuple[Fact, ...], str]:
    """Sum up the rules: statements with their rows and the rules behind them, and what never changes."""
    summary, words = model.summary(N_STATEMENTS), model.words
    statements = tuple(
        Fact(statement.text(words), f"{statement.count:,} rows · {statement.behind}")
        for statement in summary.statements
    )
    return statements, conjunction(summary.constants, words.after_predicate)


def _variables(scorer: Scorer, table: Table, findings: Findings) -> tuple[VariableLine, ...]:
    model = scorer.model
    columns, _ = align(model.schema, table)
    totals = np.zeros((2, len(columns)))
    for events in (findings.incidents, findings.shifts):
        totals += events.outlines.totals(len(columns))
    shares = shares_of(*totals)
    n_rules = dict.fromkeys(model.schema.names, 0)
    for rule in model.rules:
        for name in rule.variables:
            n_rules[name] += 1
    lines = []
    for variable, column, share in zip(model.schema.variables, columns, shares, strict=True):
        then, now = extent(variable, column)
        lines.append(
            VariableLine(
                variable.name,
                "numeric" if isinstance(variable, Numeric) else "categorical",
                then,
                now,
                variable.n_missing,
                len(column.values) if column.kind == "empty" else column.n_missing,
                n_rules[variable.name],
                float(share),
                histogram(variable, column),
            )
        )
    return tuple(lines)


def _model_facts(model: Model) -> tuple[Fact, ...]:
    made, chosen = model.provenance, model.settings
    left_out = "; ".join(f"{column.name}: {column.reason}" for column in model.schema.left_out)
    facts = [
        Fact("learned", made.created or "at an unknown time"),
        Fact("from", f"{made.n_rows:,} rows, {made.n_columns:,} columns"),
        Fact("fingerprint of training values", made.fingerprint),
        Fact("by", f"truism {made.version}"),
        Fact("rules", f"{len(model.rules):,}, {len(model.disabled):,} of them disabled"),
        Fact("min_support (θ)", f"{made.min_support:g}: {made.why_support}"),
        Fact("support_ratio (γ)", f"{chosen.ratio:g}"),
        Fact("max_predicates", str(chosen.longest)),
        Fact("cut-offs", chosen.cutoffs),
        Fact("scoring", chosen.scoring),
        Fact("complete", f"all rules with up to {made.complete_to} conditions are in the model"),
    ]
    if model.derived:
        facts.append(Fact("changes learned for", ", ".join(model.derived)))
    if left_out:
        facts.append(Fact("columns left out", left_out))
    facts += [
        Fact(acceptance.id, acceptance.say(model.schema, model.words))
        for acceptance in model.accepted or ()
    ]
    return tuple(facts)


def _data_facts(
    axis: Axis, model: Model, findings: Findings, source: str | None, label: str | None
) -> tuple[Fact, ...]:
    facts = [Fact("read from", source or "a table in memory")]
    if axis.unit == "time":
        facts.append(Fact("time", axis.when(0, findings.n_rows - 1)))
    why = str(model.limit.origin)
    facts.append(Fact("threshold (φ)", f"{findings.threshold:g}{f': {why}' if why else ''}"))
    if findings.gap is not None:
        facts.append(Fact("normal rows allowed within an incident", f"{findings.gap:,}"))
    extra = [name for name in findings.extra if name != label]
    if extra:
        facts.append(Fact("columns ignored", ", ".join(extra)))
    facts.append(Fact("report by", f"truism {__version__}, Python {platform.python_version()}"))
    return tuple(facts)


def to_json(summary: Summary) -> bytes:
    """Return a summary as JSON."""
    return msgspec.json.encode(summary) + b"\n"


def write_report(path: str | os.PathLike[str], summary: Summary) -> None:
    """Write a report; the ending of the name (.html, .json) decides the form.

    Parameters
    ----------
    path
        The file to write. An existing file is replaced, or kept if anything goes wrong.
    summary
        The result of `summarise`.

    """
    write_atomically(path, render(path, summary))


def render(path: str | os.PathLike[str], summary: Summary) -> bytes:
    """Return the content that `write_report` writes."""
    check_ending(path)
    if Path(path).suffix.lower() == ".json":
        return to_json(summary)
    from truism.show.html import to_html  # only the page needs Jinja

    return to_html(summary).encode()


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuse a name whose ending names no form, before any work is done."""
    if Path(path).suffix.lower() not in (".html", ".htm", ".json"):
        raise ParameterError(
            f"The report's name must end in .html or .json, got {os.fspath(path)!r}."
        )
