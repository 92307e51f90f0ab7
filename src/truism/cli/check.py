"""``truism check``: find the anomalies in a table, group them into incidents, and explain them.

The rows go through one `Check`, batch by batch, or on from a state through `proceed`; what was found is
printed and written. ``--models`` does so for one machine after the other.
"""

import datetime
import os
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import click
import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import asdict
from rich.text import Text

from truism.cli.app import say_problem
from truism.cli.options import (
    Command,
    FileOptions,
    allow_missing_option,
    check_output,
    check_suffix,
    check_threshold_options,
    file_options,
    jobs_option,
    layout_options,
    memory_option,
    size_of,
    threshold_options,
)
from truism.cli.rows import InputRows
from truism.cli.screen import Screen
from truism.errors import ParameterError, TruismError, did_you_mean, readable, shorten
from truism.explain.checker import Check, Checker
from truism.explain.explanations import blame_kinds, tabulate
from truism.explain.findings import Findings, gravest
from truism.explain.incidents import Incident
from truism.explain.patterns import Pattern
from truism.explain.states import JobState, Step, proceed, working_on
from truism.export.incidents import N_REASONS, check_record, event_record
from truism.incidents.delays import Delays
from truism.model.files import load_model
from truism.model.provenance import ByHand, Threshold, clock, now_here
from truism.model.wording import count, lasting, tame, visible
from truism.score.thresholds import expecting
from truism.show.models import BAD, GOOD, STRONG
from truism.show.summarising import check_ending, summarise, write_report
from truism.show.terminal import show_findings, verdict
from truism.table.columns import Table, far_moment, join_tables
from truism.table.labels import read_labels
from truism.table.layouts import seconds_of
from truism.table.writing import Columns, typed, writing
from truism.work import Progress

CheckFormat = Literal["table", "json", "jsonl", "csv", "events"]
N_SHOWN, RETAINED = 10, "30d"
MOST_NOTED = 100  # notes that a state remembers
_PATTERN_NAMES = ("id", "variable", "kind", "n_rows", "share", "n_times", "summary", "worst")
_CSV_NAMES = (
    *("incident", "id", "source", "series", "start", "end", "n_rows", "peak", "score", "severity"),
    *("kind", "state", "started", "ended", "peaked", "seconds", "summary"),
    *("variable", "share", "since", "began", "expected", "found", "because", "evidence"),
    *("rule", "row"),
)


