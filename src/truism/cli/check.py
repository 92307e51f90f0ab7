"""``truism check``: find the anomalies in a table, group them into incidents, and explain them."""

import os
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from truism.cli.calibrating import calibrated, calibration_options, check_calibration
from truism.cli.fitting import allow_missing_option, read_for
from truism.cli.options import (
    Command,
    Format,
    check_output,
    check_suffix,
    data_argument,
    format_option,
    jobs_option,
    model_option,
)
from truism.cli.reading import asked, layout_options
from truism.cli.screen import Screen
from truism.errors import ParameterError, shorten
from truism.explaining.checker import Checker, expecting
from truism.explaining.explanations import say_moment
from truism.explaining.findings import Findings
from truism.explaining.incidents import Incident
from truism.export.spreadsheets import tame
from truism.model.files import load_model
from truism.model.origins import ByHand, Threshold
from truism.model.stamps import now_here
from truism.report.output import check_ending, write_report
from truism.report.summarising import summarise
from truism.report.terminal import show_findings, verdict
from truism.table.columns import Table
from truism.table.files.writing import write_table

N_SHOWN = 10
N_REASONS = 3
_FACTS = ("n_rows", "n_anomalous", "ordered", "threshold", "gap", "expected", "extra", "coarser")
_PATTERN_NAMES = ("id", "variable", "kind", "n_rows", "share", "n_times", "summary", "worst")
_CSV_NAMES = (
    *("incident", "id", "start", "end", "n_rows", "peak", "score", "severity", "kind", "ongoing"),
    *("started", "ended", "peaked", "seconds", "summary"),
    *(
        "variable",
        "share",
        "since",
        "began",
        "expected",
        "found",
        "because",
        "evidence",
        "rule",
        "row",
    ),
)


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism check today.csv -m plant.truism.json
  truism check today.csv -m plant.truism.json --format json | jq .incidents[0]
  truism check today.csv -m plant.truism.json --report today.html
  truism check today.csv -m plant.truism.json --scores scores.parquet
  truism check today.csv -m plant.truism.json \\
      --max-false-positive-rate 0.001 --calibrate lastweek.csv

Exit codes: 0 no anomalies, 1 anomalies found, 2 bad input, usage or output.""",
)
@data_argument
@model_option
@click.option(
    "--threshold",
    metavar="φ",
    type=float,
    help="Report rows that score above φ.  [default: the model's]",
)
@calibration_options
@click.option(
    "--gap",
    metavar="N",
    type=click.IntRange(min=0),
    help="Normal rows allowed within an incident.  [default: one minute's worth, at least 5]",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    help="Show the N worst incidents; 0 shows all.  [default: 10 for table, else all]",
)
@click.option(
    "--patterns",
    is_flag=True,
    help="Show which reasons repeat, too; csv and jsonl then hold patterns instead of incidents. "
    "Rows that are no series are always shown by pattern.",
)
@click.option(
    "--scores",
    "scores_place",
    metavar="FILE",
    help="Write the score and blames of every row to a .csv or .parquet file.",
)
@click.option(
    "--report",
    "report_place",
    metavar="FILE",
    help="Write a report as a single .html page (or as .json or .txt).",
)
@click.option(
    "--label",
    metavar="COL",
    help="Column that marks true anomalies; compared with the scores in the report.",
)
@format_option
@jobs_option
@allow_missing_option
@layout_options
@click.pass_obj
def check(
    screen: Screen,
    /,
    data: tuple[str, ...],
    place: str,
    threshold: float | None,
    max_false_positive_rate: float | None,
    max_false_incidents: str | None,
    calibration: tuple[str, ...],
    gap: int | None,
    top: int | None,
    patterns: bool,
    scores_place: str | None,
    report_place: str | None,
    label: str | None,
    form: Format,
    jobs: int,
    allow_missing: bool,
    **options: Any,
) -> int:
    """Score rows, group anomalies into incidents, and explain each.

    DATA takes the same kinds of files as learn. They must have the columns that were learned, in any
    order. The worst incidents come first; the last line is the verdict. Rows are counted from 0, not
    counting the header. Rows that are no series stand for themselves, and are shown by pattern: by what
    is wrong with them.
    """
    said = asked(options)
    check_calibration(threshold, max_false_positive_rate, max_false_incidents, calibration, data)
    _check_places(scores_place, report_place, label, (*data, *calibration, place))
    checker = Checker(load_model(place), jobs)
    if threshold is not None:
        checker = checker.at(Threshold(threshold, ByHand()))
    elif max_false_incidents is not None:
        checker = checker.at(expecting(checker.model, max_false_incidents).limit)
    with screen.stages() as progress:
        if calibration:
            progress("calibrating", 0, 0)
            normal = read_for(screen, checker, calibration, said, allow_missing=allow_missing)
            rates = (max_false_positive_rate, max_false_incidents)
            checker = checker.at(calibrated(screen, normal.checker, normal.table, *rates).limit)
        progress("reading", 0, 0)
        found = read_for(screen, checker, data, said, allow_missing=allow_missing, allow_empty=True)
        checker = found.checker
        table = checker.prepare(found.table)
        progress("scoring", 0, 0)
        findings = checker.find(table, gap=gap)
        if scores_place is not None:

            def advance(done: int, of: int) -> None:
                progress("writing scores", done, of)

            columns = checker.tabulate(table, findings.scores, advance)
            write_table(_harmless(columns, scores_place), scores_place)
        if report_place is not None:
            progress("writing report", 0, 0)
            write_page(report_place, checker, table, findings, data, label, found.doubts)
    if report_place is not None:
        screen.note(f"the report is in {report_place}.")
    extra = [name for name in findings.extra if name != label]
    if extra:
        screen.note(f"columns that the model does not know are ignored: {shorten(extra)}.")
    for doubt in findings.doubts:
        screen.note(doubt)
    report(screen, findings, form, top, patterns=patterns)
    return 1 if findings.incidents or findings.shifts else 0


def _check_places(
    scores: str | None, report: str | None, label: str | None, taken: Sequence[str]
) -> None:
    """Raise an error for outputs that cannot be written, before anything is computed."""
    if scores is not None:
        check_suffix(scores)
        check_output(scores, taken)
    if label is not None and report is None:
        raise ParameterError(
            "--label must be given with --report, which compares scores with labels."
        )
    if report is not None:
        check_ending(report)
        check_output(report, taken)


def write_page(
    place: str,
    checker: Checker,
    table: Table,
    findings: Findings,
    sources: Sequence[str],
    label: str | None = None,
    notices: Sequence[str] = (),
) -> None:
    """Write the report of findings."""
    summary = summarise(
        checker,
        table,
        findings,
        source=", ".join(map(_readable, sources)),
        label=label,
        created=now_here(),
        notices=notices,
    )
    write_report(place, summary)


def _harmless(columns: dict[str, Any], place: str) -> dict[str, Any]:
    """Return columns whose texts no spreadsheet runs, where a spreadsheet may open the file."""
    if not place.endswith((".csv", ".csv.gz")):
        return columns
    return {
        tame(name): [tame(each) for each in values] if isinstance(values, list) else values
        for name, values in columns.items()
    }


def _readable(name: str) -> str:
    """Return a file's name as text that can be written; some names are not text."""
    return os.fsencode(name).decode(errors="replace")