MAX_BYTES = 1 << 20
_STREAMS = ("table", "jsonl", "events")
_Text = Annotated[str, Meta(min_length=1)]


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a check."""

    data: tuple[str, ...]
    place: str
    how: FileOptions
    name: str | None
    state_place: str | None
    threshold: float | None
    max_false_incidents: str | None
    gap: int | None
    min_rows: int
    on_delay: str
    off_delay: str
    retain: str | None
    ignore: tuple[str, ...]
    mute: tuple[str, ...]
    top: int | None
    patterns: bool
    scores_place: str | None
    report_place: str | None
    label: str | None
    form: CheckFormat
    jobs: int
    allow_missing: bool
    fail_if_no_rows: bool
    max_age: str | None
    memory_limit: str | None

    @property
    def n_shown(self) -> int:
        """How many incidents are shown; 0 if all are."""
        if self.top is None:
            return N_SHOWN if self.form == "table" else 0
        return self.top

    @property
    def grouping(self) -> dict[str, Any]:
        """How rows are grouped into incidents."""
        delays = Delays(self.on_delay, self.off_delay)
        return {"gap": self.gap, "min_rows": self.min_rows, "delays": delays}


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  truism check today.csv -m plant.truism.json
  truism check today.csv -m plant.truism.json --format json | jq .incidents[0]
  truism check today.csv -m plant.truism.json --report today.html
  truism check today.csv -m plant.truism.json --scores scores.parquet
  truism check hour.csv -m plant.truism.json --state plant.state --format events
  truism check --models machines.toml

Exit codes: 0 no anomalies, 1 anomalies found, 2 bad input, usage or output.
With --state, 1 only if something is new, or if an incident is still open.""",
)
@click.argument("data", nargs=-1, metavar="[DATA]...")
@click.option("-m", "--model", "place", metavar="FILE", help="The model file.")
@click.option(
    "--state",
    "state_place",
    metavar="FILE",
    help="Continue where the last call with this file stopped: rows seen before are skipped, and "
    "open incidents keep their ids.",
)
@click.option(
    "--name", metavar="NAME", help="Name of the source, for example a machine; part of every id."
)
@click.option(
    "--models",
    "machines_place",
    metavar="FILE",
    help="Check several machines: a .toml file with the name, model, data and state of each.",
)
@threshold_options
@click.option(
    "--gap",
    metavar="N",
    type=click.IntRange(min=0),
    help="Normal rows allowed within an incident.  [default: one minute's worth, at least 5]",
)
@click.option(
    "--min-rows",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Report only incidents with at least N rows.",
)
@click.option(
    "--on-delay",
    metavar="TIME",
    default="0",
    help="Report only what lasts at least this long: rows, or a duration such as 5min.  [default: 0]",
)
@click.option(
    "--off-delay",
    metavar="TIME",
    default="0",
    help="Merge incidents at most this far apart: rows, or a duration.  [default: 0]",
)
@click.option(
    "--retain",
    metavar="TIME",
    help="With --state, drop series that have had no rows for this long while others have.  "
    f"[default: {RETAINED}]",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="COL",
    help="Ignore a column: rules and contexts that need it are not evaluated; may be repeated.",
)
@click.option(
    "--mute",
    multiple=True,
    metavar="VAR",
    help="Do not count evidence against a variable; may be repeated.",
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
    help="Also show patterns: reasons that repeat. csv and jsonl then hold them instead of incidents. "
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
    help="Write a report as a single .html page (or as .json).",
)
@click.option(
    "--label",
    metavar="COL",
    help="Column that marks true anomalies, to compare findings with.  [default: the model's]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(CheckFormat)),
    default="table",
    show_default=True,
    help="Output for people (table) or programs; events are what opened, continued or closed.",
)
@click.option("--fail-if-no-rows", is_flag=True, help="Exit with 2 if there are no rows to check.")
@click.option(
    "--max-age",
    metavar="DURATION",
    help="Exit with 2 if the latest row is older than that, such as 2h.",
)
@jobs_option
@memory_option
@allow_missing_option
@layout_options
@click.pass_obj
def check(screen: Screen, /, machines_place: str | None, place: str | None, **options: Any) -> int:
    """Score rows, group anomalies into incidents, and explain each.

    DATA takes the same kinds of files as learn; Parquet, Arrow and CSV files may be larger than
    memory. They must have the columns of the training table, in any order. Incidents come first, the
    worst story first, then what still differs from training; the last line is the verdict.
    Rows are counted from 0, without the header; with --state, from the first row of the first call.
    Rows that are no series are incidents by themselves, and are shown by pattern: by what is wrong with
    them.
    """
    how = file_options(options)
    wanted = Wanted(place=place or "", how=how, **options)
    if machines_place is not None:
        return check_machines(screen, machines_place, wanted)
    if not wanted.data:
        raise click.UsageError("Missing argument 'DATA...'.", click.get_current_context())
    if not wanted.place:
        raise click.UsageError("Missing option '-m' / '--model'.", click.get_current_context())
    _check_options(wanted)
    return run(screen, wanted)


def _check_options(wanted: Wanted) -> None:
    """Refuse options that contradict each other, and outputs that cannot be written."""
    check_threshold_options(wanted.threshold, wanted.max_false_incidents)
    taken = (*wanted.data, wanted.place)
    if wanted.max_age is not None:
        seconds_of(wanted.max_age, "max_age")
    if wanted.scores_place is not None:
        check_suffix(wanted.scores_place)
    if wanted.report_place is not None:
        check_ending(wanted.report_place)
    for place in (wanted.scores_place, wanted.report_place, wanted.state_place):
        if place is not None:
            check_output(place, taken)
    if wanted.state_place is None:
        if wanted.retain is not None:
            raise ParameterError("--retain must be given with --state, which keeps series.")
        return
    for option, value in (
        ("--scores", wanted.scores_place),
        ("--report", wanted.report_place),
        ("--label", wanted.label),
    ):
        if value is not None:
            raise ParameterError(
                f"--state and {option} must not both be given.",
                f"{option} shows one table from its beginning: call again without --state.",
            )


def run(screen: Screen, wanted: Wanted) -> int:
    """Check, print and write what was asked for; return the exit code."""
    checker = _checker(wanted)
    if wanted.state_place is None:
        return _print(screen, wanted, *_examine(screen, wanted, checker, None))
    with working_on(wanted.state_place) as (state, write):
        rows, step = _examine(screen, wanted, checker, state)
        code = _print(screen, wanted, rows, step)
        if not screen.is_lost:  # what was not printed is reported again
            assert step.state is not None
            noted = (*step.state.noted, *_notes(wanted, step))
            noted = tuple(dict.fromkeys(noted))[-MOST_NOTED:]
            write(msgspec.structs.replace(step.state, noted=noted))
    return code


def _checker(wanted: Wanted) -> Checker:
    """Load the model, with the threshold and the variables that are asked for."""
    checker = Checker(load_model(wanted.place), wanted.jobs)
    checker = checker.named(wanted.name, model_name(wanted.place))
    for option, names, choices in (
        ("ignore", wanted.ignore, checker.needed),
        ("mute", wanted.mute, checker.model.schema.names),
    ):
        for name in names:
            if name not in choices:
                hint = did_you_mean(name, choices)
                raise ParameterError.of(option, "name a variable of the model", name, hint)
    if wanted.ignore:
        if {*wanted.ignore} >= {*checker.needed}:
            raise ParameterError("--ignore must leave a variable to check.")
        checker = checker.without(wanted.ignore)
    if wanted.mute:
        checker = checker.muting(wanted.mute)
    if wanted.threshold is not None:
        return checker.at(Threshold(wanted.threshold, ByHand()))
    if wanted.max_false_incidents is not None:
        return checker.at(expecting(checker.model, wanted.max_false_incidents).limit)
    return checker


def _examine(
    screen: Screen, wanted: Wanted, checker: Checker, state: JobState | None
) -> tuple[InputRows, Step]:
    """Read the rows and check them; write scores and the report."""
    needing_all = {"--state": wanted.state_place, "--report": wanted.report_place}
    with screen.stages() as progress:
        progress("reading", 0, 0)
        rows = InputRows(
            screen,
            checker,
            wanted.data,
            wanted.how,
            size=size_of(wanted.memory_limit),
            whole=[option for option, value in needing_all.items() if value is not None],
            allow_missing=wanted.allow_missing,
            allow_empty=True,
            only_doubts=wanted.state_place is not None,  # the next call would say the same again
        )
        if wanted.state_place is None:
            label = _label(wanted, rows)
            findings = _find(rows, wanted, label, progress)
            compared = ""
            if label is not None and findings.n_rows:
                compared = findings.compare(read_labels(join_tables(rows.labels), label))
            return rows, Step(findings, {}, compared=compared)
        progress("scoring", 0, 0)
        options = wanted.grouping
        retain = seconds_of(wanted.retain or RETAINED, "retain")
        step = proceed(rows.checker, rows.table, state, retain=retain, now=clock(), **options)
        return rows, step