def report(
    screen: Screen, findings: Findings, form: Format, top: int | None, *, patterns: bool = False
) -> None:
    """Print findings in the requested form."""
    if top is None:
        top = N_SHOWN if form == "table" else 0
    n_shown = top or max(len(findings.incidents), len(findings.shifts), len(findings.patterns))
    if form == "table":
        screen.show(*show_findings(findings, n_shown, patterns=patterns))
        return
    repeated = None
    if patterns or not findings.ordered:
        repeated = [each.to_dict() for each in findings.patterns[:n_shown]]
    if patterns and form != "json":
        _write_patterns(screen, form, repeated or [])
        screen.note(verdict(findings).plain)
        return
    shown = [_trimmed(incident) for incident in findings.incidents[:n_shown]]
    shifts = [_trimmed(shift) for shift in findings.shifts[: top or None]]
    if form == "json":
        screen.write_json(
            {
                "verdict": "anomalies" if findings.incidents or findings.shifts else "clean",
                **{name: getattr(findings, name) for name in _FACTS},
                "incidents": [_plain(each) for each in shown],
                "shifts": [_plain(each) for each in shifts],
                "patterns": repeated,
            }
        )
    elif form == "jsonl":
        screen.write_lines([_plain(each) for each in (*shown, *shifts)])
    else:
        screen.write_csv(_CSV_NAMES, _rows([*shown, *shifts]))
    screen.note(verdict(findings).plain)


def _write_patterns(screen: Screen, form: Format, patterns: list[dict[str, Any]]) -> None:
    if form == "jsonl":
        screen.write_lines(patterns)
        return
    rows = [
        {**{name: each[name] for name in _PATTERN_NAMES}, "worst": _say_rows(each["worst"])}
        for each in patterns
    ]
    screen.write_csv(_PATTERN_NAMES, rows)


def _say_rows(examples: list[dict[str, Any]]) -> str:
    return " ".join(str(each["row"]) for each in examples)


def _trimmed(incident: Incident) -> Incident:
    """Keep the strongest clues; a bad row can break hundreds of rules."""
    blames = tuple(
        msgspec.structs.replace(blame, clues=blame.clues[:N_REASONS]) for blame in incident.blames
    )
    return msgspec.structs.replace(incident, blames=blames)


def _plain(incident: Incident) -> dict[str, Any]:
    plain = incident.to_dict()
    blames, lasted = plain.pop("blames"), incident.duration
    seconds = None if lasted is None else lasted.total_seconds()
    return {**plain, "seconds": seconds, "blames": blames}


def _rows(incidents: list[Incident]) -> list[dict[str, Any]]:
    """Return one line for each blamed variable, with its strongest reason."""
    rows = []
    for number, incident in enumerate(incidents, 1):
        plain = _plain(incident)
        del plain["blames"], plain["onsets"]
        for blame in incident.blames:
            reason = msgspec.to_builtins(blame.reasons[0])
            del reason["penalty"], reason["when"]
            rows.append(
                {
                    "incident": number,
                    **plain,
                    "variable": blame.variable,
                    "share": blame.share,
                    "since": blame.since,
                    "began": say_moment(blame.began),
                    **reason,
                }
            )
    return rows