def _label(wanted: Wanted, rows: InputRows) -> str | None:
    """Return the column of labels: what was asked for, or what the model calls so if it is there."""
    learned = rows.checker.model.settings.label
    if wanted.label is None:
        return learned if learned in rows.opening.names else None
    if wanted.label in rows.checker.model.schema.names:
        raise ParameterError.of(
            "label",
            "not be a variable of the model",
            wanted.label,
            "learn again without that column.",
        )
    if wanted.label not in rows.opening.names:
        read_labels(rows.opening, wanted.label)  # which refuses it
    return wanted.label


def _find(rows: InputRows, wanted: Wanted, label: str | None, progress: Progress) -> Findings:
    """Check all rows; write their scores as they come, and the report in the end."""
    checker, report_place = rows.checker, wanted.report_place
    check = Check(
        checker,
        rows.n_rows,
        most=None
        if wanted.form == "events" or report_place is not None
        else wanted.n_shown or None,
        patterns=wanted.patterns or report_place is not None,
        **wanted.grouping,
    )
    place, advance = wanted.scores_place, partial(progress, "writing scores")
    with nullcontext() if place is None else writing(place) as write:
        for table, scored, before in rows.feed(check, progress, label):
            if place is not None and write is not None:
                scorer, jobs = checker.scorer, checker.n_jobs
                columns = tabulate(
                    scorer, table, scored.scores, scored.excess, advance, before, jobs
                )
                write(_written(columns, place))
        findings = msgspec.structs.replace(check.findings(), extra=rows.extra)
    if report_place is not None:
        progress("writing report", 0, 0)
        write_page(report_place, checker, table, findings, wanted.data, label, rows.doubts)
    return findings


def _print(screen: Screen, wanted: Wanted, rows: InputRows, step: Step) -> int:
    """Print what was found, and return the exit code."""
    findings = step.findings
    _note(screen, wanted, step)
    report(screen, rows.checker, step, wanted)
    if step.compared:
        (screen.show if wanted.form == "table" else screen.note)(step.compared)
    if wanted.fail_if_no_rows and not findings.n_rows:
        screen.fail("There were no rows to check.", "find out why none come.")
        return 2
    if wanted.max_age is not None and (late := _too_old(rows, step.state, wanted.max_age)):
        screen.fail(late, "find out why no newer ones come.")
        return 2
    if wanted.state_place is None:
        return 1 if findings.incidents or findings.shifts else 0
    if step.stuck is not None and step.is_stuck_again:
        screen.fail(step.stuck, "correct the times, or remove the state to begin anew.")
        return 2
    if step.stuck is not None:
        screen.warn(step.stuck)
    return 1 if step.is_alarming else 0


def _too_old(rows: InputRows, state: JobState | None, most: str) -> str | None:
    """Say how old the latest row is, if it is older than it may be; times without a zone are local."""
    latest, zoned = rows.latest, rows.zoned
    if state is not None:
        latest, zoned = max(state.seen.values(), default=None), state.zoned
    if latest is None:
        return f"No row has a time, so none is at most {most} old."
    now = datetime.datetime.now(datetime.UTC if zoned else None).replace(tzinfo=None)
    moment = np.datetime64(latest, "us")
    age = float((np.datetime64(now, "us") - moment) / np.timedelta64(1, "s"))
    if age <= seconds_of(most, "max_age"):
        return None
    return (
        f"The latest row, of {far_moment(moment)}{' UTC' if zoned else ''}, is {lasting(age)} old; "
        f"--max-age allows {most}."
    )


def _note(screen: Screen, wanted: Wanted, step: Step) -> None:
    """Say what readers of the findings must know."""
    findings = step.findings
    if wanted.report_place is not None:
        screen.note(f"the report is in {wanted.report_place}.")
    say = screen.note if findings.n_rows else screen.warn
    if step.n_skipped:
        rows, one = count(step.n_skipped, "row"), step.n_skipped == 1
        verbs = ("is", "was") if one else ("are", "were")
        say(f"{rows} {verbs[0]} not newer than those of earlier calls, and {verbs[1]} skipped.")
    noted = () if step.state is None else step.state.noted
    for note in (*step.notes, *(note for note in _notes(wanted, step) if note not in noted)):
        screen.note(note)


def _notes(wanted: Wanted, step: Step) -> tuple[str, ...]:
    """Return what there is to note about the model and the rows; of a job, each is noted once."""
    findings = step.findings
    labels = (wanted.label, findings.incidents.scorer.model.settings.label)
    extra = [name for name in findings.extra if name not in (*labels, *wanted.ignore)]
    unknown = f"columns that the model does not know are ignored: {shorten(extra)}."
    return (*[unknown] * bool(extra), *findings.doubts)


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


def _written(columns: Columns, place: str) -> Columns:
    """Return columns as they are written: without texts that a spreadsheet runs, if one may open them."""
    if place.endswith((".csv", ".csv.gz")):
        columns = {
            tame(name): [tame(value) for value in values] if isinstance(values, list) else values
            for name, values in columns.items()
        }
    return typed(columns, blame_kinds())


def _readable(name: str) -> str:
    """Return a file's name as text that can be written; some names are not text."""
    return os.fsencode(name).decode(errors="replace")


def report(screen: Screen, checker: Checker, step: Step, wanted: Wanted) -> None:
    """Print findings in the requested form."""
    findings, form = step.findings, wanted.form
    n_shown = wanted.n_shown or max(
        len(findings.incidents) + len(findings.shifts), len(findings.patterns)
    )
    if form == "table":
        job = None if wanted.state_place is None else step
        screen.show(*show_findings(findings, n_shown, patterns=wanted.patterns, step=job))
        return
    shown: Sequence[Incident] = ()
    if form != "events" and (form == "json" or not wanted.patterns):
        shown = gravest(findings, n_shown)
    repeated = None
    if wanted.patterns or not findings.ordered:
        repeated = tuple(findings.patterns[:n_shown])
    if form == "json":
        records = check_record(findings, checker.origin, shown, repeated, step.n_skipped)
        screen.write_json(records)
    elif form == "events":
        screen.write_lines([event_record(change) for change in step.changes])
    elif wanted.patterns:
        _write_patterns(screen, form, repeated or ())
    elif form == "jsonl":
        screen.write_lines([incident.with_reasons(N_REASONS) for incident in shown])
    else:
        screen.write_csv(_CSV_NAMES, list(_rows(shown)))
    (screen.note if findings.n_rows else screen.warn)(verdict(findings).plain)


def _write_patterns(screen: Screen, form: CheckFormat, patterns: Sequence[Pattern]) -> None:
    if form == "jsonl":
        screen.write_lines(patterns)
        return
    rows = [
        {
            **{name: getattr(pattern, name) for name in _PATTERN_NAMES},
            "worst": " ".join(str(example.row) for example in pattern.worst),
        }
        for pattern in patterns
    ]
    screen.write_csv(_PATTERN_NAMES, rows)


def model_name(place: str) -> str:
    """Return the name of a model: that of its file, without endings.

    >>> model_name("models/plant.truism.json")
    'plant'
    """
    return _readable(Path(place).name.removesuffix(".json").removesuffix(".truism"))


def _rows(incidents: Sequence[Incident]) -> Iterator[dict[str, Any]]:
    """Yield one line for each blamed variable, with its strongest reason."""
    for number, incident in enumerate(incidents, 1):
        for blame in incident.blames:
            cells = {**asdict(blame.reasons[0]), **asdict(blame), **asdict(incident)}
            yield {"incident": number, **{name: cells[name] for name in _CSV_NAMES[1:]}}


# --- several machines ---


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One machine: its name, its model, its tables, and the state of its job."""

    name: _Text
    model: _Text
    data: _Text | Annotated[tuple[_Text, ...], Meta(min_length=1)]
    state: _Text | None = None


class _Machines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    machine: Annotated[tuple[Machine, ...], Meta(min_length=1)]


def read_machines(place: str) -> tuple[Machine, ...]:
    """Read a list of machines; paths in it begin where the file is."""
    with readable(f"The list of machines {place!r}"), Path(place).open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    try:
        if len(content) > MAX_BYTES:
            raise ValueError("it is too large")
        machines = msgspec.convert(tomllib.loads(content.decode()), _Machines).machine
    except (msgspec.ValidationError, ValueError, RecursionError) as problem:
        raise TruismError(
            f"The list of machines {place!r} cannot be read: {str(problem).rstrip('.')}.",
            "each machine needs [[machine]], name, model and data; state is optional.",
        ) from None
    for what in ("name", "state"):
        values = [getattr(machine, what) for machine in machines if getattr(machine, what)]
        if twice := sorted({value for value in values if values.count(value) > 1}):
            raise TruismError(
                f"The list of machines {place!r} has a {what} twice: {shorten(twice)}."
            )
    folder = Path(place).parent
    return tuple(
        Machine(
            machine.name,
            str(folder / machine.model),
            tuple(str(folder / path) for path in _listed(machine.data)),
            None if machine.state is None else str(folder / machine.state),
        )
        for machine in machines
    )


def _listed(data: str | tuple[str, ...]) -> tuple[str, ...]:
    return (data,) if isinstance(data, str) else data


def check_machines(screen: Screen, place: str, wanted: Wanted) -> int:
    """Check one machine after the other, whether or not one fails; say in the end how they are."""
    _refuse(wanted)
    machines = read_machines(place)
    if wanted.retain is not None and not any(machine.state for machine in machines):
        raise ParameterError("--retain must be given with a state of some machine.")
    codes = {}
    for machine in machines:
        if wanted.form == "table":
            screen.show(Text(visible(machine.name), STRONG))
        try:
            data = _listed(machine.data)
            if machine.state is not None:
                check_output(machine.state, (*data, machine.model))
            its = msgspec.structs.replace(
                wanted, name=machine.name, place=machine.model, data=data, state_place=machine.state
            )
            codes[machine.name] = run(screen, its)
        except (TruismError, OSError, MemoryError) as problem:
            message, hint = say_problem(problem)
            screen.fail(f"{machine.name}: {message}", hint)
            codes[machine.name] = 2
        if wanted.form == "table":
            screen.show("")
    summary = _summary(codes)
    if wanted.form == "table":
        screen.show(summary)
    else:
        screen.note(summary.plain)
    return max(codes.values())


def _refuse(wanted: Wanted) -> None:
    """Refuse options of a single machine, which the list gives for every one."""
    given = {
        "DATA": wanted.data,
        "--model": wanted.place,
        "--state": wanted.state_place,
        "--name": wanted.name,
        "--scores": wanted.scores_place,
        "--report": wanted.report_place,
        "--label": wanted.label,
    }
    for option, value in given.items():
        if value:
            raise ParameterError(f"--models and {option} must not both be given.")
    if wanted.form not in _STREAMS:
        raise ParameterError(
            f"--format must be {', '.join(_STREAMS[:-1])} or {_STREAMS[-1]} with --models, "
            f"got {wanted.form!r}."
        )


def _summary(codes: dict[str, int]) -> Text:
    """Say in one line how all machines are."""
    named = {
        code: [name for name, its_code in codes.items() if its_code == code] for code in (1, 2)
    }
    text = Text(f"{count(len(codes), 'machine')}: ")
    text.append(f"{len(codes) - len(named[1]) - len(named[2]):,} without anomalies", GOOD)
    for code, words in ((1, "with anomalies"), (2, "failed")):
        if named[code]:
            names = shorten(tuple(map(visible, named[code])))
            text.append(f", {len(named[code]):,} {words} ({names})", BAD)
    return text.append(".")
